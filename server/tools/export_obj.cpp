#include "server/tools/export_obj.h"

#include <array>
#include <cstdio>
#include <map>
#include <vector>

#include "server/tools/draw_terrain.h"

namespace ashlar::server {
namespace {

constexpr int cells = shape_cells;  // corners lie on a grid of so many a metre

/// Four corners, counter-clockwise from outside, in sixteenths of a metre from the area's lower corner.
using Quad = std::array<IVec3, 4>;

std::int32_t& along(IVec3& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
std::int32_t along(const IVec3& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/// A rectangle at right angles to an axis. @param low, high  opposite corners, equal along the axis
Quad rectangle(int axis, bool up, IVec3 low, IVec3 high) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  IVec3 b = low, d = low;
  along(b, u) = along(high, u);
  along(d, v) = along(high, v);
  return up ? Quad{low, b, high, d} : Quad{low, d, high, b};
}

/// Gathers the faces of an area, by kind of block.
class Mesher {
 public:
  Mesher(const VoxelVolume& volume, const BlockBox& box, const BlockRegistry& kinds)
      : volume_(volume), box_(box), kinds_(kinds), size_(box.max - box.min) {}

  const std::map<BlockId, std::vector<Quad>>& quads() {
    for (int axis = 0; axis < 3; ++axis)
      for (const bool up : {false, true})
        for (std::int32_t layer = 0; layer < along(size_, axis); ++layer) mesh_layer(axis, up, layer);
    mesh_parts();
    return quads_;
  }

 private:
  BlockId block(IVec3 local) const {
    for (int axis = 0; axis < 3; ++axis)
      if (along(local, axis) < 0 || along(local, axis) >= along(size_, axis)) return BlockId::air;
    return volume_.block(box_.min + local);
  }
  /// Has it the form of its whole cell? What has no form of its own but can be seen is drawn so, too.
  bool whole(BlockId id) const {
    return id != BlockId::air && (!kinds_.knows(id) || kinds_.shape(id).full() || kinds_.shape(id).empty());
  }
  /// Is the face of one kind that touches another hidden by it?
  bool hidden(BlockId id, BlockId beside) const {
    return id == beside || (whole(beside) && (!kinds_.knows(beside) || kinds_.type(beside).opaque));
  }

  void mesh_layer(int axis, bool up, std::int32_t layer) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const std::int32_t width = along(size_, u), height = along(size_, v);
    mask_.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), BlockId::air);
    const auto at = [&](std::int32_t a, std::int32_t b) -> BlockId& {
      return mask_[static_cast<std::size_t>(b) * static_cast<std::size_t>(width) +
                   static_cast<std::size_t>(a)];
    };
    IVec3 place;
    along(place, axis) = layer;
    for (along(place, v) = 0; along(place, v) < height; ++along(place, v))
      for (along(place, u) = 0; along(place, u) < width; ++along(place, u)) {
        const BlockId id = block(place);
        IVec3 beside = place;
        along(beside, axis) += up ? 1 : -1;
        if (whole(id) && !hidden(id, block(beside))) at(along(place, u), along(place, v)) = id;
      }
    for (std::int32_t b = 0; b < height; ++b)
      for (std::int32_t a = 0; a < width; ++a) {
        const BlockId id = at(a, b);
        if (id == BlockId::air) continue;
        std::int32_t right = a + 1, top = b + 1;
        while (right < width && at(right, b) == id) ++right;
        const auto row_fits = [&](std::int32_t row) {
          for (std::int32_t i = a; i < right; ++i)
            if (at(i, row) != id) return false;
          return true;
        };
        while (top < height && row_fits(top)) ++top;
        for (std::int32_t y = b; y < top; ++y)
          for (std::int32_t x = a; x < right; ++x) at(x, y) = BlockId::air;
        IVec3 low, high;
        along(low, axis) = along(high, axis) = (layer + (up ? 1 : 0)) * cells;
        along(low, u) = a * cells, along(low, v) = b * cells;
        along(high, u) = right * cells, along(high, v) = top * cells;
        quads_[id].push_back(rectangle(axis, up, low, high));
      }
  }

  /// Slabs, stairs and the like: all faces of their boxes.
  void mesh_parts() {
    IVec3 place;
    for (place.y = 0; place.y < size_.y; ++place.y)
      for (place.x = 0; place.x < size_.x; ++place.x)
        for (place.z = 0; place.z < size_.z; ++place.z) {
          const BlockId id = block(place);
          if (id == BlockId::air || whole(id)) continue;
          for (const ShapeBox& box : kinds_.shape(id).boxes()) mesh_box(id, place, box);
        }
  }

  void mesh_box(BlockId id, IVec3 place, const ShapeBox& box) {
    const IVec3 corner{place.x * cells, place.y * cells, place.z * cells};
    const IVec3 low = corner + IVec3{box.min[0], box.min[1], box.min[2]};
    const IVec3 high = corner + IVec3{box.max[0], box.max[1], box.max[2]};
    for (int axis = 0; axis < 3; ++axis)
      for (const bool up : {false, true}) {
        IVec3 a = low, b = high;
        along(a, axis) = along(b, axis) = along(up ? high : low, axis);
        quads_[id].push_back(rectangle(axis, up, a, b));
      }
  }

  const VoxelVolume& volume_;
  const BlockBox box_;
  const BlockRegistry& kinds_;
  const IVec3 size_;
  std::vector<BlockId> mask_;  // of a layer: whose face is to be seen there
  std::map<BlockId, std::vector<Quad>> quads_;
};

void append_corner(std::string& out, IVec3 corner, IVec3 size) {
  char line[96];
  const auto metres = [](std::int32_t v) { return static_cast<double>(v) / cells; };
  const int written =
      std::snprintf(line, sizeof line, "v %.10g %.10g %.10g\n", metres(corner.x) - size.x / 2.0,
                    metres(corner.z), size.y / 2.0 - metres(corner.y));
  out.append(line, static_cast<std::size_t>(written));
}

void append_material(std::string& out, const std::string& name, Colour colour) {
  char line[160];
  const int written = std::snprintf(line, sizeof line, "newmtl %s\nKd %.3f %.3f %.3f\n", name.c_str(),
                                    colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
  out.append(line, static_cast<std::size_t>(written));
}

}  // namespace

ObjModel export_obj(const VoxelVolume& volume, const BlockBox& box, const BlockRegistry& kinds,
                    const std::string& mtl_name) {
  ObjModel model;
  const IVec3 size = box.max - box.min;
  model.obj = "# blocks " + std::to_string(box.min.x) + "," + std::to_string(box.min.y) + "," +
              std::to_string(box.min.z) + " to " + std::to_string(box.max.x - 1) + "," +
              std::to_string(box.max.y - 1) + "," + std::to_string(box.max.z - 1) +
              "; metres, y up\nmtllib " + mtl_name + "\n";
  Mesher mesher(volume, box, kinds);
  for (const auto& [id, quads] : mesher.quads()) {
    const std::string name =
        kinds.knows(id) ? kinds.type(id).name : "block_" + std::to_string(static_cast<unsigned>(id));
    append_material(model.mtl, name, block_colour(id));
    model.obj += "usemtl " + name + "\n";
    for (const Quad& quad : quads) {
      for (const IVec3& corner : quad) append_corner(model.obj, corner, size);
      model.obj += "f -4 -3 -2 -1\n";
      ++model.faces;
    }
  }
  return model;
}

}  // namespace ashlar::server
