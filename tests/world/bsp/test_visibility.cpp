#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/bsp/sight_lines.h"
#include "world/bsp/column.h"
#include "world/bsp/open_doors.h"
#include "world/bsp/placed_map.h"
#include "world/bsp/visibility.h"
#include "world/bsp/widest_heights.h"
#include "world/collide/visibility_query.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

#ifdef ASHLAR_SLOW_BUILD
constexpr int map_stride = 8, pairs_per_map = 20000, lines_anywhere_per_map = 2000, lines_per_map_max = 20000;
#else
constexpr int map_stride = 1, pairs_per_map = 40000, lines_anywhere_per_map = 10000,
              lines_per_map_max = 40000;
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
  VisibilityQuery eyes;
  OpenRooms rooms;
  rooms.update(*in_space.map, in_space.heights);
  eyes.look_from({&in_space, 1}, {&rooms, 1}, from, 0);
  std::vector<SightPlace> places;
  sight_places({&in_space, 1}, to, 0, 0, places);
  for (const SightPlace place : places)
    if (eyes.may_see(place)) return true;
  return false;
}

/// A random place in a random leaf, a little above its floor or anywhere up to its ceiling.
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
    const SectorHeights& h = map.initial_heights()[sector];
    const double top = map.open_to_sky(sector, h) ? map.roof_m() : h.ceiling_m;
    const bool low = rng.below(2) == 0 || top - h.floor_m < 0.1;
    return {at.x, at.y, h.floor_m + (low ? rng.between(0.03, 1.9) : rng.unit() * (top - h.floor_m))};
  }
};

/// Heights, map units, of which all are in the map's rock: sky is open to the roof.
std::vector<DrawnHeights> within_rock(const PlacedMap& map, std::vector<DrawnHeights> heights) {
  const double bottom = map.z_to_map(map.box().min.z), roof = map.z_to_map(map.roof_m());
  for (std::uint32_t s = 0; s < heights.size(); ++s) {
    heights[s].floor = std::max(heights[s].floor, bottom);
    heights[s].ceiling = map.sky(s) ? roof : std::min(heights[s].ceiling, roof);
  }
  return heights;
}

/// Spends lines on the pairs that the set says may see each other and that no line has joined yet, a line for
/// each in turn; and some on any pair.
void shoot_where_unjoined(SightLines& lines, const SectorVisibility& set, Rng& rng) {
  for (int i = 0; i < lines_anywhere_per_map; ++i) {
    const std::uint32_t a = rng.below(set.sectors), b = rng.below(set.sectors);
    if (lines.anywhere(a) && lines.anywhere(b)) lines.shoot(rng, a, b);
  }
  int left = lines_per_map_max;
  for (int round = 0; round < 30; ++round) {
    for (std::uint32_t a = 0; a < set.sectors; ++a) {
      if (!lines.anywhere(a)) continue;
      for (std::uint32_t b = a + 1; b < set.sectors; ++b) {
        if (!set.sees(a, b) || lines.joined(a, b) || !lines.anywhere(b)) continue;
        if (--left < 0) return;
        lines.shoot(rng, a, b);
      }
    }
  }
}

/// Calls visit as each_freedoom_map does, for the maps that this build looks at.
template <typename Visit>
int each_map(Visit&& visit) {
  const auto look = [&](const SectorMap& map, const std::string& name, std::uint64_t number) {
    if (map_stride == 1 || map.lines.size() <= 4000) visit(map, name, number);
  };
  return each_freedoom_map(look, map_stride);
}

}  // namespace

TEST_CASE("who sees each other in a map as it was placed is not hidden by its visibility set",
          "[world][bsp][visibility][freedoom]") {
  each_map([](const SectorMap& map, const std::string& name, std::uint64_t number) {
    const auto placed = place_with_set(map);
    PlaceOptions plain;
    plain.doorway = false;
    const auto without = must_place(map, plain);
    const Spots spots(*placed);
    const auto sectors = static_cast<std::uint32_t>(map.sectors.size());
    Rng rng = rng_for(40, number);
    int wrong = 0, seen = 0;
    for (int i = 0; i < pairs_per_map; ++i) {
      const std::uint32_t a = rng.below(sectors);
      const std::uint32_t b = rng.below(sectors);
      if (spots.leaves[a].empty() || spots.leaves[b].empty()) continue;
      const DVec3 from = spots.draw(rng, a), to = spots.draw(rng, b);
      if (!map_sees(*without, without->initial_heights(), from, to)) continue;
      ++seen;
      if (!may_see(*placed, from, to) || !map_sees(*placed, placed->initial_heights(), from, to)) ++wrong;
    }
    CAPTURE(name);
    CHECK(seen > pairs_per_map / 10000);
    CHECK(wrong == 0);
  });
}

TEST_CASE("the visibility set never hides sectors that a line joins, and hides most that no line does",
          "[world][bsp][visibility][freedoom]") {
  // Lines under the widest heights, which movers may open, and under those that maps are placed with.
  struct Tally {
    std::size_t unjoined = 0, hidden = 0;
    double poorest = 1;
    std::string where;
  } widest, placed_open;
  const int maps = each_map([&](const SectorMap& map, const std::string& name, std::uint64_t number) {
    const auto placed = place_with_set(map);
    const SectorVisibility& set = *placed->visibility();
    CAPTURE(name);
    for (Tally* tally : {&widest, &placed_open}) {
      const std::vector<DrawnHeights> heights =
          within_rock(*placed, tally == &widest ? widest_heights(map) : heights_with_open_doors(map));
      SightLines lines(placed->tree(), heights);
      Rng rng = rng_for(44, number);
      shoot_where_unjoined(lines, set, rng);
      std::size_t wrong = 0, unjoined = 0, hidden = 0;
      for (std::uint32_t a = 0; a < set.sectors; ++a) {
        for (std::uint32_t b = a + 1; b < set.sectors; ++b) {
          const bool hides = !set.sees(a, b);
          if (lines.joined(a, b)) {
            wrong += hides ? 1 : 0;
          } else {
            ++unjoined;
            hidden += hides ? 1 : 0;
          }
        }
      }
      CHECK(wrong == 0);
      tally->unjoined += unjoined, tally->hidden += hidden;
      const double share =
          static_cast<double>(hidden) / static_cast<double>(std::max<std::size_t>(unjoined, 1));
      if (share < tally->poorest) tally->poorest = share, tally->where = name;
    }
  });
  if (maps == 0) return;
  const auto share = [](const Tally& t) {
    return static_cast<double>(t.hidden) / static_cast<double>(t.unjoined);
  };
  CAPTURE(share(widest), widest.poorest, widest.where);
  CAPTURE(share(placed_open), placed_open.poorest, placed_open.where);
  CHECK(share(widest) > 0.95);
  CHECK(widest.poorest > 0.85);
  // Some halls are full of pillars that go down later: MAP07 and E3M8 have most of what is left.
  CHECK(share(placed_open) > 0.95);
  CHECK(placed_open.poorest > 0.6);
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

TEST_CASE("eyes that answer alike say the same of every place, and those in one room often do",
          "[world][visibility]") {
  const auto map = place_with_set(builtin_map());
  const MapInSpace in_space{map.get(), map->initial_heights()};
  OpenRooms rooms;
  rooms.update(*in_space.map, in_space.heights);
  const Spots spots(*map);
  const auto sectors = static_cast<std::uint32_t>(map->source().sectors.size());
  Rng rng{24};
  std::vector<VisibilityQuery> eyes;
  while (eyes.size() < 120) {
    const std::uint32_t sector = rng.below(sectors);
    if (spots.leaves[sector].empty()) continue;
    eyes.emplace_back().look_from({&in_space, 1}, {&rooms, 1}, spots.draw(rng, sector), rng.below(2) * 2.0);
  }
  std::size_t alike = 0;
  for (std::size_t a = 0; a < eyes.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      REQUIRE(eyes[a].answers_like(eyes[b]) == eyes[b].answers_like(eyes[a]));
      if (!eyes[a].answers_like(eyes[b])) continue;
      ++alike;
      for (std::uint32_t s = 0; s < sectors; ++s) REQUIRE(eyes[a].may_see({0, s}) == eyes[b].may_see({0, s}));
      REQUIRE(eyes[a].may_see({SightPlace::outdoors, 0}) == eyes[b].may_see({SightPlace::outdoors, 0}));
    }
  CHECK(alike > eyes.size());
  CHECK(alike < eyes.size() * eyes.size() / 2);
}
