#pragma once
#include <cstdint>
#include <vector>

#include "world/bsp/tree.h"

namespace ashlar {

/// Leaves of one sector put together while they stay convex: what lines of sight are followed through. A tree
/// cuts sectors for its own balance, and each cut costs as much as an opening between two rooms.
struct SightCells {
  /// Where two cells touch: one segment, as both are convex.
  struct Opening {
    DVec2 a, b;
    std::uint32_t front = 0, back = 0;  ///< cells; the front one on the right hand of a -> b
  };
  std::vector<std::uint32_t> sector;  ///< by cell
  std::vector<Opening> openings;
};

/// Deterministic. Cost: near linear in leaves, below that of compiling the tree.
SightCells sight_cells(const BspTree& tree);

}  // namespace ashlar
