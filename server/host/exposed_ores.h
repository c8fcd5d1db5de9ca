#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "world/voxel/chunk.h"

namespace ashlar {
class BlockRegistry;
class VoxelVolume;
}  // namespace ashlar

namespace ashlar::server {

/// May one of its blocks be hidden (BlockRegistry::hidden())? False is sure. Some 10 ns.
bool may_hold_hidden(const BlockRegistry& kinds, const Chunk& chunk);

/// Of each chunk those blocks that no client computes (BlockRegistry::hidden()) and beside which something
/// lets one see: what players may come to see there without digging. Most chunks have none, and of the others
/// it is found out once, until they or those beside them change. The Host's thread. Cost: some 50 ns a chunk
/// that is known, 30 us one that holds ore and is not.
class ExposedOres {
 public:
  /// Chunks that are looked through in one tick; who asks for more has to ask again.
  static constexpr std::uint32_t looked_through_max = 2;
  /// Chunks that are known of at a time; with one more all are forgotten.
  static constexpr std::size_t chunks_max = 16384;
  /// What changed beside a chunk, blocks or what is loaded, shows after so many ticks.
  static constexpr std::uint32_t check_every_ticks = 64;

  /// Ticks ascend.
  void begin_tick(std::uint32_t tick) { tick_ = tick, looked_through_ = 0; }
  /// Those of a chunk, in an order of their own; null: it is not known yet, or the chunk not loaded. Who has
  /// no more need of one takes it out. Valid until the next call.
  std::vector<IVec3>* in(const VoxelVolume& ground, ChunkCoord at);
  /// Times that in() had to put off looking through a chunk, since the start.
  std::uint64_t put_off() const { return put_off_; }
  /// Another world, or all that was taken out is wanted again.
  void clear() { chunks_.clear(); }

 private:
  struct Known {
    std::uint64_t of = 0;  // fingerprint
    std::uint32_t checked_tick = 0;
    std::vector<IVec3> blocks;
  };
  struct PlaceHash {
    std::size_t operator()(const ChunkCoord& at) const;
  };
  void look_through(const VoxelVolume& ground, ChunkCoord at, const Chunk& chunk, std::vector<IVec3>& out);

  std::unordered_map<ChunkCoord, Known, PlaceHash> chunks_;  // looked up, never iterated
  std::vector<BlockId> blocks_;                              // scratch
  std::uint32_t tick_ = 0, looked_through_ = 0;
  std::uint64_t put_off_ = 0;
};

}  // namespace ashlar::server
