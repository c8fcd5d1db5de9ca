#pragma once
// What a World is made of. For the files that are World's own (world*.cpp): nobody else includes it.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "world/collide/prop.h"
#include "world/sim/block_acts.h"
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

struct World::Impl final : DamageRule, EditRule {
  explicit Impl(const WorldSetup& given);
  std::uint16_t points(EntityId who, EntityId by, std::uint16_t asked) override;
  bool allows(EntityId player, IVec3 block, BlockId to) override;

  void declare_game();
  void make_edits();
  void load_home();
  void place_monsters();
  bool add_monster(const MonsterSpawn& spawn);
  void fight();
  void fill_summons();
  void return_monsters();
  void take_items();
  CombatTick combat_tick() { return {space(), setup.rules, players, monsters, this}; }
  GameApi game_api() {
    return GameApi({space(), setup.rules, players, monsters, combat, spawns, match, game_rng, timers,
                    restarts, replication, TickId{tick}, monster_count, setup.seed, &volume, &edits, placed,
                    &game_edits_left});
  }
  SpawnPoint spawn_of(EntityId player);
  void begin_life(std::size_t row);
  void leave(EntityId player);
  void run_game();
  void tell_game();
  void tell_touches(GameApi& api);
  void tell_other_touches(GameApi& api);
  void hear_calls(GameApi& api);
  void restart_match();
  EntityId add_player(const Inventory* brings);
  void drop_inventory(std::size_t row);
  void drop_spilled();
  void clear_around_bursts();
  void restore();
  void restore_kept(const KeptState& kept);
  std::uint64_t monsters_of() const {
    return hash_of_first_monsters(setup.maps, monsters, setup.seed, setup.monsters,
                                  static_cast<std::uint8_t>(setup.rules.skill));
  }
  void give(const AdminCommand& command);
  void fill_block(const AdminCommand& command);
  void apply_admin(const AdminCommand& command);
  void apply_to_ground(const AdminCommand& command);
  void take_commands(std::span<const PlayerInput> commands);
  template <typename Part>
  struct Rest;
  void player_moved(std::size_t row);
  void hurt_by_blocks(CombatTick& fighting);
  void monsters_think();
  void move_monsters();
  void fill_crowd();
  void bring_back();
  void note(const MoveReport& report, const Body& body);
  void send_back(Body& body, DVec3 to);
  void rehash(bool monsters_touched);
  Space space() const { return {&volume, placed, props}; }

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
  DroppedItems items;
  std::vector<Departed> departed;
  PlayerTable players;
  MonsterTable monsters;
  SpawnPlanner spawns;
  PlayerGrid near;                           // scratch: where monsters see players
  std::vector<MonsterWish> wishes;           // scratch, by monster row: of this tick
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
  std::uint32_t game_edits_left = 0;                 // of this tick
  std::size_t edits_noted = 0, spilled_dropped = 0;  // of this tick's, by what falls and as items
  std::vector<std::uint16_t> buttons_before;         // by player row: of the last tick
  std::vector<MonsterSpawn> first_monsters;          // as they stood at the start
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
};

}  // namespace ashlar
