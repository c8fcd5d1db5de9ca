#pragma once
#include <cstdint>

#include "world/math/vec.h"

namespace ashlar {

/// What fills a 1 m block. Ids are data on disk and wire: append only.
enum class BlockId : std::uint16_t {
  air = 0,
  stone,
  dirt,
  grass,
  sand,
  gravel,
  wood,  ///< of oaks
  leaves,
  brick,
  glass,
  water,  ///< stands where it is and stops nobody
  snow,
  clay,
  sandstone,
  pine_wood,
  pine_needles,
  birch_wood,
  birch_leaves,
  coal_ore,
  iron_ore,
  gold_ore,
  crystal_ore,
  stone_slab,
  stone_stairs_east,  ///< rise towards the east, and so on
  stone_stairs_north,
  stone_stairs_west,
  stone_stairs_south,
  wood_post,
  ladder,
  lamp,
};
/// Of the kinds that every world has. Worlds may have more, numbered from here on (block_registry.h).
inline constexpr std::uint16_t block_id_count = 30;
/// Kinds of blocks that a world has at most.
inline constexpr std::uint16_t block_kinds_max = 256;

/// Does a block of the ground as it is generated stop bodies, shots and sight? All but air and water. What a
/// world's registry says of its kinds is BlockRegistry::type().
constexpr bool is_solid(BlockId id) {
  return id != BlockId::air && id != BlockId::water && id != BlockId::ladder;
}

/// How a kind of block fills its cell, as far as collision has to tell kinds apart.
enum class BlockForm : std::uint8_t {
  passable,  ///< stops nobody
  full,      ///< all of it
  part,      ///< boxes within it: a BlockShape
};

inline constexpr int chunk_bits = 5;
inline constexpr int chunk_size = 1 << chunk_bits;  ///< blocks along each edge of a chunk

/// Chunk coordinates: chunk (i, j, k) holds blocks [32 i, 32 i + 32) on x, and so on.
struct ChunkCoord {
  std::int32_t x = 0, y = 0, z = 0;
  friend bool operator==(const ChunkCoord&, const ChunkCoord&) = default;
};

/// The chunk that holds a block, also for negative coordinates.
constexpr ChunkCoord chunk_of(IVec3 block) {
  // Arithmetic shift floors, also for negative coordinates (defined since C++20).
  return {block.x >> chunk_bits, block.y >> chunk_bits, block.z >> chunk_bits};
}

}  // namespace ashlar
