#include <algorithm>
#include <array>

#include "world/math/assert.h"
#include "world/voxel/hills_noise.h"
#include "world/voxel/hills_parts.h"

namespace ashlar::ground {
namespace {

/// Solid throughout: deeper than caves and ores.
constexpr std::int32_t bedrock_top_m = hills_low_m;

bool crag_solid(const HillsPoint& point, double crag, std::int32_t z) {
  return z + 0.5 < point.height_m + point.crag_m * crag;
}

/// Fills the column from the top down: `depth` is how much ground lies straight above a block.
void fill_crag_column(ChunkDraft& draft, const CragField& crags, const HillsPoint& point,
                      const GroundSkin& skin, IVec2 at) {
  const std::int32_t low = draft.min().z, high = draft.end().z;
  BlockId* column = draft.column(at.x, at.y);
  std::int32_t depth = 0;
  for (std::int32_t z = high + CragField::above - 1; z >= low; --z) {
    if (!crag_solid(point, crags.at(at.x, at.y, z), z)) {
      depth = 0;
      continue;
    }
    ++depth;
    if (z >= high) continue;
    column[z - low] = depth == 1 ? skin.top : depth <= 1 + skin.under_blocks ? skin.under : BlockId::stone;
  }
}

void fill_column(ChunkDraft& draft, std::int32_t top, const GroundSkin& skin, bool water, IVec2 at) {
  const std::int32_t low = draft.min().z, high = draft.end().z;
  BlockId* column = draft.column(at.x, at.y);
  const std::int32_t stone_end = std::clamp(top - 1 - skin.under_blocks, low, high);
  const std::int32_t under_end = std::clamp(top - 1, low, high), ground_end = std::clamp(top, low, high);
  std::fill(column, column + (stone_end - low), BlockId::stone);
  std::fill(column + (stone_end - low), column + (under_end - low), skin.under);
  std::fill(column + (under_end - low), column + (ground_end - low), skin.top);
  const std::int32_t water_end = std::clamp(sea_level_m, ground_end, high);
  if (water) std::fill(column + (ground_end - low), column + (water_end - low), BlockId::water);
}

void fill_ground(ChunkDraft& draft, const Terrain& terrain, const HillsArea& area) {
  const auto crags = area.crags() ? std::make_unique<CragField>(terrain.seed, draft.min()) : nullptr;
  for (std::int32_t y = draft.min().y; y < draft.end().y; ++y)
    for (std::int32_t x = draft.min().x; x < draft.end().x; ++x) {
      const HillsPoint point = area.at(x, y);
      const bool whole = distance_to_footprints(terrain.footprints, x, y) <= terrain_whole_m;
      const GroundSkin skin = skin_of(point, whole ? 0 : area.slope(x, y));
      ASHLAR_ASSERT(crags != nullptr ||
                    !(point.crag_m > 0));  // corners have none: neither has what lies between
      if (crags != nullptr && point.crag_m > 0)
        fill_crag_column(draft, *crags, point, skin, {x, y});
      else
        fill_column(draft, top_of(point.height_m), skin, !whole, {x, y});
    }
}

}  // namespace

CragField::CragField(std::uint64_t seed, IVec3 chunk_min) : min_(chunk_min) {
  std::size_t next = 0;
  for (std::int32_t j = 0; j < corners; ++j)
    for (std::int32_t i = 0; i < corners; ++i)
      for (std::int32_t k = 0; k < levels; ++k)
        values_[next++] = crag_noise(seed, min_ + IVec3{i * hills_step, j * hills_step, k * hills_step});
}

double CragField::at(std::int32_t x, std::int32_t y, std::int32_t z) const {
  const std::int32_t dx = x - min_.x, dy = y - min_.y, dz = z - min_.z;
  const std::int32_t i = dx / hills_step, j = dy / hills_step, k = dz / hills_step;
  const double u = (dx % hills_step) * 0.25, v = (dy % hills_step) * 0.25, w = (dz % hills_step) * 0.25;
  const auto corner = [&](std::int32_t a, std::int32_t b, std::int32_t c) {
    return values_[static_cast<std::size_t>(((j + b) * corners + i + a) * levels + k + c)];
  };
  const auto sheet = [&](std::int32_t c) {
    return mix(mix(corner(0, 0, c), corner(1, 0, c), u), mix(corner(0, 1, c), corner(1, 1, c), u), v);
  };
  return mix(sheet(0), w > 0 ? sheet(1) : sheet(0), w);
}

GroundSkin skin_of(const HillsPoint& p, double slope) {
  const std::int32_t top = top_of(p.height_m);
  if (top < sea_level_m - 9)
    return p.patch > 0.25 ? GroundSkin{BlockId::clay, BlockId::clay, 2}
                          : GroundSkin{BlockId::gravel, BlockId::gravel, 2};
  if (top < sea_level_m)
    return p.patch > 0.4 ? GroundSkin{BlockId::clay, BlockId::sand, 2}
                         : GroundSkin{BlockId::sand, BlockId::sand, 3};
  if (slope > 1.25) return {BlockId::stone, BlockId::stone, 0};
  if (top <= sea_level_m + 2 && p.wet + p.patch < 0.5) return {BlockId::sand, BlockId::sand, 3};
  if (slope > 0.95 && p.patch > 0.1) return {BlockId::gravel, BlockId::stone, 0};
  const double cold = -p.warm + 0.18 * p.patch;
  if (cold > 0.56) return {BlockId::snow, slope > 0.8 ? BlockId::stone : BlockId::dirt, 2};
  if (top > 92 && p.patch > -0.1) return {BlockId::stone, BlockId::stone, 0};
  if (p.warm - 0.8 * p.wet > 0.5) return {BlockId::sand, BlockId::sandstone, 5};
  return {};
}

namespace {

/// The lattice cell of a place and the ground within it.
struct HillsCell {
  std::int32_t i = 0, j = 0;  // its lower corner
  std::array<HillsPoint, 4> corners;
  HillsPoint point;

  HillsCell(const Terrain& terrain, std::int32_t x, std::int32_t y)
      : i(x & ~(hills_step - 1)), j(y & ~(hills_step - 1)) {
    for (std::int32_t n = 0; n < 4; ++n)
      corners[static_cast<std::size_t>(n)] =
          hills_point(terrain.seed, i + (n & 1) * hills_step, j + (n >> 1) * hills_step);
    point = between(corners[0], corners[1], corners[2], corners[3], x - i, y - j);
    level(terrain.footprints, x, y, point);
  }
};

}  // namespace

BlockId hills_surface_block(const Terrain& terrain, std::int32_t x, std::int32_t y) {
  const HillsCell cell(terrain, x, y);
  const auto [low, high] = std::ranges::minmax(cell.corners, {}, &HillsPoint::height_m);
  const bool whole = distance_to_footprints(terrain.footprints, x, y) <= terrain_whole_m;
  return skin_of(cell.point, whole ? 0 : (high.height_m - low.height_m) / hills_step).top;
}

std::int32_t hills_surface(const Terrain& terrain, std::int32_t x, std::int32_t y) {
  const HillsCell cell(terrain, x, y);
  const HillsPoint& point = cell.point;
  if (!(point.crag_m > 0)) return top_of(point.height_m);
  // From above, level by level of the lattice, so that each corner is asked for once.
  const auto sheet = [&](std::int32_t k) {
    const double u = (x - cell.i) * 0.25, v = (y - cell.j) * 0.25;
    const auto corner = [&](std::int32_t a, std::int32_t b) {
      return crag_noise(terrain.seed, {cell.i + a * hills_step, cell.j + b * hills_step, k});
    };
    return mix(mix(corner(0, 0), corner(1, 0), u), mix(corner(0, 1), corner(1, 1), u), v);
  };
  const auto down = [](std::int32_t v) { return v & ~(hills_step - 1); };
  std::int32_t z = top_of(point.height_m + point.crag_m);
  double over = sheet(down(z) + hills_step), under = sheet(down(z));
  for (;; --z) {
    const double w = (z & (hills_step - 1)) * 0.25;
    if (crag_solid(point, mix(under, w > 0 ? over : under, w), z)) return z + 1;
    if (w > 0) continue;
    over = under;
    under = sheet(z - hills_step);
  }
}

std::unique_ptr<Chunk> hills_chunk(const Terrain& terrain, ChunkCoord at) {
  const IVec3 low = chunk_min(at), high = low + IVec3{chunk_size, chunk_size, chunk_size};
  // Footprints may lie anywhere, and pull the ground with them.
  const bool natural = terrain.footprints.empty();
  if (natural && high.z <= bedrock_top_m) return std::make_unique<Chunk>(BlockId::stone);
  if (natural && low.z >= hills_high_m + forest_height_max) return std::make_unique<Chunk>(BlockId::air);

  const HillsArea area(terrain.seed, terrain.footprints, low);
  if (natural && low.z > area.highest_m() + forest_height_max && low.z >= sea_level_m)
    return std::make_unique<Chunk>(BlockId::air);
  ChunkDraft draft(at, BlockId::air);
  fill_ground(draft, terrain, area);
  if (high.z > bedrock_top_m) {
    carve_caves(draft, terrain, area);
    if (!terrain.bare) strew_ores(draft, terrain.secret.value_or(secret_of_seed(terrain.seed)));
    if (terrain.treasure != BlockId::air) hide_treasure(draft, terrain, area);
  }
  plant_forest(draft, terrain, area);
  draft.clear(terrain.footprints);
  return draft.finish();
}

}  // namespace ashlar::ground
