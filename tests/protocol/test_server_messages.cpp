#include <flatbuffers/flatbuffers.h>

#include <cmath>
#include <limits>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/schema/server_message_generated.h"
#include "protocol/text.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "tests/protocol/rules.h"
#include "world/math/random.h"

using namespace ashlar;
using test::AlignedBytes;
using test::payload_of;

namespace {

constexpr PacketHeader server_header{.connection = 5, .sequence = 6, .ack = 7, .ack_bits = 8};

Welcome largest_welcome() {
  Welcome welcome;
  welcome.nonce = 11;
  welcome.connection = 0xabcdef01u;
  welcome.player = make_entity_id(3, 4);
  welcome.seed = 0x123456789abcdef0u;
  welcome.tick = 600;
  welcome.snapshot_every_ticks = 2;
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
  return welcome;
}

template <class Build>
AlignedBytes raw(wire::ServerBody type, Build&& build) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto body = build(fbb);
  fbb.Finish(wire::CreateServerMessage(fbb, type, body.Union()), wire::ServerMessageIdentifier());
  return AlignedBytes(std::span(fbb.GetBufferPointer(), fbb.GetSize()));
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
  return payload_of(writer.write(server_header, welcome));
}

}  // namespace

TEST_CASE("a welcome's props come back whole, and their bytes are told before", "[protocol][messages]") {
  Welcome welcome = largest_welcome();
  welcome.maps.resize(1);
  for (std::size_t i = 0; i < 12; ++i)
    welcome.props.push_back(
        {i % 2 == 0 ? "crate.obj" : "rock.obj",
         0xabcd00000000u + i,
         {{1.5 * static_cast<double>(i), -2e5, 40.125}, Turn16{static_cast<std::uint16_t>(i)}, 0.5},
         i % 3 == 0 ? ModelUp::z : ModelUp::y});
  MessageWriter writer;
  const std::size_t bytes = writer.bytes_of(welcome);
  const auto packet = writer.write(server_header, welcome);
  CHECK(packet.size() == bytes);
  const auto message = decode_server_message(payload_of(packet).span());
  REQUIRE(message.has_value());
  const Welcome& back = std::get<Welcome>(*message);
  REQUIRE(back.props.size() == welcome.props.size());
  for (std::size_t i = 0; i < back.props.size(); ++i) {
    CHECK(back.props[i].name == welcome.props[i].name);
    CHECK(back.props[i].content_hash == welcome.props[i].content_hash);
    CHECK(back.props[i].place == welcome.props[i].place);
    CHECK(back.props[i].up == welcome.props[i].up);
  }
  // Names are told once, so another placement costs 40 bytes.
  welcome.props.push_back(welcome.props.back());
  CHECK(writer.bytes_of(welcome) <= bytes + 48);
  // Foreign numbers.
  const auto error_with = [&](auto change) {
    Welcome wrong = largest_welcome();
    wrong.maps.clear();
    wrong.props.push_back({"a.obj", 1, {{1, 2, 3}, Turn16{0}, 1}, ModelUp::y});
    change(wrong.props[0]);
    return server_error_of(payload_of(writer.write(server_header, wrong)));
  };
  CHECK(error_with([](WelcomeProp& p) { p.place.position_m.x = 2e6; }) == DropReason::out_of_range);
  CHECK(error_with([](WelcomeProp& p) { p.place.position_m.z = std::nan(""); }) == DropReason::out_of_range);
  CHECK(error_with([](WelcomeProp& p) { p.place.scale = 0; }) == DropReason::out_of_range);
  CHECK(error_with([](WelcomeProp& p) { p.place.scale = std::nan(""); }) == DropReason::out_of_range);
}

TEST_CASE("the largest welcome fits a datagram and comes back whole", "[protocol][messages]") {
  MessageWriter writer;
  const Welcome welcome = largest_welcome();
  const auto packet = writer.write(server_header, welcome);
  CHECK(packet.size() <= datagram_bytes_max);
  const auto message = decode_server_message(payload_of(packet).span());
  REQUIRE(message.has_value());
  const Welcome& back = std::get<Welcome>(*message);
  CHECK(back.nonce == welcome.nonce);
  CHECK(back.connection == welcome.connection);
  CHECK(back.player == welcome.player);
  CHECK(back.seed == welcome.seed);
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
}

TEST_CASE("refusals, chat lines and goodbyes come back", "[protocol][messages]") {
  MessageWriter writer;
  for (std::size_t r = 0; r < refuse_reason_count; ++r) {
    const Refuse refuse{r, static_cast<RefuseReason>(r), "server is full: 32 of 32"};
    const auto message = decode_server_message(payload_of(writer.write(server_header, refuse)).span());
    REQUIRE(message.has_value());
    CHECK(std::get<Refuse>(*message).reason == refuse.reason);
    CHECK(std::get<Refuse>(*message).nonce == r);
    CHECK(std::get<Refuse>(*message).text == refuse.text);
    CHECK(name(refuse.reason) != "unknown");
  }
  for (std::size_t r = 0; r < goodbye_reason_count; ++r) {
    const Goodbye goodbye{static_cast<GoodbyeReason>(r), "until later"};
    const auto message = decode_server_message(payload_of(writer.write(server_header, goodbye)).span());
    REQUIRE(message.has_value());
    CHECK(std::get<Goodbye>(*message).reason == goodbye.reason);
    CHECK(std::get<Goodbye>(*message).text == goodbye.text);
    CHECK(name(goodbye.reason) != "unknown");
  }
  const ChatLine line{3, "Ada", "good morning"};
  const auto message = decode_server_message(payload_of(writer.write(server_header, line)).span());
  REQUIRE(message.has_value());
  CHECK(std::get<ChatLine>(*message).number == 3);
  CHECK(std::get<ChatLine>(*message).from == "Ada");
  CHECK(std::get<ChatLine>(*message).text == "good morning");
}

TEST_CASE("every truncation of a server message is refused", "[protocol][messages]") {
  MessageWriter writer;
  std::vector<AlignedBytes> payloads;
  payloads.push_back(payload_of(writer.write(server_header, largest_welcome())));
  payloads.push_back(
      payload_of(writer.write(server_header, Refuse{1, RefuseReason::content, "lacks MAP01"})));
  payloads.push_back(payload_of(writer.write(server_header, ChatLine{1, "", "server says"})));
  payloads.push_back(payload_of(writer.write(server_header, Goodbye{GoodbyeReason::kicked, "idle"})));
  payloads.push_back(payload_of(writer.write(server_header, Pong{9, 600, 12, 256})));
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
  CHECK(server_error_of(payload_of(writer.write(server_header, welcome))) == DropReason::out_of_range);
  welcome = largest_welcome();
  welcome.maps[0].surface_z = -5000;
  CHECK(server_error_of(payload_of(writer.write(server_header, welcome))) == DropReason::out_of_range);
  welcome = largest_welcome();
  welcome.snapshot_every_ticks = 0;
  CHECK(server_error_of(payload_of(writer.write(server_header, welcome))) == DropReason::out_of_range);
  welcome.snapshot_every_ticks = 31;  // at 30 ticks a second nobody would hear for more than a second
  CHECK(server_error_of(payload_of(writer.write(server_header, welcome))) == DropReason::out_of_range);

  const auto plain_welcome = [](std::uint32_t connection, bool rules) {
    return raw(wire::ServerBody::Welcome, [&](auto& fbb) {
      return wire::CreateWelcome(fbb, 1, connection, 1, 1, 1, 1,
                                 rules ? wire::CreateRules(fbb, 60) : flatbuffers::Offset<wire::Rules>{});
    });
  };
  CHECK(server_error_of(plain_welcome(0, true)) == DropReason::out_of_range);
  CHECK(server_error_of(plain_welcome(1, false)) == DropReason::malformed);

  CHECK(server_error_of(raw(wire::ServerBody::Refuse, [](auto& fbb) {
          return wire::CreateRefuse(fbb, 1, static_cast<wire::RefuseReason>(8));
        })) == DropReason::out_of_range);
  CHECK(server_error_of(raw(wire::ServerBody::Goodbye, [](auto& fbb) {
          return wire::CreateGoodbye(fbb, static_cast<wire::GoodbyeReason>(6));
        })) == DropReason::out_of_range);
  const auto line = [](std::uint32_t number, const char* from, const char* text) {
    return raw(wire::ServerBody::ChatLine,
               [&](auto& fbb) { return wire::CreateChatLineDirect(fbb, number, from, text); });
  };
  CHECK(decode_server_message(line(1, "", "x").span()).has_value());
  CHECK(server_error_of(line(0, "", "x")) == DropReason::out_of_range);
  CHECK(server_error_of(line(1, " a", "x")) == DropReason::bad_text);
  CHECK(server_error_of(line(1, "", "")) == DropReason::bad_text);
  CHECK(server_error_of(raw(static_cast<wire::ServerBody>(7), [](auto& fbb) {
          return wire::CreateGoodbye(fbb, wire::GoodbyeReason::kicked);
        })) == DropReason::unknown_message);
}

TEST_CASE("a list that lies askew in memory is refused before it is touched", "[protocol][messages]") {
  const auto snapshot_with = [](std::size_t bytes_between) {
    const AlignedBytes whole = raw(wire::ServerBody::Snapshot, [](auto& fbb) {
      const wire::SectorMotion motion(2, 1, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
      const auto motions = fbb.CreateVectorOfStructs(&motion, 1);
      wire::SnapshotBuilder snapshot(fbb);
      snapshot.add_part_count(1);
      snapshot.add_sector_motions(motions);
      return snapshot.Finish();
    });
    // The list again behind everything else, and the field that points to it turned there.
    const auto* message = flatbuffers::GetRoot<wire::ServerMessage>(whole.span().data());
    const auto* snapshot = reinterpret_cast<const flatbuffers::Table*>(message->body());
    const auto* list = message->body_as_Snapshot()->sector_motions();
    std::vector<std::uint8_t> bytes(whole.span().begin(), whole.span().end());
    bytes.resize((bytes.size() + 7) / 8 * 8 + bytes_between);
    const std::size_t field =
        static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(snapshot) - whole.span().data()) +
        snapshot->GetOptionalFieldOffset(wire::Snapshot::VT_SECTOR_MOTIONS);
    flatbuffers::WriteScalar(bytes.data() + field, static_cast<flatbuffers::uoffset_t>(bytes.size() - field));
    const auto* from = reinterpret_cast<const std::uint8_t*>(list);
    bytes.insert(bytes.end(), from, from + sizeof(flatbuffers::uoffset_t) + sizeof(wire::SectorMotion));
    return AlignedBytes(bytes);
  };
  CHECK(decode_server_message(snapshot_with(4).span()).has_value());
  CHECK(server_error_of(snapshot_with(0)) == DropReason::malformed);
}

TEST_CASE("a changed byte in a welcome never yields a rule out of range", "[protocol][messages]") {
  MessageWriter writer;
  Rng rng{12};
  const AlignedBytes payload = payload_of(writer.write(server_header, largest_welcome()));
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
      REQUIRE(valid_text(welcome->motd, 0, motd_bytes_max));
      for (const WelcomeMap& map : welcome->maps) REQUIRE(valid_text(map.name, 1, map_name_bytes_max));
    }
}
