#include "world/sim/world.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "world/bsp/placement.h"
#include "world/collide/prop.h"
#include "world/math/assert.h"
#include "world/math/hash.h"
#include "world/sim/block_acts.h"
#include "world/sim/block_touch.h"
#include "world/sim/body_hash.h"
#include "world/sim/combat.h"
#include "world/sim/crowd.h"
#include "world/sim/dropped_items.h"
#include "world/sim/free_ammo.h"
#include "world/sim/game.h"
#include "world/sim/game_replication.h"
#include "world/sim/ground_edits.h"
#include "world/sim/ground_generator.h"
#include "world/sim/ground_spawner.h"
#include "world/sim/health.h"
#include "world/sim/history.h"
#include "world/sim/home.h"
#include "world/sim/kept_state.h"
#include "world/sim/loose_blocks.h"
#include "world/sim/mechanics.h"
#include "world/sim/modes.h"
#include "world/sim/monster_move.h"
#include "world/sim/monster_rows.h"
#include "world/sim/monster_think.h"
#include "world/sim/navigation.h"
#include "world/sim/pickups.h"
#include "world/sim/player_tick.h"
#include "world/sim/shooting.h"
#include "world/sim/spawn.h"
#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"
#include "world/voxel/window.h"

namespace ashlar {
namespace {

constexpr double stuck_s = 0.5;
constexpr std::size_t alarms_per_tick_max = 4;
/// A monster that rests, nobody near it or asleep, is moved once in so many ticks: the ground may have gone.
constexpr std::uint32_t rest_ticks = 16, doze_ticks = 64;
constexpr std::uint64_t game_draws = 8;  // purpose of rng_for
constexpr double back_on_use_s = 1;      // soonest that the use button brings a dead player back

/// Bodies stand far apart, so the blocks under each are elsewhere in memory: asked for a few bodies ahead
/// they are there when they are needed. Call before each row of a pass; changes nothing.
template <typename Table>
void fetch_ahead(const VoxelVolume& volume, const Table& table, std::size_t row) {
  constexpr std::size_t columns_ahead = 3, slots_ahead = 6;
  const auto low = [&](std::size_t r) { return block_at(table.body[r].position_m - DVec3{1, 1, 1}); };
  if (row + slots_ahead < table.rows()) volume.prefetch_slot(chunk_of(low(row + slots_ahead)));
  if (row + columns_ahead >= table.rows() || table.id[row + columns_ahead] == EntityId{0}) return;
  const IVec3 from = low(row + columns_ahead);
  prefetch_window(volume, from, from + IVec3{2, 2, 2});
}

}  // namespace

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
  EntityId add_player(const Returning* brings);
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
  std::uint64_t kinds_hash = 0;     // hash_of_kinds()
};

World::Impl::Impl(const WorldSetup& given)
    : setup(given),
      ground(std::make_shared<const GroundGenerator>(given)),
      volume(1024, given.blocks),
      rng(rng_for(given.seed, 1)) {
  ASHLAR_ASSERT(rules_sane(setup.rules));
  ASHLAR_ASSERT(setup.players_max >= 1);
  ASHLAR_ASSERT(setup.players_max + setup.monsters_max + projectiles_max + items_max <
                (1u << entity_slot_bits));
  for (const auto& map : setup.maps) {
    ASHLAR_ASSERT(map != nullptr);
    const auto initial = map->initial_heights();
    heights.emplace_back(initial.begin(), initial.end());
  }
  ASHLAR_ASSERT(heights.size() == setup.maps.size());  // whose views the maps in space hold from now on
  for (std::size_t i = 0; i < setup.maps.size(); ++i) placed.push_back({setup.maps[i].get(), heights[i]});

  for (const auto& prop : setup.props) {
    ASHLAR_ASSERT(prop != nullptr);
    props.push_back(prop.get());
  }

  const std::size_t p = setup.players_max;
  players.resize(p);
  const std::size_t m = setup.monsters_max;
  monsters.resize(m);
  monsters.kinds = setup.kinds;
  kinds_hash = hash_of_kinds(monsters.kind_set());
  fires.reserve(m), alarms.reserve(m);
  combat = Combat(setup.seed, p, m, projectiles_max);
  mechanics = Mechanics(setup.maps, heights, p, m);
  if (m > 0) {
    std::vector<const MapPlan*> plans;
    for (const MapMechanics& map : mechanics.maps()) plans.push_back(map.plan.get());
    navigation = Navigation(plans, m);
  }
  shooting = Shooting(p, m, setup.maps.size(), ammo_free(setup.rules, setup.maps));
  history = History(setup.rules, p, m, heights);
  make_edits();
  acts = BlockActs(p, m);
  loose = LooseBlocks(p + m);
  items = DroppedItems(items_max, static_cast<std::uint32_t>(p + m + projectiles_max));
  restore();
  departed.reserve(p);
  ground_spawner = GroundSpawner(monsters.kind_set(), *setup.blocks, setup.seed, m);
  near = PlayerGrid(p);
  touching.reserve(p);
  wishes.resize(m);
  crowd.reserve(p + m);
  joined.reserve(p);

  load_home();
  spawns = SpawnPlanner(setup, ground->terrain(), home_min, home_max);
  place_monsters();
  pickups = Pickups(setup, space());
  if (setup.kept) restore_kept(*setup.kept);
  match.players.resize(p);
  buttons_before.resize(p);
  game_rng = rng_for(setup.seed, game_draws);
  game = setup.game ? setup.game() : make_mode(setup.rules);
  ASHLAR_ASSERT(game != nullptr);
  declare_game();
  motion = game->motion();
  GameApi api = game_api();
  game->begin(api);
  if (setup.kept) restore_match(setup.kept->match, setup.rules, game->resumes(), match);
  rehash(true);
}

/// What its game tells of entities, and what it and its clients say to each other.
void World::Impl::declare_game() {
  ReplicationRegistry declared;
  game->declare(declared);
  const auto rows = static_cast<std::uint32_t>(pickups.table().rows());
  replication =
      GameReplication(declared.extended() ? std::make_shared<const ReplicationRegistry>(std::move(declared))
                                          : ReplicationRegistry::builtin_ptr(),
                      setup.players_max + setup.monsters_max, pickups.table().first_slot + rows);
}

/// Room for a change of each player, an operator's batch, a game's, what bursts take, and what falls.
void World::Impl::make_edits() {
  constexpr auto batch = static_cast<std::size_t>(GroundEdits::batch_blocks_max);
  constexpr auto burst = static_cast<std::size_t>(4.2 * 4.1 * 4.1 * 4.1);
  edits = GroundEdits(setup.players_max + 2 * batch + Combat::player_bursts_max * burst +
                      2 * LooseBlocks::falls_per_tick_max);
  edits.protect(setup.zones);
}

void World::Impl::load_home() {
  const HomeRegion home = home_region(setup.maps);
  ASHLAR_ASSERT(home.columns() <= home_columns_max);  // whoever made the setup asked home_too_large()
  home_min = home.min;
  home_max = home.max;
  const ColumnSpan columns = column_span(setup.terrain);
  for (std::int32_t x = home_min.x; x < home_max.x; ++x)
    for (std::int32_t y = home_min.y; y < home_max.y; ++y)
      for (std::int32_t z = columns.low; z < columns.high; ++z) {
        const ChunkCoord at{x, y, z};
        volume.insert_chunk(at, ground->make_chunk(at));
      }
}

void World::Impl::place_monsters() {
  // The maps' own monsters first, in the maps' order; what is left goes onto the terrain.
  std::vector<MonsterSpawn> wanted;
  for (const MonsterSpawn& spawn : spawns.map_monsters()) {
    if (wanted.size() == setup.monsters) break;
    wanted.push_back(spawn);
  }
  const Space here = space();
  for (const MonsterSpawn& spawn : wanted) {
    // Doom maps hold monsters that stand in each other or in a wall until something moves: those stay out.
    if (!space_overlaps(here, monsters.traits_of(spawn.kind).shape, spawn.at.position_m)) add_monster(spawn);
  }
  std::uint32_t tries = 20 * setup.monsters;
  while (monster_count < setup.monsters && tries-- > 0) {
    const MonsterSpawn spawn = spawns.terrain_monster(here, rng);
    if (!space_overlaps(here, monsters.traits_of(spawn.kind).shape, spawn.at.position_m)) add_monster(spawn);
  }
}

bool World::Impl::add_monster(const MonsterSpawn& spawn) {
  if (enter_monster(monsters, spawn, setup.seed, setup.players_max) == monsters.rows()) return false;
  first_monsters.push_back(spawn);
  ++monster_count;
  return true;
}

/// All around where it died, so that it can be picked up again.
void World::Impl::drop_inventory(std::size_t row) {
  constexpr std::uint16_t turn = 65536 / inventory_slots;
  constexpr double spread_mps = 1.5;
  for (std::size_t i = 0; i < inventory_slots; ++i) {
    const DVec2 out = heading(Turn16{static_cast<std::uint16_t>(i * turn)}) * spread_mps;
    items.drop(players.inventory[row].slots[i],
               players.body[row].position_m + DVec3{0, 0, setup.rules.player.height_m / 2},
               {out.x, out.y, spread_mps}, 0);
  }
  players.inventory[row] = Inventory{};
}

/// What lay there and what blocks held when the world last ended.
void World::Impl::restore() {
  items.restore(setup.items);
  edits.contents().restore(setup.contents);
  items.counters().brought += edits.contents().item_count();
}

/// The world was made as at its very first start: from here it goes on.
void World::Impl::restore_kept(const KeptState& kept) {
  loose.restore(kept.falling);
  restore_sectors(kept.maps, setup.maps, heights, mechanics);
  const bool same_monsters = kept.monsters_of == monsters_of() &&
                             restore_monsters(kept.monsters, monsters, setup.seed, setup.players_max);
  if (same_monsters) {
    const auto alive = std::ranges::count_if(monsters.id, [](EntityId id) { return id != EntityId{0}; });
    monster_count = static_cast<std::uint32_t>(alive);
  }
  if (kept.kinds_of == kinds_hash)
    restore_projectiles(kept.projectiles, monsters, same_monsters, combat.projectiles());
}

/// What chests held that are gone lies where they stood.
void World::Impl::drop_spilled() {
  constexpr DVec3 middle{0.5, 0.5, 0.5 - DroppedItems::shape.height_m / 2};
  const auto spilled = edits.contents().spilled();
  for (; spilled_dropped < spilled.size(); ++spilled_dropped)
    for (const ItemStack& stack : spilled[spilled_dropped].data.items.slots)
      if (!stack.empty()) items.drop(stack, to_dvec3(spilled[spilled_dropped].block) + middle, {}, 0);
}

SpawnPoint World::Impl::spawn_of(EntityId player) {
  GameApi api = game_api();
  if (const auto at = game->spawn(api, player); at && in_bounds(at->position_m)) return *at;
  return spawns.player_spawn(space(), setup.rules, players, monsters, rng);
}

/// A player comes, or comes back: whole, with what fresh ones have. Dead until it is placed, as nobody is in
/// the way of himself.
void World::Impl::begin_life(std::size_t row) {
  players.health[row] = 0;
  const SpawnPoint at = spawn_of(players.id[row]);
  players.body[row] = Body{};
  players.body[row].position_m = players.body[row].last_free_m = at.position_m;
  players.yaw[row] = at.yaw;
  players.health[row] = setup.rules.player_health;
  players.dead_ticks[row] = 0;
  players.armour[row] = 0;
  players.armour_half[row] = 0;
  players.arsenal[row] = fresh_arsenal(monsters.kind_set());
}

/// @param brings  null: nothing
EntityId World::Impl::add_player(const Returning* brings) {
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] != EntityId{0}) continue;
    players.generation[i] = next_generation(players.generation[i]);
    players.id[i] = make_entity_id(static_cast<std::uint32_t>(i), players.generation[i]);
    players.health[i] = 0;
    match.players[i] = {.id = players.id[i]};
    buttons_before[i] = 0;
    GameApi api = game_api();
    game->joined(api, players.id[i]);
    if (brings != nullptr) restore_score(brings->score, match, match.players[i]);
    begin_life(i);
    if (brings != nullptr && brings->score.match == match.number)
      restore_life(brings->life, monsters.kind_set(), players, i);
    players.command[i] = PlayerCommand{};
    players.pitch[i] = Turn16{0};
    players.report[i] = MoveReport{};
    players.digging[i] = Digging{};
    players.inventory[i] = brings != nullptr ? brings->inventory : Inventory{};
    items.counters().brought += players.inventory[i].count();
    ASHLAR_ASSERT(players.has(players.id[i]));
    ASHLAR_ASSERT(players.health[i] > 0);
    mechanics.player_joined(i);
    acts.player_joined(i);
    ++player_count;
    return players.id[i];
  }
  return EntityId{0};
}

void World::Impl::leave(EntityId player) {
  if (!players.has(player)) return;
  GameApi api = game_api();
  game->left(api, player);
  const std::size_t row = slot_of(player);
  items.counters().taken_away += players.inventory[row].count();
  departed.push_back({player, players.inventory[row]});
  players.inventory[row] = Inventory{};
  match.players[row] = {};
  players.id[row] = EntityId{0};
  players.digging[row] = Digging{};
  ASHLAR_ASSERT(player_count > 0);
  --player_count;
}

std::uint16_t World::Impl::points(EntityId who, EntityId by, std::uint16_t asked) {
  GameApi api = game_api();
  return game->damage(api, who, by, asked);
}

bool World::Impl::allows(EntityId player, IVec3 block, BlockId to) {
  GameApi api = game_api();
  return game->may_edit(api, player, block, to);
}

/// Whose cylinders overlap or touch, where they stand at the tick's end.
void World::Impl::tell_touches(GameApi& api) {
  constexpr double skin_m = 0.05;  // the crowd has just pushed them apart
  const double reach_m = 2 * setup.rules.player.radius_m + skin_m;
  near.fill(players);
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (!players.alive(i)) continue;
    const DVec3 at = players.body[i].position_m;
    touching.clear();
    near.visit_near(xy(at), reach_m, [&](std::uint32_t row, DVec3 other) {
      const DVec3 d = other - at;
      if (row > i && dot(xy(d), xy(d)) <= reach_m * reach_m &&
          std::fabs(d.z) <= setup.rules.player.height_m + skin_m)
        touching.push_back(players.id[row]);
    });
    std::ranges::sort(touching);
    for (const EntityId other : touching)
      if (api.alive(players.id[i]) && api.alive(other)) game->touched(api, players.id[i], other);
  }
}

/// Whom and what a player's body meets beside other players.
void World::Impl::tell_other_touches(GameApi& api) {
  constexpr double skin_m = 0.05;
  const Cylinder& player = setup.rules.player;
  const auto each = [&](const Cylinder& shape, DVec3 at, auto&& then) {
    const double reach_m = player.radius_m + shape.radius_m + skin_m;
    touching.clear();
    near.visit_near(xy(at), reach_m, [&](std::uint32_t row, DVec3 who) {
      const DVec3 d = who - at;
      if (dot(xy(d), xy(d)) <= reach_m * reach_m && d.z <= shape.height_m + skin_m &&
          -d.z <= player.height_m + skin_m)
        touching.push_back(players.id[row]);
    });
    std::ranges::sort(touching);
    for (const EntityId who : touching)
      if (api.alive(who)) then(who);
  };
  for (const OwnThing& row : replication.things()) {
    const EntityId thing = row.id;
    if (thing == EntityId{0}) continue;
    // The hook may take it away.
    each(own_thing_shape, row.position_m, [&](EntityId who) {
      if (row.id == thing) game->touched_thing(api, who, thing);
    });
  }
  if (!game->touches_monsters()) return;
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    const EntityId monster = monsters.id[i];
    if (monster == EntityId{0}) continue;
    each(monsters.traits_at(i).shape, monsters.body[i].position_m, [&](EntityId who) {
      if (monsters.id[i] == monster) game->touched_monster(api, who, monster);
    });
  }
}

/// What players said to the game, in its order.
void World::Impl::hear_calls(GameApi& api) {
  const auto known = replication.registry()->client_messages();
  for (const GameCall& call : calls) {
    if (!players.has(call.player)) continue;
    if (call.message == GameCall::chat_command) {
      if (!game->chat_command(api, call.player, call.text()))
        api.tell(call.player, "this game has no such command");
    } else if (call.message < known.size() && call.size <= known[call.message].bytes_max) {
      game->message(api, call.player, call.message, call.bytes());
    }
  }
}

/// The part of a tick that is the game's, before anybody moves.
void World::Impl::run_game() {
  GameApi api = game_api();
  hear_calls(api);
  if (match.left_ticks > 0 && --match.left_ticks == 0) game->phase_over(api);
  for (std::size_t i = 0; i < timers.size(); ++i)
    if (timers[i] > 0 && --timers[i] == 0) game->timer(api, i);
  game->tick(api);
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0}) continue;
    const std::uint16_t now = players.command[i].buttons;
    const auto pressed = static_cast<std::uint16_t>(now & ~buttons_before[i]);
    buttons_before[i] = now;
    if ((pressed & button::use) != 0 && players.alive(i)) game->used(api, players.id[i]);
  }
}

/// What happened in the tick, behind it.
void World::Impl::tell_game() {
  GameApi api = game_api();
  const bool counts = match.phase == MatchPhase::open || match.phase == MatchPhase::playing;
  for (const CombatEvent& e : combat.events()) {
    if (e.kind != CombatEventKind::died) continue;
    if (counts && players.has(e.who)) ++match.players[slot_of(e.who)].deaths;
    if (counts && players.has(e.by) && e.by != e.who) ++match.players[slot_of(e.by)].kills;
    game->died(api, e.who, e.by);
  }
  // By number, and only those before this: what the hook changes itself comes behind them.
  const std::size_t changed = edits.applied().size();
  for (std::size_t i = 0; i < changed; ++i)
    if (const AppliedEdit edit = edits.applied()[i]; players.has(edit.who))
      game->edited(api, edit.who, edit.block);
  tell_touches(api);
  tell_other_touches(api);
  for (const PickupEvent& e : pickups.events()) game->picked_up(api, e.player, item_type(e.item).number);
  for (const MoverEvent& e : mechanics.events())
    if (e.kind == MoverEventKind::exited && players.has(e.entity)) game->exited(api, e.entity);
  if (restarts) restart_match();
}

void World::Impl::restart_match() {
  restarts = false;
  ++match.number;
  match.team_score = {};
  timers = {};
  mechanics.restart(heights);
  pickups.reset(space());
  for (std::size_t i = 0; i < monsters.rows(); ++i)
    monsters.id[i] = EntityId{0}, monsters.respawn_ticks[i] = 0;
  for (std::size_t i = 0; i < first_monsters.size(); ++i)
    enter_monster_at(monsters, i, first_monsters[i], setup.seed, setup.players_max);
  monster_count = static_cast<std::uint32_t>(first_monsters.size());
  for (std::size_t i = 0; i < players.rows(); ++i) players.health[i] = 0;  // nobody is in another's way
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0}) continue;
    match.players[i] = {.id = players.id[i], .team = match.players[i].team};
    begin_life(i);
  }
}

void World::Impl::apply_admin(const AdminCommand& command) {
  if (command.action == AdminAction::give) return give(command);
  if (command.action == AdminAction::fill_block) return fill_block(command);
  if (command.action >= AdminAction::fill_box) return apply_to_ground(command);
  if (!players.has(command.player)) return;
  const std::size_t row = slot_of(command.player);
  Body& body = players.body[row];
  switch (command.action) {
    case AdminAction::noclip_on: body.noclip = 1; break;
    case AdminAction::noclip_off: body.noclip = 0; break;
    case AdminAction::teleport:
      if (!in_bounds(command.position_m)) return;
      body.position_m = command.position_m;
      body.velocity_mps = {};
      body.recovery_velocity_mps = {};
      body.stuck_ticks = 0;
      break;
    case AdminAction::fill_box:
    case AdminAction::blast:
    case AdminAction::give:
    case AdminAction::fill_block: break;  // done above
  }
}

void World::Impl::give(const AdminCommand& command) {
  if (!players.has(command.player) || command.id == BlockId::air || !setup.blocks->knows(command.id)) return;
  Inventory& held = players.inventory[slot_of(command.player)];
  items.counters().brought += command.count - held.add({command.id, command.count});
}

void World::Impl::fill_block(const AdminCommand& command) {
  const IVec3 block = command.box.min;
  if (!in_bounds(to_dvec3(block)) || !volume.loaded(chunk_of(block))) return;
  const BlockId kind = volume.block(block);
  BlockContents& contents = edits.contents();
  if (!sane(command.data.items) || !fits(setup.blocks->type(kind), command.data)) return;
  if (!contents.has_room(block)) return;
  const BlockData* const before = contents.find(block);
  items.counters().gone += before != nullptr ? before->items.count() : 0;
  items.counters().brought += command.data.items.count();
  contents.set(block, kind, command.data, command.player);
}

void World::Impl::apply_to_ground(const AdminCommand& command) {
  if (command.action == AdminAction::fill_box) {
    if (GroundEdits::box_sane(command.box))
      counters.edits_refused += edits.fill(volume, placed, command.box, command.id, command.player);
    return;
  }
  const bool sane = in_bounds(command.position_m) && command.radius_m >= 0 &&
                    command.radius_m <= GroundEdits::sphere_radius_m_max;  // false for NaN, too
  if (sane)
    edits.blast(volume, placed, setup.rules.map_margin_m, command.position_m, command.radius_m,
                command.player);
}

void World::Impl::note(const MoveReport& report, const Body& body) {
  if (report.recovered) ++counters.recoveries;
  if (report.frozen) ++counters.frozen;
  const auto limit = static_cast<unsigned>(stuck_s * setup.rules.tick_rate_hz);
  if (body.stuck_ticks == limit + 1) ++counters.stuck;
}

void World::Impl::send_back(Body& body, DVec3 to) {
  ASHLAR_ASSERT(in_bounds(to));
  ++counters.lost;
  const std::uint8_t noclip = body.noclip;
  body = Body{};
  body.position_m = to;
  body.last_free_m = to;
  body.noclip = noclip;
}

void World::Impl::player_moved(std::size_t row) {
  Body& body = players.body[row];
  note(players.report[row], body);
  ASHLAR_ASSERT(in_bounds(body.position_m));  // false for NaN, too
  ASHLAR_ASSERT(body.grounded <= 1);
  if (players.report[row].lost)
    send_back(body, spawns.player_spawn(space(), setup.rules, players, monsters, rng).position_m);
}

/// Whole points, so that as many come together in a second as the block says, at every tick rate.
void World::Impl::hurt_by_blocks(CombatTick& fighting) {
  const auto points_until = [this](std::uint64_t t, std::uint16_t per_s) {
    return t * per_s / setup.rules.tick_rate_hz;
  };
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (!players.alive(i) || players.body[i].noclip != 0) continue;
    const BlockTouch touch = touch_of(volume, setup.rules.player, players.body[i].position_m);
    if (touch.damage_per_s == 0) continue;
    const std::uint64_t points =
        points_until(tick + std::uint64_t{1}, touch.damage_per_s) - points_until(tick, touch.damage_per_s);
    if (points == 0) continue;
    combat.hurt(fighting, players.id[i],
                {.points = static_cast<std::uint16_t>(points), .how = HurtBy::block});
  }
}

void World::Impl::monsters_think() {
  // All think before any moves: what each sees of the others' rows is nothing, so the order does not matter.
  const Space here = space();
  near.fill(players);
  navigation.advance(here, players, monsters, tick, mechanics.maps());
  const std::uint16_t look_ticks = monster_look_ticks(setup.rules);
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    if (monster_idles(monsters, i, TickId{tick}, look_ticks))
      wishes[i] = MonsterWish{};
    else
      wishes[i] = monster_think(here, setup.rules, players, near, monsters, i, TickId{tick}, &navigation);
  }
  fires.clear(), alarms.clear();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    if (wishes[i].fires) fires.push_back(static_cast<std::uint32_t>(i));
    if (wishes[i].alarms) alarms.push_back(static_cast<std::uint32_t>(i));
  }
  // Who is woken wakes nobody in turn, and the rest of a crowd that sees somebody at once has seen him.
  for (std::size_t k = 0; k < std::min(alarms.size(), alarms_per_tick_max); ++k)
    monsters_alarm(here, setup.rules, monsters, alarms[k]);
}

void World::Impl::move_monsters() {
  const Space here = space();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    const std::uint32_t every = monsters.dozes[i] != 0 ? doze_ticks : rest_ticks;
    if ((tick + i) % every != 0 && monster_rests(monsters, i)) continue;
    fetch_ahead(volume, monsters, i);
    const MoveReport report =
        monster_move(here, setup.rules, monsters.traits_at(i), wishes[i], monsters.body[i],
                     mechanics.floor_velocity(heights, monsters.body[i]));
    note(report, monsters.body[i]);
    ASHLAR_ASSERT(in_bounds(monsters.body[i].position_m));
    ASHLAR_ASSERT(monsters.body[i].noclip == 0);
    if (report.lost) send_back(monsters.body[i], spawns.terrain_monster(here, monsters.rng[i]).at.position_m);
  }
}

void World::Impl::fill_crowd() {
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.alive(i) && players.body[i].noclip == 0)
      crowd.add(setup.rules.player, players.body[i], players.id[i]);
  for (std::size_t i = 0; i < monsters.rows(); ++i)
    // Who dozes is in nobody's way whom a player could see.
    if (monsters.id[i] != EntityId{0} && monsters.dozes[i] == 0) {
      const MonsterTraits& kind = monsters.traits_at(i);
      crowd.add(kind.shape, wall_shape(setup.rules, kind), monsters.body[i], monsters.id[i]);
    }
}

void World::Impl::fight() {
  CombatTick fighting = combat_tick();
  combat.fight(fighting, fires, shooting.launches());
  clear_around_bursts();
  fill_summons();
  const std::uint64_t deaths = combat.counters().monster_deaths;
  ASHLAR_ASSERT(deaths - deaths_counted <= monster_count);
  monster_count -= static_cast<std::uint32_t>(deaths - deaths_counted);
  deaths_counted = deaths;
}

/// All blocks around a burst go in the tick in which it bursts.
void World::Impl::clear_around_bursts() {
  if (!(setup.rules.burst_dig_m > 0)) return;
  for (const PlayerBurst& burst : combat.player_bursts())
    if (in_bounds(burst.centre_m))
      edits.blast(volume, placed, setup.rules.map_margin_m, burst.centre_m, setup.rules.burst_dig_m, burst.by,
                  this);
}

/// Where there is room for it; a summoned one comes back no more once it is dead.
void World::Impl::fill_summons() {
  const Space here = space();
  for (const Summons& s : combat.summons()) {
    const Cylinder& shape = monsters.traits_of(s.kind).shape;
    if (!in_bounds(s.position_m) || space_overlaps(here, shape, s.position_m)) continue;
    const std::size_t row =
        enter_monster(monsters, {s.kind, {s.position_m, s.yaw}}, setup.seed, setup.players_max);
    if (row == monsters.rows()) continue;
    ++monster_count;
    monster_takes_up(setup.rules, monsters, row, s.target, s.position_m);
  }
}

/// The dead whose time has come stand where they stood at first, once there is room.
void World::Impl::return_monsters() {
  if (setup.rules.monster_respawn_s == 0) return;
  const Space here = space();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] != EntityId{0} || monsters.respawn_ticks[i] == 0) continue;
    if (ground_spawner.owns(monsters, i)) {
      monsters.respawn_ticks[i] = 0;
      continue;
    }
    if (--monsters.respawn_ticks[i] > 0) continue;
    const MonsterSpawn spawn{
        monsters.kind[i], {monsters.home_m[i], monsters.home_yaw[i]}, monsters.deaf[i] != 0};
    const Cylinder& shape = monsters.traits_of(spawn.kind).shape;
    if (space_overlaps(here, shape, spawn.at.position_m) ||
        spawns.taken(shape, spawn.at.position_m, setup.rules, players, monsters)) {
      monsters.respawn_ticks[i] = setup.rules.tick_rate_hz;  // again in a second
      continue;
    }
    enter_monster_at(monsters, i, spawn, setup.seed, setup.players_max);
    ++monster_count;
  }
}

void World::Impl::take_commands(std::span<const PlayerInput> commands) {
  // Without a command a player stands still and looks where it looked.
  std::ranges::fill(players.command, PlayerCommand{});
  for (const PlayerInput& in : commands)
    if (players.has(in.player)) players.take(slot_of(in.player), in.command);
}

/// What a world does beside its players' part of a tick.
template <typename Part>
struct World::Impl::Rest {
  Impl& w;
  bool awake;
  const Part& part;
  CombatTick fighting = w.combat_tick();
  std::uint64_t deaths = w.mechanics.counters().monster_deaths;

  void acts_judged() {
    if (awake) w.run_game();
    LooseBlocksTick falling{w.placed, w.volume, w.edits, w.setup.rules, w.players, w.monsters, w.tick};
    w.loose.fall(falling);
    w.edits_noted = w.edits.applied().size();
    w.history.note_edits(TickId{w.tick + 1}, w.edits.applied());
    part(StepPart::sectors);
  }
  void sectors_moved() {
    const std::uint64_t died = w.mechanics.counters().monster_deaths - deaths;
    ASHLAR_ASSERT(died <= w.monster_count);
    w.monster_count -= static_cast<std::uint32_t>(died);
    for (const MoverEvent& e : w.mechanics.events()) {
      if (e.kind != MoverEventKind::died) continue;
      const std::size_t slot = slot_of(e.entity), players = w.players.rows();
      const Body& body = slot < players ? w.players.body[slot] : w.monsters.body[slot - players];
      w.combat.note_death(e.entity, HurtBy::crusher, body.position_m);
    }
    if (awake) part(StepPart::shots);
  }
  void shots_fired() {
    w.combat.shots(fighting, w.shooting.events());
    part(StepPart::players);
  }
  void player_moves(std::size_t row) { fetch_ahead(w.volume, w.players, row); }
  void player_moved(std::size_t row) { w.player_moved(row); }
  void players_moved() {
    w.hurt_by_blocks(fighting);
    part(StepPart::think);
    w.monsters_think();
    part(StepPart::monsters);
    w.move_monsters();
    part(StepPart::crowd);
    w.fill_crowd();
  }
  void crowd_pushed() {
    part(StepPart::fight);
    w.fight();
    part(StepPart::lines);
  }
};

void World::Impl::take_items() {
  PickupsTick taking{space(),  setup.rules, monsters.kind_set(),  players,
                     monsters, tick,        mechanics.in_motion()};
  pickups.drop(taking, combat.events());
  pickups.advance(taking);
}

void World::Impl::bring_back() {
  const auto ticks_of = [&](double seconds) { return seconds * setup.rules.tick_rate_hz; };
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0} || players.health[i] != 0) continue;
    if (players.dead_ticks[i] == 0 && setup.rules.keep_inventory == Switch::off) drop_inventory(i);
    if (players.dead_ticks[i] < 0xffff) ++players.dead_ticks[i];
    const bool asks = (players.command[i].buttons & button::use) != 0;
    const double wait_s = asks ? std::min(back_on_use_s, setup.rules.respawn_s) : setup.rules.respawn_s;
    if (players.dead_ticks[i] < ticks_of(wait_s)) continue;
    begin_life(i);
  }
}

void World::Impl::rehash(bool monsters_touched) {
  if (monsters_touched) monsters_hash = hash_of(monsters);
  ASHLAR_ASSERT_SLOW(monsters_hash == hash_of(monsters));
  StripeHasher h;
  h.add(static_cast<std::uint64_t>(tick));
  h.add(rng.state);
  h.add(volume.hash());
  for (const auto& list : heights)
    for (const SectorHeights& s : list) h.add(s.floor_m), h.add(s.ceiling_m);
  for (const Prop* prop : props) h.add(prop->content_hash());
  mechanics.add_to_hash(h);
  shooting.add_to_hash(h);
  combat.add_to_hash(h);
  pickups.add_to_hash(h);
  match.add_to_hash(h);
  game->add_to_hash(h);
  replication.add_to_hash(h);
  h.add(game_rng.state);
  for (const std::uint32_t left : timers) h.add(static_cast<std::uint64_t>(left));
  navigation.add_to_hash(h);
  ground_spawner.add_to_hash(h);
  acts.add_to_hash(h, players);
  loose.add_to_hash(h);
  items.add_to_hash(h);
  edits.contents().add_to_hash(h);
  if (player_count > 0)
    for (std::size_t i = 0; i < players.rows(); ++i) {
      if (players.id[i] == EntityId{0}) continue;
      add_to_hash(h, players.id[i]), add_to_hash(h, players.body[i]);
      h.add(static_cast<std::uint64_t>(players.health[i]) |
            static_cast<std::uint64_t>(players.dead_ticks[i]) << 16 |
            static_cast<std::uint64_t>(players.yaw[i]) << 32 |
            static_cast<std::uint64_t>(players.pitch[i]) << 48);
      h.add(static_cast<std::uint64_t>(players.armour[i]) | static_cast<std::uint64_t>(players.armour_half[i])
                                                                << 16);
      add_to_hash(h, players.inventory[i]);
      add_to_hash(h, players.arsenal[i]);
    }
  h.add(monsters_hash);
  // Generations outlive their rows: they decide the ids to come.
  h.add_list(players.generation);
  hash = h.value();
}

World::World(const WorldSetup& setup) : impl_(std::make_unique<Impl>(setup)) {}
World::~World() = default;

void World::step(const TickInput& input, StepWatch* watch) {
  Impl& w = *impl_;
  const auto part = [watch](StepPart p) {
    if (watch != nullptr) watch->begins(p);
  };
  part(StepPart::inputs);
  for (const ChunkCoord& at : input.chunks_dropped) w.volume.drop_chunk(at);
  for (ReadyChunk& ready : input.chunks_ready) w.volume.insert_chunk(ready.at, std::move(ready.chunk));

  w.replication.begin_tick();
  w.departed.clear();
  for (const EntityId id : input.leaves) w.leave(id);
  w.joined.clear();
  w.combat.begin_tick();
  auto returning = input.returning.begin();
  for (const std::uint32_t token : input.joins) {
    const bool returns = returning != input.returning.end() && returning->token == token;
    w.joined.push_back({token, w.add_player(returns ? &*returning : nullptr)});
    if (returns) ++returning;
  }
  w.edits.begin_tick();
  w.spilled_dropped = 0;
  w.game_edits_left = GameApi::edits_per_tick_max;
  for (const AdminCommand& command : input.admin) w.apply_admin(command);
  for (const BlockEdit& edit : input.edits)
    if (!w.edits.set(w.volume, w.placed, edit, EntityId{0})) ++w.counters.edits_refused;

  // Without players nobody sees what a monster does: they stand where they are until somebody joins. What
  // moves by itself, sectors and whom they carry, goes on.
  const bool awake = w.player_count > 0;
  w.calls = input.calls;
  if (awake) {
    w.take_commands(input.commands);
    w.bring_back();
    w.return_monsters();
    GroundSpawnerTick spawning{w.space(), w.setup.rules, w.players,      w.monsters,
                               w.tick,    w.setup.seed,  w.monster_count};
    w.ground_spawner.advance(spawning);
  }
  MechanicsTick moving{w.space(), w.heights, w.setup.rules, w.players, w.monsters, TickId{w.tick}, awake};
  BlockActsTick acting{w.space(), w.volume, w.edits, w.setup.rules, w.players, w.monsters, &w.items, &w};
  const bool monsters_touched = awake || w.mechanics.in_motion() || !w.departed.empty();
  const PlayerTick tick{moving, acting,     input.acts, w.history,     w.mechanics,
                        w.acts, w.shooting, w.crowd,    w.motion.get()};
  step_players(tick, Impl::Rest<decltype(part)>{w, awake, part});
  w.drop_spilled();
  if (awake) {
    w.items.step({w.space(), w.setup.rules, w.players, w.near, w.tick});
    w.take_items();
    w.tell_game();
    w.drop_spilled();  // what the game's edits have spilled since
  }
  w.loose.note_edits(w.volume, w.edits.applied().subspan(w.edits_noted));
  ASHLAR_ASSERT(w.player_count <= w.setup.players_max);
  ASHLAR_ASSERT(w.monster_count <= w.setup.monsters_max);
  ASHLAR_ASSERT(w.joined.size() == input.joins.size());
  part(StepPart::hash);
  ++w.tick;
  w.history.note_edits(TickId{w.tick}, w.edits.applied());
  if (awake) w.history.record(TickId{w.tick}, w.players, w.monsters, w.heights);
  w.rehash(monsters_touched);
}

TickId World::tick() const { return TickId{impl_->tick}; }
std::uint64_t World::hash() const { return impl_->hash; }
const WorldSetup& World::setup() const { return impl_->setup; }
std::shared_ptr<const GroundGenerator> World::ground() const { return impl_->ground; }
const PlayerTable& World::players() const { return impl_->players; }
const MonsterTable& World::monsters() const { return impl_->monsters; }
Space World::space() const { return impl_->space(); }
std::span<const MapInSpace> World::maps() const { return impl_->placed; }
std::span<const Joined> World::joined() const { return impl_->joined; }
const Mechanics& World::mechanics() const { return impl_->mechanics; }
const Shooting& World::shooting() const { return impl_->shooting; }
const History& World::history() const { return impl_->history; }
const Combat& World::combat() const { return impl_->combat; }
const ProjectileTable& World::projectiles() const { return impl_->combat.projectiles(); }
const Match& World::match() const { return impl_->match; }
const Game& World::game() const { return *impl_->game; }
const GameReplication& World::replication() const { return impl_->replication; }
const Pickups& World::pickups() const { return impl_->pickups; }
const BlockActs& World::block_acts() const { return impl_->acts; }
std::span<const AppliedEdit> World::applied_edits() const { return impl_->edits.applied(); }
const BlockContents& World::contents() const { return impl_->edits.contents(); }
void World::keep_state(KeptState& out) const {
  const std::span<const IVec3> falling = impl_->loose.waiting();
  out.falling.assign(falling.begin(), falling.end());
  keep_sectors(impl_->setup.maps, impl_->heights, impl_->mechanics, out.maps);
  keep_monsters(impl_->monsters, out.monsters);
  out.monsters_of = impl_->monsters_of();
  keep_projectiles(impl_->combat.projectiles(), impl_->monsters, out.projectiles);
  out.kinds_of = impl_->kinds_hash;
  out.match = keep_match(impl_->match, impl_->setup.rules.mode);
}
std::uint64_t World::kinds_hash() const { return impl_->kinds_hash; }
const DroppedItems& World::items() const { return impl_->items; }
std::span<const Departed> World::departed() const { return impl_->departed; }
const WorldCounters& World::counters() const { return impl_->counters; }
std::uint32_t World::player_count() const { return impl_->player_count; }
std::uint32_t World::monster_count() const { return impl_->monster_count; }
ColumnSpan World::columns() const { return column_span(impl_->setup.terrain); }
IVec2 World::home_min() const { return impl_->home_min; }
IVec2 World::home_max() const { return impl_->home_max; }

int World::player_row(EntityId id) const {
  return impl_->players.has(id) ? static_cast<int>(slot_of(id)) : -1;
}

int World::monster_row(EntityId id) const {
  const std::uint32_t slot = slot_of(id);
  if (id == EntityId{0} || slot < impl_->setup.players_max) return -1;
  const std::size_t row = slot - impl_->setup.players_max;
  const MonsterTable& t = impl_->monsters;
  return row < t.rows() && t.id[row] == id ? static_cast<int>(row) : -1;
}

bool World::column_loaded(std::int32_t x, std::int32_t y) const {
  return impl_->volume.loaded({x, y, columns().low});
}

bool World::column_edited(std::int32_t x, std::int32_t y) const { return impl_->edits.column_edited({x, y}); }

}  // namespace ashlar
