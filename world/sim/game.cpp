#include "world/sim/game.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "world/math/assert.h"
#include "world/sim/mechanics.h"
#include "world/sim/monster_rows.h"
#include "world/sim/pickups.h"
#include "world/sim/spawn.h"

namespace ashlar {
namespace {

constexpr double speed_mps_max = 100;
constexpr std::uint16_t health_most = 10000;

std::uint32_t ticks_of(const Rules& rules, double seconds) {
  constexpr double day_s = 86400;
  if (!(seconds > 0)) return 0;  // nor where it is no number
  return std::max(1u, static_cast<std::uint32_t>(std::min(seconds, day_s) * rules.tick_rate_hz));
}

/// As far as a score goes.
std::int32_t sum(std::int32_t a, std::int32_t b) {
  const std::int64_t s = std::int64_t{a} + b;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(s, std::numeric_limits<std::int32_t>::min(),
                                                            std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

MatchPlayer* GameApi::player_of(EntityId id) const {
  if (!p_.players.has(id)) return nullptr;
  MatchPlayer& who = p_.match.players[slot_of(id)];
  return who.id == id ? &who : nullptr;  // spectators have no score
}

std::string_view GameApi::name(EntityId player) const {
  if (!p_.players.has(player)) return {};
  return p_.presence[slot_of(player)].name.text();
}

bool GameApi::away(EntityId player) const {
  return p_.players.has(player) && p_.presence[slot_of(player)].away;
}

bool GameApi::alive(EntityId player) const {
  return p_.players.has(player) && p_.players.takes_part(slot_of(player));
}

bool GameApi::out(EntityId player) const {
  return p_.players.has(player) && p_.players.role[slot_of(player)] == PlayerRole::out;
}

bool GameApi::place(EntityId player, const SpawnPoint& at) {
  if (!p_.players.has(player) || !in_bounds(at.position_m)) return false;
  const std::size_t row = slot_of(player);
  const std::uint8_t noclip = p_.players.body[row].noclip;
  Body& body = p_.players.body[row];
  body = Body{};
  body.position_m = body.last_free_m = at.position_m;
  body.noclip = noclip;
  p_.players.yaw[row] = at.yaw;
  return true;
}

bool GameApi::push(EntityId player, DVec3 by_mps) {
  if (!alive(player) || !is_finite(by_mps)) return false;
  Body& body = p_.players.body[slot_of(player)];
  const DVec3 now = body.velocity_mps + by_mps;
  if (dot(now, now) > speed_mps_max * speed_mps_max) return false;
  body.velocity_mps = now;
  if (now.z > 0) body.grounded = 0;  // or its feet would keep it down
  return true;
}

bool GameApi::hurt(EntityId who, EntityId by, std::uint16_t points) {
  CombatTick tick{p_.space, p_.rules, p_.players, p_.monsters};
  if (!body_of(p_.rules, p_.players, p_.monsters, who)) return false;
  p_.combat.hurt(tick, who, {.by = by, .points = points, .how = HurtBy::game, .push = {}});
  return true;
}

bool GameApi::set_health(EntityId player, std::uint16_t points) {
  if (!alive(player) || points == 0 || points > health_most) return false;
  p_.players.health[slot_of(player)] = points;
  return true;
}

bool GameApi::give(EntityId player, std::uint16_t thing) {
  const std::uint8_t item = item_of_thing(thing);
  if (!alive(player) || item == item_none) return false;
  return give_item(p_.monsters.kind_set(), p_.rules, item, false, p_.players, slot_of(player));
}

bool GameApi::give_weapon(EntityId player, std::size_t weapon) {
  const KindSet& kinds = p_.monsters.kind_set();
  if (!alive(player) || weapon >= kinds.weapons.size()) return false;
  return ashlar::give_weapon(kinds, p_.rules, static_cast<std::uint8_t>(weapon), false,
                             p_.players.arsenal[slot_of(player)]);
}

EntityId GameApi::spawn_monster(MonsterKind kind, const SpawnPoint& at, bool asleep) {
  const auto& kinds = p_.monsters.kind_set().monsters;
  if (static_cast<std::size_t>(kind) >= kinds.size() || !in_bounds(at.position_m)) return EntityId{0};
  if (space_overlaps(p_.space, kinds[static_cast<std::size_t>(kind)].shape, at.position_m))
    return EntityId{0};
  const auto first_slot = static_cast<std::uint32_t>(p_.players.rows());
  const std::size_t row = enter_monster(p_.monsters, {kind, at, false, asleep}, p_.seed, first_slot);
  if (row == p_.monsters.rows()) return EntityId{0};
  ++p_.monster_count;
  p_.monsters.of_game[row] = 1;
  return p_.monsters.id[row];
}

std::optional<std::size_t> GameApi::monster_row(EntityId who) const {
  const std::size_t slot = slot_of(who), first = p_.players.rows();
  if (who == EntityId{0} || slot < first || slot - first >= p_.monsters.rows()) return std::nullopt;
  return p_.monsters.id[slot - first] == who ? std::optional(slot - first) : std::nullopt;
}

bool GameApi::remove_monster(EntityId monster) {
  const auto row = monster_row(monster);
  if (!row) return false;
  remove_monster_at(p_.monsters, *row);
  ASHLAR_ASSERT(p_.monster_count > 0);
  --p_.monster_count;
  return true;
}

bool GameApi::move_monster(EntityId monster, const SpawnPoint& to) {
  const auto row = monster_row(monster);
  if (!row || !in_bounds(to.position_m)) return false;
  if (space_overlaps(p_.space, p_.monsters.traits_at(*row).shape, to.position_m)) return false;
  put_monster(p_.monsters, *row, to);
  p_.mechanics->note_put(monster, to.position_m);
  return true;
}

const PickupTable& GameApi::pickups() const { return p_.pickups->table(); }

bool GameApi::take_pickup(std::size_t row, double seconds) {
  return p_.pickups->take(row, ticks_of(p_.rules, seconds));
}

bool GameApi::put_pickup(std::size_t row) { return p_.pickups->put_back(row); }

bool GameApi::launch(std::uint8_t projectile, DVec3 from, DVec3 direction, EntityId owner) {
  if (projectile >= p_.monsters.kind_set().projectiles.size() || !in_bounds(from) || !is_finite(direction))
    return false;
  // Of any length: neither its square nor what one is divided by it may be beyond what a number can be.
  const double most = std::max({std::fabs(direction.x), std::fabs(direction.y), std::fabs(direction.z)});
  if (!(most > 0)) return false;
  const DVec3 way{direction.x / most, direction.y / most, direction.z / most};
  return p_.combat.queue({owner, from, way * (1 / length(way)), 0, projectile});
}

std::optional<SpawnPoint> GameApi::free_start(bool deathmatch, std::uint32_t first) const {
  return p_.spawns.free_start(p_.space, p_.rules, p_.players, p_.monsters, deathmatch, first);
}

bool GameApi::add_score(EntityId player, std::int32_t points) {
  MatchPlayer* who = player_of(player);
  if (who == nullptr) return false;
  who->score = sum(who->score, points);
  return true;
}

bool GameApi::add_team_score(std::uint8_t team, std::int32_t points) {
  if (team < 1 || team > teams_max) return false;
  std::int32_t& score = p_.match.team_score[team - 1u];
  score = sum(score, points);
  return true;
}

bool GameApi::set_team(EntityId player, std::uint8_t team) {
  MatchPlayer* who = player_of(player);
  if (who == nullptr || team > teams_max) return false;
  who->team = team;
  return true;
}

bool GameApi::set_builder(EntityId player, std::uint32_t number) {
  MatchPlayer* who = player_of(player);
  if (who == nullptr) return false;
  who->builder = number;
  return true;
}

std::uint8_t GameApi::team(EntityId player) const {
  const MatchPlayer* who = player_of(player);
  return who == nullptr ? std::uint8_t{0} : who->team;
}

std::uint32_t GameApi::team_size(std::uint8_t team) const {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      p_.match.players, [&](const MatchPlayer& p) { return p.id != EntityId{0} && p.team == team; }));
}

bool GameApi::begin_phase(MatchPhase phase, double seconds) {
  if (static_cast<std::size_t>(phase) >= match_phase_count) return false;
  p_.match.phase = phase;
  p_.match.left_ticks = ticks_of(p_.rules, seconds);
  return true;
}

void GameApi::restart() {
  p_.restarts = true;
  p_.timers = {};
}

bool GameApi::start_timer(std::size_t number, double seconds) {
  if (number >= timers_max) return false;
  p_.timers[number] = std::max(1u, ticks_of(p_.rules, seconds));
  return true;
}

bool GameApi::stop_timer(std::size_t number) {
  if (number >= timers_max) return false;
  p_.timers[number] = 0;
  return true;
}

std::uint16_t Game::damage(GameApi& api, EntityId who, EntityId by, std::uint16_t points) {
  const bool friends = is_player(api, who) && is_player(api, by) && by != who;
  return friends && api.rules().friendly_fire == Switch::off ? std::uint16_t{0} : points;
}

void Game::died(GameApi& api, EntityId who, EntityId by) {
  if (by != who && !is_player(api, who)) api.add_score(by, 1);
}

}  // namespace ashlar
