#include "client_sim/simulation/ground_memo.h"

#include "world/math/assert.h"

namespace ashlar::simulation {

std::unique_ptr<Chunk> GroundMemo::make(const Terrain& terrain, ChunkCoord at) {
  if (terrain_ == nullptr) terrain_ = std::make_unique<Terrain>(terrain);
  ASHLAR_ASSERT(*terrain_ == terrain);
  if (const Chunk* known = made_.find(at)) return std::make_unique<Chunk>(*known);
  auto made = generate_chunk(terrain, at);
  if (made_.chunk_count() < chunks_max) {
    bytes_ += made->bytes();
    made_.insert_chunk(at, std::make_unique<Chunk>(*made));
  }
  return made;
}

}  // namespace ashlar::simulation
