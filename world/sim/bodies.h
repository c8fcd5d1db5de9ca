#pragma once
#include <optional>

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

/// Who has an id, alive; nullopt: nobody, dead, gone, or a player in no-clip.
inline std::optional<BodyView> body_of(const Rules& rules, const PlayerTable& players,
                                       const MonsterTable& monsters, EntityId id) {
  if (id == EntityId{0}) return std::nullopt;
  const std::size_t slot = slot_of(id);
  if (slot < players.rows()) {
    if (players.id[slot] != id || !players.alive(slot) || players.body[slot].noclip != 0) return std::nullopt;
    return BodyView{players.body[slot].position_m, rules.player, true, slot};
  }
  const std::size_t row = slot - players.rows();
  if (row >= monsters.rows() || monsters.id[row] != id) return std::nullopt;
  return BodyView{monsters.body[row].position_m, monsters.traits_at(row).shape, false, row};
}

}  // namespace ashlar
