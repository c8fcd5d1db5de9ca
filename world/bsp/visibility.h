#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "world/bsp/sector_map.h"
#include "world/bsp/tree.h"

namespace ashlar {

/// Which sectors may see each other, whatever doors, lifts and stairs do: of heights it counts only that some
/// neighbours never have an opening between them (widest_heights.h). Of the pairs of sectors that no line
/// joins when all that moves stands as wide open as it ever can, it tells nearly 97 of 100 over Freedoom's
/// maps, and nearly 90 on the poorest of them.
struct SectorVisibility {
  std::uint32_t sectors = 0;
  std::uint32_t row_words = 0;           ///< words of a row: sectors / 64, rounded up
  std::vector<std::uint64_t> bits;       ///< sectors rows of row_words words
  std::vector<std::uint8_t> from_above;  ///< by sector: may be seen from above the roof, through a court

  /// Never false for sectors of which a straight line in free space joins two points.
  bool sees(std::uint32_t a, std::uint32_t b) const {
    return (bits[static_cast<std::size_t>(a) * row_words + (b >> 6)] >> (b & 63) & 1) != 0;
  }
  /// What one sector sees: bit b % 64 of word b / 64 stands for sector b.
  std::span<const std::uint64_t> row(std::uint32_t a) const {
    return std::span(bits).subspan(static_cast<std::size_t>(a) * row_words, row_words);
  }
};

/// Computes the set in the plane: lines of sight are followed from each opening between two sectors through
/// the openings between their convex parts (sight_cells.h), each narrowed to what lines through the first can
/// pass. Where ways meet again their openings are joined, so the cost stays near openings times openings in
/// sight of each: tens of milliseconds for most maps, 0.8 s for the largest of Freedoom's, with 10 884 lines.
/// Two sectors see each other when both directions say so. Source: portal flow as in Quake's vis, in two
/// dimensions; the joining is ours. Bounds on heights and slopes along the way were tried: they tell another
/// one or two pairs of a hundred, for 1.7 times the time.
SectorVisibility compute_visibility(const SectorMap& map, const BspTree& tree);

/// Which rules compute_visibility goes by, its tree and its table of line specials included. A change that
/// makes another set of the same map takes the next number, so that sets kept in files are computed anew:
/// equal rules and an equal content_hash() of the compiled map, doorways cut, mean equal sets.
inline constexpr std::uint32_t visibility_rules = 4;

/// An opening between two neighbouring leaves, both in sectors: a piece of a partition line.
struct LeafOpening {
  DVec2 a, b;
  std::uint32_t front = 0, back = 0;  ///< leaves; the front one on the right hand of a -> b
};
std::vector<LeafOpening> leaf_openings(const BspTree& tree);

/// Pairs of different sectors between which there is such an opening: lower first, sorted, each once.
std::vector<std::pair<std::uint32_t, std::uint32_t>> sector_neighbours(const BspTree& tree);

}  // namespace ashlar
