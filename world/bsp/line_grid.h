#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "world/bsp/leaf_grid.h"
#include "world/bsp/sector_map.h"
#include "world/bsp/tree.h"

namespace ashlar {

/// A line that can be solid, as queries of bodies need it: 64 bytes, map units.
struct SolidLine {
  DVec2 a;
  DVec2 along;                                      ///< b - a, not zero
  double inverse_length2 = 0;                       ///< 1 / |along|^2
  std::uint32_t front = no_index, back = no_index;  ///< sectors; no_index: void
  std::uint32_t line = no_index;                    ///< source line; no_index: an outer side of the box
  bool fence = false;                               ///< blocks bodies up to the roof whatever the heights are
};

/// Squared distance of a point from a line's segment.
inline double distance2(const SolidLine& l, DVec2 p) {
  const DVec2 to = p - l.a;
  const double at = std::clamp(dot(to, l.along) * l.inverse_length2, 0.0, 1.0);
  const DVec2 off = to - l.along * at;
  return dot(off, off);
}

/// Rows of cells are so much wider for who is put into them, against rounding.
inline constexpr double rows_grown = 1e-3;
/// What a segment has in a row of cells: its west and east ends, grown likewise. Nothing where it passes by;
/// one along x is not asked for its y.
struct WithinRow {
  double west = 0, east = 0;
};
inline std::optional<WithinRow> within_row(DVec2 from, DVec2 along, double low_y, double high_y) {
  double begin = 0, end = 1;  // shares of it
  if (along.y != 0) {
    begin = std::clamp((low_y - rows_grown - from.y) / along.y, 0.0, 1.0);
    end = std::clamp((high_y + rows_grown - from.y) / along.y, 0.0, 1.0);
    if (begin == end) return std::nullopt;
  }
  const double x0 = from.x + along.x * begin, x1 = from.x + along.x * end;
  return WithinRow{std::min(x0, x1) - rows_grown, std::max(x0, x1) + rows_grown};
}

/// Lines in square cells, each in every cell that it touches, and the grid of the tree's leaves beside it.
/// Of lines with the same sector on both sides that do not block only those parts are in it where the leaves
/// beside them are of two sectors after all: the others never hold anything up.
struct LineGrid {
  double cell = 64, inverse_cell = 1.0 / 64;  ///< map units
  DVec2 origin;                               ///< lower corner of cell (0, 0)
  std::int32_t nx = 0, ny = 0;
  std::vector<std::uint32_t> first;  ///< nx * ny + 1 offsets into items
  std::vector<std::uint32_t> items;  ///< indices into lines
  std::vector<SolidLine> lines;
  LeafGrid points;
  /// Two-sided lines that hold up monsters alone. A map has some dozens at most, so they are a list of their
  /// own that no other query pays for; by cell, 0 or 1: one of them is within monster_lines_reach.
  std::vector<SolidLine> monster_lines;
  std::vector<std::uint8_t> near_monster_lines;
  static constexpr double monster_lines_reach = 192;  ///< map units: the widest walker and its longest tick

  /// A rectangle of cells.
  struct Range {
    std::int32_t x0, y0, x1, y1;  ///< both ends included; empty when x0 > x1 or y0 > y1
  };
  /// The cells that the closed rectangle from low to high touches; empty where it lies wholly outside.
  Range cells(DVec2 low, DVec2 high) const {
    const auto index = [this](double v, double from, std::int32_t n) {
      const double c = (v - from) * inverse_cell;
      return c < 0 ? -1 : c >= n ? n : static_cast<std::int32_t>(c);
    };
    return {std::max(index(low.x, origin.x, nx), 0), std::max(index(low.y, origin.y, ny), 0),
            std::min(index(high.x, origin.x, nx), nx - 1), std::min(index(high.y, origin.y, ny), ny - 1)};
  }

  /// Calls visit(const SolidLine&) for every line near a box, some twice. visit returns false to stop.
  /// @return false when it was stopped
  template <typename Visit>
  bool visit(DVec2 low, DVec2 high, Visit&& visit) const {
    const Range r = cells(low, high);
    for (std::int32_t y = r.y0; y <= r.y1; ++y) {
      for (std::int32_t x = r.x0; x <= r.x1; ++x) {
        const auto c =
            static_cast<std::size_t>(y) * static_cast<std::size_t>(nx) + static_cast<std::size_t>(x);
        for (std::uint32_t i = first[c]; i < first[c + 1]; ++i)
          if (!visit(lines[items[i]])) return false;
      }
    }
    return true;
  }

  /// Those of monster_lines that may hold up somebody at p; empty where none is near.
  std::span<const SolidLine> monster_lines_at(DVec2 p) const {
    if (monster_lines.empty()) return {};
    const Range r = cells(p, p);
    if (r.x0 > r.x1 || r.y0 > r.y1) return {};
    const auto c =
        static_cast<std::size_t>(r.y0) * static_cast<std::size_t>(nx) + static_cast<std::size_t>(r.x0);
    return near_monster_lines[c] != 0 ? std::span(monster_lines) : std::span<const SolidLine>{};
  }

  /// The same leaf as tree.leaf_at(p), by the cells: cheaper (leaf_grid.h).
  std::uint32_t leaf_at(const BspTree& tree, DVec2 p) const { return points.leaf_at(tree, p); }
};

/// Builds the grid over a rectangle (the box's footprint in map units); its four sides become lines too.
LineGrid build_line_grid(const SectorMap& map, const BspTree& tree, const MapBounds& footprint);

}  // namespace ashlar
