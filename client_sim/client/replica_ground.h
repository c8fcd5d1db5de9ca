#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "client_sim/client/streamed_ground.h"
#include "world/math/vec.h"
#include "world/sim/ground_generator.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

namespace ashlar {
struct WorldSetup;
}

namespace ashlar::client_sim {

class EditedGround;

/// The ground around a client's player, as the server has it: generated from the welcome's seed, changed as
/// the server told; or copied from what the server sent, where it sends the ground. One thread. Cost of a
/// chunk that is missing: about 1 ms (WorldSetup::make_chunk may have it ready), 10 us of one that was sent;
/// of asking where all is there: 10 ns.
class ReplicaGround {
 public:
  /// What is nearer than this is loaded; what is farther than forget_m goes once keep_chunks are there.
  static constexpr double reach_m = 24;
  static constexpr double forget_m = 160;
  static constexpr std::size_t keep_chunks = 512;

  /// @param columns  of the ground that is sent, whose kind need not be known here; none: it is generated
  explicit ReplicaGround(const WorldSetup& setup, std::optional<ColumnSpan> columns = {});

  VoxelVolume& volume() { return volume_; }
  const VoxelVolume& volume() const { return volume_; }

  /// Makes chunks around a place, the nearest first. What is sent comes as it is there, and goes with it.
  /// @param chunks_max  at most so many at once
  void load_around(DVec3 place_m, const EditedGround& edits, int chunks_max);
  void forget_all();
  /// Is all there that a body may touch in one tick from here?
  bool there(DVec3 place_m) const;

 private:
  void forget_far(ChunkCoord from);
  void copy_around(DVec3 place_m, const StreamedGround& sent);

  bool streams_ = false;
  std::map<ChunkCoord, std::uint64_t, ChunkLess> copied_;  // StreamedGround::version() of what is here
  ChunkCoord whole_low_{}, whole_high_{-1, -1, -1};        // all between is loaded; none: high is below low
  std::optional<GroundGenerator> generator_;
  ColumnSpan columns_;
  VoxelVolume volume_;
};

}  // namespace ashlar::client_sim
