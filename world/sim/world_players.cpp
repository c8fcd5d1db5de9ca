// Players come, live, die and go.
#include "world/sim/world_state.h"

#include <algorithm>

#include "world/math/assert.h"
#include "world/sim/block_touch.h"
#include "world/sim/health.h"

namespace ashlar {
namespace {

constexpr double back_on_use_s = 1;  // soonest that the use button brings a dead player back

}  // namespace

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

SpawnPoint World::Impl::spawn_of(EntityId player) {
  GameApi api = game_api();
  if (const auto at = game->spawn(api, player); at && in_bounds(at->position_m)) return *at;
  return spawns.player_spawn(space(), setup.rules, players, monsters, rng);
}

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

void World::Impl::tell_spawned(std::size_t row) {
  if (players.id[row] == EntityId{0} || !players.takes_part(row)) return;
  GameApi api = game_api();
  game->spawned(api, players.id[row]);
}

void World::Impl::add_players(const TickInput& input) {
  joined.clear();
  auto returning = input.returning.begin();
  auto watching = input.watchers.begin();
  auto named = input.names.begin();
  for (const std::uint32_t token : input.joins) {
    const bool returns = returning != input.returning.end() && returning->token == token;
    const bool watches = watching != input.watchers.end() && *watching == token;
    const bool has_name = named != input.names.end() && named->token == token;
    const PlayerName name = has_name ? named->name : PlayerName{};
    joined.push_back({token, add_player(returns ? &*returning : nullptr, watches, name)});
    if (returns) ++returning;
    if (watches) ++watching;
    if (has_name) ++named;
  }
}

EntityId World::Impl::add_player(const Returning* brings, bool watches, const PlayerName& name) {
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] != EntityId{0}) continue;
    players.generation[i] = next_generation(players.generation[i]);
    players.id[i] = make_entity_id(static_cast<std::uint32_t>(i), players.generation[i]);
    players.health[i] = 0;
    players.body[i] = Body{};
    presence[i] = {name, false};
    buttons_before[i] = 0;
    players.light[i] = block_light_max;
    if (!watches && place_free()) {
      begin_playing(i, brings);
    } else {
      players.body[i].position_m =
          spawns.player_spawn(space(), setup.rules, players, monsters, rng).position_m;
      players.yaw[i] = Turn16{0};
      players.dead_ticks[i] = 1;  // it has nothing yet that could lie there
      if (brings != nullptr && brings->score.match == match.number) {
        match.aside[i].id = players.id[i];
        restore_score(brings->score, match, match.aside[i]);
      }
      begin_watching(i, watches ? PlayerRole::watches : PlayerRole::waits);
      players.role_ticks[i] = 0xffff;  // nobody waits for what he had not begun
    }
    players.command[i] = PlayerCommand{};
    players.pitch[i] = Turn16{0};
    players.report[i] = MoveReport{};
    players.digging[i] = Digging{};
    players.inventory[i] = brings != nullptr ? brings->inventory : Inventory{};
    items.counters().brought += players.inventory[i].count();
    ASHLAR_ASSERT(players.has(players.id[i]));
    mechanics.player_joined(i);
    acts.player_joined(i);
    ++player_count;
    const EntityId id = players.id[i];
    tell_spawned(i);
    return id;
  }
  return EntityId{0};
}

void World::Impl::change_away(const AwayChange& change) {
  if (!players.has(change.player)) return;
  const std::size_t row = slot_of(change.player);
  Presence& p = presence[row];
  if (!change.away && !change.name.text().empty()) p.name = change.name;
  if (p.away == change.away) return;
  p.away = change.away;
  if (match.players[row].id != change.player) return;  // spectators are none of the game's
  GameApi api = game_api();
  change.away ? game->away(api, change.player) : game->back(api, change.player);
}

void World::Impl::leave(EntityId player) {
  if (!players.has(player)) return;
  const std::size_t row = slot_of(player);
  leave_match(row);
  match.aside[row] = {};
  items.counters().taken_away += players.inventory[row].count();
  departed.push_back({player, players.inventory[row]});
  players.inventory[row] = Inventory{};
  presence[row] = {};
  players.id[row] = EntityId{0};
  players.digging[row] = Digging{};
  ASHLAR_ASSERT(player_count > 0);
  --player_count;
}

void World::Impl::player_moved(std::size_t row) {
  Body& body = players.body[row];
  note(players.report[row], body);
  ASHLAR_ASSERT(in_bounds(body.position_m));  // false for NaN, too
  ASHLAR_ASSERT(body.grounded <= 1);
  if (players.report[row].lost)
    send_back(body, spawns.player_spawn(space(), setup.rules, players, monsters, rng).position_m);
}

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

void World::Impl::hurt_by_falls(CombatTick& fighting) {
  for (std::size_t i = 0; i < players.rows(); ++i) {
    const MoveReport& report = players.report[i];
    if (players.id[i] == EntityId{0} || !report.landed) continue;
    const std::uint16_t points = setup.rules.fall_points(report.land_speed_mps);
    // Whoever reaches the ground of a pool was held up by what is in it.
    if (points == 0 || touch_of(volume, setup.rules.player, players.body[i].position_m).immersed > 0)
      continue;
    combat.hurt(fighting, players.id[i], {.points = points, .how = HurtBy::fall});
  }
}

void World::Impl::take_commands(std::span<const PlayerInput> commands) {
  // Without a command a player stands still and looks where it looked.
  std::ranges::fill(players.command, PlayerCommand{});
  for (const PlayerInput& in : commands)
    if (players.has(in.player)) players.take(slot_of(in.player), in.command);
}

void World::Impl::bring_back() {
  const auto ticks_of = [&](double seconds) { return seconds * setup.rules.tick_rate_hz; };
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0}) continue;
    if (players.role[i] != PlayerRole::plays) let_wait(i);
    if (players.health[i] != 0) continue;
    if (players.dead_ticks[i] == 0 && setup.rules.keep_inventory == Switch::off) drop_inventory(i);
    if (players.dead_ticks[i] < 0xffff) ++players.dead_ticks[i];
    const bool asks = (players.command[i].buttons & button::use) != 0;
    const double wait_s = asks ? std::min(back_on_use_s, setup.rules.respawn_s) : setup.rules.respawn_s;
    if (players.dead_ticks[i] < ticks_of(wait_s)) continue;
    if (lives_over(i))
      begin_watching(i, PlayerRole::out);
    else
      begin_life(i), tell_spawned(i);
  }
}

}  // namespace ashlar
