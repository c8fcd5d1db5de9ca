#include "world/sim/block_acts.h"

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/builders.h"
#include "world/bsp/placement.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr auto dig = BlockActKind::dig;
constexpr auto place = BlockActKind::place;
constexpr auto stop = BlockActKind::stop;

/// One player on a plain of dirt, who looks at the ground two metres before it.
struct Digger : Builders {
  explicit Digger(std::uint32_t players = 1, Rules rules = {})
      : Builders(players, [](IVec3 b) { return b.z < 4 ? BlockId::dirt : BlockId::air; }, rules) {
    put(0, {0.5, 0.5, 4});
    rest();
    look(0, {2.5, 0.5, 4});
    step();
  }
  static constexpr IVec3 ground{2, 0, 3};
};

}  // namespace

TEST_CASE("a block is dug when its player kept at it for as long as it is hard", "[world][sim][block_acts]") {
  Digger d;
  REQUIRE(d.verdict_of(d.act(0, dig, d.ground)) == ActVerdict::progress);
  const Digging& digging = d.world->players().digging[0];
  CHECK(digging.share() == 1);
  CHECK(digging.ticks_needed == 30);  // half a second
  for (int tick = 1; tick < 30; ++tick) {
    d.step();
    REQUIRE(d.world->block_acts().verdicts().empty());
    REQUIRE(digging.ticks == tick);
    REQUIRE(d.block(d.ground) == BlockId::dirt);
  }
  CHECK(digging.share() > 240);
  d.step();
  REQUIRE(d.world->block_acts().verdicts().size() == 1);
  CHECK(d.world->block_acts().verdicts()[0] == BlockVerdict{d.ids[0], 1, ActVerdict::done, d.ground});
  REQUIRE(d.world->applied_edits().size() == 1);
  CHECK(d.world->applied_edits()[0] == AppliedEdit{d.ground, BlockId::dirt, BlockId::air, d.ids[0]});
  CHECK(d.block(d.ground) == BlockId::air);
  CHECK_FALSE(d.world->space().voxels->solid(d.ground));
  CHECK(digging.share() == 0);
  CHECK(d.world->column_edited(0, 0));
  CHECK_FALSE(d.world->column_edited(1, 0));
  d.step();
  CHECK(d.world->applied_edits().empty());
  CHECK(d.world->block_acts().counters().dug == 1);
}

TEST_CASE("digging ends without effect when its player turns away, leaves off, goes or does something else",
          "[world][sim][block_acts]") {
  Digger d(2);
  d.put(1, {10.5, 0.5, 4});
  REQUIRE(d.verdict_of(d.act(0, dig, d.ground)) == ActVerdict::progress);
  for (int i = 0; i < 10; ++i) d.step();
  const auto ended_with = [&](std::span<const BlockAct> acts = {}) {
    d.step(acts);
    const auto verdicts = d.world->block_acts().verdicts();
    REQUIRE_FALSE(verdicts.empty());
    CHECK(verdicts[0].number == 1);
    CHECK(verdicts[0].block == d.ground);
    return verdicts[0].verdict;
  };
  SECTION("turns away") {
    d.look(0, {-5, 0, 5});
    CHECK(ended_with() == ActVerdict::looked_away);
  }
  SECTION("leaves off") {
    const BlockAct off = d.act(0, stop, {});
    CHECK(ended_with(std::span(&off, 1)) == ActVerdict::stopped);
  }
  SECTION("another block") {
    const BlockAct other = d.act(0, dig, {2, 1, 3});
    CHECK(ended_with(std::span(&other, 1)) == ActVerdict::stopped);
    CHECK(d.world->players().digging[0].block == IVec3{2, 1, 3});
    CHECK(d.world->players().digging[0].ticks == 0);
  }
  SECTION("goes") {
    d.put(0, {-6.5, 0.5, 4});
    CHECK(d.world->block_acts().verdicts()[0].verdict == ActVerdict::out_of_reach);
  }
  SECTION("the block goes") {
    d.step_admin({AdminAction::fill_box, {}, {}, {d.ground, d.ground + IVec3{1, 1, 1}}, BlockId::air});
    CHECK(d.world->block_acts().verdicts()[0].verdict == ActVerdict::nothing_there);
  }
  SECTION("something comes in between") {
    d.step_admin({AdminAction::fill_box, {}, {}, {{1, -1, 4}, {2, 2, 7}}, BlockId::glass});
    CHECK(d.world->block_acts().verdicts()[0].verdict == ActVerdict::no_sight);
  }
  SECTION("leaves the world") {
    TickInput input;
    input.leaves = std::span(d.ids).first(1);
    d.world->step(input);
    CHECK(d.world->block_acts().verdicts().empty());
  }
  CHECK(d.block({2, 1, 3}) == BlockId::dirt);
  for (int i = 0; i < 40; ++i) d.step();
  CHECK(d.world->block_acts().counters().dug <= 1);
}

TEST_CASE("who holds the tool for a block digs it faster, or at all", "[world][sim][block_acts]") {
  const BlockRegistry& kinds = BlockRegistry::builtin();
  const auto tool = [&](Tool which) { return *kinds.find(name(which)); };
  const auto give = [](Digger& d, BlockId kind) {
    AdminCommand gift{AdminAction::give, d.ids[0], {}};
    gift.id = kind, gift.count = 1;
    d.step_admin(gift);
  };
  Digger d;
  give(d, tool(Tool::pick));  // is not for dirt
  REQUIRE(d.verdict_of(d.act(0, dig, d.ground)) == ActVerdict::progress);
  CHECK(d.world->players().digging[0].ticks_needed == 30);
  give(d, tool(Tool::shovel));
  CHECK(d.world->players().digging[0].ticks_needed == 30);  // as it began
  REQUIRE(d.verdict_of(d.act(0, dig, d.ground)) == ActVerdict::progress);
  CHECK(d.world->players().digging[0].ticks_needed == 7);  // an eighth of a second
  // A tool is no block.
  CHECK(d.verdict_of(d.act(0, place, d.ground, BlockFace::top, tool(Tool::shovel))) ==
        ActVerdict::unknown_block);
  AdminCommand fill{AdminAction::fill_box, {}, {}, {{2, 0, 4}, {3, 1, 5}}, tool(Tool::pick)};
  d.step_admin(fill);
  CHECK(d.block({2, 0, 4}) == BlockId::air);

  BlockType type;
  type.hardness_s = {-1, 2, -1, 3};
  CHECK(type.dig_s(no_tools) < 0);
  CHECK(type.dig_s(static_cast<Tools>(no_tools | bit_of(Tool::axe))) < 0);
  CHECK(type.dig_s(static_cast<Tools>(no_tools | bit_of(Tool::shovel))) == 3);
  CHECK(type.dig_s(all_tools) == 2);
}

TEST_CASE("what only a tool digs is refused to the hand", "[world][sim][block_acts]") {
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  types[static_cast<std::size_t>(BlockId::dirt)].hardness_s = {-1, -1, -1, 1};
  REQUIRE_FALSE(BlockRegistry::check(types).has_value());
  Builders d(
      1, [](IVec3 b) { return b.z < 4 ? BlockId::dirt : BlockId::air; }, {}, 0,
      [&](WorldSetup& s) { s.blocks = std::make_shared<const BlockRegistry>(types); });
  d.put(0, {0.5, 0.5, 4});
  d.rest();
  d.look(0, {2.5, 0.5, 4});
  d.step();
  CHECK(d.verdict_of(d.act(0, dig, Digger::ground)) == ActVerdict::not_diggable);
  AdminCommand gift{AdminAction::give, d.ids[0], {}};
  gift.id = *BlockRegistry::builtin().find("shovel"), gift.count = 1;
  d.step_admin(gift);
  CHECK(d.verdict_of(d.act(0, dig, Digger::ground)) == ActVerdict::progress);
}

TEST_CASE("two who dig one block: the first has it, the other is told that nothing is there",
          "[world][sim][block_acts]") {
  Digger d(2);
  d.put(1, {4.5, 0.5, 4});
  d.look(1, {2.5, 0.5, 4});
  REQUIRE(d.verdict_of(d.act(0, dig, d.ground)) == ActVerdict::progress);
  REQUIRE(d.verdict_of(d.act(1, dig, d.ground)) == ActVerdict::progress);
  for (int i = 0; i < 29; ++i) d.step();
  const auto verdicts = d.world->block_acts().verdicts();
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0] == BlockVerdict{d.ids[0], 1, ActVerdict::done, d.ground});
  CHECK(verdicts[1] == BlockVerdict{d.ids[1], 1, ActVerdict::nothing_there, d.ground});
  CHECK(d.world->applied_edits().size() == 1);
}

TEST_CASE("a block is placed before the face that is looked at, and nowhere else",
          "[world][sim][block_acts]") {
  Digger d(2);
  const IVec3 above = d.ground + IVec3{0, 0, 1};
  d.put(1, {20.5, 0.5, 4});
  const auto verdict = [&](BlockAct act) {
    d.rest();
    const std::uint64_t before = d.world->space().voxels->hash();
    const ActVerdict v = d.verdict_of(act);
    CHECK((v == ActVerdict::done) == (d.world->space().voxels->hash() != before));
    CHECK(d.world->applied_edits().size() == (v == ActVerdict::done ? 1u : 0u));
    return v;
  };
  SECTION("done") {
    CHECK(verdict(d.act(0, place, d.ground)) == ActVerdict::done);
    CHECK(d.block(above) == BlockId::brick);
    CHECK(d.world->space().voxels->solid(above));
    CHECK(d.world->applied_edits()[0] == AppliedEdit{above, BlockId::air, BlockId::brick, d.ids[0]});
    SECTION("and again: cools down, then is occupied or behind it") {
      CHECK(d.verdict_of(d.act(0, place, d.ground)) == ActVerdict::cooling_down);
      CHECK(verdict(d.act(0, place, d.ground)) == ActVerdict::no_sight);
      CHECK(verdict(d.act(0, place, above, BlockFace::west)) == ActVerdict::done);
    }
  }
  SECTION("refused") {
    CHECK(verdict(d.act(0, place, {7, 0, 3})) == ActVerdict::out_of_reach);
    CHECK(verdict(d.act(0, place, {2, 0, 2})) == ActVerdict::no_sight);
    CHECK(verdict(d.act(0, place, above)) == ActVerdict::no_support);
    CHECK(verdict(d.act(0, dig, above)) == ActVerdict::nothing_there);
    CHECK(verdict(d.act(0, place, d.ground, BlockFace::top, BlockId::air)) == ActVerdict::unknown_block);
    CHECK(verdict(d.act(0, place, d.ground, BlockFace::top, BlockId::water)) == ActVerdict::unknown_block);
    CHECK(verdict(d.act(0, place, d.ground, BlockFace::top, BlockId{65535})) == ActVerdict::unknown_block);
    CHECK(verdict(d.act(0, place, {0, 0, 3})) == ActVerdict::body_in_the_way);
    for (const std::int32_t far : {INT32_MIN, INT32_MAX, 1 << 20, -(1 << 20) - 1})
      for (const IVec3 b : {IVec3{far, 0, 0}, IVec3{0, far, 0}, IVec3{0, 0, far}}) {
        CHECK(verdict(d.act(0, place, b)) == ActVerdict::out_of_bounds);
        CHECK(verdict(d.act(0, dig, b)) == ActVerdict::out_of_bounds);
      }
    BlockAct again = d.act(0, place, d.ground);
    --again.number;
    CHECK(verdict(again) == ActVerdict::stale_number);
  }
  SECTION("somebody else stands there, until it goes") {
    d.put(1, {2.5, 0.9, 4});
    CHECK(verdict(d.act(0, place, d.ground)) == ActVerdict::body_in_the_way);
    d.put(1, {20.5, 0.5, 4});
    CHECK(verdict(d.act(0, place, d.ground)) == ActVerdict::done);
  }
  SECTION("no-clip counts for nobody") {
    d.put(1, {2.5, 0.9, 4});
    d.step_admin({AdminAction::noclip_on, d.ids[1], {}});
    CHECK(verdict(d.act(0, place, d.ground)) == ActVerdict::done);
  }
}

TEST_CASE("without free blocks nobody has any to place", "[world][sim][block_acts]") {
  Rules rules;
  rules.free_blocks = FreeBlocks::no;
  Digger d(1, rules);
  CHECK(d.verdict_of(d.act(0, place, d.ground)) == ActVerdict::no_blocks);
}

TEST_CASE("of one player's acts in a tick the first few are heard", "[world][sim][block_acts]") {
  Digger d;
  std::vector<BlockAct> many;
  for (int i = 0; i < 100; ++i) many.push_back(d.act(0, dig, d.ground));
  d.step(many);
  // Each ends what the one before began.
  CHECK(d.world->block_acts().verdicts().size() == 2 * BlockActs::acts_per_tick_max - 1);
  CHECK(d.world->block_acts().counters().unheard == 100 - BlockActs::acts_per_tick_max);
  CHECK(d.world->players().digging[0].number == BlockActs::acts_per_tick_max);
}

TEST_CASE("the hash covers what is dug and how far it is", "[world][sim][block_acts]") {
  Digger a, b;
  REQUIRE(a.world->hash() == b.world->hash());
  const BlockAct other_face = b.act(0, dig, b.ground, BlockFace::top);
  a.verdict_of(a.act(0, dig, a.ground));
  b.step();
  CHECK(a.world->hash() != b.world->hash());
  b.step(std::span(&other_face, 1));
  a.step();
  CHECK(a.world->hash() != b.world->hash());  // a tick behind
  for (int i = 0; i < 60; ++i) a.step(), b.step();
  CHECK(a.world->hash() == b.world->hash());  // both are through and have cooled down
}

TEST_CASE("what a map fills, and the ground around it, is nobody's to dig or build on",
          "[world][sim][block_acts]") {
  WorldSetup setup;
  setup.players_max = 1;
  setup.monsters = setup.monsters_max = 0;
  PlaceOptions options;
  options.surface_z = 24;
  setup.maps.push_back(must_place(builtin_map(), options));
  World world(setup);
  const std::uint32_t token = 1;
  TickInput join;
  join.joins = std::span(&token, 1);
  world.step(join);
  const EntityId id = world.joined()[0].id;
  const BlockBox box = setup.maps[0]->box();
  const std::int32_t y = (box.min.y + box.max.y) / 2;
  std::uint32_t number = 0;
  const auto verdict_at = [&](std::int32_t x, BlockActKind kind) {
    const AdminCommand to{AdminAction::teleport, id, {x + 0.5, y + 0.5, 24.5}};
    TickInput input;
    input.admin = std::span(&to, 1);
    PlayerInput down{id, {}};
    down.command.pitch = Turn16{static_cast<std::uint16_t>(-16000)};
    input.commands = std::span(&down, 1);
    const BlockAct act{id, ++number, kind, BlockFace::top, {x, y, 23}, BlockId::brick};
    input.acts = std::span(&act, 1);
    world.step(input);
    return world.block_acts().verdicts().back().verdict;
  };
  CHECK(verdict_at(box.min.x - 7, dig) == ActVerdict::progress);
  CHECK(verdict_at(box.min.x - 6, dig) == ActVerdict::protected_ground);
  CHECK(verdict_at(box.min.x - 1, dig) == ActVerdict::protected_ground);
  CHECK(verdict_at(box.min.x, dig) == ActVerdict::protected_ground);
  CHECK(verdict_at(box.max.x + 5, dig) == ActVerdict::protected_ground);
  CHECK(verdict_at(box.max.x + 6, dig) == ActVerdict::progress);
  CHECK(verdict_at(box.min.x - 6, place) == ActVerdict::protected_ground);
  const std::uint64_t before = world.space().voxels->hash();
  const AdminCommand bang{AdminAction::blast, id, {box.min.x - 3.0, y + 0.5, 23}, {}, {}, 9};
  TickInput input;
  input.admin = std::span(&bang, 1);
  world.step(input);
  CHECK(world.space().voxels->hash() != before);
  for (const AppliedEdit& edit : world.applied_edits()) {
    REQUIRE(edit.block.x < box.min.x - 6);
    REQUIRE(edit.who == id);
  }
}

TEST_CASE("an operator sets boxes of blocks, up to a bound", "[world][sim][ground_edits]") {
  Digger d;
  const auto boxed = [&](BlockBox box, BlockId id) {
    d.step_admin({AdminAction::fill_box, {}, {}, box, id});
    return d.world->applied_edits().size();
  };
  CHECK(boxed({{-20, -20, 10}, {-4, -4, 26}}, BlockId::brick) == 4096);
  CHECK(d.block({-20, -20, 10}) == BlockId::brick);
  CHECK(d.block({-5, -5, 25}) == BlockId::brick);
  CHECK(d.block({-4, -5, 25}) == BlockId::air);
  CHECK(boxed({{-20, -20, 10}, {-4, -4, 26}}, BlockId::brick) == 0);  // they are there already
  CHECK(boxed({{-20, -20, 10}, {-4, -3, 26}}, BlockId::air) == 0);    // too many
  CHECK(boxed({{-4, -20, 10}, {-20, -4, 26}}, BlockId::air) == 0);
  CHECK(boxed({{0, 0, 10}, {0, 1, 11}}, BlockId::air) == 0);
  CHECK(boxed({{INT32_MIN, INT32_MIN, INT32_MIN}, {INT32_MAX, INT32_MAX, INT32_MAX}}, BlockId::air) == 0);
  CHECK(boxed({{-20, -20, 10}, {-4, -4, 26}}, BlockId::air) == 4096);
  const std::uint64_t refused = d.world->counters().edits_refused;
  CHECK(boxed({{500, 0, 0}, {504, 4, 4}}, BlockId::air) == 0);  // not loaded
  CHECK(d.world->counters().edits_refused == refused + 64);
}

TEST_CASE("an explosion takes what is within its sphere and can be dug", "[world][sim][ground_edits]") {
  Builders d(1, [](IVec3 b) { return b.z < 0 ? BlockId::stone : b.z < 2 ? BlockId::water : BlockId::air; });
  const DVec3 middle{3.2, -1.7, -1.1};
  const double radius_m = GENERATE(0.0, 0.4, 3.0, 9.0);
  d.step_admin({AdminAction::blast, d.ids[0], middle, {}, {}, radius_m});
  CHECK(d.world->applied_edits().size() <= static_cast<std::size_t>(GroundEdits::batch_blocks_max));
  for (int z = -14; z < 4; ++z)
    for (int y = -14; y < 14; ++y)
      for (int x = -14; x < 18; ++x) {
        const IVec3 b{x, y, z};
        const double off = length(block_middle(b) - middle);
        const BlockId was = z < 0 ? BlockId::stone : z < 2 ? BlockId::water : BlockId::air;
        const BlockId expected = z < 0 && off <= radius_m ? BlockId::air : was;
        if (d.block(b) == expected) continue;
        CAPTURE(x, y, z);
        CHECK(d.block(b) == expected);
      }
  const std::uint64_t before = d.world->space().voxels->hash();
  for (const double bad : {-1.0, 9.1, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    d.step_admin({AdminAction::blast, d.ids[0], middle, {}, {}, bad});
    CHECK(d.world->space().voxels->hash() == before);
  }
}

TEST_CASE("one builds up to the end of the world and not over it", "[world][sim][block_acts]") {
  Builders d(1, Builders::plain);
  constexpr std::int32_t end = 1 << 20;
  std::vector<ReadyChunk> chunks;
  for (int z = -1; z < 2; ++z) {
    const ChunkCoord at{(end - 1) >> chunk_bits, 0, z};
    chunks.push_back({at, d.setup.make_chunk({}, at)});
  }
  TickInput input;
  input.chunks_ready = chunks;
  d.world->step(input);
  d.put(0, {end - 3.5, 8.5, 4});
  d.look(0, {end - 0.5, 8.5, 4});
  d.rest();
  REQUIRE(d.verdict_of(d.act(0, place, {end - 1, 8, 3})) == ActVerdict::done);
  CHECK(d.block({end - 1, 8, 4}) == BlockId::brick);
  d.rest();
  CHECK(d.verdict_of(d.act(0, place, {end - 1, 8, 4}, BlockFace::east)) == ActVerdict::out_of_bounds);
  CHECK(d.verdict_of(d.act(0, dig, {end - 1, 8, 4}, BlockFace::west)) == ActVerdict::progress);
}
