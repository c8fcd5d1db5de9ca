#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "world/sim/rules.h"
#include "world/sim/shot.h"
#include "world/sim/tables.h"

namespace ashlar {

/// Everybody whom a shot, a projectile or a burst may hit, by place. Scratch, not state: filled anew where it
/// is needed, memory reserved once.
class TargetGrid {
 public:
  TargetGrid() = default;
  explicit TargetGrid(std::size_t bodies_max);

  /// Takes all bodies where they are now: players alive and not in no-clip, and monsters. Cost: about 20 ns a
  /// body.
  void fill(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters);

  /// Calls visit(target) for everybody whose body reaches into the box, in the plane, and for some beside it;
  /// nobody twice. The order is the same on every machine.
  template <typename Visit>
  void visit_near(DVec2 low, DVec2 high, Visit&& visit) const {
    const Span x = cells_over(low.x - radius_m_max_, high.x + radius_m_max_);
    const Span y = cells_over(low.y - radius_m_max_, high.y + radius_m_max_);
    for (std::uint32_t j = 0; j < y.count; ++j)
      for (std::uint32_t i = 0; i < x.count; ++i) {
        const std::size_t cell = cell_at(x.first + i, y.first + j);
        for (std::uint32_t k = first_[cell]; k < first_[cell + 1]; ++k) visit(sorted_[k]);
      }
  }

 private:
  // The plane is rolled up: cells this many apart share their list, and distances tell them apart.
  static constexpr std::uint32_t cells_across = 32;
  static constexpr double cell_m = 8;
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

  double radius_m_max_ = 0;
  std::array<std::uint32_t, cells_across * cells_across + 1> first_{};  // of each cell's part of the list
  std::vector<ShotTarget> all_, sorted_;
};

}  // namespace ashlar
