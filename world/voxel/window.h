#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "world/math/assert.h"
#include "world/math/shapes.h"
#include "world/voxel/volume.h"

namespace ashlar {

/// Solid bits of the blocks around one mover, copied once so that all queries of a tick read a few words.
/// Bit k of a column is block min.z + k; what is not loaded is solid. Blocks that are solid in part only have
/// bits of their own: they are few, and what of them is solid the volume says.
struct BlockWindow {
  static constexpr int columns_max = 16;  ///< along x and along y
  static constexpr int layers_max = 32;

  IVec3 min{};
  std::int32_t size_x = 0, size_y = 0, size_z = 0;
  bool unloaded = false;        ///< some chunk under it is not loaded
  std::uint32_t any = 0;        ///< all columns in one: layers without a bit here are free of full blocks
  std::uint32_t parts_any = 0;  ///< likewise of blocks that are solid in part
  const VoxelVolume* volume = nullptr;  ///< of such blocks; read where parts_any is not 0
  std::array<std::uint32_t, columns_max * columns_max> columns;  ///< y * size_x + x; only the used are set
  std::array<std::uint32_t, columns_max * columns_max> parts;    ///< likewise, and only if parts_any is not 0

  IVec3 end() const { return {min.x + size_x, min.y + size_y, min.z + size_z}; }
  /// Solid bits of the column at (min.x + x, min.y + y). Precondition: within the window.
  std::uint32_t column(std::int32_t x, std::int32_t y) const {
    ASHLAR_ASSERT_SLOW(x >= 0 && x < size_x && y >= 0 && y < size_y);
    return columns[static_cast<std::size_t>(y * size_x + x)];
  }
  /// Likewise of blocks that are solid in part. Precondition: parts_any is not 0.
  std::uint32_t part_column(std::int32_t x, std::int32_t y) const {
    ASHLAR_ASSERT_SLOW(parts_any != 0 && x >= 0 && x < size_x && y >= 0 && y < size_y);
    return parts[static_cast<std::size_t>(y * size_x + x)];
  }
  /// Are all blocks from low to high (both included) inside?
  bool covers(IVec3 low, IVec3 high) const {
    return low.x >= min.x && low.y >= min.y && low.z >= min.z && high.x < min.x + size_x &&
           high.y < min.y + size_y && high.z < min.z + size_z;
  }
};

/// Can one window hold the blocks from low to high, both included?
inline bool fits_window(IVec3 low, IVec3 high) {
  return high.x - low.x < BlockWindow::columns_max && high.y - low.y < BlockWindow::columns_max &&
         high.z - low.z < BlockWindow::layers_max;
}

/// Fills a window with the blocks from low to high, both included. Precondition: fits_window.
/// Cost: a chunk look-up per chunk touched (1 to 8) and about 1 ns a column; as much again where a chunk
/// holds blocks that are solid in part. The volume has to outlive what is asked of the window.
void fill_window(const VoxelVolume& volume, IVec3 low, IVec3 high, BlockWindow& out);

/// Has the processor fetch the columns that a window from low to high will copy. Changes nothing.
void prefetch_window(const VoxelVolume& volume, IVec3 low, IVec3 high);

/// The mask of bits low .. high, both included, clamped to [0, 31]; 0 when empty.
inline std::uint32_t layer_mask(std::int32_t low, std::int32_t high) {
  low = low < 0 ? 0 : low;
  high = high > 31 ? 31 : high;
  if (low > high) return 0;
  return (~0u >> (31 - high)) & (~0u << low);
}

}  // namespace ashlar
