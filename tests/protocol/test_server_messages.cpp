#include <flatbuffers/flatbuffers.h>

#include <cmath>
#include <limits>

#include "protocol/connection/streams.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/schema/server_message_generated.h"
#include "protocol/text.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "tests/protocol/rules.h"
#include "world/math/random.h"
#include "world/sim/tick_limits.h"

using namespace ashlar;
using test::AlignedBytes;

namespace {

Welcome largest_welcome() {
  Welcome welcome;
  for (std::size_t i = 0; i < welcome.reset_token.size(); ++i)
    welcome.reset_token[i] = static_cast<std::uint8_t>(0xf0 + i);
  welcome.resumed = true;
  welcome.world = 255;
  welcome.seed = 0x123456789abcdef0u;
  welcome.tick = 600;
  welcome.snapshot_every_ticks = 2;
  welcome.terrain = 3;
  welcome.generator = 0xfedc;
  welcome.blocks_hash = 0x0123456789abcdefu;
  for (std::size_t i = 0; i < monster_kinds_max; ++i)
    welcome.kind_bodies.push_back(
        {static_cast<MonsterKind>(i), {0.25 + 0.0625 * static_cast<double>(i), 2.5}});
  welcome.rules = testing::other_rules();
  welcome.rules.tick_rate_hz = 30;
  welcome.rules.gravity_mps2 = 9.81;
  welcome.rules.player_solver = Solver::correct;
  welcome.motd = std::string(motd_bytes_max, 'm');
  for (std::size_t i = 0; i < placed_maps_max; ++i) {
    const auto n = static_cast<std::int32_t>(i);
    welcome.maps.push_back({std::string(map_name_bytes_max, static_cast<char>('A' + n)),
                            0xffff0000ffff0000u + i,
                            {-100 * n, 1000 + n},
                            20 + n,
                            welcome_map_flag::doors_open | welcome_map_flag::doorway});
  }
  for (std::size_t i = 0; i < placed_props_max; ++i) {
    std::string file = std::to_string(i) + ".obj";
    file = std::string(prop_name_bytes_max - file.size(), 'p') + file;
    welcome.props.push_back(
        {file,
         0xabcd00000000u + i,
         {{1.5 * static_cast<double>(i), -2e5, 40.125}, Turn16{static_cast<std::uint16_t>(i)}, 0.5},
         i % 3 == 0 ? ModelUp::z : ModelUp::y});
  }
  for (std::size_t i = 0; i < protected_zones_max; ++i) {
    const auto n = static_cast<std::int32_t>(i);
    welcome.zones.push_back({{{-n - 1, -2 * n - 1, -9}, {n, 3 * n + 1, 1 << 12}},
                             std::string(i % (zone_name_bytes_max + 1), 'z')});
  }
  return welcome;
}

template <class Build>
AlignedBytes raw_server_message(wire::ServerBody type, Build&& build) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto body = build(fbb);
  fbb.Finish(wire::CreateServerMessage(fbb, type, body.Union()), wire::ServerMessageIdentifier());
  return AlignedBytes(std::span(fbb.GetBufferPointer(), fbb.GetSize()));
}

/// A fresh rule set's numbers, in the order of the list.
flatbuffers::Offset<wire::Rules> raw_rules(flatbuffers::FlatBufferBuilder& fbb) {
  const flatbuffers::uoffset_t start = fbb.StartTable();
  flatbuffers::voffset_t field = wire::Rules::VT_TICK_RATE_HZ;
  const Rules fresh;
  visit_rules(fresh, [&](const RuleInfo&, const auto& value) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
      fbb.AddElement(field, static_cast<std::uint8_t>(value));
    else
      fbb.AddElement(field, value);
    field = static_cast<flatbuffers::voffset_t>(field + sizeof field);
  });
  return fbb.EndTable(start);
}

DropReason server_error_of(const AlignedBytes& bytes) {
  const auto message = decode_server_message(bytes.span());
  REQUIRE_FALSE(message.has_value());
  return message.error();
}

/// A welcome with one number of the rules replaced.
AlignedBytes welcome_with(void (*change)(Rules&)) {
  Welcome welcome = largest_welcome();
  change(welcome.rules);
  MessageWriter writer;
  return AlignedBytes(writer.write(welcome));
}

}  // namespace

TEST_CASE("a welcome's props come back whole, and a name is told once", "[protocol][messages]") {
  Welcome welcome = largest_welcome();
  welcome.maps.clear();
  welcome.props.resize(12);
  for (std::size_t i = 0; i < welcome.props.size(); ++i)
    welcome.props[i].name = i % 2 == 0 ? "crate.obj" : "rock.obj";
  MessageWriter writer;
  const AlignedBytes bytes(writer.write(welcome));
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  const Welcome& back = std::get<Welcome>(*message);
  REQUIRE(back.props.size() == welcome.props.size());
  for (std::size_t i = 0; i < back.props.size(); ++i) {
    CHECK(back.props[i].name == welcome.props[i].name);
    CHECK(back.props[i].content_hash == welcome.props[i].content_hash);
    CHECK(back.props[i].place == welcome.props[i].place);
    CHECK(back.props[i].up == welcome.props[i].up);
  }
  // Another placement costs 40 bytes.
  welcome.props.push_back(welcome.props.back());
  CHECK(writer.write(welcome).size() <= bytes.size() + 48);
  // Foreign numbers.
  const auto error_with = [&](auto change) {
    Welcome wrong = largest_welcome();
    change(wrong.props[7]);
    return server_error_of(AlignedBytes(writer.write(wrong)));
  };
  CHECK(error_with([](WelcomeProp& p) { p.place.position_m.x = 2e6; }) == DropReason::out_of_range);
  CHECK(error_with([](WelcomeProp& p) { p.place.position_m.z = std::nan(""); }) == DropReason::out_of_range);
  CHECK(error_with([](WelcomeProp& p) { p.place.scale = 0; }) == DropReason::out_of_range);
  CHECK(error_with([](WelcomeProp& p) { p.place.scale = std::nan(""); }) == DropReason::out_of_range);
}

TEST_CASE("the largest welcome fits the control stream, a client's window and comes back whole",
          "[protocol][messages]") {
  MessageWriter writer;
  const Welcome welcome = largest_welcome();
  const AlignedBytes bytes(writer.write(welcome));
  CHECK(bytes.size() <= message_bytes_max);
  CHECK(bytes.size() + message_prefix_bytes <= client_stream_windows[row(StreamId::control)]);
  CHECK(bytes.size() <= properties(StreamId::control).message_bytes_max);
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  const Welcome& back = std::get<Welcome>(*message);
  CHECK(back.reset_token == welcome.reset_token);
  CHECK(back.resumed);
  CHECK(back.world == 255);
  CHECK(back.seed == welcome.seed);
  CHECK(back.terrain == welcome.terrain);
  CHECK(back.generator == welcome.generator);
  CHECK(back.blocks_hash == welcome.blocks_hash);
  CHECK(back.kind_bodies == welcome.kind_bodies);
  CHECK(back.tick == welcome.tick);
  CHECK(back.snapshot_every_ticks == 2);
  CHECK(back.motd == welcome.motd);
  CHECK(back.rules.tick_rate_hz == 30);
  CHECK(back.rules.gravity_mps2 == 9.81);
  CHECK(testing::rules_that_differ(back.rules, welcome.rules).empty());
  REQUIRE(back.maps.size() == welcome.maps.size());
  for (std::size_t i = 0; i < back.maps.size(); ++i) {
    CHECK(back.maps[i].name == welcome.maps[i].name);
    CHECK(back.maps[i].content_hash == welcome.maps[i].content_hash);
    CHECK(back.maps[i].origin_block == welcome.maps[i].origin_block);
    CHECK(back.maps[i].surface_z == welcome.maps[i].surface_z);
    CHECK(back.maps[i].flags == welcome.maps[i].flags);
  }
  REQUIRE(back.props.size() == placed_props_max);
  for (std::size_t i = 0; i < placed_props_max; ++i) CHECK(back.props[i].name == welcome.props[i].name);
}

TEST_CASE("chat lines come back", "[protocol][messages]") {
  MessageWriter writer;
  for (const ChatLine& line :
       {ChatLine{"Ada", "good morning"}, ChatLine{"", std::string(chat_bytes_max, 's')}}) {
    const auto message = decode_server_message(AlignedBytes(writer.write(line)).span());
    REQUIRE(message.has_value());
    CHECK(std::get<ChatLine>(*message).from == line.from);
    CHECK(std::get<ChatLine>(*message).text == line.text);
  }
}

TEST_CASE("every truncation of a server message is refused", "[protocol][messages]") {
  MessageWriter writer;
  std::vector<AlignedBytes> payloads;
  // Its other props take long and show nothing new.
  Welcome welcome = largest_welcome();
  welcome.props.resize(2);
  payloads.emplace_back(writer.write(welcome));
  payloads.emplace_back(writer.write(ChatLine{"", "server says"}));
  for (const AlignedBytes& payload : payloads) {
    REQUIRE(decode_server_message(payload.span()).has_value());
    for (std::size_t size = 0; size < payload.size(); ++size) {
      const AlignedBytes cut(payload.span().first(size));
      const auto message = decode_server_message(cut.span());
      if (message.has_value()) REQUIRE(payload.size() - size < 8);  // the builder's padding at the end
    }
  }
}

TEST_CASE("rules that no server may set are refused", "[protocol][messages]") {
  CHECK(decode_server_message(welcome_with([](Rules&) {}).span()).has_value());
  CHECK(server_error_of(welcome_with([](Rules& r) { r.tick_rate_hz = 9; })) == DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.tick_rate_hz = 129; })) == DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.player.radius_m = 0; })) == DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.player.height_m = -1; })) == DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.player_eye_m = 1e9; })) == DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.gravity_mps2 = std::nan(""); })) ==
        DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.step_height_m_max = -0.1; })) ==
        DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) {
          r.jump_speed_mps = std::numeric_limits<double>::infinity();
        })) == DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.walk_speed_mps_max = 1001; })) ==
        DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.ground_acceleration_mps2 = -1; })) ==
        DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.air_acceleration_mps2 = std::nan(""); })) ==
        DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.ground_friction_per_s = -1; })) ==
        DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.fall_speed_mps_max = -1; })) ==
        DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.player_solver = static_cast<Solver>(2); })) ==
        DropReason::out_of_range);
  CHECK(server_error_of(welcome_with([](Rules& r) { r.monster_solver = static_cast<Solver>(255); })) ==
        DropReason::out_of_range);
}

TEST_CASE("server values outside their bounds are refused by name", "[protocol][messages]") {
  MessageWriter writer;
  Welcome welcome = largest_welcome();
  welcome.maps[0].origin_block.x = (1 << 20) + 1;
  CHECK(server_error_of(AlignedBytes(writer.write(welcome))) == DropReason::out_of_range);
  welcome = largest_welcome();
  welcome.maps[0].surface_z = -5000;
  CHECK(server_error_of(AlignedBytes(writer.write(welcome))) == DropReason::out_of_range);
  welcome = largest_welcome();
  welcome.snapshot_every_ticks = 0;
  CHECK(server_error_of(AlignedBytes(writer.write(welcome))) == DropReason::out_of_range);
  welcome.snapshot_every_ticks = 31;  // at 30 ticks a second nobody would hear for more than a second
  CHECK(server_error_of(AlignedBytes(writer.write(welcome))) == DropReason::out_of_range);
  welcome = largest_welcome();
  welcome.tick = world_ticks_max;
  CHECK(decode_server_message(AlignedBytes(writer.write(welcome)).span()).has_value());
  ++welcome.tick;  // no server counts so far: what is ahead of it would begin at 0 again
  CHECK(server_error_of(AlignedBytes(writer.write(welcome))) == DropReason::out_of_range);

  const auto plain_welcome = [](std::size_t token_bytes, bool rules, std::size_t props = 0, bool names = true,
                                std::size_t maps = 0) {
    return raw_server_message(wire::ServerBody::Welcome, [&](auto& fbb) {
      const auto token = fbb.CreateVector(std::vector<std::uint8_t>(token_bytes, 1));
      const auto rule_set = rules ? raw_rules(fbb) : flatbuffers::Offset<wire::Rules>{};
      const auto map = wire::CreatePlacedMapDirect(fbb, "MAP01", 1);
      const auto map_list = fbb.CreateVector(std::vector(maps, map));
      const std::vector<wire::PlacedProp> list(props, wire::PlacedProp(1, 2, 3, 4, 1, 0, 0, 0));
      const auto prop_list = props == 0 ? 0 : fbb.CreateVectorOfStructs(list);
      const auto name_list = names ? fbb.CreateVectorOfStrings({"a.obj"}) : 0;
      return wire::CreateWelcome(fbb, token, false, 1, 1, 1, 1, rule_set, map_list, 0, prop_list, name_list);
    });
  };
  CHECK(decode_server_message(plain_welcome(16, true).span()).has_value());
  CHECK(server_error_of(plain_welcome(16, false)) == DropReason::malformed);
  CHECK(server_error_of(plain_welcome(15, true)) == DropReason::out_of_range);
  CHECK(server_error_of(plain_welcome(17, true)) == DropReason::out_of_range);
  CHECK(server_error_of(plain_welcome(0, true)) == DropReason::out_of_range);
  CHECK(decode_server_message(plain_welcome(16, true, placed_props_max).span()).has_value());
  CHECK(server_error_of(plain_welcome(16, true, placed_props_max + 1)) == DropReason::out_of_range);
  CHECK(server_error_of(plain_welcome(16, true, 1, false)) == DropReason::malformed);
  CHECK(decode_server_message(plain_welcome(16, true, 0, false, placed_maps_max).span()).has_value());
  CHECK(server_error_of(plain_welcome(16, true, 0, false, placed_maps_max + 1)) == DropReason::out_of_range);

  const auto line = [](const char* from, const std::string& text) {
    return raw_server_message(wire::ServerBody::ChatLine,
                              [&](auto& fbb) { return wire::CreateChatLineDirect(fbb, from, text.c_str()); });
  };
  CHECK(decode_server_message(line("", "x").span()).has_value());
  CHECK(server_error_of(line(" a", "x")) == DropReason::bad_text);
  CHECK(server_error_of(line("", "")) == DropReason::bad_text);
  CHECK(server_error_of(line("", std::string(chat_bytes_max + 1, 'x'))) == DropReason::bad_text);
  constexpr int beyond = static_cast<int>(wire::ServerBody::MAX) + 1;
  for (const int type : {beyond, beyond + 1, 255})
    CHECK(server_error_of(raw_server_message(static_cast<wire::ServerBody>(type), [](auto& fbb) {
            return wire::CreateChatLineDirect(fbb, "", "x");
          })) == DropReason::unknown_message);
}

TEST_CASE("a list that lies askew in memory is refused before it is touched", "[protocol][messages]") {
  const auto snapshot_with = [](std::size_t bytes_between) {
    const AlignedBytes whole = raw_server_message(wire::ServerBody::Snapshot, [](auto& fbb) {
      const wire::SectorMotion motion(2, 1, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
      const auto motions = fbb.CreateVectorOfStructs(&motion, 1);
      wire::SnapshotBuilder snapshot(fbb);
      snapshot.add_part_count(1), snapshot.add_epoch(1);
      snapshot.add_motions(motions);
      return snapshot.Finish();
    });
    // The list again behind everything else, and the field that points to it turned there.
    const auto* message = flatbuffers::GetRoot<wire::ServerMessage>(whole.span().data());
    const auto* snapshot = reinterpret_cast<const flatbuffers::Table*>(message->body());
    const auto* list = message->body_as_Snapshot()->motions();
    std::vector<std::uint8_t> bytes(whole.span().begin(), whole.span().end());
    bytes.resize((bytes.size() + 7) / 8 * 8 + bytes_between);
    const std::size_t field =
        static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(snapshot) - whole.span().data()) +
        snapshot->GetOptionalFieldOffset(wire::Snapshot::VT_MOTIONS);
    flatbuffers::WriteScalar(bytes.data() + field, static_cast<flatbuffers::uoffset_t>(bytes.size() - field));
    const auto* from = reinterpret_cast<const std::uint8_t*>(list);
    bytes.insert(bytes.end(), from, from + sizeof(flatbuffers::uoffset_t) + sizeof(wire::SectorMotion));
    return AlignedBytes(bytes);
  };
  CHECK(decode_server_message(snapshot_with(4).span()).has_value());
  CHECK(server_error_of(snapshot_with(0)) == DropReason::malformed);
}

TEST_CASE("an empty list is read wherever it lies, as other builders write it", "[protocol][messages]") {
  // A list of nothing is aligned for its length alone.
  for (std::size_t bytes_between = 0; bytes_between < 8; ++bytes_between) {
    const AlignedBytes snapshot = raw_server_message(wire::ServerBody::Snapshot, [&](auto& fbb) {
      const auto motions = fbb.CreateVectorOfStructs(std::vector<wire::SectorMotion>{});
      fbb.CreateVector(std::vector<std::uint8_t>(bytes_between, 1));
      wire::SnapshotBuilder builder(fbb);
      builder.add_part_count(1), builder.add_epoch(1);
      builder.add_motions(motions);
      return builder.Finish();
    });
    CHECK(decode_server_message(snapshot.span()).has_value());
    const AlignedBytes welcome = raw_server_message(wire::ServerBody::Welcome, [&](auto& fbb) {
      const auto token = fbb.CreateVector(std::vector<std::uint8_t>(16, 1));
      const auto props = fbb.CreateVectorOfStructs(std::vector<wire::PlacedProp>{});
      fbb.CreateVector(std::vector<std::uint8_t>(bytes_between, 1));
      const auto rules = raw_rules(fbb);
      return wire::CreateWelcome(fbb, token, false, 1, 1, 1, 1, rules, 0, 0, props);
    });
    CHECK(decode_server_message(welcome.span()).has_value());
  }
}

TEST_CASE("a changed byte in a welcome never yields a rule out of range", "[protocol][messages]") {
  MessageWriter writer;
  Rng rng{12};
  Welcome whole = largest_welcome();
  whole.props.resize(2);
  const AlignedBytes payload(writer.write(whole));
  for (std::size_t at = 0; at < payload.size(); ++at)
    for (int round = 0; round < 8; ++round) {
      AlignedBytes changed(payload.span());
      changed.span()[at] = static_cast<std::uint8_t>(rng.next_u32());
      const auto message = decode_server_message(changed.span());
      if (!message.has_value()) continue;
      const auto* welcome = std::get_if<Welcome>(&*message);
      if (welcome == nullptr) continue;
      REQUIRE((welcome->rules.tick_rate_hz >= 10 && welcome->rules.tick_rate_hz <= 128));
      REQUIRE((welcome->rules.player.radius_m >= 0.05 && welcome->rules.player.radius_m < 0.5));
      REQUIRE(welcome->rules.gravity_mps2 - welcome->rules.gravity_mps2 == 0);
      REQUIRE(welcome->maps.size() <= placed_maps_max);
      REQUIRE(welcome->props.size() <= placed_props_max);
      for (const WelcomeProp& prop : welcome->props) REQUIRE(valid_text(prop.name, 1, prop_name_bytes_max));
      REQUIRE(valid_text(welcome->motd, 0, motd_bytes_max));
      for (const WelcomeMap& map : welcome->maps) REQUIRE(valid_text(map.name, 1, map_name_bytes_max));
    }
}
