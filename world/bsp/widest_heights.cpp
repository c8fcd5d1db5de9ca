#include "world/bsp/widest_heights.h"

#include <algorithm>
#include <limits>

#include "world/bsp/open_doors.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr std::uint16_t closes_after_30_s = 10, opens_after_5_min = 14;
/// Rounds in which bounds may follow each other; what still grows then has no bound (two floors that each go
/// below the other).
constexpr int rounds_bounded = 32;

/// Every height that a plane may ever be at lies in here.
struct Range {
  double low = 0, high = 0;
};
Range operator+(Range r, double by) { return {r.low + by, r.high + by}; }

/// Lets ranges grow by what each line may do until nothing grows: the rules of world/sim/mover_start.h with
/// ranges in place of heights.
class Ranges {
 public:
  explicit Ranges(const SectorMap& map) : map_(map), beside_(map.sectors.size()) {
    for (const MapLine& line : map.lines) {
      const std::uint32_t a = map.front_sector(line), b = map.back_sector(line);
      if (a == no_index || b == no_index || a == b) continue;
      beside_[a].push_back(b);
      beside_[b].push_back(a);
    }
    const std::vector<DrawnHeights> drawn = heights_as_drawn(map), open = heights_with_open_doors(map);
    for (std::size_t s = 0; s < drawn.size(); ++s) {
      floor_.push_back({std::min(drawn[s].floor, open[s].floor), std::max(drawn[s].floor, open[s].floor)});
      ceiling_.push_back(
          {std::min(drawn[s].ceiling, open[s].ceiling), std::max(drawn[s].ceiling, open[s].ceiling)});
    }
    acts_ = sector_actions(map);
    LineAction timed;
    timed.target = HeightTarget::lowest_ceiling;
    timed.offset_m = -door_lip / map_units_per_m;
    for (std::uint32_t s = 0; s < map.sectors.size(); ++s) {
      if (map.sectors[s].special == closes_after_30_s)
        timed.effect = LineEffect::door_close;
      else if (map.sectors[s].special == opens_after_5_min)
        timed.effect = LineEffect::door_raise;
      else
        continue;
      acts_.push_back({s, timed});
    }
  }

  void grow() {
    for (int round = 0;; ++round) {
      grew_ = false;
      bounded_ = round < rounds_bounded;
      for (const auto& [sector, action] : acts_) act(sector, action);
      if (!grew_) return;
    }
  }

  DrawnHeights widest(std::size_t s) const { return {floor_[s].low, ceiling_[s].high}; }

 private:
  /// Planes do not pass each other on their way, but under the sky.
  void hold_floor(std::uint32_t s, Range more) {
    if (!map_.sectors[s].sky()) more.high = std::min(more.high, std::max(ceiling_[s].high, floor_[s].high));
    hold(floor_[s], more);
  }
  void hold_ceiling(std::uint32_t s, Range more) {
    if (!map_.sectors[s].sky()) more.low = std::max(more.low, std::min(floor_[s].low, ceiling_[s].low));
    hold(ceiling_[s], more);
  }
  void hold(Range& plane, Range more) {
    ASHLAR_ASSERT(plane.low <= plane.high);
    if (more.low < plane.low) plane.low = bounded_ ? more.low : -unbounded, grew_ = true;
    if (more.high > plane.high) plane.high = bounded_ ? more.high : unbounded, grew_ = true;
  }

  void act(std::uint32_t s, const LineAction& action) {
    const Range floor = floor_[s], ceiling = ceiling_[s];
    const double offset = action.offset_m * map_units_per_m;
    switch (action.effect) {
      case LineEffect::door_raise:
      case LineEffect::door_open:
        hold_ceiling(s, target(s, action.target, ceiling) + offset);
        [[fallthrough]];
      case LineEffect::door_close:
      case LineEffect::door_close_wait_open: hold_ceiling(s, floor); break;
      case LineEffect::lift:
      case LineEffect::lift_up: hold_floor(s, moved(s, action, floor)); break;
      case LineEffect::lift_perpetual:
        hold_floor(s, target(s, HeightTarget::lowest_floor, floor) + std::min(0.0, offset));
        hold_floor(s, target(s, HeightTarget::highest_floor, floor));
        break;
      case LineEffect::floor:
        hold_floor(s, moved(s, action, floor));
        // Under a ceiling it stops there, also where the ceiling is below it.
        if (action.target == HeightTarget::lowest_ceiling)
          hold_floor(s, {ceiling.low + std::min(0.0, offset), floor.high});
        break;
      case LineEffect::ceiling: hold_ceiling(s, moved(s, action, ceiling)); break;
      case LineEffect::floor_and_ceiling:
        hold_ceiling(s, target(s, HeightTarget::highest_ceiling, ceiling));
        hold_floor(s, target(s, HeightTarget::lowest_floor, floor));
        break;
      case LineEffect::crusher: hold_ceiling(s, floor + offset); break;
      case LineEffect::stairs: stairs(s, action.step_m); break;
      case LineEffect::donut: donut(s); break;
      default: break;
    }
  }

  /// Where a plane comes that is sent to an action's target once, or again and again. Level floors keep out
  /// of an offset, so both are held.
  Range moved(std::uint32_t s, const LineAction& action, Range own) const {
    if (action.target == HeightTarget::by_amount)
      return action.offset_m > 0 ? Range{own.low, unbounded} : Range{-unbounded, own.high};
    const Range to = target(s, action.target, own);
    const double offset = action.offset_m * map_units_per_m;
    return {std::min(to.low, to.low + offset), std::max(to.high, to.high + offset)};
  }

  Range target(std::uint32_t s, HeightTarget t, Range own) const {
    if (t == HeightTarget::own_floor) return floor_[s];
    if (t == HeightTarget::own_ceiling) return ceiling_[s];
    if (t == HeightTarget::by_amount || beside_[s].empty())
      return t == HeightTarget::lowest_floor ? floor_[s] : own;
    const bool of_floor = t != HeightTarget::lowest_ceiling && t != HeightTarget::highest_ceiling &&
                          t != HeightTarget::next_higher_ceiling && t != HeightTarget::next_lower_ceiling;
    const std::vector<Range>& planes = of_floor ? floor_ : ceiling_;
    Range lowest = planes[beside_[s].front()], highest = lowest;
    for (const std::uint32_t next : beside_[s]) {
      const Range& r = planes[next];
      lowest = {std::min(lowest.low, r.low), std::min(lowest.high, r.high)};
      highest = {std::max(highest.low, r.low), std::max(highest.high, r.high)};
    }
    switch (t) {
      case HeightTarget::lowest_floor:
        return {std::min(lowest.low, floor_[s].low), std::min(lowest.high, floor_[s].high)};
      case HeightTarget::lowest_ceiling: return lowest;
      case HeightTarget::highest_floor:
      case HeightTarget::highest_ceiling: return highest;
      default: return {std::min(lowest.low, own.low), std::max(highest.high, own.high)};
    }
  }

  /// A staircase goes on over neighbours with the same flat, which way decides the lines' order: any of them
  /// may come to any step above (or below) the first one's floor.
  void stairs(std::uint32_t first, double step_m) {
    const Range to = step_m > 0 ? Range{floor_[first].low, unbounded} : Range{-unbounded, floor_[first].high};
    std::vector<std::uint32_t> open{first};
    std::vector<std::uint8_t> seen(map_.sectors.size(), 0);
    seen[first] = 1;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      hold_floor(at, to);
      for (const std::uint32_t next : beside_[at]) {
        if (seen[next] != 0 || map_.sectors[next].floor_flat != map_.sectors[first].floor_flat) continue;
        seen[next] = 1;
        open.push_back(next);
      }
    }
  }

  /// The pillar and a ring beside it go to the floor of somebody beside the ring.
  void donut(std::uint32_t pillar) {
    for (const std::uint32_t ring : beside_[pillar]) {
      for (const std::uint32_t outside : beside_[ring]) {
        if (outside == pillar) continue;
        hold_floor(ring, floor_[outside]);
        hold_floor(pillar, floor_[outside]);
      }
    }
  }

  const SectorMap& map_;
  std::vector<std::vector<std::uint32_t>> beside_;
  std::vector<SectorAction> acts_;
  std::vector<Range> floor_, ceiling_;
  bool grew_ = false, bounded_ = true;
};

}  // namespace

std::vector<DrawnHeights> widest_heights(const SectorMap& map) {
  Ranges ranges(map);
  ranges.grow();
  std::vector<DrawnHeights> out;
  for (std::size_t s = 0; s < map.sectors.size(); ++s) {
    out.push_back(ranges.widest(s));
    if (map.sectors[s].sky()) out[s].ceiling = unbounded;
  }
  return out;
}

}  // namespace ashlar
