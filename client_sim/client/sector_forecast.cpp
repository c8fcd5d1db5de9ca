#include "client_sim/client/sector_forecast.h"

#include <algorithm>
#include <cmath>

#include "protocol/sector_motion.h"

namespace ashlar::client_sim {
namespace {

constexpr std::uint32_t gap_seconds_max = 5;  // after a longer silence motions are not known any more
// Told heights are rounded to the nearest step: what is further off is not the same height.
constexpr double same_height_m = 0.75 / height_steps_per_m;
bool same_height(double height_m, std::int32_t told) {
  return std::fabs(height_m - told / height_steps_per_m) <= same_height_m;
}

/// Of what was told of planes, one's.
template <class Told>
Told& told_of(std::vector<Told>& told, std::uint32_t sector, Plane plane) {
  return told[std::size_t{2} * sector + static_cast<std::size_t>(plane)];
}

double& plane_of(SectorHeights& h, Plane plane) { return plane == Plane::floor ? h.floor_m : h.ceiling_m; }

}  // namespace

SectorForecast::SectorForecast(std::vector<std::shared_ptr<const PlacedMap>> maps, std::uint16_t tick_rate_hz,
                               std::uint64_t changes)
    : tick_s_(1.0 / tick_rate_hz), second_ticks_(tick_rate_hz), changes_(changes), begun_(changes) {
  std::uint32_t sectors_max = 0;
  for (auto& placed : maps) {
    Map& map = maps_.emplace_back();
    if (placed == nullptr) continue;
    const HeightsView initial = placed->initial_heights();
    map.heights.assign(initial.begin(), initial.end());
    const auto sectors = static_cast<std::uint32_t>(initial.size());
    map.movers = SectorMovers(sectors);
    map.told.resize(std::size_t{2} * sectors);
    sectors_max = std::max(sectors_max, sectors);
    map.placed = std::move(placed);
  }
  ahead_.heights.reserve(sectors_max);
  ahead_.movers = SectorMovers(sectors_max);
}

void SectorForecast::note_changed(const Map& map, std::uint32_t sector) {
  const auto number = static_cast<std::uint32_t>(&map - maps_.data());
  changed_[changes_++ % changed_.size()] = {number, sector};
}

void SectorForecast::go_on(std::uint32_t ticks) {
  const bool known = ticks <= gap_seconds_max * second_ticks_;
  for (Map& map : maps_) {
    if (map.movers.movers().empty()) continue;
    for (const Mover& mover : map.movers.movers()) note_changed(map, mover.sector);
    if (!known) {
      map.movers.assign({});
      for (Told& told : map.told) told.motion = 0;
    }
    for (std::uint32_t i = 0; i < ticks && !map.movers.movers().empty(); ++i)
      map.movers.advance_alone(*map.placed, map.heights, tick_s_);
  }
}

/// Goes on from a motion as if nothing else were told: the plane's height then. What is left of the motion is
/// in ahead_.movers. The other plane of its sector is where it is now: where the two stop each other a late
/// motion may be followed wrongly, until the next height or motion.
double SectorForecast::replay(const Map& map, const WireMotion& motion, std::uint32_t ticks) {
  const Mover mover = mover_of(motion);
  ahead_.heights.assign(map.heights.begin(), map.heights.end());
  double& height = plane_of(ahead_.heights[mover.sector], mover.plane);
  height = motion.height_m;
  ahead_.movers.assign({});
  ahead_.movers.put(mover);
  for (std::uint32_t i = 0; i < ticks && !ahead_.movers.movers().empty(); ++i)
    ahead_.movers.advance_alone(*map.placed, ahead_.heights, tick_s_);
  return height;
}

void SectorForecast::take_motion(Map& map, const WireMotion& motion, std::uint32_t tick) {
  const Mover mover = mover_of(motion);
  if (mover.sector >= map.heights.size()) return;
  Told& told = told_of(map.told, mover.sector, mover.plane);
  if (tick < told.motion_tick) return;
  // A height that was told since then has to be one that it leads to.
  if (told.height_tick > tick && !same_height(replay(map, motion, told.height_tick - tick), told.height))
    return;
  const double height_m = replay(map, motion, tick_ - tick);
  const Mover* const now = ahead_.movers.find(mover.sector, mover.plane);
  if (tick == tick_ ? !map.movers.put(mover) : (now != nullptr && !map.movers.put(*now))) return;
  if (tick != tick_ && now == nullptr) map.movers.remove(mover.sector, mover.plane);
  plane_of(map.heights[mover.sector], mover.plane) = height_m;
  note_changed(map, mover.sector);
  if (told.slot == 0) {
    map.motions.emplace_back();
    told.slot = static_cast<std::uint32_t>(map.motions.size());
  }
  map.motions[told.slot - 1] = motion;
  told.motion = told.slot;
  told.motion_tick = tick;
}

void SectorForecast::take_height(Map& map, std::uint32_t sector, Plane plane, std::int32_t height,
                                 std::uint32_t tick) {
  Told& told = told_of(map.told, sector, plane);
  if (tick < told.height_tick || tick < told.motion_tick) return;
  told.height_tick = tick;
  told.height = height;
  double& now_m = plane_of(map.heights[sector], plane);
  const bool late = tick < tick_ && told.motion != 0;
  // A motion of long ago is not followed once more for a late word, which may be of many sectors: newer ones
  // come.
  if (late && tick - told.motion_tick > gap_seconds_max * second_ticks_) return;
  const double then_m = late ? replay(map, map.motions[told.motion - 1], tick - told.motion_tick) : now_m;
  if (same_height(then_m, height)) return;
  note_changed(map, sector);
  now_m = height / height_steps_per_m;
  map.movers.remove(sector, plane);
  told.motion = 0;
}

void SectorForecast::take(const SnapshotPart& part) {
  if (tick_ != 0 && part.tick + gap_seconds_max * second_ticks_ < tick_) return;
  if (tick_ != 0 && part.tick > tick_) go_on(part.tick - tick_);
  tick_ = std::max(tick_, part.tick);
  for (const WireMotion& motion : part.sector_motions)
    if (motion.map < maps_.size() && maps_[motion.map].placed != nullptr)
      take_motion(maps_[motion.map], motion, part.tick);
  std::size_t at = 0;
  for (const SectorRun& run : part.sector_runs)
    for (std::uint32_t i = 0; i < run.count; ++i, ++at) {
      const std::uint32_t sector = run.first + i;
      if (run.map >= maps_.size() || sector >= maps_[run.map].heights.size()) continue;
      take_height(maps_[run.map], sector, Plane::floor, part.sector_heights[at].floor, part.tick);
      take_height(maps_[run.map], sector, Plane::ceiling, part.sector_heights[at].ceiling, part.tick);
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
