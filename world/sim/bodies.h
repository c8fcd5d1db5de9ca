#pragma once
#include <optional>

#include "world/math/assert.h"
#include "world/sim/rules.h"
#include "world/sim/tables.h"

namespace ashlar {

/// A player or monster who can be meant and hurt.
struct BodyView {
  DVec3 base;
  Cylinder shape;
  bool player = false;
  std::size_t row = 0;  ///< of its own table

  DVec3 middle() const { return base + DVec3{0, 0, shape.height_m / 2}; }
};

/// Whoever's the row of an id is, alive or not. The id is somebody's.
inline BodyView body_of_row(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters,
                            EntityId id) {
  const std::size_t slot = slot_of(id);
  if (slot < players.rows()) return {players.body[slot].position_m, rules.player, true, slot};
  const std::size_t row = slot - players.rows();
  ASHLAR_ASSERT(row < monsters.rows());
  return {monsters.body[row].position_m, monsters.traits_at(row).shape, false, row};
}

/// Who has an id, alive; nullopt: nobody, dead, gone, or a player in no-clip.
inline std::optional<BodyView> body_of(const Rules& rules, const PlayerTable& players,
                                       const MonsterTable& monsters, EntityId id) {
  if (id == EntityId{0}) return std::nullopt;
  const std::size_t slot = slot_of(id);
  if (slot < players.rows()) {
    if (players.id[slot] != id || !players.alive(slot) || players.body[slot].noclip != 0) return std::nullopt;
  } else {
    const std::size_t row = slot - players.rows();
    if (row >= monsters.rows() || monsters.id[row] != id) return std::nullopt;
  }
  return body_of_row(rules, players, monsters, id);
}

}  // namespace ashlar
