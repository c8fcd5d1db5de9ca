#include "world/collide/recovery_side.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "world/bsp/placed_map.h"
#include "world/collide/part_blocks.h"
#include "world/collide/prop.h"
#include "world/collide/recover.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double axis_radius_m = 0.05;

bool within(DVec3 way, double reach_m) { return dot(way, way) <= reach_m * reach_m; }

/// Does a way that is met at time t lead up to its end? Who only touches a solid at the end has met it or not
/// as rounding has it.
bool leads_to_end(double t, DVec3 way) { return within(way * (1 - t), contact_slop_m); }

}  // namespace

RecoverySide::RecoverySide(const Space& space, const Cylinder& shape, DVec3 position, DVec3 last_free)
    : space_(space), shape_(shape), rock_shape_(shape), from_(last_free) {
  const DVec3 back = last_free - position;
  known_ = within(back, side_known_m) && !space_unloaded(space, shape, last_free) &&
           !space_overlaps(space, shape, last_free);
  if (known_) return;
  if (!within(back, recovery_back_m)) from_ = position;
  middle_ = {std::floor(from_.x) + 0.5, std::floor(from_.y) + 0.5};
  find_levels();
  look_through(position);
}

/// Heights of the cells' nodes: those of blocks, and those of the body's own floor.
void RecoverySide::find_levels() {
  const double floor = std::floor(from_.z + contact_slop_m);
  for (const double z : {floor - 1, from_.z - 1, floor, from_.z, floor + 1, from_.z + 1})
    if (level_count_ == 0 || z > levels_[level_count_ - 1] + contact_slop_m) levels_[level_count_++] = z;
  ASHLAR_ASSERT(level_count_ >= 3 && level_count_ <= levels_.size());
}

void RecoverySide::look_through(DVec3 position) {
  const Aabb here = bounds_of(shape_, position), there = bounds_of(shape_, from_);
  constexpr double beside_m = 2, below_m = 2, above_m = recovery_up_cells + 1;
  const BlockRange range =
      blocks_of({{std::min(here.min.x, there.min.x) - beside_m, std::min(here.min.y, there.min.y) - beside_m,
                  std::min(here.min.z, there.min.z) - below_m},
                 {std::max(here.max.x, there.max.x) + beside_m, std::max(here.max.y, there.max.y) + beside_m,
                  std::max(here.max.z, there.max.z) + above_m}});
  fits_ = fits_window(range.low, range.high);
  if (!fits_) return;
  fill_window(*space_.voxels, range.low, range.high, window_);
  clear_overlapped();
  if (!in_rock(rock_shape_)) return;
  rock_shape_.radius_m = std::min(rock_shape_.radius_m, axis_radius_m);
  rock_unknown_ = in_rock(rock_shape_);
}

void RecoverySide::clear_overlapped() {
  const DVec3 p = from_ - to_dvec3(window_.min);
  const std::uint32_t layers = layer_mask(floor_to_int(p.z + contact_slop_m),
                                          -floor_to_int(-(p.z + shape_.height_m - contact_slop_m)) - 1);
  const double reach = shape_.radius_m - contact_slop_m;
  for (std::int32_t y = 0; y < window_.size_y; ++y)
    for (std::int32_t x = 0; x < window_.size_x; ++x) {
      const double dx = std::max(std::fabs(p.x - x - 0.5) - 0.5, 0.0);
      const double dy = std::max(std::fabs(p.y - y - 0.5) - 0.5, 0.0);
      if (dx * dx + dy * dy < reach * reach)
        window_.columns[static_cast<std::size_t>(y * window_.size_x + x)] &= ~layers;
    }
  // Of blocks that are solid in part those that it overlaps with what is solid of them, and all of those.
  const double low = p.z + contact_slop_m, high = p.z + shape_.height_m - contact_slop_m;
  visit_part_boxes(
      window_, {0, window_.size_x - 1, 0, window_.size_y - 1}, layers, [&](const Aabb& b, IVec3 block) {
        const double dx = p.x - std::clamp(p.x, b.min.x, b.max.x);
        const double dy = p.y - std::clamp(p.y, b.min.y, b.max.y);
        if (b.max.z > low && b.min.z < high && dx * dx + dy * dy < reach * reach)
          window_.parts[static_cast<std::size_t>(block.y * window_.size_x + block.x)] &= ~(1u << block.z);
        return false;
      });
}

bool RecoverySide::in_rock(const Cylinder& shape) const {
  const Aabb bounds = bounds_of(shape, from_);
  for (const MapInSpace& m : space_.maps)
    if (map_in_reach(*m.map, bounds) && map_overlaps(*m.map, m.heights, shape, from_)) return true;
  return std::ranges::any_of(space_.props, [&](const Prop* prop) { return prop->overlaps(shape, from_); });
}

bool RecoverySide::clear(DVec3 from, DVec3 to) const {
  if (from == to) return true;
  const DVec3 way = to - from;
  const auto free = [way](const SweepHit& hit) {
    return !hit.hit() || (!hit.started_inside && leads_to_end(hit.t, way));
  };
  if (known_) return free(space_sweep(space_, shape_, from, way));
  const BlockRange range = blocks_of(swept(bounds_of(shape_, from), way));
  if (!fits_ || !window_.covers(range.low, range.high)) return false;
  const BlockHit block = window_sweep(window_, rounded_box_of(shape_), from, way);
  if (block.hit && (block.started_inside || !leads_to_end(block.t, way))) return false;
  if (rock_unknown_) return true;
  const Aabb reach = swept(bounds_of(rock_shape_, from), way);
  for (const MapInSpace& m : space_.maps)
    if (map_in_reach(*m.map, reach) && !free(map_sweep(*m.map, m.heights, rock_shape_, from, way)))
      return false;
  return std::ranges::all_of(space_.props,
                             [&](const Prop* prop) { return free(prop->sweep(rock_shape_, from, way)); });
}

/// Straight, or around a corner of the profile: up first and down last, or down first and up last.
bool RecoverySide::linked(DVec3 from, DVec3 to) const {
  if (clear(from, to)) return true;
  for (const double z : {std::max(from.z, to.z), std::min(from.z, to.z)}) {
    const DVec3 a{from.x, from.y, z}, b{to.x, to.y, z};
    if (clear(from, a) && clear(a, b) && clear(b, to)) return true;
  }
  return false;
}

DVec3 RecoverySide::node(std::size_t i) const {
  return {middle_.x + static_cast<double>(i % 3) - 1, middle_.y + static_cast<double>(i / 3 % 3) - 1,
          levels_[i / 9]};
}

void RecoverySide::walk_cells() {
  walked_ = true;
  const std::size_t count = 9 * level_count_;
  ASHLAR_ASSERT(count <= nodes_max);
  std::array<std::size_t, nodes_max> queue;
  std::size_t first = 0, last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!linked(from_, node(i))) continue;
    reached_.set(i);
    queue[last++] = i;
  }
  while (first < last) {
    const std::size_t at = queue[first++];
    const auto go = [&](bool there, std::size_t next) {
      if (!there || reached_.test(next) || !clear(node(at), node(next))) return;
      ASHLAR_ASSERT(next < count && last < queue.size());  // each comes once
      reached_.set(next);
      queue[last++] = next;
    };
    go(at % 3 > 0, at - 1), go(at % 3 < 2, at + 1);
    go(at / 3 % 3 > 0, at - 3), go(at / 3 % 3 < 2, at + 3);
    go(at >= 9, at - 9), go(at + 9 < count, at + 9);
  }
}

bool RecoverySide::holds(DVec3 place) {
  if (linked(from_, place)) return true;
  if (known_) return false;
  if (!walked_) walk_cells();
  for (std::size_t i = 0; i < 9 * level_count_; ++i) {
    if (!reached_.test(i)) continue;
    const DVec2 off = xy(place) - xy(node(i));
    // From a cell's node to places of its own column, and to those between nodes.
    if (std::max(std::fabs(off.x), std::fabs(off.y)) < 0.75 && linked(node(i), place)) return true;
  }
  return false;
}

}  // namespace ashlar
