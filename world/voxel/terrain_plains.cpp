// The ground of the first worlds, kept to the last bit: recordings and worlds hang on it.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "world/math/random.h"
#include "world/voxel/terrain_parts.h"

namespace ashlar::ground {
namespace {

enum class Purpose : std::uint64_t { hills = 11, bumps, rocks, caves, cave_levels, trees };

constexpr int ground_layers = 3;        // blocks of dirt under the grass
constexpr std::int32_t sand_top_m = 9;  // lowlands up to here are sand
constexpr int cave_roof_m = 2;          // caves stay this far below the surface, but for some mouths
constexpr int cave_depth_m = 56;        // and none lies deeper than this below z = 0
constexpr int tree_cell = 8;            // at most one tree to a cell of so many blocks
constexpr int crown_reach = 2;
constexpr int tree_height_max = 7;

std::uint32_t lattice(std::uint64_t seed, Purpose purpose, std::int32_t x, std::int32_t y, std::int32_t z) {
  const std::uint64_t cell = static_cast<std::uint64_t>(static_cast<std::uint32_t>(x)) |
                             static_cast<std::uint64_t>(static_cast<std::uint32_t>(y)) << 32;
  const std::uint64_t key = mix64(seed + static_cast<std::uint64_t>(purpose) * 0x9e3779b97f4a7c15u);
  return static_cast<std::uint32_t>(
      mix64(mix64(key ^ cell) + static_cast<std::uint64_t>(static_cast<std::uint32_t>(z))) >> 32);
}

/// Bilinear noise over a lattice of 2^shift blocks, 0 .. 65535.
std::int32_t noise(std::uint64_t seed, Purpose purpose, int shift, std::int32_t x, std::int32_t y) {
  const std::int32_t i = x >> shift, j = y >> shift;
  const std::int64_t n = std::int64_t{1} << shift;
  const std::int64_t fx = x & (n - 1), fy = y & (n - 1);
  const auto corner = [&](std::int32_t a, std::int32_t b) -> std::int64_t {
    return lattice(seed, purpose, i + a, j + b, shift) & 0xffff;
  };
  const std::int64_t sum = corner(0, 0) * (n - fx) * (n - fy) + corner(1, 0) * fx * (n - fy) +
                           corner(0, 1) * (n - fx) * fy + corner(1, 1) * fx * fy;
  return static_cast<std::int32_t>(sum >> (2 * shift));
}

std::int32_t natural_height(std::uint64_t seed, std::int32_t x, std::int32_t y) {
  // Broad hills, lesser bumps, a little roughness; the sum of the three spans is high - low.
  const std::int32_t hills = noise(seed, Purpose::hills, 6, x, y);
  const std::int32_t bumps = noise(seed, Purpose::bumps, 4, x, y);
  const std::int32_t rocks = noise(seed, Purpose::rocks, 2, x, y);
  constexpr std::int32_t span = terrain_high_m - terrain_low_m;
  static_assert(span == 32);
  return terrain_low_m + ((hills * 25 + bumps * 6 + rocks * 1) >> 16);
}

struct Tree {
  bool stands = false;
  IVec3 root;  ///< the first block of the trunk
  std::int32_t height = 0;
};

Tree tree_in_cell(const Terrain& terrain, std::int32_t i, std::int32_t j) {
  const std::uint32_t r = lattice(terrain.seed, Purpose::trees, i, j, 0);
  if (r % 100 >= 35) return {};
  Tree tree;
  tree.root.x = i * tree_cell + static_cast<std::int32_t>((r >> 8) % tree_cell);
  tree.root.y = j * tree_cell + static_cast<std::int32_t>((r >> 16) % tree_cell);
  if (distance_to_footprints(terrain.footprints, tree.root.x, tree.root.y) <= terrain_apron_m + crown_reach)
    return {};
  tree.root.z = plains_surface(terrain, tree.root.x, tree.root.y);
  if (tree.root.z <= sand_top_m) return {};
  tree.height = 5 + static_cast<std::int32_t>((r >> 24) % 3);
  tree.stands = true;
  static_assert(5 + 2 <= tree_height_max);
  return tree;
}

/// Cave density at the corners of 4 m cells, interpolated between: a sheet of noise near one half is a
/// winding hollow. One table a chunk, since corners are shared by 64 blocks.
class CaveField {
 public:
  static constexpr int step = 4;
  static constexpr int corners = chunk_size / step + 1;

  CaveField(std::uint64_t seed, IVec3 low) {
    for (int k = 0; k < corners; ++k)
      for (int j = 0; j < corners; ++j)
        for (int i = 0; i < corners; ++i)
          for (int layer = 0; layer < 2; ++layer)
            at(layer, i, j, k) = coarse(seed, layer, low + IVec3{i * step, j * step, k * step});
  }

  /// What the 32 blocks above each other share of it: in x and y it is interpolated once for all of them.
  class Column {
   public:
    bool hollow(int z) const {
      // Where two sheets cross there is a tunnel.
      const auto k = static_cast<std::size_t>(z / step);
      const std::int32_t fz = z % step;
      for (const auto& layer : layers_) {
        const std::int32_t v = (layer[k] * (step - fz) + layer[k + 1] * fz) / (step * step * step);
        if (v < 32768 - half_width || v > 32768 + half_width) return false;
      }
      return true;
    }

   private:
    friend class CaveField;
    std::array<std::array<std::int32_t, corners>, 2> layers_{};
  };

  /// @param x, y  of the chunk, from 0 on
  Column column(int x, int y) const {
    const int i = x / step, j = y / step;
    const std::int32_t fx = x % step, fy = y % step;
    Column out;
    for (int layer = 0; layer < 2; ++layer)
      for (int k = 0; k < corners; ++k) {
        const auto line = [&](int b) {
          return at(layer, i, b, k) * (step - fx) + at(layer, i + 1, b, k) * fx;
        };
        out.layers_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(k)] =
            line(j) * (step - fy) + line(j + 1) * fy;
      }
    return out;
  }

 private:
  static constexpr std::int32_t half_width = 4200;

  /// Trilinear noise on a 16 m lattice, squeezed on z so that tunnels run level rather than upright.
  static std::int32_t coarse(std::uint64_t seed, int layer, IVec3 p) {
    const Purpose purpose = layer == 0 ? Purpose::caves : Purpose::cave_levels;
    const IVec3 c{p.x >> 4, p.y >> 4, p.z >> 3};
    const std::int64_t fx = p.x & 15, fy = p.y & 15, fz = p.z & 7;
    std::int64_t sum = 0;
    for (int b = 0; b < 8; ++b) {
      const int i = b & 1, j = (b >> 1) & 1, k = b >> 2;
      const std::int64_t w = (i != 0 ? fx : 16 - fx) * (j != 0 ? fy : 16 - fy) * (k != 0 ? fz : 8 - fz);
      sum += w * (lattice(seed, purpose, c.x + i, c.y + j, c.z + k) & 0xffff);
    }
    return static_cast<std::int32_t>(sum >> 11);
  }

  std::int32_t& at(int layer, int i, int j, int k) {
    return values_[static_cast<std::size_t>(((layer * corners + k) * corners + j) * corners + i)];
  }
  std::int32_t at(int layer, int i, int j, int k) const {
    return values_[static_cast<std::size_t>(((layer * corners + k) * corners + j) * corners + i)];
  }

  std::array<std::int32_t, 2 * corners * corners * corners> values_;
};

void plant(ChunkDraft& draft, const Tree& tree) {
  for (std::int32_t h = 0; h < tree.height - 1; ++h) draft.put(tree.root + IVec3{0, 0, h}, BlockId::wood);
  for (std::int32_t h = tree.height - 3; h < tree.height; ++h) {
    const std::int32_t reach = h == tree.height - 1 ? 1 : crown_reach;
    for (std::int32_t dy = -reach; dy <= reach; ++dy)
      for (std::int32_t dx = -reach; dx <= reach; ++dx) {
        const bool corner = std::abs(dx) == crown_reach && std::abs(dy) == crown_reach;
        if (!corner) draft.put(tree.root + IVec3{dx, dy, h}, BlockId::leaves);
      }
  }
}

void plant_trees(ChunkDraft& draft, const Terrain& terrain) {
  const IVec3 low = draft.min();
  const std::int32_t i0 = (low.x - crown_reach) >> 3, i1 = (low.x + chunk_size - 1 + crown_reach) >> 3;
  const std::int32_t j0 = (low.y - crown_reach) >> 3, j1 = (low.y + chunk_size - 1 + crown_reach) >> 3;
  static_assert(tree_cell == 1 << 3);
  for (std::int32_t j = j0; j <= j1; ++j)
    for (std::int32_t i = i0; i <= i1; ++i) {
      const Tree tree = tree_in_cell(terrain, i, j);
      if (tree.stands) plant(draft, tree);
    }
}

/// Caves may open to the sky in one area of four.
bool mouth_here(std::uint64_t seed, std::int32_t x, std::int32_t y) {
  return lattice(seed, Purpose::caves, x >> 5, y >> 5, -1) % 4 == 0;
}

BlockId ground_block(std::int32_t z, std::int32_t surface) {
  const std::int32_t depth = surface - 1 - z;
  if (depth > ground_layers) return BlockId::stone;
  if (surface <= sand_top_m) return BlockId::sand;
  return depth == 0 ? BlockId::grass : BlockId::dirt;
}

}  // namespace

std::int32_t plains_surface(const Terrain& terrain, std::int32_t x, std::int32_t y) {
  return levelled(terrain.footprints, x, y, natural_height(terrain.seed, x, y));
}

BlockId plains_surface_block(const Terrain& terrain, std::int32_t x, std::int32_t y) {
  const std::int32_t top = plains_surface(terrain, x, y);
  return ground_block(top - 1, top);
}

std::unique_ptr<Chunk> plains_chunk(const Terrain& terrain, ChunkCoord at) {
  const IVec3 low = chunk_min(at);
  const IVec3 high = low + IVec3{chunk_size, chunk_size, chunk_size};
  std::array<std::int32_t, chunk_size * chunk_size> surface;
  std::int32_t surface_max = -(1 << 24), surface_min = 1 << 24;
  for (std::int32_t y = 0; y < chunk_size; ++y)
    for (std::int32_t x = 0; x < chunk_size; ++x) {
      const std::int32_t s = plains_surface(terrain, low.x + x, low.y + y);
      surface[static_cast<std::size_t>(y * chunk_size + x)] = s;
      surface_max = std::max(surface_max, s);
      surface_min = std::min(surface_min, s);
    }

  const bool mapped = std::ranges::any_of(terrain.footprints, [&](const BlockBox& box) {
    return box.min.x < high.x && low.x < box.max.x && box.min.y < high.y && low.y < box.max.y &&
           box.min.z < high.z && low.z < box.max.z;
  });
  if (low.z >= surface_max + tree_height_max) return std::make_unique<Chunk>(BlockId::air);
  const bool caves = low.z < surface_max && high.z > -cave_depth_m;
  if (!caves && !mapped && high.z <= surface_min - ground_layers - 1)
    return std::make_unique<Chunk>(BlockId::stone);

  ChunkDraft draft(at, BlockId::air);
  const CaveField field(terrain.seed, low);
  for (std::int32_t y = 0; y < chunk_size; ++y)
    for (std::int32_t x = 0; x < chunk_size; ++x) {
      const std::int32_t top = surface[static_cast<std::size_t>(y * chunk_size + x)];
      // Beside footprints the ground is whole: one can rely on reaching the roof.
      const bool whole =
          distance_to_footprints(terrain.footprints, low.x + x, low.y + y) <= 2 * terrain_apron_m;
      const std::int32_t mouth = mouth_here(terrain.seed, low.x + x, low.y + y) ? -1 : cave_roof_m;
      const bool diggable = caves && !whole;
      const CaveField::Column cave = diggable ? field.column(x, y) : CaveField::Column{};
      BlockId* const column = draft.column(low.x + x, low.y + y);
      for (std::int32_t z = low.z; z < std::min(top, high.z); ++z) {
        const bool dug = diggable && z < top - 1 - mouth && z > -cave_depth_m && cave.hollow(z - low.z);
        if (!dug) column[z - low.z] = ground_block(z, top);
      }
    }
  if (high.z > surface_min && low.z < surface_max + tree_height_max) plant_trees(draft, terrain);
  draft.clear(terrain.footprints);
  return draft.finish();
}

}  // namespace ashlar::ground
