#pragma once
#include "world/sim/plane_grid.h"
#include "world/sim/rules.h"
#include "world/sim/shot.h"
#include "world/sim/tables.h"

namespace ashlar {

/// Everybody whom a shot, a projectile or a burst may hit, by place. Scratch, not state: filled anew where it
/// is needed, memory reserved once.
class TargetGrid {
 public:
  TargetGrid() = default;
  explicit TargetGrid(std::size_t bodies_max) : grid_(bodies_max) {}

  /// Takes all bodies where they are now: players alive and not in no-clip, and monsters. Cost: about 20 ns a
  /// body.
  void fill(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters);

  /// Calls visit(target) for everybody whose body reaches into the box, in the plane, and for some beside it;
  /// nobody twice. The order is the same on every machine.
  template <typename Visit>
  void visit_near(DVec2 low, DVec2 high, Visit&& visit) const {
    const DVec2 reach{radius_m_max_, radius_m_max_};
    grid_.visit_near(low - reach, high + reach, visit);
  }

 private:
  void add(const ShotTarget& target);

  double radius_m_max_ = 0;
  PlaneGrid<ShotTarget, 8> grid_;
};

}  // namespace ashlar
