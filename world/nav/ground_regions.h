#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "world/nav/ground_grid.h"

namespace ashlar::client_sim {

/// The ground in regions, cells that hang together over one set of sectors, and how much of it is ahead of
/// somebody in each: where a drop leads into a pit, little is.
class GroundRegions {
 public:
  GroundRegions() = default;
  /// @param sent  from a cell one is sent on to another one: teleporters
  GroundRegions(const GroundGrid& grid, std::span<const std::pair<std::uint32_t, std::uint32_t>> sent);

  /// no_index: nobody stands there.
  std::uint32_t region(std::uint32_t cell) const { return region_[cell]; }
  std::uint32_t set(std::uint32_t region) const { return set_[region]; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(set_.size()); }

  /// Takes stock of what leads where: open(from, to) tells for two sets of sectors whether one ever gets from
  /// the first to the second. Cost: linear in the regions and their borders, some milliseconds.
  template <typename Open>
  void measure(Open&& open) {
    for (std::uint32_t r = 0; r < count(); ++r)
      for (std::uint32_t i = first_[r]; i < first_[r + 1]; ++i)
        open_[i] = beyond_[i].sent || open(set_[r], set_[beyond_[i].region]) ? 1 : 0;
    measure_ahead();
  }
  /// Cells that one can come to from a region, at least: those one can go to and come back from, and the most
  /// that lies ahead of any place from where there is no way back. 0 before measure().
  std::uint32_t ahead(std::uint32_t region) const { return ahead_[region]; }
  /// Regions one can go to and fro between share a number. 0 before measure().
  std::uint32_t hold(std::uint32_t region) const { return hold_[region]; }

 private:
  struct Beyond {
    std::uint32_t region;
    bool sent;
  };
  void find_regions(const GroundGrid& grid);
  void measure_ahead();

  std::vector<std::uint32_t> region_;       // by cell
  std::vector<std::uint32_t> set_, cells_;  // by region
  std::vector<std::uint32_t> first_;        // by region, into beyond_
  std::vector<Beyond> beyond_;
  std::vector<std::uint8_t> open_;           // by border
  std::vector<std::uint32_t> ahead_, hold_;  // by region
};

}  // namespace ashlar::client_sim
