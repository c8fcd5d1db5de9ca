#pragma once
#include "world/sim/plane_grid.h"
#include "world/sim/rules.h"
#include "world/sim/tables.h"

namespace ashlar {

/// Everybody whom a block may not be put into, by place: players alive and not in no-clip, and monsters.
/// Scratch, not state: filled anew where it is needed, memory reserved once.
class BodyGrid {
 public:
  BodyGrid() = default;
  explicit BodyGrid(std::size_t bodies_max) : grid_(bodies_max) {}

  /// Takes all bodies where they are now. Cost: about 10 ns a body.
  void fill(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters);
  /// Does any body reach into the block? Cost: that of the bodies in a few cells of 8 m around it.
  bool any_in(IVec3 block) const;

 private:
  struct Entry {
    DVec3 base;
    Cylinder shape;
  };
  void add(DVec3 base, const Cylinder& shape);

  double radius_m_max_ = 0;
  PlaneGrid<Entry, 8> grid_;
};

}  // namespace ashlar
