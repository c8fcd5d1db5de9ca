#pragma once
#include <cstdint>
#include <vector>

#include "world/bsp/sector_map.h"
#include "world/bsp/tree.h"

namespace ashlar {

/// Which sectors may see each other. Heights are left out on purpose: doors, lifts and windows may stand any
/// way, so the set stays right whatever moves.
struct SectorVisibility {
  std::uint32_t sectors = 0;
  std::vector<std::uint64_t> bits;       ///< sectors * sectors, row by row
  std::vector<std::uint8_t> from_above;  ///< by sector: may be seen from above the roof, through a court

  /// Never false for sectors of which a straight line in free space joins two points.
  bool sees(std::uint32_t a, std::uint32_t b) const {
    const std::size_t at = static_cast<std::size_t>(a) * sectors + b;
    return (bits[at >> 6] >> (at & 63) & 1) != 0;
  }
};

/// Computes the set in the plane: lines of sight are followed from each opening between two sectors through
/// the openings between leaves, each narrowed to what lines through the first can pass. Where ways meet again
/// their openings are joined, so the cost stays near openings times openings in sight of each (milliseconds
/// to some hundred for the largest maps). Two sectors see each other when both directions say so. Source:
/// portal flow as in Quake's vis, in two dimensions; the joining is ours.
SectorVisibility compute_visibility(const SectorMap& map, const BspTree& tree);

/// An opening between two neighbouring leaves, both in sectors: a piece of a partition line.
struct LeafOpening {
  DVec2 a, b;
  std::uint32_t front = 0, back = 0;  ///< leaves; the front one on the right hand of a -> b
};
std::vector<LeafOpening> leaf_openings(const BspTree& tree);

}  // namespace ashlar
