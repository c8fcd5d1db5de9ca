#include "world/nav/block_ways.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/nav/block_hunt.h"
#include "world/sim/navigation.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

namespace {

// A corner of blocks and a height in half blocks.
using Place = std::tuple<std::int32_t, std::int32_t, std::int32_t>;

/// The twin asks single points of the volume, in quarters of a block, and relaxes until nothing changes.
struct Twin {
  const VoxelVolume& volume;
  IVec3 low, high;  // of corners and half blocks, both included

  bool solid(std::int32_t x, std::int32_t y, double z) const {
    for (std::int32_t i = 0; i < 4; ++i)
      if (volume.solid_at({x - 0.5 + (i & 1), y - 0.5 + (i >> 1), z})) return true;
    return false;
  }
  bool free(std::int32_t x, std::int32_t y, std::int32_t from, std::int32_t to) const {
    for (std::int32_t h = from; h < to; ++h)
      if (solid(x, y, h * 0.5 + 0.25)) return false;
    return true;
  }
  bool stands(const Place& p) const {
    const auto& [x, y, h] = p;
    return solid(x, y, h * 0.5 - 0.25) && free(x, y, h, h + 4);
  }
  bool leads(const Place& from, const Place& to, bool climbs) const {
    const auto& [ax, ay, a] = from;
    const auto& [bx, by, b] = to;
    if (!stands(from) || b - a > (climbs ? 2 : 1) || a - b > 2 * block_drop_max) return false;
    if (ax != bx && ay != by && (a != b || !stands({ax, by, a}) || !stands({bx, ay, a}))) return false;
    const std::int32_t passes = std::max(a, b);
    return free(ax, ay, a, passes + 4) && free(bx, by, b, passes + 4);
  }
  static std::uint32_t cost(const Place& from, const Place& to) {
    const auto& [ax, ay, a] = from;
    const auto& [bx, by, b] = to;
    return (ax != bx && ay != by ? 14u : 10u) + (b > a ? 4u * static_cast<std::uint32_t>(b - a) : 0u) +
           (a - b > 2 ? 10u : 0u);
  }
  std::map<Place, std::uint32_t> distances(std::map<Place, std::uint32_t> best, bool climbs) const {
    std::deque<Place> open;
    for (const auto& [place, d] : best) open.push_back(place);
    while (!open.empty()) {
      const Place to = open.front();
      open.pop_front();
      for (std::int32_t dy = -1; dy <= 1; ++dy)
        for (std::int32_t dx = -1; dx <= 1; ++dx)
          for (std::int32_t h = low.z; h <= high.z; ++h) {
            const Place from{std::get<0>(to) + dx, std::get<1>(to) + dy, h};
            if ((dx == 0 && dy == 0) || std::get<0>(from) < low.x || std::get<0>(from) > high.x) continue;
            if (std::get<1>(from) < low.y || std::get<1>(from) > high.y || !leads(from, to, climbs)) continue;
            const std::uint32_t d = best.at(to) + cost(from, to);
            const auto known = best.find(from);
            if (known != best.end() && known->second <= d) continue;
            best[from] = d;
            open.push_back(from);
          }
    }
    return best;
  }
};

/// A closed box of stone, with blocks and slabs in it at random.
VoxelVolume random_box(std::uint64_t seed, std::int32_t size, double density) {
  VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [&](IVec3 b) {
    const bool inside = b.x >= 0 && b.x < size && b.y >= 0 && b.y < size && b.z >= 0 && b.z < 6;
    return !inside || random_block(seed, b, b.z < 3 ? density : density / 4);
  });
  for (std::int32_t x = 0; x < size; ++x)
    for (std::int32_t y = 0; y < size; ++y)
      for (std::int32_t z = 0; z < 4; ++z)
        if (!volume.solid({x, y, z}) && random_block(seed + 1, {x, y, z}, 0.1))
          volume.set_block({x, y, z}, BlockId::stone_slab);
  return volume;
}

BlockWays searched(const VoxelVolume& volume, DVec3 to, BlockWalker who, std::uint32_t places_a_call) {
  BlockSearch search;
  search.begin(volume, to, who);
  while (!search.whole()) CHECK(search.advance(volume, places_a_call) <= places_a_call);
  return search.ways();
}

}  // namespace

TEST_CASE("ways over blocks are found where a search without order finds them, and as long",
          "[world][nav][block_ways][property]") {
  Rng rng{5};
  unsigned found = 0, none = 0;
  for (int i = 0; i < cases(12); ++i) {
    CAPTURE(i);
    constexpr std::int32_t size = 9;
    const VoxelVolume volume = random_box(static_cast<std::uint64_t>(100 + i), size, rng.between(0.1, 0.35));
    const BlockWalker walker{rng.below(2) == 1};
    const Twin twin{volume, {1, 1, 0}, {size - 1, size - 1, 9}};
    // Begin where somebody stands, at a corner itself: that is one of the four that the search begins at.
    std::map<Place, std::uint32_t> seeds;
    const auto cx = static_cast<std::int32_t>(1 + rng.below(size - 2));
    const auto cy = static_cast<std::int32_t>(1 + rng.below(size - 2));
    std::int32_t h = 9;
    while (h >= 0 && !twin.stands({cx, cy, h})) --h;
    if (h < 0) continue;
    for (std::int32_t k = 0; k < 4; ++k) {
      const std::int32_t x = cx + (k & 1), y = cy + (k >> 1);
      for (std::int32_t z = h + 2; z >= 0; --z) {
        if (!twin.stands({x, y, z})) continue;
        const double off_m = std::sqrt(static_cast<double>((k & 1) + (k >> 1)));
        seeds[{x, y, z}] = static_cast<std::uint32_t>(off_m * 10);
        break;
      }
    }
    const auto best = twin.distances(seeds, walker.climbs);
    const DVec3 to{static_cast<double>(cx), static_cast<double>(cy), h * 0.5};
    const BlockWays ways = searched(volume, to, walker, 1 + rng.below(40));
    for (std::int32_t y = 1; y < size; ++y)
      for (std::int32_t x = 1; x < size; ++x)
        for (std::int32_t z = 0; z <= 9; ++z) {
          const std::uint16_t place = ways.place_at({x, y}, z);
          const auto known = best.find({x, y, z});
          REQUIRE((place != BlockWays::nowhere) == (known != best.end()));
          ++(place != BlockWays::nowhere ? found : none);
          if (place != BlockWays::nowhere) REQUIRE(ways.distance(place) == known->second);
        }
  }
  CHECK(found > 300);
  CHECK(none > 300);
}

TEST_CASE("a monster goes round a wall that it sees nobody behind, and out of a pocket",
          "[world][nav][block_ways]") {
  // The player stands behind a wall 17 m long, in a U that is open to the far side.
  BlockHunt hunt(1, [](IVec3 b) {
    const bool wall =
        b.z < 3 && ((b.x == 8 && b.y > -9 && b.y < 9) || ((b.y == 8 || b.y == -8) && b.x >= 8 && b.x < 16));
    return b.z < 0 || wall;
  });
  hunt.player({11, 0, 0});
  const std::size_t row = hunt.add(MonsterKind::imp, {-6, 0.5, 0});
  const double s = hunt.comes_within(row, 25);
  CHECK(s > 4);  // some 40 m at 2.9 m/s
  CHECK(s < 20);
}

TEST_CASE("who hunts comes down on the shelf that its way goes on by, not beyond it",
          "[world][nav][block_ways]") {
  // From a plateau six blocks down on a shelf of two; what is beyond that leads nowhere. At its full pace it
  // would fly over both.
  BlockHunt hunt(1, [](IVec3 b) { return b.z < (b.x < 0 ? 8 : b.x < 2 ? 2 : 0); });
  hunt.player({1, 20, 2});
  const std::size_t row = hunt.add(MonsterKind::imp, {-10, 0, 8});
  CHECK(hunt.comes_within(row, 3 * 35 / hunt.arena.monsters.traits_at(row).speed_mps + 10) >= 0);
  CHECK(hunt.arena.monsters.body[row].position_m.z == 2);
}

TEST_CASE("who hunts goes round a wall that it sees over to its end", "[world][nav][block_ways]") {
  // One block high: it sees him all the time, and would turn back to the wall as soon as it left it.
  BlockHunt hunt(1, [](IVec3 b) { return b.z < 0 || (b.x == 0 && b.z < 1 && b.y > -20 && b.y < 20); });
  hunt.player({6, 0, 0});
  const std::size_t row = hunt.add(MonsterKind::imp, {-6, 0, 0});
  CHECK(hunt.comes_within(row, 3 * 50 / hunt.arena.monsters.traits_at(row).speed_mps + 10) >= 0);
}

TEST_CASE("who is walled off goes another way within five seconds, and a bridge that opens is taken",
          "[world][nav][block_ways]") {
  // A wall with two gaps of two blocks, the near one ahead, the other one 12 m aside.
  BlockHunt hunt(1, [](IVec3 b) {
    const bool gap = b.y == 0 || b.y == 1 || b.y == 12 || b.y == 13;
    return b.z < 0 || (b.x == 10 && b.z < 4 && !gap);
  });
  hunt.player({14, -3, 0});
  const std::size_t row = hunt.add(MonsterKind::imp, {-2, -3, 0});
  for (int t = 0; t < 120; ++t) hunt.step();
  REQUIRE(hunt.arena.monsters.body[row].position_m.x < 9);
  for (const std::int32_t y : {0, 1})
    for (std::int32_t z = 0; z < 4; ++z) hunt.arena.volume.set_block({10, y, z}, BlockId::stone);
  for (int t = 0; t < 5 * 60; ++t) hunt.step();
  const double y_m = hunt.arena.monsters.body[row].position_m.y;
  CHECK(y_m > 4);  // on its way to the other gap
  CHECK(hunt.comes_within(row, 20) >= 0);
}

TEST_CASE("slabs are steps for everybody, blocks for those with long legs", "[world][nav][block_ways]") {
  // Ground at 0 in the west, at 1 in the east; in one world a row of slabs leads up.
  for (const bool slabs : {false, true}) {
    VoxelVolume volume =
        make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 || (b.z == 0 && b.x >= 4); });
    if (slabs)
      for (std::int32_t y = -32; y < 32; ++y) volume.set_block({3, y, 0}, BlockId::stone_slab);
    for (const bool climbs : {false, true}) {
      const BlockWays ways = searched(volume, {8, 0, 1}, {climbs}, 1000);
      CHECK(ways.step({0.4, 0.4, 0}).has_value() == (slabs || climbs));
    }
    // Down goes everybody.
    CHECK(searched(volume, {-4, 0, 0}, {}, 1000).step({8.2, 0.2, 1}).has_value());
  }
}

TEST_CASE("searches over blocks take a bounded part of each tick, and fields are shared",
          "[world][nav][block_ways]") {
  const VoxelVolume volume = make_volume({-2, -2, -1}, {4, 4, 2}, [](IVec3 b) { return b.z < 0; });
  PlayerTable players;
  players.resize(1);
  players.id[0] = make_entity_id(0, 1);
  players.body[0].position_m = {0.5, 0.5, 0};
  BlockNavigation navigation;
  std::uint32_t tick = 100;
  for (; navigation.fields_made() == 0 && tick < 200; ++tick) {
    navigation.ask_from(players, players.id[0], {}, {30, 30, 0}, tick);
    CHECK_FALSE(navigation.route(players, players.id[0], {}, {5, 5, 0}).step.has_value());
    navigation.advance(volume, players, tick);
  }
  // 64 by 64 corners at places_per_tick a tick.
  CHECK(tick - 100 >= 64u * 64u / BlockNavigation::places_per_tick);
  CHECK(tick - 100 <= 64u * 64u / BlockNavigation::places_per_tick + 3);
  const auto way = navigation.route(players, players.id[0], {}, {5.2, 0.5, 0}).step;
  REQUIRE(way.has_value());
  CHECK(way->to_m.x < 5.2);
  CHECK(way->distance_m == Approx(4.9).margin(0.6));
  CHECK_FALSE(navigation.route(players, players.id[0], {true}, {5, 5, 0}).step.has_value());
}

TEST_CASE("a search that one waits for ends behind it, others are searched for, and what stays is not again",
          "[world][nav][block_ways]") {
  VoxelVolume volume = make_volume({-2, -2, -1}, {4, 4, 2}, [](IVec3 b) { return b.z < 0; });
  PlayerTable players;
  players.resize(1);
  players.id[0] = make_entity_id(0, 1);
  players.body[0].position_m = {0.5, 0.5, 0};
  BlockNavigation navigation;
  std::uint32_t tick = 100;
  const auto run = [&](std::uint32_t ticks, DVec3 from) {
    for (const std::uint32_t end = tick + ticks; tick < end; ++tick) {
      navigation.ask_from(players, players.id[0], {}, from, tick);
      navigation.advance(volume, players, tick);
    }
  };
  const auto way = [&](DVec3 from) { return navigation.route(players, players.id[0], {}, from).step; };
  run(2, {4, 4, 0});
  CHECK(navigation.fields_made() == 1);
  REQUIRE(way({4, 4, 0}).has_value());
  CHECK(way({4, 4, 0})->distance_m == Approx(5.0).margin(0.6));
  CHECK_FALSE(way({28, 28, 0}).has_value());
  // Somebody else comes, who is not behind the first one.
  run(15 + 64 * 64 / BlockNavigation::places_per_tick + 2, {28, 28, 0});
  CHECK(navigation.fields_made() == 2);
  CHECK(way({28, 28, 0}).has_value());
  // Nothing changes: nothing is searched. A block does: then it is.
  run(300, {28, 28, 0});
  CHECK(navigation.fields_made() == 2);
  volume.set_block({6, 6, 0}, BlockId::stone);
  run(60, {28, 28, 0});
  CHECK(navigation.fields_made() > 2);
  // He goes: then it is, too.
  const std::uint64_t made = navigation.fields_made();
  players.body[0].position_m.x -= 3;
  run(60, {25, 25, 0});
  CHECK(navigation.fields_made() > made);
}
