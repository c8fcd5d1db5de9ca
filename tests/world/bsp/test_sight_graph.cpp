#include "world/bsp/sight_graph.h"

#include "tests/world/bsp/maps.h"
#include "world/bsp/visibility.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

struct Counts {
  int seen = 0, unseen = 0, parted = 0;
};

/// Random pairs of points in a map: who sees is never parted, whatever the boxes around them.
Counts compare(const PlacedMap& map, HeightsView heights, std::uint64_t seed, int pairs) {
  const SightGraph graph(map);
  SightGraph::Scratch scratch;
  Rng rng = rng_for(seed, 78);
  const BlockBox& box = map.box();
  const auto place = [&](DVec3 low, DVec3 high) {
    DVec3 p;
    for (int tries = 0; tries < 200; ++tries) {
      p.x = rng.between(low.x, high.x);
      p.y = rng.between(low.y, high.y);
      p.z = rng.between(low.z, high.z);
      if (!map_solid(map, heights, p)) break;
    }
    return p;
  };
  const DVec3 low{box.min.x + 1.0, box.min.y + 1.0, box.min.z + 1.0},
      high{box.max.x - 1.0, box.max.y - 1.0, box.max.z - 1.0};
  Counts out;
  for (int i = 0; i < pairs; ++i) {
    const DVec3 a = place(low, high);
    const DVec3 reach{20, 20, 4};
    DVec3 b =
        place({std::max(low.x, a.x - reach.x), std::max(low.y, a.y - reach.y), std::max(low.z, a.z - 4)},
              {std::min(high.x, a.x + reach.x), std::min(high.y, a.y + reach.y), std::min(high.z, a.z + 4)});
    if (i % 4 == 0) {  // from a room to the open
      b.z = box.max.z + rng.between(1.5, 12);
      b.x += rng.between(-30, 30);
    }
    const double half = rng.between(0, 1);
    const DVec3 half3{half, half, half};
    const Aabb from{a - half3, a + half3}, to{b - half3 * 0.5, b + half3 * 0.5};
    const bool may = graph.may_see(from, to, scratch);
    REQUIRE(may == graph.may_see(to, from, scratch));
    if (map_sees(map, heights, a, b)) {
      CAPTURE(a.x, a.y, a.z, b.x, b.y, b.z, half);
      REQUIRE(may);
      ++out.seen;
    } else {
      ++out.unseen;
      out.parted += may ? 0 : 1;
    }
  }
  return out;
}

struct Confinements {
  int begun = 0, cut = 0;
};

/// Points that go about within boxes by straight ways through what is open never leave the part that walls
/// leave to them.
Confinements go_about(const PlacedMap& map, HeightsView heights, std::uint64_t seed, int boxes) {
  const SightGraph graph(map);
  SightGraph::Scratch scratch;
  Rng rng = rng_for(seed, 84);
  const BlockBox& all = map.box();
  const auto in = [&rng](const Aabb& box) {
    DVec3 p;
    p.x = rng.between(box.min.x, box.max.x);
    p.y = rng.between(box.min.y, box.max.y);
    p.z = rng.between(box.min.z, box.max.z);
    return p;
  };
  const DVec3 low{all.min.x + 4.0, all.min.y + 4.0, all.min.z + 4.0},
      high{all.max.x - 4.0, all.max.y - 4.0, all.max.z - 4.0};
  Confinements out;
  for (int n = 0; n < boxes; ++n) {
    DVec3 at = in({low, high});
    if (map_solid(map, heights, at)) continue;
    ++out.begun;
    const DVec3 reach{rng.between(0.2, 3), rng.between(0.2, 3), rng.between(0.2, 3)};
    const Aabb box{at - reach, at + reach}, part = graph.confined({at, at}, box, scratch);
    const DVec3 side = part.max - part.min;
    out.cut += side.x * side.y < 0.8 * 4 * reach.x * reach.y ? 1 : 0;
    for (int step = 0; step < 30; ++step) {
      const DVec3 to = in(box);
      if (!map_sees(map, heights, at, to)) continue;
      at = to;
      CAPTURE(n, step, at.x, at.y, part.min.x, part.max.x, part.min.y, part.max.y);
      REQUIRE((at.x >= part.min.x && at.x <= part.max.x && at.y >= part.min.y && at.y <= part.max.y));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("who goes about in a box of a map stays in the part that walls leave",
          "[world][bsp][sight_graph]") {
  const auto map = must_place(builtin_map());
  const Confinements one = go_about(*map, map->initial_heights(), 5, 20'000);
  CAPTURE(one.begun, one.cut);
  CHECK(one.begun > 300);
  CHECK(one.cut > one.begun / 20);
  each_freedoom_map(
      [&](const SectorMap& source, const std::string&, std::uint64_t seed) {
        const auto placed = must_place(source);
        go_about(*placed, placed->initial_heights(), seed, 2'000);
      },
      20);
}

TEST_CASE("no line of sight in a map joins boxes that are said to be parted", "[world][bsp][sight_graph]") {
  const auto map = must_place(builtin_map());
  const Counts counts = compare(*map, map->initial_heights(), 1, 4'000);
  CAPTURE(counts.seen, counts.unseen, counts.parted);
  CHECK(counts.seen > 100);
}

TEST_CASE("nor in Freedoom's maps, and most pairs that rock parts are known to be",
          "[world][bsp][sight_graph][freedoom]") {
  Counts all;
  int taken = 0;
  each_freedoom_map(
      [&](const SectorMap& map, const std::string&, std::uint64_t seed) {
        ++taken;
        const auto placed = must_place(map);
        const Counts one = compare(*placed, placed->initial_heights(), seed, 2'000);
        all.seen += one.seen, all.unseen += one.unseen, all.parted += one.parted;
      },
      20);
  CAPTURE(all.seen, all.unseen, all.parted);
  if (taken > 0) CHECK(2 * all.parted > all.unseen);
}
