#include "world/voxel/terrain.h"

#include <array>

#include "world/math/random.h"
#include "world/voxel/terrain_parts.h"

namespace ashlar {
namespace {

constexpr std::array<std::string_view, terrain_kind_count> terrain_names{"plains", "hills", "flat", "void"};
constexpr std::int32_t flat_dirt_blocks = 3;
constexpr std::int32_t platform_blocks_thick = 2;

constexpr ColumnSpan plains_span{-3, 4}, hills_span{-4, 6};
static_assert(plains_span.count() <= column_chunks_max && hills_span.count() <= column_chunks_max);
static_assert(hills_low_m - chunk_size >= hills_span.low * chunk_size);    // ground under the deepest sea
static_assert(hills_high_m + chunk_size <= hills_span.high * chunk_size);  // room over the highest tree

std::unique_ptr<Chunk> flat_chunk(const Terrain& terrain, ChunkCoord at) {
  ground::ChunkDraft draft(at, BlockId::air);
  for (std::int32_t y = draft.min().y; y < draft.end().y; ++y)
    for (std::int32_t x = draft.min().x; x < draft.end().x; ++x) {
      const std::int32_t top = surface_height(terrain, x, y);
      BlockId* column = draft.column(x, y);
      for (std::int32_t z = draft.min().z; z < std::min(top, draft.end().z); ++z)
        *column++ = z == top - 1                      ? BlockId::grass
                    : z >= top - 1 - flat_dirt_blocks ? BlockId::dirt
                                                      : BlockId::stone;
    }
  draft.clear(terrain.footprints);
  return draft.finish();
}

/// Does a platform reach there? One around the origin, and the apron of each footprint.
bool on_platform(const Terrain& terrain, std::int32_t x, std::int32_t y) {
  const bool middle = std::max(std::max(x, -1 - x), std::max(y, -1 - y)) < platform_radius_blocks;
  return middle || ground::distance_to_footprints(terrain.footprints, x, y) <= terrain_apron_m;
}

std::unique_ptr<Chunk> empty_chunk(const Terrain& terrain, ChunkCoord at) {
  ground::ChunkDraft draft(at, BlockId::air);
  for (std::int32_t y = draft.min().y; y < draft.end().y; ++y)
    for (std::int32_t x = draft.min().x; x < draft.end().x; ++x) {
      if (!on_platform(terrain, x, y)) continue;
      const std::int32_t top = surface_height(terrain, x, y);
      for (std::int32_t z = top - platform_blocks_thick; z < top; ++z) draft.put({x, y, z}, BlockId::stone);
    }
  draft.clear(terrain.footprints);
  return draft.finish();
}

}  // namespace

namespace ground {

std::int32_t distance_to_footprints(std::span<const BlockBox> footprints, std::int32_t x, std::int32_t y) {
  std::int32_t nearest = 1 << 24;
  for (const BlockBox& box : footprints) nearest = std::min(nearest, distance_to(box, x, y));
  return nearest;
}

void ChunkDraft::clear(std::span<const BlockBox> footprints) {
  const IVec3 low = min_, high = end();
  for (const BlockBox& box : footprints)
    for (std::int32_t y = std::max(low.y, box.min.y); y < std::min(high.y, box.max.y); ++y)
      for (std::int32_t x = std::max(low.x, box.min.x); x < std::min(high.x, box.max.x); ++x)
        for (std::int32_t z = std::max(low.z, box.min.z); z < std::min(high.z, box.max.z); ++z)
          at({x, y, z}) = BlockId::air;
}

}  // namespace ground

std::string_view name(TerrainKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < terrain_names.size() ? terrain_names[index] : "unknown";
}

std::optional<TerrainKind> terrain_kind_of(std::string_view name) {
  const auto found = std::ranges::find(terrain_names, name);
  if (found == terrain_names.end()) return std::nullopt;
  return static_cast<TerrainKind>(found - terrain_names.begin());
}

bool terrain_known(std::uint8_t kind, std::uint16_t generator) {
  return kind < terrain_kind_count && generator == terrain_generator;
}

std::uint64_t secret_of_seed(std::uint64_t seed) { return mix64(seed ^ 0x6f7265732e2e2e21u); }

ColumnSpan column_span(TerrainKind kind) { return kind == TerrainKind::hills ? hills_span : plains_span; }

std::int32_t surface_height(const Terrain& terrain, std::int32_t x, std::int32_t y) {
  switch (terrain.kind) {
    case TerrainKind::plains: break;
    case TerrainKind::hills: return ground::hills_surface(terrain, x, y);
    case TerrainKind::flat: return ground::levelled(terrain.footprints, x, y, flat_surface_m);
    case TerrainKind::empty:
      return on_platform(terrain, x, y) ? ground::levelled(terrain.footprints, x, y, flat_surface_m)
                                        : column_span(terrain.kind).low * chunk_size;
  }
  return ground::plains_surface(terrain, x, y);
}

BlockId surface_block(const Terrain& terrain, std::int32_t x, std::int32_t y) {
  switch (terrain.kind) {
    case TerrainKind::plains: break;
    case TerrainKind::hills: return ground::hills_surface_block(terrain, x, y);
    case TerrainKind::flat: return BlockId::grass;
    case TerrainKind::empty: return on_platform(terrain, x, y) ? BlockId::stone : BlockId::air;
  }
  return ground::plains_surface_block(terrain, x, y);
}

bool dry_ground(const Terrain& terrain, std::int32_t x, std::int32_t y) {
  switch (terrain.kind) {
    case TerrainKind::plains:
    case TerrainKind::flat: return true;
    case TerrainKind::empty: return on_platform(terrain, x, y);
    case TerrainKind::hills: break;
  }
  return surface_height(terrain, x, y) >= sea_level_m ||
         ground::distance_to_footprints(terrain.footprints, x, y) <= terrain_whole_m;
}

std::unique_ptr<Chunk> generate_chunk(const Terrain& terrain, ChunkCoord at) {
  switch (terrain.kind) {
    case TerrainKind::plains: break;
    case TerrainKind::hills: return ground::hills_chunk(terrain, at);
    case TerrainKind::flat: return flat_chunk(terrain, at);
    case TerrainKind::empty: return empty_chunk(terrain, at);
  }
  return ground::plains_chunk(terrain, at);
}

}  // namespace ashlar
