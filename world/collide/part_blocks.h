#pragma once
#include <algorithm>
#include <bit>

#include "world/math/shapes.h"
#include "world/voxel/window.h"

namespace ashlar {

/// Columns of a window, both ends included.
struct ColumnRange {
  std::int32_t x0, x1, y0, y1;
};

/// Calls visit(box, block) for each box of the blocks in these columns and layers that are solid in part: the
/// box in metres from the window's corner, the block in the window; in the order of y, x, z and the shape's
/// own. A visit that returns true ends it. @return whether one did
template <typename Visit>
bool visit_part_boxes(const BlockWindow& window, const ColumnRange& range, std::uint32_t layers,
                      Visit&& visit) {
  if ((window.parts_any & layers) == 0) return false;
  for (std::int32_t y = range.y0; y <= range.y1; ++y)
    for (std::int32_t x = range.x0; x <= range.x1; ++x)
      for (std::uint32_t bits = window.part_column(x, y) & layers; bits != 0; bits &= bits - 1) {
        const IVec3 block{x, y, std::countr_zero(bits)};
        const DVec3 corner = to_dvec3(block);
        for (const ShapeBox& box : window.volume->shape(window.min + block).boxes())
          if (visit(box.at(corner), block)) return true;
      }
  return false;
}

}  // namespace ashlar
