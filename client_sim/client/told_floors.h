#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "client_sim/client/sector_forecast.h"

namespace ashlar::client_sim {

/// Where the floors that moved lately were, as far as snapshots told: the picture of the others is older than
/// the newest snapshot, and who stands on a lift stands where the lift was then. One thread. Cost of a
/// snapshot: by the sectors that move, and not by those that there are. At most floors_max floors; more are
/// taken to be where the newest snapshot has them.
class ToldFloors {
 public:
  static constexpr std::size_t floors_max = 256;
  static constexpr std::size_t told_max = 32;  ///< of one floor, newer ones take the places of older ones
  static constexpr std::uint32_t kept_ticks = 128;  ///< behind its last motion

  /// Another world.
  void reset();
  /// Takes in what a snapshot told.
  void take(const SectorForecast& sectors);
  /// Did a floor of this map move within the last kept_ticks?
  bool moved(std::size_t map) const;
  bool moved(std::size_t map, std::uint32_t sector) const { return find(map, sector) != nullptr; }
  /// Calls visit(sector) for each of these.
  template <typename Visit>
  void visit_moved(std::size_t map, Visit&& visit) const {
    for (const Floor& floor : floors_)
      if (floor.map == map) visit(floor.sector);
  }
  /// Height of a sector's floor at a tick, which may have a fraction.
  /// @param now_m  as of the newest snapshot
  double floor_m(std::size_t map, std::uint32_t sector, double tick, double now_m) const;

 private:
  struct Told {
    std::uint32_t tick = 0;
    double floor_m = 0;
  };
  struct Floor {
    std::size_t map = 0;
    std::uint32_t sector = 0;
    std::size_t newest = 0, count = 0;
    std::array<Told, told_max> told;  // ring, newest at newest

    const Told& back(std::size_t i) const { return told[(newest + told_max - i) % told_max]; }
    void push(const Told& next);
  };
  const Floor* find(std::size_t map, std::uint32_t sector) const;
  void note(std::size_t map, std::uint32_t sector, const Told& before, const Told& now);

  std::vector<std::vector<double>> known_m_;  // floors as of tick_, by map
  std::vector<Floor> floors_;                 // by map and sector
  std::uint32_t tick_ = 0;                    // 0: nothing yet
  std::uint64_t changes_ = 0;
};

}  // namespace ashlar::client_sim
