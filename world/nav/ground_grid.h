#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "world/bsp/heights.h"
#include "world/bsp/placement.h"
#include "world/math/shapes.h"

namespace ashlar::client_sim {

/// Where a body can stand in a placed map, whatever way doors and lifts are: the plane in square cells, each
/// with a point (near its middle) where the body meets neither void nor a blocking line, and the sectors that
/// its disc lies over there. How high it stands and how much room is over it follows from the heights those
/// sectors have at the time; most cells share their set of sectors with many others.
class GroundGrid {
 public:
  static constexpr double cell_m = 0.25;

  /// Cost: about a second for the largest of Freedoom's maps, mostly tests of the disc against lines.
  GroundGrid(const PlacedMap& map, const Cylinder& shape);

  /// Cells are numbered row by row, from the lowest y and x on.
  std::uint32_t cell_count() const { return static_cast<std::uint32_t>(set_.size()); }
  std::int32_t columns() const { return nx_; }
  std::int32_t rows() const { return ny_; }

  /// The cell at a point; no_index: outside.
  std::uint32_t cell_at(DVec2 p) const;
  /// The cell next to one, by columns and rows; no_index: outside.
  std::uint32_t neighbour(std::uint32_t cell, std::int32_t dx, std::int32_t dy) const;
  /// The same for a cell where somebody can stand: the outermost cells are never such, so all eight are
  /// there.
  std::uint32_t beside(std::uint32_t cell, std::int32_t dx, std::int32_t dy) const {
    return cell + static_cast<std::uint32_t>(dy * nx_ + dx);
  }
  /// A cell in which somebody can stand, from the innermost ring around the point's own cell that has one, at
  /// most three cells (0.75 m) away; no_index: none, or the point lies outside.
  std::uint32_t stand_near(DVec2 p) const;
  /// Where to stand in a cell.
  DVec2 point(std::uint32_t cell) const;
  /// Number of the cell's set of sectors; no_index: nobody ever stands there.
  std::uint32_t set(std::uint32_t cell) const { return set_[cell]; }
  /// The sector under the cell's point.
  std::uint32_t sector(std::uint32_t cell) const { return sector_[cell]; }

  /// How many different sets of sectors the cells have; sets are numbered from 0.
  std::uint32_t set_count() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  /// The sectors of a set, ascending.
  std::span<const std::uint32_t> sectors(std::uint32_t set) const {
    return std::span(items_).subspan(first_[set], first_[set + 1] - first_[set]);
  }

 private:
  DVec2 origin_;
  std::int32_t nx_ = 0, ny_ = 0;
  std::vector<std::uint32_t> set_, sector_;  // by cell
  std::vector<std::uint8_t> offset_;         // by cell: which of the tried points
  std::vector<std::uint32_t> first_, items_;
};

}  // namespace ashlar::client_sim
