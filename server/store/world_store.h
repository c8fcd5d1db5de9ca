#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/host/kept_player.h"
#include "world/sim/block_contents.h"
#include "world/sim/item_table.h"
#include "world/sim/kept_state.h"
#include "world/voxel/block.h"

// What outlives the process of a world beside its settings, behind a small interface: an embedded database
// (sqlite_store.h), or whatever a fleet keeps its worlds in.

namespace ashlar::server {

/// What a store knows of its world. A world.toml that says otherwise is another world's.
struct StoredWorld {
  std::uint64_t seed = 0;
  std::string terrain = {};        ///< kind of ground; empty: not known
  std::uint32_t generator = 0;     ///< version of what makes it; 0: not known
  std::uint64_t tick = 0;          ///< what is kept is the world as of then, counted over all runs
  std::uint64_t chunks = 0;        ///< changed, when it was opened
  std::string maps = {};           ///< what its maps are (maps_text()); empty: not kept yet
  std::string footprints = {};     ///< boxes of its maps (kept_ground.h); empty: not kept yet
  std::string blocks = {};         ///< its kinds of blocks (stored_blocks.h); empty: not kept yet
  std::uint16_t tick_rate_hz = 0;  ///< that its ticks are of; 0: not kept yet
};

/// A changed chunk as it is kept: the bytes of protocol/chunk_codec.h.
struct StoredChunk {
  ChunkCoord at;
  std::vector<std::uint8_t> bytes;
};

/// A player as it is kept.
using StoredPlayer = KeptPlayer;

/// All players of a store, and the identities of rows that made no sense, as those say it.
struct StoredPlayers {
  std::vector<StoredPlayer> players;
  std::vector<std::vector<std::uint8_t>> damaged;
};

/// What lay in the world when it was last saved.
struct StoredItems {
  std::vector<LyingItem> items;
  std::string damage;  ///< why there are none though some were kept; empty: all is well
};

/// What else the world was at when it was last saved.
struct StoredState {
  std::shared_ptr<const KeptState> state;  ///< null: there is none
  std::string damage;                      ///< why there is none though some was kept; empty: all is well
};

/// What a block holds beside its kind, as it is kept: bytes of protocol/inventory_codec.h.
struct StoredContents {
  IVec3 block;
  std::vector<std::uint8_t> bytes;  ///< empty: nothing any more
};

/// What blocks held when the world was last saved, and how many rows made no sense: those are set aside.
struct StoredContentsList {
  std::vector<PlacedData> contents;
  std::uint64_t damaged = 0;
};

/// A block that was changed, or what it holds, for the log of edits.
struct LoggedEdit {
  std::int64_t time_s = 0;   ///< Unix
  std::uint32_t author = 0;  ///< index into the group's authors
  IVec3 block;
  BlockId before{}, after{};
  /// Where that changed which the block holds: what it held, of encode_block_data(). Empty: the block itself
  /// did.
  std::vector<std::uint8_t> held = {};
};

/// How much the log of edits keeps: the oldest goes first.
struct EditLogLimits {
  std::uint64_t rows_max = 2'800'000;   ///< 0: nothing is logged
  std::int64_t age_s = 30 * 24 * 3600;  ///< 0: no limit
};

/// What is written in one transaction: all of it, or nothing.
struct SaveGroup {
  std::uint64_t tick = 0;  ///< the world as of this tick, counted over all runs
  std::span<const StoredChunk> chunks;
  std::span<const StoredPlayer> players;
  std::span<const std::uint8_t> items = {};  ///< all that lies in the world, of protocol/inventory_codec.h;
                                             ///< empty: as it was
  std::span<const StoredContents> contents = {};  ///< that changed, in their order
  std::span<const EditAuthor> authors = {};
  std::span<const LoggedEdit> edits = {};  ///< in the order in which they happened
  std::int64_t now_s = 0;                  ///< Unix time, from which edits are too old; 0: none is
  EditLogLimits limits = {};
  std::span<const std::uint8_t> state = {};  ///< of protocol/kept_state_codec.h; empty: as it was
  std::uint16_t tick_rate_hz = 0;            ///< that ticks are of from now on; 0: as before
};

/// Why a store did not do what it should.
struct StoreTrouble {
  enum class Kind : std::uint8_t {
    full,     ///< no room on the disk, or a limit on files
    busy,     ///< somebody else holds the database
    damaged,  ///< what is there makes no sense
    newer,    ///< made by a newer build
    foreign,  ///< not a world's database, or another world's
    machine,  ///< everything else that a disk can say
  };
  Kind kind = Kind::machine;
  std::string line;  ///< names the file, the reason and the remedy
};

/// What was found instead of a row. Kept aside by set_aside().
struct DamagedRow {
  ChunkCoord at;
  std::vector<std::uint8_t> bytes;  ///< empty where not even those can be read
  std::uint64_t hash = 0;           ///< that the row says
  std::string reason;
};

/// What load_chunk() finds.
struct ChunkLookup {
  enum class Kind : std::uint8_t {
    none,
    found,
    damaged,     ///< what is there makes no sense
    unreadable,  ///< the disk does not say what is there: nothing may take its place
  };
  Kind kind = Kind::none;
  std::vector<std::uint8_t> bytes;  ///< of found
  DamagedRow damage;                ///< of damaged and unreadable
};

/// A world's changed chunks and players. Any thread; all functions may take as long as a disk does, and wait
/// for each other, but for load_chunk(), which waits for no writer.
class WorldStore {
 public:
  virtual ~WorldStore() = default;

  /// As it was opened, or last saved.
  virtual StoredWorld world() const = 0;
  /// Looks one chunk up: about 10 us, however many there are. Bytes that it finds agree with their hash; what
  /// they say is for the caller to decode.
  virtual ChunkLookup load_chunk(ChunkCoord at) = 0;
  /// Everybody that it knows, who was written longest ago first. About a second for a million.
  virtual std::expected<StoredPlayers, StoreTrouble> load_players() = 0;
  virtual std::expected<StoredItems, StoreTrouble> load_items() = 0;
  /// Doors, lifts, monsters, what was falling.
  virtual std::expected<StoredState, StoreTrouble> load_state() = 0;
  /// What all blocks hold, by place.
  virtual std::expected<StoredContentsList, StoreTrouble> load_contents() = 0;

  /// One transaction, on the disk when it returns. On failure nothing of it is there, and it may be tried
  /// again; so it is where the store was removed or moved away. Where the log of edits alone is in trouble
  /// the rest is saved (log_trouble()).
  virtual std::expected<void, StoreTrouble> save(const SaveGroup& group) = 0;
  /// Why the last group was saved without its edits, in a line: the log of edits, which nothing in play
  /// reads, is damaged or cannot be written. Empty: all is well.
  virtual std::string log_trouble() { return {}; }
  /// It is damaged: it is left alone until a group that was not saved has been, else tried with each.
  virtual bool log_off() { return false; }
  /// Keeps the world's kinds of blocks (stored_blocks.h), on the disk when it returns.
  virtual std::expected<void, StoreTrouble> save_blocks(const std::string& text) = 0;
  /// Keeps a damaged row aside. @param forget  takes it from the chunks, too
  virtual std::expected<void, StoreTrouble> set_aside(const DamagedRow& row, bool forget) = 0;
  /// A copy as of one moment, while others read and write. @param file  must not be there yet
  virtual std::expected<void, StoreTrouble> backup(const std::string& file) = 0;
};

}  // namespace ashlar::server
