// How a World is made, and goes on from what was kept.
#include "world/sim/world_state.h"

#include <algorithm>

#include "world/math/assert.h"
#include "world/sim/free_ammo.h"
#include "world/sim/home.h"
#include "world/sim/modes.h"
#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"

namespace ashlar {
namespace {

constexpr std::uint64_t game_draws = 8;  // purpose of rng_for

}  // namespace

World::Impl::Impl(const WorldSetup& given)
    : setup(given),
      ground(std::make_shared<const GroundGenerator>(given)),
      volume(1024, given.blocks),
      rng(rng_for(given.seed, 1)) {
  ASHLAR_ASSERT(rules_sane(setup.rules));
  ASHLAR_ASSERT(setup.players_max >= 1);
  ASHLAR_ASSERT(setup.players_max + setup.monsters_max + projectiles_max + items_max + own_things_max <
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
  presence.resize(p);
  const std::size_t m = setup.monsters_max;
  monsters.resize(m);
  monsters.use_kinds(setup.kinds);
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
  block_timers = BlockTimers(p + m);
  items = DroppedItems(items_max, static_cast<std::uint32_t>(p + m + projectiles_max));
  restore();
  departed.reserve(p);
  ground_spawner = GroundSpawner(monsters.kind_set(), *setup.blocks, setup.seed, m);
  near = PlayerGrid(p);
  touching.reserve(p);
  wishes.resize(m), idles.resize(m), stays.resize(m);
  crowd.reserve(p + m);
  joined.reserve(p);

  load_home();
  spawns = SpawnPlanner(setup, ground->terrain(), home_min, home_max);
  place_monsters();
  pickups = Pickups(setup, space());
  if (setup.kept) restore_kept(*setup.kept);
  match.players.resize(p), match.aside.resize(p);
  buttons_before.resize(p);
  game_rng = rng_for(setup.seed, game_draws);
  game = setup.game ? setup.game() : make_mode(setup.rules);
  ASHLAR_ASSERT(game != nullptr);
  declare_game();
  motion = game->motion();
  begin_game();
  if (setup.kept && restore_match(setup.kept->match, setup.rules, game->resumes(), match))
    game->take_built(setup.kept->built);
  rehash(true);
}

void World::Impl::begin_game() {
  GameParts parts = game_parts();
  parts.edits_left = nullptr;
  GameApi api(parts);
  game->begin(api);
  count_deaths();
}

void World::Impl::declare_game() {
  ReplicationRegistry declared;
  game->declare(declared);
  const auto rows = static_cast<std::uint32_t>(pickups.table().rows());
  replication =
      GameReplication(declared.extended() ? std::make_shared<const ReplicationRegistry>(std::move(declared))
                                          : ReplicationRegistry::builtin_ptr(),
                      setup.players_max + setup.monsters_max, pickups.table().first_slot + rows);
}

void World::Impl::make_edits() {
  constexpr auto batch = static_cast<std::size_t>(GroundEdits::batch_blocks_max);
  constexpr auto burst = static_cast<std::size_t>(4.2 * 4.1 * 4.1 * 4.1);
  constexpr auto charge =
      static_cast<std::size_t>(4.2 * block_blast_m_max * block_blast_m_max * block_blast_m_max);
  edits = GroundEdits(setup.players_max + 2 * batch + Combat::player_bursts_max * burst +
                      2 * LooseBlocks::falls_per_tick_max + BlockTimers::fires_per_tick_max +
                      BlockTimers::blasts_per_tick_max * charge);
  edits.protect(setup.zones);
  edits.hide_loot(setup.secret.value_or(secret_of_seed(setup.seed)));
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

void World::Impl::restore() {
  items.restore(setup.items);
  edits.contents().restore(setup.contents);
  items.counters().brought += edits.contents().item_count();
  block_timers.restore(edits.contents());
}

void World::Impl::restore_kept(const KeptState& kept) {
  loose.restore(kept.falling);
  restore_sectors(kept.maps, setup.maps, heights, mechanics);
  pickups.note_motion(setup.rules);  // floors may be elsewhere than at first
  const bool same_monsters = kept.monsters_of == monsters_of() &&
                             restore_monsters(kept.monsters, monsters, setup.seed, setup.players_max);
  if (same_monsters) {
    const auto alive = std::ranges::count_if(monsters.id, [](EntityId id) { return id != EntityId{0}; });
    monster_count = static_cast<std::uint32_t>(alive);
  }
  if (kept.kinds_of == kinds_hash)
    restore_projectiles(kept.projectiles, monsters, same_monsters, combat.projectiles());
}

}  // namespace ashlar
