#include "world/collide/correct.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/voxel_worlds.h"
#include "world/collide/block_queries.h"
#include "world/collide/stepped.h"
#include "world/collide/surroundings.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

/// Depth of a cylinder in the block at the origin by definition; negative where free.
double depth_in_block(const Cylinder& s, DVec3 p) {
  const double dx = std::fabs(p.x - 0.5) - 0.5, dy = std::fabs(p.y - 0.5) - 0.5;
  const double outside = std::hypot(std::max(dx, 0.0), std::max(dy, 0.0));
  const double flat = s.radius_m - (outside > 0 ? outside : std::max(dx, dy));
  return std::min(flat, std::min(1 - p.z, p.z + s.height_m));
}

}  // namespace

TEST_CASE("a cylinder's correction from one block is the least translation that separates",
          "[world][collide][correct]") {
  Rng rng{1};
  unsigned apart = 0, shorter = 0, wrong = 0, met = 0;
  for (int i = 0; i < 30000; ++i) {
    Cylinder shape;
    shape.radius_m = rng.between(0.05, 1.2);
    shape.height_m = rng.between(0.1, 2.5);
    DVec3 p;
    p.x = rng.between(-1, 2);
    p.y = rng.between(-1, 2);
    p.z = rng.between(-2, 1.2);
    switch (rng.below(8)) {  // the axis on an edge, on a face's plane, in the middle
      case 0: p.x = 0, p.y = 1; break;
      case 1: p.x = 1; break;
      case 2: p.x = p.y = 0.5; break;
      default: break;
    }
    const double depth = depth_in_block(shape, p);
    const DVec3 out = correct_block(shape, p);
    wrong += !is_finite(out);
    if (depth <= 0) {
      wrong += out != DVec3{};
      continue;
    }
    ++met;
    const double size = length(out);
    apart += depth_in_block(shape, p + out) > 1e-9;
    // By definition the depth is the least distance out; and no shorter push of many directions separates.
    wrong += std::fabs(size - depth) > 1e-9;
    for (int k = 0; k < 24; ++k) {
      DVec3 d;
      d.x = rng.between(-1, 1);
      d.y = rng.between(-1, 1);
      d.z = k % 3 == 0 ? rng.between(-1, 1) : 0;
      const double l = length(d);
      if (l > 1e-3) shorter += depth_in_block(shape, p + d * (0.999 * size / l)) <= 0;
    }
  }
  CHECK(met > 10000);
  CHECK(wrong == 0);
  CHECK(apart == 0);
  CHECK(shorter == 0);
}

TEST_CASE("a cylinder's correction mirrors and swaps with its block", "[world][collide][correct]") {
  Rng rng{2};
  unsigned wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    const Cylinder shape{rng.between(0.1, 0.9), 1.75};
    DVec3 p;
    p.x = rng.between(-0.8, 1.8);
    p.y = rng.between(-0.8, 1.8);
    p.z = rng.between(-1.7, 1);
    const DVec3 a = correct_block(shape, p);
    const DVec3 mirrored = correct_block(shape, {1 - p.x, p.y, p.z});
    const DVec3 swapped = correct_block(shape, {p.y, p.x, p.z});
    wrong += length(DVec3{-mirrored.x, mirrored.y, mirrored.z} - a) > 1e-12;
    wrong += length(DVec3{swapped.y, swapped.x, swapped.z} - a) > 1e-12;
  }
  CHECK(wrong == 0);
}

TEST_CASE("nothing overlaps after a correction in random worlds", "[world][collide][correct]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const int density = GENERATE(5, 20, 40);
  CAPTURE(offset, density);
  const auto chunk = static_cast<std::int32_t>(offset / 32);
  const VoxelVolume volume = make_volume({chunk, 0, 0}, {1, 1, 1}, [&](IVec3 b) {
    return random_block(8, {b.x - chunk * 32, b.y, b.z}, density / 100.0);
  });
  Rng rng{static_cast<std::uint64_t>(density)};
  const Cylinder shape;
  const RoundedBox rounded = rounded_box_of(shape);
  unsigned corrected = 0, wrong = 0, far = 0, free_moved = 0;
  for (int i = 0; i < 10000; ++i) {
    DVec3 p;
    p.x = chunk * 32 + rng.between(3, 29);
    p.y = rng.between(3, 29);
    p.z = rng.between(3, 27);
    BlockWindow window;
    Aabb b = bounds_of(shape, p);
    b.min -= DVec3{1, 1, 1};
    b.max += DVec3{1, 1, 1};
    const BlockRange range = blocks_of(b);
    fill_window(volume, range.low, range.high, window);
    const auto out = window_correct(window, shape, p, 0.6);
    if (!blocks_overlap(volume, rounded, p)) free_moved += !out || *out != DVec3{};
    if (!out) continue;
    corrected += *out != DVec3{};
    far += length(*out) > 0.6;
    const RoundedBox smaller{0, 0, shape.radius_m - 1e-4, shape.height_m - 2e-4};
    wrong += blocks_overlap(volume, smaller, p + *out + DVec3{0, 0, 1e-4});
  }
  CHECK(corrected > 500);
  CHECK(wrong == 0);
  CHECK(far == 0);
  CHECK(free_moved == 0);
}

TEST_CASE("who falls along a wall and presses into it lands", "[world][collide][correct]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 || b.x == -1; });
  const Space space{&volume, {}};
  const Cylinder player;
  const DVec3 from{0.3, 0.5, 0.03}, step{-0.04, 0, -0.09};
  const Surroundings around(space, player, {from - DVec3{2, 2, 2}, from + DVec3{2, 2, 4}});
  const auto out = around.correct(from + step, 0.3);
  REQUIRE(out);
  CHECK(length(*out - DVec3{0.04, 0, 0.06}) < 1e-9);
  ContactList contacts;
  const SlideEnd end = stepped_motion(around, from, step * 60, step, 1.0 / 60, contacts);
  CHECK(length(end.position_m - DVec3{0.3, 0.5, 0}) < 1e-9);
  CHECK(end.met_floor);
  CHECK(end.met_wall);
  CHECK(length(end.velocity_mps - DVec3{0, 0, -1.8}) < 1e-6);  // what it did, in a sixtieth of a second
}

TEST_CASE("no free place is nearer than a correction, and none is missed",
          "[world][collide][correct][property]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const double density = GENERATE(0.1, 0.3, 0.6);
  CAPTURE(offset, density);
  const auto chunk = static_cast<std::int32_t>(offset / 32);
  const VoxelVolume volume = make_volume({chunk, 0, 0}, {1, 1, 1}, [&](IVec3 b) {
    return random_block(18, {b.x - chunk * 32, b.y, b.z}, density);
  });
  Rng rng{static_cast<std::uint64_t>(70 + density * 10)};
  // By definition: the deepest of all blocks near, each by hand.
  const auto depth = [&](const Cylinder& s, DVec3 p) {
    double deepest = -1;
    const IVec3 low = block_at(p - DVec3{s.radius_m, s.radius_m, 0});
    const IVec3 high = block_at(p + DVec3{s.radius_m, s.radius_m, s.height_m});
    for (int z = low.z; z <= high.z; ++z)
      for (int y = low.y; y <= high.y; ++y)
        for (int x = low.x; x <= high.x; ++x)
          if (volume.solid({x, y, z}))
            deepest = std::max(deepest, depth_in_block(s, p - to_dvec3(IVec3{x, y, z})));
    return deepest;
  };
  unsigned found = 0, none = 0, wrong = 0, nearer = 0, missed = 0;
  for (int i = 0; i < cases(1500); ++i) {
    const Cylinder shape{rng.between(0.1, 0.9), rng.between(0.2, 2.2)};
    DVec3 p;
    p.x = chunk * 32 + rng.between(4, 28);
    p.y = rng.between(4, 28);
    p.z = rng.between(4, 26);
    if (depth(shape, p) <= contact_slop_m) continue;
    const double reach = rng.between(0.05, 0.8);
    BlockWindow window;
    Aabb b = bounds_of(shape, p);
    b.min -= DVec3{reach, reach, reach}, b.max += DVec3{reach, reach, reach};
    const BlockRange range = blocks_of(b);
    fill_window(volume, range.low, range.high, window);
    const auto out = window_correct(window, shape, p, reach);
    const double size = out ? length(*out) : reach;
    wrong += out && (size > reach + 1e-9 || depth(shape, p + *out) > contact_slop_m + 1e-9);
    ++(out ? found : none);
    // A finger's width of free places that is nearer would be met now and then.
    for (int k = 0; k < 100; ++k) {
      DVec3 d;
      d.x = rng.below(3) == 0 ? 0 : rng.between(-1, 1);
      d.y = rng.below(3) == 0 ? 0 : rng.between(-1, 1);
      d.z = rng.below(3) == 0 ? 0 : rng.between(-1, 1);
      const double l = length(d);
      if (l < 1e-3) continue;
      d = d * ((size - 1e-6) * std::sqrt(rng.unit()) / l);
      if (depth(shape, p + d) <= 0) ++(out ? nearer : missed);
    }
  }
  CHECK(found > 100);
  CHECK(none > 20);
  CHECK(wrong == 0);
  CHECK(nearer == 0);
  CHECK(missed == 0);
}

TEST_CASE("a point leaves its block by the nearest free neighbour", "[world][collide][correct]") {
  const double offset = GENERATE(0.0, 1000000.0, -1000000.0);
  const auto chunk = static_cast<std::int32_t>(std::floor(offset / 32));
  const VoxelVolume volume = make_volume({chunk - 1, -1, -1}, {3, 2, 2}, [&](IVec3 b) {
    return random_block(4, {b.x - chunk * 32, b.y, b.z}, 0.6);
  });
  Rng rng{6};
  unsigned inside = 0, wrong = 0, still_in = 0, enclosed = 0;
  for (int i = 0; i < 20000; ++i) {
    DVec3 p;
    p.x = offset + rng.between(-10, 10);
    p.y = rng.between(-10, 10);
    p.z = rng.between(-10, 10);
    const double extra = rng.below(2) == 0 ? 0.0 : 1e-12;
    const PointCorrection c = correct_point(volume, p, extra);
    const IVec3 block = block_at(p);
    if (!volume.solid(block)) {
      wrong += c.moved || c.point != p;
      continue;
    }
    ++inside;
    // The twin: every neighbour, distance by hand.
    double best = 1e9;
    for (int z = -1; z <= 1; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) {
          if ((x == 0 && y == 0 && z == 0) || volume.solid(block + IVec3{x, y, z})) continue;
          const DVec3 l = p - to_dvec3(block);
          const auto gap = [](int d, double v) { return d < 0 ? v : d > 0 ? 1 - v : 0; };
          const int axes = (x != 0) + (y != 0) + (z != 0);
          best = std::min(best, std::max({gap(x, l.x), gap(y, l.y), gap(z, l.z)}) + 0.01 * (axes - 1));
        }
    if (best > 1e8) {
      enclosed += c.free;
      continue;
    }
    const DVec3 d = c.point - p;
    const int axes = (d.x != 0) + (d.y != 0) + (d.z != 0);
    const double distance = std::max({std::fabs(d.x), std::fabs(d.y), std::fabs(d.z)}) + 0.01 * (axes - 1);
    wrong += !c.moved || std::fabs(distance - best) > 1e-8;
    still_in += block_at(c.point) == block || volume.solid(block_at(c.point));
  }
  CHECK(inside > 5000);
  CHECK(wrong == 0);
  CHECK(still_in == 0);
  CHECK(enclosed == 0);
}

TEST_CASE("a stepped point never crosses a wall whose blocks share faces", "[world][collide][stepped]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.x == 3 || b.z == -5; });
  Rng rng{3};
  unsigned crossed = 0;
  for (int i = 0; i < 3000; ++i) {
    DVec3 p;
    p.x = rng.between(-5, 3);
    p.y = rng.between(-8, 8);
    p.z = rng.between(-3, 8);
    for (int k = 0; k < 20; ++k) {
      DVec3 way;
      way.x = rng.between(-3, 9);
      way.y = rng.between(-4, 4);
      way.z = rng.between(-4, 4);
      if (rng.below(10) == 0) way = way * 4;  // beyond the steps: swept
      p = stepped_point(volume, p, way, 0.001).point;
      crossed += p.x >= 3 || p.z < -4 - 1e-9;
      if (p.y > 20 || p.y < -20 || p.z > 20 || p.x < -20) break;
    }
  }
  CHECK(crossed == 0);
}
