#include "world/voxel/block_shape.h"

#include <algorithm>
#include <utility>

namespace ashlar {
namespace {

constexpr std::uint8_t whole = shape_cells, half = shape_cells / 2;

constexpr BlockShape of(ShapeBox a) { return {1, {a, {}, {}, {}}}; }
/// A slab with half a block on it.
constexpr BlockShape stairs(ShapeBox upper) {
  return {2, {ShapeBox{{0, 0, 0}, {whole, whole, half}}, upper, {}, {}}};
}

constexpr std::array<std::string_view, 9> names{
    "none", "full", "slab", "slab_top", "post", "stairs_east", "stairs_north", "stairs_west", "stairs_south"};
/// In the order of the names.
constexpr std::array<BlockShape, names.size()> shapes{BlockShape{},
                                                      of({{0, 0, 0}, {whole, whole, whole}}),
                                                      of({{0, 0, 0}, {whole, whole, half}}),
                                                      of({{0, 0, half}, {whole, whole, whole}}),
                                                      of({{6, 6, 0}, {10, 10, whole}}),
                                                      stairs({{half, 0, half}, {whole, whole, whole}}),
                                                      stairs({{0, half, half}, {whole, whole, whole}}),
                                                      stairs({{0, 0, half}, {half, whole, whole}}),
                                                      stairs({{0, 0, half}, {whole, half, whole}})};

}  // namespace

bool BlockShape::full() const { return count == 1 && box[0] == shapes[1].box[0]; }

bool BlockShape::sane() const {
  if (count > boxes_max) return false;
  for (std::size_t i = 0; i < boxes_max; ++i) {
    if (i >= count && box[i] != ShapeBox{}) return false;
    for (std::size_t axis = 0; i < count && axis < 3; ++axis)
      if (box[i].min[axis] >= box[i].max[axis] || box[i].max[axis] > shape_cells) return false;
  }
  return true;
}

std::optional<BlockShape> find_shape(std::string_view name) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return shapes[static_cast<std::size_t>(at - names.begin())];
}

std::span<const std::string_view> shape_names() { return names; }

}  // namespace ashlar
