#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "world/nav/way_field.h"

namespace ashlar {

/// A few points to go to one after the other, past what a body hangs on. World frame.
struct Detour {
  static constexpr std::size_t points_max = 24;
  std::array<DVec2, points_max> points{};
  std::size_t count = 0;
};

/// Looks about from a body that does not get on by its way, in cells of a quarter metre: a way over the
/// leaves of a map takes the body's disc into account at their openings alone, and between two of them a
/// corner may stick out. Here every cell is asked whether the disc fits there. Found is the way to where,
/// within half_side_m, least of the whole way remains. Nothing allocates after construction.
class DetourSearch {
 public:
  static constexpr std::int32_t side = 49;  ///< cells along x and y, the body's own in the middle
  static constexpr double cell_m = 0.25;
  static constexpr double half_side_m = side / 2 * cell_m;
  static constexpr double gain_m_min = 1.0;  ///< who gains less stays on its way

  DetourSearch();
  /// Begins anew, where a body stands that goes by a field.
  void begin(DVec3 from_m, const Cylinder& shape, double step_m);
  /// Goes on. @return cells that it asked for, about `cells_max`. Cost: some 0.3 us each
  std::uint32_t advance(const LeafGraph& graph, const WayRules& rules, const WayField& ways,
                        std::uint32_t cells_max);
  bool whole() const { return heap_.empty(); }
  /// Of a search that is whole; no points: there is none that gains enough.
  Detour found() const;

 private:
  struct Cell {
    float floor_m = 0, ceiling_m = 0;
    std::uint16_t cost = 0;
    std::uint16_t from = 0;  // cell
    std::uint8_t known = 0, fits = 0, reached = 0, settled = 0;
  };
  struct Open {
    std::uint16_t cost, cell;
  };
  DVec2 point(std::size_t cell) const;
  bool look(const WayRules& rules, std::size_t cell);
  void reach(std::size_t cell, std::size_t from, std::uint32_t cost);
  void go_on_from(const WayRules& rules, std::size_t at, std::uint32_t& looks);

  DVec3 from_m_;
  Cylinder shape_;
  double step_m_ = 0;
  std::size_t best_ = 0;  // where least remains
  double start_m_ = -1;   // that remains from the start
  double best_m_ = 0;
  std::vector<Cell> cells_;
  std::vector<Open> heap_;
};

}  // namespace ashlar
