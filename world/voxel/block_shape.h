#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "world/math/shapes.h"
#include "world/math/vec.h"

namespace ashlar {

/// Edges of shapes lie on a grid of so many cells a block: coordinates of boxes are exact everywhere in the
/// world, and two bytes that say so are the same on every machine.
inline constexpr std::uint8_t shape_cells = 16;

/// A box within a block, in sixteenths of a metre from the block's lower corner: [min, max) on x, y, z.
struct ShapeBox {
  std::array<std::uint8_t, 3> min{}, max{};
  friend bool operator==(const ShapeBox&, const ShapeBox&) = default;

  /// In metres, relative to whatever the block's corner is relative to. Exact.
  Aabb at(DVec3 corner) const {
    constexpr double side_m = 1.0 / shape_cells;
    return {corner + DVec3{min[0] * side_m, min[1] * side_m, min[2] * side_m},
            corner + DVec3{max[0] * side_m, max[1] * side_m, max[2] * side_m}};
  }
};

/// What of a block is solid: a union of a few boxes, which may touch and overlap.
struct BlockShape {
  static constexpr std::size_t boxes_max = 4;

  std::uint8_t count = 0;                 ///< 0: nothing is solid
  std::array<ShapeBox, boxes_max> box{};  ///< the first `count` hold; the rest are zero

  std::span<const ShapeBox> boxes() const { return {box.data(), count}; }
  bool empty() const { return count == 0; }
  /// One box over all of it.
  bool full() const;
  /// At most boxes_max, each within the block and of some size; what is not used is zero.
  bool sane() const;
  friend bool operator==(const BlockShape&, const BlockShape&) = default;
};

/// Shapes that have a name: none, full, slab, slab_top, post, and stairs_east, stairs_north, stairs_west and
/// stairs_south, which rise that way.
std::optional<BlockShape> find_shape(std::string_view name);
/// All of those names, for messages.
std::span<const std::string_view> shape_names();

}  // namespace ashlar
