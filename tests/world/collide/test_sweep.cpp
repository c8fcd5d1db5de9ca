#include <cmath>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/collide/random_shapes.h"
#include "tests/world/voxel_worlds.h"
#include "world/collide/block_queries.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

/// How deep a shape overlaps the deepest block: distances by hand, no windows. Negative: free by so much.
double depth_twin(const VoxelVolume& volume, const RoundedBox& s, DVec3 p) {
  double deepest = -1e9;
  const Aabb box = bounds_of(s, p);
  constexpr DVec3 margin{1e-5, 1e-5, 1e-5};  // blocks that are only touched as well
  const IVec3 low = block_at(box.min - margin), high = block_at(box.max + margin);
  ChunkCursor cursor(volume);
  for (int z = low.z; z <= high.z; ++z)
    for (int y = low.y; y <= high.y; ++y)
      for (int x = low.x; x <= high.x; ++x) {
        const IVec3 b{x, y, z};
        if (!cursor.solid(b)) continue;
        const DVec3 local = p - to_dvec3(b);
        const double dx = std::fabs(local.x - 0.5) - 0.5 - s.half_x_m;
        const double dy = std::fabs(local.y - 0.5) - 0.5 - s.half_y_m;
        const double outside = std::hypot(std::max(dx, 0.0), std::max(dy, 0.0));
        const double flat = s.radius_m - (outside > 0 ? outside : std::max(dx, dy));
        const double up = std::min(1 - local.z, local.z + s.height_m);
        deepest = std::max(deepest, std::min(flat, up));
      }
  return deepest;
}

}  // namespace

TEST_CASE("a sweep is free up to its impact and overlaps just after", "[world][collide][sweep]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const int density = GENERATE(2, 10, 30, 60);
  CAPTURE(offset, density);
  const auto chunk_offset = static_cast<std::int32_t>(offset / 32);
  const VoxelVolume volume = make_volume({chunk_offset - 1, -1, -1}, {2, 2, 2},
                                         [&](IVec3 b) { return random_block(3, b, density / 100.0); });
  Rng rng{static_cast<std::uint64_t>(density)};
  unsigned hits = 0, early = 0, late = 0, inside_wrong = 0, bad_normal = 0;
  for (int i = 0; i < 1500; ++i) {
    const RoundedBox shape = random_shape(rng);
    DVec3 p;
    p.x = offset + rng.between(-20, 20);
    p.y = rng.between(-20, 20);
    p.z = rng.between(-20, 20);
    if (rng.below(3) == 0) p.z = std::floor(p.z);                                    // standing
    if (rng.below(4) == 0) p.x = std::floor(p.x) + shape.half_x_m + shape.radius_m;  // touching
    const DVec3 d = random_way(rng, 6);
    const double at_start = depth_twin(volume, shape, p);
    const SweepHit hit = blocks_sweep(volume, shape, p, d);
    if (std::fabs(at_start - contact_slop_m) < 1e-8) continue;
    if (at_start > contact_slop_m) {
      inside_wrong += !hit.started_inside || hit.t != 0;
      continue;
    }
    inside_wrong += hit.started_inside;
    double worst = -1e9;
    for (int k = 0; k <= 24; ++k)
      worst = std::max(worst, depth_twin(volume, shape, p + d * (hit.t * k / 24)));
    late += worst > 2 * contact_slop_m;
    if (!hit.hit()) continue;
    ++hits;
    const double approach = -dot(d, hit.normal);
    bad_normal += std::fabs(dot(hit.normal, hit.normal) - 1) > 1e-9 || approach <= 0;
    // A hair further along the way it is in by the slop, if only for a moment where it passes an edge.
    if (approach < 0.05 * length(d)) continue;
    double after = -1;
    for (int k = 1; k <= 40; ++k)
      after =
          std::max(after, depth_twin(volume, shape, p + d * (hit.t + 0.05 * k * contact_slop_m / approach)));
    early += after < 0.9 * contact_slop_m;
  }
  CHECK(hits > 100);
  CHECK(inside_wrong == 0);
  CHECK(late == 0);
  CHECK(early == 0);
  CHECK(bad_normal == 0);
}

TEST_CASE("a sweep equals its two halves", "[world][collide][sweep]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return random_block(5, b, 0.04); });
  Rng rng{11};
  unsigned wrong = 0, hits = 0;
  for (int i = 0; i < 10000; ++i) {
    const RoundedBox shape = random_shape(rng);
    DVec3 p;
    p.x = rng.between(-12, 12);
    p.y = rng.between(-12, 12);
    p.z = rng.between(-12, 12);
    const DVec3 d = random_way(rng, 9);
    const SweepHit whole = blocks_sweep(volume, shape, p, d);
    const SweepHit first = blocks_sweep(volume, shape, p, d * 0.5);
    const double t =
        first.hit() ? first.t / 2 : 0.5 + blocks_sweep(volume, shape, p + d * 0.5, d * 0.5).t / 2;
    hits += whole.hit();
    wrong += std::fabs(whole.t - t) * length(d) > 1e-4;
  }
  CHECK(hits > 2500);
  CHECK(wrong == 0);
}

TEST_CASE("a sweep that grazes is told where it comes to what it sinks into", "[world][collide][sweep]") {
  const VoxelVolume one = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b == IVec3{5, 0, 0}; });
  const RoundedBox player = rounded_box_of({0.3, 1.75});
  const SweepHit hit = blocks_sweep(one, player, {0.5, 0.5, 1}, {8, 0, -1.5e-6});
  CHECK(hit.t == Approx(0.525).margin(1e-9));
  CHECK(hit.normal == DVec3{0, 0, 1});
  // Along a wall likewise: a hair towards it, and it ends at the post that stands out by that hair.
  const SweepHit post = blocks_sweep(one, player, {0.5, 1.3, 0}, {8, -1.5e-6, 0});
  CHECK(post.t == Approx(0.5625).margin(1e-3));
  CHECK(post.normal.y > 0.99);
}

TEST_CASE("a sweep that grazes equals its parts, wherever it is cut", "[world][collide][sweep][property]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const double density = GENERATE(0.05, 0.3);
  CAPTURE(offset, density);
  const auto chunk = static_cast<std::int32_t>(offset / 32);
  const VoxelVolume volume = make_volume({chunk - 1, -1, -1}, {2, 2, 2}, [&](IVec3 b) {
    return random_block(5, {b.x - chunk * 32, b.y, b.z}, density);
  });
  Rng rng{static_cast<std::uint64_t>(12 + density * 100)};
  unsigned wrong = 0, early = 0, hits = 0, in_solid = 0;
  // Far out a place is rounded by 1e-10 m, and so is by how much a way grazes.
  const double slope_min = offset > 0 ? 1e-5 : 1e-8;
  for (int i = 0; i < test::cases(8000); ++i) {
    const RoundedBox shape = random_shape(rng);
    DVec3 p;
    p.x = offset + std::floor(rng.between(-12, 12));
    p.y = std::floor(rng.between(-12, 12));
    p.z = std::floor(rng.between(-12, 12));
    // At touching distance along every axis or somewhere.
    const double rx = shape.half_x_m + shape.radius_m, ry = shape.half_y_m + shape.radius_m;
    p.x += rng.below(2) == 0 ? rng.unit() : rng.below(2) == 0 ? rx : -rx;
    p.y += rng.below(2) == 0 ? rng.unit() : rng.below(2) == 0 ? ry : -ry;
    if (rng.below(3) == 0) p.z -= shape.height_m;
    if (rng.below(4) == 0) p.z += rng.unit();
    DVec3 d = random_way(rng, 9);
    const auto graze = [&](double& v) {
      if (rng.below(3) != 0) v = (rng.below(2) == 0 ? 1 : -1) * slope_min * std::exp(rng.between(0, 7));
    };
    graze(d.x), graze(d.y), graze(d.z);
    if (blocks_overlap(volume, shape, p)) continue;
    const SweepHit whole = blocks_sweep(volume, shape, p, d);
    const double cut = rng.between(0.01, 0.99);
    const SweepHit first = blocks_sweep(volume, shape, p, d * cut);
    double t = first.t * cut;
    if (!first.hit()) t = cut + blocks_sweep(volume, shape, p + d * cut, d * (1 - cut)).t * (1 - cut);
    hits += whole.hit();
    in_solid += depth_twin(volume, shape, p + d * whole.t) > 2 * contact_slop_m;
    if (std::fabs(whole.t - t) * length(d) > 1e-4) ++wrong;
    // Told where it touches: some block is met by the closed shape there.
    if (whole.hit()) early += depth_twin(volume, shape, p + d * whole.t) < -1e-8;
  }
  CHECK(hits > 500);
  CHECK(in_solid == 0);
  CHECK(early == 0);
  CHECK(wrong == 0);
}

TEST_CASE("a closed room is never left, at any speed", "[world][collide][sweep]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const auto at = static_cast<std::int32_t>(offset);
  const VoxelVolume volume = make_volume({at / 32, 0, 0}, {1, 1, 1}, [&](IVec3 b) {
    return b.x == at + 4 || b.x == at + 12 || b.y == 4 || b.y == 12 || b.z == 4 || b.z == 12;
  });
  Rng rng{2};
  unsigned out = 0;
  for (int i = 0; i < 3000; ++i) {
    const RoundedBox shape = random_shape(rng);
    DVec3 p{offset + 8.5, 8.5, 6.0};
    DVec3 d;
    if (i % 2 == 0) {
      // At a corner or an edge of the room.
      const auto pick = [&rng](double low, double high) { return rng.below(2) == 0 ? low : high; };
      d.x = pick(-1, 1) * 2000;
      d.y = pick(-1, 1) * 2000;
      d.z = pick(0, 1) * pick(-1, 1) * 2000;
    } else {
      d.x = rng.between(-2000, 2000);
      d.y = rng.between(-2000, 2000);
      d.z = rng.between(-2000, 2000);
    }
    const SweepHit hit = blocks_sweep(volume, shape, p, d);
    const DVec3 q = p + d * hit.t;
    const Aabb b = bounds_of(shape, q);
    const double tolerance = 1e-6;
    out += b.min.x < offset + 5 - tolerance || b.max.x > offset + 12 + tolerance || b.min.y < 5 - tolerance ||
           b.max.y > 12 + tolerance || b.min.z < 5 - tolerance || b.max.z > 12 + tolerance;
  }
  CHECK(out == 0);
}

TEST_CASE("seams between blocks are not felt", "[world][collide][sweep]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {3, 2, 2}, [](IVec3 b) { return b.z < 0 || b.y >= 4 || b.z >= 2; });
  const RoundedBox shape = rounded_box_of({0.3, 1.75});
  // On the floor, along the wall, under the ceiling.
  CHECK_FALSE(blocks_sweep(volume, shape, {-20, 0.5, 0}, {60, 0, 0}).hit());
  CHECK_FALSE(blocks_sweep(volume, shape, {-20, 3.7, 0}, {60, 0, 0}).hit());
  CHECK_FALSE(blocks_sweep(volume, shape, {-20, 3.7, 0.25}, {60, 0, 0}).hit());
  CHECK_FALSE(blocks_sweep(volume, shape, {-20, 3.7, 0.1}, {0, 0, 0.14}).hit());
}

TEST_CASE("a corner's edge gives a normal away from it", "[world][collide][sweep]") {
  VoxelVolume volume = make_volume({-1, -1, 0}, {2, 2, 1}, [](IVec3 b) { return b == IVec3{0, 0, 1}; });
  const RoundedBox shape = rounded_box_of({0.3, 1.75});
  const SweepHit hit = blocks_sweep(volume, shape, {-2, -2, 0.5}, {4, 4, 0});
  REQUIRE(hit.kind == ContactKind::voxel);
  CHECK(hit.normal.x == Approx(-std::sqrt(0.5)).margin(1e-9));
  CHECK(hit.normal.y == Approx(-std::sqrt(0.5)).margin(1e-9));
  const DVec3 q = DVec3{-2, -2, 0.5} + DVec3{4, 4, 0} * hit.t;
  CHECK(std::hypot(q.x, q.y) == Approx(0.3).margin(1e-9));
}
