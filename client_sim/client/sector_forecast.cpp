#include "client_sim/client/sector_forecast.h"

#include <algorithm>
#include <cmath>

#include "protocol/sector_motion.h"

namespace ashlar::client_sim {
namespace {

constexpr std::uint32_t gap_seconds_max = 5;  // after a longer silence motions are not known any more
// Told heights are rounded to the nearest step: what is further off is not the same height.
constexpr double same_height_m = 0.75 / height_steps_per_m;

double& plane_of(SectorHeights& h, Plane plane) { return plane == Plane::floor ? h.floor_m : h.ceiling_m; }

}  // namespace

SectorForecast::SectorForecast(std::vector<std::shared_ptr<const PlacedMap>> maps, std::uint16_t tick_rate_hz,
                               std::uint64_t changes)
    : tick_s_(1.0 / tick_rate_hz), second_ticks_(tick_rate_hz), changes_(changes) {
  std::uint32_t sectors_max = 0;
  for (auto& placed : maps) {
    Map& map = maps_.emplace_back();
    if (placed == nullptr) continue;
    const HeightsView initial = placed->initial_heights();
    map.heights.assign(initial.begin(), initial.end());
    const auto sectors = static_cast<std::uint32_t>(initial.size());
    map.movers = SectorMovers(sectors);
    sectors_max = std::max(sectors_max, sectors);
    map.placed = std::move(placed);
  }
  ahead_.heights.reserve(sectors_max);
  ahead_.movers = SectorMovers(sectors_max);
}

void SectorForecast::go_on(std::uint32_t ticks) {
  const bool known = ticks <= gap_seconds_max * second_ticks_;
  for (Map& map : maps_) {
    if (map.movers.movers().empty()) continue;
    ++changes_;
    if (!known) map.movers.assign({});
    for (std::uint32_t i = 0; i < ticks && !map.movers.movers().empty(); ++i)
      map.movers.advance_alone(*map.placed, map.heights, tick_s_);
  }
}

void SectorForecast::take_height(Map& map, std::uint32_t sector, Plane plane, std::int32_t told) {
  double& height = plane_of(map.heights[sector], plane);
  const double told_m = told / height_steps_per_m;
  if (std::fabs(height - told_m) <= same_height_m) return;
  ++changes_;
  height = told_m;
  map.movers.remove(sector, plane);
}

void SectorForecast::take(const SnapshotPart& part) {
  if (tick_ != 0 && part.tick < tick_) return;
  if (tick_ != 0 && part.tick > tick_) go_on(part.tick - tick_);
  tick_ = part.tick;
  for (const WireMotion& motion : part.sector_motions) {
    if (motion.map >= maps_.size()) continue;
    Map& map = maps_[motion.map];
    const Mover mover = mover_of(motion);
    ++changes_;
    if (map.movers.put(mover)) plane_of(map.heights[mover.sector], mover.plane) = motion.height_m;
  }
  std::size_t at = 0;
  for (const SectorRun& run : part.sector_runs)
    for (std::uint32_t i = 0; i < run.count; ++i, ++at) {
      const std::uint32_t sector = run.first + i;
      if (run.map >= maps_.size() || sector >= maps_[run.map].heights.size()) continue;
      take_height(maps_[run.map], sector, Plane::floor, part.sector_heights[at].floor);
      take_height(maps_[run.map], sector, Plane::ceiling, part.sector_heights[at].ceiling);
    }
}

HeightsView SectorForecast::foresee(std::size_t map, std::uint32_t ticks) {
  const Map& now = maps_[map];
  if (now.placed == nullptr) return {};
  ahead_.heights.assign(now.heights.begin(), now.heights.end());
  ahead_.movers.assign(now.movers.movers());
  for (std::uint32_t i = 0; i < ticks && !ahead_.movers.movers().empty(); ++i)
    ahead_.movers.advance_alone(*now.placed, ahead_.heights, tick_s_);
  return ahead_.heights;
}

}  // namespace ashlar::client_sim
