#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "world/nav/way_field.h"
#include "world/sim/map_plan.h"
#include "world/sim/sector_movers.h"

namespace ashlar {

/// The lifts of a map that monsters can ride, as they are now: those in motion, whoever called them, and
/// those at rest that a monster calls from below by walking over a line that works again and again (Doom's
/// 88): not far before them, or, where a lift was lowered when its map was placed, at its own edge. For ways:
/// who comes to such a one waits for it, and on it until it is there. Nothing allocates after construction.
class MapLifts {
 public:
  /// Lifts at rest are looked at so often: what is at rest stays so most of the time.
  static constexpr std::uint32_t rest_every_ticks = 32;

  explicit MapLifts(const MapPlan& plan);
  /// Call once a tick, after sectors moved. Cost: about 20 ns a mover, 1 us a lift that may be called every
  /// half second.
  void follow(const MapPlan& plan, HeightsView heights, const SectorMovers& movers, std::uint32_t tick);

  std::span<const FloorRange> ranges() const { return ranges_; }  ///< by sector
  bool in_motion(std::uint32_t sector) const { return in_motion_[sector] != 0; }
  /// Where to walk over the nearest line that calls a lift: behind it; nullopt: none does.
  std::optional<DVec2> call_from(const MapPlan& plan, std::uint32_t sector, DVec2 at_m) const;

 private:
  static bool before_lift(const MapPlan& plan, std::uint32_t line, std::uint32_t sector);
  static bool at_edge(const MapPlan& plan, std::uint32_t line, std::uint32_t sector);
  struct Call {
    std::uint32_t sector, line;
    bool edge;  ///< of the lift itself: nobody comes over it while that is up
  };
  FloorRange rest(const MapPlan& plan, HeightsView heights, const SectorMovers& movers, std::size_t first);
  bool works(const Call& call) const { return !call.edge || lowered_[call.sector] != 0; }
  std::vector<Call> calls_;  // by sector, then line
  std::vector<FloorRange> at_rest_, ranges_;
  std::vector<std::uint8_t> in_motion_;
  std::vector<std::uint8_t> lowered_;  // at rest below its upper end, as it was placed
  std::vector<std::uint32_t> moved_;   // sectors with ranges of movers
};

}  // namespace ashlar
