#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "protocol/messages.h"
#include "world/math/vec.h"
#include "world/voxel/terrain.h"

namespace ashlar::server {

/// What the ground room knows of one session: which chunks around its player its client was sent, and so is
/// told the changes of. A byte for each of at most 13 x 13 x 10 chunks, and what the client said it kept.
struct GroundDesk {
  /// Columns to each side of the centre's in which chunks stay with the client. Those that it is sent end two
  /// columns before, so that who walks to and fro over an edge is not sent the same ground again and again.
  static constexpr std::int32_t reach = 6;
  static constexpr std::int32_t across = 2 * reach + 1;

  struct Kept {
    KeptChunk chunk;
    bool looked = false;  ///< it was compared with a packed chunk that had changed since it was packed
  };

  bool streams = false;  ///< its client asked for the ground
  bool placed = false;   ///< the three below mean something
  IVec2 centre{};        ///< column of chunks
  ColumnSpan columns{};
  std::vector<std::uint8_t> sent;  ///< 0 or 1; by z, then y, then x

  std::vector<Kept> kept;        ///< by place; those that were told of are gone
  std::vector<ChunkCoord> gone;  ///< that the client has still to be told it need not keep
  std::uint32_t told_tick = 0;   ///< of the last message
  bool edited = false;           ///< changes were told since
  bool all = false;              ///< all that is loaded was sent when it was last looked

  /// Null: it lies outside.
  std::uint8_t* place(ChunkCoord at) {
    const std::int32_t x = at.x - centre.x + reach, y = at.y - centre.y + reach, z = at.z - columns.low;
    const auto tall = static_cast<std::int32_t>(columns.count());
    if (!placed || x < 0 || y < 0 || z < 0 || x >= across || y >= across || z >= tall) return nullptr;
    return &sent[static_cast<std::size_t>((z * across + y) * across + x)];
  }
  /// Was the client sent it, or is about to read it?
  bool holds(ChunkCoord at) {
    const std::uint8_t* const known = place(at);
    return known != nullptr && *known != 0;
  }
  /// It has to be sent anew.
  void forget(ChunkCoord at) {
    if (std::uint8_t* const known = place(at)) *known = 0;
    all = false;
  }
};

}  // namespace ashlar::server
