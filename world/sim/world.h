#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "world/bsp/heights.h"
#include "world/collide/space.h"
#include "world/math/block_box.h"
#include "world/sim/block_act.h"
#include "world/sim/block_contents.h"
#include "world/sim/game_call.h"
#include "world/sim/inventory.h"
#include "world/sim/item_table.h"
#include "world/sim/player_life.h"
#include "world/sim/presence.h"
#include "world/sim/protected_zone.h"
#include "world/sim/rules.h"
#include "world/sim/spawn_point.h"
#include "world/sim/tables.h"
#include "world/sim/told_apart.h"
#include "world/voxel/block.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/terrain.h"

namespace ashlar {

struct Chunk;
class BlockActs;
class Combat;
class DroppedItems;
class Game;
class GameReplication;
class GroundGenerator;
class History;
struct KeptState;
class Mechanics;
class Pickups;
struct Match;
struct ProjectileTable;
class Shooting;

/// A monster to be: its kind, and where.
struct MonsterSpawn {
  MonsterKind kind{};
  SpawnPoint at;
  bool deaf = false;    ///< as the map says: no noise wakes it
  bool asleep = false;  ///< stands until it sees or hears somebody
};

/// Where players appear in place of the maps' starts: on the ground within a circle.
struct SpawnArea {
  DVec2 centre_m;
  double radius_m = 0;  ///< 0: at the maps' starts and around them
  friend bool operator==(const SpawnArea&, const SpawnArea&) = default;
};
inline constexpr double spawn_centre_m_max = 100'000;
inline constexpr double spawn_radius_m_max = 4096;

/// What a world is made of. Everything in it is part of what a recording must name to be replayed.
struct WorldSetup {
  std::uint64_t seed = 1;
  Rules rules;
  std::uint32_t players_max = 256;
  std::uint32_t monsters_max = 1024;
  std::uint32_t monsters = 200;  ///< alive at the start at most: the maps' first, the rest on the terrain
  std::vector<std::shared_ptr<const PlacedMap>> maps;
  /// Makes the ground; null: generate_chunk. Whatever it is, it has to return what that returns, or what was
  /// kept of the world in another run: a memo where the same ground is made again and again, chunks that were
  /// generated elsewhere, a store. It is called by whoever holds World::ground(), on threads of theirs.
  std::function<std::unique_ptr<Chunk>(const Terrain&, ChunkCoord)> make_chunk;
  std::vector<std::shared_ptr<const Prop>> props;
  SpawnArea spawn;
  TerrainKind terrain = TerrainKind::plains;
  std::shared_ptr<const BlockRegistry> blocks = BlockRegistry::builtin_ptr();  ///< its kinds; never null
  std::shared_ptr<const KindSet> kinds;  ///< of monsters and projectiles; null: default_kinds()
  /// The seed of what players must not compute, which no client is told (Terrain::secret); none: everybody
  /// computes it.
  std::optional<std::uint64_t> secret;
  bool bare = false;                 ///< Terrain::bare: a client's ground, where the server has a secret
  std::vector<LyingItem> items;      ///< that lay there when it last ended
  std::vector<PlacedData> contents;  ///< what its blocks held then
  std::uint64_t age_ticks = 0;       ///< how long it was played before, in all its runs; up to life_ticks_max
  std::vector<ProtectedZone> zones;  ///< sane, and at most protected_zones_max
  /// What else it was at then (kept_state.h), sane as its reader found it; null: nothing.
  std::shared_ptr<const KeptState> kept;
  /// Makes the rules of play (game.h), once; empty: those of Rules::mode. A recording holds none: who replays
  /// one of a game of his own gives the same again.
  std::function<std::unique_ptr<Game>()> game;
};

/// What an operator may do, to a player or to the ground. In recordings: append only.
enum class AdminAction : std::uint8_t {
  noclip_on,
  noclip_off,
  teleport,
  fill_box,
  blast,
  give,
  fill_block,
  spectate,  ///< the player only watches from now on
  play,      ///< and has a body again, once there is a place for it
};
inline constexpr std::uint8_t admin_action_count = 9;

/// One such act. To a player nothing happens where that is not there.
struct AdminCommand {
  AdminAction action{};
  EntityId player{};   ///< of fill_box, blast and fill_block: who is said to have done it; 0 is nobody
  DVec3 position_m{};  ///< of teleport: where the base goes; out of bounds nothing happens, rock is left
                       ///< to recovery. Of blast: the middle
  BlockBox box{};  ///< of fill_box: what is not loaded or a map's rock stays; nothing happens to a box that
                   ///< is empty, out of bounds or of over 4 096 blocks
  BlockId id = BlockId::air;  ///< of fill_box: of what; air clears it. Of give: the kind of item
  double radius_m = 0;        ///< of blast: all that can be dug and is not protected goes, up to 9 m; beyond,
                              ///< nothing happens
  std::uint16_t count = 0;    ///< of give: how many; what the player has no room for is not given
  BlockData data = {};        ///< of fill_block: what the block at box.min holds from now on; nothing happens
                              ///< where it is not loaded or of a kind that cannot hold it
};

/// What a player does in one tick.
struct PlayerInput {
  EntityId player{};
  PlayerCommand command;
};

/// What a player brings along who was here before: one of the tick's joins.
struct Returning {
  std::uint32_t token = 0;  ///< the join's
  Inventory inventory;
  KeptScore score = {};  ///< counts in the same match only
  PlayerLife life = {};  ///< likewise; dead: it begins as fresh ones do
};

/// What a player took along who left in the last step.
struct Departed {
  EntityId id{};
  Inventory inventory;
};

/// A chunk that is not as it was generated, as its store has it: never null bytes of protocol/chunk_codec.h.
struct ChangedChunk {
  ChunkCoord at;
  std::shared_ptr<const std::vector<std::uint8_t>> bytes;
};

/// A chunk to be loaded. It takes the place of one that is there. Never null.
struct ReadyChunk {
  ChunkCoord at;
  std::unique_ptr<Chunk> chunk;
  /// Where it is not as it was generated: ChangedChunk::bytes of it, for recordings; else null.
  std::shared_ptr<const std::vector<std::uint8_t>> kept = nullptr;
};

/// Everything that can change the world in one tick; a recording holds all of it.
struct TickInput {
  std::span<const std::uint32_t> joins;   ///< the caller's tokens, answered in World::joined()
  std::span<const EntityId> leaves;       ///< unknown ids are ignored
  std::span<const PlayerInput> commands;  ///< at most one a player counts (the last); none: stands still
  std::span<const AdminCommand> admin;
  std::span<const BlockEdit> edits;    ///< ignored in unloaded chunks, in map rock, out of bounds and of
                                       ///< kinds that the world does not have
  std::span<ReadyChunk> chunks_ready;  ///< moved from
  std::span<const ChunkCoord> chunks_dropped;
  /// What players dig and place, each player's in their order; up to BlockActs::acts_per_tick_max of each are
  /// heard. Kinds and faces are known ones; blocks and ids may be anything.
  std::span<const BlockAct> acts = {};
  std::span<const Returning> returning = {};  ///< in the order of their joins; their inventories are sane()
  /// What players say to the game, in the order in which it came. Whoever is not there, and what the game has
  /// not declared or is too long, is ignored.
  std::span<const GameCall> calls = {};
  std::span<const std::uint32_t> watchers = {};  ///< tokens of those joins that only watch, in their order
  /// Of the shots of these commands. Who is not there is ignored.
  std::span<const ToldApart> told_apart = {};
  std::span<const JoinName> names = {};  ///< of those joins whose players have one, in their order
  /// Whose line broke off and who is back, in the order in which it happened. Who is not there, and what is
  /// so already, is ignored.
  std::span<const AwayChange> away = {};
};

/// Answer to a join. id is 0 when every row was taken.
struct Joined {
  std::uint32_t token = 0;
  EntityId id{};
};

/// Totals since the world began, of players and monsters. Not part of its hash.
struct WorldCounters {
  std::uint64_t recoveries = 0;  ///< ticks in which recovery moved a body
  std::uint64_t stuck = 0;       ///< bodies in solid for over half a second, counted once each time
  std::uint64_t lost = 0;        ///< bodies that recovery gave up: they went back to a spawn
  std::uint64_t frozen = 0;      ///< body-ticks spent waiting for a chunk
  std::uint64_t edits_refused = 0;
};

/// The parts of a step, in their order: where a tick's time goes.
enum class StepPart : std::uint8_t {
  inputs,    ///< chunks, leaves, joins, admin, edits, commands, those who come back from the dead, block acts
  sectors,   ///< floors and ceilings in motion, whom they carry and crush
  shots,     ///< uses, shots and who hears them
  players,   ///< players move
  think,     ///< monsters decide
  monsters,  ///< monsters move
  crowd,     ///< bodies push each other apart
  fight,     ///< attacks of monsters, projectiles
  lines,     ///< lines walked over, keys, doors that monsters open
  game,      ///< what is heard, items that fall and are taken, what the game is told
  hash,
};
inline constexpr std::size_t step_part_count = 11;

/// Told when each part of a step begins. It must not touch the world; what it returns nobody sees, so a world
/// that is watched does the same as one that is not.
class StepWatch {
 public:
  virtual void begins(StepPart part) = 0;

 protected:
  ~StepWatch() = default;
};

/// The simulation. step() is a function of what went in: same setup, same inputs, same bits, on every build.
/// One thread owns it; const members may be read from others between steps.
class World {
 public:
  /// Loads the ground of home_region() and places the monsters. Takes a while: 36 columns without maps, each
  /// of seven chunks in plains and ten in hills.
  explicit World(const WorldSetup& setup);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Advances by one tick: chunks, who is away or back, leaves, joins, admin, edits, those who come back from
  /// the dead, what players dig and place, moving sectors, uses and shots and who hears them, players,
  /// monsters, crowd, fighting, lines walked over, hash. While no player is in the world its monsters do not
  /// move by themselves, and a tick costs next to nothing. No allocation but for chunks that arrive, edits (a
  /// kind of block new to its chunk, a column's first) and more joins at once than there are rows.
  /// Preconditions: commands have passed their range checks.
  /// @param watch  for profiles; null: nobody watches
  void step(const TickInput& input, StepWatch* watch = nullptr);

  TickId tick() const;              ///< number of steps taken
  std::uint64_t life_tick() const;  ///< and of those before this run (WorldSetup::age_ticks)
  std::uint64_t hash() const;       ///< of the state after the last step; see world/math/hash.h
  const WorldSetup& setup() const;
  /// Makes untouched ground as this world has it, beside its steps and after its end too. Never null.
  std::shared_ptr<const GroundGenerator> ground() const;
  const PlayerTable& players() const;
  const MonsterTable& monsters() const;
  Space space() const;
  std::span<const MapInSpace> maps() const;
  std::span<const Joined> joined() const;  ///< answers to the last step's joins, in their order
  const WorldCounters& counters() const;
  /// Moving sectors and triggers: their state, and the events of the last step (doors, lifts, crushers,
  /// keys).
  const Mechanics& mechanics() const;
  /// The shots of the last step and what each hit.
  const Shooting& shooting() const;
  /// What shots of the next step are judged against whose players saw an older state.
  const History& history() const;
  /// Who was hurt or died in the last step, and totals.
  const Combat& combat() const;
  const ProjectileTable& projectiles() const;
  /// The match that is played, and everybody's score.
  const Match& match() const;
  const Game& game() const;
  /// What the game tells clients of beside all that every world tells, and its messages of the last step.
  const GameReplication& replication() const;
  /// What lies about to be picked up, and what was in the last step.
  const Pickups& pickups() const;

  /// What became of the acts of the last step, in the order in which it did.
  const BlockActs& block_acts() const;
  /// The blocks that the last step changed, whoever did it, in their order: all that replication and storage
  /// need to know of a running world's ground. A block may be in it twice.
  std::span<const AppliedEdit> applied_edits() const;
  /// What blocks hold beside their kind, and what of it the last step changed.
  const BlockContents& contents() const;
  /// What lies in the world to be picked up, and totals of all items.
  const DroppedItems& items() const;
  /// Takes out what WorldSetup::kept brings back, into memory that is used again.
  void keep_state(KeptState& out) const;
  /// Who left in the last step, with what they held, in the order of the input.
  std::span<const Departed> departed() const;

  std::uint64_t kinds_hash() const;  ///< hash_of_kinds() of its kinds

  /// Row of a player, dead or alive, or of a monster; -1: it is not in the world (any more).
  int player_row(EntityId id) const;
  int monster_row(EntityId id) const;
  /// What GameApi::name() and away() say, between steps.
  std::string_view player_name(EntityId player) const;
  bool player_away(EntityId player) const;

  std::uint32_t player_count() const;   ///< in the world, the dead included
  std::uint32_t monster_count() const;  ///< alive

  /// The heights of loaded columns in chunks, of the setup's kind of terrain: the same everywhere.
  ColumnSpan columns() const;
  bool column_loaded(std::int32_t x, std::int32_t y) const;
  /// Was it ever edited? Then it is not a function of the seed any more, and may be dropped only by who can
  /// bring it back as it was.
  bool column_edited(std::int32_t x, std::int32_t y) const;
  /// Columns of the region that is always loaded: [min, max) in chunks.
  IVec2 home_min() const;
  IVec2 home_max() const;

 private:
  struct Impl;  // NOLINT(cppcoreguidelines-virtual-class-destructor): final, and owned as what it is
  std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar
