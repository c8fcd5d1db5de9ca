#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/bytes.h"
#include "world/collide/prop.h"
#include "world/sim/kept_state.h"
#include "world/sim/protected_zone.h"
#include "world/sim/world.h"

// A recording: everything that entered the tick, and the world's hash after it. Layout (little endian):
//
//   file   = "ASHREC01"  block*
//   block  = size u32 (of payload) | check u64 (Hasher over payload) | payload
//   first block's payload: the header; every other: up to a second of ticks
//   tick   = sections varint (which of them follow, a bit each) | sections in the order of TickInput |
//   lives of those who return (player_life_codec.h) | names | who is away or back | hash u64
//
// A crash tears at most the last block: a reader stops there and says how many ticks it has.
// Commands are coded against the same player's last one, so that a held key costs two bytes a tick.
// Terrain is a pure function of the seed, so chunks travel as coordinates; those that a kept world's earlier
// runs changed travel as bytes beside. The header holds what else such a world began with, so that a later
// run's recording replays like a first one's.

namespace ashlar {

inline constexpr std::uint32_t recording_version = 15;
/// Older ones are read as well: before 15 no fall hurt, before 13 all pictures were made of the same states,
/// no block had a timer and all worlds were new, before 12 no command said of which states its picture was
/// made, nobody only watched, it was always day, and who came back brought its inventory alone, before 11
/// players said nothing to the game, no zone was protected and no burst dug, before 10 no block held
/// anything, before 9 all ammunition was free and nothing lay about, before 8 all worlds had the built-in
/// kinds of blocks and nobody fought, before 7 nobody dug, before 6 all ground was plains. Names and who is
/// away came within 15: they are there where a game of one's own asks for them (Game::follows_presence()),
/// and a build from before them finds such a tick out of range.
inline constexpr std::uint32_t recording_version_min = 5;
inline constexpr std::size_t recording_block_head_bytes = 12;
inline constexpr std::size_t recording_block_bytes_max = 64u << 20;

inline constexpr std::size_t kinds_bytes_max = 256 * 1024;
/// What may lie in a header of changed ground: with all else of it below recording_block_bytes_max.
inline constexpr std::size_t recording_home_bytes_max = 40u << 20;

/// A placed map, as far as the same one can be found and placed again (recorded_world.h).
struct RecordedMap {
  std::string name;                ///< at most 64 bytes
  std::uint64_t content_hash = 0;  ///< PlacedMap::content_hash()
  IVec2 origin_block;              ///< with the next three: PlaceOptions
  std::int32_t surface_z = 0;
  bool doors_open = true;
  bool doorway = true;
};

/// A placed prop, as far as the same one can be found and placed again.
struct RecordedProp {
  std::string name;                ///< of its file, without folders; at most 255 bytes
  std::uint64_t content_hash = 0;  ///< Prop::content_hash()
  PropPlace place;
  ModelUp up = ModelUp::y;
};

/// What a kept world began with in this run.
struct RecordedStart {
  std::uint64_t age_ticks = 0;            ///< WorldSetup::age_ticks
  std::vector<LyingItem> items;           ///< WorldSetup::items
  std::vector<PlacedData> contents;       ///< WorldSetup::contents
  std::shared_ptr<const KeptState> kept;  ///< WorldSetup::kept; null: nothing
  std::vector<ChangedChunk> chunks;       ///< of its home, that were changed in earlier runs; none is damaged
};

/// What must agree before a recording can be replayed.
struct RecordingHeader {
  std::uint32_t version = recording_version;
  std::string build;  ///< for people: which build wrote it
  std::uint64_t seed = 0;
  Rules rules;
  std::uint32_t players_max = 0, monsters_max = 0, monsters = 0;
  std::uint64_t start_hash = 0;  ///< of the world before its first tick
  std::vector<RecordedMap> maps;
  std::vector<RecordedProp> props;
  TerrainKind terrain = TerrainKind::plains;
  std::uint16_t generator = terrain_generator;  ///< that made the ground; open() takes what it finds
  std::shared_ptr<const BlockRegistry> blocks = BlockRegistry::builtin_ptr();  ///< never null
  std::string kinds;  ///< text of the file of kinds of monsters, at most kinds_bytes_max; empty: ours
  std::optional<std::uint64_t> secret;  ///< WorldSetup::secret: whoever has the recording knows the ores
  std::vector<ProtectedZone> zones;     ///< WorldSetup::zones
  RecordedStart start;
  SpawnArea spawn;  ///< behind the rest, and only where there is one
};

/// One tick as it is kept; owns what TickInput only views.
struct TickRecord {
  std::vector<std::uint32_t> joins;
  std::vector<EntityId> leaves;
  std::vector<PlayerInput> commands;
  std::vector<AdminCommand> admin;
  std::vector<BlockEdit> edits;
  std::vector<ChunkCoord> chunks_ready;
  std::vector<ChangedChunk> chunks_kept;  ///< of chunks_ready; read ones are whole
  std::vector<ChunkCoord> chunks_dropped;
  std::vector<BlockAct> acts;
  std::vector<Returning> returning;
  std::vector<GameCall> calls;
  std::vector<std::uint32_t> watchers;
  std::vector<ToldApart> told_apart;
  std::vector<JoinName> names;
  std::vector<AwayChange> away;
  std::uint64_t hash = 0;

  /// Copies what entered, keeping its memory. The hash is set after the step.
  void assign(const TickInput& input);
  void clear();  ///< keeps the memory
};

/// Why a recording cannot be read on. A torn end is no error: RecordingReader::torn().
enum class RecordingError : std::uint8_t {
  not_a_recording,  ///< no magic at the start
  wrong_version,
  damaged_header,
  damaged_block,  ///< a block's check fails and more follows than a hole of zeros
  bad_tick,       ///< a whole block holds something that is out of range
};
/// Half a sentence for people; a literal.
const char* describe(RecordingError error);

/// The version that a recording names, whether or not it is ours; none where open() finds no header.
std::optional<std::uint32_t> version_of_recording(std::span<const std::uint8_t> bytes);

/// Turns ticks into blocks, in the header's version. Owns no file: take() hands out bytes to append.
class RecordingWriter {
 public:
  /// @param ticks_per_block  0 counts as 1
  explicit RecordingWriter(const RecordingHeader& header, std::uint32_t ticks_per_block = 60);

  /// Codes a tick behind those that wait. Ticks must come in order, as commands are coded against those
  /// before.
  void add(const TickRecord& tick);
  /// True once ticks_per_block ticks are waiting.
  bool block_ready() const { return ticks_in_block_ >= ticks_per_block_; }
  /// Appends magic and header (first call) and the waiting ticks, as one block, to `out`. No ticks: no block.
  void take(std::vector<std::uint8_t>& out);

 private:
  std::vector<std::uint8_t> head_;
  std::vector<std::uint8_t> payload_;
  std::vector<PlayerInput> last_;  // last command of each player slot
  std::uint32_t ticks_per_block_;
  std::uint32_t ticks_in_block_ = 0;
};

/// Reads ticks from bytes that stay alive meanwhile. Foreign bytes: every value is checked, nothing asserts.
class RecordingReader {
 public:
  /// Reads magic and header. A first block that is cut off is a damaged_header, too.
  static std::expected<RecordingReader, RecordingError> open(std::span<const std::uint8_t> bytes);

  const RecordingHeader& header() const { return header_; }  ///< checked by open(), but for where maps lie
  /// @return true with the next tick in `out`, false at the end (see torn()).
  std::expected<bool, RecordingError> next(TickRecord& out);
  /// The last block was cut off, as after a crash; everything before it was read.
  bool torn() const { return torn_; }

 private:
  friend std::optional<std::uint32_t> version_of_recording(std::span<const std::uint8_t> bytes);
  explicit RecordingReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::expected<void, RecordingError> read_head();
  std::expected<bool, RecordingError> next_block();

  std::span<const std::uint8_t> bytes_;
  std::span<const std::uint8_t> block_;
  std::size_t position_ = 0;
  std::size_t in_block_ = 0;
  std::vector<PlayerInput> last_;
  RecordingHeader header_;
  bool torn_ = false;
};

}  // namespace ashlar
