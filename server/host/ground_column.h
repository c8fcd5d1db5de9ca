#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "world/math/vec.h"
#include "world/sim/block_act.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"

namespace ashlar::server {

/// Of any kind of terrain at most.
inline constexpr std::size_t column_chunks = column_chunks_max;

/// Ground that was asked for (HostOutput::ground_requests) and is there now.
struct GroundColumn {
  IVec2 column;  ///< in chunks
  /// From World::columns().low upwards; as many as there are, the others null.
  std::array<std::unique_ptr<Chunk>, column_chunks> chunks;
  /// Of a kept world: every block that is not as it was generated. Clients that compute the ground have to be
  /// told.
  std::vector<AppliedEdit> changes = {};
  std::vector<ChangedChunk> kept = {};  ///< likewise: its chunks that hold such a block

  /// It is not to be had: its place stays rock, and nobody asks for it again. No chunk is there; else all
  /// are.
  bool closed() const { return chunks[0] == nullptr; }
};

/// The answer to a request for ground that cannot be had.
inline GroundColumn closed_column(IVec2 column) { return {column, {}}; }

/// Makes all of a column where it is called: some 2 to 10 ms. Any thread. Programs that have nothing else to
/// do call it for each request; ground_workers.h does so on threads of its own.
GroundColumn make_column(const GroundGenerator& generator, IVec2 column);

}  // namespace ashlar::server
