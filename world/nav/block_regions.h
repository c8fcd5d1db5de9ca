#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "world/nav/block_ground.h"

namespace ashlar {

/// Voxel ground in cells of 16 by 16 corners and 32 blocks of height, and each cell's floors in regions:
/// places between which one goes to and fro without leaving the cell. A region is known by its first place,
/// which mostly stays the same when blocks change; it has the joins by which one comes into it. Cells are
/// made when somebody asks for them and kept while there is room, each with the contents of the chunks it was
/// made of: a block that changes costs nothing, and the next time that its cell is asked for, it is looked at
/// again. Nothing allocates after construction.
class BlockRegions {
 public:
  static constexpr std::int32_t cell_side = 16;
  static constexpr std::int32_t cell_levels = 32;
  static constexpr std::size_t cells_max = 2048;
  static constexpr std::uint32_t floors_max = 4;   ///< above each other at one corner of a cell
  static constexpr std::size_t regions_max = 250;  ///< of a cell; what is beyond is left out
  static constexpr std::size_t joins_max = 160;    ///< into the regions of a cell, likewise

  /// @param rock  what is solid whatever its blocks are: what placed maps fill
  explicit BlockRegions(std::vector<MapRock> rock = {});

  /// What it cost to have a cell as its blocks are now.
  enum class Work : std::uint8_t {
    none,  ///< some 0.1 us: it was there
    read,  ///< some 20 us: its chunks had changed, but what it reads of them had not
    made,  ///< some 100 us
  };
  Work bring(const VoxelVolume& volume, GroundPlace at, BlockWalker walker);

  /// The first place of the region that a place lies in. nullopt: its cell was not brought, or nobody stands
  /// there.
  std::optional<GroundPlace> region(GroundPlace at, BlockWalker walker) const;
  /// Calls visit(from, to, cost) for the joins into a region: from a place of another one to one of its own,
  /// in tenths of a metre. Nothing is called where its cell is not there.
  template <typename Visit>
  void visit_joins(GroundPlace region, BlockWalker walker, Visit&& visit) const;

  /// Since construction.
  std::uint64_t cells_made() const { return made_; }
  /// The cell of a place: corner and lowest block.
  static IVec3 cell_of(GroundPlace at) {
    return {at.x & -cell_side, at.y & -cell_side, (at.half >> 1) & -cell_levels};
  }

 private:
  static constexpr std::size_t corners = cell_side * cell_side;
  static constexpr std::size_t places_max = corners * floors_max;
  static constexpr std::uint8_t none = 0xff;
  static_assert(regions_max < none);
  static constexpr std::size_t ways = 4;  // cells that share a place of the table
  static constexpr std::size_t chunks_read = 12;
  struct Join {
    std::uint16_t place;  ///< that it leads to
    std::int8_t dx, dy, dh;
    std::uint16_t cost;
  };
  struct Cell {
    IVec3 at{};
    BlockWalker walker;
    std::uint32_t used = 0;    ///< 0: free
    std::uint64_t volume = 0;  ///< hash of all of it when its chunks were looked at last
    std::array<std::uint64_t, chunks_read> chunks{};
    std::uint64_t content = 0;
    std::array<std::uint8_t, places_max> height{}, region{};  // by place
    std::array<std::uint16_t, regions_max> first{};           // place, by region
    std::array<std::uint8_t, regions_max + 1> first_join{};
    std::array<Join, joins_max> joins{};
    std::size_t regions = 0;
  };
  static_assert(joins_max < 0x100);
  /// A way from a place into one of the cell: inside from one of its places, or from a place outside.
  struct Entry {
    std::uint16_t to, from;
    std::uint32_t group;  ///< of entries any of which does
    std::int8_t dx, dy, dh;
    std::uint16_t cost;
  };
  struct Outside {
    std::int32_t x, y, height;  ///< of ground_
    std::uint16_t leader;
  };

  const Cell* find(IVec3 at, BlockWalker walker) const;
  std::size_t slot(IVec3 at, BlockWalker walker) const;
  static std::size_t place_in(const Cell& cell, GroundPlace at);
  static GroundPlace place_of(const Cell& cell, std::size_t place);
  static std::array<std::uint64_t, chunks_read> chunks_of(const VoxelVolume& volume, IVec3 at);
  void make(const VoxelVolume& volume, Cell& cell);
  void find_places(const VoxelVolume& volume, Cell& cell);
  void find_entries(const VoxelVolume& volume, const Cell& cell);
  void note_entry(const VoxelVolume& volume, const Cell& cell, std::size_t place, IVec3 from,
                  std::uint32_t cost, bool ladder);
  void number_regions(Cell& cell);
  void join_outside(const VoxelVolume& volume);
  void choose_joins(Cell& cell);
  std::uint16_t leader(std::uint16_t place);
  std::uint16_t outside(IVec3 from);
  std::uint16_t outside_leader(std::uint16_t number);

  BlockGround ground_;
  std::vector<Cell> cells_;
  std::uint32_t uses_ = 0;
  std::uint64_t made_ = 0;
  // Of the cell that is being made.
  std::array<std::uint16_t, places_max> leader_{};
  std::vector<Entry> entries_;
  std::vector<Outside> outside_;
};

template <typename Visit>
void BlockRegions::visit_joins(GroundPlace region, BlockWalker walker, Visit&& visit) const {
  const Cell* cell = find(cell_of(region), walker);
  if (cell == nullptr) return;
  const std::size_t place = place_in(*cell, region);
  if (place == places_max || cell->region[place] == none) return;
  const std::size_t number = cell->region[place];
  for (std::size_t i = cell->first_join[number]; i < cell->first_join[number + 1]; ++i) {
    const Join& join = cell->joins[i];
    const GroundPlace to = place_of(*cell, join.place);
    visit(GroundPlace{to.x + join.dx, to.y + join.dy, to.half + join.dh}, to, std::uint32_t{join.cost});
  }
}

}  // namespace ashlar
