#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/part_head.h"
#include "protocol/quantise.h"
#include "world/collide/prop.h"
#include "world/sim/arsenal.h"
#include "world/sim/block_act.h"
#include "world/sim/combat_event.h"
#include "world/sim/cue.h"
#include "world/sim/inventory.h"
#include "world/sim/match.h"
#include "world/sim/player_move.h"
#include "world/sim/protected_zone.h"
#include "world/sim/replication.h"
#include "world/sim/rules.h"
#include "world/sim/weapons.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/terrain.h"

// The messages as plain values. schema/*.fbs say how they travel, decode.h and message_writer.h do it. How a
// session ends, or is refused, is a close's reason: connection/session_end.h.

namespace ashlar {

inline constexpr std::size_t build_bytes_max = 64;
/// Of a connect token (secure/connect_token.h), and of a hello with one: what a finish has room for.
inline constexpr std::size_t hello_token_bytes_max = 512;
inline constexpr std::size_t hello_bytes_max = 962;
inline constexpr std::size_t join_content_max = 512;
inline constexpr std::size_t input_commands_max = 8;
inline constexpr std::size_t placed_maps_max = 10;
inline constexpr std::size_t map_name_bytes_max = 16;
inline constexpr std::size_t placed_props_max = 256;
inline constexpr std::size_t prop_name_bytes_max = 48;
inline constexpr std::size_t motd_bytes_max = 160;
/// Of any message but a snapshot: that of the control stream.
inline constexpr std::size_t message_bytes_max = 64 * 1024;

// --- from the client ---

/// What the client says with its identity, in the payload of the handshake's finish.
struct Hello {
  std::string name;                 ///< valid_player_name
  std::string build;                ///< client's version, for the log; at most build_bytes_max
  std::vector<std::uint8_t> token;  ///< secure::verify_token; empty: none
  std::uint32_t resume = 0;         ///< connection of an earlier session that this one goes on with; 0: none
  std::array<std::uint8_t, 32> resume_proof{};  ///< secure::ResumeProof, where resume is not 0
  bool takes_packed = false;                    ///< snapshots may come packed
};

inline constexpr std::size_t kept_chunks_max = 1024;

/// A chunk of ground that a client kept of an earlier session.
struct KeptChunk {
  ChunkCoord at;           ///< in the world (chunk_in_world())
  std::uint64_t hash = 0;  ///< Chunk::content_hash()
  friend bool operator==(const KeptChunk&, const KeptChunk&) = default;
};

/// The answer to a welcome, on the control stream. A client that lacks what is placed in the world fetches it
/// first, or goes.
struct Join {
  std::vector<std::uint64_t> content;  ///< content_hash() of the maps and props that the client holds
  std::uint8_t world = 0;              ///< the welcome's
  bool ground = false;                 ///< it is to be sent the ground: it does not compute it
  std::vector<KeptChunk> kept = {};    ///< with ground: at most kept_chunks_max
  bool watches = false;                ///< it comes as a spectator
};

/// Commands for newest_tick, newest_tick - 1, ...; unreliable.
struct Input {
  std::uint32_t newest_tick = 0;
  std::uint32_t snapshot_tick = 0;  ///< newest snapshot seen, 0: none
  std::array<PlayerCommand, input_commands_max> commands{};
  std::uint8_t command_count = 0;  ///< 1 to input_commands_max
  std::uint8_t world = 0;          ///< the welcome's
  std::uint8_t lost_epoch = 0;     ///< of packed snapshots that cannot be read any more; 0: none
  /// own_hash() of the own player as foreseen for newest_tick (own_delta.h); 0: it is not said. Packed inputs
  /// alone say it.
  std::uint32_t foreseen = 0;
};

/// A line that the player says, on the chat stream.
struct Chat {
  std::string text;  ///< valid_text of 1 to chat_bytes_max; as read shown_text() of that, which may be empty
};

/// Content on its way: of the whole, and of a part, which is short so that nothing waits long behind it.
inline constexpr std::size_t content_bytes_max = std::size_t{4} << 20;
inline constexpr std::size_t content_part_bytes_max = 32 * 1024;
/// Of a message with a part, whatever it holds beside the bytes.
inline constexpr std::size_t content_message_bytes_max = content_part_bytes_max + 256;

/// Asks for a map or prop that the client lacks (protocol/content/content.h); takes the place of what it
/// asked for before.
struct ContentRequest {
  std::uint64_t hash = 0;    ///< of a WelcomeMap or WelcomeProp
  std::uint32_t offset = 0;  ///< bytes that it has already, below content_bytes_max
};

inline constexpr std::size_t acts_max = 8;

/// What the player does to blocks, with the command of a tick; on the edits stream.
struct Acts {
  std::uint32_t tick = 0;                 ///< of the command that they belong to; 0: as soon as they come
  std::array<BlockAct, acts_max> acts{};  ///< their player is not told: it is the session's
  std::uint8_t act_count = 0;             ///< 1 to acts_max, of which one at most writes
  std::uint8_t world = 0;                 ///< the welcome's
};

/// What the player says to the world's game; on the events stream.
struct GameCallMessage {
  std::uint8_t world = 0;           ///< the welcome's
  std::uint8_t number = 0;          ///< ReplicationRegistry::client_messages(); below game_messages_max
  std::vector<std::uint8_t> bytes;  ///< at most game_call_bytes_max
};

using ClientMessage = std::variant<Hello, Join, Input, Chat, ContentRequest, Acts, GameCallMessage>;

// --- from the server ---

/// A placed map: what a client needs to place the same one (world/bsp/placement.h).
struct WelcomeMap {
  std::string name;                ///< lump name
  std::uint64_t content_hash = 0;  ///< PlacedMap::content_hash(): equal here and there means equal worlds
  IVec2 origin_block;              ///< PlaceOptions::origin_block
  std::int32_t surface_z = 0;      ///< PlaceOptions::surface_z
  std::uint32_t flags = 0;         ///< welcome_map_flag
};
namespace welcome_map_flag {
inline constexpr std::uint32_t doors_open = 1;
inline constexpr std::uint32_t doorway = 2;
}  // namespace welcome_map_flag

/// A placed prop: what a client needs to place the same one (world/collide/prop.h).
struct WelcomeProp {
  std::string name;                ///< of its file, without folders
  std::uint64_t content_hash = 0;  ///< Prop::content_hash(): equal here and there means equal props
  PropPlace place;                 ///< scale is a float's
  ModelUp up = ModelUp::y;
};

/// How large a kind of monster is: what a client needs to foresee who is in its player's way.
struct KindBody {
  MonsterKind kind{};
  Cylinder shape;  ///< both floats
  friend bool operator==(const KindBody& a, const KindBody& b) {
    return a.kind == b.kind && a.shape.radius_m == b.shape.radius_m && a.shape.height_m == b.shape.height_m;
  }
};
/// Of the kinds that are not built in, or not as built in, by kind.
std::vector<KindBody> kind_bodies_of(const KindSet& kinds);

/// Of any generator that there may ever be.
inline constexpr std::int32_t column_chunks_told_max = 64;

/// What a client needs to build the same world: the first message on the control stream, and again when a
/// running session gets another world (everything before it is void then).
struct Welcome {
  std::array<std::uint8_t, 16> reset_token{};  ///< secure::ResetToken: ends this session from outside
  bool resumed = false;                        ///< an earlier session goes on, its player where it was
  std::uint8_t world = 1;                      ///< counts the worlds of a session
  std::uint64_t seed = 0;                      ///< of the terrain
  std::uint32_t tick = 0;                      ///< the world's, when this was said
  std::uint16_t snapshot_every_ticks = 1;      ///< 1 to a second's
  Rules rules;
  std::vector<WelcomeMap> maps;    ///< at most placed_maps_max
  std::string motd;                ///< at most motd_bytes_max
  std::vector<WelcomeProp> props;  ///< at most placed_props_max
  /// A TerrainKind, and the server's terrain_generator. Neither need be known here: ask terrain_known().
  std::uint8_t terrain = 0;
  std::uint16_t generator = 0;
  std::uint64_t blocks_hash = 0;  ///< BlockRegistry::hash() of the world's kinds of blocks
  ColumnSpan columns;             ///< of its ground, at most column_chunks_told_max; empty: what the kind has
  bool bare = false;              ///< Terrain::bare: what a secret seed makes is told when it is seen
  std::uint64_t replication_hash = 0;  ///< replication_hash() of what is told of kinds
  std::vector<KindBody> kind_bodies;   ///< at most monster_kinds_max, by kind: of those not as built in
  std::vector<ProtectedZone> zones;    ///< that no player changes: at most protected_zones_max
  std::uint64_t age_ticks = 0;         ///< WorldSetup::age_ticks: below 2^63

  /// How large somebody is by its kind in snapshots; none: it is no body (a projectile), or of a kind that is
  /// not known.
  std::optional<Cylinder> body_of(EntityKind kind) const;
};

/// All kinds of blocks of the world; on the control stream, behind each welcome.
struct BlockKinds {
  std::shared_ptr<const BlockRegistry> kinds;  ///< never null
  std::uint8_t world = 0;                      ///< the welcome's
};

/// What is told of each kind, and the messages of the world's game; on the control stream, behind each
/// welcome.
struct ReplicatedKinds {
  std::shared_ptr<const ReplicationRegistry> registry;  ///< never null
  std::uint8_t world = 0;                               ///< the welcome's
};

/// The own player as the simulation holds it, unquantised: prediction starts from the same bits.
struct OwnPlayer {
  Body body;
  EntityId id{};
  std::uint8_t health = 0;  ///< share of a fresh player's, 255 is full, 0 dead
  /// How far spawns and teleporters have turned the view: the simulation adds it to the yaw of every command.
  Turn16 delta_yaw{0};
};
/// Is it one that a server may say: numbers finite and in the world, flags 0 or 1?
bool own_sane(const OwnPlayer& own);

/// Sectors first to first + count - 1 of one map: the next `count` of a part's sector_heights are theirs.
struct SectorRun {
  std::uint16_t map = 0;  ///< index into the welcome's maps
  std::uint16_t first = 0;
  std::uint16_t count = 0;
};

/// Heights in 1/65536 m, world frame.
struct WireHeights {
  std::int32_t floor = 0, ceiling = 0;
};
static_assert(sizeof(WireHeights) == 8);

namespace motion_flag {
inline constexpr std::uint8_t crushes = 1;
inline constexpr std::uint8_t slows = 2;
inline constexpr std::uint8_t pressed = 4;  ///< it met somebody on this stroke
}  // namespace motion_flag

/// One floor or ceiling in motion, or waiting to move on, to the last bit, so that a client that runs the
/// same code foresees its height exactly. The values are those of world/sim/sector_movers.h, Mover;
/// protocol/sector_motion.h turns one into the other.
struct WireMotion {
  double height_m = 0;  ///< where the plane is, world frame
  double low_m = 0, high_m = 0;
  double speed_mps = 0;
  double wait_s = 0, left_s = 0;
  std::uint16_t sector = 0;
  std::uint8_t map = 0;    ///< index into the welcome's maps
  std::uint8_t plane = 0;  ///< 0 floor, 1 ceiling
  std::uint8_t motion = 0, phase = 0, resume = 0;
  std::uint8_t flags = 0;  ///< motion_flag
};
static_assert(sizeof(WireMotion) == 56);

/// Steps of a cue's place: 1/16 m.
inline constexpr double cue_steps_per_m = 16;

/// What only shows, as a client is told of it. A place or an entity that it may not know of is left out.
struct Cue {
  CueKind kind{};
  std::uint8_t detail = 0;  ///< by kind: CueKind
  std::uint8_t age = 0;     ///< ticks before the one of what told it
  EntityId who{};           ///< whom it is about; 0: nobody that the client is told of
  bool placed = false;
  IVec3 place{};  ///< where placed, in steps
  friend bool operator==(const Cue&, const Cue&) = default;

  DVec3 place_m() const {
    return {place.x / cue_steps_per_m, place.y / cue_steps_per_m, place.z / cue_steps_per_m};
  }
};
/// Of a client and snapshot, at most.
inline constexpr std::size_t cues_max = 32;

/// What a part of the snapshot of a tick says, of whichever encoding, when it was read against what its
/// receiver held. Blocks are in the view then. Lists live until the next part is read.
struct SnapshotPart : PartHead {
  std::optional<OwnPlayer> own;  ///< in part 0
  std::span<const SectorRun> sector_runs;
  std::span<const WireHeights> sector_heights;  ///< the runs' heights, one run after the other
  std::span<const WireMotion> sector_motions;
  std::span<const Cue> cues;
};

/// Entities of one block at most: then one that is told whole fits a part.
inline constexpr std::size_t block_entities_max = 48;
/// Entities of a group whose fields only owners or a team are told.
inline constexpr std::size_t private_entities_max = 16;
/// Sectors whose heights travel and are acknowledged together.
inline constexpr std::size_t height_slice_sectors = 64;

/// What a block of a plain snapshot begins with; exactly the schema's struct, as are those that follow.
struct BlockHeader {
  std::uint16_t number = 0;
  CellCoord cell;
  std::uint8_t age = 0;    ///< ticks before the part's the base was; 0: there is none, and all of it is told
  std::uint8_t flags = 0;  ///< block_flag
  std::uint8_t entity_count = 0;   ///< of the part's entities the next so many: what changed
  std::uint8_t removed_count = 0;  ///< of the part's removed ids the next so many
};
static_assert(sizeof(BlockHeader) == 12);
namespace block_flag {
inline constexpr std::uint8_t quiet = 1;  ///< nothing changed between the base and the snapshot before
}

/// Added fields for all of an entity, one after the other from the lowest bit on.
struct FieldBits {
  std::uint32_t low = 0, high = 0;
};

/// Sectors of a slice whose heights are other than in the base.
struct SliceHeader {
  std::uint16_t number = 0;
  std::uint8_t map = 0;  ///< index into the welcome's maps
  std::uint8_t age = 0;  ///< as of a block
  std::uint8_t count = 0;
};
static_assert(sizeof(SliceHeader) == 6);

/// One sector's heights, counted from the slice's first.
struct SliceHeight {
  std::uint8_t sector = 0;
  WireHeights heights;
};
static_assert(sizeof(SliceHeight) == 12);

/// Entities some of whose fields only owners or a team are told.
struct GroupHeader {
  std::uint16_t number = 0;
  FieldAudience to{};  ///< owner or team
  std::uint8_t entity_count = 0;
};
static_assert(sizeof(GroupHeader) == 4);
struct GroupedEntity {
  EntityId id{};
  EntityKind kind{};
  std::uint8_t value_count = 0;
};
static_assert(sizeof(GroupedEntity) == 8);

/// Somebody who went on into another block that is to be told: not in one that is told in this part any more,
/// and not gone. Whoever had been told of it has it as it last was until that block is told.
struct MovedEntity {
  EntityId id{};  ///< not 0
  std::uint16_t block = 0;
  std::uint16_t reserved = 0;
  friend bool operator==(const MovedEntity&, const MovedEntity&) = default;
};
static_assert(sizeof(MovedEntity) == 8);

/// A part of a plain snapshot. Lists point into the decoded bytes and live as long as they do. What headers
/// count is there, and ascends where it has to; what only the receiver can know, it has to look at: whether
/// it holds a base, and who is in it, and which fields kinds have.
struct PlainPart : PartHead {
  std::optional<OwnPlayer> own;  ///< in part 0
  std::uint8_t own_age = 0;      ///< without `own`: if not 0, it is as it was so many ticks before
  std::span<const BlockHeader> blocks;
  std::span<const EntityRecord> entities;
  std::span<const FieldBits> fields;  ///< by entity; empty where no kind has fields for all
  std::span<const EntityId> removed;
  std::span<const std::uint16_t> gone;  ///< blocks that are to be forgotten
  std::span<const MovedEntity> moved;
  std::span<const SliceHeader> slices;
  std::span<const SliceHeight> heights;
  std::span<const WireMotion> motions;
  std::span<const GroupHeader> groups;
  std::span<const GroupedEntity> grouped;
  std::span<const std::uint32_t> values;
  std::vector<Cue> cues;
};

/// A line of chat for one client, on the chat stream.
struct ChatLine {
  std::string from;  ///< player's name; empty: the server
  std::string text;  ///< valid_text of 1 to chat_bytes_max
};

/// A part of what was asked for; parts come in order. `bytes` points into the decoded message.
struct ContentPart {
  std::uint64_t hash = 0;
  std::uint32_t total = 0;              ///< bytes of the whole, 1 to content_bytes_max
  std::uint32_t offset = 0;             ///< of the first of these
  std::span<const std::uint8_t> bytes;  ///< 1 to content_part_bytes_max, within the whole
};

/// Why content does not come.
enum class ContentRefusal : std::uint8_t {
  unknown,      ///< nothing in this world has that hash
  off,          ///< this server gives no content away
  not_offered,  ///< it is in the world, but larger than content may be
  bad_offset    ///< the offset lies at its end or behind
};
inline constexpr std::size_t content_refusal_count = 4;
/// As the enumerator is spelled; "?" for a number beyond.
std::string_view name(ContentRefusal reason);

/// What was asked for does not come.
struct ContentRefused {
  std::uint64_t hash = 0;
  ContentRefusal reason = ContentRefusal::unknown;
};

inline constexpr std::size_t act_answers_max = 64;
inline constexpr std::size_t block_changes_max = 4096;

/// What became of one of the client's acts. One that ends in `progress` is answered again.
struct ActAnswer {
  std::uint32_t number = 0;
  ActVerdict verdict{};
  IVec3 block{};  ///< the one that was or would have been changed
  friend bool operator==(const ActAnswer&, const ActAnswer&) = default;
};

/// Verdicts of a tick; on the edits stream, behind the changes of that tick.
struct ActAnswers {
  std::uint32_t tick = 0;
  std::vector<ActAnswer> answers;  ///< 1 to act_answers_max
  std::uint8_t world = 0;
};

/// A block of a chunk and what it is now.
struct BlockChange {
  std::uint16_t index = 0;  ///< index_in_chunk
  std::uint16_t block = 0;  ///< BlockId
  friend bool operator==(const BlockChange&, const BlockChange&) = default;
};
static_assert(sizeof(BlockChange) == 4);

/// Blocks of a chunk that are other than generated, or were; on the edits stream. Of what was told before the
/// rest stands.
struct BlockEdits {
  std::uint32_t tick = 0;
  std::uint8_t world = 0;
  ChunkCoord chunk;
  std::span<const BlockChange> changes;  ///< 1 to block_changes_max, by index, each once
};

/// Does a chunk lie in the world?
constexpr bool chunk_in_world(ChunkCoord at) {
  constexpr std::int32_t across = (1 << 20) >> chunk_bits, up = (1 << 12) >> chunk_bits;
  const auto within = [](std::int32_t v, std::int32_t bound) { return v >= -bound && v < bound; };
  return within(at.x, across) && within(at.y, across) && within(at.z, up);
}

/// A chunk of ground as its client may know it; on the bulk stream. It holds all edits up to its tick:
/// BlockEdits of later ticks go over it, older ones are in it. Lists point into the decoded message.
struct GroundChunk {
  std::uint32_t tick = 0;  ///< the simulation's; never less than in a message before
  std::uint8_t world = 0;
  ChunkCoord at;
  std::uint64_t hash = 0;                ///< Chunk::content_hash() of what is in `bytes`
  std::span<const std::uint8_t> bytes;   ///< of a ChunkCodec; none: the chunk of that hash that was kept
  std::span<const BlockChange> changes;  ///< over those: at most block_changes_max, by index, each once
};

inline constexpr std::size_t gone_chunks_max = 1024;

/// Chunks that the client is told nothing more of; on the bulk stream. Without any it tells the tick alone.
struct GroundGone {
  std::uint32_t tick = 0;  ///< as GroundChunk::tick
  std::uint8_t world = 0;
  std::span<const ChunkCoord> chunks;  ///< at most gone_chunks_max; points into the decoded message
};
static_assert(sizeof(ChunkCoord) == 12);

/// Whatever happened up to a tick is on the server's disk; on the edits stream.
struct Saved {
  std::uint32_t tick = 0;
  std::uint8_t world = 0;  ///< the welcome's
};

inline constexpr std::size_t fight_hits_max = 64;

/// The player's own state beyond its snapshot, and hits of the tick that it gave or took, or that are a
/// player's death; on the events stream, when there is news. Each hit is told once.
struct Fight {
  std::uint32_t tick = 0;
  std::uint8_t world = 0;
  std::uint16_t health = 0;  ///< points
  std::uint16_t armour = 0;
  std::uint8_t armour_half = 0;   ///< 0: the armour takes a third of each hit, 1: half
  std::vector<CombatEvent> hits;  ///< at most fight_hits_max
};

/// A slot of the player's inventory and what it holds now.
struct SlotChange {
  std::uint8_t slot = 0;  ///< below inventory_slots
  ItemStack stack;        ///< empty: nothing
  friend bool operator==(const SlotChange&, const SlotChange&) = default;
};

/// What the player holds, where it is other than what was told before; on the events stream.
struct InventoryChange {
  std::uint32_t tick = 0;
  std::uint8_t world = 0;         ///< the welcome's
  bool whole = false;             ///< slots that are not named are empty
  std::vector<SlotChange> slots;  ///< by slot, each once
};

/// What a block holds: the chest that the player looks into, a sign or timer near it; on the edits stream.
struct HeldByBlock {
  std::uint32_t tick = 0;
  std::uint8_t world = 0;  ///< the welcome's
  bool open = false;       ///< the player looks into it; else it is a sign, a timer, or a chest that closed
  IVec3 block;
  BlockData data;
};

/// The weapons of the world; on the control stream, behind each welcome.
struct WeaponKinds {
  std::vector<WeaponTraits> weapons;  ///< 1 to weapons_max; what a projectile's kind is does not travel
  std::array<AmmoTraits, ammo_kind_count> ammo{};
  std::uint8_t world = 0;  ///< the welcome's
};

/// How a kind of monster shows.
struct KindShow {
  MonsterKind kind{};
  MonsterShow show;  ///< each up to show_name_bytes_max printable ASCII characters
  friend bool operator==(const KindShow&, const KindShow&) = default;
};
/// Of the kinds that do not show as the built-in ones, by kind.
std::vector<KindShow> kind_shows_of(const KindSet& kinds);

/// How the world's monsters show; on the control stream, behind each welcome where there are any.
struct MonsterShows {
  std::vector<KindShow> kinds;  ///< 1 to monster_kinds_max, by kind
  std::uint8_t world = 0;       ///< the welcome's
};

/// What the player carries to fight; on the events stream, when it changed otherwise than by time.
struct Carried {
  std::uint32_t tick = 0;  ///< of which it is
  std::uint8_t world = 0;
  Arsenal arsenal;
  std::vector<std::uint8_t> picked;  ///< items picked up since the one before; at most picked_max
};
inline constexpr std::size_t picked_max = 64;

inline constexpr std::size_t score_rows_max = 64;

/// What one player has in the match.
struct ScoreRow {
  EntityId id{};
  std::string name;  ///< valid_player_name; in changes empty: as it was
  std::int32_t score = 0;
  std::uint16_t kills = 0, deaths = 0;
  std::uint8_t team = 0;  ///< from 1; 0: none
  friend bool operator==(const ScoreRow&, const ScoreRow&) = default;
};

/// The match and its score; on the events stream, when it changed, once a second at most: whole to who is new
/// and where a match begins, else as changes of the one before (protocol/score_board.h).
struct Score {
  std::uint32_t tick = 0;
  std::uint8_t world = 0;
  std::uint32_t match = 1;  ///< counts the matches of the world
  MatchPhase phase{};
  std::uint32_t left_ticks = 0;  ///< of the phase; 0: it has no end by time
  std::array<std::int32_t, teams_max> teams{};
  std::vector<ScoreRow> rows;       ///< at most score_rows_max, best first
  bool changes = false;             ///< rows are those that are not as they were; the others still hold
  std::vector<EntityId> gone = {};  ///< changes alone: at most score_rows_max, who is in it no more
};

/// A message of the world's game; on the events stream.
struct GameMessage {
  std::uint32_t tick = 0;  ///< the simulation's, in which it was sent
  std::uint8_t world = 0;
  std::uint8_t number = 0;          ///< ReplicationRegistry::messages(); below game_messages_max
  std::vector<std::uint8_t> bytes;  ///< at most game_message_bytes_max
};

using ServerMessage =
    std::variant<Welcome, PlainPart, ChatLine, ContentPart, ContentRefused, ActAnswers, BlockEdits,
                 BlockKinds, Saved, Fight, InventoryChange, WeaponKinds, Carried, Score, ReplicatedKinds,
                 GameMessage, GroundChunk, GroundGone, HeldByBlock, MonsterShows>;

}  // namespace ashlar
