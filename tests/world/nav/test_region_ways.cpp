#include "world/nav/region_ways.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>
#include <vector>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/nav/block_hunt.h"
#include "world/nav/block_ways.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

namespace {

constexpr std::int32_t rough_ground_side = 44;  // some nine cells

/// Ground in steps, pools, walls and pillars in a box of stone, across the heights where cells lie above each
/// other; ladders up some of the walls.
VoxelVolume rough_ground(std::uint64_t seed, double density) {
  const auto height = [seed](std::int32_t x, std::int32_t y) {
    const auto part = [&](std::int32_t side, std::uint64_t salt) {
      return rng_for(seed + salt, static_cast<std::uint64_t>((x / side) * 64 + y / side), 0).unit();
    };
    return 28 + static_cast<std::int32_t>(part(11, 1) * 5 + part(3, 2) * 2);
  };
  const auto solid = [&](IVec3 b) {
    if (b.x < 0 || b.y < 0 || b.x >= rough_ground_side || b.y >= rough_ground_side || b.z >= 42) return true;
    const std::int32_t h = height(b.x, b.y);
    return b.z < h || (b.z < h + 3 && random_block(seed, {b.x / 2, b.y, 0}, density)) ||
           (b.z == 36 && random_block(seed + 3, {b.x / 5, b.y / 5, 1}, 0.3));
  };
  VoxelVolume volume = make_volume({-1, -1, 0}, {3, 3, 2}, solid);
  for (std::int32_t x = 0; x < rough_ground_side; ++x)
    for (std::int32_t y = 0; y < rough_ground_side; ++y)
      for (std::int32_t z = 26; z < 42; ++z) {
        if (volume.solid({x, y, z})) continue;
        if (z < 30) volume.set_block({x, y, z}, BlockId::water);
        const bool by_wall = volume.solid({x + 1, y, z}) && random_block(seed + 5, {x, y, 0}, 0.1);
        if (by_wall) volume.set_block({x, y, z}, BlockId::ladder);
        if (volume.solid({x, y, z - 1}) && random_block(seed + 4, {x, y, z}, 0.08))
          volume.set_block({x, y, z}, BlockId::stone_slab);
      }
  return volume;
}

BlockWays block_ways_to(const VoxelVolume& volume, DVec3 to, BlockWalker walker) {
  BlockSearch search;
  search.begin(volume, to, walker);
  while (!search.whole()) search.advance(volume, 10000);
  return search.ways();
}
BlockWays block_ways_to_place(const VoxelVolume& volume, GroundPlace to, BlockWalker walker) {
  BlockSearch search;
  search.begin_at(volume, to, walker, {{-100, -100, 0}, {100, 100, 0}});
  while (!search.whole()) search.advance(volume, 10000);
  return search.ways();
}

struct RegionsFound {
  BlockRegions regions;
  RegionWays ways;
  void search(const VoxelVolume& volume, DVec3 to, BlockWalker walker, std::uint32_t units = 200) {
    RegionSearch search;
    search.begin(to, walker, {});
    bool first = true;
    while (!search.whole()) {
      const std::uint32_t work = search.advance(volume, regions, units);
      if (!first) REQUIRE(work <= units + RegionSearch::units_made);
      first = false;
    }
    ways = search.ways();
  }
  const RegionWays::Region* at(const VoxelVolume& volume, GroundPlace place, BlockWalker walker) {
    regions.bring(volume, place, walker);
    const auto first = regions.region(place, walker);
    return first ? ways.find(*first) : nullptr;
  }
};

/// Tenths of a metre from a place to the end over blocks, through every exit on the way.
std::uint32_t walked(const VoxelVolume& volume, const RegionsFound& found, GroundPlace from,
                     BlockWalker walker) {
  std::uint32_t all = 0;
  const RegionWays::Region* region = found.ways.find(*found.regions.region(from, walker));
  for (;; region = found.ways.next(*region)) {
    // The last one leads to a corner that the end is beside.
    const BlockWays ways = block_ways_to_place(volume, region->to, walker);
    const std::uint16_t place = ways.place_at({from.x, from.y}, from.half);
    REQUIRE(place != BlockWays::nowhere);
    all += ways.distance(place);
    if (found.ways.next(*region) == nullptr) return all + region->distance;
    from = region->to;
  }
}

}  // namespace

TEST_CASE("ways by regions are found where ways over blocks are, and little longer",
          "[world][nav][region_ways][property]") {
  Rng rng{11};
  unsigned found = 0, none = 0, measured = 0;
  double sum = 0, worst = 0;
  for (int i = 0; i < cases(16); ++i) {
    CAPTURE(i);
    const VoxelVolume volume = rough_ground(static_cast<std::uint64_t>(50 + i), rng.between(0.1, 0.45));
    const bool climbs = rng.below(2) == 1, swims = rng.below(2) == 1, ladders = rng.below(2) == 1;
    const BlockWalker walker{climbs, swims, ladders,
                             static_cast<std::uint8_t>(i % 4 == 3 ? rng.below(3) : block_drop_max)};
    CAPTURE(climbs, swims, ladders, static_cast<int>(walker.drop));
    const DVec3 to{16.0 + rng.below(13), 16.0 + rng.below(13), 36.5};
    const BlockWays fine = block_ways_to(volume, to, walker);
    RegionsFound far;
    far.search(volume, to, walker);
    std::vector<GroundPlace> some;
    for (std::int32_t y = 1; y < rough_ground_side; ++y)
      for (std::int32_t x = 1; x < rough_ground_side; ++x)
        for (std::int32_t h = 50; h < 84; ++h) {
          CAPTURE(x, y, h);
          const bool has = far.at(volume, {x, y, h}, walker) != nullptr;
          REQUIRE(has == (fine.place_at({x, y}, h) != BlockWays::nowhere));
          ++(has ? found : none);
          if (has && rng.below(200) == 0) some.push_back({x, y, h});
        }
    for (const GroundPlace& from : some) {
      const std::uint32_t best = fine.distance(fine.place_at({from.x, from.y}, from.half));
      const std::uint32_t way = walked(volume, far, from, walker);
      CHECK(way >= best);
      if (best < 100) continue;
      const double times = static_cast<double>(way) / best;
      ++measured, sum += times, worst = std::max(worst, times);
    }
  }
  std::printf("ways by regions: %.2f times the shortest, %.2f at worst, of %u\n", sum / measured, worst,
              measured);
  CHECK(found > 5000);
  CHECK(none > 5000);
  CHECK(sum < 1.25 * measured);
  CHECK(worst < 2.5);
}

TEST_CASE("after blocks changed, ways by regions are those of ground that is seen for the first time",
          "[world][nav][region_ways][property]") {
  Rng rng{3};
  constexpr BlockWalker walker{false, true, true};
  VoxelVolume volume = rough_ground(9, 0.3);
  const DVec3 to{20, 21, 36.5};
  RegionsFound kept;
  kept.search(volume, to, walker);
  for (int round = 0; round < cases(6); ++round) {
    CAPTURE(round);
    for (int i = 0; i < 40; ++i) {
      const IVec3 at{static_cast<std::int32_t>(rng.below(rough_ground_side)),
                     static_cast<std::int32_t>(rng.below(rough_ground_side)),
                     static_cast<std::int32_t>(28 + rng.below(9))};
      volume.set_block(at, rng.below(2) == 0 ? BlockId::air : BlockId::stone);
    }
    kept.search(volume, to, walker, 1 + rng.below(300));
    RegionsFound anew;
    anew.search(volume, to, walker);
    REQUIRE(kept.ways.count() == anew.ways.count());
    for (std::int32_t y = 1; y < rough_ground_side; ++y)
      for (std::int32_t x = 1; x < rough_ground_side; ++x)
        for (std::int32_t h = 50; h < 84; ++h) {
          const auto* a = kept.at(volume, {x, y, h}, walker);
          const auto* b = anew.at(volume, {x, y, h}, walker);
          REQUIRE((a == nullptr) == (b == nullptr));
          if (a == nullptr) continue;
          REQUIRE(a->first == b->first);
          REQUIRE(a->to == b->to);
          REQUIRE(a->distance == b->distance);
        }
  }
}

TEST_CASE("a block that changes has the cells around it looked at again, and no others",
          "[world][nav][region_ways]") {
  VoxelVolume volume = make_volume({-4, -4, -1}, {8, 8, 2}, [](IVec3 b) { return b.z < 0; });
  RegionsFound far;
  far.search(volume, {0.5, 0.5, 0}, {});
  const std::uint64_t made = far.regions.cells_made();
  // 16 by 16 cells with ground, and those above and below that a way may come from.
  CHECK(far.ways.count() == 256);
  far.search(volume, {0.5, 0.5, 0}, {});
  CHECK(far.regions.cells_made() == made);
  REQUIRE(volume.set_block({40, 40, 0}, BlockId::stone));
  far.search(volume, {0.5, 0.5, 0}, {});
  CHECK(far.regions.cells_made() > made);
  CHECK(far.regions.cells_made() <= made + 4);
  CHECK(far.at(volume, {40, 40, 0}, {}) == nullptr);
}

TEST_CASE("a monster hunts round walls from a hundred metres away", "[world][nav][region_ways]") {
  // A wall across the world with a gap at its end; the way is some 155 m.
  BlockHunt hunt(1, [](IVec3 b) { return b.z < 0 || (b.x == 0 && b.y < 42 && b.z < 6); });
  hunt.player({50, 50, 0});
  const std::size_t row = hunt.add(MonsterKind::imp, {-50, -50, 0});
  const double s = hunt.comes_within(row, 90);
  CHECK(s > 150 / traits(MonsterKind::imp).speed_mps);
  CHECK(s < 1.3 * 160 / traits(MonsterKind::imp).speed_mps + 5);
}

TEST_CASE("who hunts from afar goes another way within five seconds when the first is walled off",
          "[world][nav][region_ways]") {
  // Two gaps in a wall across the world, both out of the reach of a field about the player.
  BlockHunt hunt(1, [](IVec3 b) {
    const bool gap = (b.y >= -30 && b.y < -26) || (b.y >= 30 && b.y < 34);
    return b.z < 0 || (b.x == 0 && b.z < 6 && !gap);
  });
  hunt.player({50, -20, 0});
  const std::size_t row = hunt.add(MonsterKind::imp, {-30, -10, 0});
  const Body& body = hunt.arena.monsters.body[row];
  for (int t = 0; t < 5 * 60; ++t) hunt.step();
  REQUIRE(body.position_m.y < -12);  // on its way to the southern gap
  for (std::int32_t y = -30; y < -26; ++y)
    for (std::int32_t z = 0; z < 6; ++z) hunt.arena.volume.set_block({0, y, z}, BlockId::stone);
  for (int t = 0; t < 5 * 60; ++t) hunt.step();
  CHECK(body.velocity_mps.y > 0.5);  // to the northern one
  CHECK(hunt.comes_within(row, 90) >= 0);
}

TEST_CASE("who finds no way to whom it does not see gives up and wanders", "[world][nav][region_ways]") {
  BlockHunt hunt(1, [](IVec3 b) {
    const IVec3 off = b - IVec3{40, 40, 0};
    return b.z < 0 || (b.z < 5 && std::max(std::abs(off.x), std::abs(off.y)) <= 4 &&
                       (b.z == 4 || std::max(std::abs(off.x), std::abs(off.y)) == 4));
  });
  hunt.player({40.5, 40.5, 0});
  const std::size_t row = hunt.add(MonsterKind::imp, {-40, -40, 0});
  for (int t = 0; t < 10 * 60; ++t) hunt.step();
  CHECK(hunt.arena.monsters.mood[row] == MonsterMood::wander);
  // A door is broken into the room: told of him again, it comes.
  for (std::int32_t x = 38; x < 42; ++x)
    for (std::int32_t z = 0; z < 3; ++z) hunt.arena.volume.set_block({x, 36, z}, BlockId::air);
  monster_takes_up(hunt.arena.rules, hunt.arena.monsters, row, hunt.arena.players.id[0],
                   hunt.arena.players.body[0].position_m);
  CHECK(hunt.comes_within(row, 90) >= 0);
}
