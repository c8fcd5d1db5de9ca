// Blocks are taken to be as a shooter saw them, and are afterwards as they were.
#include "world/sim/block_history.h"

#include <map>
#include <memory>
#include <tuple>

#include "tests/catch.h"
#include "world/math/random.h"
#include "world/sim/history.h"
#include "world/sim/shooting.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"

using namespace ashlar;

namespace {

constexpr EntityId ada = make_entity_id(0, 1), ben = make_entity_id(1, 1);

struct Ground {
  Ground() { volume.insert_chunk({0, 0, 0}, std::make_unique<Chunk>()); }
  void begin(std::uint32_t tick) { now = tick, applied.clear(); }
  void set(IVec3 block, BlockId id, EntityId who) {
    const BlockId before = volume.block(block);
    if (before == id) return;
    REQUIRE(volume.set_block(block, id));
    applied.push_back({block, before, id, who});
    history.note(TickId{now}, applied);
  }
  /// What a ray along +x through the row of a block meets there, as somebody saw it.
  BlockId seen(IVec3 block, std::uint32_t tick, EntityId seer) {
    const BlockHistory::Past past(history, volume, TickId{tick}, seer, {0.5, block.y + 0.5, block.z + 0.5},
                                  {1, 0, 0}, 40);
    return volume.block(block);
  }
  VoxelVolume volume;
  BlockHistory history{15};
  std::uint32_t now = 0;
  std::vector<AppliedEdit> applied;
};

}  // namespace

TEST_CASE("a block that somebody placed or dug since is as it was, for who saw it so",
          "[world][sim][rewind]") {
  Ground g;
  const IVec3 at{5, 5, 5};
  g.begin(10), g.set(at, BlockId::stone, ben);
  CHECK(g.seen(at, 9, ada) == BlockId::air);
  CHECK(g.seen(at, 10, ada) == BlockId::stone);
  CHECK(g.seen(at, 9, ben) == BlockId::stone);  // his own, which he foresaw
  g.begin(12), g.set(at, BlockId::air, ben);
  CHECK(g.seen(at, 9, ada) == BlockId::air);
  CHECK(g.seen(at, 11, ada) == BlockId::stone);
  CHECK(g.seen(at, 12, ada) == BlockId::air);
  // Another row is not on the way.
  const BlockHistory::Past past(g.history, g.volume, TickId{11}, ada, {0.5, 9.5, 5.5}, {1, 0, 0}, 40);
  CHECK(g.volume.block(at) == BlockId::air);
}

TEST_CASE("behind an own change nobody else's older one is seen", "[world][sim][rewind]") {
  Ground g;
  const IVec3 at{5, 5, 5};
  g.begin(5), g.set(at, BlockId::stone, ada);
  g.begin(10), g.set(at, BlockId::air, ben);
  g.begin(11), g.set(at, BlockId::dirt, ada);
  CHECK(g.seen(at, 8, ada) == BlockId::dirt);
  CHECK(g.seen(at, 8, ben) == BlockId::air);
}

TEST_CASE("what is remembered is bounded, and what is looked at comes back to the bit",
          "[world][sim][rewind][property]") {
  Ground g;
  Rng rng = rng_for(5, 1);
  std::map<std::tuple<int, int, int>, std::map<std::uint32_t, BlockId>>
      twin;  // block as of the ends of ticks
  for (std::uint32_t tick = 1; tick <= 200; ++tick) {
    g.begin(tick);
    for (std::uint32_t i = rng.below(6); i > 0; --i) {
      const IVec3 at{static_cast<int>(rng.below(12)), static_cast<int>(rng.below(3)), 4};
      const BlockId id = rng.below(2) == 0 ? BlockId::air : BlockId::stone;
      g.set(at, id, ben);
    }
    for (int x = 0; x < 12; ++x)
      for (int y = 0; y < 3; ++y) twin[{x, y, 4}][tick] = g.volume.block({x, y, 4});
    const std::uint64_t hash = g.volume.hash();
    const std::uint32_t back = rng.below(16);
    if (tick <= back) continue;
    const int y = static_cast<int>(rng.below(3));
    for (int x = 1; x < 12; ++x) CHECK(g.seen({x, y, 4}, tick - back, ada) == twin[{x, y, 4}][tick - back]);
    REQUIRE(g.volume.hash() == hash);
  }
}

TEST_CASE("more changes than are remembered forget the oldest", "[world][sim][rewind]") {
  Ground g;
  g.begin(1), g.set({3, 3, 3}, BlockId::stone, ben);
  g.begin(2);
  for (std::size_t i = 0; i < BlockHistory::edits_max; ++i)
    g.set({9, 9, 9}, i % 2 == 0 ? BlockId::stone : BlockId::air, ben);
  CHECK(g.seen({3, 3, 3}, 0, ada) == BlockId::stone);
  g.begin(40), g.set({3, 3, 4}, BlockId::stone, ben);
  CHECK(g.seen({9, 9, 9}, 1, ada) == BlockId::air);
  CHECK(g.seen({3, 3, 4}, 39, ada) == BlockId::air);
}

namespace {

/// One shoots, one stands in its sights, and blocks come and go between them.
struct Alley {
  Alley() {
    WorldSetup setup;
    setup.rules.shot_interval_s = 0;
    setup.rules.gravity_mps2 = 0;
    // A trigger that is held to hit what is aimed at.
    auto kinds = std::make_shared<KindSet>(default_kinds());
    kinds->weapons[weapon::pistol].spread_deg = 0;
    setup.kinds = std::move(kinds);
    setup.players_max = 2;
    setup.monsters = 0, setup.monsters_max = 1;
    world = std::make_unique<World>(setup);
    const std::uint32_t tokens[]{0, 1};
    TickInput input;
    input.joins = tokens;
    world->step(input);
    shooter = world->joined()[0].id, target = world->joined()[1].id;
    const AdminCommand puts[]{{AdminAction::teleport, shooter, {0.5, 0.5, 60}},
                              {AdminAction::teleport, target, {8.5, 0.5, 60}}};
    TickInput put;
    put.admin = puts;
    world->step(put);
    for (int i = 0; i < 30; ++i) step(0, {});
  }
  /// @param seen  0: it does not say
  EntityId step(std::uint32_t seen, std::vector<BlockEdit> edits, bool shoots = false) {
    PlayerInput command;
    command.player = shooter;
    command.command.buttons = shoots ? button::attack : std::uint16_t{0};
    command.command.seen = TickId{seen};
    const PlayerInput commands[]{command};
    TickInput input;
    input.commands = commands;
    input.edits = edits;
    world->step(input);
    const auto shots = world->shooting().events();
    return shots.empty() ? EntityId{0} : shots.front().hit.target;
  }
  std::uint32_t now() const { return number(world->tick()); }
  std::unique_ptr<World> world;
  EntityId shooter{}, target{};
};

}  // namespace

TEST_CASE("a shot passes where its player saw no block yet, and stops at one that it still saw",
          "[world][sim][rewind]") {
  Alley alley;
  const IVec3 at{4, 0, 61};
  const std::uint32_t open = alley.now();
  REQUIRE(alley.step(0, {}, true) == alley.target);
  alley.step(0, {{at, BlockId::stone}});
  const std::uint32_t shut = alley.now();
  const std::uint64_t hash = alley.world->space().voxels->hash();
  CHECK(alley.step(open, {}, true) == alley.target);
  CHECK(alley.step(shut, {}, true) == EntityId{0});
  CHECK(alley.step(0, {}, true) == EntityId{0});
  CHECK(alley.world->space().voxels->hash() == hash);
  // The very tick in which it is dug: who saw the newest state saw it stand.
  CHECK(alley.step(alley.now(), {{at, BlockId::air}}, true) == EntityId{0});
  CHECK(alley.step(shut, {}, true) == EntityId{0});
  CHECK(alley.step(alley.now(), {}, true) == alley.target);
  // A quarter of a second later nobody is believed to have seen it.
  for (int i = 0; i < 16; ++i) alley.step(0, {});
  CHECK(alley.step(shut, {}, true) == alley.target);
}
