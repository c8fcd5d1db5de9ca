#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/chunk_codec.h"
#include "protocol/messages.h"
#include "world/math/vec.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/chunk.h"

namespace ashlar::client_sim {

/// The order of a map by chunk.
struct ChunkLess {
  bool operator()(const ChunkCoord& a, const ChunkCoord& b) const {
    return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
  }
};

/// The ground of a client that does not compute it: chunks as the server sends them, and the changes that it
/// tells of them by another stream. Neither waits for the other: a chunk holds all changes up to its tick,
/// and later ones that came before it are put over it. One thread. Cost of a chunk that comes: 0.2 ms.
class StreamedGround {
 public:
  /// More than a server of this version ever leaves with a client; some 6 KiB each.
  static constexpr std::size_t chunks_max = 4096;

  /// Does this client get its ground so? Everything below is for those who do.
  bool streams() const { return streams_; }
  /// Another session or another world: what is held is not until the server says so, and is offered to it.
  /// @param streams  is the ground sent there?
  void begin(bool streams);
  /// The kinds that the world has: what is of none of them is not taken. Ours until it is called.
  void use_kinds(std::shared_ptr<const BlockRegistry> kinds) { kinds_ = std::move(kinds); }
  /// What is held of before, for a Join: at most kept_chunks_max.
  std::vector<KeptChunk> kept() const;

  /// A chunk. @param touched  blocks that are others than before are appended; all of a chunk that was not
  ///   held are new, and are not
  /// @return null, or why nothing of it can be believed: a literal
  const char* take(const GroundChunk& message, std::vector<IVec3>& touched);
  void take(const GroundGone& message);
  void take(const BlockEdits& edits, std::vector<IVec3>& touched);

  /// Null: it is not here. Valid until the next take() or begin().
  const Chunk* find(ChunkCoord at) const;
  /// Another number each time that a chunk comes which was not held before; 0: it is not here.
  std::uint64_t version(ChunkCoord at) const;
  std::vector<ChunkCoord> chunks() const;  ///< held, in order; allocates
  std::size_t chunk_count() const { return held_.size(); }
  std::size_t pending() const { return pending_.size(); }  ///< changes that a chunk may come behind
  /// Of all that is held and kept.
  std::size_t bytes() const;

 private:
  struct Held {
    std::unique_ptr<Chunk> chunk;
    std::uint32_t tick = 0;
    std::uint64_t version = 0;
  };
  struct Pending {
    std::uint32_t tick = 0;
    ChunkCoord chunk;
    BlockChange change;
  };
  void settle(std::uint32_t tick);

  bool streams_ = false;
  std::shared_ptr<const BlockRegistry> kinds_ = BlockRegistry::builtin_ptr();
  std::map<ChunkCoord, Held, ChunkLess> held_;
  std::map<ChunkCoord, std::unique_ptr<Chunk>, ChunkLess> kept_;
  std::deque<Pending> pending_;  // by tick; those after settled_tick_
  std::uint32_t settled_tick_ = 0;
  std::uint64_t versions_ = 0;
  std::unique_ptr<ChunkCodec> codec_;  // null until the first chunk comes
};

}  // namespace ashlar::client_sim
