#include "world/sim/world.h"

#include <algorithm>

#include "world/math/assert.h"
#include "world/math/hash.h"
#include "world/sim/body_hash.h"
#include "world/sim/day.h"
#include "world/sim/fetch_ahead.h"
#include "world/sim/monster_move.h"
#include "world/sim/player_tick.h"
#include "world/sim/world_state.h"
#include "world/voxel/terrain.h"

namespace ashlar {
namespace {

constexpr double stuck_s = 0.5;

void add_to_hash(StripeHasher& h, const PlayerName& name) {
  Hasher bytes;
  for (const char c : name.text()) bytes.add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  h.add(bytes.value());
}

}  // namespace

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

void World::Impl::fill_crowd() {
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.alive(i) && players.body[i].noclip == 0)
      crowd.add(setup.rules.player, players.body[i], players.id[i]);
  for (std::size_t i = 0; i < monsters.rows(); ++i)
    // Who dozes is in nobody's way whom a player could see.
    if (monsters.id[i] != EntityId{0} && monsters.dozes[i] == 0) {
      const MonsterTraits& kind = monsters.traits_at(i);
      crowd.add(kind.shape, wall_shape(setup.rules, kind), monsters.body[i], monsters.id[i],
                ((tick + i) & 1u) == 0 ? PushTurn::this_tick : PushTurn::next_tick);
    }
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
    const GroundTick ground{w.placed, w.volume, w.edits, w.setup.rules, w.players, w.monsters};
    w.block_timers.fire({ground, w.items, w, w.life_tick()});
    w.loose.fall(ground, w.tick);
    w.edits_noted = w.edits.applied().size();
    w.history.note_edits(TickId{w.tick + 1}, w.edits.applied());
    part(StepPart::sectors);
  }
  void sectors_moved() {
    const std::uint64_t died = w.mechanics.counters().monster_deaths - deaths;
    ASHLAR_ASSERT(died <= w.monster_count);
    w.monster_count -= static_cast<std::uint32_t>(died);
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
    w.hurt_by_falls(fighting);
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

void World::Impl::note_moved_floors(bool awake) {
  const bool moved = mechanics.in_motion() || !mechanics.events().empty();
  // Who wakes begins to look anew: each in its own tick, of so many in a row.
  if (moved || (!awake && pickups.follows())) pickups.note_motion(setup.rules);
}

void World::Impl::begin_tick() {
  combat.begin_tick();
  edits.begin_tick();
  spilled_dropped = fallen_dropped = 0;
  game_edits_left = GameApi::edits_per_tick_max;
}

void World::Impl::take_items() {
  PickupsTick taking{space(), setup.rules, monsters.kind_set(), players, tick};
  drop_fallen(taking);
  pickups.advance(taking);
}

void World::Impl::drop_fallen(PickupsTick& taking) {
  pickups.drop(taking, combat.fallen().subspan(fallen_dropped));
  fallen_dropped = combat.fallen().size();
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
      h.add(static_cast<std::uint64_t>(players.role[i]) |
            static_cast<std::uint64_t>(players.role_ticks[i]) << 8 |
            static_cast<std::uint64_t>(players.light[i]) << 24);
    }
  for (std::size_t i = 0; i < presence.size(); ++i) {
    const Presence& p = presence[i];
    if (!p.away && p.name.text().empty()) continue;  // as in all worlds that know of none
    h.add(static_cast<std::uint64_t>(i) << 1 | (p.away ? 1 : 0));
    add_to_hash(h, p.name);
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
  w.take_ground(input.chunks_dropped, input.chunks_ready);

  w.replication.begin_tick();
  w.begin_tick();  // what a game does as players leave and join is of it as well
  w.departed.clear();
  for (const AwayChange& change : input.away) w.change_away(change);
  for (const EntityId id : input.leaves) w.leave(id);
  w.add_players(input);
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
    GroundSpawnerTick spawning{
        w.space(), w.setup.rules, w.players,       w.monsters,
        w.tick,    w.setup.seed,  w.monster_count, sky_light(w.setup.rules, w.life_tick())};
    w.ground_spawner.advance(spawning);
  }
  MechanicsTick moving{w.space(),      w.heights, w.setup.rules, w.players, w.monsters,
                       TickId{w.tick}, awake,     w.stays,       &w};
  BlockActsTick acting{w.space(), w.volume, w.edits, w.setup.rules, w.players, w.monsters, &w.items, &w};
  const bool stirs = awake || w.mechanics.in_motion() || !w.departed.empty();
  const PlayerTick tick{moving, acting,     input.acts, w.history,      w.mechanics,
                        w.acts, w.shooting, w.crowd,    w.motion.get(), input.told_apart};
  step_players(tick, Impl::Rest<decltype(part)>{w, awake, part});
  part(StepPart::game);
  w.drop_spilled();
  w.note_moved_floors(awake);
  if (awake) {
    w.items.step({w.space(), w.setup.rules, w.players, w.near, w.tick});
    w.hear_noises(moving);
    w.take_items();
  }
  w.tell_game(awake);
  w.drop_spilled();  // what the game's edits have spilled since
  w.loose.note_edits(w.volume, w.edits.applied().subspan(w.edits_noted));
  w.block_timers.note_edits(w.volume, w.setup.rules, w.life_tick(), w.edits);
  ASHLAR_ASSERT(w.player_count <= w.setup.players_max);
  ASHLAR_ASSERT(w.monster_count <= w.setup.monsters_max);
  ASHLAR_ASSERT(w.joined.size() == input.joins.size());
  part(StepPart::hash);
  ++w.tick;
  w.history.note_edits(TickId{w.tick}, w.edits.applied());
  if (awake) w.history.record(TickId{w.tick}, w.players, w.monsters, w.heights);
  w.rehash(stirs || !w.edits.applied().empty());  // of which the game was told, whoever is there
}

TickId World::tick() const { return TickId{impl_->tick}; }
std::uint64_t World::life_tick() const { return impl_->life_tick(); }
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
  // Those of spawn rules come around players again, and would be any monsters if they were kept; a game puts
  // its own there again.
  std::erase_if(out.monsters, [this](const KeptMonster& m) {
    return impl_->ground_spawner.owns(impl_->monsters, m.row) || impl_->monsters.of_game[m.row] != 0;
  });
  out.monsters_of = impl_->monsters_of();
  keep_projectiles(impl_->combat.projectiles(), impl_->monsters, out.projectiles);
  out.kinds_of = impl_->kinds_hash;
  out.match = keep_match(impl_->match, impl_->setup.rules.mode);
  out.built.builders = 0;
  out.built.placed.clear();
  impl_->game->keep_built(out.built);
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

std::string_view World::player_name(EntityId player) const {
  if (!impl_->players.has(player)) return {};
  return impl_->presence[slot_of(player)].name.text();
}

bool World::player_away(EntityId player) const {
  return impl_->players.has(player) && impl_->presence[slot_of(player)].away;
}

bool World::column_loaded(std::int32_t x, std::int32_t y) const {
  return impl_->volume.loaded({x, y, columns().low});
}

bool World::column_edited(std::int32_t x, std::int32_t y) const { return impl_->edits.column_edited({x, y}); }

}  // namespace ashlar
