#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "world/math/block_box.h"
#include "world/math/vec.h"
#include "world/nav/map_rock.h"
#include "world/voxel/volume.h"

namespace ashlar {

/// What a walker over blocks can do. Its disc is wider than a block and no wider than two, it is at most two
/// blocks tall: what fits where four columns are free.
struct BlockWalker {
  bool climbs = false;    ///< a whole block up; others half a block, which slabs and stairs are for
  bool swims = false;     ///< over water and out of it; others walk on its ground
  bool ladders = false;   ///< up whatever is there to climb on
  std::uint8_t drop = 8;  ///< blocks that it goes down at once, at most block_drop_max
  /// All of it in a number, for hashes.
  constexpr std::uint32_t bits() const {
    return (climbs ? 1u : 0u) | (swims ? 2u : 0u) | (ladders ? 4u : 0u) | static_cast<unsigned>(drop) << 3u;
  }
  friend bool operator==(const BlockWalker&, const BlockWalker&) = default;
};
inline constexpr double block_walker_radius_m_max = 1.0;
inline constexpr double block_walker_height_m_max = 2.0;
/// Nobody goes down further at once than this many blocks.
inline constexpr std::uint8_t block_drop_max = 8;

/// A corner of blocks and the height in half blocks at which one stands there. World frame.
struct GroundPlace {
  std::int32_t x = 0, y = 0, half = 0;
  DVec3 position_m() const { return {static_cast<double>(x), static_cast<double>(y), half * 0.5}; }
  friend bool operator==(const GroundPlace&, const GroundPlace&) = default;
};

/// A window of voxel ground as walkers see it: who stands at a corner of blocks stands on the highest of the
/// four columns around, at a height in half blocks over the window's origin, and goes to the eight corners
/// beside it. Columns and corners are read from the blocks when somebody asks for them first. Corner (x, y)
/// is that of the columns (x, y) to (x + 1, y + 1). Nothing allocates after construction.
class BlockGround {
 public:
  static constexpr std::int32_t levels = 64;  ///< blocks from the lowest to the highest
  static constexpr std::int32_t half_levels_max = 2 * levels;
  static constexpr std::int32_t body_halves = 4;  ///< two blocks
  static constexpr std::int32_t out_halves = 2;   ///< out of water and off a ladder so far up
  /// Tenths of a metre.
  static constexpr std::uint32_t straight_cost = 10, diagonal_cost = 14, rise_cost = 4, fall_cost = 10;
  static constexpr std::uint32_t climb_cost = 6;  ///< half a block up a ladder
  /// No way to a corner beside one, or up a ladder, costs more.
  static constexpr std::uint32_t cost_max = straight_cost + climb_cost * half_levels_max + fall_cost;
  static constexpr std::int32_t fall_halves = 2;  ///< deeper there may be no way back up

  /// Over the four columns of a corner, a bit a block.
  struct Corner {
    std::uint64_t solid = 0;                  ///< anything of a block
    std::uint64_t on_block = 0, on_half = 0;  ///< who stands: on the block below this one, on this slab
    std::uint64_t on_water = 0;               ///< of on_block: who swims in this one
    std::uint64_t ladder = 0;                 ///< to climb on in one of the four
    std::uint64_t stands() const { return on_block | on_half; }
    bool stands_at(std::int32_t height) const {
      return ((height % 2 == 0 ? on_block : on_half) >> (height / 2) & 1u) != 0;
    }
  };
  /// Bits low to high, both included.
  static std::uint64_t layer_bits(std::int32_t low, std::int32_t high) {
    low = std::max(low, 0), high = std::min(high, levels - 1);
    if (low > high) return 0;
    return (~std::uint64_t{0} >> (levels - 1 - high)) & (~std::uint64_t{0} << low);
  }

  /// @param corners_side  corners along x and y
  /// @param rock          what is solid whatever its blocks are: what placed maps fill
  BlockGround(std::int32_t corners_side, std::vector<MapRock> rock);
  /// Nothing is known any more. Column (0, 0) is that over the origin.
  void begin(const VoxelVolume& volume, IVec3 origin, BlockWalker walker);
  /// What is known stays so, and the rest is read from the chunks that are there now: call it whenever chunks
  /// may have come or gone since the last question.
  void look_again() { std::ranges::fill(pieces_, Piece{}); }
  std::int32_t side() const { return side_; }
  BlockWalker walker() const { return walker_; }

  const Corner& corner(const VoxelVolume& volume, std::int32_t x, std::int32_t y) {
    const auto at = static_cast<std::size_t>(y * side_ + x);
    if (level_[at] == unknown_level) make_corner(volume, x, y);
    return corners_[at];
  }
  /// The height of a corner that has but one floor, as nearly all have; many_levels: it has none, or several.
  std::uint8_t level(const VoxelVolume& volume, std::int32_t x, std::int32_t y) {
    const auto at = static_cast<std::size_t>(y * side_ + x);
    if (level_[at] == unknown_level) make_corner(volume, x, y);
    return level_[at];
  }
  static constexpr std::uint8_t many_levels = 0xfe;
  /// Is there anything to climb on in what was read of the window?
  bool some_ladder() const { return some_ladder_; }
  bool holds(std::int32_t x, std::int32_t y) const { return x >= 0 && y >= 0 && x < side_ && y < side_; }
  /// Of everything that columns say. Cost: reads them all.
  std::uint64_t content(const VoxelVolume& volume);

  /// A floor, and from which heights beside it one may come to it.
  struct Floor {
    std::int32_t x = 0, y = 0, height = 0;
    std::uint64_t solid = 0;                          ///< of its corner
    std::uint64_t before_block = 0, before_half = 0;  ///< as Corner::on_block and on_half
  };
  /// @param height  of a floor that is there
  Floor floor(const VoxelVolume& volume, std::int32_t x, std::int32_t y, std::int32_t height) {
    const std::int32_t low = height - (walker_.swims ? out_halves : rise());
    const std::int32_t high = height + 2 * walker_.drop;
    return {x,
            y,
            height,
            corner(volume, x, y).solid,
            layer_bits((std::max(low, 0) + 1) / 2, high / 2),
            layer_bits(std::max(low, 0) / 2, (high - 1) / 2)};
  }
  /// Calls visit(height, cost) for floors at the corner so far beside one from which one goes to it: up by a
  /// step, down by a drop, with room on both where one passes.
  template <typename Visit>
  void visit_before(const VoxelVolume& volume, const Floor& to, std::int32_t dx, std::int32_t dy,
                    Visit&& visit);
  /// Calls visit(x, y, height, cost, column) for floors at the feet of ladders that end at a floor: the
  /// ladder is in that column about their corner.
  template <typename Visit>
  void visit_feet(const VoxelVolume& volume, std::int32_t x, std::int32_t y, std::int32_t height,
                  Visit&& visit);
  /// Does one get from either of two floors beside each other, who are not slanting, to the other?
  bool to_and_fro(const VoxelVolume& volume, IVec3 a, IVec3 b);
  /// By heights alone, of two between which one goes in one direction: in the other one, too?
  bool there_and_back(const Corner& low, std::int32_t low_height, std::int32_t high_height) const {
    const std::int32_t rises = high_height - low_height;
    if (rises > 2 * walker_.drop) return false;
    return rises <= rise() || (rises <= out_halves && on_water(low, low_height));
  }

 private:
  /// What is in the way over one block of the plane, a bit a block.
  struct Column {
    std::uint64_t full = 0, half = 0;  ///< half: solid up to its middle only
    std::uint64_t liquid = 0, ladder = 0;
  };
  const Column& column(const VoxelVolume& volume, std::int32_t x, std::int32_t y) {
    const auto at = static_cast<std::size_t>(y * (side_ + 1) + x);
    if (column_known_[at] == 0) fill(volume, x, y, columns_[at]), column_known_[at] = 1;
    return columns_[at];
  }
  /// A chunk of the window, looked up once for all of its columns.
  struct Piece {
    const Chunk* chunk = nullptr;
    bool known = false;
    bool soft = false;  ///< may hold something to swim in or to climb on
  };
  const Piece& piece(const VoxelVolume& volume, ChunkCoord at);
  std::int32_t rise() const { return walker_.climbs ? 2 : 1; }
  static bool on_water(const Corner& corner, std::int32_t height) {
    return height % 2 == 0 && (corner.on_water >> (height / 2) & 1u) != 0;
  }
  /// The blocks that a body needs free which passes at one height over ground at another one, no lower.
  static std::uint64_t body_bits(std::int32_t ground, std::int32_t passes) {
    return layer_bits((ground + 1) / 2, (passes + body_halves + 1) / 2 - 1);
  }
  void make_corner(const VoxelVolume& volume, std::int32_t x, std::int32_t y);
  void fill(const VoxelVolume& volume, std::int32_t x, std::int32_t y, Column& out);
  void fill_soft(const Chunk& chunk, IVec3 local, std::uint32_t solid, std::uint32_t& liquid,
                 std::uint32_t& ladder) const;
  void note_soft_kinds(const VoxelVolume& volume);

  std::int32_t side_;
  std::vector<MapRock> rock_;
  IVec3 origin_{};
  BlockWalker walker_{};
  std::vector<BlockId> soft_kinds_;  // that one swims in or climbs on
  static constexpr std::uint8_t soft_liquid = 1, soft_ladder = 2;
  std::array<std::uint8_t, block_kinds_max> soft_{};  // of each kind, what the walker does there
  std::int32_t pieces_across_;                        // along x and y, of a window anywhere
  ChunkCoord first_piece_{};
  std::vector<Piece> pieces_;
  bool some_ladder_ = false;
  std::vector<Column> columns_;
  std::vector<Corner> corners_;
  std::vector<std::uint8_t> column_known_;
  static constexpr std::uint8_t unknown_level = 0xff;
  static_assert(half_levels_max <= many_levels);
  std::vector<std::uint8_t> level_;  // by corner, beside it: searches ask for little else
};

template <typename Visit>
void BlockGround::visit_before(const VoxelVolume& volume, const Floor& to, std::int32_t dx, std::int32_t dy,
                               Visit&& visit) {
  const std::int32_t height = to.height;
  const std::uint8_t level_there = level(volume, to.x + dx, to.y + dy);
  if (dx != 0 && dy != 0) {
    // Aslant lies in level ground alone, so that no edge beside it is in the way. Who stands has room.
    const std::uint8_t a = level(volume, to.x + dx, to.y), b = level(volume, to.x, to.y + dy);
    const auto at_height = [&](std::uint8_t level, std::int32_t x, std::int32_t y) {
      return level == height || (level == many_levels && corner(volume, x, y).stands_at(height));
    };
    if (at_height(level_there, to.x + dx, to.y + dy) && at_height(a, to.x + dx, to.y) &&
        at_height(b, to.x, to.y + dy))
      visit(height, diagonal_cost);
    return;
  }
  // On a level with it nothing is in the way.
  if (level_there == height) return visit(height, straight_cost);
  const Corner& there = corner(volume, to.x + dx, to.y + dy);
  const auto straight = [&](std::int32_t h) {
    if (h == height) return visit(h, straight_cost);
    if (h > height) {
      if ((to.solid & body_bits(height, h)) == 0)
        visit(h, straight_cost + (h - height > fall_halves ? fall_cost : 0));
    } else if ((height - h <= rise() || on_water(there, h)) && (there.solid & body_bits(h, height)) == 0) {
      visit(h, straight_cost + rise_cost * static_cast<std::uint32_t>(height - h));
    }
  };
  for (std::uint64_t stands = there.on_block & to.before_block; stands != 0; stands &= stands - 1)
    straight(2 * std::countr_zero(stands));
  for (std::uint64_t stands = there.on_half & to.before_half; stands != 0; stands &= stands - 1)
    straight(2 * std::countr_zero(stands) + 1);
}

template <typename Visit>
void BlockGround::visit_feet(const VoxelVolume& volume, std::int32_t x, std::int32_t y, std::int32_t height,
                             Visit&& visit) {
  for (std::int32_t dy = -1; dy <= 1; ++dy)
    for (std::int32_t dx = -1; dx <= 1; ++dx) {
      const std::int32_t cx = x + dx, cy = y + dy;
      if (!holds(cx, cy)) continue;
      const std::uint64_t layers = layer_bits((height - out_halves) / 2, height / 2);
      const Corner& foot = corner(volume, cx, cy);
      if ((foot.ladder & layers) == 0) continue;
      for (std::int32_t i = 0; i < 4; ++i) {
        const std::uint64_t ladder = column(volume, cx + (i & 1), cy + (i >> 1)).ladder;
        // Its last rung is beside the place or right below it.
        const std::uint64_t ends = ladder & ~(ladder >> 1) & layers;
        if (ends == 0) continue;
        const std::int32_t top = 63 - std::countl_zero(ends);
        std::int32_t bottom = top;
        while (bottom > 0 && (ladder >> (bottom - 1) & 1u) != 0) --bottom;
        for (std::uint64_t stands = foot.on_block & layer_bits(bottom, top); stands != 0;
             stands &= stands - 1) {
          const std::int32_t h = 2 * std::countr_zero(stands);
          if (height - h <= out_halves || (foot.solid & body_bits(h, height)) != 0) continue;
          visit(cx, cy, h, straight_cost + climb_cost * static_cast<std::uint32_t>(height - h), i);
        }
      }
    }
}

}  // namespace ashlar
