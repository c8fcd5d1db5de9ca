// What a World asks of its game and tells it.
#include "world/sim/world_state.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"
#include "world/sim/thing_table.h"

namespace ashlar {

std::uint16_t World::Impl::points(EntityId who, EntityId by, std::uint16_t asked) {
  GameApi api = game_api();
  return game->damage(api, who, by, asked);
}

std::uint16_t World::Impl::crushes(EntityId who) {
  CombatTick fighting = combat_tick();
  if (player_count == 0) fighting.rule = nullptr;  // its game waits
  return combat.crush(fighting, who);
}

void World::Impl::crushed(EntityId who) {
  CombatTick fighting = combat_tick();
  combat.note_crushed(fighting, who);
}

bool World::Impl::allows(EntityId player, IVec3 block, BlockId to) {
  GameApi api = game_api();
  return game->may_edit(api, player, block, to);
}

void World::Impl::tell_touches(GameApi& api) {
  constexpr double skin_m = 0.05;  // the crowd has just pushed them apart
  const double reach_m = 2 * setup.rules.player.radius_m + skin_m;
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (!players.takes_part(i)) continue;
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
    // The hook may take it away or put it elsewhere.
    const DVec3 at = monsters.body[i].position_m;
    each(monsters.traits_at(i).shape, at, [&](EntityId who) {
      if (monsters.id[i] == monster && monsters.body[i].position_m == at)
        game->touched_monster(api, who, monster);
    });
  }
}

void World::Impl::hear_calls(GameApi& api) {
  const auto known = replication.registry()->client_messages();
  for (const GameCall& call : calls) {
    if (!players.has(call.player)) continue;
    if (call.message == GameCall::chat_command) {
      if (game->chat_command(api, call.player, call.text())) continue;
      const bool watches = call.text() == "spectate";
      if (watches || call.text() == "play")
        api.tell(call.player, set_watching(slot_of(call.player), watches));
      else
        api.tell(call.player, "this game has no such command");
    } else if (call.message < known.size() && call.size <= known[call.message].bytes_max) {
      game->message(api, call.player, call.message, call.bytes());
    }
  }
}

void World::Impl::run_game() {
  GameApi api = game_api();
  hear_calls(api);
  const auto runs_out = [](std::uint32_t& left) {
    if (left == 0) return false;
    --left;
    return left == 0;
  };
  if (runs_out(match.left_ticks)) game->phase_over(api);
  for (std::size_t i = 0; i < timers.size(); ++i)
    if (runs_out(timers[i])) game->timer(api, i);
  game->tick(api);
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0}) continue;
    const std::uint16_t now = players.command[i].buttons;
    const auto pressed = static_cast<std::uint16_t>(now & ~buttons_before[i]);
    buttons_before[i] = now;
    if ((pressed & button::use) != 0 && players.alive(i)) game->used(api, players.id[i]);
  }
}

void World::Impl::tell_edits(GameApi& api, Told& told) {
  // By number, and only those before this: what the hook changes itself comes behind them, and is not told.
  const std::size_t changed = edits.applied().size();
  for (std::size_t i = told.edits; i < changed; ++i) {
    const AppliedEdit edit = edits.applied()[i];
    game->edited(api, players.has(edit.who) ? edit.who : EntityId{0}, edit.block);
  }
  told.edits = edits.applied().size();
}

/// By number, as what a hook does may kill in turn.
void World::Impl::tell_deaths(GameApi& api, Told& told) {
  const bool counts = match.phase == MatchPhase::open || match.phase == MatchPhase::playing;
  for (; told.events < combat.events().size(); ++told.events) {
    const CombatEvent e = combat.events()[told.events];
    if (e.kind != CombatEventKind::died) continue;
    if (counts && players.has(e.who)) ++match.players[slot_of(e.who)].deaths;
    if (counts && players.has(e.by) && e.by != e.who) ++match.players[slot_of(e.by)].kills;
    game->died(api, e.who, e.by);
  }
}

void World::Impl::tell_rest(GameApi& api, Told& told) {
  // It ends: each turn but the first has died() change blocks, of which a tick has so many.
  while (told.events < combat.events().size() || told.edits < edits.applied().size()) {
    tell_deaths(api, told);
    tell_edits(api, told);
  }
}

void World::Impl::tell_game(bool awake) {
  GameApi api = game_api();
  Told told;
  tell_deaths(api, told);
  tell_edits(api, told);
  if (awake) tell_play(api);
  tell_rest(api, told);  // of what these hooks did
  if (awake) {
    PickupsTick taking{space(), setup.rules, monsters.kind_set(), players, tick};
    drop_fallen(taking);
  }
  if (awake && restarts) {
    restart_match();
    tell_rest(api, told);
  }
  count_deaths();
}

void World::Impl::tell_play(GameApi& api) {
  near.fill(players);
  if (game->touches_players()) tell_touches(api);
  tell_other_touches(api);
  for (const PickupEvent& e : pickups.events()) game->picked_up(api, e.player, item_type(e.item).number);
  for (const MoverEvent& e : mechanics.events())
    if (e.kind == MoverEventKind::exited && players.has(e.entity)) game->exited(api, e.entity);
}

void World::Impl::restart_match() {
  restarts = false;
  ++match.number;
  match.team_score = {};
  mechanics.restart(heights);
  pickups.reset(space());
  combat.forget_flying();
  for (std::size_t i = 0; i < monsters.rows(); ++i)
    monsters.id[i] = EntityId{0}, monsters.respawn_ticks[i] = 0;
  for (std::size_t i = 0; i < first_monsters.size(); ++i)
    enter_monster_at(monsters, i, first_monsters[i], setup.seed, setup.players_max);
  monster_count = static_cast<std::uint32_t>(first_monsters.size());
  deaths_counted = combat.counters().monster_deaths;  // who died in this tick was of those before
  for (std::size_t i = 0; i < players.rows(); ++i) players.health[i] = 0;  // nobody is in another's way
  for (std::size_t i = 0; i < players.rows(); ++i) {
    match.aside[i] = {};
    if (players.id[i] == EntityId{0}) continue;
    if (players.role[i] == PlayerRole::out) players.role[i] = PlayerRole::plays, players.role_ticks[i] = 0;
    if (players.role[i] != PlayerRole::plays) {
      players.health[i] = setup.rules.player_health;
      continue;
    }
    match.players[i] = {.id = players.id[i], .team = match.players[i].team};
    begin_life(i);
    tell_spawned(i);
  }
}

}  // namespace ashlar
