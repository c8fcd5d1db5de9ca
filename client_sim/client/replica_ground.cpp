#include "client_sim/client/replica_ground.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "client_sim/client/edited_ground.h"
#include "world/sim/rules.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"

namespace ashlar::client_sim {
namespace {

/// Further than any body gets within a tick, steps and looks for ground included.
constexpr double touch_m = 8;

/// Visits the chunks that a box around a place meets, of those that columns have. @return false: stopped
template <typename Visit>
bool visit_chunks(ColumnSpan columns, DVec3 place_m, double reach_m, Visit&& visit) {
  const DVec3 reach{reach_m, reach_m, reach_m};
  const ChunkCoord low = chunk_of(block_at(place_m - reach)), high = chunk_of(block_at(place_m + reach));
  for (std::int32_t z = std::max(low.z, columns.low); z <= std::min(high.z, columns.high - 1); ++z)
    for (std::int32_t y = low.y; y <= high.y; ++y)
      for (std::int32_t x = low.x; x <= high.x; ++x)
        if (!visit(ChunkCoord{x, y, z})) return false;
  return true;
}

/// Steps from chunk to chunk.
std::int32_t distance(ChunkCoord a, ChunkCoord b) {
  return std::abs(a.x - b.x) + std::abs(a.y - b.y) + std::abs(a.z - b.z);
}

}  // namespace

ReplicaGround::ReplicaGround(const WorldSetup& setup)
    : generator_(setup), columns_(column_span(setup.terrain)), volume_(1024, setup.blocks) {}

void ReplicaGround::load_around(DVec3 place_m, const EditedGround& edits, int chunks_max) {
  const ChunkCoord here = chunk_of(block_at(place_m));
  for (int made = 0; made < chunks_max; ++made) {
    ChunkCoord next{};
    std::int32_t nearest = INT32_MAX;
    visit_chunks(columns_, place_m, reach_m, [&](ChunkCoord at) {
      if (!volume_.loaded(at) && distance(at, here) < nearest) next = at, nearest = distance(at, here);
      return true;
    });
    if (nearest == INT32_MAX) return;
    if (volume_.chunk_count() >= keep_chunks) forget_far(here);
    auto chunk = generator_.make_chunk(next);
    edits.apply_told(next, *chunk);
    volume_.insert_chunk(next, std::move(chunk));
  }
}

bool ReplicaGround::there(DVec3 place_m) const {
  return visit_chunks(columns_, place_m, touch_m, [&](ChunkCoord at) { return volume_.loaded(at); });
}

void ReplicaGround::forget_all() {
  for (const ChunkCoord at : volume_.loaded_chunks()) static_cast<void>(volume_.drop_chunk(at));
}

void ReplicaGround::forget_far(ChunkCoord from) {
  constexpr auto far = static_cast<std::int32_t>(forget_m / chunk_size);
  for (const ChunkCoord at : volume_.loaded_chunks())
    if (std::abs(at.x - from.x) > far || std::abs(at.y - from.y) > far || std::abs(at.z - from.z) > far)
      static_cast<void>(volume_.drop_chunk(at));
}

}  // namespace ashlar::client_sim
