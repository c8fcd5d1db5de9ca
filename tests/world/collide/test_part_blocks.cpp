#include <cmath>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/collide/random_shapes.h"
#include "tests/world/part_worlds.h"
#include "world/collide/block_queries.h"
#include "world/collide/correct.h"
#include "world/collide/stepped.h"
#include "world/voxel/ray.h"

using namespace ashlar;
using namespace ashlar::test;

// The properties of sweeps, corrections, grounds and rays in worlds of slabs, stairs, posts and random boxes
// between full blocks, each against boxes that are looked at one by one.

namespace {

VoxelVolume mixed_world(double offset, double density, std::uint64_t seed) {
  const auto chunk = static_cast<std::int32_t>(offset / 32);
  const auto kinds = kinds_with_random_shapes(seed, 20);
  return make_part_volume(kinds, {chunk - 1, -1, -1}, {2, 2, 2},
                          [&](IVec3 b) { return random_kind(*kinds, seed, b, density); });
}

DVec3 place_of(Rng& rng, double offset, double size) {
  DVec3 p;
  p.x = offset + rng.between(-size, size);
  p.y = rng.between(-size, size);
  p.z = rng.between(-size, size);
  if (rng.below(3) == 0) p.z = std::floor(p.z * 16) / 16;        // standing on something
  if (rng.below(4) == 0) p.x = std::floor(p.x * 16) / 16 + 0.3;  // touching something
  return p;
}

}  // namespace

TEST_CASE("among blocks of all shapes a sweep is free up to its impact and overlaps just after",
          "[world][collide][part_blocks][property]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const double density = GENERATE(0.05, 0.2, 0.6);
  CAPTURE(offset, density);
  const VoxelVolume volume = mixed_world(offset, density, 3);
  Rng rng{static_cast<std::uint64_t>(density * 100)};
  unsigned hits = 0, early = 0, late = 0, inside_wrong = 0, bad_normal = 0, bad_block = 0;
  for (int i = 0; i < cases(1500); ++i) {
    const RoundedBox shape = random_shape(rng);
    const DVec3 p = place_of(rng, offset, 20), d = random_way(rng, 6);
    const double at_start = depth_in_parts(volume, shape, p);
    const SweepHit hit = blocks_sweep(volume, shape, p, d);
    if (std::fabs(at_start - contact_slop_m) < 1e-8) continue;
    inside_wrong += hit.started_inside != (at_start > contact_slop_m);
    if (hit.started_inside) continue;
    double worst = -1e9;
    for (int k = 0; k <= 24; ++k)
      worst = std::max(worst, depth_in_parts(volume, shape, p + d * (hit.t * k / 24)));
    late += worst > 2 * contact_slop_m;
    if (!hit.hit()) continue;
    ++hits;
    const double approach = -dot(d, hit.normal);
    bad_normal += std::fabs(dot(hit.normal, hit.normal) - 1) > 1e-9 || approach <= 0;
    bad_block += hit.kind == ContactKind::voxel && !volume.solid(hit.block);
    if (approach < 0.05 * length(d)) continue;
    double after = -1;
    for (int k = 1; k <= 40; ++k)
      after = std::max(after,
                       depth_in_parts(volume, shape, p + d * (hit.t + 0.05 * k * contact_slop_m / approach)));
    early += after < 0.9 * contact_slop_m;
  }
  CHECK(hits > 100);
  CHECK(inside_wrong == 0);
  CHECK(late == 0);
  CHECK(early == 0);
  CHECK(bad_normal == 0);
  CHECK(bad_block == 0);
}

TEST_CASE("among blocks of all shapes a sweep equals its two halves",
          "[world][collide][part_blocks][property]") {
  const VoxelVolume volume = mixed_world(0, 0.05, 5);
  Rng rng{11};
  unsigned wrong = 0, hits = 0;
  for (int i = 0; i < cases(5000); ++i) {
    const RoundedBox shape = random_shape(rng);
    const DVec3 p = place_of(rng, 0, 12), d = random_way(rng, 5);
    const double cut = rng.between(0.05, 0.95);
    const SweepHit whole = blocks_sweep(volume, shape, p, d);
    if (whole.started_inside) continue;
    const SweepHit first = blocks_sweep(volume, shape, p, d * cut);
    SweepHit parts = first;
    parts.t = first.t * cut;
    if (!first.hit()) {
      parts = blocks_sweep(volume, shape, p + d * cut, d * (1 - cut));
      parts.t = cut + parts.t * (1 - cut);
    }
    hits += whole.hit();
    wrong += std::fabs(whole.t - parts.t) * length(d) > 1e-6 || whole.hit() != parts.hit();
  }
  CHECK(hits > 500);
  CHECK(wrong == 0);
}

TEST_CASE("among blocks of all shapes overlaps and grounds are those of the boxes",
          "[world][collide][part_blocks][property]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const double density = GENERATE(0.1, 0.4);
  CAPTURE(offset, density);
  const VoxelVolume volume = mixed_world(offset, density, 8);
  Rng rng{21};
  unsigned overlaps = 0, grounds = 0, none = 0, wrong_overlap = 0, wrong_ground = 0;
  for (int i = 0; i < cases(4000); ++i) {
    const RoundedBox shape = random_shape(rng);
    const DVec3 p = place_of(rng, offset, 20);
    const double depth = depth_in_parts(volume, shape, p);
    if (std::fabs(depth - contact_slop_m) > 1e-8) {
      wrong_overlap += blocks_overlap(volume, shape, p) != (depth > contact_slop_m);
      overlaps += depth > contact_slop_m;
    }
    // Ground: the highest box under the disc, unless the disc is in one.
    const double reach = rng.between(0, 6);
    bool inside = false;
    double top = -1e9;
    const RoundedBox disc{shape.half_x_m, shape.half_y_m, shape.radius_m, 0};
    Aabb under = bounds_of(disc, p);
    under.min.z -= reach;
    bool close_call = false;
    every_box(volume, under, [&](const Aabb& b) {
      const double flat =
          depth_in_box({disc.half_x_m, disc.half_y_m, disc.radius_m, 1e9}, {p.x, p.y, b.min.z - 5e8}, b);
      close_call = close_call || std::fabs(flat - contact_slop_m) < 1e-8 ||
                   std::fabs(std::fabs(b.max.z - p.z) - contact_slop_m) < 1e-8 ||
                   std::fabs(p.z - b.max.z - reach) < 2 * contact_slop_m;
      if (flat <= contact_slop_m || b.min.z > p.z + contact_slop_m) return;
      inside = inside || b.max.z > p.z + contact_slop_m;
      if (b.max.z <= p.z + contact_slop_m) top = std::max(top, b.max.z);
    });
    if (close_call) continue;
    const auto ground = blocks_ground(volume, shape, {p.x, p.y}, p.z, reach);
    const bool expected = !inside && top >= p.z - reach;
    ++(expected ? grounds : none);
    wrong_ground += ground.has_value() != expected || (ground && *ground != top);
  }
  CHECK(overlaps > 200);
  CHECK(grounds > 200);
  CHECK(none > 200);
  CHECK(wrong_overlap == 0);
  CHECK(wrong_ground == 0);
}

TEST_CASE("among blocks of all shapes a ray stops where the first box begins",
          "[world][collide][part_blocks][property]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const double density = GENERATE(0.03, 0.3);
  CAPTURE(offset, density);
  const VoxelVolume volume = mixed_world(offset, density, 13);
  Rng rng{31};
  unsigned hits = 0, missed = 0, hit_nothing = 0, bad_normal = 0, inside_wrong = 0;
  const auto solid = [&](DVec3 p) {
    bool in = false;
    every_box(volume, {p, p}, [&](const Aabb& b) {
      in = in || (p.x >= b.min.x && p.x < b.max.x && p.y >= b.min.y && p.y < b.max.y && p.z >= b.min.z &&
                  p.z < b.max.z);
    });
    return in;
  };
  for (int i = 0; i < cases(1500); ++i) {
    const DVec3 from = place_of(rng, offset, 24);
    DVec3 d = random_way(rng, 1);
    if (length(d) < 1e-3) continue;
    d = d * (1 / length(d));
    const double reach = rng.between(0, 30);
    const RayHit hit = voxel_ray(volume, from, d, reach);
    inside_wrong += solid(from) != (hit.hit() && hit.t_m == 0 && hit.normal == DVec3{});
    if (solid(from)) continue;
    const double until = hit.hit() ? hit.t_m : reach;
    for (double t = 0; t < until - 1e-6; t += 0.02) missed += solid(from + d * t);
    if (!hit.hit()) continue;
    ++hits;
    // At the very corner of a box it may be in for less than a hair.
    hit_nothing += !solid(from + d * (hit.t_m + 1e-7)) && !solid(from + d * (hit.t_m + 1e-9));
    bad_normal += std::fabs(length(hit.normal) - 1) > 1e-12 || dot(hit.normal, d) >= 0;
  }
  CHECK(hits > 300);
  CHECK(inside_wrong == 0);
  CHECK(missed == 0);
  CHECK(hit_nothing <= 1);
  CHECK(bad_normal == 0);
}

TEST_CASE("among blocks of all shapes no free place is nearer than a correction",
          "[world][collide][part_blocks][property]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const double density = GENERATE(0.1, 0.3);
  CAPTURE(offset, density);
  const VoxelVolume volume = mixed_world(offset, density, 18);
  Rng rng{static_cast<std::uint64_t>(70 + density * 10)};
  unsigned found = 0, wrong = 0, nearer = 0;
  for (int i = 0; i < cases(1500); ++i) {
    const Cylinder shape{rng.between(0.1, 0.6), rng.between(0.2, 2.0)};
    const RoundedBox rounded = rounded_box_of(shape);
    const DVec3 p = place_of(rng, offset, 20);
    if (depth_in_parts(volume, rounded, p) <= contact_slop_m) continue;
    const double reach = rng.between(0.05, 0.15);  // as far as a step's correction goes
    BlockWindow window;
    Aabb b = bounds_of(shape, p);
    b.min -= DVec3{reach, reach, reach}, b.max += DVec3{reach, reach, reach};
    const BlockRange range = blocks_of(b);
    fill_window(volume, range.low, range.high, window);
    const auto out = window_correct(window, shape, p, reach);
    if (!out) continue;
    ++found;
    const double size = length(*out);
    wrong += size > reach + 1e-9 || depth_in_parts(volume, rounded, p + *out) > contact_slop_m + 1e-9;
    for (int k = 0; k < 60; ++k) {
      DVec3 d;
      d.x = rng.below(3) == 0 ? 0 : rng.between(-1, 1);
      d.y = rng.below(3) == 0 ? 0 : rng.between(-1, 1);
      d.z = rng.below(3) == 0 ? 0 : rng.between(-1, 1);
      const double l = length(d);
      if (l < 1e-3) continue;
      d = d * ((size - 1e-6) * std::sqrt(rng.unit()) / l);
      nearer += depth_in_parts(volume, rounded, p + d) <= 0;
    }
  }
  CHECK(found > 50);
  CHECK(wrong == 0);
  CHECK(nearer == 0);
}

TEST_CASE("among blocks of all shapes a corrected point is free and near",
          "[world][collide][part_blocks][property]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const double density = GENERATE(0.1, 0.6);
  CAPTURE(offset, density);
  const VoxelVolume volume = mixed_world(offset, density, 23);
  Rng rng{41};
  unsigned moved = 0, wrong = 0, far = 0, way_wrong = 0;
  for (int i = 0; i < cases(4000); ++i) {
    const DVec3 p = place_of(rng, offset, 24);
    const double extra = rng.below(2) == 0 ? 0 : 1e-3;
    const PointCorrection out = correct_point(volume, p, extra);
    if (!volume.solid_at(p)) wrong += out.moved || !out.free || out.point != p;
    if (out.moved) {
      ++moved;
      wrong += volume.solid_at(out.point);
      far += length(out.point - p) > 1.8;
    }
    // A way of a point never ends in what it did not begin in.
    if (volume.solid_at(p)) continue;
    const PointEnd end = stepped_point(volume, p, random_way(rng, 3), 1e-3);
    way_wrong += !end.stuck && volume.solid_at(end.point) &&
                 blocks_overlap(volume, point_shape(), point_base(end.point));
  }
  CHECK(moved > 100);
  CHECK(wrong == 0);
  CHECK(far == 0);
  CHECK(way_wrong == 0);
}
