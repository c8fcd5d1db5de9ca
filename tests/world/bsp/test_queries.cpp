#include "tests/world/bsp/brute_force.h"
#include "tests/world/bsp/maps.h"
#include "world/bsp/placed_map.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Placed far out and below zero too: queries must not care.
std::shared_ptr<const PlacedMap> place_obstacles(IVec2 origin, std::int32_t surface) {
  PlaceOptions options;
  options.origin_block = origin;
  options.surface_z = surface;
  options.doorway = false;
  return must_place(obstacle_map(), options);
}

DVec3 random_point(Rng& rng, const PlacedMap& map, double margin) {
  const BlockBox& b = map.box();
  const double x = rng.between(b.min.x - margin, b.max.x + margin);
  const double y = rng.between(b.min.y - margin, b.max.y + margin);
  return {x, y, rng.between(b.min.z - margin, b.max.z + margin)};
}

DVec3 random_direction(Rng& rng, double flatness) {
  for (;;) {
    const double x = rng.between(-1, 1);
    const double y = rng.between(-1, 1);
    const DVec3 d{x, y, rng.between(-1, 1) * flatness};
    const double l = length(d);
    if (l > 0.1 && l < 1) return d * (1 / l);
  }
}

constexpr IVec2 query_origins[] = {{0, 0}, {-57, 91}, {1000000, -1000000}};

}  // namespace

TEST_CASE("a body overlaps a placed map where some leaf under its disc is rock at its height",
          "[world][bsp]") {
  const int place = GENERATE(0, 1, 2);
  const auto map = place_obstacles(query_origins[place], 12 * place - 10);
  Rng rng = rng_for(7, static_cast<std::uint64_t>(place));
  int overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    Cylinder shape{rng.between(0.05, 1.2), 0};
    shape.height_m = rng.between(0.2, 3);
    const DVec3 base = random_point(rng, *map, 0.5);
    if (!over_box(*map, xy(base))) continue;
    const bool is = map_overlaps(*map, map->initial_heights(), shape, base);
    const bool thicker = brute_overlaps(*map, map->initial_heights(), shape, base, 0);
    const bool thinner = brute_overlaps(*map, map->initial_heights(), shape, base, 2 * contact_slop_m);
    CAPTURE(i, base.x, base.y, base.z, shape.radius_m, shape.height_m);
    REQUIRE((!is || thicker));
    REQUIRE((is || !thinner));
    overlapping += is ? 1 : 0;
  }
  CHECK(overlapping > 2000);
  CHECK(overlapping < 19000);
}

TEST_CASE("floor and ceiling under a footprint are those of every sector it meets", "[world][bsp]") {
  const auto map = place_obstacles({-57, 91}, 3);
  Rng rng = rng_for(8, 0);
  int seen_void = 0, seen_mixed = 0;
  for (int i = 0; i < 20000; ++i) {
    const double radius = rng.between(0.05, 1.5);
    const DVec2 p = xy(random_point(rng, *map, 0));
    const auto sectors = brute_sectors(*map, map->to_map(p), (radius - contact_slop_m) * map_units_per_m);
    double floor = -no_ceiling, ceiling = no_ceiling;
    bool in_void = false;
    for (const std::uint32_t s : sectors) {
      in_void = in_void || s == no_index;
      const Column c = column_of(*map, map->initial_heights(), s);
      floor = std::max(floor, c.floor_m), ceiling = std::min(ceiling, c.ceiling_m);
    }
    const auto got = map_floor_ceiling(*map, map->initial_heights(), p, radius);
    CAPTURE(i, p.x, p.y, radius);
    REQUIRE(got.has_value() == !in_void);
    seen_void += in_void ? 1 : 0;
    if (in_void) continue;
    seen_mixed += sectors.size() > 1 ? 1 : 0;
    REQUIRE(got->floor_m == floor);
    REQUIRE(got->ceiling_m == ceiling);
  }
  CHECK(seen_void > 1000);
  CHECK(seen_mixed > 1000);
}

TEST_CASE("a swept body is free up to its contact and overlaps just behind it", "[world][bsp]") {
  const int place = GENERATE(0, 1, 2);
  const auto map = place_obstacles(query_origins[place], 12 * place - 10);
  const HeightsView heights = map->initial_heights();
  Rng rng = rng_for(9, static_cast<std::uint64_t>(place));
  int floors = 0, ceilings = 0, walls = 0, free_ways = 0, inside = 0;
  for (int i = 0; i < 12000; ++i) {
    Cylinder shape{rng.between(0.1, 0.8), 0};
    shape.height_m = rng.between(0.3, 2.5);
    const DVec3 base = random_point(rng, *map, 1.5);
    const DVec3 delta = random_direction(rng, i % 3 == 0 ? 0 : 1) * rng.between(0.05, i % 5 == 0 ? 60 : 4);
    CAPTURE(i, base.x, base.y, base.z, delta.x, delta.y, delta.z, shape.radius_m, shape.height_m);
    const SweepHit hit = map_sweep(*map, heights, shape, base, delta);
    if (map_overlaps(*map, heights, shape, base)) {
      REQUIRE(hit.started_inside);
      ++inside;
      continue;
    }
    REQUIRE_FALSE(hit.started_inside);
    REQUIRE(hit.t >= 0);
    REQUIRE(hit.t <= 1);
    Cylinder thinner = shape;
    thinner.radius_m -= contact_slop_m, thinner.height_m -= contact_slop_m;
    for (int k = 0; k <= 40; ++k) {
      const DVec3 p = base + delta * (hit.t * k / 40);
      REQUIRE_FALSE(map_overlaps(*map, heights, thinner, p + DVec3{0, 0, contact_slop_m / 2}));
    }
    if (!hit.hit()) {
      REQUIRE(hit.t == 1);
      ++free_ways;
      continue;
    }
    REQUIRE(length(hit.normal) == Approx(1).margin(1e-9));
    const double into = -dot(hit.normal, delta);
    REQUIRE(into > 0);
    // A millimetre deeper, straight into what was hit, is rock: the contact was no phantom.
    const DVec3 deeper = base + delta * hit.t - hit.normal * 1e-3;
    REQUIRE(map_overlaps(*map, heights, shape, deeper));
    floors += hit.kind == ContactKind::map_floor ? 1 : 0;
    ceilings += hit.kind == ContactKind::map_ceiling ? 1 : 0;
    walls += hit.kind == ContactKind::map_wall ? 1 : 0;
  }
  CHECK(floors > 100);
  CHECK(ceilings > 30);
  CHECK(walls > 100);
  CHECK(free_ways > 100);
  CHECK(inside > 1000);
}

TEST_CASE("who starts in rock with the middle on a partition is told so", "[world][bsp]") {
  // An L of 8 x 3 and 4 x 8 m: no line lies in it, and a partition must.
  MapWriter w;
  const auto room = w.sector(0, 128);
  w.ring({{0, 0}, {0, 256}, {128, 256}, {128, 96}, {256, 96}, {256, 0}}, room);
  w.map.name = "L";
  PlaceOptions options;
  options.doorway = false;
  const auto map = must_place(w.map, options);
  const HeightsView heights = map->initial_heights();
  const double floor = map->z_to_world(0);
  for (const DVec2 at : {DVec2{4, 1.5}, DVec2{2, 3}, DVec2{1, 1}})
    for (const DVec3 way : {DVec3{1, 0, 0}, DVec3{-1, 0, 0}, DVec3{0, 1, 0}, DVec3{0, -1, 0}, DVec3{0, 0, -1},
                            DVec3{0, 0, 1}, DVec3{}}) {
      const DVec2 p = map->to_world(at * map_units_per_m);
      CAPTURE(at.x, at.y, way.x, way.y, way.z);
      const DVec3 base{p.x, p.y, floor - 0.1};
      REQUIRE(map_overlaps(*map, heights, Cylinder{}, base));
      CHECK(map_sweep(*map, heights, Cylinder{}, base, way).started_inside);
      const SweepHit free = map_sweep(*map, heights, Cylinder{}, base + DVec3{0, 0, 0.2}, way);
      CHECK_FALSE(free.started_inside);
    }
}

TEST_CASE("who presses into a window that is too low does not hang on its sill", "[world][bsp]") {
  MapWriter w;
  const auto room = w.sector(0, 128), window = w.sector(16, 56);
  w.ring({{0, 0}, {0, 256}, {256, 256}, {256, 0}}, room);
  w.ring({{64, 96}, {64, 256}, {192, 256}, {192, 96}}, window, room);
  w.map.name = "SILL";
  PlaceOptions options;
  options.doorway = false;
  const auto map = must_place(w.map, options);
  const DVec2 p = map->to_world({128, 96});
  // Exactly at the sill's height and at touching distance.
  const SweepHit hit = map_sweep(*map, map->initial_heights(), Cylinder{},
                                 {p.x, p.y - Cylinder{}.radius_m, map->z_to_world(16)}, {0, 0.002, -0.003});
  CHECK(hit.t == 0);
  CHECK(hit.normal == DVec3{0, -1, 0});
}

TEST_CASE("a line with one sector on both sides that parts two is felt", "[world][bsp]") {
  // A platform whose southern side names the platform twice: the leaves beside it are of two sectors.
  MapWriter w;
  const auto room = w.sector(0, 128), platform = w.sector(32, 128);
  w.ring({{0, 0}, {0, 256}, {256, 256}, {256, 0}}, room);
  w.line({64, 64}, {64, 192}, platform, room);
  w.line({64, 192}, {192, 192}, platform, room);
  w.line({192, 192}, {192, 64}, platform, room);
  w.line({192, 64}, {64, 64}, platform, platform);
  w.map.name = "PLATFORM";
  PlaceOptions options;
  options.doorway = false;
  const auto map = must_place(w.map, options);
  const HeightsView heights = map->initial_heights();
  REQUIRE(map->tree().sector_at({128, 128}) == platform);
  REQUIRE(map->tree().sector_at({128, 32}) == room);
  Rng rng = rng_for(12, 0);
  int wrong = 0, in = 0;
  for (int i = 0; i < 4000; ++i) {
    const double x = rng.between(30, 226);
    const DVec2 p = map->to_world({x, rng.between(30, 226)});
    const DVec3 base{p.x, p.y, map->z_to_world(rng.below(2) == 0 ? 0 : 16)};
    const bool is = map_overlaps(*map, heights, Cylinder{}, base);
    wrong += is && !brute_overlaps(*map, heights, Cylinder{}, base, 0);
    wrong += !is && brute_overlaps(*map, heights, Cylinder{}, base, 2 * contact_slop_m);
    in += is;
  }
  CHECK(in > 500);
  CHECK(wrong == 0);
}

TEST_CASE("a body rests on a floor and walks over it without touching anything", "[world][bsp]") {
  const auto map = place_obstacles({0, 0}, 20);
  const HeightsView heights = map->initial_heights();
  const Cylinder player{0.3, 1.75};
  const double floor = map->z_to_world(0);
  const DVec2 from = map->to_world({30, 30}), to = map->to_world({480, 30});
  const DVec3 base{from.x, from.y, floor};
  CHECK_FALSE(map_overlaps(*map, heights, player, base));
  const SweepHit along = map_sweep(*map, heights, player, base, {to.x - from.x, 0, 0});
  CHECK_FALSE(along.hit());
  const SweepHit down = map_sweep(*map, heights, player, base, {0, 0, -0.01});
  CHECK(down.kind == ContactKind::map_floor);
  CHECK(down.t == 0);
  CHECK(map_ground_below(*map, heights, from, 0.3, floor) == floor);
  // 40 units of gate are too low for 56 units of body.
  const DVec2 before_gate = map->to_world({384, 50});
  const SweepHit gate = map_sweep(*map, heights, player, {before_gate.x, before_gate.y, floor}, {0, 1, 0});
  CHECK(gate.kind == ContactKind::map_wall);
  CHECK(gate.normal.y == -1);
}

TEST_CASE("a ray meets what crossing every line finds", "[world][bsp]") {
  const auto map = place_obstacles({-57, 91}, 3);
  const HeightsView heights = map->initial_heights();
  Rng rng = rng_for(10, 0);
  int hits = 0;
  for (int i = 0; i < 20000; ++i) {
    const DVec3 origin = random_point(rng, *map, 0);
    const DVec3 direction = random_direction(rng, 0.5);
    if (origin.z <= map->box().min.z) continue;
    double clear = 0;
    brute_sector(map->source(), map->to_map(xy(origin)), clear);
    if (clear < 0.01) continue;
    // The walk in the test knows nothing of the box's sides and bottom: stop short of them.
    double t_max = 30;
    for (int axis = 0; axis < 3; ++axis) {
      const double at = axis == 0 ? origin.x : axis == 1 ? origin.y : origin.z;
      const double speed = axis == 0 ? direction.x : axis == 1 ? direction.y : direction.z;
      const double low = axis == 0 ? map->box().min.x : axis == 1 ? map->box().min.y : map->box().min.z;
      const double high = axis == 0 ? map->box().max.x : axis == 1 ? map->box().max.y : map->box().max.z + 5;
      if (speed > 0) t_max = std::min(t_max, (high - at) / speed);
      if (speed < 0) t_max = std::min(t_max, (low - at) / speed);
    }
    const RayHit hit = map_ray(*map, heights, origin, direction, t_max);
    const double expected = brute_ray(*map, heights, origin, direction, t_max);
    CAPTURE(i, origin.x, origin.y, origin.z, direction.x, direction.y, direction.z, t_max);
    if (expected > t_max - 1e-6) {
      REQUIRE((!hit.hit() || hit.t_m > t_max - 1e-5));
      continue;
    }
    REQUIRE(hit.hit());
    REQUIRE(std::fabs(hit.t_m - expected) < 1e-7);
    ++hits;
  }
  CHECK(hits > 10000);
}

TEST_CASE("correction frees a body by the shortest way that probing finds", "[world][bsp]") {
  const auto map = place_obstacles({-57, 91}, 3);
  const HeightsView heights = map->initial_heights();
  Rng rng = rng_for(11, 0);
  int freed = 0;
  for (int i = 0; i < 3000; ++i) {
    const Cylinder shape{0.3, 1.75};
    const DVec3 base = random_point(rng, *map, 0);
    if (!map_overlaps(*map, heights, shape, base)) continue;
    const double reach = 1.0;
    const auto out = map_correct(*map, heights, shape, base, reach);
    CAPTURE(i, base.x, base.y, base.z);
    if (out) {
      REQUIRE(length(*out) <= reach + 1e-9);
      REQUIRE_FALSE(map_overlaps(*map, heights, shape, base + *out));
      ++freed;
    }
    // No shorter way among 64 bearings and the two uprights.
    const double best = out ? length(*out) - 1e-4 : reach;
    for (int k = 0; k < 66; ++k) {
      const DVec2 bearing = heading(Turn16{static_cast<std::uint16_t>(k * 1024)});
      const DVec3 way = k == 64 ? DVec3{0, 0, 1} : k == 65 ? DVec3{0, 0, -1} : DVec3{bearing.x, bearing.y, 0};
      for (const double part : {0.25, 0.5, 0.75, 0.999})
        REQUIRE((best <= 0 || map_overlaps(*map, heights, shape, base + way * (best * part))));
    }
  }
  CHECK(freed > 300);
}
