#pragma once
#include <memory>

#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

namespace ashlar::simulation {

/// The ground of one terrain, generated once and copied from then on: servers that start again, replays and
/// runs of the same seed with fewer faults all want the same. One thread.
class GroundMemo {
 public:
  /// Some 40 MB; what is beyond is generated each time.
  static constexpr std::size_t chunks_max = 4096;

  /// What generate_chunk() returns. Asserts that it is always the same terrain.
  std::unique_ptr<Chunk> make(const Terrain& terrain, ChunkCoord at);

  std::size_t chunk_count() const { return made_.chunk_count(); }  ///< kept, at most chunks_max
  /// What they take, about.
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<Terrain> terrain_;
  VoxelVolume made_;
  std::size_t bytes_ = 0;
};

}  // namespace ashlar::simulation
