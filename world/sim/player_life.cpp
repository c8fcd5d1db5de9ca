#include "world/sim/player_life.h"

#include <algorithm>

#include "world/math/assert.h"
#include "world/math/hash.h"
#include "world/sim/kinds.h"
#include "world/sim/match.h"
#include "world/sim/tables.h"

namespace ashlar {
namespace {

constexpr std::uint16_t points_max = 10'000;  // as GameApi::set_health() has it

/// Are all of its weapons of these kinds?
bool arsenal_fits(const KindSet& kinds, const Arsenal& a) {
  const auto known = static_cast<unsigned>(kinds.weapons.size());
  return a.held < known && a.has(a.held) && a.weapons >> known == 0 && a.backpack <= 1;
}

}  // namespace

std::uint64_t hash_of_kinds(const KindSet& kinds) {
  Hasher h;
  h.add(static_cast<std::uint64_t>(kinds.weapons.size()) << 32 | kinds.projectiles.size());
  h.add_bytes({reinterpret_cast<const std::uint8_t*>(kinds.source.data()), kinds.source.size()});
  return h.value();
}

PlayerLife keep_life(const PlayerTable& players, std::size_t row, std::uint64_t kinds_of) {
  ASHLAR_ASSERT(players.id[row] != EntityId{0});
  return {players.health[row], players.armour[row], players.armour_half[row], players.arsenal[row], kinds_of};
}

KeptScore keep_score(const Match& match, std::size_t row) {
  const bool watches = match.players[row].id == EntityId{0};
  return kept(watches ? match.aside[row] : match.players[row], match);
}

KeptScore kept(const MatchPlayer& player, const Match& match) {
  return {match.number, player.score, player.kills, player.deaths, player.team, player.builder};
}

void restore_life(const PlayerLife& kept, const KindSet& kinds, std::uint64_t kinds_of, PlayerTable& players,
                  std::size_t row) {
  if (kept.health == 0) return;
  players.health[row] = std::min(kept.health, points_max);
  players.armour[row] = std::min(kept.armour, points_max);
  players.armour_half[row] = kept.armour_half != 0 ? 1 : 0;
  if (kept.kinds_of != kinds_of || !arsenal_fits(kinds, kept.arsenal)) return;
  Arsenal& arsenal = players.arsenal[row] = kept.arsenal;
  // What the hands were at is over.
  arsenal.windup_ticks = arsenal.switch_ticks = arsenal.reload_ticks = arsenal.charge_ticks = 0;
  arsenal.wanted = arsenal.held;
  arsenal.firing = 0;
  for (std::size_t i = 0; i < ammo_kind_count; ++i)
    arsenal.ammo[i] = std::min(arsenal.ammo[i], ammo_room(kinds, arsenal, static_cast<AmmoKind>(i)));
}

void restore_score(const KeptScore& kept, const Match& match, MatchPlayer& player) {
  if (kept.match != match.number) return;
  player.score = kept.score;
  player.kills = kept.kills;
  player.deaths = kept.deaths;
  player.builder = kept.builder;
  if (player.team != 0 && kept.team != 0 && kept.team <= teams_max) player.team = kept.team;
}

}  // namespace ashlar
