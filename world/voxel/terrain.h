#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "world/math/block_box.h"
#include "world/voxel/block.h"

namespace ashlar {

struct Chunk;

/// What the ground is like. docs/terrain.md shows each. Numbers on wire and disk: append only.
enum class TerrainKind : std::uint8_t {
  plains = 0,  ///< low hills, sand, caves, trees; no water
  hills,       ///< continents and seas, mountains, cliffs, rivers, forests, caves, ores
  flat,        ///< one level of grass
  empty,       ///< nothing but a platform, and one around each footprint; operators call it void
};
inline constexpr std::uint8_t terrain_kind_count = 4;

/// plains, hills, flat, void; "unknown" for a number beyond.
std::string_view name(TerrainKind kind);
std::optional<TerrainKind> terrain_kind_of(std::string_view name);

/// Goes up when any kind gives other blocks than before. Who computes ground must have the number of those
/// who compute the same ground elsewhere.
inline constexpr std::uint16_t terrain_generator = 1;

/// Can this build make ground of that kind and generator? Both as they came from elsewhere.
bool terrain_known(std::uint8_t kind, std::uint16_t generator);

/// The seed of what is hidden where nobody has given one: of the public seed, so everybody can compute it.
std::uint64_t secret_of_seed(std::uint64_t seed);

/// Is it a kind of block that the secret seed strews into stone?
constexpr bool terrain_hides(BlockId id) { return id >= BlockId::coal_ore && id <= BlockId::crystal_ore; }

/// What terrain is a function of. The same terrain gives the same blocks on every build, in any order.
struct Terrain {
  std::uint64_t seed = 1;
  /// Boxes of placed maps: no voxel lies inside one, and the ground around is level with its roof.
  std::vector<BlockBox> footprints = {};
  TerrainKind kind = TerrainKind::plains;
  /// The seed of what players must not compute: ores and treasures. None: secret_of_seed(seed).
  std::optional<std::uint64_t> secret = {};
  /// Without that: plain stone in its place, as those compute the ground who do not have the seed.
  bool bare = false;
  /// What the secret seed puts into floors of caves, one block to some chunks; air: nothing. Where others can
  /// compute the secret there is none.
  BlockId treasure = BlockId::air;
  friend bool operator==(const Terrain&, const Terrain&) = default;
};

/// Heights of natural ground lie in [low, high]; footprints may go beyond. Of plains:
inline constexpr std::int32_t terrain_low_m = 4;
inline constexpr std::int32_t terrain_high_m = 36;
/// Of hills, the floor of the sea included.
inline constexpr std::int32_t hills_low_m = -96;
inline constexpr std::int32_t hills_high_m = 160;
/// Blocks below this height that are neither ground nor cave are water, in hills.
inline constexpr std::int32_t sea_level_m = 0;
/// Hollows of hills are full of water up to here.
inline constexpr std::int32_t cave_water_m = -40;
/// Of flat and void.
inline constexpr std::int32_t flat_surface_m = 8;
inline constexpr std::int32_t platform_radius_blocks = 16;  ///< of void, around the origin
/// Level ground around a footprint; beyond it the ground rises or falls at most 1 m in 2 towards the hills.
inline constexpr std::int32_t terrain_apron_m = 6;
/// No water, cave or overhang comes so near to a footprint, and no trunk.
inline constexpr std::int32_t terrain_whole_m = 2 * terrain_apron_m;

/// The chunks of a column, [low, high): what is above or below is never loaded, so solid.
struct ColumnSpan {
  std::int32_t low = 0, high = 0;
  constexpr std::size_t count() const { return static_cast<std::size_t>(high - low); }
  friend bool operator==(const ColumnSpan&, const ColumnSpan&) = default;
};
/// Of any kind at most.
inline constexpr std::size_t column_chunks_max = 10;
/// The span that holds all of a kind's ground, its trees and room above.
ColumnSpan column_span(TerrainKind kind);

/// z of the ground's surface in the column of blocks (x, y): block surface - 1 is ground, block surface is
/// above it. Inside a footprint: its roof. Caves may open below it, trees stand on it, water over it; under
/// void there is none: the bottom of its columns. Cost: about 0.2 us (plains) to 3 us (hills) and the
/// footprints.
std::int32_t surface_height(const Terrain& terrain, std::int32_t x, std::int32_t y);

/// What the surface is of, caves, trees and water aside: the block at surface_height() - 1. Cost likewise.
BlockId surface_block(const Terrain& terrain, std::int32_t x, std::int32_t y);

/// Is the surface there ground that lies neither under water nor at nothing? Cost: of surface_height().
bool dry_ground(const Terrain& terrain, std::int32_t x, std::int32_t y);

/// The blocks of one chunk. Below the surface is ground without end (but in void), so nobody falls out of the
/// world. No library function whose bits differ between machines. Any thread.
/// Cost: 1 to 2 ms for a chunk with surface, caves or ores in it, 0.1 ms where there is only air or stone.
std::unique_ptr<Chunk> generate_chunk(const Terrain& terrain, ChunkCoord at);

}  // namespace ashlar
