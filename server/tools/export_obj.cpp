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

/// Gathers the faces of an area, by kind of block. Reads each block once an axis, a layer at a time.
class Mesher {
 public:
  Mesher(const VoxelVolume& volume, const BlockBox& box, const BlockRegistry& kinds)
      : volume_(volume), box_(box), kinds_(kinds), size_(box.max - box.min) {
    for (std::uint16_t i = 1; i < block_kinds_max; ++i) {
      const BlockId id{i};
      forms_[i].whole = !kinds.knows(id) || kinds.shape(id).full() || kinds.shape(id).empty();
      forms_[i].hides = forms_[i].whole && (!kinds.knows(id) || kinds.type(id).opaque);
    }
  }

  const std::map<BlockId, std::vector<Quad>>& quads() {
    for (int axis = 0; axis < 3; ++axis) mesh_axis(axis);
    return quads_;
  }

 private:
  /// What is asked of a kind for every block.
  struct Form {
    bool whole = false;  // of the form of its whole cell; what can be seen without a form is drawn so, too
    bool hides = false;  // the faces that touch it
  };
  const Form& form(BlockId id) const { return forms_[static_cast<std::size_t>(id)]; }

  std::int32_t width(int axis) const { return along(size_, (axis + 1) % 3); }
  std::int32_t height(int axis) const { return along(size_, (axis + 2) % 3); }

  void mesh_axis(int axis) {
    std::vector<BlockId> below, layer, above;
    read_layer(axis, -1, below);
    read_layer(axis, 0, layer);
    for (std::int32_t at = 0; at < along(size_, axis); ++at) {
      read_layer(axis, at + 1, above);
      mesh_faces(axis, false, at, layer, below);
      mesh_faces(axis, true, at, layer, above);
      if (axis == 0) mesh_parts(at, layer);
      std::swap(below, layer);
      std::swap(layer, above);
    }
  }

  /// Row by row; air outside the area.
  void read_layer(int axis, std::int32_t layer, std::vector<BlockId>& out) const {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    out.assign(static_cast<std::size_t>(width(axis)) * static_cast<std::size_t>(height(axis)), BlockId::air);
    if (layer < 0 || layer >= along(size_, axis)) return;
    IVec3 place;
    along(place, axis) = layer;
    std::size_t next = 0;
    for (along(place, v) = 0; along(place, v) < height(axis); ++along(place, v)) {
      ChunkCoord at{};
      const Chunk* chunk = nullptr;
      for (along(place, u) = 0; along(place, u) < width(axis); ++along(place, u)) {
        const IVec3 block = box_.min + place;
        if (chunk == nullptr || !(at == chunk_of(block))) chunk = volume_.find(at = chunk_of(block));
        out[next++] = chunk != nullptr ? chunk->block(local_in_chunk(block)) : volume_.block(block);
      }
    }
  }

  /// The faces of a layer that look to one side, where none of another block hides them.
  void mesh_faces(int axis, bool up, std::int32_t layer, const std::vector<BlockId>& blocks,
                  const std::vector<BlockId>& beside) {
    mask_.assign(blocks.size(), BlockId::air);
    bool any = false;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const BlockId id = blocks[i];
      if (!form(id).whole || id == beside[i] || form(beside[i]).hides) continue;
      mask_[i] = id;
      any = true;
    }
    if (any) merge_faces(axis, up, layer);
  }

  /// Makes as few rectangles of the mask as come of it row by row.
  void merge_faces(int axis, bool up, std::int32_t layer) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const std::int32_t across = width(axis), rows = height(axis);
    const auto at = [&](std::int32_t a, std::int32_t b) -> BlockId& {
      return mask_[static_cast<std::size_t>(b) * static_cast<std::size_t>(across) +
                   static_cast<std::size_t>(a)];
    };
    for (std::int32_t b = 0; b < rows; ++b)
      for (std::int32_t a = 0; a < across; ++a) {
        const BlockId id = at(a, b);
        if (id == BlockId::air) continue;
        std::int32_t right = a + 1, top = b + 1;
        while (right < across && at(right, b) == id) ++right;
        const auto row_fits = [&](std::int32_t row) {
          for (std::int32_t i = a; i < right; ++i)
            if (at(i, row) != id) return false;
          return true;
        };
        while (top < rows && row_fits(top)) ++top;
        for (std::int32_t y = b; y < top; ++y)
          for (std::int32_t x = a; x < right; ++x) at(x, y) = BlockId::air;
        IVec3 low, high;
        along(low, axis) = along(high, axis) = (layer + (up ? 1 : 0)) * cells;
        along(low, u) = a * cells, along(low, v) = b * cells;
        along(high, u) = right * cells, along(high, v) = top * cells;
        quads_[id].push_back(rectangle(axis, up, low, high));
      }
  }

  /// Slabs, stairs and the like of a layer at right angles to x: all faces of their boxes.
  void mesh_parts(std::int32_t x, const std::vector<BlockId>& blocks) {
    std::size_t next = 0;
    for (std::int32_t z = 0; z < size_.z; ++z)
      for (std::int32_t y = 0; y < size_.y; ++y) {
        const BlockId id = blocks[next++];
        if (id == BlockId::air || form(id).whole) continue;
        for (const ShapeBox& box : kinds_.shape(id).boxes()) mesh_box(id, {x, y, z}, box);
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
  std::array<Form, block_kinds_max> forms_{};  // by id; air has none
  std::vector<BlockId> mask_;                  // of a layer: whose face is to be seen there
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
