#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "world/math/block_box.h"
#include "world/math/vec.h"
#include "world/voxel/volume.h"

namespace ashlar {

/// What a walker over blocks can do. Its disc is wider than a block and no wider than two, it is at most two
/// blocks tall: what fits where four columns are free.
struct BlockWalker {
  bool climbs = false;   ///< a whole block up; others half a block, which slabs and stairs are for
  bool swims = false;    ///< over water and out of it; others walk on its ground
  bool ladders = false;  ///< up whatever is there to climb on
  friend bool operator==(const BlockWalker&, const BlockWalker&) = default;
};
inline constexpr double block_walker_radius_m_max = 1.0;
inline constexpr double block_walker_height_m_max = 2.0;
/// Nobody goes down further at once than this many blocks.
inline constexpr int block_drop_max = 8;

/// Ways over voxel ground to one place, from everywhere within 32 m of it. Bodies stand at corners of blocks,
/// on the highest of the four columns around; a way goes from corner to corner, to all eight beside it.
/// Swimmers also stand in the uppermost block of water, and a ladder leads from the ground at its foot to
/// where its last rung is. A value that a search fills and who hunts reads.
class BlockWays {
 public:
  static constexpr std::int32_t side = 64;        ///< corners along x and y
  static constexpr std::int32_t levels = 64;      ///< blocks from the lowest to the highest
  static constexpr std::uint32_t floors_max = 4;  ///< above each other at one corner
  static constexpr std::uint32_t places_max = side * side * floors_max;
  static constexpr std::uint16_t nowhere = 0xffff;
  static_assert(places_max < nowhere);

  BlockWays() { clear({}); }

  /// Where one goes next, and how far it is in all.
  struct Step {
    DVec3 to_m;
    double distance_m = 0;
    bool climbs = false;  ///< up a ladder that is there
  };
  /// From where a body stands; nullopt: no way is known from there, or one is there.
  std::optional<Step> step(DVec3 from_m) const;

  /// The place of a corner of blocks at a height in half blocks; nowhere: nobody stands there, or no way
  /// leads from there. For tests, too.
  std::uint16_t place_at(IVec2 corner, std::int32_t half_blocks) const;
  /// Tenths of a metre to the end.
  std::uint16_t distance(std::uint16_t place) const { return distance_[place]; }
  std::uint16_t next(std::uint16_t place) const { return next_[place]; }
  DVec3 position_m(std::uint16_t place) const;

 private:
  friend class BlockSearch;
  void clear(IVec3 origin);
  std::optional<Step> on_ladder(IVec2 block, DVec3 from_m) const;
  Step up_ladder(std::uint16_t place, DVec3 from_m) const;

  IVec3 origin_{};                              ///< the block below, south and west of the first corner
  std::vector<std::uint8_t> height_;            // by place: half blocks over the origin; none: free
  std::vector<std::uint16_t> next_, distance_;  // by place
  std::vector<std::uint8_t> ladder_;  // by place: column about the corner that leads to next, from 1
};

/// Finds such ways from their end outwards, a few places a call, reading the blocks as they are when it comes
/// to them: a block that changes costs nothing, and the next search has it. Nothing allocates after
/// construction.
class BlockSearch {
 public:
  /// @param rock  boxes that are solid whatever their blocks are: what a placed map fills
  explicit BlockSearch(std::vector<BlockBox> rock = {});
  /// Begins anew, towards a body's place. Nothing is found where nobody of that size stands near it.
  void begin(const VoxelVolume& volume, DVec3 to_m, BlockWalker walker);
  /// Goes on. @return places that it settled, at most `places_max`. Cost: about 0.3 us each
  std::uint32_t advance(const VoxelVolume& volume, std::uint32_t places_max);
  bool whole() const { return heap_.empty(); }
  BlockWays& ways() { return ways_; }

 private:
  /// What is in the way over one block of the plane, a bit a block.
  struct Column {
    std::uint64_t full = 0, half = 0;  ///< half: solid up to its middle only
    std::uint64_t liquid = 0, ladder = 0;
    bool known = false;
  };
  /// Over the four columns of a corner.
  struct Corner {
    std::uint64_t solid = 0;                  ///< anything of a block
    std::uint64_t on_block = 0, on_half = 0;  ///< who stands: on the block below this one, on this slab
    std::uint64_t on_water = 0;               ///< of on_block: who swims in this one
  };
  struct Open {
    std::uint16_t distance, place;
  };
  const Column& column(const VoxelVolume& volume, std::int32_t x, std::int32_t y);
  Corner corner(const VoxelVolume& volume, std::int32_t x, std::int32_t y);
  void fill(const VoxelVolume& volume, std::int32_t x, std::int32_t y, Column& out) const;
  void fill_soft(const VoxelVolume& volume, const Chunk& chunk, IVec3 local, std::uint32_t solid,
                 std::uint32_t& liquid, std::uint32_t& ladder) const;
  void note_soft_kinds(const VoxelVolume& volume);
  void come_by_ladders(const VoxelVolume& volume, std::uint16_t place);
  void come_from(const VoxelVolume& volume, std::uint16_t place, const Corner& here, std::int32_t dx,
                 std::int32_t dy);
  void reach(std::int32_t x, std::int32_t y, std::int32_t height, std::uint32_t distance, std::uint16_t next,
             std::uint8_t ladder = 0);
  void seed(const VoxelVolume& volume, DVec3 to_m);

  BlockWalker walker_{};
  BlockWays ways_;
  std::vector<BlockBox> rock_;
  std::vector<BlockId> soft_kinds_;  // that one swims in or climbs on
  std::vector<Column> columns_;
  std::vector<std::uint8_t> settled_;
  std::vector<Open> heap_;
};

}  // namespace ashlar
