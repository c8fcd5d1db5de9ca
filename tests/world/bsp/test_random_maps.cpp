#include <algorithm>
#include <cmath>

#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/world/bsp/brute_force.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/bsp/random_maps.h"
#include "tests/world/cases.h"
#include "world/bsp/leaf_grid.h"
#include "world/bsp/placed_map.h"
#include "world/math/turn.h"

using namespace ashlar;
using namespace ashlar::testing;
using ashlar::test::cases;

namespace {

/// On lines, on corners and right beside them, and anywhere.
DVec2 awkward_point(Rng& rng, const SectorMap& map, const MapBounds& around) {
  const double x = rng.between(around.min.x, around.max.x);
  const DVec2 anywhere{x, rng.between(around.min.y, around.max.y)};
  if (rng.below(3) == 0) return anywhere;
  const MapLine& l = map.lines[rng.below(static_cast<std::uint32_t>(map.lines.size()))];
  const DVec2 a = map.vertices[l.v1], b = map.vertices[l.v2];
  const double share = rng.below(2) == 0 ? 0.5 * rng.below(3) : rng.unit();
  constexpr double off[] = {0, 1e-9, 1e-6, 1e-4, 0.01, 0.5};
  const DVec2 out = heading(Turn16{static_cast<std::uint16_t>(rng.below(65536))}) * off[rng.below(6)];
  return a + (b - a) * share + out;
}

/// Near the ends of the world as well as in its middle.
std::shared_ptr<const PlacedMap> place_somewhere(const SectorMap& map, std::uint64_t seed, bool visibility) {
  constexpr std::int32_t end = 1 << 20;
  constexpr IVec2 origins[] = {{0, 0}, {-end, 777777}, {end - 9000, -end}};
  PlaceOptions options;
  options.origin_block = origins[seed % 3];
  options.doorway = false;
  options.doors_open = seed % 2 == 0;
  options.visibility = visibility;
  return must_place(map, options);
}

/// Somewhere between the floor and the ceiling there, or anywhere in the rock's height over void.
DVec3 place_in(Rng& rng, const PlacedMap& map, DVec2 p) {
  const DVec2 at = map.to_world(p);
  const std::uint32_t sector = map.tree().sector_at(p);
  double low = map.box().min.z, high = map.roof_m();
  if (sector != no_index) {
    const SectorHeights& h = map.initial_heights()[sector];
    low = h.floor_m;
    if (!map.open_to_sky(sector, h)) high = std::max(low, h.ceiling_m);
  }
  const double share = rng.below(4) == 0 ? rng.below(2) : rng.unit();
  return {at.x, at.y, low + share * (high - low)};
}

MapBounds footprint(const PlacedMap& map) {
  const BlockBox& b = map.box();
  return {map.to_map({static_cast<double>(b.min.x), static_cast<double>(b.min.y)}),
          map.to_map({static_cast<double>(b.max.x), static_cast<double>(b.max.y)})};
}

/// Calls visit(map, seed) for maps without a contradiction and for maps with some.
template <typename Visit>
void each_random_map(int normal, bool contradicting, Visit&& visit) {
  const int count = std::max(1, cases(normal) / static_cast<int>(test::slowness));
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(count); ++seed) {
    RandomMap random(seed);
    if (contradicting) random.contradict();
    if (!random.map().lines.empty()) visit(random.map(), seed);
  }
}

}  // namespace

TEST_CASE("points of random maps lie in the sectors that the nearest lines say",
          "[world][bsp][random_maps][property]") {
  each_random_map(400, false, [](const SectorMap& map, std::uint64_t seed) {
    const BspTree tree = build_bsp(map);
    const MapBounds around{tree.bounds.min - DVec2{40, 40}, tree.bounds.max + DVec2{40, 40}};
    Rng rng = rng_for(seed, 51);
    int wrong = 0;
    for (int i = 0; i < 200; ++i) {
      const DVec2 p = awkward_point(rng, map, around);
      double clear = 0;
      const std::uint32_t sector = brute_sector(map, p, clear);
      wrong += clear > 1e-3 && tree.sector_at(p) != sector ? 1 : 0;
    }
    CAPTURE(seed);
    CHECK(wrong == 0);
  });
}

TEST_CASE("every point of a map has one leaf, whatever its lines say, and compiling is a function",
          "[world][bsp][random_maps][property]") {
  const bool contradicting = GENERATE(false, true);
  each_random_map(300, contradicting, [&](const SectorMap& map, std::uint64_t seed) {
    const BspTree tree = build_bsp(map), again = build_bsp(map);
    CAPTURE(seed, contradicting);
    CHECK((tree.root == again.root && tree.corners == again.corners));
    CHECK(tree.depth < BspTree::depth_max);
    double area = 0;
    for (std::uint32_t i = 0; i < tree.leaves.size(); ++i) area += leaf_area(tree, i);
    const DVec2 extent = tree.bounds.max - tree.bounds.min + DVec2{128, 128};
    CHECK(area == Approx(extent.x * extent.y).epsilon(1e-6));

    const MapBounds around{tree.bounds.min - DVec2{32, 32}, tree.bounds.max + DVec2{40, 40}};
    const LeafGrid grid = build_leaf_grid(tree, around);
    Rng rng = rng_for(seed, 52);
    int wrong = 0;
    for (int i = 0; i < 200; ++i) {
      const DVec2 p = awkward_point(rng, map, {around.min - DVec2{9, 9}, around.max + DVec2{9, 9}});
      wrong += grid.leaf_at(tree, p) != tree.leaf_at(p) ? 1 : 0;
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("in random maps the visibility set hides nobody who is seen without it",
          "[world][bsp][visibility][random_maps][property]") {
  const bool contradicting = GENERATE(false, true);
  int seen = 0;
  each_random_map(200, contradicting, [&](const SectorMap& map, std::uint64_t seed) {
    const auto with = place_somewhere(map, seed, true), without = place_somewhere(map, seed, false);
    const MapBounds around = footprint(*with);
    Rng rng = rng_for(seed, 53);
    int wrong = 0;
    for (int i = 0; i < 200; ++i) {
      // Off the lines: a corner that is touched is no sight.
      const DVec2 off{rng.between(1e-5, 1e-4), rng.between(1e-5, 1e-4)};
      const DVec3 a = place_in(rng, *with, awkward_point(rng, map, around) + off);
      const DVec3 b = place_in(rng, *with, awkward_point(rng, map, around) + off);
      if (!map_sees(*without, without->initial_heights(), a, b)) continue;
      ++seen;
      wrong += map_sees(*with, with->initial_heights(), a, b) ? 0 : 1;
    }
    CAPTURE(seed, contradicting);
    CHECK(wrong == 0);
  });
  CHECK(seen > 100);
}

TEST_CASE("who is carried through a random map at any speed never ends in its rock",
          "[world][bsp][random_maps][property]") {
  const bool contradicting = GENERATE(false, true);
  int moved = 0;
  each_random_map(300, contradicting, [&](const SectorMap& map, std::uint64_t seed) {
    const auto placed = place_somewhere(map, seed, false);
    const HeightsView heights = placed->initial_heights();
    const MapBounds around = footprint(*placed);
    Rng rng = rng_for(seed, 54);
    int wrong = 0;
    for (int i = 0; i < 60; ++i) {
      Cylinder body;
      if (rng.below(2) == 0) body = {rng.between(0.05, 1.5), rng.between(0.1, 3)};
      DVec3 at = place_in(rng, *placed, awkward_point(rng, map, around));
      if (map_overlaps(*placed, heights, body, at)) continue;
      ++moved;
      for (int k = 0; k < 4; ++k) {
        constexpr double reaches_m[] = {0.01, 0.3, 3, 50, 2000};
        const double reach_m = reaches_m[rng.below(5)];
        const DVec2 ahead = heading(Turn16{static_cast<std::uint16_t>(rng.below(65536))}) * reach_m;
        const DVec3 way{ahead.x, ahead.y, rng.below(2) == 0 ? 0 : rng.between(-reach_m, reach_m)};
        const SweepHit hit = map_sweep(*placed, heights, body, at, way);
        at += way * hit.t;
        wrong +=
            hit.started_inside || !(hit.t >= 0 && hit.t <= 1) || map_overlaps(*placed, heights, body, at);
      }
    }
    CAPTURE(seed, contradicting);
    CHECK(wrong == 0);
  });
  CHECK(moved > 1000 / static_cast<int>(test::slowness));
}

TEST_CASE("ways through a random map equal their parts, and no order of its lines decides where they end",
          "[world][bsp][random_maps][property]") {
  int hits = 0;
  each_random_map(150, false, [&](const SectorMap& map, std::uint64_t seed) {
    SectorMap turned = map;
    std::ranges::reverse(turned.lines);
    const auto placed = place_somewhere(map, seed, false), other = place_somewhere(turned, seed, false);
    const HeightsView heights = placed->initial_heights(), other_heights = other->initial_heights();
    const MapBounds around = footprint(*placed);
    Rng rng = rng_for(seed, 55);
    int parts = 0, order = 0, in_rock = 0;
    for (int i = 0; i < 80; ++i) {
      Cylinder body;
      if (rng.below(2) == 0) body = {rng.between(0.1, 0.9), rng.between(0.2, 2)};
      DVec3 at = place_in(rng, *placed, awkward_point(rng, map, around));
      // Against a wall, then along it by a hair: where grazing happens.
      const DVec2 ahead = heading(Turn16{static_cast<std::uint16_t>(rng.below(65536))});
      if (map_overlaps(*placed, heights, body, at)) continue;
      const SweepHit wall = map_sweep(*placed, heights, body, at, {ahead.x * 20, ahead.y * 20, 0});
      DVec3 way{ahead.x * 6, ahead.y * 6, 0};
      if (wall.hit()) {
        at += DVec3{ahead.x * 20, ahead.y * 20, 0} * wall.t;
        const double side = rng.below(2) == 0 ? 6 : -6;
        way = DVec3{-wall.normal.y, wall.normal.x, 0} * side -
              wall.normal * (1e-5 * std::exp(rng.between(0, 6)));
      }
      if (rng.below(2) == 0) way.z = (rng.below(2) == 0 ? 1e-5 : -1e-5) * std::exp(rng.between(0, 8));
      if (map_overlaps(*placed, heights, body, at)) continue;
      const SweepHit whole = map_sweep(*placed, heights, body, at, way);
      const SweepHit again = map_sweep(*other, other_heights, body, at, way);
      const double cut = rng.between(0.01, 0.99);
      const SweepHit first = map_sweep(*placed, heights, body, at, way * cut);
      double t = first.t * cut;
      if (!first.hit())
        t = cut + map_sweep(*placed, heights, body, at + way * cut, way * (1 - cut)).t * (1 - cut);
      hits += whole.hit();
      parts += std::fabs(whole.t - t) * length(way) > 1e-3;
      order += std::fabs(whole.t - again.t) * length(way) > 1e-9 || whole.kind != again.kind;
      in_rock += map_overlaps(*placed, heights, body, at + way * whole.t);
    }
    CAPTURE(seed);
    CHECK(parts == 0);
    CHECK(order == 0);
    CHECK(in_rock == 0);
  });
  CHECK(hits > 500 / static_cast<int>(test::slowness));
}
