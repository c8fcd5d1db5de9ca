#include "tests/world/bsp/maps.h"
#include "world/bsp/column.h"
#include "world/bsp/placed_map.h"
#include "world/bsp/visibility.h"
#include "world/math/random.h"
#include "world/onlooker.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

#if defined(ASHLAR_SLOW_ASSERTS) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int map_stride = 8, pairs_per_map = 20000;
#else
constexpr int map_stride = 1, pairs_per_map = 200000;
#endif

std::shared_ptr<const PlacedMap> place_with_set(const SectorMap& map) {
  PlaceOptions options;
  options.visibility = true;
  options.doorway = false;
  return must_place(map, options);
}

/// What the sets alone say of a thing of no size, for eyes that are where they are.
bool may_see(const PlacedMap& map, DVec3 from, DVec3 to) {
  const MapInSpace in_space{&map, map.initial_heights()};
  Onlooker eyes;
  OpenRooms rooms;
  rooms.update(*in_space.map, in_space.heights);
  eyes.look_from({&in_space, 1}, {&rooms, 1}, from, 0);
  std::vector<SightPlace> places;
  sight_places({&in_space, 1}, to, 0, 0, places);
  for (const SightPlace place : places)
    if (eyes.may_see(place)) return true;
  return false;
}

/// A random place a little above the floor of a random leaf, seldom under a roof's edge.
struct Spots {
  const PlacedMap& map;
  std::vector<std::vector<std::uint32_t>> leaves;  ///< by sector

  explicit Spots(const PlacedMap& placed) : map(placed), leaves(placed.source().sectors.size()) {
    for (std::uint32_t i = 0; i < map.tree().leaves.size(); ++i) {
      const BspTree::Leaf& l = map.tree().leaves[i];
      if (l.sector != no_index && l.corner_count > 2) leaves[l.sector].push_back(i);
    }
  }
  DVec3 draw(Rng& rng, std::uint32_t sector) const {
    const auto& own = leaves[sector];
    const BspTree::Leaf& leaf = map.tree().leaves[own[rng.below(static_cast<std::uint32_t>(own.size()))]];
    DVec2 p{};
    double weights = 0;
    for (std::uint32_t i = 0; i < leaf.corner_count; ++i) {
      const double w = rng.unit() + 0.01;
      p = p + map.tree().corners[leaf.first_corner + i] * w;
      weights += w;
    }
    const DVec2 at = map.to_world(p * (1 / weights));
    return {at.x, at.y, map.initial_heights()[sector].floor_m + rng.between(0.03, 1.9)};
  }
};

}  // namespace

TEST_CASE("the visibility set never hides a pair that sees each other, and hides most that do not",
          "[world][bsp][visibility][freedoom]") {
  int number = 0;
  std::size_t unjoined_all = 0, hidden_all = 0;
  std::vector<std::pair<double, std::string>> poor;  // share hidden, map
  for (const WadStack& wads : freedoom()) {
    for (const std::string& name : map_names(wads)) {
      if (number++ % map_stride != 0) continue;
      const SectorMap map = must_read(wads, name);
      if (map_stride > 1 && map.lines.size() > 4000) continue;
      const auto placed = place_with_set(map);
      PlaceOptions plain;
      plain.doorway = false;
      const auto without = must_place(map, plain);
      const Spots spots(*placed);
      const auto sectors = static_cast<std::uint32_t>(map.sectors.size());
      std::vector<std::uint8_t> joined(static_cast<std::size_t>(sectors) * sectors, 0);
      Rng rng = rng_for(40, static_cast<std::uint64_t>(number));
      int wrong = 0, seen = 0;
      for (int i = 0; i < pairs_per_map; ++i) {
        const std::uint32_t a = rng.below(sectors);
        const std::uint32_t b = rng.below(sectors);
        if (spots.leaves[a].empty() || spots.leaves[b].empty()) continue;
        const DVec3 from = spots.draw(rng, a), to = spots.draw(rng, b);
        if (!map_sees(*without, without->initial_heights(), from, to)) continue;
        ++seen;
        joined[static_cast<std::size_t>(a) * sectors + b] =
            joined[static_cast<std::size_t>(b) * sectors + a] = 1;
        if (!may_see(*placed, from, to) || !map_sees(*placed, placed->initial_heights(), from, to)) ++wrong;
      }
      CAPTURE(name);
      CHECK(seen > pairs_per_map / 10000);
      CHECK(wrong == 0);
      std::size_t unjoined = 0, hidden = 0;
      for (std::uint32_t a = 0; a < sectors; ++a) {
        for (std::uint32_t b = 0; b < sectors; ++b) {
          if (joined[static_cast<std::size_t>(a) * sectors + b] != 0 || a == b) continue;
          ++unjoined;
          hidden += placed->visibility()->sees(a, b) ? 0 : 1;
        }
      }
      unjoined_all += unjoined, hidden_all += hidden;
      const double share =
          static_cast<double>(hidden) / static_cast<double>(std::max<std::size_t>(unjoined, 1));
      if (share < 0.8) poor.emplace_back(share, name);
    }
  }
  std::sort(poor.begin(), poor.end());
  // The set counts eyes at any height under any ceiling, and the samples stand near the floor: in small maps
  // with courts and deep halls that is most of what is left.
  const std::string poorest = poor.empty() ? "" : poor.front().second;
  CAPTURE(unjoined_all, hidden_all, poor.size(), poorest);
  CHECK(hidden_all * 10 >= unjoined_all * (map_stride == 1 ? 9 : 8));
  CHECK(poor.size() <= 7);
  if (!poor.empty()) CHECK(poor.front().first > 0.4);
}

TEST_CASE("line of sight is what a ray finds", "[world][bsp][visibility]") {
  const auto placed = place_with_set(obstacle_map());
  const HeightsView heights = placed->initial_heights();
  const BlockBox& b = placed->box();
  Rng rng = rng_for(41, 0);
  int seen = 0;
  for (int i = 0; i < 20000; ++i) {
    DVec3 p[2];
    for (DVec3& v : p) {
      const double x = rng.between(b.min.x - 2, b.max.x + 2);
      const double y = rng.between(b.min.y - 2, b.max.y + 2);
      v = {x, y, rng.between(b.min.z - 1, b.max.z + 3)};
    }
    const DVec3 way = p[1] - p[0];
    const double distance = length(way);
    const RayHit hit = map_ray(*placed, heights, p[0], way * (1 / distance), distance);
    const bool sees = map_sees(*placed, heights, p[0], p[1]);
    CAPTURE(i, p[0].x, p[0].y, p[0].z, p[1].x, p[1].y, p[1].z, hit.t_m, distance);
    REQUIRE((sees == !hit.hit() || std::fabs(hit.t_m - distance) < 1e-9));
    if (!sees) continue;
    ++seen;
    REQUIRE(may_see(*placed, p[0], p[1]));
    REQUIRE(may_see(*placed, p[1], p[0]));
  }
  CHECK(seen > 2000);
}

TEST_CASE("rooms behind a corner are hidden from each other, and courts are seen from above",
          "[world][bsp][visibility]") {
  // A hook: who leaves the first room goes east and cannot look back west into the court.
  MapWriter w;
  const auto first = w.sector(0, 128), middle = w.sector(0, 128), last = w.sector(0, 128);
  const auto court = w.sector(0, 128, true);
  w.line({0, 128}, {256, 128}, first);
  w.line({256, 128}, {256, 0}, first, middle);
  w.line({256, 0}, {0, 0}, first);
  w.line({0, 0}, {0, 128}, first);
  w.line({256, 128}, {384, 128}, middle);
  w.line({384, 128}, {384, 0}, middle);
  w.line({384, 0}, {272, 0}, middle, last);
  w.line({272, 0}, {256, 0}, middle);
  w.line({384, 0}, {384, -256}, last);
  w.line({384, -256}, {272, -256}, last);
  w.line({272, -256}, {272, -192}, last, court);
  w.line({272, -192}, {272, 0}, last);
  w.line({200, -192}, {272, -192}, court);
  w.line({272, -256}, {200, -256}, court);
  w.line({200, -256}, {200, -192}, court);
  const SectorVisibility set = compute_visibility(w.map, build_bsp(w.map));
  CHECK(set.sees(first, middle));
  CHECK(set.sees(middle, last));
  CHECK(set.sees(last, court));
  CHECK(set.sees(middle, court));
  CHECK(set.sees(first, last));  // through the middle room, past the corner
  CHECK_FALSE(set.sees(first, court));
  CHECK(set.from_above[last] == 1);
  CHECK(set.from_above[first] == 0);
}

TEST_CASE("sight through a point between the corners of two walls is in the set",
          "[world][bsp][visibility]") {
  // Two rooms that touch in one corner, each with its own sector.
  MapWriter w;
  const auto low = w.sector(0, 128), high = w.sector(0, 128);
  w.ring({{0, 0}, {0, 128}, {128, 128}, {128, 0}}, low);
  w.ring({{128, 128}, {128, 256}, {256, 256}, {256, 128}}, high);
  w.map.name = "PINCH";
  const auto with = place_with_set(w.map);
  PlaceOptions plain;
  plain.doorway = false;
  const auto without = must_place(w.map, plain);
  const DVec2 a = with->to_world({64, 64}), b = with->to_world({192, 192});
  const double z = with->z_to_world(41);
  const bool seen = map_sees(*without, without->initial_heights(), {a.x, a.y, z}, {b.x, b.y, z});
  CHECK(map_sees(*with, with->initial_heights(), {a.x, a.y, z}, {b.x, b.y, z}) == seen);
  CHECK(with->visibility()->sees(low, high));
}

TEST_CASE("an opening that no mover can open is none in the set, and one that a lift may open is",
          "[world][bsp][visibility]") {
  // Two rooms whose heights do not meet: the upper one's floor is above the lower one's ceiling.
  const bool lift = GENERATE(false, true);
  MapWriter w;
  const auto low = w.sector(0, 64), high = w.sector(128, 256);
  w.line({0, 128}, {128, 128}, low);
  w.line({128, 128}, {128, 0}, low, high);
  w.line({128, 0}, {0, 0}, low);
  w.line({0, 0}, {0, 128}, low);
  w.line({128, 128}, {256, 128}, high);
  w.line({256, 128}, {256, 0}, high);
  w.line({256, 0}, {128, 0}, high);
  if (lift) {
    w.map.sectors[high].tag = 7;
    w.map.lines[0].special = 62;  // a lift by switch
    w.map.lines[0].tag = 7;
  }
  CHECK(compute_visibility(w.map, build_bsp(w.map)).sees(low, high) == lift);
}
