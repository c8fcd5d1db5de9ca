// Makes the seeds that the fuzzers start from: ASHLAR_CORPUS=tests/fuzz/corpus bin/tests_protocol "[corpus]"
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "protocol/block_kinds.h"
#include "protocol/content/content.h"
#include "protocol/content/map_layout.h"
#include "protocol/content/prop_layout.h"
#include "protocol/inventory_codec.h"
#include "protocol/kept_state_codec.h"
#include "protocol/message_writer.h"
#include "protocol/packed_input.h"
#include "protocol/recorded_world.h"
#include "protocol/replication_codec.h"
#include "protocol/sector_motion.h"
#include "protocol/snapshot/block_delta.h"
#include "protocol/snapshot/height_delta.h"
#include "protocol/snapshot/own_delta.h"
#include "protocol/snapshot/packed_part.h"
#include "protocol/snapshot/plain_codec.h"
#include "protocol/snapshot/plain_part.h"
#include "protocol/stream_frame.h"
#include "protocol/visibility_file.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "tests/protocol/content/contents.h"
#include "tests/wads.h"

using namespace ashlar;

namespace {

void save(const std::filesystem::path& file, std::span<const std::uint8_t> bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(out.good());
}

/// An operation of fuzz_host and fuzz_client: what to do, which the stream is part of, and the bytes.
void operate(std::vector<std::uint8_t>& script, unsigned what, unsigned stream,
             std::span<const std::uint8_t> bytes) {
  const auto high = static_cast<unsigned>(bytes.size() >> 8);
  unsigned bits = 0;
  while ((high << 3 | bits) % 5 != stream) ++bits;
  script.push_back(static_cast<std::uint8_t>((high & 3u) << 6 | bits << 3 | what));
  script.push_back(static_cast<std::uint8_t>(bytes.size()));
  script.insert(script.end(), bytes.begin(), bytes.end());
}

/// Every message of one end, said to a whole Host or Client on every stream and unreliably.
void save_scripts(const std::filesystem::path& messages, const std::filesystem::path& to,
                  std::initializer_list<std::uint8_t> kinds) {
  for (const auto& entry : std::filesystem::directory_iterator(messages)) {
    const auto message = testing::read_bytes(entry.path());
    if (message.size() > 1000) continue;
    for (const std::uint8_t kind : kinds) {
      std::vector<std::uint8_t> script{kind};
      for (unsigned stream = 0; stream < 5; ++stream) operate(script, 3, stream, message);
      operate(script, 4, 0, message);
      script.insert(script.end(), {5, 9});
      save(to / (entry.path().filename().string() + "_" + std::to_string(kind)), script);
    }
  }
}

/// Two players who do a little of everything that a recording can hold.
std::vector<std::uint8_t> short_recording() {
  WorldSetup setup;
  setup.players_max = 4, setup.monsters_max = 4, setup.monsters = 2;
  RecordingWriter writer(recording_header(World(setup), "seed"));
  constexpr EntityId ada = make_entity_id(0, 1);
  constexpr EntityId bob = make_entity_id(1, 1);
  std::vector<TickRecord> ticks(12);
  for (TickRecord& tick : ticks) tick.commands = {{ada, {1, 0, Turn16{9}, {}, 0}}, {bob, {0, -1, {}, {}, 1}}};
  ticks[0] = TickRecord{};
  ticks[0].joins = {1, 2};
  ticks[3].admin = {{AdminAction::noclip_on, ada, {}}, {AdminAction::teleport, bob, {8.5, -3.5, 40}}};
  ticks[5].edits = {{{1, 2, 3}, BlockId::brick}, {{-1, -2, 30}, BlockId::air}};
  ticks[6].acts = {{ada, 1, BlockActKind::dig, BlockFace::top, {1, 2, 3}, BlockId::air},
                   {bob, 1, BlockActKind::place, BlockFace::west, {-1, -2, 30}, BlockId::glass},
                   {bob, 2, BlockActKind::stop, BlockFace::west, {}, BlockId::air}};
  ticks[6].admin = {{AdminAction::fill_box, {}, {}, {{0, 0, 0}, {2, 2, 2}}, BlockId::brick},
                    {AdminAction::blast, ada, {1, 2, 3}, {}, {}, 2.5}};
  ticks[7].chunks_dropped = {{0, 0, 0}};
  ticks[8].chunks_ready = {{0, 0, 0}, {-1, 2, 0}};
  ticks[9].leaves = {bob};
  ticks[9].acts = {{ada, 3, BlockActKind::drop, BlockFace::west, {5, 0, 0}, BlockId::dirt}};
  ticks[9].calls = {GameCall::command(ada, "score"), GameCall::of(ada, 3, std::array<std::uint8_t, 2>{1, 2})};
  ticks[10].joins = {2};
  ticks[10].returning = {{2, {}}};
  ticks[10].returning[0].inventory.add({BlockId::dirt, 5});
  ticks[10].watchers = {2};
  ticks[10].told_apart = {{ada, bob, 4, -2}};
  ticks[10].returning[0].score = {.match = 1, .score = -2, .kills = 3};
  ticks[10].returning[0].life = {.health = 40, .armour = 5, .arsenal = fresh_arsenal(default_kinds())};
  for (const TickRecord& tick : ticks) writer.add(tick);
  std::vector<std::uint8_t> file;
  writer.take(file);
  return file;
}

/// Parts one behind the other, each with its length in front, as fuzz_packed_snapshot takes them.
template <class Writer>
void add_part(std::vector<std::uint8_t>& seed, const Writer& part) {
  const auto bytes = part.bytes();
  seed.push_back(static_cast<std::uint8_t>(bytes.size()));
  seed.push_back(static_cast<std::uint8_t>(bytes.size() >> 8));
  seed.insert(seed.end(), bytes.begin(), bytes.end());
}

MovingRecord walker(std::uint32_t slot, int x) {
  MovingRecord e;
  e.record.id = make_entity_id(slot, 1);
  e.record.x = static_cast<std::uint16_t>(x), e.record.y = 500, e.record.z = 128;
  e.velocity = {80, -40, 0};
  return e;
}

/// Somebody walks on and another one comes and goes; sectors move; a block is to be forgotten, and told anew
/// in the next epoch.
std::vector<std::pair<std::string, std::vector<std::uint8_t>>> packed_seeds() {
  PartHead head;
  head.tick = 100, head.applied_tick = 99, head.world = 1;
  PackedPartWriter part;
  std::vector<std::uint8_t> bytes(coded_block_bytes_max);
  const auto block = [&](std::uint16_t number, std::span<const MovingRecord> now, const BlockBase& base) {
    const std::size_t size = encode_block({{0, 0, 0}, now}, base, 60, bytes);
    REQUIRE(part.add_block(number, base.age, std::span(bytes).first(size)));
  };
  const auto own = [&](const OwnPlayer& now, const OwnPlayer& base, std::uint32_t age) {
    BitWriter bits(bytes);
    encode_own(now, base, age, 60, bits);
    REQUIRE(part.add_own(age, std::span(bytes).first(bits.finish())));
  };
  OwnPlayer before, after;
  before.id = after.id = make_entity_id(0, 1);
  after.body.position_m.x = 0.1;
  const MovingRecord first[] = {walker(1, 100), walker(2, 200)};
  const MovingRecord then[] = {walker(1, 110), walker(3, 300)};
  const SliceHeight heights[] = {{0, {0, 65536}}, {63, {1000, 2000}}};

  std::vector<std::uint8_t> walk, gone;
  part.begin(head);
  own(before, {}, 0);
  block(3, first, {});
  REQUIRE(part.add_heights(0, 0, 0, std::span(bytes).first(encode_heights(heights, bytes))));
  add_part(walk, part), add_part(gone, part);
  head.tick = 101;
  part.begin(head);
  own(after, before, 1);
  block(3, then, {1, first, true});
  REQUIRE(part.add_motion(WireMotion{}));
  REQUIRE(part.add_moved({make_entity_id(2, 1), 4}));
  add_part(walk, part);
  part.begin(head);
  REQUIRE(part.add_gone(3));
  add_part(gone, part);
  head.tick = 102, head.epoch = 2;
  part.begin(head);
  block(3, then, {});
  add_part(gone, part);

  // Of the tick that the fuzzer foresees, and of the one after.
  std::vector<std::uint8_t> foreseen;
  head.tick = 100, head.epoch = 1;
  part.begin(head);
  REQUIRE(part.add_own(0, {}, true));
  add_part(foreseen, part);
  head.tick = 101;
  part.begin(head);
  BitWriter bits(bytes);
  encode_own(after, before, 1, 60, bits);
  REQUIRE(part.add_own(1, std::span(bytes).first(bits.finish()), true));
  add_part(foreseen, part);
  return {{"walk", walk}, {"gone", gone}, {"foreseen", foreseen}};
}

/// The same, plainly.
std::vector<std::pair<std::string, std::vector<std::uint8_t>>> plain_seeds() {
  PartHead head;
  head.tick = 100, head.applied_tick = 99, head.world = 1;
  PlainPartWriter part;
  std::vector<std::uint8_t> bytes(plain_block_bytes_max), walk, gone;
  const auto first = [&bytes](std::size_t size) { return std::span<const std::uint8_t>(bytes).first(size); };
  const auto block = [&](std::uint16_t number, std::span<const MovingRecord> now, const BlockBase& base) {
    const PlainCoded coded = encode_plain_block({{0, 0, 0}, now}, base, bytes);
    REQUIRE(part.add_block(number, coded.age, first(coded.bytes)));
  };
  OwnPlayer own;
  own.id = make_entity_id(0, 1);
  const MovingRecord before[] = {walker(1, 100), walker(2, 200), walker(4, 400)};
  const MovingRecord then[] = {walker(1, 110), walker(2, 200), walker(3, 300)};
  const SliceHeight heights[] = {{0, {0, 65536}}, {63, {1000, 2000}}};
  const Cue cues[] = {{CueKind::hurt, 1, 3, own.id, false, {}}};
  Mover door;
  door.high_m = 3, door.speed_mps = 2;

  part.begin(head);
  REQUIRE(part.add_own(0, first(encode_plain_own(own, bytes))));
  block(3, before, {});
  REQUIRE(part.add_heights(0, 0, 0, first(encode_plain_heights(heights, bytes))));
  part.set_part_count(1);
  add_part(walk, part), add_part(gone, part);
  head.tick = 101;
  part.begin(head);
  REQUIRE(part.add_own(1, {}));
  block(3, then, {1, before, true, {}});
  REQUIRE(part.add_motion(to_wire(door, 0, 1)));
  REQUIRE(part.add_moved({make_entity_id(4, 1), 4}));
  REQUIRE(part.add_cues(first(plain_cue_bytes * encode_plain_cues(cues, bytes))));
  part.set_part_count(1);
  add_part(walk, part);
  part.begin(head);
  REQUIRE(part.add_gone(3));
  part.set_part_count(1);
  add_part(gone, part);
  head.tick = 102, head.epoch = 2;
  part.begin(head);
  block(3, then, {});
  part.set_part_count(1);
  add_part(gone, part);
  return {{"plain_walk", walk}, {"plain_gone", gone}};
}

/// A registry, then parts of both encodings with fields for all, for an owner and for a team.
std::vector<std::uint8_t> replication_seed() {
  ReplicationRegistry registry;
  registry.add_field(EntityKind::player, {.name = "mood", .bits = 7, .interpolated = true});
  registry.add_field(EntityKind::player, {.name = "secret", .bits = 32, .to = FieldAudience::owner});
  registry.add_field(EntityKind::player, {.name = "plan", .bits = 9, .to = FieldAudience::team});
  registry.add_message("news", 20);
  registry.add_client_message("order", 9);
  std::vector<std::uint8_t> seed;
  const auto add = [&seed](std::span<const std::uint8_t> bytes) {
    seed.push_back(static_cast<std::uint8_t>(bytes.size()));
    seed.push_back(static_cast<std::uint8_t>(bytes.size() >> 8));
    seed.insert(seed.end(), bytes.begin(), bytes.end());
  };
  add(encode_replication(registry));
  std::vector<std::uint8_t> bytes(coded_block_bytes_max);
  const MovingRecord first[] = {walker(1, 100), walker(2, 200)};
  const FieldValues values[] = {{5}, {0}}, later[] = {{5}, {99}};
  PartHead head;
  head.tick = 100, head.world = 1;
  PackedPartWriter part;
  part.begin(head);
  const auto block = [&](std::span<const FieldValues> now, const BlockBase& base) {
    const std::size_t size = encode_block({{0, 0, 0}, first, now, &registry}, base, 60, bytes);
    REQUIRE(part.add_block(3, base.age, std::span(bytes).first(size)));
  };
  block(values, {});
  for (const FieldAudience to : {FieldAudience::owner, FieldAudience::team}) {
    const PrivateEntity one[] = {{first[0].record.id, EntityKind::player, {0, 77, 78}}};
    REQUIRE(part.add_fields(to, 0, std::span(bytes).first(encode_group(one, to, registry, bytes))));
  }
  add(part.bytes());
  head.tick = 101;
  part.begin(head);
  block(later, {1, first, false, values});
  add(part.bytes());
  head.tick = 102;
  PlainPartWriter plain;
  plain.begin(head);
  const PlainCoded coded =
      encode_plain_block({{0, 0, 0}, first, values, &registry}, {1, first, false, later}, bytes);
  REQUIRE(plain.add_block(3, coded.age, std::span(bytes).first(coded.bytes)));
  for (const FieldAudience to : {FieldAudience::owner, FieldAudience::team}) {
    const PrivateEntity one[] = {{first[0].record.id, EntityKind::player, {0, 7, 8}}};
    const std::size_t size = encode_plain_group(one, to, registry, bytes);
    REQUIRE(plain.add_fields(to, 0, std::span(bytes).first(size)));
  }
  plain.set_part_count(1);
  add(plain.bytes());
  return seed;
}

}  // namespace

TEST_CASE("writes the fuzzers' seeds", "[.][corpus]") {
  const char* folder = std::getenv("ASHLAR_CORPUS");
  REQUIRE(folder != nullptr);
  const std::filesystem::path root(folder);
  MessageWriter w;

  const auto map = testing::must_place(testing::builtin_map());
  testing::MapWriter room;
  room.ring({{0, 0}, {0, 256}, {256, 256}, {256, 0}}, room.sector(0, 128));
  room.map.name = "ROOM";
  const auto small_map = testing::must_place(room.map);
  const auto prop = testing::random_prop(1);
  const auto content = [&](const char* file, std::uint8_t how, std::vector<std::uint8_t> bytes) {
    bytes.insert(bytes.begin(), how);  // the first byte: how they are taken
    save(root / "content" / file, bytes);
  };
  content("map", 0, encode_content(map).value());
  content("prop", 0, encode_content(prop).value());
  content("map_layout", 1, lay_out(*map).value());
  content("room_layout", 1, lay_out(*small_map).value());
  content("prop_layout", 2, lay_out(*prop).value());

  const auto client = root / "client_message";
  Hello hello;
  hello.name = "Ada", hello.build = "seed";
  save(client / "hello", w.write(hello));
  hello.token.assign(200, 7);
  save(client / "hello_token", w.write(hello));
  hello.resume = 9;
  save(client / "hello_resume", w.write(hello));
  save(client / "join", w.write(Join{{1, 2}, 1}));
  Input input;
  input.newest_tick = 77;
  input.world = 1;
  input.command_count = 3;
  input.commands[0] = {1, -1, Turn16{1000}, Turn16{65000}, button::known};
  save(client / "input", w.write(input));
  std::array<std::uint8_t, packed_input_bytes_max> packed;
  save(client / "packed_input", write_packed_input(input, packed));
  save(client / "chat", w.write(Chat{"good evening"}));
  Acts acts;
  acts.tick = 78, acts.act_count = 2, acts.world = 1;
  acts.acts[0] = {{}, 1, BlockActKind::dig, BlockFace::top, {1, 2, 3}, BlockId::air};
  acts.acts[1] = {{}, 2, BlockActKind::place, BlockFace::west, {-1, 2, 30}, BlockId::glass};
  save(client / "acts", w.write(acts));
  save(client / "game_call", w.write(GameCallMessage{1, 3, {1, 2, 3}}));
  save(client / "content_request", w.write(ContentRequest{42, 7}));

  const auto server = root / "server_message";
  Welcome welcome;
  welcome.terrain = 1;
  welcome.generator = 1;
  welcome.maps.push_back({"MAP01", 42, {-10, 20}, 30, welcome_map_flag::doorway});
  welcome.motd = "welcome";
  save(server / "welcome", w.write(welcome));
  welcome.resumed = true;
  welcome.props.push_back({"crate.obj", 43, {{1, 2, 3}, Turn16{9}, 0.5}, ModelUp::z});
  save(server / "welcome_props", w.write(welcome));
  save(server / "chat_line", w.write(ChatLine{"Ada", "good evening"}));
  const std::vector<std::uint8_t> some_bytes(20, 5);
  save(server / "content_part", w.write(ContentPart{42, 100, 30, some_bytes}));
  save(server / "fight",
       w.write(
           Fight{79, 1, 80, 50, 1, {{CombatEventKind::died, HurtBy::burst, 0, EntityId{5}, EntityId{9}}}}));
  save(server / "weapon_kinds", w.write(WeaponKinds{default_kinds().weapons, default_kinds().ammo, 1}));
  MonsterShow show;
  show.blood = "green", show.death_sound = "roar";
  save(server / "monster_shows", w.write(MonsterShows{{{MonsterKind{1}, show}, {MonsterKind{20}, {}}}, 1}));
  save(server / "carried", w.write(Carried{79, 1, {}, {}}));
  save(server / "score",
       w.write(Score{79, 1, 2, MatchPhase::playing, 600, {5, -1, 0, 0}, {{EntityId{5}, "Ada", 5, 5, 1, 1}}}));
  save(server / "score_changes", w.write(Score{140,
                                               1,
                                               2,
                                               MatchPhase::playing,
                                               539,
                                               {6, -1, 0, 0},
                                               {{EntityId{5}, "", 6, 6, 1, 1}},
                                               true,
                                               {EntityId{9}}}));
  save(server / "act_answers",
       w.write(ActAnswers{79, {{1, ActVerdict::progress, {1, 2, 3}}, {2, ActVerdict::done, {0, 2, 30}}}, 1}));
  const std::vector<BlockChange> changed{{7, 1}, {32767, 0}};
  save(server / "block_edits", w.write(BlockEdits{79, 1, {-1, 2, 0}, changed}));
  save(server / "block_kinds", w.write(BlockKinds{BlockRegistry::builtin_ptr(), 1}));
  save(server / "replicated_kinds", w.write(ReplicatedKinds{ReplicationRegistry::builtin_ptr(), 1}));
  save(server / "game_message", w.write(GameMessage{79, 1, 3, {1, 2, 3}}));
  save(root / "replication" / "secrets", replication_seed());
  save(server / "inventory",
       w.write(InventoryChange{79, 1, true, {{0, {BlockId::dirt, 64}}, {35, {BlockId::brick, 1}}}}));
  save(server / "content_refused", w.write(ContentRefused{42, ContentRefusal::off}));
  std::vector<EntityRecord> entities(5);
  for (std::size_t i = 0; i < entities.size(); ++i)
    entities[i].id = make_entity_id(static_cast<std::uint32_t>(i), 1),
    entities[i].x = static_cast<std::uint16_t>(100 * i);
  OwnPlayer own;
  own.id = make_entity_id(0, 1);
  PartHead head;
  head.tick = 600;
  PlainPartWriter snapshot;
  snapshot.begin(head);
  std::vector<std::uint8_t> own_bytes(plain_own_bytes);
  encode_plain_own(own, own_bytes);
  REQUIRE(snapshot.add_own(0, own_bytes));
  REQUIRE(snapshot.add_block(1, 0, test::whole_block({0, 0, 0}, std::span(entities).first(3))));
  REQUIRE(snapshot.add_block(2, 0, test::whole_block({-1, 2, 0}, std::span(entities).subspan(3))));
  snapshot.set_part_count(1);
  save(server / "snapshot", snapshot.bytes());

  for (const auto& [file, parts] : packed_seeds()) save(root / "packed_snapshot" / file, parts);
  for (const auto& [file, parts] : plain_seeds()) save(root / "packed_snapshot" / file, parts);

  const LyingItem lying[] = {{{BlockId::dirt, 64}, {1.5, -2, 30}, 7}, {{BlockId::brick, 1}, {0, 0, -9}, 0}};
  save(root / "items" / "lying", encode_items(lying));
  Inventory held;
  held.add({BlockId::dirt, 70});
  std::vector<std::uint8_t> inventory;
  ByteWriter inventory_writer(inventory);
  put_inventory(inventory_writer, held);
  save(root / "items" / "inventory", inventory);
  save(root / "items" / "block_data", encode_block_data({held, SignText::of("dirt")}));
  save(root / "items" / "timer_in_two_forms", std::vector<std::uint8_t>{2, 0, 0, 0xfc, 0xc0, 0});
  KeptState at;
  at.falling = {{1, 2, 3}};
  Mover door;
  door.high_m = 3, door.speed_mps = 2;
  at.maps = {{7, {{0, 4}, {1, 2}}, {door}, {0, 1, 0}}};
  at.monsters = {{.row = 3, .health = 17, .position_m = {1, 2, 3}}};
  at.projectiles = {{1, 2, 300, 3, {1, 2, 3}, {-40, 5, 0.5}}};
  at.match = {GameMode::teams, MatchPhase::playing, 3, 3600, {5, -2, 0, 0}};
  std::vector<std::uint8_t> kept;
  encode_kept_state(at, kept);
  save(root / "kept_state" / "door", kept);
  encode_kept_state({}, kept);
  save(root / "kept_state" / "empty", kept);
  // Scripts of fuzz_streamed_ground.cpp: tick, place, changes, what comes and of what.
  using Bytes = std::vector<std::uint8_t>;
  const Bytes chunk{1, 0, 0, 0, 0, 7, 1, 1, 2, 5, 6, 7, 3, 8, 9, 10, 2};
  const Bytes edits{1, 0, 0, 2, 5, 2, 9, 0, 1}, gone{2, 0, 0, 0, 2},
      raw{0, 1, 1, 1, 4, 4, 0, 9, 0, 3, 1, 2, 3};
  const auto script = [](std::initializer_list<Bytes> steps) {
    Bytes all;
    for (const Bytes& step : steps) all.insert(all.end(), step.begin(), step.end());
    return all;
  };
  save(root / "streamed_ground" / "chunk_edits_gone", script({chunk, edits, gone}));
  save(root / "streamed_ground" / "edits_before_their_chunk", script({edits, chunk, chunk}));
  save(root / "streamed_ground" / "no_chunk", script({chunk, raw}));
  save(root / "streamed_ground" / "begun_anew", script({chunk, {1, 0, 0, 0, 3}, chunk, gone}));
  save(root / "block_file" / "kinds", encode_block_kinds(BlockRegistry::builtin()));

  // The first byte says over which true answer the rest is laid: none, a pong, a reset.
  const auto pong = root / "pong";
  save(pong / "raw", std::vector<std::uint8_t>{0, 4, 8, 0});
  save(pong / "pong", std::vector<std::uint8_t>{1});
  std::vector<std::uint8_t> newer(1 + 24 + 12 + 8);
  newer[0] = 1;
  save(pong / "pong_of_a_newer_server", newer);
  save(pong / "reset", std::vector<std::uint8_t>{2});
  save(pong / "reset_changed", std::vector<std::uint8_t>{2, 0, 0, 0, 0, 0, 0, 1});

  save_scripts(root / "client_message", root / "host", {0, 2, 3});
  save_scripts(root / "server_message", root / "client", {0, 1});

  std::vector<std::uint8_t> stream{3};  // the first byte says how the fuzzer cuts it
  for (int i = 0; i < 3; ++i) {
    const std::vector<std::uint8_t> packet(30 + static_cast<std::size_t>(i), 5);
    const auto prefix = frame_prefix(packet.size());
    stream.insert(stream.end(), prefix.begin(), prefix.end());
    stream.insert(stream.end(), packet.begin(), packet.end());
  }
  save(root / "stream_frame" / "three", stream);
  stream.insert(stream.end(), {0, 0, 1, 2, 3});
  save(root / "stream_frame" / "broken", stream);

  save(root / "recording" / "two_players", short_recording());

  for (const std::uint32_t sectors : {3u, 70u}) {
    SectorVisibility set;
    set.sectors = sectors, set.row_words = (sectors + 63) / 64;
    set.bits.assign(std::size_t{sectors} * set.row_words, 5);
    set.from_above.assign(sectors, 1);
    std::vector<std::uint8_t> file = encode_visibility(set, 0);
    file.insert(file.begin(), static_cast<std::uint8_t>(sectors));  // the first byte: of which map
    save(root / "visibility_file" / std::to_string(sectors), file);
  }
}
