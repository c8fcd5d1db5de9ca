#include "world/collide/block_queries.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double part_m_max = 2;         // of a way that one window serves: few columns, few windows
constexpr double part_height_m_max = 8;  // falling meets no more columns, so its parts may be longer
// A part's window holds the body at both ends, with a block more on each side for what is cut by its borders.
static_assert(part_m_max + 2 * rounded_box_reach_m_max + 2 <= BlockWindow::columns_max);
static_assert(part_height_m_max + rounded_box_height_m_max + 2 <= BlockWindow::layers_max);

void check(const RoundedBox& s, DVec3 base) {
  ASHLAR_ASSERT(std::fabs(base.x) < 2097152 && std::fabs(base.y) < 2097152);
  ASHLAR_ASSERT(std::fabs(base.z) < 8192);
  ASHLAR_ASSERT(s.half_x_m + s.radius_m <= rounded_box_reach_m_max &&
                s.half_y_m + s.radius_m <= rounded_box_reach_m_max);
  ASHLAR_ASSERT(s.height_m <= rounded_box_height_m_max);
}

template <typename Ask>
bool any_chunk(const Aabb& bounds, Ask&& ask) {
  const BlockRange range = blocks_of(bounds);
  const ChunkCoord low = chunk_of(range.low), high = chunk_of(range.high);
  for (std::int32_t z = low.z; z <= high.z; ++z)
    for (std::int32_t y = low.y; y <= high.y; ++y)
      for (std::int32_t x = low.x; x <= high.x; ++x)
        if (ask(ChunkCoord{x, y, z})) return true;
  return false;
}

}  // namespace

SweepHit to_sweep_hit(const VoxelVolume& volume, const BlockHit& hit) {
  SweepHit out;
  if (!hit.hit) return out;
  ASHLAR_ASSERT(hit.t >= 0 && hit.t <= 1);
  out.t = hit.t;
  out.normal = hit.normal;
  out.started_inside = hit.started_inside;
  out.block = hit.block;
  out.kind = volume.loaded(chunk_of(hit.block)) ? ContactKind::voxel : ContactKind::unloaded;
  return out;
}

bool blocks_overlap(const VoxelVolume& volume, const RoundedBox& shape, DVec3 base) {
  check(shape, base);
  const BlockRange range = blocks_of(bounds_of(shape, base));
  BlockWindow window;
  fill_window(volume, range.low, range.high, window);
  return window_overlaps(window, shape, base);
}

SweepHit blocks_sweep(const VoxelVolume& volume, const RoundedBox& shape, DVec3 base, DVec3 delta) {
  check(shape, base);
  check(shape, base + delta);
  const double flat = std::max(std::fabs(delta.x), std::fabs(delta.y));
  const double parts_wanted =
      std::max({std::ceil(flat / part_m_max), std::ceil(std::fabs(delta.z) / part_height_m_max), 1.0});
  const auto parts = static_cast<std::int32_t>(parts_wanted);
  BlockWindow window;
  for (std::int32_t i = 0; i < parts; ++i) {
    const double from = i / parts_wanted;
    const double to = i + 1 == parts ? 1 : (i + 1) / parts_wanted;
    const DVec3 start = base + delta * from;
    // A little more than the part, as its ends are rounded.
    Aabb way = swept(bounds_of(shape, start), delta * (to - from));
    way.min -= DVec3{2 * contact_slop_m, 2 * contact_slop_m, 2 * contact_slop_m};
    way.max += DVec3{2 * contact_slop_m, 2 * contact_slop_m, 2 * contact_slop_m};
    const BlockRange range = blocks_of(way);
    fill_window(volume, range.low, range.high, window);
    const BlockHit hit = window_sweep(window, shape, base, delta, to);
    if (hit.hit) return to_sweep_hit(volume, hit);
  }
  return {};
}

std::optional<double> blocks_ground(const VoxelVolume& volume, const RoundedBox& shape, DVec2 centre,
                                    double z, double depth_m) {
  check(shape, {centre.x, centre.y, z});
  ASHLAR_ASSERT(depth_m >= 0);
  double reached = 0;
  BlockWindow window;
  // Windows one below the other, each as deep as it can be.
  constexpr double step_m = BlockWindow::layers_max - 3;
  while (true) {
    const double top = z - reached;
    const double depth = std::min(depth_m - reached, step_m);
    BlockRange range = blocks_of(bounds_of(shape, {centre.x, centre.y, top}));
    range.high.z = floor_to_int(top + contact_slop_m);
    range.low.z = floor_to_int(top - depth - contact_slop_m) - 1;
    fill_window(volume, range.low, range.high, window);
    if (const auto ground = window_ground(window, shape, centre, top, depth)) {
      ASHLAR_ASSERT(*ground <= z + 2 * contact_slop_m);
      return ground;
    }
    // No ground in this part, or inside a block at its very top: only the first can be that.
    if (window_overlaps(window, {shape.half_x_m, shape.half_y_m, shape.radius_m, 4 * contact_slop_m},
                        {centre.x, centre.y, top}))
      return std::nullopt;
    ASHLAR_ASSERT(depth > 0 || depth_m == 0);  // else it would never end
    reached += depth;
    if (reached >= depth_m) return std::nullopt;
  }
}

bool blocks_unloaded(const VoxelVolume& volume, const RoundedBox& shape, DVec3 base) {
  check(shape, base);
  return any_chunk(bounds_of(shape, base), [&](ChunkCoord at) { return !volume.loaded(at); });
}

bool parts_near(const VoxelVolume& volume, const Aabb& bounds) {
  constexpr DVec3 touching{2 * contact_slop_m, 2 * contact_slop_m, 2 * contact_slop_m};
  return any_chunk({bounds.min - touching, bounds.max + touching}, [&](ChunkCoord at) {
    const Chunk* chunk = volume.find(at);
    return chunk != nullptr && chunk->parts() != nullptr;
  });
}

}  // namespace ashlar
