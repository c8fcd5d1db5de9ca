// The trees of the hills. At most one to a cell, and its trunk keeps a distance from the cell's border, so
// one can walk between any two.
#include <algorithm>
#include <cstdlib>

#include "world/voxel/hills_noise.h"
#include "world/voxel/hills_parts.h"

namespace ashlar::ground {
namespace {

constexpr std::int32_t forest_cell = 7;
constexpr std::int32_t forest_gap = 2;    // blocks without a trunk at two sides of each cell
constexpr std::int32_t forest_reach = 4;  // of crowns around a trunk
constexpr std::int32_t bare_trunk = 3;    // blocks to walk under
static_assert(forest_reach + forest_cell < HillsArea::margin);
static_assert(forest_reach < terrain_whole_m - terrain_apron_m);
constexpr double forest_slope_max = 0.85;

enum class TreeKind { oak, great_oak, birch, pine, bush };

struct ForestTree {
  TreeKind kind = TreeKind::oak;
  IVec3 root;
  std::int32_t height = 0;
  std::uint64_t bits = 0;
};

std::int32_t floor_div(std::int32_t v, std::int32_t by) { return v >= 0 ? v / by : -((by - 1 - v) / by); }

TreeKind kind_for(const HillsPoint& p, std::uint64_t bits) {
  const std::uint64_t roll = (bits >> 40) % 100;
  const double cold = -p.warm + 0.1 * p.patch;
  if (cold > 0.28 || (cold > 0.1 && roll < 55)) return TreeKind::pine;
  if (roll >= 88) return TreeKind::bush;
  if (p.wet + 0.5 * p.patch > 0.12 && roll < 50) return TreeKind::birch;
  return roll % 11 == 0 ? TreeKind::great_oak : TreeKind::oak;
}

std::int32_t height_of(TreeKind kind, std::uint64_t bits) {
  const auto more = [&](std::uint64_t n) { return static_cast<std::int32_t>((bits >> 20) % n); };
  switch (kind) {
    case TreeKind::oak: return 6 + more(3);
    case TreeKind::great_oak: return 9 + more(3);
    case TreeKind::birch: return 8 + more(3);
    case TreeKind::pine: return 10 + more(forest_height_max - 10);
    case TreeKind::bush: break;
  }
  return 2;
}

bool tree_in(const Terrain& terrain, const HillsArea& area, std::int32_t i, std::int32_t j, ForestTree& out) {
  const std::uint64_t bits = cell_bits(noise_key(terrain.seed, HillsNoise::tree), i, j);
  const auto offset = [&](unsigned shift) {
    return static_cast<std::int32_t>((bits >> shift) % (forest_cell - forest_gap));
  };
  out.root = {i * forest_cell + offset(0), j * forest_cell + offset(8), 0};
  const IVec3 min = area.chunk_min();
  const std::int32_t far = forest_reach;
  if (out.root.x < min.x - far || out.root.x >= min.x + chunk_size + far || out.root.y < min.y - far ||
      out.root.y >= min.y + chunk_size + far)
    return false;
  const HillsPoint point = area.at(out.root.x, out.root.y);
  const double slope = area.slope(out.root.x, out.root.y);
  if (point.crag_m > 0 || slope > forest_slope_max) return false;
  if (cave_mouths(terrain.seed, point, out.root.x, out.root.y)) return false;  // it might stand on air
  if (distance_to_footprints(terrain.footprints, out.root.x, out.root.y) <= terrain_whole_m) return false;
  const BlockId ground = skin_of(point, slope).top;
  const double chance = ground == BlockId::grass  ? point.forest
                        : ground == BlockId::snow ? 0.5 * point.forest
                                                  : 0;
  if (static_cast<double>(bits >> 48) >= chance * 65536) return false;
  out.root.z = top_of(point.height_m);
  if (out.root.z < sea_level_m) return false;
  out.bits = bits;
  out.kind = kind_for(point, bits);
  out.height = height_of(out.kind, bits);
  return true;
}

/// A ball of leaves, flattened, without its corners.
void put_crown(ChunkDraft& draft, IVec3 centre, std::int32_t reach, std::int32_t half_height, BlockId leaves,
               std::int32_t lowest) {
  for (std::int32_t dz = -half_height; dz <= half_height; ++dz) {
    if (centre.z + dz < lowest) continue;
    for (std::int32_t dy = -reach; dy <= reach; ++dy)
      for (std::int32_t dx = -reach; dx <= reach; ++dx) {
        const double away = static_cast<double>(dx * dx + dy * dy) / (reach * reach + 0.6 * reach) +
                            static_cast<double>(dz * dz) / (half_height * half_height + 0.6 * half_height);
        if (away <= 1) draft.put(centre + IVec3{dx, dy, dz}, leaves);
      }
  }
}

void put_trunk(ChunkDraft& draft, const ForestTree& tree, std::int32_t height, BlockId wood) {
  for (std::int32_t h = 0; h < height; ++h) draft.put(tree.root + IVec3{0, 0, h}, wood);
}

void put_pine(ChunkDraft& draft, const ForestTree& tree) {
  put_trunk(draft, tree, tree.height - 1, BlockId::pine_wood);
  for (std::int32_t h = bare_trunk; h < tree.height; ++h) {
    const std::int32_t down = tree.height - 1 - h;  // from the top
    const std::int32_t widest = std::min(3, 1 + down / 4);
    const std::int32_t reach = down == 0 ? 0 : down % 2 == 1 ? widest : widest - 1;
    for (std::int32_t dy = -reach; dy <= reach; ++dy)
      for (std::int32_t dx = -reach; dx <= reach; ++dx)
        if (std::abs(dx) + std::abs(dy) <= reach + (reach > 1 ? 1 : 0))
          draft.put(tree.root + IVec3{dx, dy, h}, BlockId::pine_needles);
  }
}

void put_tree(ChunkDraft& draft, const ForestTree& tree) {
  const std::int32_t h = tree.height, lowest = tree.root.z + bare_trunk;
  const IVec3 top = tree.root + IVec3{0, 0, h};
  switch (tree.kind) {
    case TreeKind::oak:
      put_trunk(draft, tree, h - 1, BlockId::wood);
      put_crown(draft, top - IVec3{0, 0, 2}, 2 + static_cast<std::int32_t>((tree.bits >> 30) & 1), 2,
                BlockId::leaves, lowest);
      break;
    case TreeKind::great_oak:
      put_trunk(draft, tree, h - 1, BlockId::wood);
      put_crown(draft, top - IVec3{0, 0, 3}, forest_reach, 3, BlockId::leaves, lowest);
      break;
    case TreeKind::birch:
      put_trunk(draft, tree, h - 1, BlockId::birch_wood);
      put_crown(draft, top - IVec3{0, 0, 3}, 2, 3, BlockId::birch_leaves, lowest + 1);
      break;
    case TreeKind::pine: put_pine(draft, tree); break;
    case TreeKind::bush: put_crown(draft, tree.root, 1, 1, BlockId::leaves, tree.root.z); break;
  }
}

}  // namespace

void plant_forest(ChunkDraft& draft, const Terrain& terrain, const HillsArea& area) {
  const IVec3 low = draft.min(), high = draft.end();
  const bool natural = terrain.footprints.empty();
  if (natural && (low.z > area.highest_m() + forest_height_max || high.z < sea_level_m)) return;
  const std::int32_t i0 = floor_div(low.x - forest_reach, forest_cell);
  const std::int32_t i1 = floor_div(high.x - 1 + forest_reach, forest_cell);
  const std::int32_t j0 = floor_div(low.y - forest_reach, forest_cell);
  const std::int32_t j1 = floor_div(high.y - 1 + forest_reach, forest_cell);
  for (std::int32_t j = j0; j <= j1; ++j)
    for (std::int32_t i = i0; i <= i1; ++i) {
      ForestTree tree;
      if (!tree_in(terrain, area, i, j, tree)) continue;
      if (tree.root.z < high.z && tree.root.z + forest_height_max >= low.z) put_tree(draft, tree);
    }
}

}  // namespace ashlar::ground
