#pragma once
#include <array>
#include <bitset>

#include "world/collide/space.h"
#include "world/collide/window_queries.h"

namespace ashlar {

/// Which places around a body are on its side of walls and roofs: those that it could have come to from where
/// it was last free, by ways of its whole body through free space.
///
/// When that place is free and within side_known_m, it is where ways begin. Otherwise the side is not known:
/// a block was set into a standing body, or nobody knows where it came from. Then ways begin in the body's
/// own cell, which is where it was last free within recovery_back_m or else where it is, and what blocks it
/// overlaps there are looked through, as they came after it. They lead straight, over a rise or below a drop,
/// and from cell to face-sharing cell of the 3x3x3 around it.
/// Maps and props are not taken apart: who overlaps them where his ways begin is followed by his axis alone,
/// and one whose axis is in their rock is held by none of their walls.
class RecoverySide {
 public:
  static constexpr double side_known_m = 6;

  /// Finds out where ways begin. `space` is kept by reference: it has to outlive this, unchanged.
  /// @param last_free  where the body was last known to be free; any finite place will do
  RecoverySide(const Space& space, const Cylinder& shape, DVec3 position, DVec3 last_free);
  RecoverySide(const RecoverySide&) = delete;
  RecoverySide& operator=(const RecoverySide&) = delete;

  /// Is the last free place still free and near?
  bool known() const { return known_; }
  /// Is a free place on the body's side? Cost: a few sweeps; the first time that none of those leads there
  /// about 200 more.
  bool holds(DVec3 place);

 private:
  static constexpr std::size_t levels_max = 6, nodes_max = 9 * levels_max;

  void look_through(DVec3 position);
  void clear_overlapped();
  bool in_rock(const Cylinder& shape) const;
  void find_levels();
  void walk_cells();
  bool clear(DVec3 from, DVec3 to) const;
  bool linked(DVec3 from, DVec3 to) const;
  DVec3 node(std::size_t i) const;

  const Space& space_;
  Cylinder shape_, rock_shape_;
  DVec3 from_;
  DVec2 middle_;
  bool known_ = false;
  bool fits_ = false;          ///< the window holds what ways may meet
  bool rock_unknown_ = false;  ///< the axis is in a map's or a prop's rock
  bool walked_ = false;
  std::size_t level_count_ = 0;
  std::array<double, levels_max> levels_;  ///< ascending
  std::bitset<nodes_max> reached_;
  BlockWindow window_;
};

}  // namespace ashlar
