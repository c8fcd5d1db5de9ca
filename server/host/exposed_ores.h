#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "world/math/prefetch.h"
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
  /// What changed beside a chunk, blocks or what is loaded, shows to who asks so many ticks later.
  static constexpr std::uint32_t check_every_ticks = 64;

  /// What is known of a chunk.
  struct Known {
    std::uint64_t of = 0;  ///< fingerprint
    std::uint32_t checked_tick = 0;
    std::vector<IVec3> blocks;  ///< in an order of their own; who has no more need of one takes it out
  };

  /// Ticks ascend.
  void begin_tick(std::uint32_t tick) { tick_ = tick, looked_through_ = 0; }
  /// Of a chunk; null: it is not known yet, or the chunk not loaded. Valid until all is forgotten, which this
  /// does itself where there is no room for one more.
  Known* in(const VoxelVolume& ground, ChunkCoord at);
  /// The same, of what in() gave since all was forgotten last. Some 2 ns where it need not be checked.
  Known* again(const VoxelVolume& ground, ChunkCoord at, Known* known) {
    return tick_ - known->checked_tick < check_every_ticks ? known : in(ground, at);
  }
  /// Asks the processor for what again() and its blocks need: for the first, then, a step later, for the
  /// second.
  static void prefetch(const Known* known) { ashlar::prefetch(known, sizeof *known); }
  static void prefetch_blocks(const Known* known) { ashlar::prefetch(known->blocks.data(), 1); }
  /// Times that in() had to put off looking through a chunk, since the start.
  std::uint64_t put_off() const { return put_off_; }
  /// May in() look through another one in this tick?
  bool has_room() const { return looked_through_ < looked_through_max; }
  /// Times that all was forgotten, since the start.
  std::uint64_t times_cleared() const { return times_cleared_; }
  /// Another world, or all that was taken out is wanted again.
  void clear() { chunks_.clear(), ++times_cleared_; }

 private:
  struct PlaceHash {
    std::size_t operator()(const ChunkCoord& at) const;
  };
  void look_through(const VoxelVolume& ground, ChunkCoord at, const Chunk& chunk, std::vector<IVec3>& out);

  std::unordered_map<ChunkCoord, Known, PlaceHash> chunks_;  // looked up, never iterated
  std::vector<BlockId> blocks_;                              // scratch
  std::uint32_t tick_ = 0, looked_through_ = 0;
  std::uint64_t put_off_ = 0, times_cleared_ = 0;
};

}  // namespace ashlar::server
