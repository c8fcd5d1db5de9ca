#include "protocol/recording.h"

#include <functional>

#include "protocol/chunk_codec.h"
#include "protocol/text.h"
#include "tests/catch.h"
#include "world/math/random.h"
#include "world/sim/kept_state.h"
#include "world/voxel/chunk.h"

using namespace ashlar;

namespace {

std::shared_ptr<const BlockRegistry> marble_blocks() {
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  types.emplace_back().name = "marble";
  return std::make_shared<const BlockRegistry>(std::move(types));
}

RecordingHeader some_header() {
  RecordingHeader h;
  h.build = "test";
  h.seed = 42;
  h.terrain = TerrainKind::flat;
  h.generator = 9;
  h.players_max = 8, h.monsters_max = 20, h.monsters = 10;
  h.start_hash = 77;
  h.maps.push_back({"MAP01", 5, {-1, -2}, 30, true, false});
  h.props.push_back({"crate.obj", 6, {{1.5, -2, 3}, Turn16{9}, 0.5}, ModelUp::z});
  h.spawn = {{10, -20.5}, 30};
  h.zones = {{{{-1, -2, -3}, {4, 5, 6}}, "spawn"}, {{{0, 0, 0}, {1, 1, 1}}, ""}};
  h.blocks = marble_blocks();
  return h;
}

std::shared_ptr<const std::vector<std::uint8_t>> chunk_of_clay() {
  static const auto bytes =
      std::make_shared<const std::vector<std::uint8_t>>(ChunkCodec().encode(Chunk(BlockId::clay)));
  return bytes;
}

/// What a kept world may begin with.
RecordedStart some_start() {
  RecordedStart start;
  start.age_ticks = 123'456'789'012;
  start.items = {{{BlockId::stone, 64}, {1.5, -2, 30}, 7}};
  BlockData data;
  data.items.add({BlockId::clay, 5});
  data.due = 123'456'789'100;
  start.contents = {{{-1, 2, -3}, data}};
  KeptState state;
  state.falling = {{1, 2, 3}};
  start.kept = std::make_shared<const KeptState>(state);
  start.chunks = {{{0, -1, 2}, chunk_of_clay()}};
  return start;
}

TickRecord random_tick(Rng& rng) {
  TickRecord t;
  const auto few = [&rng] { return rng.below(4) == 0 ? rng.below(3) : 0u; };
  for (std::uint32_t n = few(); n > 0; --n) t.joins.push_back(rng.next_u32());
  for (std::uint32_t n = few(); n > 0; --n) t.leaves.push_back(EntityId{rng.next_u32()});
  for (std::uint32_t slot = 0; slot < 5; ++slot) {
    PlayerInput in;
    in.player = make_entity_id(slot, 1 + rng.below(2));
    if (rng.below(3) == 0) in.command.forward = static_cast<double>(rng.below(255)) / 127 - 1;
    in.command.yaw = Turn16{static_cast<std::uint16_t>(rng.below(4))};
    in.command.buttons = static_cast<std::uint16_t>(rng.below(2));
    in.command.seen = TickId{rng.below(4) == 0 ? rng.next_u32() : rng.below(3)};
    in.command.told_before = static_cast<std::uint8_t>(rng.below(3) == 0 ? rng.below(256) : 0);
    in.command.told_after = static_cast<std::int8_t>(rng.below(3) == 0 ? rng.below(256) : 0);
    t.commands.push_back(in);
  }
  for (std::uint32_t n = few(); n > 0; --n)
    t.admin.push_back({AdminAction::teleport, make_entity_id(1, 1), {1.5, -2.5, 3}});
  for (std::uint32_t n = few(); n > 0; --n) t.edits.push_back({{-5, 6, 7}, BlockId::brick});
  for (std::uint32_t n = few(); n > 0; --n)
    t.admin.push_back({AdminAction::fill_box, {}, {}, {{-5, 6, 7}, {-4, 9, 8}}, BlockId::glass});
  for (std::uint32_t n = few(); n > 0; --n)
    t.admin.push_back({AdminAction::blast, make_entity_id(2, 1), {0.5, 1, 2}, {}, {}, 3.5});
  for (std::uint32_t n = few(); n > 0; --n)
    t.acts.push_back({make_entity_id(rng.below(5), 1),
                      rng.next_u32(),
                      static_cast<BlockActKind>(rng.below(block_act_kind_count)),
                      static_cast<BlockFace>(rng.below(block_face_count)),
                      {static_cast<std::int32_t>(rng.next_u32()), INT32_MIN, INT32_MAX},
                      BlockId::air});
  for (BlockAct& act : t.acts) {
    if (names_kind(act.kind)) act.id = BlockId{65535};
    if (moves_items(act.kind)) act.count = 64;
    if (act.kind == BlockActKind::write) act.text = SignText::of("to the mine");
  }
  for (std::uint32_t n = few(); n > 0; --n) {
    AdminCommand& gift = t.admin.emplace_back();
    gift.action = AdminAction::give, gift.player = make_entity_id(2, 1);
    gift.id = BlockId::sand, gift.count = 300;
  }
  for (std::uint32_t n = few(); n > 0; --n) {
    AdminCommand& filled = t.admin.emplace_back();
    filled.action = AdminAction::fill_block, filled.box.min = {-5, 6, 7};
    filled.data.items.slots[3] = {BlockId::clay, 9};
    filled.data.text = SignText::of("clay");
  }
  for (std::uint32_t n = few(); n > 0; --n) t.chunks_ready.push_back({-1, 2, 3});
  if (rng.below(40) == 0) t.chunks_kept.push_back({{-1, 2, 3}, chunk_of_clay()});
  for (std::uint32_t n = few(); n > 0; --n) t.chunks_dropped.push_back({4, -5, 6});
  for (std::uint32_t n = few(); n > 0; --n) {
    const std::vector<std::uint8_t> said(rng.below(game_call_bytes_max + 1), 9);
    t.calls.push_back(rng.below(2) == 0 ? GameCall::command(make_entity_id(rng.below(5), 1), "vote MAP02")
                                        : GameCall::of(make_entity_id(rng.below(5), 1), 63, said));
  }
  for (std::uint32_t n = few(); n > 0; --n) t.watchers.push_back(rng.next_u32());
  for (std::uint32_t n = few(); n > 0; --n)
    t.names.push_back({rng.next_u32(), PlayerName(rng.below(2) == 0 ? "Ann Ö" : "")});
  for (std::uint32_t n = few(); n > 0; --n)
    t.away.push_back({make_entity_id(rng.below(5), 1), rng.below(2) == 0,
                      PlayerName(std::string(rng.below(player_name_chars_max + 1), 'b'))});
  for (std::uint32_t n = few(); n > 0; --n)
    t.told_apart.push_back({make_entity_id(rng.below(5), 1), make_entity_id(rng.below(5), 2),
                            static_cast<std::uint8_t>(rng.below(256)),
                            static_cast<std::int8_t>(static_cast<int>(rng.below(256)) - 128)});
  for (std::uint32_t n = few(); n > 0; --n) {
    Returning& back = t.returning.emplace_back();
    back.token = rng.next_u32();
    back.inventory.add({BlockId::clay, 5});
    if (rng.below(2) == 0) continue;  // as of before there was more
    back.score = {rng.below(3), -3, 65'535, 2, 4, rng.below(2) * 70'000};
    back.life.health = static_cast<std::uint16_t>(rng.below(2));
    if (back.life.health == 0) continue;
    back.life.armour = 200, back.life.armour_half = 1, back.life.kinds_of = rng.next_u64();
    back.life.arsenal.power_ticks[2] = power_endless, back.life.arsenal.spent[weapons_max - 1] = 7;
    back.life.arsenal.held = weapons_max - 1, back.life.arsenal.backpack = 1;
  }
  t.hash = rng.next_u64();
  return t;
}

bool same(const TickRecord& a, const TickRecord& b) {
  const auto commands = [](const PlayerInput& x, const PlayerInput& y) {
    return x.player == y.player && x.command == y.command;
  };
  const auto admin = [](const AdminCommand& x, const AdminCommand& y) {
    return x.action == y.action && x.player == y.player && x.position_m == y.position_m && x.box == y.box &&
           x.id == y.id && x.radius_m == y.radius_m;
  };
  const auto calls = [](const GameCall& x, const GameCall& y) {
    return x.player == y.player && x.message == y.message && x.text() == y.text();
  };
  const auto returning = [](const Returning& x, const Returning& y) {
    return x.token == y.token && x.inventory == y.inventory && x.score == y.score && x.life == y.life;
  };
  const auto kept = [](const ChangedChunk& x, const ChangedChunk& y) {
    return x.at == y.at && *x.bytes == *y.bytes;
  };
  return std::ranges::equal(a.chunks_kept, b.chunks_kept, kept) &&
         std::ranges::equal(a.returning, b.returning, returning) && a.joins == b.joins &&
         a.leaves == b.leaves && a.chunks_ready == b.chunks_ready && a.chunks_dropped == b.chunks_dropped &&
         a.hash == b.hash && std::ranges::equal(a.admin, b.admin, admin) && a.acts == b.acts &&
         std::ranges::equal(a.calls, b.calls, calls) && a.watchers == b.watchers &&
         a.told_apart == b.told_apart && a.names == b.names && a.away == b.away &&
         a.edits.size() == b.edits.size() && std::ranges::equal(a.commands, b.commands, commands);
}

std::vector<std::uint8_t> recorded(std::vector<TickRecord>& ticks, std::size_t count) {
  Rng rng{1};
  RecordingWriter writer(some_header(), 10);
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < count; ++i) {
    ticks.push_back(random_tick(rng));
    writer.add(ticks.back());
    if (writer.block_ready()) writer.take(bytes);
  }
  writer.take(bytes);
  return bytes;
}

}  // namespace

TEST_CASE("a recording gives back every tick as it went in", "[protocol][recording]") {
  std::vector<TickRecord> ticks;
  const auto bytes = recorded(ticks, 95);
  auto reader = RecordingReader::open(bytes);
  REQUIRE(reader);
  CHECK(reader->header().seed == 42);
  CHECK(reader->header().terrain == TerrainKind::flat);
  CHECK(reader->header().generator == 9);
  CHECK(reader->header().start_hash == 77);
  CHECK(reader->header().blocks->find("marble") == static_cast<BlockId>(BlockRegistry::builtin().size()));
  REQUIRE(reader->header().maps.size() == 1);
  CHECK(reader->header().maps[0].origin_block == IVec2{-1, -2});
  CHECK_FALSE(reader->header().maps[0].doorway);
  REQUIRE(reader->header().props.size() == 1);
  CHECK(reader->header().props[0].name == "crate.obj");
  CHECK(reader->header().props[0].content_hash == 6);
  CHECK(reader->header().props[0].place == PropPlace{{1.5, -2, 3}, Turn16{9}, 0.5});
  CHECK(reader->header().props[0].up == ModelUp::z);
  CHECK(reader->header().spawn == SpawnArea{{10, -20.5}, 30});
  TickRecord t;
  for (const TickRecord& expected : ticks) {
    const auto more = reader->next(t);
    REQUIRE(more);
    REQUIRE(*more);
    REQUIRE(same(t, expected));
  }
  CHECK_FALSE(reader->next(t).value());
  CHECK_FALSE(reader->torn());
}

TEST_CASE("a recording cut anywhere yields its whole blocks and says that it is torn",
          "[protocol][recording]") {
  std::vector<TickRecord> ticks;
  const auto bytes = recorded(ticks, 30);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    auto reader = RecordingReader::open(std::span(bytes).first(size));
    if (!reader) continue;
    TickRecord t;
    std::size_t count = 0;
    auto more = reader->next(t);
    while (more && *more) {
      REQUIRE(same(t, ticks[count]));
      ++count;
      more = reader->next(t);
    }
    REQUIRE(more.has_value());
    CHECK(count % 10 == 0);
    CHECK(count < 30);
  }
}

TEST_CASE("a flipped byte anywhere in a recording is noticed", "[protocol][recording]") {
  std::vector<TickRecord> ticks;
  const auto bytes = recorded(ticks, 30);
  std::size_t unnoticed = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto bad = bytes;
    bad[i] ^= 0x10;
    auto reader = RecordingReader::open(bad);
    if (!reader) continue;
    TickRecord t;
    std::size_t count = 0;
    auto more = reader->next(t);
    while (more && *more) ++count, more = reader->next(t);
    if (more && !reader->torn() && count == 30) ++unnoticed;
  }
  CHECK(unnoticed == 0);
}

TEST_CASE("an older version's header gives the rules that it knew, and is written as it was read",
          "[protocol][recording]") {
  RecordingHeader old = some_header();
  old.version = 5;
  old.rules.respawn_s = 7;
  old.rules.block_reach_m = 9;
  std::vector<std::uint8_t> bytes, again;
  RecordingWriter(old).take(bytes);
  const auto reader = RecordingReader::open(bytes);
  REQUIRE(reader);
  CHECK(reader->header().version == 5);
  CHECK(reader->header().rules.respawn_s == 7);
  CHECK(reader->header().rules.block_reach_m == Rules{}.block_reach_m);
  CHECK(reader->header().spawn == old.spawn);
  RecordingWriter(reader->header()).take(again);
  CHECK(again == bytes);
}

TEST_CASE("a recording of the version before is read, whose players said nothing to the game",
          "[protocol][recording]") {
  RecordingHeader old = some_header();
  old.version = 10;
  Rng rng{2};
  std::vector<TickRecord> ticks;
  RecordingWriter writer(old);
  for (int i = 0; i < 50; ++i) {
    ticks.push_back(random_tick(rng));
    ticks.back().calls.clear();
    ticks.back().watchers.clear();
    ticks.back().chunks_kept.clear();
    ticks.back().told_apart.clear();
    writer.add(ticks.back());
  }
  std::vector<std::uint8_t> bytes;
  writer.take(bytes);
  auto reader = RecordingReader::open(bytes);
  REQUIRE(reader);
  CHECK(reader->header().version == 10);
  CHECK(reader->header().blocks->find("marble").has_value());
  TickRecord t;
  for (const TickRecord& tick : ticks) {
    const auto more = reader->next(t);
    REQUIRE((more && *more));
    REQUIRE(same(t, tick));
  }
  const auto end = reader->next(t);
  REQUIRE(end.has_value());
  CHECK_FALSE(*end);
}

TEST_CASE("a recording's header holds what a kept world began with, and no other's",
          "[protocol][recording]") {
  RecordingHeader header = some_header();
  header.start = some_start();
  std::vector<std::uint8_t> bytes, again;
  RecordingWriter(header).take(bytes);
  const auto reader = RecordingReader::open(bytes);
  REQUIRE(reader);
  const RecordedStart& start = reader->header().start;
  CHECK(start.age_ticks == header.start.age_ticks);
  REQUIRE((start.items.size() == 1 && start.contents.size() == 1 && start.chunks.size() == 1));
  CHECK(start.items[0].stack == header.start.items[0].stack);
  CHECK(start.contents[0].block == header.start.contents[0].block);
  CHECK(start.contents[0].data == header.start.contents[0].data);
  REQUIRE(start.kept != nullptr);
  CHECK(*start.kept == *header.start.kept);
  CHECK(*start.chunks[0].bytes == *header.start.chunks[0].bytes);
  CHECK(reader->header().spawn == header.spawn);
  RecordingWriter(reader->header()).take(again);
  CHECK(again == bytes);

  const auto refused = [&](const std::function<void(RecordedStart&)>& change) {
    RecordingHeader other = header;
    change(other.start);
    std::vector<std::uint8_t> wrong;
    RecordingWriter(other).take(wrong);
    return !RecordingReader::open(wrong).has_value();
  };
  CHECK(refused([](RecordedStart& s) { s.age_ticks = life_ticks_max + 1; }));
  CHECK(refused([](RecordedStart& s) { s.contents[0].block.x = 1 << 21; }));
  CHECK(refused([](RecordedStart& s) { s.chunks[0].at.z = 1 << 20; }));
  CHECK(refused([](RecordedStart& s) {
    s.chunks[0].bytes = std::make_shared<const std::vector<std::uint8_t>>(9, std::uint8_t{1});
  }));
  // The version before knew of none.
  header.version = 12;
  bytes.clear();
  RecordingWriter(header).take(bytes);
  const auto old = RecordingReader::open(bytes);
  REQUIRE(old);
  CHECK(old->header().start.age_ticks == 0);
  CHECK(old->header().spawn == header.spawn);
}

TEST_CASE("an eleventh version's header has no rules of days, places and lives", "[protocol][recording]") {
  RecordingHeader old = some_header();
  old.version = 11;
  old.rules.burst_dig_m = 3;
  old.rules.day_s = 600, old.rules.match_places = 8, old.rules.lives = 3;
  std::vector<std::uint8_t> bytes, again;
  RecordingWriter(old).take(bytes);
  const auto reader = RecordingReader::open(bytes);
  REQUIRE(reader);
  CHECK(reader->header().rules.burst_dig_m == 3);
  CHECK(reader->header().rules.day_s == 0);
  CHECK(reader->header().rules.match_places == 0);
  CHECK(reader->header().rules.lives == 0);
  RecordingWriter(reader->header()).take(again);
  CHECK(again == bytes);
}

TEST_CASE("a fourteenth version's header has no rules of falls", "[protocol][recording]") {
  RecordingHeader old = some_header();
  old.version = 14;
  old.rules.lives = 3;
  old.rules.fall_free_m = 4, old.rules.fall_damage = 9;
  std::vector<std::uint8_t> bytes;
  RecordingWriter(old).take(bytes);
  const auto reader = RecordingReader::open(bytes);
  REQUIRE(reader);
  CHECK(reader->header().rules.lives == 3);
  CHECK(reader->header().rules.fall_free_m == 0);
  CHECK(reader->header().rules.fall_damage == Rules{}.fall_damage);
}

TEST_CASE("what is no recording, or another version's, is refused by name", "[protocol][recording]") {
  const std::vector<std::uint8_t> junk{'W', 'A', 'D', 0, 1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(RecordingReader::open(junk).error() == RecordingError::not_a_recording);
  CHECK(RecordingReader::open({}).error() == RecordingError::not_a_recording);
  RecordingHeader other = some_header();
  other.version = 99;
  RecordingWriter writer(other);
  std::vector<std::uint8_t> bytes;
  writer.take(bytes);
  CHECK(RecordingReader::open(bytes).error() == RecordingError::wrong_version);
  CHECK(version_of_recording(bytes) == 99);
  CHECK_FALSE(version_of_recording(junk).has_value());
  CHECK_FALSE(version_of_recording(std::span(bytes).first(20)).has_value());
}

TEST_CASE("a held key with a snapshot each tick costs two bytes a tick and player", "[protocol][recording]") {
  RecordingWriter writer(some_header(), 1000);
  std::vector<std::uint8_t> before, after;
  TickRecord tick;
  tick.commands = {{make_entity_id(1, 1), {1, 0, Turn16{9}, {}, 0, TickId{100}}}};
  writer.add(tick);
  writer.take(before);
  constexpr std::size_t ticks = 100, tick_bytes = 1 + 1 + 8;  // sections, commands, hash
  for (std::size_t i = 0; i < ticks; ++i) {
    tick.commands[0].command.seen = TickId{number(tick.commands[0].command.seen) + 1};
    writer.add(tick);
  }
  writer.take(after);
  CHECK(after.size() == recording_block_head_bytes + ticks * (tick_bytes + 2));
}

TEST_CASE("a tick with what no world can take is refused", "[protocol][recording]") {
  TickRecord tick;
  SECTION("a command of a player whose id was never told") {
    tick.commands = {{EntityId{}, {1, 0, {}, {}, 0}}};
  }
  SECTION("a chunk beyond the world") { tick.chunks_ready = {{INT32_MAX, 0, 0}}; }
  SECTION("a player who comes back with a weapon that no world has") {
    tick.returning = {{1, {}, {}, {.health = 5}}};
    tick.returning[0].life.arsenal.held = weapons_max;
  }
  SECTION("a player who comes back in a team that there is not") {
    tick.returning = {{1, {}, {.match = 1, .team = teams_max + 1}, {}}};
  }
  SECTION("a player of a name that none has") { tick.names = {{1, PlayerName(" Ann")}}; }
  SECTION("a player who is back by such a name") {
    tick.away = {{make_entity_id(1, 1), false, PlayerName(std::string(player_name_chars_max + 1, 'a'))}};
  }
  SECTION("a chunk below the world") { tick.chunks_dropped = {{0, 0, INT32_MIN}}; }
  RecordingWriter writer(some_header());
  writer.add(tick);
  std::vector<std::uint8_t> bytes;
  writer.take(bytes);
  auto reader = RecordingReader::open(bytes);
  REQUIRE(reader.has_value());
  CHECK(reader->next(tick).error() == RecordingError::bad_tick);
}

TEST_CASE("a hole of zeros at a recording's end is a torn end", "[protocol][recording]") {
  std::vector<TickRecord> ticks;
  const auto bytes = recorded(ticks, 30);
  std::vector<std::uint8_t> head;
  RecordingWriter(some_header()).take(head);
  for (std::size_t from = head.size(); from <= bytes.size(); ++from) {
    auto holed = bytes;
    std::fill(holed.begin() + static_cast<std::ptrdiff_t>(from), holed.end(), std::uint8_t{0});
    if (from % 2 == 0) holed.resize(holed.size() + 300);
    auto reader = RecordingReader::open(holed);
    REQUIRE(reader);
    TickRecord t;
    std::size_t count = 0;
    auto more = reader->next(t);
    while (more && *more) ++count, more = reader->next(t);
    CAPTURE(from, count);
    REQUIRE(more.has_value());
    REQUIRE(count % 10 == 0);
    REQUIRE((reader->torn() || count == 30));
  }
}
