// What a second seed hides is told when it is dug free or seen, and not before; so who sees through the
// ground that he computes digs no more of it than others.
#include "server/host/reveal_room.h"

#include <functional>
#include <set>
#include <tuple>

#include "tests/catch.h"
#include "tests/world/sim/builders.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

/// Nobody is in it; its blocks are changed from outside.
struct Mine {
  explicit Mine(const std::function<std::unique_ptr<Chunk>(const Terrain&, ChunkCoord)>& ground,
                std::optional<std::uint64_t> secret) {
    WorldSetup setup;
    setup.players_max = 1;
    setup.monsters = setup.monsters_max = 0;
    setup.terrain = TerrainKind::hills;
    setup.secret = secret;
    setup.make_chunk = ground;
    world = std::make_unique<World>(setup);
  }
  BlockId block(IVec3 at) const { return world->space().voxels->block(at); }
  /// @return what is told after it
  std::vector<AppliedEdit> set(IVec3 at, BlockId id) {
    const BlockEdit edit{at, id};
    TickInput input;
    input.edits = std::span(&edit, 1);
    world->step(input);
    std::vector<AppliedEdit> changes(world->applied_edits().begin(), world->applied_edits().end());
    const std::size_t own = changes.size();
    room.look(*world, log, changes);
    log.take(changes);
    return {changes.begin() + static_cast<std::ptrdiff_t>(own), changes.end()};
  }
  std::unique_ptr<World> world;
  ChangeLog log;
  RevealRoom room{24};
};

/// Ore in a checkerboard below z = 0, so that each block of stone has ore on all sides.
BlockId checkered(IVec3 b) {
  if (b.z >= 0) return BlockId::air;
  return ((b.x ^ b.y ^ b.z) & 1) != 0 ? BlockId::gold_ore : BlockId::stone;
}

std::unique_ptr<Chunk> checkered_chunk(const Terrain&, ChunkCoord at) {
  return testing::made_chunk(at, checkered);
}

/// One layer of chunks as hills have them, at the depth of most ores.
std::unique_ptr<Chunk> deep_layer(const Terrain& terrain, ChunkCoord at) {
  if (at.z == -1) return generate_chunk(terrain, at);
  return std::make_unique<Chunk>(at.z < 0 ? BlockId::stone : BlockId::air);
}

/// Digs tunnels, and to every ore that it knows of within reach of its head.
struct Miner {
  Mine& mine;
  std::function<bool(IVec3)> knows;  ///< that there is ore; asked of what is near alone
  std::uint64_t dug = 0, ore = 0;

  void dig(IVec3 at) {
    const BlockId id = mine.block(at);
    if (id == BlockId::air || id == BlockId::water) return;
    ++dug;
    ore += terrain_hides(id) ? 1 : 0;
    mine.set(at, BlockId::air);
  }
  std::optional<IVec3> nearest_known(IVec3 head) const {
    constexpr int reach = 6;
    std::optional<IVec3> found;
    int nearest = INT32_MAX;
    for (int z = -reach; z <= reach; ++z)
      for (int y = -reach; y <= reach; ++y)
        for (int x = -reach; x <= reach; ++x) {
          const IVec3 at = head + IVec3{x, y, z};
          const int away = std::abs(x) + std::abs(y) + std::abs(z);
          if (away < nearest && terrain_hides(mine.block(at)) && knows(at)) found = at, nearest = away;
        }
    return found;
  }
  void dig_way(IVec3 from, IVec3 to) {
    while (from != to) {
      if (from.x != to.x)
        from.x += to.x > from.x ? 1 : -1;
      else if (from.y != to.y)
        from.y += to.y > from.y ? 1 : -1;
      else
        from.z += to.z > from.z ? 1 : -1;
      dig(from);
    }
  }
  /// @return ore per block
  double tunnels() {
    for (int lane = 0; lane < 4; ++lane)
      for (int x = -30; x < 50; ++x) {
        const IVec3 head{x, -24 + 18 * lane, -16 - 2 * lane};
        dig(head), dig(head + IVec3{0, 0, 1});
        while (const auto at = nearest_known(head)) dig_way(head, *at);
      }
    return static_cast<double>(ore) / static_cast<double>(dug);
  }
};

/// Is something open beside it: does an honest digger see it?
bool open_beside(const Mine& mine, IVec3 at) {
  for (std::uint8_t face = 0; face < block_face_count; ++face)
    if (mine.block(at + normal_of(static_cast<BlockFace>(face))) == BlockId::air) return true;
  return false;
}

}  // namespace

TEST_CASE("what is dug free is told once, with all that is beside it", "[server][reveal_room]") {
  Mine mine(checkered_chunk, 9);
  const auto told = mine.set({4, 4, -6}, BlockId::air);
  REQUIRE(told.size() == 6);
  std::set<std::tuple<int, int, int>> blocks;
  for (const AppliedEdit& edit : told) {
    CHECK(edit.after == BlockId::gold_ore);
    CHECK(edit.who == EntityId{0});
    CHECK(length(to_dvec3(edit.block - IVec3{4, 4, -6})) == 1);
    blocks.insert({edit.block.x, edit.block.y, edit.block.z});
  }
  CHECK(blocks.size() == 6);
  CHECK(mine.set({4, 4, -6}, BlockId::glass).empty());  // they are told
  CHECK(mine.set({4, 4, -8}, BlockId::brick).empty());  // it opens nothing
  CHECK(mine.set({4, 4, -8}, BlockId::glass).size() == 5);
  CHECK(mine.room.revealed() == 11);
}

TEST_CASE("treasures are told of like ores, and nothing of them before", "[server][reveal_room]") {
  const BlockId treasure = BlockRegistry::builtin().treasure();
  Mine mine(
      [treasure](const Terrain&, ChunkCoord at) {
        auto chunk = std::make_unique<Chunk>(at.z < 0 ? BlockId::stone : BlockId::air);
        if (at.z == -1) chunk->set_block({4, 4, 20}, treasure), chunk->set_block({9, 9, 20}, treasure);
        return chunk;
      },
      9);
  CHECK(mine.set({4, 7, -12}, BlockId::air).empty());
  const auto told = mine.set({4, 5, -12}, BlockId::air);
  REQUIRE(told.size() == 1);
  CHECK((told[0].block == IVec3{4, 4, -12}));
  CHECK(told[0].before == BlockId::stone);
  CHECK(told[0].after == treasure);
  ExposedOres exposed;
  exposed.begin_tick(1);
  const ExposedOres::Known* const open = exposed.in(*mine.world->space().voxels, {0, 0, -1});
  REQUIRE(open != nullptr);
  CHECK((open->blocks == std::vector<IVec3>{{4, 4, -12}}));
}

TEST_CASE("a world without a secret has nothing to tell", "[server][reveal_room]") {
  Mine mine(checkered_chunk, std::nullopt);
  CHECK(mine.set({4, 4, -6}, BlockId::air).empty());
  CHECK(mine.room.revealed() == 0);
}

TEST_CASE("what a player looks at is told, not what is further or behind something",
          "[server][reveal_room]") {
  testing::Builders site(1, [](IVec3 b) {
    if (b.z < 0 || b.x == 15) return BlockId::stone;
    return b.x == 12 || b.x == 20 ? BlockId::iron_ore : BlockId::air;
  });
  site.setup.secret = 5;
  site.world = std::make_unique<World>(site.setup);
  const std::uint32_t token = 1;
  TickInput join;
  join.joins = std::span(&token, 1);
  site.world->step(join);
  site.ids[0] = site.world->joined()[0].id;
  site.put(0, {4.5, 4.5, 0});
  const double seen_m = GENERATE(0.0, 4.0, 24.0);
  const bool watches =
      GENERATE(false, true);  // nobody is told of what a spectator sees, who flies through rock
  if (watches) {
    const AdminCommand spectate{AdminAction::spectate, site.ids[0], {}};
    TickInput order;
    order.admin = std::span(&spectate, 1);
    site.world->step(order);
    REQUIRE(site.world->players().spectates(0));
  }
  const bool told = seen_m == 24 && !watches;
  RevealRoom room(seen_m);
  ChangeLog log;
  site.look(0, {12.5, 4.5, 1.6});
  for (int i = 0; i < 120; ++i) {
    site.step();
    std::vector<AppliedEdit> changes;
    room.look(*site.world, log, changes);
    for (const AppliedEdit& edit : changes) CHECK(edit.block.x == 12);
    log.take(changes);
  }
  CHECK((room.revealed() > 50) == told);
  CHECK(log.knows({12, 4, 1}) == told);
  CHECK_FALSE(log.knows({12, -30, 1}));  // out of its field of view
}

TEST_CASE("who sees through the ground digs no more ore a block than who does not", "[server][reveal_room]") {
  const bool hidden = GENERATE(true, false);
  const auto secret = hidden ? std::optional<std::uint64_t>(77) : std::nullopt;
  Mine honest(deep_layer, secret), looked_through(deep_layer, secret);
  Miner miner{honest, [&](IVec3 at) { return open_beside(honest, at); }};
  // What anybody sees, and beyond that what it computes from the public seed or was told, however far away
  // and behind what.
  Miner x_ray{looked_through, [&](IVec3 at) {
                return !hidden || open_beside(looked_through, at) || looked_through.log.knows(at);
              }};
  const double fair = miner.tunnels(), unfair = x_ray.tunnels();
  CAPTURE(hidden, fair, unfair, miner.dug, x_ray.dug);
  CHECK(miner.ore > 10);
  if (hidden)
    CHECK(unfair <= 1.05 * fair);
  else
    CHECK(unfair > 1.3 * fair);  // so the measure does measure
}
