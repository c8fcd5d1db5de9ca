#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "world/collide/space.h"
#include "world/math/block_box.h"
#include "world/math/random.h"
#include "world/sim/block_act.h"
#include "world/sim/combat.h"
#include "world/sim/match.h"
#include "world/sim/player_motion.h"
#include "world/sim/presence.h"
#include "world/sim/spawn_point.h"
#include "world/sim/tables.h"

// The seam on which games are written: a class of hooks, and what they may do to the world. Ours (modes.h)
// use nothing else. docs/games.md writes one from nothing.

namespace ashlar {

class GameReplication;
struct KeptBuilt;
class GroundEdits;
class Mechanics;
struct OwnThing;
class Pickups;
struct PickupTable;
class ReplicationRegistry;
class SpawnPlanner;
class VoxelVolume;

/// What the hooks work on; made anew for each call.
struct GameParts {
  Space space;
  const Rules& rules;
  PlayerTable& players;
  MonsterTable& monsters;
  Combat& combat;
  const SpawnPlanner& spawns;
  Match& match;
  Rng& rng;
  std::array<std::uint32_t, 16>& timers;
  bool& restarts;
  GameReplication& replication;
  TickId tick{};
  std::uint32_t& monster_count;
  std::uint64_t seed = 0;
  VoxelVolume* volume = nullptr;
  GroundEdits* edits = nullptr;
  std::span<const MapInSpace> maps;
  std::uint32_t* edits_left = nullptr;  ///< blocks of this tick that the game may still ask for
  std::span<const Presence> presence;   ///< by player row
  Mechanics* mechanics = nullptr;
  Pickups* pickups = nullptr;
};

/// What became of a block that a game would have changed.
enum class GameEdit : std::uint8_t {
  done,           ///< it is so now
  out_of_bounds,  ///< not of this world, or a sphere larger than there are
  unknown_block,  ///< no such kind
  not_loaded,     ///< nobody is near: the ground is not there
  map_rock,       ///< a map's rock stands there
  too_many,       ///< more than edits_per_tick_max in this tick
};

/// What became of all of a call's blocks.
struct GameEdits {
  GameEdit verdict{};      ///< of the first that failed, else done
  std::uint32_t done = 0;  ///< as asked for now, those included that were so before
  std::uint32_t failed = 0;
  friend bool operator==(const GameEdits&, const GameEdits&) = default;
};

/// What a game may do. Deterministic: same calls, same world, on every build. Everything is checked: a call
/// that makes no sense does nothing and says so. Nothing allocates. Valid during one hook.
class GameApi {
 public:
  static constexpr std::size_t timers_max = 16;
  static constexpr std::uint32_t edits_per_tick_max = 4096;

  explicit GameApi(const GameParts& parts) : p_(parts) {}  ///< by the world, for each call of hooks

  TickId tick() const { return p_.tick; }                    ///< before it is stepped
  const Rules& rules() const { return p_.rules; }            ///< the world's
  const Space& space() const { return p_.space; }            ///< to ask for walls and ground
  const PlayerTable& players() const { return p_.players; }  ///< rows in a fixed order; free ones have id 0
  const MonsterTable& monsters() const { return p_.monsters; }  ///< likewise
  const Match& match() const { return p_.match; }               ///< as the calls below have made it
  /// Its own generator: draws of a game move nothing else.
  Rng& random() { return p_.rng; }

  /// What a player of the world calls himself, spectators and who is away among them: UTF-8 that can be
  /// printed, of up to 24 characters. No identity: anybody may take any name, and two the same one, but where
  /// the server asks for connect tokens, which name their players. Valid until the hook returns. Empty:
  /// nobody is there by that id (of who has left, from the end of left() on), or who runs the world says no
  /// names; a Host does to a game that follows_presence().
  std::string_view name(EntityId player) const;
  /// Does nobody command its body: did its line break off, or its player leave it in a fight (Game::away())?
  bool away(EntityId player) const;
  /// Is it a player in the world, alive, and no spectator?
  bool alive(EntityId player) const;
  /// Has it no life left in this match (Rules::lives)? It keeps its score.
  bool out(EntityId player) const;
  /// Puts a player somewhere, at rest. @return false: nobody, or out of bounds
  bool place(EntityId player, const SpawnPoint& at);
  /// Adds to a player's velocity. @return false: nobody alive, or it would be faster than 100 m/s
  bool push(EntityId player, DVec3 by_mps);
  /// Hurts a player or monster, past Game::damage(). @return false: nobody alive
  bool hurt(EntityId who, EntityId by, std::uint16_t points);
  /// Health of a player, from 1 to 10000. @return false: nobody alive, or out of range
  bool set_health(EntityId player, std::uint16_t points);
  /// Gives what a thing's number in maps stands for. @return false: no use for it, or no such thing
  bool give(EntityId player, std::uint16_t thing);
  /// Gives a weapon of the world's kinds, with two clips of what it takes, as who picks one up has it.
  /// @param weapon  index into KindSet::weapons, where a file's own stand behind ours
  /// @return false: nobody alive, no use for it, or no such weapon
  bool give_weapon(EntityId player, std::size_t weapon);

  /// A monster there, awake or asleep. The game's: Rules::monster_respawn_s and restart() bring the maps'
  /// back alone, and a world that is kept begins without them.
  /// @return 0: no such kind, no room for its body, or monsters_max are there
  EntityId spawn_monster(MonsterKind kind, const SpawnPoint& at, bool asleep = false);
  /// A monster is gone, whoever put it there. That is no death: nobody is told of died(), scores or finds
  /// what it drops, and clients see it no more. One of the maps' is there again after restart(), not by
  /// Rules::monster_respawn_s, and a world that is kept goes on without it.
  /// @return false: no such monster, or it is dead
  bool remove_monster(EntityId monster);
  /// Puts a monster somewhere, at rest, as a teleporter does: it has its id, health, mood and target as
  /// before, breaks off what it was at, and one of the maps' that dies still comes back where it first stood.
  /// @return false: no such monster, it is dead, out of bounds, or there is no room for its body
  bool move_monster(EntityId monster, const SpawnPoint& to);
  /// A projectile of a kind (KindSet::projectiles) that flies from the fights of this tick on, or of the next
  /// one where those are over. It passes its owner, who counts as who did what it does.
  /// @param direction  of any length above 0
  /// @return false: no such kind or way, out of bounds, or Combat::queued_max wait
  bool launch(std::uint8_t projectile, DVec3 from, DVec3 direction, EntityId owner = EntityId{0});

  // What lies about to be picked up (pickups.h). Keys lie there for everybody, whatever is done.

  /// Rows below dropped_from are the maps' own, each the same for as long as the world lives; those that are
  /// taken have id 0. Behind them is what monsters left.
  const PickupTable& pickups() const;
  /// Takes away what lies in a row, for nobody: picked_up() is not told.
  /// @param seconds  until one of the maps' is there again; 0: until put_pickup(), restart(), or another
  /// start of a world that is kept
  /// @return false: nothing lies there, or it is a key
  bool take_pickup(std::size_t row, double seconds = 0);
  /// One of the maps' that was taken, by whomever, is there again at once, for all to take.
  /// @return false: it lies there, or the row is none of a map's
  bool put_pickup(std::size_t row);

  // Blocks. Zones and margins of maps bind players, not games; what a change lets loose falls, and what it
  // buries is lifted out as ever. `by` is who is said to have done it (the log of edits); 0: nobody.

  GameEdit set_block(IVec3 block, BlockId id, EntityId by = EntityId{0});
  /// All of a box. @return too_many, and nothing is done, for one that is empty or does not fit into the tick
  GameEdits fill_blocks(const BlockBox& box, BlockId id, EntityId by = EntityId{0});
  /// In their order; those that fail keep none of the others back. Too many are refused as a whole.
  GameEdits set_blocks(std::span<const BlockEdit> blocks, EntityId by = EntityId{0});
  /// What can be dug of a sphere goes, but for protected zones and maps' margins. It counts as so many blocks
  /// as a cube around it has. @param radius_m  0 to 7
  GameEdits blast(DVec3 middle_m, double radius_m, EntityId by = EntityId{0});

  /// A start of the maps with room for a player, the search beginning at one of them; nullopt: there is none.
  /// @param deathmatch  of those for deathmatch; else of the four of cooperative play
  std::optional<SpawnPoint> free_start(bool deathmatch, std::uint32_t first) const;

  /// @return false: nobody
  bool add_score(EntityId player, std::int32_t points);
  bool add_team_score(std::uint8_t team, std::int32_t points);
  /// 0 to teams_max.
  bool set_team(EntityId player, std::uint8_t team);
  std::uint8_t team(EntityId player) const;
  /// MatchPlayer::builder: who comes back to the match has it again. @return false: nobody
  bool set_builder(EntityId player, std::uint32_t number);
  /// How many players a team has.
  std::uint32_t team_size(std::uint8_t team) const;

  /// Another phase of the match. @param seconds  it lasts, when Game::phase_over() is called; 0: without end
  /// @return false: there is no such phase
  bool begin_phase(MatchPhase phase, double seconds);
  /// At the end of this tick a new match begins: nobody has a score, players come back at their spawns with
  /// what fresh ones have, monsters stand where they began, items lie where they did, doors and lifts are as
  /// at the start and lines that work once work again. Scores, teams' too, are forgotten then, and monsters
  /// that the game put there are gone; timers stop at once, so that those started behind this run on, as does
  /// a phase that is begun.
  void restart();
  bool restarting() const { return p_.restarts; }

  /// Calls Game::timer() after so long; again for the same number replaces it. @return false: no such number
  bool start_timer(std::size_t number, double seconds);
  bool stop_timer(std::size_t number);

  // What clients are told beside what every world tells (replication.h), as Game::declare() declared it.

  /// Adds a thing of a kind that the game added: something that is shown, and meets nothing.
  /// @param owner, team  who is told its fields for owners and for teams; 0: nobody
  /// @return 0: no such kind or team, out of bounds, or own_things_max are there
  EntityId add_thing(EntityKind kind, DVec3 position_m, EntityId owner = EntityId{0}, std::uint8_t team = 0);
  /// Null: it is not there.
  const OwnThing* thing(EntityId id) const;
  /// @param velocity_mps  foretells its motion to clients, and moves nothing
  /// @return false: no such thing, or out of bounds
  bool move_thing(EntityId id, DVec3 position_m, DVec3 velocity_mps = {}, Turn16 yaw = Turn16{0});
  bool give_thing(EntityId id, EntityId owner, std::uint8_t team);
  bool remove_thing(EntityId id);

  /// Sets an added field of a player, monster or thing, to the nearest value that it can have.
  /// @param field  what add_field() returned; @return false: nobody, or it has no such field
  bool set_field(EntityId who, std::size_t field, double value);
  /// As it travels; nullopt: nobody, or no such field.
  std::optional<double> field(EntityId who, std::size_t field) const;

  /// Sends a message of a kind that add_message() returned, in order and once, to who is in the world at the
  /// end of this tick and has a line. Who is away then, or comes into another world before it arrived, never
  /// gets it: what has to be known later as well is a field, or is said again in joined() and with fields.
  /// @return false: no such message, team or player, too long, or too many in one tick
  bool send_to_all(std::size_t message, std::span<const std::uint8_t> bytes);
  bool send_to_team(std::uint8_t team, std::size_t message, std::span<const std::uint8_t> bytes);
  bool send_to(EntityId player, std::size_t message, std::span<const std::uint8_t> bytes);
  /// A line of chat from the server, to one or to all. @return false: nobody, too long, or too many
  bool tell(EntityId player, std::string_view line);
  bool tell_all(std::string_view line);

 private:
  std::optional<EntityKind> kind_of(EntityId who) const;
  std::optional<std::size_t> monster_row(EntityId who) const;
  MatchPlayer* player_of(EntityId id) const;

  GameParts p_;
};

/// The rules of play: hooks that a world calls in its tick, always in the same order. What a game keeps
/// beside the match it has to add to the hash, or recordings do not prove it. One game a world; the
/// simulation's thread. Hooks must not allocate, block or look at a clock.
class Game {
 public:
  Game() = default;
  Game(const Game&) = delete;
  Game& operator=(const Game&) = delete;
  virtual ~Game() = default;

  /// Says what of this game clients are told, once, before begin(): its kinds, fields and messages.
  virtual void declare(ReplicationRegistry&) {}
  /// Before the first tick. There is no ground to change yet (GameEdit::not_loaded): the first tick() has it.
  virtual void begin(GameApi&) {}
  /// Does Match say all that this game knows of a match? Then one that was under way when the server ended
  /// goes on with the next start; else that begins the next one.
  virtual bool resumes() const { return false; }
  /// What it keeps of who placed which blocks, beside Match; asked for between ticks.
  virtual void keep_built(KeptBuilt&) const {}
  /// Behind begin(), where the match goes on: what keep_built() said when the world last ended.
  virtual void take_built(const KeptBuilt&) {}
  // Spectators are none of the game's: who becomes one has left, and joins when it plays again.
  /// It has no life yet: what it is to have is given in spawned(), and spawn() says where.
  virtual void joined(GameApi&, EntityId /*player*/) {}
  /// Behind joined(): it was in this match before, and has the score that it had when it left.
  virtual void returned(GameApi&, EntityId /*player*/) {}
  virtual void left(GameApi&, EntityId /*player*/) {}
  /// Is it told of what players call themselves, and of who is away? Asked at any time. A Host's recordings
  /// then hold both, and builds from before there was this do not read those. Our modes say no.
  virtual bool follows_presence() const { return true; }
  /// A player's body goes on without him: his line broke off (AwayBodies), or he left in a fight and it
  /// lingers. It stands still, can be hit, dies and begins new lives (spawned()), and keeps its id and score.
  /// Where a server keeps no bodies, left() is all there is. Told first in a tick, before its left() and
  /// joined(), in the order in which it happened; while a player is in the match away() and back() come by
  /// turns. left() may follow either: who does not come back in time leaves without back(). Who begins to
  /// play while he is away, as a spectator may, is told of by joined() alone: GameApi::away() says so. A
  /// change of world ends a world with its game and tells neither; nobody is away in the next one.
  virtual void away(GameApi&, EntityId /*player*/) {}
  /// He is back to that body, as it is by now: neither joined() nor spawned() is told.
  virtual void back(GameApi&, EntityId /*player*/) {}
  /// Where a player begins or comes back; nullopt: as without a game, at the maps' starts or on the ground.
  virtual std::optional<SpawnPoint> spawn(GameApi&, EntityId /*player*/) { return std::nullopt; }
  /// A life began: who joined, came back or plays anew is there, with what fresh ones have (and what it had,
  /// where it returned). What the game gives, adds to that.
  virtual void spawned(GameApi&, EntityId /*player*/) {}
  /// Each tick, before players move.
  virtual void tick(GameApi&) {}
  /// A player pressed the use button.
  virtual void used(GameApi&, EntityId /*player*/) {}
  /// A player or spectator typed a line that begins with a slash, which nobody else is shown. @param text
  /// behind the slash
  /// @return false: it is no command of this game. Every world has /spectate and /play behind it; of any
  /// other line its player is told that the game has no such command
  virtual bool chat_command(GameApi&, EntityId /*player*/, std::string_view /*text*/) { return false; }
  /// A client sent a message of a kind that add_client_message() returned. Its bytes may be anything, as long
  /// as they are no more than were declared.
  virtual void message(GameApi&, EntityId /*player*/, std::size_t /*message*/,
                       std::span<const std::uint8_t> /*bytes*/) {}
  /// Somebody is about to be hurt: so many points are asked of health and armour. `by` may be nobody.
  virtual std::uint16_t damage(GameApi&, EntityId who, EntityId by, std::uint16_t points);
  /// Somebody died: a player, or a monster, whose row is free by now. Once for each, whatever killed it, in
  /// the tick in which it died; but in begin(), and beyond Combat::events_max hits and deaths of a tick
  /// (CombatCounters::events_lost). Who becomes a spectator alive where that counts as a death is told of
  /// here, too, by nobody: alive() until left(), which follows.
  virtual void died(GameApi&, EntityId who, EntityId by);
  /// May a player change this block into that? What is refused is answered as protected ground.
  virtual bool may_edit(GameApi&, EntityId /*player*/, IVec3 /*block*/, BlockId /*to*/) { return true; }
  /// Is touched() asked for? In a crowd it costs a microsecond a player and tick.
  virtual bool touches_players() const { return true; }
  /// Two players' bodies touch: each tick, once a pair, the lower row first, both alive.
  virtual void touched(GameApi&, EntityId /*player*/, EntityId /*other*/) {}
  /// A player's body meets own_thing_shape of a thing of the game's own: each tick, once a pair.
  virtual void touched_thing(GameApi&, EntityId /*player*/, EntityId /*thing*/) {}
  /// Is touched_monster() asked for? It costs some 50 ns a monster and tick, so who does not ask has it not.
  virtual bool touches_monsters() const { return false; }
  /// A player's and a monster's bodies touch: each tick, once a pair, both alive.
  virtual void touched_monster(GameApi&, EntityId /*player*/, EntityId /*monster*/) {}
  /// What it adds to how players move; asked for once, at the start. Clients foresee it where they are given
  /// the same (PredictorConfig::motion). Null: nothing.
  virtual std::shared_ptr<const PlayerMotion> motion() const { return nullptr; }
  /// A block changed. The player is EntityId{0} where none did it who is there: an operator, what falls,
  /// grows or explodes, a monster, this game itself. Told while nobody is in the world, too. Every change of
  /// a tick is told in that tick and once, whoever made it and in whichever hook: those that died(),
  /// touched(), spawned() and all others make late, too. Only what edited() changes itself is not, or there
  /// were no end.
  virtual void edited(GameApi&, EntityId /*player*/, IVec3 /*block*/) {}
  /// A player picked something up; `thing` is its number in maps.
  virtual void picked_up(GameApi&, EntityId /*player*/, std::uint16_t /*thing*/) {}
  /// A player went through an exit of a map.
  virtual void exited(GameApi&, EntityId /*player*/) {}
  virtual void timer(GameApi&, std::size_t /*number*/) {}
  /// The time of a phase is over.
  virtual void phase_over(GameApi&) {}
  virtual void add_to_hash(StripeHasher&) const {}

 protected:
  /// Is or was it a player, rather than a monster or a thing? Nobody (EntityId{0}) is none.
  static bool is_player(const GameApi& api, EntityId id) {
    return id != EntityId{0} && slot_of(id) < api.players().rows();
  }
};

/// Makes the game of a world.
using MakeGame = std::function<std::unique_ptr<Game>()>;

}  // namespace ashlar
