#include "world/sim/tables.h"

#include "world/math/assert.h"

namespace ashlar {

void PlayerTable::resize(std::size_t rows) {
  ASHLAR_ASSERT(id.empty());
  id.resize(rows), generation.resize(rows), body.resize(rows);
  command.resize(rows), yaw.resize(rows), pitch.resize(rows), report.resize(rows);
  health.resize(rows), dead_ticks.resize(rows), digging.resize(rows);
  armour.resize(rows), armour_half.resize(rows), inventory.resize(rows), arsenal.resize(rows);
  role.resize(rows), role_ticks.resize(rows), light.resize(rows, 15);
}

void MonsterTable::resize(std::size_t rows) {
  ASHLAR_ASSERT(id.empty());
  id.resize(rows), generation.resize(rows), kind.resize(rows), body.resize(rows);
  yaw.resize(rows), mood.resize(rows), target.resize(rows), goal_m.resize(rows);
  turn_ticks.resize(rows), forget_ticks.resize(rows), rng.resize(rows);
  health.resize(rows), deaf.resize(rows);
  action.resize(rows), action_ticks.resize(rows), burst_left.resize(rows), ranged.resize(rows);
  check_ticks.resize(rows), grudge_ticks.resize(rows), sees.resize(rows), dozes.resize(rows);
  held_ticks.resize(rows), course_ticks.resize(rows);
  home_m.resize(rows), home_yaw.resize(rows), respawn_ticks.resize(rows);
}

}  // namespace ashlar
