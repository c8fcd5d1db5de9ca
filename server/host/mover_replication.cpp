#include "server/host/mover_replication.h"

#include <algorithm>

#include "protocol/sector_motion.h"
#include "world/sim/mechanics.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

constexpr std::uint32_t rounds_per_second = 2;

std::size_t index_of(const Mover& m) {
  return static_cast<std::size_t>(m.sector) * 2 + static_cast<std::size_t>(m.plane);
}

double height_of(HeightsView heights, const Mover& m) {
  return m.plane == Plane::floor ? heights[m.sector].floor_m : heights[m.sector].ceiling_m;
}

}  // namespace

std::span<const WireMotion> MoverReplication::gather(const World& world) {
  told_count_ = 0;
  const auto maps = world.mechanics().maps();
  if (maps.empty()) return {};
  if (maps_.empty()) {
    std::size_t planes = 0;
    for (const MapMechanics& m : maps) {
      const std::uint32_t sectors = m.plan->sector_count();
      maps_.push_back({SectorMovers(sectors), std::vector<SectorHeights>(sectors),
                       std::vector<std::uint8_t>(std::size_t{2} * sectors, 0)});
      planes += std::size_t{2} * sectors;
    }
    mover_replication_.reserve(planes);
  }
  const std::uint32_t now = number(world.tick());
  const std::uint32_t ticks = now - tick_;
  const std::uint32_t second = world.setup().rules.tick_rate_hz;
  // After a while without anybody to tell, everything is news.
  look(world, ticks, tick_ == 0 || ticks > second);
  tick_ = now;
  replicate_movers(world);
  tell_in_turn(world, std::min(ticks, second));
  return std::span(told_).first(told_count_);
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
      if (expected == nullptr || !same_motion(*expected, m) ||
          height_of(f.heights, m) != height_of(heights, m))
        add_motions(i, m);
    }
    f.movers = movers;
    std::copy(heights.begin(), heights.end(), f.heights.begin());
  }
}

void MoverReplication::add_motions(std::size_t map, const Mover& mover) {
  std::uint8_t& left = maps_[map].left[index_of(mover)];
  if (left == 0) mover_replication_.push_back({static_cast<std::uint32_t>(map), mover.sector, mover.plane});
  left = tellings;
}

void MoverReplication::tell(const World& world, std::size_t map, const Mover& mover) {
  told_[told_count_++] = to_wire(mover, map, height_of(world.maps()[map].heights, mover));
}

void MoverReplication::replicate_movers(const World& world) {
  // A few at a time, so that rotating the list in place is cheap.
  const std::size_t count = std::min(mover_replication_.size(), snapshot_motions_max);
  std::size_t again = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const PlaneKey key = mover_replication_[i];
    std::uint8_t& left =
        maps_[key.map].left[std::size_t{2} * key.sector + static_cast<std::size_t>(key.plane)];
    const Mover* mover = world.mechanics().maps()[key.map].movers.find(key.sector, key.plane);
    if (mover != nullptr) tell(world, key.map, *mover);
    left = mover == nullptr ? std::uint8_t{0} : static_cast<std::uint8_t>(left - 1);
    if (left != 0) mover_replication_[again++] = key;
  }
  // Those with tellings left are at the front now, before the ones that have not been told.
  mover_replication_.erase(mover_replication_.begin() + static_cast<std::ptrdiff_t>(again),
                           mover_replication_.begin() + static_cast<std::ptrdiff_t>(count));
  std::rotate(mover_replication_.begin(), mover_replication_.begin() + static_cast<std::ptrdiff_t>(again),
              mover_replication_.end());
}

void MoverReplication::tell_in_turn(const World& world, std::uint32_t ticks) {
  const auto maps = world.mechanics().maps();
  std::size_t total = 0;
  for (const MapMechanics& m : maps) total += m.movers.movers().size();
  if (total == 0) return;
  const std::uint64_t round =
      std::max<std::uint64_t>(1, world.setup().rules.tick_rate_hz / rounds_per_second);
  turn_credit_ = std::min<std::uint64_t>(turn_credit_ + total * ticks, total * round);
  while (turn_credit_ >= round && told_count_ < snapshot_motions_max) {
    turn_credit_ -= round;
    next_in_turn_ = next_in_turn_ + 1 < total ? next_in_turn_ + 1 : 0;
    std::size_t map = 0, at = next_in_turn_;
    while (at >= maps[map].movers.movers().size()) at -= maps[map++].movers.movers().size();
    tell(world, map, maps[map].movers.movers()[at]);
  }
}

}  // namespace ashlar::server
