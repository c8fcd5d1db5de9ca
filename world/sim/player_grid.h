#pragma once
#include "world/sim/plane_grid.h"
#include "world/sim/tables.h"

namespace ashlar {

/// The players that a monster can see (alive, not in no-clip) by place, so that looking around costs what is
/// near. Scratch, not state: filled anew each tick, memory reserved once.
class PlayerGrid {
 public:
  PlayerGrid() = default;
  explicit PlayerGrid(std::size_t players_max) : grid_(players_max) {}

  /// Takes the players where they are now. Cost: about 5 ns a player.
  void fill(const PlayerTable& players);
  bool empty() const { return grid_.empty(); }

  /// Calls visit(row, position_m) for every player within radius_m of a place in the plane, each once, and
  /// for some who are further away. The order is the same on every machine and means nothing.
  template <typename Visit>
  void visit_near(DVec2 centre, double radius_m, Visit&& visit) const {
    const DVec2 reach{radius_m, radius_m};
    grid_.visit_near(centre - reach, centre + reach,
                     [&](const Entry& player) { visit(player.row, player.position_m); });
  }

 private:
  struct Entry {
    std::uint32_t row;
    DVec3 position_m;
  };
  PlaneGrid<Entry, 64> grid_;
};

}  // namespace ashlar
