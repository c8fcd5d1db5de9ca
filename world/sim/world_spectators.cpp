// Who only watches: comes, goes, waits for a place.
#include "world/sim/world_state.h"

#include <algorithm>
#include <utility>

#include "world/math/assert.h"

namespace ashlar {

bool World::Impl::place_free() const {
  if (setup.rules.match_places == 0) return true;
  // The others are not of the match, and those who are out come back in the next one.
  const auto in_match =
      std::ranges::count_if(match.players, [](const MatchPlayer& p) { return p.id != EntityId{0}; });
  return in_match < setup.rules.match_places;
}

void World::Impl::begin_watching(std::size_t row, PlayerRole role) {
  ASHLAR_ASSERT(role != PlayerRole::plays);
  if (role != PlayerRole::out && match.players[row].id == players.id[row]) {
    match.aside[row] = match.players[row];
    leave_match(row);
  }
  const bool holds = !players.spectates(row) && (players.alive(row) || players.dead_ticks[row] == 0);
  if (holds && setup.rules.keep_inventory == Switch::off) drop_inventory(row);
  const DVec3 at = players.body[row].position_m;
  players.body[row] = Body{};
  players.body[row].position_m = players.body[row].last_free_m = at;
  players.body[row].noclip = noclip_spectates;
  players.role[row] = role;
  players.role_ticks[row] = 0;
  players.health[row] = setup.rules.player_health;
  players.dead_ticks[row] = 0;
  players.armour[row] = 0;
  players.armour_half[row] = 0;
  players.arsenal[row] = fresh_arsenal(monsters.kind_set());
  players.digging[row] = Digging{};
}

void World::Impl::leave_match(std::size_t row) {
  const EntityId id = players.id[row];
  if (match.players[row].id != id) return;
  GameApi api = game_api();
  game->left(api, id);
  match.players[row] = {};
}

void World::Impl::begin_playing(std::size_t row, const Returning* brings) {
  const MatchPlayer before = std::exchange(match.aside[row], {});
  players.role[row] = PlayerRole::plays;
  players.role_ticks[row] = 0;
  match.players[row] = {.id = players.id[row]};
  players.health[row] = 0;
  GameApi api = game_api();
  game->joined(api, players.id[row]);
  const bool watched = before.id == players.id[row];
  const bool returns = brings != nullptr && brings->score.match == match.number;
  if (watched || returns) {
    restore_score(watched ? kept(before, match) : brings->score, match, match.players[row]);
    game->returned(api, players.id[row]);
  }
  begin_life(row);
  if (returns) restore_life(brings->life, monsters.kind_set(), kinds_hash, players, row);
  if (lives_over(row)) begin_watching(row, PlayerRole::out);  // going and coming is no new life
  ASHLAR_ASSERT(players.health[row] > 0);
}

/// Watching is no escape: where deaths decide, who stops playing alive has died by himself, as in Quake III.
void World::Impl::die_of_watching(std::size_t row) {
  const bool decides = plays_against(setup.rules.mode) || setup.rules.lives > 0;
  if (!decides || match.phase != MatchPhase::playing || !players.alive(row)) return;
  ++match.players[row].deaths;
  GameApi api = game_api();
  game->died(api, players.id[row], EntityId{0});
}

std::string_view World::Impl::set_watching(std::size_t row, bool watches) {
  PlayerRole& role = players.role[row];
  if (watches) {
    if (role == PlayerRole::watches) return "you watch already: /play brings you back";
    const bool flies = players.spectates(row);
    if (!flies) die_of_watching(row);
    const std::uint16_t since = players.role_ticks[row];
    begin_watching(row, PlayerRole::watches);
    if (flies) players.role_ticks[row] = since;
    return "you watch from now on: /play brings you back";
  }
  switch (role) {
    case PlayerRole::plays: return "you play already: /spectate lets you watch";
    case PlayerRole::out: return "you are out of this match, and play again in the next";
    case PlayerRole::watches:
    case PlayerRole::waits: break;
  }
  role = PlayerRole::waits;
  return "you play as soon as there is a place";
}

void World::Impl::let_wait(std::size_t row) {
  std::uint16_t& since = players.role_ticks[row];
  if (since < 0xffff) ++since;
  // Watching for a moment brings nobody back sooner than dying does.
  const double wait_ticks = std::min(setup.rules.respawn_s * setup.rules.tick_rate_hz, 65535.0);
  if (players.role[row] == PlayerRole::waits && since >= wait_ticks && place_free())
    begin_playing(row, nullptr), tell_spawned(row);
}

bool World::Impl::lives_over(std::size_t row) const {
  return setup.rules.lives > 0 && match.phase == MatchPhase::playing &&
         match.players[row].deaths >= setup.rules.lives;
}

}  // namespace ashlar
