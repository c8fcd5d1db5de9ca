#pragma once
#include <cstdint>
#include <vector>

#include "server/host/session_table.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Who fought lately, and the bodies of those who left so soon after a fight: they stay in the world for a
/// while, can be hit, and hold their places. The Host's thread. No allocation after the constructor.
class LingeringBodies {
 public:
  /// @param players_max   slots of the world
  /// @param sessions_max  of the Host: no more bodies stay
  /// @param ticks         how long a fight is remembered, and how long a body stays; 0: none does
  LingeringBodies(std::uint32_t players_max, std::uint32_t sessions_max, std::uint32_t ticks);

  /// After a step, of those who play: who hit somebody, was hit or lost health. The dead have left their
  /// fight.
  void note_fights(const World& world, const SessionTable& sessions);
  /// Within the time of a fight, and alive when it was last seen.
  bool fought_lately(const World& world, EntityId player) const;
  /// The body of a player who leaves stays from now on. Precondition: it fought_lately().
  /// @param identity  whose it is
  /// @return false: as many stay as may, and this one goes
  [[nodiscard]] bool stay(const World& world, EntityId player, const Identity& identity);
  /// Takes out whose time is over, who died or is gone, and appends them to `leaves`, for the tick to come.
  void let_go(const World& world, std::vector<EntityId>& leaves);

  /// That player is back: its body is no longer one of these. O(bodies). @return nobody: none of it stays
  EntityId take(const World& world, const Identity& identity);

  /// How many bodies stay.
  std::uint32_t count() const { return static_cast<std::uint32_t>(bodies_.size()); }

 private:
  struct Body {
    EntityId player{};
    Identity identity{};
    std::uint32_t until_tick = 0;
  };
  struct Fighter {
    EntityId player{};
    std::uint32_t fought_tick = 0;  // 0: never
    std::uint16_t health = 0;
  };
  void note(EntityId player, std::uint32_t tick);

  std::vector<Body> bodies_;
  std::vector<Fighter> fighters_;  // by slot
  std::uint32_t sessions_max_, ticks_;
};

}  // namespace ashlar::server
