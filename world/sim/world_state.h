#pragma once
// What a World is made of. For the files that are World's own (world*.cpp): nobody else includes it.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "world/collide/prop.h"
#include "world/sim/block_acts.h"
#include "world/sim/block_timers.h"
#include "world/sim/combat.h"
#include "world/sim/crowd.h"
#include "world/sim/dropped_items.h"
#include "world/sim/game.h"
#include "world/sim/game_replication.h"
#include "world/sim/ground_edits.h"
#include "world/sim/ground_generator.h"
#include "world/sim/ground_spawner.h"
#include "world/sim/history.h"
#include "world/sim/kept_state.h"
#include "world/sim/loose_blocks.h"
#include "world/sim/mechanics.h"
#include "world/sim/monster_rows.h"
#include "world/sim/monster_think.h"
#include "world/sim/navigation.h"
#include "world/sim/pickups.h"
#include "world/sim/shooting.h"
#include "world/sim/spawn.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

namespace ashlar {

/// All rows and rooms of a world, and what a tick does with them. One thread, as World.
struct World::Impl final : DamageRule, CrushRule, EditRule {
  /// Assumes that the setup is sane. Cost: the home region's chunks are made here.
  explicit Impl(const WorldSetup& given);
  /// What the game makes of a hurt.
  std::uint16_t points(EntityId who, EntityId by, std::uint16_t asked) override;
  /// What of Rules::crush_damage comes of a crusher.
  std::uint16_t crushes(EntityId who) override;
  void crushed(EntityId who) override;
  /// Whether the game lets a player change a block.
  bool allows(EntityId player, IVec3 block, BlockId to) override;

  // Set-up: world_setup.cpp

  /// What its game tells of entities, and what it and its clients say to each other.
  void declare_game();
  /// Before the first tick: there is no ground to change yet.
  void begin_game();
  /// Room for a change of each player, an operator's batch, a game's, what bursts take, and what falls.
  void make_edits();
  /// Makes the chunks that never go: those of the maps and around them.
  void load_home();
  /// The maps' own monsters first, in the maps' order; what is left goes onto the terrain.
  void place_monsters();
  /// @return false when all rows are taken
  bool add_monster(const MonsterSpawn& spawn);
  /// What lay there and what blocks held when the world last ended.
  void restore();
  /// The world was made as at its very first start: from here it goes on.
  void restore_kept(const KeptState& kept);
  /// Which first monsters these are: kept ones of others are not taken.
  std::uint64_t monsters_of() const {
    return hash_of_first_monsters(setup.maps, monsters, setup.seed, setup.monsters,
                                  static_cast<std::uint8_t>(setup.rules.skill));
  }

  // Players: world_players.cpp

  /// @param brings  null: nothing
  /// @param watches  it comes as a spectator, as it does where the match has no place
  /// @return 0 when all rows are taken
  EntityId add_player(const Returning* brings, bool watches, const PlayerName& name);
  /// All of a tick's joins, answered in `joined`.
  void add_players(const TickInput& input);
  /// Nobody commands its body from now on, or somebody does again; its game hears of it.
  void change_away(const AwayChange& change);
  /// Its row is free behind this; who is not there is left alone.
  void leave(EntityId player);
  /// Where a player's next life begins: the game's word, else a free start.
  SpawnPoint spawn_of(EntityId player);
  /// A player comes, or comes back: whole, with what fresh ones have.
  void begin_life(std::size_t row);
  /// To the game, where its life has begun.
  void tell_spawned(std::size_t row);
  /// The dead whose time has come, or who ask for it, live again.
  void bring_back();
  /// All around where it died, so that it can be picked up again.
  void drop_inventory(std::size_t row);
  /// Each player's command of this tick.
  void take_commands(std::span<const PlayerInput> commands);
  /// Behind each move: counts, and who is lost comes back.
  void player_moved(std::size_t row);
  /// Whole points, so that as many come together in a second as the block says, at every tick rate.
  void hurt_by_blocks(CombatTick& fighting);
  void hurt_by_falls(CombatTick& fighting);

  // Spectators: world_spectators.cpp

  /// Has the match room for one more?
  bool place_free() const;
  /// A player's body is gone, and it flies on from where that was; what it held lies there.
  /// @param role  any but PlayerRole::plays
  void begin_watching(std::size_t row, PlayerRole role);
  /// A player is of the match no more, and its game hears of it; nothing where it was not.
  void leave_match(std::size_t row);
  /// A spectator is in the match from now on.
  /// @param brings  of who comes back; null: nothing
  void begin_playing(std::size_t row, const Returning* brings);
  /// Where deaths decide who stops playing alive has died by himself.
  void die_of_watching(std::size_t row);
  /// By its own word or an operator's. @return what its player is told
  std::string_view set_watching(std::size_t row, bool watches);
  /// Those who wait come into the match, as far as it has places.
  void let_wait(std::size_t row);
  /// Has it died as often in this match as the rules let it?
  bool lives_over(std::size_t row) const;

  // Monsters: world_monsters.cpp

  /// All think before any moves: what each sees of the others' rows is nothing, so the order does not matter.
  void monsters_think();
  /// By their wishes of this tick.
  void move_monsters();
  /// How bright it is where players stand, some of them in each tick.
  void look_at_light();
  /// What monsters hear beside shots: hits, bursts, and who uses doors and switches.
  void hear_noises(MechanicsTick& moving);
  /// What both sides' attacks and projectiles do in this tick.
  void fight();
  /// Takes off monster_count who died by what fights and games did.
  void count_deaths();
  /// Where there is room for it; a summoned one comes back no more once it is dead.
  void fill_summons();
  /// The dead whose time has come stand where they stood at first, once there is room.
  void return_monsters();

  // Ground: world_ground.cpp

  /// Chunks that go and come.
  void take_ground(std::span<const ChunkCoord> dropped, std::span<ReadyChunk> ready);
  /// An operator's word; of who is not there and what is not sane nothing is taken.
  void apply_admin(const AdminCommand& command);
  /// Items into a player's inventory, as many as fit.
  void give(const AdminCommand& command);
  /// Replaces what a block holds.
  void fill_block(const AdminCommand& command);
  /// Boxes and spheres of blocks.
  void apply_to_ground(const AdminCommand& command);
  /// What chests held that are gone lies where they stood.
  void drop_spilled();
  /// All blocks around a burst go in the tick in which it bursts.
  void clear_around_bursts();

  // The game: world_game.cpp

  /// The part of a tick that is the game's, before anybody moves.
  void run_game();
  /// What the game was told of a tick: how many of its events and changes of blocks.
  struct Told {
    std::size_t events = 0, edits = 0;
  };
  /// What happened in the tick, behind it. Blocks that changed, and who died by that, are told while nobody
  /// is there, too: whose they were misses them when he is back.
  void tell_game(bool awake);
  void tell_edits(GameApi& api, Told& told);
  void tell_deaths(GameApi& api, Told& told);
  /// All of both that is not told yet, until nothing comes of it.
  void tell_rest(GameApi& api, Told& told);
  /// Who touches whom, picks up and goes through exits.
  void tell_play(GameApi& api);
  /// Whose cylinders overlap or touch, where they stand at the tick's end.
  void tell_touches(GameApi& api);
  /// Whom and what a player's body meets beside other players.
  void tell_other_touches(GameApi& api);
  /// What players said to the game, in its order.
  void hear_calls(GameApi& api);
  /// Everything stands as at the start; teams stay.
  void restart_match();

  // The tick: world.cpp

  /// What a world does beside its players' part of a tick.
  template <typename Part>
  struct Rest;
  /// Who can be pushed.
  void fill_crowd();
  /// What lies on floors that move goes along.
  void note_moved_floors(bool awake);
  /// Drops of the dead lie down; what lies is picked up and comes back.
  void take_items();
  /// Nobody is hurt yet, and no block changed.
  void begin_tick();
  /// What those leave who died since it was last asked in this tick.
  void drop_fallen(PickupsTick& taking);
  /// Into the counters.
  void note(const MoveReport& report, const Body& body);
  /// Whoever was lost stands there, at rest.
  void send_back(Body& body, DVec3 to);
  /// @param monsters_touched  false: their part of the hash is as it was
  void rehash(bool monsters_touched);
  /// Ticks of the world's life before this one.
  std::uint64_t life_tick() const { return setup.age_ticks + tick; }
  /// What bodies move through.
  Space space() const { return {&volume, placed, props}; }
  /// What fights are told, of this tick.
  CombatTick combat_tick() { return {space(), setup.rules, players, monsters, this}; }
  /// What the game's hooks work through, of this tick.
  GameApi game_api() { return GameApi(game_parts()); }
  GameParts game_parts() {
    return {space(),  setup.rules, players,  monsters,         combat,       spawns,        match,
            game_rng, timers,      restarts, replication,      TickId{tick}, monster_count, setup.seed,
            &volume,  &edits,      placed,   &game_edits_left, presence,     &mechanics,    &pickups};
  }

  WorldSetup setup;
  std::shared_ptr<const GroundGenerator> ground;
  VoxelVolume volume;
  std::vector<std::vector<SectorHeights>> heights;  // one list a map
  std::vector<MapInSpace> placed;
  std::vector<const Prop*> props;
  Mechanics mechanics;
  Shooting shooting;
  History history;
  GroundEdits edits;
  BlockActs acts;
  LooseBlocks loose;
  BlockTimers block_timers;
  DroppedItems items;
  std::vector<Departed> departed;
  PlayerTable players;
  MonsterTable monsters;
  std::vector<Presence> presence;  // by player row
  SpawnPlanner spawns;
  PlayerGrid near;                           // scratch: where monsters see players
  std::vector<MonsterWish> wishes;           // scratch, by monster row: of this tick, of who thought in it
  std::vector<std::uint8_t> idles, stays;    // scratch, likewise, 0 or 1: did not think; was not moved
  std::vector<std::uint32_t> fires, alarms;  // scratch: rows whose attack is due, that woke
  std::vector<EntityId> touching;            // scratch: whom a player touches
  std::span<const GameCall> calls;           // of the tick's input
  Combat combat;
  Pickups pickups;
  std::unique_ptr<Game> game;
  GameReplication replication;
  std::shared_ptr<const PlayerMotion> motion;  // the game's; null: none
  Match match;
  Rng game_rng;
  std::array<std::uint32_t, GameApi::timers_max> timers{};
  bool restarts = false;
  std::uint32_t game_edits_left = 0;  // of this tick
  std::size_t edits_noted = 0, spilled_dropped = 0,
              fallen_dropped = 0;             // of this tick's, by what falls and as items
  std::vector<std::uint16_t> buttons_before;  // by player row: of the last tick
  std::vector<MonsterSpawn> first_monsters;   // as they stood at the start
  Navigation navigation;
  GroundSpawner ground_spawner;
  Crowd crowd;
  std::vector<Joined> joined;
  WorldCounters counters;
  Rng rng;
  IVec2 home_min, home_max;
  std::uint32_t player_count = 0, monster_count = 0;
  std::uint64_t deaths_counted = 0;  // of monsters, by combat
  std::uint32_t tick = 0;
  std::uint64_t hash = 0;
  std::uint64_t monsters_hash = 0;  // part of it
  std::uint64_t kinds_hash = 0;     // hash_of_kinds()
};

}  // namespace ashlar
