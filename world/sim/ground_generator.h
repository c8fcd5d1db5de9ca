#pragma once
#include <functional>
#include <memory>

#include "world/voxel/terrain.h"

namespace ashlar {

struct WorldSetup;

/// Makes untouched ground: of a seed, the places of maps and where the setup's own ground comes from, and of
/// nothing else. So any number of threads may ask one while the world that shares it is stepped, if the
/// setup's make_chunk stands that.
class GroundGenerator {
 public:
  explicit GroundGenerator(const WorldSetup& setup);

  /// By the setup's make_chunk, or generate_chunk() where it has none. Never null. About 1 ms.
  std::unique_ptr<Chunk> make_chunk(ChunkCoord at) const;
  const Terrain& terrain() const { return terrain_; }

 private:
  Terrain terrain_;
  std::function<std::unique_ptr<Chunk>(const Terrain&, ChunkCoord)> source_;  // empty: generate_chunk
};

}  // namespace ashlar
