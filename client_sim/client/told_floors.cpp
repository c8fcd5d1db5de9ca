#include "client_sim/client/told_floors.h"

#include <algorithm>
#include <utility>

namespace ashlar::client_sim {

void ToldFloors::reset() { *this = ToldFloors{}; }

void ToldFloors::Floor::push(const Told& next) {
  newest = (newest + 1) % told_max;
  told[newest] = next;
  count = std::min(count + 1, told_max);
}

const ToldFloors::Floor* ToldFloors::find(std::size_t map, std::uint32_t sector) const {
  const auto key = std::pair(map, sector);
  const auto at =
      std::ranges::lower_bound(floors_, key, {}, [](const Floor& f) { return std::pair(f.map, f.sector); });
  return at != floors_.end() && at->map == map && at->sector == sector ? &*at : nullptr;
}

void ToldFloors::note(std::size_t map, std::uint32_t sector, const Told& before, const Told& now) {
  const auto at = std::ranges::lower_bound(floors_, std::pair(map, sector), {},
                                           [](const Floor& f) { return std::pair(f.map, f.sector); });
  const bool known = at != floors_.end() && at->map == map && at->sector == sector;
  if (!known && floors_.size() >= floors_max) return;
  Floor& floor = known ? *at : *floors_.insert(at, Floor{map, sector, 0, 0, {}});
  // It rested until then.
  if (floor.count == 0 || floor.back(0).tick < before.tick) floor.push(before);
  floor.push(now);
}

void ToldFloors::take(const SectorForecast& sectors) {
  const std::uint32_t tick = sectors.tick();
  if (tick == 0 || (tick == tick_ && sectors.changes() == changes_)) return;
  std::erase_if(floors_, [tick](const Floor& f) { return tick - f.back(0).tick > kept_ticks; });
  if (sectors.changes() != changes_) {
    const bool first = known_m_.size() != sectors.map_count();
    const auto look = [&](std::size_t map, std::uint32_t sector) {
      const double floor_m = sectors.heights(map)[sector].floor_m;
      const double before_m = std::exchange(known_m_[map][sector], floor_m);
      if (!first && before_m != floor_m) note(map, sector, {tick_, before_m}, {tick, floor_m});
    };
    if (first || !sectors.visit_changed(changes_, look)) {
      known_m_.resize(sectors.map_count());
      for (std::size_t map = 0; map < known_m_.size(); ++map) {
        known_m_[map].resize(sectors.heights(map).size());
        for (std::uint32_t i = 0; i < known_m_[map].size(); ++i) look(map, i);
      }
    }
    changes_ = sectors.changes();
  }
  tick_ = tick;
}

bool ToldFloors::moved(std::size_t map) const {
  return std::ranges::any_of(floors_, [map](const Floor& f) { return f.map == map; });
}

double ToldFloors::floor_m(std::size_t map, std::uint32_t sector, double tick, double now_m) const {
  const Floor* const floor = find(map, sector);
  if (floor == nullptr) return now_m;
  std::size_t i = 0;
  while (i<floor->count&& static_cast<double>(floor->back(i).tick)> tick) ++i;
  if (i == 0) return floor->back(0).floor_m;
  const Told& to = floor->back(i - 1);
  if (i == floor->count) return to.floor_m;
  const Told& from = floor->back(i);
  const double ticks = static_cast<double>(to.tick) - static_cast<double>(from.tick);
  if (ticks <= 0) return to.floor_m;
  return from.floor_m + (to.floor_m - from.floor_m) * ((tick - static_cast<double>(from.tick)) / ticks);
}

}  // namespace ashlar::client_sim
