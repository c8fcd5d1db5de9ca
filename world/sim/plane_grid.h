#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "world/math/assert.h"
#include "world/math/vec.h"

namespace ashlar {

/// Things by their place in the plane, so that looking around costs what is near. Scratch, not state: filled
/// anew where it is needed, memory reserved once.
/// @tparam Entry   what is kept of each; copied
/// @tparam cell_m  side of a cell in metres
template <typename Entry, int cell_m>
class PlaneGrid {
 public:
  PlaneGrid() = default;
  explicit PlaneGrid(std::size_t entries_max) : sorted_(entries_max) {
    all_.reserve(entries_max);
    cells_.reserve(entries_max);
  }

  /// What is scratch is not copied: a copy has the same room, and is to be filled before it is asked.
  PlaneGrid(const PlaneGrid& other) : PlaneGrid(other.sorted_.size()) {}
  PlaneGrid& operator=(const PlaneGrid& other) {
    if (sorted_.size() != other.sorted_.size()) *this = PlaneGrid(other.sorted_.size());
    return *this;
  }
  PlaneGrid(PlaneGrid&&) = default;
  PlaneGrid& operator=(PlaneGrid&&) = default;
  ~PlaneGrid() = default;

  void clear() { all_.clear(), cells_.clear(); }
  /// Precondition: no more than entries_max since clear() (asserted).
  void add(DVec2 at, const Entry& entry) {
    ASHLAR_ASSERT(all_.size() < sorted_.size());
    all_.push_back(entry);
    cells_.push_back(static_cast<std::uint16_t>(cell_at(cell_of(at.x), cell_of(at.y))));
  }
  /// Puts what was added where any_near() finds it; those of a cell come last added first. Cost: some 4 kB of
  /// counts, and a number for each entry.
  void sort() {
    first_.fill(0);
    if (all_.empty()) return;
    for (const std::uint16_t cell : cells_) ++first_[cell];
    // Each cell's end, from which it is filled downwards to its beginning.
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    const auto count = static_cast<std::uint32_t>(all_.size());
    for (std::uint32_t i = 0; i < count; ++i) sorted_[--first_[cells_[i]]] = i;
    ASHLAR_ASSERT(first_.front() == 0);
  }
  bool empty() const { return all_.empty(); }

  /// Calls test(entry) for everything that was added within the box, each once, and for some beside it, until
  /// it is true for one. The order is the same on every machine. @return whether it was
  template <typename Test>
  bool any_near(DVec2 low, DVec2 high, Test&& test) const {
    const Span x = cells_over(low.x, high.x), y = cells_over(low.y, high.y);
    for (std::uint32_t j = 0; j < y.count; ++j)
      for (std::uint32_t i = 0; i < x.count; ++i) {
        const std::size_t cell = cell_at(x.first + i, y.first + j);
        for (std::uint32_t k = first_[cell]; k < first_[cell + 1]; ++k)
          if (test(all_[sorted_[k]])) return true;
      }
    return false;
  }

  /// Calls visit(entry) for the same, for all of them.
  template <typename Visit>
  void visit_near(DVec2 low, DVec2 high, Visit&& visit) const {
    any_near(low, high, [&](const Entry& entry) {
      visit(entry);
      return false;
    });
  }

 private:
  // The plane is rolled up: cells this many apart share their list, and distances tell them apart.
  static constexpr std::uint32_t cells_across = 32;

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

  std::array<std::uint32_t, cells_across * cells_across + 1> first_{};  // of each cell's part of the list
  std::vector<Entry> all_;
  std::vector<std::uint32_t> sorted_;  // numbers in all_
  std::vector<std::uint16_t> cells_;   // of each of all_
};

}  // namespace ashlar
