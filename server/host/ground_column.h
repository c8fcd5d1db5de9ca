#pragma once
#include <array>
#include <cstddef>
#include <memory>

#include "world/math/vec.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"

namespace ashlar::server {

inline constexpr std::size_t column_chunks = World::column_high - World::column_low;

/// Ground that was asked for (HostOutput::ground_requests) and is there now.
struct GroundColumn {
  IVec2 column;                                              ///< in chunks
  std::array<std::unique_ptr<Chunk>, column_chunks> chunks;  ///< from World::column_low upwards; none is null
};

/// Makes all of a column where it is called: some 2 to 7 ms. Any thread. Programs that have nothing else to
/// do call it for each request; ground_workers.h does so on threads of its own.
GroundColumn make_column(const GroundGenerator& generator, IVec2 column);

}  // namespace ashlar::server
