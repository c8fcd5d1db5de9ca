#include "world/nav/region_ways.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "world/math/assert.h"
#include "world/math/hash.h"

namespace ashlar {
namespace {

constexpr std::size_t open_max = 16384;
constexpr std::uint32_t beyond_from = 320;  // tenths of a metre that it goes on behind the farthest of `from`
constexpr double above_ground_m_max = 1.1;
constexpr std::int32_t seed_rings = 3;

/// Whose way is the longer one, the later one of equals.
constexpr auto later_open = [](const auto& a, const auto& b) {
  return a.distance != b.distance ? a.distance > b.distance : a.number > b.number;
};

}  // namespace

std::uint32_t straight_way(GroundPlace from, GroundPlace to) {
  const auto dx = static_cast<std::uint32_t>(std::abs(from.x - to.x));
  const auto dy = static_cast<std::uint32_t>(std::abs(from.y - to.y));
  const auto up = static_cast<std::uint32_t>(std::max(0, to.half - from.half));
  const std::uint32_t low = std::min(dx, dy), high = std::max(dx, dy);
  return BlockGround::diagonal_cost * low + BlockGround::straight_cost * (high - low) +
         BlockGround::rise_cost * up;
}

RegionWays::RegionWays() {
  regions_.reserve(regions_max);
  by_place_.assign(slots, nobody);
}

void RegionWays::clear() {
  regions_.clear();
  std::ranges::fill(by_place_, nobody);
}

/// Its own, or the free one that ends the search for it.
std::size_t RegionWays::slot(GroundPlace first) const {
  Hasher hash;
  hash.add(IVec3{first.x, first.y, first.half});
  std::size_t at = hash.value() % slots;
  while (by_place_[at] != nobody && !(regions_[by_place_[at]].first == first)) at = (at + 1) % slots;
  return at;
}

const RegionWays::Region* RegionWays::find(GroundPlace first) const {
  const std::uint16_t number = by_place_[slot(first)];
  return number != nobody ? &regions_[number] : nullptr;
}

std::uint16_t RegionWays::add(const Region& region) {
  ASHLAR_ASSERT(count() < regions_max);
  const std::size_t at = slot(region.first);
  ASHLAR_ASSERT(by_place_[at] == nobody);
  by_place_[at] = static_cast<std::uint16_t>(count());
  regions_.push_back(region);
  return by_place_[at];
}

RegionSearch::RegionSearch() { heap_.reserve(open_max); }

void RegionSearch::begin(DVec3 to_m, BlockWalker walker, std::span<const GroundPlace> from) {
  to_m_ = to_m, walker_ = walker;
  seeding_ = true, limited_ = false;
  pushed_ = 0, limit_ = ~std::uint32_t{0};
  from_count_ = std::min(from.size(), from_max);
  std::copy_n(from.begin(), from_count_, from_.begin());
  ways_.clear();
  heap_.clear();
}

std::uint32_t RegionSearch::units_of(BlockRegions::Work work) {
  return work == BlockRegions::Work::made ? units_made : work == BlockRegions::Work::read ? units_read : 1;
}

void RegionSearch::push(Open open) {
  if (heap_.size() == open_max) return;
  open.number = pushed_++;
  heap_.push_back(open);
  std::push_heap(heap_.begin(), heap_.end(), later_open);
}

/// As a search over blocks begins: all corners of the nearest ring about the place where somebody stands no
/// deeper than a drop.
std::uint32_t RegionSearch::seed(const VoxelVolume& volume, BlockRegions& regions) {
  std::uint32_t work = 0;
  const auto block = [](double v) { return static_cast<std::int32_t>(std::floor(v)); };
  const std::int32_t bx = block(to_m_.x), by = block(to_m_.y);
  const std::int32_t top = block((to_m_.z + above_ground_m_max) * 2);
  for (std::int32_t ring = 0; ring < seed_rings && heap_.empty(); ++ring)
    for (std::int32_t y = by - ring; y <= by + 1 + ring; ++y)
      for (std::int32_t x = bx - ring; x <= bx + 1 + ring; ++x)
        for (std::int32_t h = top; h >= top - 2 * block_drop_max; --h) {
          const GroundPlace at{x, y, h};
          const auto done = regions.bring(volume, at, walker_);
          if (done != BlockRegions::Work::none) work += units_of(done);
          if (!regions.region(at, walker_)) continue;
          const double off_m = std::sqrt((to_m_.x - x) * (to_m_.x - x) + (to_m_.y - y) * (to_m_.y - y));
          push({static_cast<std::uint32_t>(off_m * 10), 0, at, at, RegionWays::nobody});
          break;
        }
  return work + 1;
}

void RegionSearch::settle(const Open& open, GroundPlace first, const BlockRegions& regions) {
  const std::uint16_t number = ways_.add({first, open.exit, open.to, open.distance, open.next});
  regions.visit_joins(first, walker_, [&](GroundPlace from, GroundPlace to, std::uint32_t cost) {
    push({open.distance + straight_way(to, open.exit) + cost, 0, from, to, number});
  });
  if (from_count_ == 0) return;
  for (std::size_t i = 0; i < from_count_;) {
    const bool here = BlockRegions::cell_of(from_[i]) == BlockRegions::cell_of(first) &&
                      regions.region(from_[i], walker_) == first;
    if (here)
      from_[i] = from_[--from_count_];
    else
      ++i;
  }
  if (from_count_ == 0) limit_ = open.distance + beyond_from;
}

std::uint32_t RegionSearch::advance(const VoxelVolume& volume, BlockRegions& regions, std::uint32_t units) {
  std::uint32_t work = 0;
  if (seeding_) work += seed(volume, regions), seeding_ = false;
  while (work < units && !heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later_open);
    const Open least = heap_.back();
    heap_.pop_back();
    if (least.distance > limit_ || ways_.count() == RegionWays::regions_max) {
      limited_ = least.distance > limit_;
      heap_.clear();
      break;
    }
    work += units_of(regions.bring(volume, least.exit, walker_));
    const auto first = regions.region(least.exit, walker_);
    if (first && ways_.find(*first) == nullptr) settle(least, *first, regions);
  }
  return work;
}

}  // namespace ashlar
