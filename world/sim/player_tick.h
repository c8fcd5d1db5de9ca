#pragma once
#include <span>

#include "world/sim/block_acts.h"
#include "world/sim/crowd.h"
#include "world/sim/history.h"
#include "world/sim/mechanics.h"
#include "world/sim/player_motion.h"
#include "world/sim/player_move.h"
#include "world/sim/shooting.h"

namespace ashlar {

/// What a tick of those who play reads and writes.
struct PlayerTick {
  MechanicsTick& moving;  ///< who is not awake there neither digs, shoots nor walks
  BlockActsTick& acting;  ///< of the same space and tables
  std::span<const BlockAct> acts;
  const History& history;
  Mechanics& mechanics;
  BlockActs& block_acts;
  Shooting& shooting;
  Crowd& crowd;
  const PlayerMotion* motion = nullptr;  ///< the game's; null: there is none
  std::span<const ToldApart> told_apart = {};
};

/// The order in which one tick does what players do and what is done to them: the one place that says it, for
/// a world (World::step) and for a client's replica of it, so what one player foresees is what the server
/// does. What only a world has goes in between, by the hooks of `rest`:
///
///   acts_judged()        blocks are dug and placed
///   sectors_moved()      floors and ceilings have moved, with whom they carry
///   shots_fired()        lines were used and shots resolved; those in shooting.events()
///   player_moves(row)    of each row that is taken, before its move ...
///   player_moved(row)    ... and after it, of those alive
///   players_moved()      fills the crowd with all who may push each other
///   crowd_pushed()
///
/// Asleep (MechanicsTick::awake is false) only the first two are called. No allocation of its own.
template <typename Rest>
void step_players(const PlayerTick& t, Rest&& rest) {
  MechanicsTick& moving = t.moving;
  if (moving.awake)
    t.block_acts.judge(t.acting, t.acts);
  else
    t.block_acts.rest();
  rest.acts_judged();
  t.mechanics.move(moving);
  rest.sectors_moved();
  if (!moving.awake) return t.shooting.rest();
  t.mechanics.act(moving);
  t.shooting.shoot({moving.space, t.acting.volume, moving.rules, moving.players, moving.monsters, t.history,
                    moving.tick, t.told_apart});
  for (const ShotEvent& shot : t.shooting.events())
    if (!shot.goes_on) t.mechanics.shot(moving, shot);
  for (const LaunchEvent& launch : t.shooting.launches()) t.mechanics.launched(moving, launch);
  rest.shots_fired();
  PlayerTable& players = moving.players;
  for (std::size_t row = 0; row < players.rows(); ++row) {
    if (players.id[row] == EntityId{0}) continue;
    rest.player_moves(row);
    players.report[row] = MoveReport{};
    if (players.health[row] == 0) continue;
    const DVec2 floor_mps = t.mechanics.floor_velocity(moving.heights, players.body[row]);
    const PlayerCommand command = players.turned_command(row);
    apply_motion(t.motion, moving.space, moving.rules, command, players.body[row]);
    players.report[row] = player_move(moving.space, moving.rules, command, players.body[row], floor_mps);
    rest.player_moved(row);
  }
  t.crowd.clear();
  rest.players_moved();
  t.crowd.push_apart(moving.space, moving.rules);
  rest.crowd_pushed();
  t.mechanics.walk(moving);
}

}  // namespace ashlar
