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

struct ChunkBox {
  ChunkCoord low, high;  // both in it
};

/// The chunks that a box around a place meets, of those that columns have.
ChunkBox chunks_around(ColumnSpan columns, DVec3 place_m, double reach_m) {
  const DVec3 reach{reach_m, reach_m, reach_m};
  ChunkBox box{chunk_of(block_at(place_m - reach)), chunk_of(block_at(place_m + reach))};
  box.low.z = std::max(box.low.z, columns.low);
  box.high.z = std::min(box.high.z, columns.high - 1);
  return box;
}

bool within(const ChunkBox& box, ChunkCoord low, ChunkCoord high) {
  return box.low.x >= low.x && box.low.y >= low.y && box.low.z >= low.z && box.high.x <= high.x &&
         box.high.y <= high.y && box.high.z <= high.z;
}

/// @return false: stopped
template <typename Visit>
bool visit_chunks(const ChunkBox& box, Visit&& visit) {
  for (std::int32_t z = box.low.z; z <= box.high.z; ++z)
    for (std::int32_t y = box.low.y; y <= box.high.y; ++y)
      for (std::int32_t x = box.low.x; x <= box.high.x; ++x)
        if (!visit(ChunkCoord{x, y, z})) return false;
  return true;
}

/// Steps from chunk to chunk.
std::int32_t distance(ChunkCoord a, ChunkCoord b) {
  return std::abs(a.x - b.x) + std::abs(a.y - b.y) + std::abs(a.z - b.z);
}

}  // namespace

ReplicaGround::ReplicaGround(const WorldSetup& setup, std::optional<ColumnSpan> columns)
    : streams_(columns.has_value()),
      columns_(columns ? *columns : column_span(setup.terrain)),
      volume_(1024, setup.blocks) {
  if (!streams_) generator_.emplace(setup);
}

/// A chunk that went and came back may be another one: it is copied anew. Of one that stays the changes are
/// told block by block.
void ReplicaGround::copy_around(DVec3 place_m, const StreamedGround& sent) {
  const ChunkBox box = chunks_around(columns_, place_m, reach_m);
  std::erase_if(copied_, [&](const auto& copied) {
    const ChunkCoord at = copied.first;
    const ChunkBox one{at, at};
    if (within(one, box.low, box.high) && sent.version(at) == copied.second) return false;
    static_cast<void>(volume_.drop_chunk(at));
    return true;
  });
  visit_chunks(box, [&](ChunkCoord at) {
    const Chunk* const chunk = sent.find(at);
    if (chunk == nullptr || volume_.loaded(at)) return true;
    volume_.insert_chunk(at, std::make_unique<Chunk>(*chunk));
    copied_[at] = sent.version(at);
    return true;
  });
}

void ReplicaGround::load_around(DVec3 place_m, const EditedGround& edits, int chunks_max) {
  if (streams_) return copy_around(place_m, edits.streamed());
  const ChunkBox box = chunks_around(columns_, place_m, reach_m);
  if (within(box, whole_low_, whole_high_)) return;
  const ChunkCoord here = chunk_of(block_at(place_m));
  for (int made = 0; made < chunks_max; ++made) {
    ChunkCoord next{};
    std::int32_t nearest = INT32_MAX;
    visit_chunks(box, [&](ChunkCoord at) {
      if (!volume_.loaded(at) && distance(at, here) < nearest) next = at, nearest = distance(at, here);
      return true;
    });
    if (nearest == INT32_MAX) {
      whole_low_ = box.low, whole_high_ = box.high;
      return;
    }
    if (volume_.chunk_count() >= keep_chunks) forget_far(here);
    auto chunk = generator_->make_chunk(next);
    edits.apply_told(next, *chunk);
    volume_.insert_chunk(next, std::move(chunk));
  }
}

bool ReplicaGround::there(DVec3 place_m) const {
  const ChunkBox box = chunks_around(columns_, place_m, touch_m);
  return within(box, whole_low_, whole_high_) ||
         visit_chunks(box, [&](ChunkCoord at) { return volume_.loaded(at); });
}

void ReplicaGround::forget_all() {
  whole_low_ = {}, whole_high_ = {-1, -1, -1};
  copied_.clear();
  for (const ChunkCoord at : volume_.loaded_chunks()) static_cast<void>(volume_.drop_chunk(at));
}

void ReplicaGround::forget_far(ChunkCoord from) {
  whole_low_ = {}, whole_high_ = {-1, -1, -1};
  constexpr auto far = static_cast<std::int32_t>(forget_m / chunk_size);
  for (const ChunkCoord at : volume_.loaded_chunks())
    if (std::abs(at.x - from.x) > far || std::abs(at.y - from.y) > far || std::abs(at.z - from.z) > far)
      static_cast<void>(volume_.drop_chunk(at));
}

}  // namespace ashlar::client_sim
