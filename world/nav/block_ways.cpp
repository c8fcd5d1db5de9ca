#include "world/nav/block_ways.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ashlar {
namespace {

constexpr std::uint8_t no_floor = 0xff;
constexpr std::int32_t corners_side = BlockWays::side;
constexpr std::int32_t columns_side = corners_side + 1;
constexpr std::uint32_t straight_cost = 10, diagonal_cost = 14;  // tenths of a metre
constexpr std::uint32_t rise_cost = 4, fall_cost = 10;
constexpr std::int32_t fall_halves = 2;  // deeper there may be no way back up
constexpr std::int32_t body_halves = 4;  // two blocks
// A place may get a better way several times before it is settled; what is beyond is left out.
constexpr std::size_t heap_max = std::size_t{8} * BlockWays::places_max;
constexpr double there_m = 0.35;   // so near to a corner one goes on to the next
constexpr double off_m_max = 1.1;  // so far may a body be above or below a corner's ground

std::int32_t floor_block(double v) { return static_cast<std::int32_t>(std::floor(v)); }

/// Bits low to high, both included and within [0, 63].
std::uint64_t layer_bits(std::int32_t low, std::int32_t high) {
  low = std::max(low, 0), high = std::min(high, 63);
  if (low > high) return 0;
  return (~std::uint64_t{0} >> (63 - high)) & (~std::uint64_t{0} << low);
}

/// The blocks that a body needs free which passes at one height over ground at another one, in half blocks.
std::uint64_t body_bits(std::int32_t ground, std::int32_t passes) {
  return layer_bits((ground + 1) / 2, (passes + body_halves + 1) / 2 - 1);
}

}  // namespace

void BlockWays::clear(IVec3 origin) {
  origin_ = origin;
  height_.assign(places_max, no_floor);
  next_.assign(places_max, nowhere);
  distance_.assign(places_max, nowhere);
}

DVec3 BlockWays::position_m(std::uint16_t place) const {
  const std::int32_t at = place / static_cast<std::int32_t>(floors_max);
  return {static_cast<double>(origin_.x + 1 + at % corners_side),
          static_cast<double>(origin_.y + 1 + at / corners_side), origin_.z + height_[place] * 0.5};
}

std::uint16_t BlockWays::place_at(IVec2 corner, std::int32_t half_blocks) const {
  const std::int32_t x = corner.x - origin_.x - 1, y = corner.y - origin_.y - 1;
  if (x < 0 || y < 0 || x >= corners_side || y >= corners_side) return nowhere;
  const auto first = static_cast<std::uint32_t>(y * corners_side + x) * floors_max;
  for (std::size_t i = first; i < first + floors_max; ++i)
    if (height_[i] != no_floor && height_[i] == half_blocks - 2 * origin_.z)
      return static_cast<std::uint16_t>(i);
  return nowhere;
}

std::optional<BlockWays::Step> BlockWays::step(DVec3 from_m) const {
  const IVec2 block{floor_block(from_m.x), floor_block(from_m.y)};
  const auto half = static_cast<std::int32_t>(std::floor(from_m.z * 2 + 0.5));
  std::uint16_t best = nowhere;
  double best_m = 0;
  for (std::int32_t i = 0; i < 4; ++i) {
    const IVec2 corner{block.x + (i & 1), block.y + (i >> 1)};
    // At the body's own height first, as a floor above or below may be somebody else's.
    for (const std::int32_t off : {0, -1, 1, -2, 2}) {
      const std::uint16_t place = place_at(corner, half + off);
      if (place == nowhere || std::fabs(position_m(place).z - from_m.z) > off_m_max) continue;
      const double all_m = distance_[place] * 0.1 + length(xy(position_m(place) - from_m));
      if (best == nowhere || all_m < best_m) best = place, best_m = all_m;
      break;
    }
  }
  if (best == nowhere) return std::nullopt;
  const DVec2 off = xy(position_m(best) - from_m);
  if (dot(off, off) < there_m * there_m) best = next_[best];
  if (best == nowhere) return std::nullopt;
  return Step{position_m(best), best_m};
}

BlockSearch::BlockSearch() {
  columns_.resize(static_cast<std::size_t>(columns_side) * columns_side);
  settled_.resize(BlockWays::places_max);
  heap_.reserve(heap_max);
}

void BlockSearch::fill(const VoxelVolume& volume, std::int32_t x, std::int32_t y, Column& out) const {
  const IVec3 low = ways_.origin_ + IVec3{x, y, 0};
  out.known = true;
  out.full = out.half = 0;
  const IVec3 local = local_in_chunk(low);
  const auto word = static_cast<std::size_t>(local.y * chunk_size + local.x);
  for (std::int32_t z = -local.z; z < BlockWays::levels; z += chunk_size) {
    const Chunk* chunk = volume.find(chunk_of(low + IVec3{0, 0, z}));
    const auto put = [z](std::uint64_t mask) { return z >= 0 ? mask << z : mask >> -z; };
    if (chunk == nullptr) {
      out.full |= put(0xffffffffu);
      continue;
    }
    const std::uint32_t solid = chunk->solid()[word];
    std::uint32_t slabs = 0;
    for (std::uint32_t parts = chunk->parts() != nullptr ? (*chunk->parts())[word] & solid : 0; parts != 0;
         parts &= parts - 1) {
      const int bit = std::countr_zero(parts);
      const BlockShape& shape = volume.kinds().shape(chunk->block({local.x, local.y, bit}));
      const auto over_half = [](const ShapeBox& box) { return box.max[2] > shape_cells / 2; };
      if (!std::ranges::any_of(shape.boxes(), over_half)) slabs |= 1u << bit;
    }
    out.full |= put(solid & ~slabs);
    out.half |= put(slabs);
  }
}

const BlockSearch::Column& BlockSearch::column(const VoxelVolume& volume, std::int32_t x, std::int32_t y) {
  Column& c = columns_[static_cast<std::size_t>(y * columns_side + x)];
  if (!c.known) fill(volume, x, y, c);
  return c;
}

BlockSearch::Corner BlockSearch::corner(const VoxelVolume& volume, std::int32_t x, std::int32_t y) {
  std::uint64_t full = 0, half = 0;
  for (std::int32_t i = 0; i < 4; ++i) {
    const Column& c = column(volume, x + (i & 1), y + (i >> 1));
    full |= c.full, half |= c.half;
  }
  Corner out;
  out.solid = full | half;
  const std::uint64_t two = ~out.solid & ~(out.solid >> 1);  // this block and the next one are free
  // What is above the window is not known: nobody stands so high.
  constexpr std::uint64_t inner = ~std::uint64_t{0} >> 3;
  out.on_block = two & (full << 1) & inner;
  // A body on a slab reaches into a third block.
  out.on_half = half & ~full & (two >> 1) & inner;
  return out;
}

/// A place that leads on to `next`; worse ways than the one it has are dropped.
void BlockSearch::reach(std::int32_t x, std::int32_t y, std::int32_t height, std::uint32_t distance,
                        std::uint16_t next) {
  if (distance >= BlockWays::nowhere || heap_.size() == heap_max) return;
  const auto first = static_cast<std::uint32_t>(y * corners_side + x) * BlockWays::floors_max;
  std::uint32_t place = first;
  while (place < first + BlockWays::floors_max && ways_.height_[place] != no_floor &&
         ways_.height_[place] != height)
    ++place;
  if (place == first + BlockWays::floors_max) return;  // more floors than are kept
  if (ways_.height_[place] != no_floor && ways_.distance_[place] <= distance) return;
  ways_.height_[place] = static_cast<std::uint8_t>(height);
  ways_.distance_[place] = static_cast<std::uint16_t>(distance);
  ways_.next_[place] = next;
  const auto later = [](const Open& a, const Open& b) {
    return a.distance != b.distance ? a.distance > b.distance : a.place > b.place;
  };
  heap_.push_back({static_cast<std::uint16_t>(distance), static_cast<std::uint16_t>(place)});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

/// All corners of the nearest ring about the place where a body of that size stands no deeper than a drop.
void BlockSearch::seed(const VoxelVolume& volume, DVec3 to_m) {
  const IVec2 block{floor_block(to_m.x), floor_block(to_m.y)};
  const auto top = static_cast<std::int32_t>(std::floor((to_m.z + off_m_max) * 2)) - 2 * ways_.origin_.z;
  constexpr std::int32_t rings = 3;
  for (std::int32_t ring = 0; ring < rings && heap_.empty(); ++ring)
    for (std::int32_t cy = block.y - ring; cy <= block.y + 1 + ring; ++cy)
      for (std::int32_t cx = block.x - ring; cx <= block.x + 1 + ring; ++cx) {
        const std::int32_t x = cx - ways_.origin_.x - 1, y = cy - ways_.origin_.y - 1;
        const Corner at = corner(volume, x, y);
        for (std::int32_t h = top; h >= std::max(0, top - 2 * block_drop_max); --h) {
          const std::uint64_t stands = (h % 2 == 0 ? at.on_block : at.on_half) >> (h / 2);
          if ((stands & 1u) == 0) continue;
          const double off_m = length(DVec2{to_m.x - cx, to_m.y - cy});
          reach(x, y, h, static_cast<std::uint32_t>(off_m * 10), BlockWays::nowhere);
          break;
        }
      }
}

void BlockSearch::begin(const VoxelVolume& volume, DVec3 to_m, BlockWalker walker) {
  walker_ = walker;
  for (Column& c : columns_) c.known = false;
  std::ranges::fill(settled_, std::uint8_t{0});
  heap_.clear();
  ways_.clear(IVec3{floor_block(to_m.x) - corners_side / 2, floor_block(to_m.y) - corners_side / 2,
                    floor_block(to_m.z) - BlockWays::levels / 2});
  seed(volume, to_m);
}

/// Looks from a place to one beside it for floors from which one goes there: up by a step, down by a drop,
/// with room on both where one passes.
void BlockSearch::come_from(const VoxelVolume& volume, std::uint16_t place, const Corner& here,
                            std::int32_t dx, std::int32_t dy) {
  const std::int32_t at = place / static_cast<std::int32_t>(BlockWays::floors_max);
  const std::int32_t x = at % corners_side, y = at / corners_side;
  if (x + dx < 0 || y + dy < 0 || x + dx >= corners_side || y + dy >= corners_side) return;
  Corner there = corner(volume, x + dx, y + dy);
  const std::int32_t own = ways_.height_[place];
  const bool slanting = dx != 0 && dy != 0;
  if (slanting) {
    // These lie in level ground alone, so that no edge beside them is in the way.
    const Corner a = corner(volume, x + dx, y), b = corner(volume, x, y + dy);
    there.on_block &= a.on_block & b.on_block, there.on_half &= a.on_half & b.on_half;
  }
  const std::int32_t low = slanting ? own : std::max(0, own - (walker_.climbs ? 2 : 1));
  const std::int32_t high = slanting ? own : std::min(2 * BlockWays::levels - 1, own + 2 * block_drop_max);
  for (const std::int32_t half : {0, 1}) {
    std::uint64_t stands =
        (half == 0 ? there.on_block : there.on_half) & layer_bits((low + 1 - half) / 2, (high - half) / 2);
    for (; stands != 0; stands &= stands - 1) {
      const std::int32_t h = 2 * std::countr_zero(stands) + half;
      const std::int32_t passes = std::max(h, own);
      if ((here.solid & body_bits(own, passes)) != 0 || (there.solid & body_bits(h, passes)) != 0) continue;
      std::uint32_t cost = slanting ? diagonal_cost : straight_cost;
      if (own > h) cost += rise_cost * static_cast<std::uint32_t>(own - h);
      if (h - own > fall_halves) cost += fall_cost;
      reach(x + dx, y + dy, h, ways_.distance_[place] + cost, place);
    }
  }
}

std::uint32_t BlockSearch::advance(const VoxelVolume& volume, std::uint32_t places_max) {
  const auto later = [](const Open& a, const Open& b) {
    return a.distance != b.distance ? a.distance > b.distance : a.place > b.place;
  };
  std::uint32_t count = 0;
  while (count < places_max && !heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Open least = heap_.back();
    heap_.pop_back();
    if (settled_[least.place] != 0) continue;
    settled_[least.place] = 1;
    ++count;
    const std::int32_t at = least.place / static_cast<std::int32_t>(BlockWays::floors_max);
    const Corner here = corner(volume, at % corners_side, at / corners_side);
    for (std::int32_t dy = -1; dy <= 1; ++dy)
      for (std::int32_t dx = -1; dx <= 1; ++dx)
        if (dx != 0 || dy != 0) come_from(volume, least.place, here, dx, dy);
  }
  return count;
}

}  // namespace ashlar
