#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "world/math/block_box.h"
#include "world/math/vec.h"
#include "world/nav/block_ground.h"
#include "world/nav/distance_queue.h"
#include "world/voxel/volume.h"

namespace ashlar {

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
  double by_corner_m(std::uint16_t place, DVec3 from_m) const;
  std::uint16_t corner_on_level(IVec2 block, std::int32_t half, DVec3 from_m) const;
  std::uint16_t corner_by(IVec2 block, DVec3 from_m) const;
  std::optional<Step> on_ladder(IVec2 block, DVec3 from_m) const;
  Step up_ladder(std::uint16_t place, DVec3 from_m) const;

  bool up_block_ = false;  ///< its walkers come up a whole block at once
  bool ladders_ = false;   ///< some of its ways go up them
  IVec3 origin_{};         ///< the block below, south and west of the first corner
  // By place: half blocks over the origin; none: free, and so are those behind it at its corner.
  std::vector<std::uint8_t> height_;
  std::vector<std::uint16_t> next_, distance_;  // by place
  std::vector<std::uint8_t> ladder_;  // by place: column about the corner that leads to next, from 1
};

/// What somebody finds who looks for his way.
struct BlockRoute {
  std::optional<BlockWays::Step> step;  ///< where he goes next; nullopt: no way is known (yet)
  bool pending = false;                 ///< none is, and one is searched for: it is worth to wait a little
};

/// Finds such ways from their end outwards, a few places a call, reading the blocks as they are when it comes
/// to them: a block that changes costs nothing, and the next search has it. Nothing allocates after
/// construction.
class BlockSearch {
 public:
  /// @param rock  what is solid whatever its blocks are: what placed maps fill
  explicit BlockSearch(std::vector<MapRock> rock = {});
  /// Begins anew, towards a body's place. Nothing is found where nobody of that size stands near it.
  void begin(const VoxelVolume& volume, DVec3 to_m, BlockWalker walker);
  /// The same to that one place.
  /// @param within  corners of blocks, [min, max) of the plane, that ways keep to
  void begin_at(const VoxelVolume& volume, GroundPlace to, BlockWalker walker, const BlockBox& within);
  /// Goes on. @return places that it settled, at most `places_max`. Cost: about 0.3 us each
  std::uint32_t advance(const VoxelVolume& volume, std::uint32_t places_max);
  bool whole() const { return open_.empty(); }
  /// Ends it early: what it came to keeps its ways, from the rest none is known.
  void stop() { open_.clear(); }
  /// Tenths of a metre to the end from what it settled last: nobody who is nearer than that gets a better way
  /// any more.
  std::uint32_t reached() const { return reached_; }
  BlockWays& ways() { return ways_; }

 private:
  void go_on_to(const VoxelVolume& volume, std::int32_t x, std::int32_t y, std::uint16_t from);
  void put(std::uint32_t place, std::int32_t height, std::uint32_t distance, std::uint16_t next,
           std::uint8_t ladder);
  void reach(std::int32_t x, std::int32_t y, std::int32_t height, std::uint32_t distance, std::uint16_t next,
             std::uint8_t ladder = 0);
  void clear(const VoxelVolume& volume, IVec3 middle, BlockWalker walker);
  bool stands(const VoxelVolume& volume, std::int32_t x, std::int32_t y, std::int32_t height);
  void seed(const VoxelVolume& volume, DVec3 to_m);

  BlockWays ways_;
  BlockGround ground_;
  std::int32_t x_min_ = 0, x_max_ = 0, y_min_ = 0, y_max_ = 0;  // corners of the window that ways keep to
  std::vector<std::uint8_t> settled_;
  DistanceQueue open_;
  std::uint32_t reached_ = 0;
};

/// Of all chunks that ways about a place are made of: while it stays the same, so do they.
std::uint64_t ground_content(const VoxelVolume& volume, IVec3 middle);

}  // namespace ashlar
