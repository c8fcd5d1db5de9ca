#include "world/nav/block_ways.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

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
constexpr double there_m = 0.35;         // so near to a corner one goes on to the next
constexpr double off_m_max = 1.1;        // so far may a body be above or below a corner's ground
constexpr std::uint32_t climb_cost = 6;  // half a block up a ladder
constexpr std::int32_t out_halves = 2;   // out of water and off a ladder one gets so far up
constexpr double rung_m = 0.3;           // off a corner into the ladder's column
constexpr double ladder_near_m = 1.2;    // so near one goes to the ladder itself
constexpr double hanging_m = 0.6;        // above its foot
constexpr double top_reached_m = 0.05;
constexpr double lean_m = 1.2, lean_share = 0.7;

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
  ladder_.assign(places_max, 0);
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

/// The column's middle is over a corner's side: a little into it one is on the ladder and off the wall.
BlockWays::Step BlockWays::up_ladder(std::uint16_t place, DVec3 from_m) const {
  const int column = ladder_[place] - 1;
  const DVec3 foot = position_m(place), top = position_m(next_[place]);
  DVec2 at{foot.x + ((column & 1) != 0 ? rung_m : -rung_m), foot.y + ((column >> 1) != 0 ? rung_m : -rung_m)};
  // Near its end one leans over the edge.
  if (from_m.z > top.z - lean_m) at = at + xy(top - foot) * lean_share;
  return {{at.x, at.y, top.z}, distance_[next_[place]] * 0.1 + std::max(0.0, top.z - from_m.z), true};
}

/// Who hangs on a ladder goes on to its end.
std::optional<BlockWays::Step> BlockWays::on_ladder(IVec2 block, DVec3 from_m) const {
  for (std::int32_t i = 0; i < 4; ++i) {
    const std::int32_t x = block.x + (i & 1) - origin_.x - 1, y = block.y + (i >> 1) - origin_.y - 1;
    if (x < 0 || y < 0 || x >= corners_side || y >= corners_side) continue;
    const auto first = static_cast<std::uint32_t>(y * corners_side + x) * floors_max;
    for (std::uint32_t p = first; p < first + floors_max; ++p) {
      const auto place = static_cast<std::uint16_t>(p);
      if (ladder_[place] == 0 || from_m.z < position_m(place).z + hanging_m) continue;
      if (from_m.z >= position_m(next_[place]).z - top_reached_m) continue;
      const Step up = up_ladder(place, from_m);
      const DVec2 off = xy(up.to_m - from_m);
      if (dot(off, off) < ladder_near_m * ladder_near_m) return up;
    }
  }
  return std::nullopt;
}

std::optional<BlockWays::Step> BlockWays::step(DVec3 from_m) const {
  const IVec2 block{floor_block(from_m.x), floor_block(from_m.y)};
  if (const auto up = on_ladder(block, from_m)) return up;
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
  if (ladder_[best] != 0 && dot(off, off) < ladder_near_m * ladder_near_m) return up_ladder(best, from_m);
  if (dot(off, off) < there_m * there_m) best = next_[best];
  if (best == nowhere) return std::nullopt;
  return Step{position_m(best), best_m};
}

BlockSearch::BlockSearch(std::vector<BlockBox> rock) : rock_(std::move(rock)) {
  soft_kinds_.reserve(block_kinds_max);
  columns_.resize(static_cast<std::size_t>(columns_side) * columns_side);
  settled_.resize(BlockWays::places_max);
  heap_.reserve(heap_max);
}

void BlockSearch::note_soft_kinds(const VoxelVolume& volume) {
  soft_kinds_.clear();
  const auto types = volume.kinds().types();
  for (std::size_t i = 0; i < types.size(); ++i)
    if ((walker_.swims && types[i].liquid) || (walker_.ladders && types[i].climbable && !types[i].solid()))
      soft_kinds_.push_back(static_cast<BlockId>(i));
}

/// What of a chunk's column is to swim in and to climb on.
void BlockSearch::fill_soft(const VoxelVolume& volume, const Chunk& chunk, IVec3 local, std::uint32_t solid,
                            std::uint32_t& liquid, std::uint32_t& ladder) const {
  if (std::ranges::none_of(soft_kinds_, [&](BlockId id) { return chunk.may_hold(id); })) return;
  for (std::uint32_t free = ~solid; free != 0; free &= free - 1) {
    const int bit = std::countr_zero(free);
    const BlockType& type = volume.kinds().type(chunk.block({local.x, local.y, bit}));
    if (type.liquid && walker_.swims) liquid |= 1u << bit;
    if (type.climbable && walker_.ladders) ladder |= 1u << bit;
  }
}

void BlockSearch::fill(const VoxelVolume& volume, std::int32_t x, std::int32_t y, Column& out) const {
  const IVec3 low = ways_.origin_ + IVec3{x, y, 0};
  out.known = true;
  out.full = out.half = out.liquid = out.ladder = 0;
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
    std::uint32_t liquid = 0, ladder = 0;
    fill_soft(volume, *chunk, {local.x, local.y, 0}, solid, liquid, ladder);
    out.full |= put(solid & ~slabs);
    out.half |= put(slabs);
    out.liquid |= put(liquid);
    out.ladder |= put(ladder);
  }
  for (const BlockBox& box : rock_)
    if (low.x >= box.min.x && low.x < box.max.x && low.y >= box.min.y && low.y < box.max.y)
      out.full |= layer_bits(box.min.z - low.z, box.max.z - 1 - low.z);
}

const BlockSearch::Column& BlockSearch::column(const VoxelVolume& volume, std::int32_t x, std::int32_t y) {
  Column& c = columns_[static_cast<std::size_t>(y * columns_side + x)];
  if (!c.known) fill(volume, x, y, c);
  return c;
}

BlockSearch::Corner BlockSearch::corner(const VoxelVolume& volume, std::int32_t x, std::int32_t y) {
  std::uint64_t full = 0, half = 0, liquid = ~std::uint64_t{0};
  for (std::int32_t i = 0; i < 4; ++i) {
    const Column& c = column(volume, x + (i & 1), y + (i >> 1));
    full |= c.full, half |= c.half, liquid &= c.liquid;
  }
  Corner out;
  out.solid = full | half;
  const std::uint64_t two = ~out.solid & ~(out.solid >> 1);  // this block and the next one are free
  // What is above the window is not known: nobody stands so high.
  constexpr std::uint64_t inner = ~std::uint64_t{0} >> 3;
  out.on_block = two & (full << 1) & inner;
  // Nobody who swims stands under water: he comes up.
  out.on_water = two & liquid & ~(liquid >> 1) & inner;
  out.on_block = (out.on_block & ~(liquid & (liquid >> 1))) | out.on_water;
  // A body on a slab reaches into a third block.
  out.on_half = half & ~full & (two >> 1) & inner;
  return out;
}

/// A place that leads on to `next`; worse ways than the one it has are dropped.
void BlockSearch::reach(std::int32_t x, std::int32_t y, std::int32_t height, std::uint32_t distance,
                        std::uint16_t next, std::uint8_t ladder) {
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
  ways_.ladder_[place] = ladder;
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
  note_soft_kinds(volume);
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
  const std::int32_t rise = walker_.climbs ? 2 : 1;
  const std::int32_t low = slanting ? own : std::max(0, own - (walker_.swims ? out_halves : rise));
  const std::int32_t high = slanting ? own : std::min(2 * BlockWays::levels - 1, own + 2 * block_drop_max);
  for (const std::int32_t half : {0, 1}) {
    std::uint64_t stands =
        (half == 0 ? there.on_block : there.on_half) & layer_bits((low + 1 - half) / 2, (high - half) / 2);
    for (; stands != 0; stands &= stands - 1) {
      const std::int32_t h = 2 * std::countr_zero(stands) + half;
      if (own - h > rise && (half != 0 || (there.on_water >> (h / 2) & 1u) == 0)) continue;
      const std::int32_t passes = std::max(h, own);
      if ((here.solid & body_bits(own, passes)) != 0 || (there.solid & body_bits(h, passes)) != 0) continue;
      std::uint32_t cost = slanting ? diagonal_cost : straight_cost;
      if (own > h) cost += rise_cost * static_cast<std::uint32_t>(own - h);
      if (h - own > fall_halves) cost += fall_cost;
      reach(x + dx, y + dy, h, ways_.distance_[place] + cost, place);
    }
  }
}

/// Looks about a place for ladders that end there, and for floors at their feet.
void BlockSearch::come_by_ladders(const VoxelVolume& volume, std::uint16_t place) {
  const std::int32_t at = place / static_cast<std::int32_t>(BlockWays::floors_max);
  const std::int32_t x = at % corners_side, y = at / corners_side;
  const std::int32_t own = ways_.height_[place];
  for (std::int32_t dy = -1; dy <= 1; ++dy)
    for (std::int32_t dx = -1; dx <= 1; ++dx) {
      const std::int32_t cx = x + dx, cy = y + dy;
      if (cx < 0 || cy < 0 || cx >= corners_side || cy >= corners_side) continue;
      for (std::int32_t i = 0; i < 4; ++i) {
        const std::uint64_t ladder = column(volume, cx + (i & 1), cy + (i >> 1)).ladder;
        // Its last rung is beside the place or right below it.
        const std::uint64_t ends = ladder & ~(ladder >> 1) & layer_bits((own - out_halves) / 2, own / 2);
        if (ends == 0) continue;
        const std::int32_t top = 63 - std::countl_zero(ends);
        const Corner foot = corner(volume, cx, cy);
        std::int32_t bottom = top;
        while (bottom > 0 && (ladder >> (bottom - 1) & 1u) != 0) --bottom;
        for (std::uint64_t stands = foot.on_block & layer_bits(bottom, top); stands != 0;
             stands &= stands - 1) {
          const std::int32_t h = 2 * std::countr_zero(stands);
          if (own - h <= out_halves || (foot.solid & body_bits(h, own)) != 0) continue;
          reach(cx, cy, h,
                ways_.distance_[place] + straight_cost + climb_cost * static_cast<std::uint32_t>(own - h),
                place, static_cast<std::uint8_t>(i + 1));
        }
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
    if (walker_.ladders) come_by_ladders(volume, least.place);
  }
  return count;
}

}  // namespace ashlar
