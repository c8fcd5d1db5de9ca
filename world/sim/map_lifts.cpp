#include "world/sim/map_lifts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "world/sim/mover_start.h"

namespace ashlar {
namespace {

constexpr double call_over_m = 0.5;  // behind a line, so that it is walked over

bool lift_motion(Motion motion) {
  return motion == Motion::lift || motion == Motion::lift_up || motion == Motion::perpetual;
}

bool calls_lift(const LineAction* action) {
  return action != nullptr && action->monsters && action->repeats && action->keys == 0 &&
         action->trigger == LineTrigger::walk && action->effect == LineEffect::lift;
}

}  // namespace

/// Can who stands before a lift below be at the line by a few steps? Not one at the lift's own edge, which is
/// out of reach while that is up.
bool MapLifts::before_lift(const MapPlan& plan, std::uint32_t line, std::uint32_t sector) {
  constexpr double far_m = 8, step_m = 0.75;
  const SectorMap& source = plan.map().source();
  const HeightsView heights = plan.map().initial_heights();
  double low = heights[sector].floor_m;
  for (const std::uint32_t edge : plan.lines_of(sector))
    if (const std::uint32_t other = plan.beside(sector, edge); other != no_index)
      low = std::min(low, heights[other].floor_m);
  for (const std::uint32_t side :
       {source.front_sector(source.lines[line]), source.back_sector(source.lines[line])})
    if (side == no_index || side == sector || std::fabs(heights[side].floor_m - low) > step_m) return false;
  const SectorBounds& bounds = plan.bounds_of(sector);
  const DVec2 middle = (plan.start_m(line) + plan.end_m(line)) * 0.5;
  const DVec2 nearest{std::clamp(middle.x, bounds.low.x, bounds.high.x),
                      std::clamp(middle.y, bounds.low.y, bounds.high.y)};
  return length(middle - nearest) <= far_m;
}

/// Is it an edge of a lift that was placed lowered, with ground on its other side to come from?
bool MapLifts::at_edge(const MapPlan& plan, std::uint32_t line, std::uint32_t sector) {
  constexpr double step_m = 0.75;
  const std::uint32_t other = plan.beside(sector, line);
  if (other == no_index) return false;
  const HeightsView heights = plan.map().initial_heights();
  const double floor_m = heights[sector].floor_m;
  return lift_upper_end(plan.map(), heights, sector) > floor_m &&
         std::fabs(heights[other].floor_m - floor_m) <= step_m;
}

MapLifts::MapLifts(const MapPlan& plan)
    : at_rest_(plan.sector_count()),
      ranges_(plan.sector_count()),
      in_motion_(plan.sector_count(), 0),
      lowered_(plan.sector_count(), 0) {
  for (std::uint32_t line = 0; line < plan.map().source().lines.size(); ++line) {
    const LineAction* action = plan.action(line);
    if (!calls_lift(action)) continue;
    for (const auto& [tag, sector] : plan.tagged(action->tag))
      if (before_lift(plan, line, sector))
        calls_.push_back({sector, line, false});
      else if (at_edge(plan, line, sector))
        calls_.push_back({sector, line, true});
  }
  std::ranges::sort(calls_, {}, [](const Call& c) { return std::pair(c.sector, c.line); });
  moved_.reserve(plan.sector_count());
}

/// What a lift at rest does when it is called; of its calls number `first` is the first.
FloorRange MapLifts::rest(const MapPlan& plan, HeightsView heights, const SectorMovers& movers,
                          std::size_t first) {
  const std::uint32_t sector = calls_[first].sector;
  if (movers.find(sector, Plane::floor) != nullptr) return at_rest_[sector];
  const double now = heights[sector].floor_m, top = lift_upper_end(plan.map(), heights, sector);
  lowered_[sector] = top > now ? 1 : 0;
  for (std::size_t i = first; i < calls_.size() && calls_[i].sector == sector; ++i) {
    if (!works(calls_[i])) continue;
    const LineAction& action = *plan.action(calls_[i].line);
    const double to = target_height(plan, heights, sector, action.target, Plane::floor) + action.offset_m;
    return {std::min(now, to), top};
  }
  return {};
}

void MapLifts::follow(const MapPlan& plan, HeightsView heights, const SectorMovers& movers,
                      std::uint32_t tick) {
  for (const std::uint32_t sector : moved_) ranges_[sector] = at_rest_[sector], in_motion_[sector] = 0;
  moved_.clear();
  if (tick % rest_every_ticks == 0)
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const std::uint32_t sector = calls_[i].sector;
      if (i == 0 || calls_[i - 1].sector != sector) at_rest_[sector] = rest(plan, heights, movers, i);
      ranges_[sector] = at_rest_[sector];
    }
  for (const Mover& mover : movers.movers()) {
    if (mover.plane != Plane::floor || !lift_motion(mover.motion) || mover.phase == MotionPhase::held)
      continue;
    ranges_[mover.sector] = {mover.low_m, mover.high_m};
    in_motion_[mover.sector] = 1;
    moved_.push_back(mover.sector);
  }
}

std::optional<DVec2> MapLifts::call_from(const MapPlan& plan, std::uint32_t sector, DVec2 at_m) const {
  const auto [first, last] = std::ranges::equal_range(calls_, sector, {}, &Call::sector);
  std::optional<DVec2> best;
  double best2 = 0;
  for (auto call = first; call != last; ++call) {
    if (!works(*call)) continue;
    const DVec2 a = plan.start_m(call->line), b = plan.end_m(call->line);
    const DVec2 along = b - a, middle = (a + b) * 0.5;
    const double size = length(along);
    if (!(size > 0)) continue;
    const DVec2 front_m{along.y / size, -along.x / size};
    const DVec2 to = middle + front_m * (plan.in_front(call->line, at_m) ? -call_over_m : call_over_m);
    const DVec2 off = middle - at_m;
    if (best && dot(off, off) >= best2) continue;
    best = to, best2 = dot(off, off);
  }
  return best;
}

}  // namespace ashlar
