// Survival: what is dug drops items, whoever touches them picks them up, placing takes them, the dead lose
// them; and nothing is lost or doubled by any of it.
#include <map>

#include "tests/catch.h"
#include "tests/world/sim/builders.h"
#include "tests/world/voxel_worlds.h"
#include "world/math/random.h"
#include "world/sim/dropped_items.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr auto digs = BlockActKind::dig, places = BlockActKind::place, drops = BlockActKind::drop;

Rules survival() {
  Rules rules;
  rules.free_blocks = FreeBlocks::no;
  rules.block_interval_s = 0.05;
  return rules;
}

BlockId grass_plain(IVec3 b) { return b.z < 3 ? BlockId::stone : b.z < 4 ? BlockId::grass : BlockId::air; }

/// One player on the grass, who has dug the block before its feet.
struct Survivor : Builders {
  explicit Survivor(Rules rules = survival()) : Builders(1, grass_plain, rules) {
    put(0, {8.5, 8.5, 4});
    rest();
  }
  const Inventory& held() const { return world->players().inventory[0]; }
  const ItemTable& lying() const { return world->items().table(); }
  /// Looks at a block's top and digs it to the end.
  void dig_out(IVec3 block) {
    look(0, to_dvec3(block) + DVec3{0.5, 0.5, 1});
    rest();
    REQUIRE(verdict_of(act(0, digs, block)) == ActVerdict::progress);
    for (int i = 0; i < 600 && world->players().digging[0].active(); ++i) step();
    REQUIRE(this->block(block) == BlockId::air);
  }
  void run(int ticks) {
    for (int i = 0; i < ticks; ++i) step();
  }
  /// Gives it items by way of a leave and a join.
  void hold(std::initializer_list<ItemStack> stacks) {
    Returning returning{7, {}};
    for (const ItemStack& stack : stacks) returning.inventory.add(stack);
    const std::uint32_t token = 7;
    TickInput input;
    input.leaves = ids;
    input.joins = std::span(&token, 1);
    input.returning = std::span(&returning, 1);
    world->step(input);
    ids[0] = world->joined()[0].id;
    numbers[0] = 0;
    put(0, {8.5, 8.5, 4});
    rest();
  }
};

std::uint64_t all_items(const World& world) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < world.players().rows(); ++i)
    if (world.players().id[i] != EntityId{0}) sum += world.players().inventory[i].count();
  for (const ItemStack& stack : world.items().table().stack) sum += stack.count;
  return sum;
}

/// All that ever came in is there, or went in a way that is counted.
void check_books(const World& world) {
  const ItemCounters& c = world.items().counters();
  REQUIRE(c.dug + c.brought == all_items(world) + c.placed + c.gone + c.taken_away);
}

}  // namespace

TEST_CASE("what is dug lies there, and whoever touches it holds it", "[world][dropped_items]") {
  Survivor s;
  s.dig_out({10, 8, 3});
  CHECK(s.held().empty());
  REQUIRE(s.lying().count == 1);
  s.run(60);
  REQUIRE(s.lying().count == 1);                             // two metres away it is not touched
  CHECK(s.lying().stack[0] == ItemStack{BlockId::dirt, 1});  // grass drops dirt
  CHECK(s.lying().rests[0] == 1);
  CHECK(std::abs(s.lying().position_m[0].z - 3) < 1e-6);
  s.put(0, {10.5, 8.5, 3});
  s.run(8);
  CHECK(s.lying().count == 0);
  CHECK(s.held().count(BlockId::dirt) == 1);
  check_books(*s.world);
}

TEST_CASE("in creative play nothing drops and nothing is taken", "[world][dropped_items]") {
  Survivor s(Rules{});
  s.dig_out({9, 8, 3});
  s.run(60);
  CHECK(s.lying().count == 0);
  CHECK(s.held().empty());
  CHECK(s.verdict_of(s.act(0, places, {9, 8, 2})) == ActVerdict::done);
}

TEST_CASE("placing takes an item of that kind, and without one it is refused", "[world][dropped_items]") {
  Survivor s;
  s.hold({{BlockId::brick, 2}});
  s.look(0, {10.5, 8.5, 4});
  s.rest();
  CHECK(s.verdict_of(s.act(0, places, {10, 8, 3}, BlockFace::top, BlockId::stone)) == ActVerdict::no_blocks);
  CHECK(s.verdict_of(s.act(0, places, {10, 8, 3})) == ActVerdict::done);
  CHECK(s.held().count(BlockId::brick) == 1);
  // What is refused for another reason takes nothing.
  CHECK(s.verdict_of(s.act(0, places, {8, 8, 30})) != ActVerdict::done);
  CHECK(s.held().count(BlockId::brick) == 1);
  check_books(*s.world);
}

TEST_CASE("a player throws items, which are not picked up at once", "[world][dropped_items]") {
  Survivor s;
  s.hold({{BlockId::brick, 10}});
  s.look(0, {18.5, 8.5, 5.5});
  s.step();
  CHECK(s.verdict_of(s.act(0, drops, {4, 0, 0})) == ActVerdict::done);
  CHECK(s.held().count(BlockId::brick) == 6);
  REQUIRE(s.lying().count == 1);
  CHECK(s.lying().stack[0] == ItemStack{BlockId::brick, 4});
  s.run(120);
  REQUIRE(s.lying().count == 1);
  CHECK(s.lying().position_m[0].x > 9.3);
  CHECK(s.verdict_of(s.act(0, drops, {1, 0, 0}, BlockFace::top, BlockId::sand)) == ActVerdict::no_blocks);
  CHECK(s.verdict_of(s.act(0, drops, {0, 0, 0})) == ActVerdict::no_blocks);
  CHECK(s.verdict_of(s.act(0, drops, {-3, 0, 0})) == ActVerdict::no_blocks);
  CHECK(s.verdict_of(s.act(0, drops, {INT32_MAX, 0, 0})) == ActVerdict::done);
  CHECK(s.held().empty());
  check_books(*s.world);
}

TEST_CASE("the dead lose what they hold where they died, unless the rules let them keep it",
          "[world][dropped_items]") {
  Rules rules = survival();
  rules.keep_inventory = GENERATE(Switch::off, Switch::on);
  const bool keeps = rules.keep_inventory == Switch::on;
  rules.respawn_s = 0.5;
  std::vector<BlockType> kinds(BlockRegistry::builtin().types().begin(),
                               BlockRegistry::builtin().types().end());
  kinds[static_cast<std::size_t>(BlockId::crystal_ore)].damage_per_s = 10'000;
  WorldSetup setup;
  setup.players_max = 1;
  setup.monsters = setup.monsters_max = 0;
  setup.rules = rules;
  setup.blocks = std::make_shared<const BlockRegistry>(std::move(kinds));
  setup.make_chunk = [](const Terrain&, ChunkCoord at) {
    return std::make_unique<Chunk>(at.z < 0 ? BlockId::stone : BlockId::air);
  };
  World world(setup);
  Returning returning{1, {}};
  returning.inventory.add({BlockId::brick, 50});
  returning.inventory.add({BlockId::sand, 3});
  const std::uint32_t token = 1;
  TickInput input;
  input.joins = std::span(&token, 1);
  input.returning = std::span(&returning, 1);
  world.step(input);
  const BlockEdit trap{block_at(world.players().body[0].position_m - DVec3{0, 0, 0.5}), BlockId::crystal_ore};
  TickInput trapped;
  trapped.edits = std::span(&trap, 1);
  world.step(trapped);
  for (int i = 0; i < 60 && world.players().health[0] > 0; ++i) world.step({});
  REQUIRE(world.players().health[0] == 0);
  world.step({});
  CHECK(world.players().inventory[0].empty() == !keeps);
  CHECK(world.items().table().count == (keeps ? 0 : 2));
  CHECK(all_items(world) == 53);
  check_books(world);
}

TEST_CASE("an item under a block that is put over it comes out", "[world][dropped_items]") {
  Survivor s;
  s.dig_out({11, 8, 3});
  s.run(30);
  REQUIRE(s.lying().count == 1);
  const BlockEdit over{{11, 8, 3}, BlockId::brick};
  TickInput input;
  input.edits = std::span(&over, 1);
  s.world->step(input);
  s.run(60);
  REQUIRE(s.lying().count == 1);
  CHECK_FALSE(space_overlaps(s.world->space(), DroppedItems::shape, s.lying().position_m[0]));
  CHECK(s.lying().rests[0] == 1);
  CHECK(length(s.lying().position_m[0] - DVec3{11.5, 8.5, 4}) < 1.5);
}

TEST_CASE("stacks that lie together become one, and what lay longest gives way", "[world][dropped_items]") {
  DroppedItems items(4, 100);
  for (int i = 0; i < 70; ++i) items.drop({BlockId::sand, 1}, {0, 0, 0}, {}, 0);
  CHECK(items.table().count == 2);
  CHECK(items.table().stack[0] == ItemStack{BlockId::sand, 64});
  CHECK(items.table().stack[1] == ItemStack{BlockId::sand, 6});
  items.drop({BlockId::sand, 1}, {5, 0, 0}, {}, 0);
  items.drop({BlockId::dirt, 2}, {0, 0, 0}, {}, 0);
  CHECK(items.table().count == 4);
  items.drop({BlockId::clay, 9}, {0, 0, 0}, {}, 0);
  CHECK(items.table().count == 4);
  CHECK(items.counters().gone == 64);
  CHECK(items.table().stack[0] == ItemStack{BlockId::clay, 9});
  CHECK(generation_of(items.table().id[0]) == 2);
}

TEST_CASE("items are gone after their time", "[world][dropped_items]") {
  Rules rules = survival();
  rules.item_life_s = GENERATE(std::uint16_t{0}, std::uint16_t{2});
  Survivor s(rules);
  s.dig_out({11, 8, 3});
  s.run(119);
  CHECK(s.lying().count == 1);
  s.run(10);
  CHECK(s.lying().count == (rules.item_life_s == 0 ? 1 : 0));
  check_books(*s.world);
}

TEST_CASE("of two who touch an item the nearer gets it, and a full inventory leaves it",
          "[world][dropped_items]") {
  Builders two(2, grass_plain, survival());
  two.put(0, {8.5, 8.5, 4});
  two.put(1, {9.5, 8.5, 4});
  two.look(0, {9.1, 8.5, 4});
  two.rest();
  // Thrown down between both: whoever is nearer when it may be touched.
  Returning full{5, {}};
  for (ItemStack& slot : full.inventory.slots) slot = {BlockId::brick, 64};
  const std::uint32_t token = 5;
  TickInput input;
  input.leaves = std::span(two.ids).first(1);
  input.joins = std::span(&token, 1);
  input.returning = std::span(&full, 1);
  two.world->step(input);
  REQUIRE(two.world->departed().size() == 1);
  two.ids[0] = two.world->joined()[0].id;
  const std::size_t row = slot_of(two.ids[0]);
  two.put(0, {8.5, 8.5, 4});
  two.rest();
  two.look(0, {8.6, 8.5, 3.9});
  two.numbers[0] = 0;
  two.step();
  REQUIRE(two.verdict_of(two.act(0, drops, {64, 0, 0})) == ActVerdict::done);
  CHECK(two.world->players().inventory[row].count() == 35 * 64);
  for (int i = 0; i < 120; ++i) two.step();
  CHECK(two.world->players().inventory[row].count() == 36 * 64);  // the one it stands on
  CHECK(two.world->items().table().count == 0);
  check_books(*two.world);
}

TEST_CASE("who leaves takes everything along, who comes back brings it", "[world][dropped_items]") {
  Survivor s;
  s.hold({{BlockId::brick, 65}, {BlockId::clay, 1}});
  const Inventory before = s.held();
  TickInput leave;
  leave.leaves = s.ids;
  s.world->step(leave);
  REQUIRE(s.world->departed().size() == 1);
  CHECK(s.world->departed()[0].id == s.ids[0]);
  CHECK(s.world->departed()[0].inventory == before);
  CHECK(all_items(*s.world) == 0);
  check_books(*s.world);
}

TEST_CASE("a world without items hashes as if there were none, one with them by what they are",
          "[world][dropped_items]") {
  Survivor a, b;
  CHECK(a.world->hash() == b.world->hash());
  a.hold({{BlockId::brick, 3}});
  b.hold({{BlockId::brick, 4}});
  CHECK(a.world->hash() != b.world->hash());
}

TEST_CASE("eight who dig, build and throw at random lose and double nothing", "[world][dropped_items]") {
  const std::uint64_t seed = GENERATE(1u, 2u);
  Rng rng{seed};
  constexpr std::size_t players = 8;
  const auto ground = [](IVec3 b) {
    if (b.z >= 9) return BlockId::air;
    if (b.z >= 4) return test::random_block(3, b, 0.15) ? BlockId::snow : BlockId::air;
    return test::random_block(5, b, 0.1) ? BlockId::air : BlockId::snow;
  };
  Builders site(players, ground, survival());
  for (std::size_t i = 0; i < players; ++i)
    site.put(i, {2.0 * static_cast<double>(i % 3), 2.0 * static_cast<double>(i / 3), 9.5});
  std::int64_t blocks_and_items = 0;  // against the start: no edit but theirs changes it
  std::uint64_t placed = 0, thrown = 0;
  for (int tick = 0; tick < 1500; ++tick) {
    std::vector<BlockAct> acts;
    for (std::size_t i = 0; i < players; ++i) {
      if (rng.below(20) == 0) site.commands[i].forward = rng.between(-1, 1);
      if (rng.below(12) == 0)
        site.look(i, site.eye(i) + DVec3{rng.between(-4, 4), rng.between(-4, 4), rng.between(-4, 2)});
      if (rng.below(6) != 0 || site.world->players().digging[i].active()) continue;
      const auto kind = rng.below(12) == 0 ? drops : rng.below(2) == 0 ? digs : places;
      const DVec3 view = view_direction(site.commands[i].yaw, site.commands[i].pitch);
      const RayHit hit = space_ray(site.world->space(), site.eye(i), view, 5);
      IVec3 at = hit.block;
      if (kind == drops) at = {static_cast<std::int32_t>(rng.below(4)), 0, 0};
      acts.push_back(site.act(i, kind, at, face_of(hit.normal).value_or(BlockFace::top), BlockId::snow));
    }
    site.step(acts);
    for (const AppliedEdit& edit : site.world->applied_edits())
      blocks_and_items += (edit.after == BlockId::snow) - (edit.before == BlockId::snow);
    for (const BlockVerdict& v : site.world->block_acts().verdicts()) {
      const auto act = std::ranges::find_if(
          acts, [&](const BlockAct& a) { return a.player == v.player && a.number == v.number; });
      if (act == acts.end() || v.verdict != ActVerdict::done) continue;
      placed += act->kind == places, thrown += act->kind == drops;
    }
    check_books(*site.world);
    REQUIRE(blocks_and_items + static_cast<std::int64_t>(all_items(*site.world)) == 0);
  }
  CHECK(placed > 10);
  CHECK(thrown > 3);
  CHECK(site.world->items().counters().picked_up > 20);
}
