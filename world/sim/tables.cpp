#include "world/sim/tables.h"

#include "world/math/assert.h"

namespace ashlar {
namespace {

/// Calls visit(array, field) for each field of a player. A field that only one of the two has, or that is
/// missing here, is none that compiles.
template <typename Table, typename Row, typename Visit>
void visit_fields(Table& table, Row& one, Visit&& visit) {
  auto& [id, generation, body, command, yaw, pitch, report, health, dead_ticks, digging, armour, armour_half,
         inventory, arsenal, role, role_ticks, light] = table;
  auto& [id1, generation1, body1, command1, yaw1, pitch1, report1, health1, dead_ticks1, digging1, armour1,
         armour_half1, inventory1, arsenal1, role1, role_ticks1, light1] = one;
  visit(id, id1), visit(generation, generation1), visit(body, body1), visit(command, command1);
  visit(yaw, yaw1), visit(pitch, pitch1), visit(report, report1);
  visit(health, health1), visit(dead_ticks, dead_ticks1), visit(digging, digging1);
  visit(armour, armour1), visit(armour_half, armour_half1);
  visit(inventory, inventory1), visit(arsenal, arsenal1);
  visit(role, role1), visit(role_ticks, role_ticks1), visit(light, light1);
}

}  // namespace

void PlayerTable::save(std::size_t row, PlayerRow& out) const {
  visit_fields(*this, out, [row](const auto& column, auto& field) { field = column[row]; });
}

void PlayerTable::restore(std::size_t row, const PlayerRow& from) {
  visit_fields(*this, from, [row](auto& column, const auto& field) { column[row] = field; });
}

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
  home_m.resize(rows), home_yaw.resize(rows), respawn_ticks.resize(rows), of_game.resize(rows);
}

}  // namespace ashlar
