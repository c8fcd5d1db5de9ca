#include "server/host/mover_replication.h"

#include <algorithm>

#include "protocol/sector_motion.h"
#include "world/sim/mechanics.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

std::size_t index_of(const Mover& m) {
  return static_cast<std::size_t>(m.sector) * 2 + static_cast<std::size_t>(m.plane);
}

double height_of(HeightsView heights, const Mover& m) {
  return m.plane == Plane::floor ? heights[m.sector].floor_m : heights[m.sector].ceiling_m;
}

}  // namespace

std::span<const MovingPlane> MoverReplication::gather(const World& world) {
  moving_.clear();
  const auto maps = world.mechanics().maps();
  if (maps.empty()) return {};
  if (maps_.empty())
    for (const MapMechanics& m : maps) {
      const std::size_t sectors = m.plan->sector_count();
      maps_.push_back({SectorMovers(m.plan->sector_count()), std::vector<SectorHeights>(sectors),
                       std::vector<std::uint32_t>(2 * sectors, 0),
                       std::vector<std::uint16_t>(2 * sectors, 0)});
    }
  const std::uint32_t now = number(world.tick());
  const std::uint32_t ticks = now - tick_;
  // After a while without anybody to tell, everything is news.
  const bool anew = tick_ == 0 || ticks > world.setup().rules.tick_rate_hz;
  tick_ = now;
  look(world, ticks, anew);
  return moving_;
}

std::uint16_t MoverReplication::key_of(Foreseen& map, std::size_t plane) {
  std::uint16_t& key = map.key[plane];
  if (key == 0) {
    if (keys_ == motion_keys_max) return motion_keys_max;
    key = ++keys_;
  }
  return static_cast<std::uint16_t>(key - 1);
}

void MoverReplication::look(const World& world, std::uint32_t ticks, bool anew) {
  const double dt_s = world.setup().rules.tick_s();
  const auto maps = world.mechanics().maps();
  for (std::size_t i = 0; i < maps.size(); ++i) {
    Foreseen& f = maps_[i];
    const SectorMovers& movers = maps[i].movers;
    const HeightsView heights = world.maps()[i].heights;
    const bool still = movers.movers().empty() && f.movers.movers().empty();
    if (still && !anew) continue;
    if (!anew)
      for (std::uint32_t t = 0; t < ticks; ++t) f.movers.advance_alone(maps[i].plan->map(), f.heights, dt_s);
    for (const Mover& m : movers.movers()) {
      const Mover* expected = anew ? nullptr : f.movers.find(m.sector, m.plane);
      const std::size_t plane = index_of(m);
      if (expected == nullptr || !same_motion(*expected, m) ||
          height_of(f.heights, m) != height_of(heights, m))
        f.changed[plane] = tick_;
      moving_.push_back({to_wire(m, i, height_of(heights, m)), f.changed[plane], key_of(f, plane)});
    }
    f.movers = movers;
    std::copy(heights.begin(), heights.end(), f.heights.begin());
  }
}

}  // namespace ashlar::server
