#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "world/sim/tables.h"

namespace ashlar {

/// The players that a monster can see (alive, not in no-clip) by place, so that looking around costs what is
/// near. Scratch, not state: filled anew each tick, memory reserved once.
class PlayerGrid {
 public:
  PlayerGrid() = default;
  explicit PlayerGrid(std::size_t players_max);

  /// Takes the players where they are now. Cost: about 5 ns a player.
  void fill(const PlayerTable& players);
  bool empty() const { return count_ == 0; }

  /// Calls visit(row, position_m) for every player within radius_m of a place in the plane, each once, and
  /// for some who are further away. The order is the same on every machine and means nothing.
  template <typename Visit>
  void visit_near(DVec2 centre, double radius_m, Visit&& visit) const {
    const Span x = cells_over(centre.x - radius_m, centre.x + radius_m);
    const Span y = cells_over(centre.y - radius_m, centre.y + radius_m);
    for (std::uint32_t j = 0; j < y.count; ++j)
      for (std::uint32_t i = 0; i < x.count; ++i) {
        const std::size_t cell = cell_at(x.first + i, y.first + j);
        for (std::uint32_t k = first_[cell]; k < first_[cell + 1]; ++k) visit(rows_[k], positions_m_[k]);
      }
  }

 private:
  // The plane is rolled up: cells this many apart share their list, and distances tell them apart.
  static constexpr std::uint32_t cells_across = 32;
  static constexpr double cell_m = 64;

  struct Span {
    std::uint32_t first, count;  ///< cells along one axis; no cell twice
  };
  static std::uint32_t cell_of(double v) { return static_cast<std::uint32_t>(floor_to_int(v / cell_m)); }
  static Span cells_over(double low, double high) {
    const std::uint32_t first = cell_of(low), count = cell_of(high) - first + 1;
    return {first, count < cells_across ? count : cells_across};
  }
  static std::size_t cell_at(std::uint32_t x, std::uint32_t y) {
    return (y % cells_across) * cells_across + x % cells_across;
  }

  std::size_t count_ = 0;
  std::array<std::uint32_t, cells_across * cells_across + 1> first_{};  // of each cell's part of the lists
  std::vector<std::uint32_t> rows_;
  std::vector<DVec3> positions_m_;
  std::vector<std::uint16_t> cells_;  // by row: where it goes while the lists are filled
};

}  // namespace ashlar
