#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "world/nav/block_regions.h"

namespace ashlar {

/// Ways over voxel ground to one place from far away, from region to region of its cells (block_regions.h).
class RegionWays {
 public:
  static constexpr std::size_t regions_max = 4096;
  static constexpr std::uint16_t nobody = 0xffff;
  static_assert(regions_max < nobody);
  struct Region {
    GroundPlace first;           ///< by which it is known
    GroundPlace exit;            ///< where it is left, or the end of the way
    GroundPlace to;              ///< behind the exit
    std::uint32_t distance = 0;  ///< tenths of a metre from the exit to the end
    std::uint16_t next = nobody;
  };

  /// Of nothing.
  RegionWays();
  /// No way is known any more; memory is kept.
  void clear();
  /// Null: no way is known from there.
  const Region* find(GroundPlace first) const;
  /// The one behind; null: the way ends in this one.
  const Region* next(const Region& region) const {
    return region.next != nobody ? &regions_[region.next] : nullptr;
  }
  std::size_t count() const { return regions_.size(); }
  /// Precondition: not there yet, and count() < regions_max.
  std::uint16_t add(const Region& region);

 private:
  static constexpr std::size_t slots = 2 * regions_max;
  std::size_t slot(GroundPlace first) const;
  std::vector<Region> regions_;
  std::vector<std::uint16_t> by_place_;
};

/// How far it is at least from one place to another over level ground, and up. Tenths of a metre.
std::uint32_t straight_way(GroundPlace from, GroundPlace to);

/// Finds such ways by Dijkstra's search from their end outwards, some regions a call, and makes the cells it
/// comes to. Between a region's joins a way counts as straight, so what is found is near the shortest, not it
/// (tests hold how near). Nothing allocates after construction.
class RegionSearch {
 public:
  static constexpr std::uint32_t units_read = 8, units_made = 48;  ///< of the work at a cell

  RegionSearch();
  /// Begins anew, towards a body's place.
  /// @param from  it need not go on far beyond these; none: as far as it gets. At most from_max are heeded
  void begin(DVec3 to_m, BlockWalker walker, std::span<const GroundPlace> from);
  /// Goes on until about `units` of work are done. One is a look at a join: some 0.5 us.
  /// @return units of work, at most `units` + units_made, but for the first call: some cells more
  std::uint32_t advance(const VoxelVolume& volume, BlockRegions& regions, std::uint32_t units);
  bool whole() const { return !seeding_ && heap_.empty(); }
  /// Did it end behind `from` and not where there was nothing more to come to? Then others may have a way.
  bool limited() const { return limited_; }
  RegionWays& ways() { return ways_; }
  static constexpr std::size_t from_max = 16;

 private:
  struct Open {
    std::uint32_t distance, number;  ///< number: in which order they came
    GroundPlace exit, to;
    std::uint16_t next;
  };
  std::uint32_t seed(const VoxelVolume& volume, BlockRegions& regions);
  void push(Open open);
  void settle(const Open& open, GroundPlace first, const BlockRegions& regions);
  static std::uint32_t units_of(BlockRegions::Work work);

  DVec3 to_m_{};
  BlockWalker walker_{};
  bool seeding_ = false, limited_ = false;
  std::uint32_t pushed_ = 0, limit_ = 0;
  std::array<GroundPlace, from_max> from_{};
  std::size_t from_count_ = 0;
  RegionWays ways_;
  std::vector<Open> heap_;
};

}  // namespace ashlar
