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
};
inline constexpr std::uint16_t block_id_count = 22;

/// Does it stop bodies, shots and sight? All but air and water.
constexpr bool is_solid(BlockId id) { return id != BlockId::air && id != BlockId::water; }

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
