#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "protocol/chunk_codec.h"
#include "server/config/config.h"
#include "server/host/ground_column.h"
#include "server/store/world_store.h"
#include "world/math/vec.h"

namespace ashlar {
class BlockRegistry;
struct Terrain;
}  // namespace ashlar

namespace ashlar::server {

/// What became of a chunk that could not be had from the store.
struct LostChunk {
  ChunkCoord at;
  std::string reason;
  bool regenerated = false;  ///< else its column stays closed: rock that nobody enters or changes
};

/// The ground of a kept world: chunks that were changed come from the store, all others are generated. It is
/// a WorldSetup::make_chunk. Any thread; a chunk costs its generation and some 10 us, a stored one 0.2 ms
/// more.
///
/// A chunk that is damaged is kept aside in the store; then it is generated anew, or its column is closed, as
/// the setting damaged_chunks says. One that the disk does not give, that a newer build wrote, or that cannot
/// be kept aside is never generated anew: what is there would be written over.
class StoredGround {
 public:
  /// Makes a chunk as the seed has it.
  using Generate = std::function<std::unique_ptr<Chunk>(const Terrain&, ChunkCoord)>;

  /// @param generate  null: generate_chunk(); else what returns the same
  /// @param kinds  of the world's blocks: a chunk with another one is damaged; null: all that a chunk may
  /// name
  StoredGround(std::shared_ptr<WorldStore> store, DamagedChunks policy, Generate generate = {},
               std::shared_ptr<const BlockRegistry> kinds = nullptr);

  /// Never null: in a closed column it is generated, and not to be used.
  std::unique_ptr<Chunk> make_chunk(const Terrain& terrain, ChunkCoord at);
  /// What a ground worker does with a column that it made of this: closes it where a chunk of it was refused,
  /// or notes how its chunks differ from generated ones.
  void finish(GroundColumn& column);
  /// How all chunks differ that were made so far and are in no column that finish() saw: those at home.
  std::vector<AppliedEdit> take_changes();
  /// Likewise those chunks themselves, for recordings. Before take_changes(), which forgets them.
  std::vector<ChangedChunk> take_kept();

  /// Has a chunk of this column been refused?
  bool closed(IVec2 column) const;

  /// Until then nothing is kept aside, as the start may yet be undone. @return or why it cannot be
  std::expected<void, StoreTrouble> begin();

  /// What was found since the last call.
  std::vector<LostChunk> take_lost();

 private:
  struct Waiting {
    DamagedRow row;
    bool forget = false;
  };
  void note_changes(ChunkCoord at, const Chunk& generated, std::span<const BlockId> stored,
                    std::vector<std::uint8_t>&& bytes);
  /// Keeps aside what was found, and decides what comes instead.
  void lose(const DamagedRow& row, bool damaged);

  const std::shared_ptr<WorldStore> store_;
  const DamagedChunks policy_;
  const Generate generate_;
  const std::shared_ptr<const BlockRegistry> kinds_;
  std::mutex codec_mutex_;
  ChunkCodec codec_;          // under codec_mutex_
  mutable std::mutex mutex_;  // held for moments only: the loop's thread asks, too
  // Under mutex_.
  bool begun_ = false;
  std::vector<Waiting> waiting_;      // to be kept aside by begin()
  std::vector<AppliedEdit> changes_;  // of columns that are being made
  std::vector<ChangedChunk> kept_;    // likewise
  std::vector<IVec2> closed_;
  std::vector<LostChunk> lost_;
};

}  // namespace ashlar::server
