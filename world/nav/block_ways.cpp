#include "world/nav/block_ways.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "world/math/hash.h"

namespace ashlar {
namespace {

constexpr std::uint8_t no_floor = 0xff;
constexpr std::int32_t corners_side = BlockWays::side;
constexpr double there_m = 0.35;       // so near to a corner one goes on to the next
constexpr double side_m = 0.33;        // so near to the line between two corners one goes along it
constexpr double off_m_max = 1.1;      // so far may a body be above or below a corner's ground
constexpr double rung_m = 0.3;         // off a corner into the ladder's column
constexpr double ladder_near_m = 1.2;  // so near one goes to the ladder itself
constexpr double hanging_m = 0.6;      // above its foot
constexpr double top_reached_m = 0.05;
constexpr double lean_m = 1.2, lean_share = 0.7;

std::int32_t floor_block(double v) { return static_cast<std::int32_t>(std::floor(v)); }

/// Of the floors at a corner.
std::uint32_t first_place(std::int32_t x, std::int32_t y) {
  return static_cast<std::uint32_t>(y * corners_side + x) * BlockWays::floors_max;
}

}  // namespace

void BlockWays::clear(IVec3 origin) {
  origin_ = origin;
  height_.assign(places_max, no_floor);
  ladders_ = false;
  // Of a place without a height nobody reads the rest.
  next_.resize(places_max, nowhere);
  distance_.resize(places_max, nowhere);
  ladder_.resize(places_max, 0);
}

DVec3 BlockWays::position_m(std::uint16_t place) const {
  const std::int32_t at = place / static_cast<std::int32_t>(floors_max);
  return {static_cast<double>(origin_.x + 1 + at % corners_side),
          static_cast<double>(origin_.y + 1 + at / corners_side), origin_.z + height_[place] * 0.5};
}

std::uint16_t BlockWays::place_at(IVec2 corner, std::int32_t half_blocks) const {
  const std::int32_t x = corner.x - origin_.x - 1, y = corner.y - origin_.y - 1;
  if (x < 0 || y < 0 || x >= corners_side || y >= corners_side) return nowhere;
  const std::uint32_t first = first_place(x, y);
  for (std::uint32_t i = first; i < first + floors_max && height_[i] != no_floor; ++i)
    if (height_[i] == half_blocks - 2 * origin_.z) return static_cast<std::uint16_t>(i);
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
    const std::uint32_t first = first_place(x, y);
    for (std::uint32_t p = first; p < first + floors_max && height_[p] != no_floor; ++p) {
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

double BlockWays::by_corner_m(std::uint16_t place, DVec3 from_m) const {
  return distance_[place] * 0.1 + length(xy(position_m(place) - from_m));
}

/// Of the corners about a body that are on a level with it the one by which it gets there soonest; but where
/// there is a hole or a wall among the four, only one that it gets to along their sides. nowhere: none is.
std::uint16_t BlockWays::corner_on_level(IVec2 block, std::int32_t half, DVec3 from_m) const {
  std::array<std::uint16_t, 4> level{};
  std::size_t count = 0, nearest = 0;
  double nearest_m = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    level[i] = place_at(
        {block.x + static_cast<std::int32_t>(i & 1), block.y + static_cast<std::int32_t>(i >> 1)}, half);
    if (level[i] == nowhere) continue;
    const double off_m = length(xy(position_m(level[i]) - from_m));
    if (count++ == 0 || off_m < nearest_m) nearest = i, nearest_m = off_m;
  }
  if (count == 0) return nowhere;
  std::uint16_t best = level[nearest];
  for (std::size_t i = 0; i < 4; ++i) {
    if (level[i] == nowhere || i == nearest) continue;
    if (count < 4) {
      const std::size_t apart = i ^ nearest;  // 1: beside it along x, 2: along y
      const DVec2 off = xy(from_m - position_m(level[i]));
      if (apart == 3 || std::fabs(apart == 1 ? off.y : off.x) > side_m) continue;
    }
    if (by_corner_m(level[i], from_m) < by_corner_m(best, from_m)) best = level[i];
  }
  return best;
}

/// One of the four corners about a body. nowhere: it stands at none of them.
std::uint16_t BlockWays::corner_by(IVec2 block, DVec3 from_m) const {
  const auto half = static_cast<std::int32_t>(std::floor(from_m.z * 2 + 0.5));
  std::uint16_t best = corner_on_level(block, half, from_m);
  for (const std::int32_t off : {-1, 1, -2, 2}) {
    if (best != nowhere && off != 1) break;
    if (off == 2 && !up_block_) break;
    for (std::int32_t i = 0; i < 4; ++i) {
      const std::uint16_t place = place_at({block.x + (i & 1), block.y + (i >> 1)}, half + off);
      if (place == nowhere || std::fabs(position_m(place).z - from_m.z) > off_m_max) continue;
      if (best == nowhere || by_corner_m(place, from_m) < by_corner_m(best, from_m)) best = place;
    }
  }
  return best;
}

std::optional<BlockWays::Step> BlockWays::step(DVec3 from_m) const {
  const IVec2 block{floor_block(from_m.x), floor_block(from_m.y)};
  if (ladders_)
    if (const auto up = on_ladder(block, from_m)) return up;
  const std::uint16_t best = corner_by(block, from_m);
  if (best == nowhere) return std::nullopt;
  const DVec2 at = xy(position_m(best)), off = at - xy(from_m);
  const double off_m = length(off);
  if (ladder_[best] != 0 && off_m < ladder_near_m) return up_ladder(best, from_m);
  const double all_m = distance_[best] * 0.1 + off_m;
  const std::uint16_t next = next_[best];
  if (next == nowhere) return off_m < there_m ? std::nullopt : std::optional(Step{position_m(best), all_m});
  // On its way from there to the next one?
  const DVec2 along = xy(position_m(next)) - at;
  const double along2 = dot(along, along);
  const double part = along2 > 0 ? std::clamp(-dot(off, along) / along2, 0.0, 1.0) : 0;
  const bool goes_on = length(off + along * part) < there_m;
  return Step{position_m(goes_on ? next : best), all_m};
}

BlockSearch::BlockSearch(std::vector<MapRock> rock)
    : ground_(corners_side, std::move(rock)), settled_(BlockWays::places_max), open_(BlockWays::places_max) {
  static_assert(BlockGround::cost_max < DistanceQueue::spread_max);
}

/// A place at a height leads on to `next`, unless it has a better way, or as good a one.
void BlockSearch::put(std::uint32_t place, std::int32_t height, std::uint32_t distance, std::uint16_t next,
                      std::uint8_t ladder) {
  const auto number = static_cast<std::uint16_t>(place);
  if (ways_.height_[place] == no_floor) {
    ways_.height_[place] = static_cast<std::uint8_t>(height);
    open_.put(number, distance);
  } else {
    const std::uint32_t before = ways_.distance_[place];
    if (before <= distance) return;
    open_.bring(number, before, distance);
  }
  ways_.distance_[place] = static_cast<std::uint16_t>(distance);
  ways_.next_[place] = next;
  ways_.ladder_[place] = ladder;
}

void BlockSearch::reach(std::int32_t x, std::int32_t y, std::int32_t height, std::uint32_t distance,
                        std::uint16_t next, std::uint8_t ladder) {
  if (x < x_min_ || y < y_min_ || x >= x_max_ || y >= y_max_ || distance >= BlockWays::nowhere) return;
  const std::uint32_t first = first_place(x, y);
  std::uint32_t place = first;
  while (place < first + BlockWays::floors_max && ways_.height_[place] != no_floor &&
         ways_.height_[place] != height)
    ++place;
  if (place == first + BlockWays::floors_max) return;  // more floors than are kept
  ways_.ladders_ = ways_.ladders_ || ladder != 0;
  put(place, height, distance, next, ladder);
}

bool BlockSearch::stands(const VoxelVolume& volume, std::int32_t x, std::int32_t y, std::int32_t height) {
  return ground_.corner(volume, x, y).stands_at(height);
}

/// All corners of the nearest ring about the place where a body of that size stands no deeper than a drop.
void BlockSearch::seed(const VoxelVolume& volume, DVec3 to_m) {
  const IVec2 block{floor_block(to_m.x), floor_block(to_m.y)};
  const auto top = static_cast<std::int32_t>(std::floor((to_m.z + off_m_max) * 2)) - 2 * ways_.origin_.z;
  constexpr std::int32_t rings = 3;
  for (std::int32_t ring = 0; ring < rings && open_.empty(); ++ring)
    for (std::int32_t cy = block.y - ring; cy <= block.y + 1 + ring; ++cy)
      for (std::int32_t cx = block.x - ring; cx <= block.x + 1 + ring; ++cx) {
        const std::int32_t x = cx - ways_.origin_.x - 1, y = cy - ways_.origin_.y - 1;
        for (std::int32_t h = top; h >= std::max(0, top - 2 * block_drop_max); --h) {
          if (!stands(volume, x, y, h)) continue;
          const double off_m = length(DVec2{to_m.x - cx, to_m.y - cy});
          reach(x, y, h, static_cast<std::uint32_t>(off_m * 10), BlockWays::nowhere);
          break;
        }
      }
}

std::uint64_t ground_content(const VoxelVolume& volume, IVec3 middle) {
  constexpr IVec3 half{corners_side / 2, corners_side / 2, BlockWays::levels / 2};
  // As many columns as corners and one more.
  const ChunkCoord low = chunk_of(middle - half);
  const ChunkCoord high = chunk_of(middle - half + IVec3{corners_side, corners_side, BlockWays::levels - 1});
  StripeHasher hash;
  for (std::int32_t z = low.z; z <= high.z; ++z)
    for (std::int32_t y = low.y; y <= high.y; ++y)
      for (std::int32_t x = low.x; x <= high.x; ++x) {
        const Chunk* chunk = volume.find({x, y, z});
        hash.add(chunk != nullptr ? chunk->content_hash() | 1 : 0);
      }
  return hash.value();
}

void BlockSearch::clear(const VoxelVolume& volume, IVec3 middle, BlockWalker walker) {
  std::ranges::fill(settled_, std::uint8_t{0});
  reached_ = 0;
  open_.clear();
  ways_.clear(middle - IVec3{corners_side / 2, corners_side / 2, BlockWays::levels / 2});
  ground_.begin(volume, ways_.origin_, walker);
  ways_.up_block_ = walker.climbs;
  x_min_ = y_min_ = 0, x_max_ = y_max_ = corners_side;
}

void BlockSearch::begin(const VoxelVolume& volume, DVec3 to_m, BlockWalker walker) {
  clear(volume, {floor_block(to_m.x), floor_block(to_m.y), floor_block(to_m.z)}, walker);
  seed(volume, to_m);
}

void BlockSearch::begin_at(const VoxelVolume& volume, GroundPlace to, BlockWalker walker,
                           const BlockBox& within) {
  clear(volume, {to.x, to.y, to.half >> 1}, walker);
  const IVec3 first = ways_.origin_ + IVec3{1, 1, 0};
  x_min_ = std::max(x_min_, within.min.x - first.x), x_max_ = std::min(x_max_, within.max.x - first.x);
  y_min_ = std::max(y_min_, within.min.y - first.y), y_max_ = std::min(y_max_, within.max.y - first.y);
  const std::int32_t height = to.half - 2 * ways_.origin_.z;
  if (stands(volume, to.x - first.x, to.y - first.y, height))
    reach(to.x - first.x, to.y - first.y, height, 0, BlockWays::nowhere);
}

/// To the eight corners beside one, from a place there. Most ground is level and most corners have one floor:
/// these are told by their levels alone.
void BlockSearch::go_on_to(const VoxelVolume& volume, std::int32_t x, std::int32_t y, std::uint16_t from) {
  const std::int32_t own = ways_.height_[from];
  const std::uint32_t far = ways_.distance_[from];
  const BlockGround::Floor to = ground_.floor(volume, x, y, own);
  const std::int32_t low_x = std::max(x - 1, x_min_), high_x = std::min(x + 1, x_max_ - 1);
  const std::int32_t low_y = std::max(y - 1, y_min_), high_y = std::min(y + 1, y_max_ - 1);
  for (std::int32_t cy = low_y; cy <= high_y; ++cy)
    for (std::int32_t cx = low_x; cx <= high_x; ++cx) {
      if (cx == x && cy == y) continue;
      const std::uint32_t first = first_place(cx, cy);
      const std::int32_t level = ground_.level(volume, cx, cy);
      // Of most that is beside a place that is settled the way is known.
      if (level != BlockGround::many_levels && settled_[first] != 0) continue;
      if (level == own && far + BlockGround::diagonal_cost < BlockWays::nowhere) {
        const bool slanting = cx != x && cy != y;
        if (!slanting) {
          put(first, own, far + BlockGround::straight_cost, from, 0);
          continue;
        }
        if (ground_.level(volume, cx, y) == own && ground_.level(volume, x, cy) == own) {
          put(first, own, far + BlockGround::diagonal_cost, from, 0);
          continue;
        }
      }
      ground_.visit_before(volume, to, cx - x, cy - y,
                           [&](std::int32_t h, std::uint32_t cost) { reach(cx, cy, h, far + cost, from); });
    }
}

std::uint32_t BlockSearch::advance(const VoxelVolume& volume, std::uint32_t places_max) {
  ground_.look_again();
  std::uint32_t count = 0;
  for (; count < places_max && !open_.empty(); ++count) {
    const std::uint16_t place = open_.take_nearest();
    settled_[place] = 1;
    reached_ = ways_.distance_[place];
    const std::int32_t at = place / static_cast<std::int32_t>(BlockWays::floors_max);
    const std::int32_t x = at % corners_side, y = at / corners_side;
    go_on_to(volume, x, y, place);
    if (ground_.walker().ladders && ground_.some_ladder())
      ground_.visit_feet(
          volume, x, y, ways_.height_[place],
          [&](std::int32_t fx, std::int32_t fy, std::int32_t h, std::uint32_t cost, int column) {
            reach(fx, fy, h, reached_ + cost, place, static_cast<std::uint8_t>(column + 1));
          });
  }
  return count;
}

}  // namespace ashlar
