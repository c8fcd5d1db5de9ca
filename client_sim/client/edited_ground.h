#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client_sim/client/streamed_ground.h"
#include "protocol/messages.h"
#include "world/voxel/block.h"
#include "world/voxel/block_registry.h"

namespace ashlar {
struct Chunk;
}

namespace ashlar::client_sim {

/// What a client knows of blocks that are not as they were generated (of one that is sent the ground: of all
/// blocks that it holds): those that the server told of, and above them its own acts that have no verdict
/// yet. A refused act is taken back by its verdict, one that was done gives way to the server's own word,
/// which came before it. One thread.
class EditedGround {
 public:
  /// An act of the client's own, and what it makes of a block.
  struct Foreseen {
    std::uint32_t number = 0;
    IVec3 block;
    BlockId id{};
  };

  /// What the block is if it is not as generated: as foreseen, else as told; none: as generated, or not
  /// held.
  std::optional<BlockId> changed(IVec3 block) const;
  /// The server's word alone, whatever own acts will make of it; none: as generated.
  std::optional<BlockId> told(IVec3 block) const;
  /// Puts all that is known to differ into a chunk as it was generated.
  void apply(ChunkCoord at, Chunk& chunk) const;
  /// Likewise what the server told alone.
  void apply_told(ChunkCoord at, Chunk& chunk) const;

  /// The kinds that the world has, before anything of it is told.
  void use_kinds(std::shared_ptr<const BlockRegistry> kinds) {
    kinds_ = kinds;
    streamed_.use_kinds(std::move(kinds));
  }
  /// The server's word, where the ground is computed of told_max blocks in told_chunks_max chunks. @return
  /// null, or why it is not taken
  static constexpr std::size_t told_max = std::size_t{1} << 24;  // of four bytes each
  static constexpr std::size_t told_chunks_max = std::size_t{1} << 18;
  const char* take(const BlockEdits& edits);
  /// Forgets what was told of columns of chunks farther away than any server tells of, from where the player
  /// last was and from what is told now, as it may just have come elsewhere: where it comes back to them all
  /// is told again. O(chunks with changes).
  static constexpr std::int32_t told_reach_columns = 36;  // 1024 m of interest, and what is told ahead
  void forget_far(ChunkCoord player, ChunkCoord told);
  /// Is there room for so many more, where the ground is computed?
  bool room_for(std::size_t changes) const {
    return told_blocks_ + changes <= told_max && told_.size() < told_chunks_max;
  }
  /// Chunks of ground and what becomes of them. @return as StreamedGround
  const char* take(const GroundChunk& chunk);
  void take(const GroundGone& gone) { streamed_.take(gone); }
  /// Of the own act; progress changes nothing.
  void take(const ActAnswer& answer);
  /// The client believes that its act will be done.
  void foresee(const Foreseen& act) {
    foreseen_.push_back(act);
    touched_.push_back(act.block);
  }

  /// Acts without a verdict never get one: the session they were said in is over.
  void give_up_foreseen();
  /// Another world, or another session in this one: from now on the ground is sent, or computed.
  void begin_stream(bool streams) { streamed_.begin(streams); }
  /// What was sent of the ground.
  const StreamedGround& streamed() const { return streamed_; }
  /// Another world.
  void clear();

  /// Blocks that may be others than before, since the last call: for who keeps chunks or pictures of them. At
  /// most touched_max are kept; beyond that the list is given up, and all is to be looked at anew (none).
  static constexpr std::size_t touched_max = 65536;
  std::optional<std::vector<IVec3>> take_touched();

  std::span<const Foreseen> foreseen() const { return foreseen_; }  ///< in the order of their acts
  std::size_t told_blocks() const { return told_blocks_; }

 private:
  void bound_touched();

  std::shared_ptr<const BlockRegistry> kinds_ = BlockRegistry::builtin_ptr();
  StreamedGround streamed_;
  std::map<ChunkCoord, std::vector<BlockChange>, ChunkLess> told_;  // of each chunk by index
  std::vector<BlockChange> merged_;                                 // scratch
  std::size_t told_blocks_ = 0;
  std::vector<Foreseen> foreseen_;
  std::vector<IVec3> touched_;
  bool all_touched_ = false;
};

}  // namespace ashlar::client_sim
