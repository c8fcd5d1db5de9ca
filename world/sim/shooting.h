#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "world/math/hash.h"
#include "world/sim/history.h"
#include "world/sim/rules.h"
#include "world/sim/shot.h"
#include "world/sim/tables.h"

namespace ashlar {

/// A shot of the last tick and what it ended at: for effects, for damage, for lines that are shot at.
struct ShotEvent {
  EntityId shooter{};
  DVec3 origin;     ///< the shooter's eye
  DVec3 direction;  ///< unit
  double range_m = 0;
  TickId seen{
      0};  ///< the tick at whose end bodies and sectors were taken to be; the newest where it saw that
  ShotHit hit;

  /// How far the shot went: to what it hit, else its whole range.
  double reach_m() const { return hit.hit() ? hit.t_m : range_m; }
  DVec3 end() const { return origin + direction * reach_m(); }
};

/// Players shoot: button::attack, held down, fires at the rule set's rate; the first press fires at once.
/// Each shot goes straight from the eye and is resolved against voxel, map, prop and mover alike: bodies,
/// sectors and blocks as they were at the tick that the command says its player saw (PlayerCommand::seen), at
/// most rewind_s_max ago, but for the blocks that the player changed since, which it foresaw. Those in
/// no-clip shoot and are not hit, the dead do neither. Nothing allocates after construction. Part of the
/// world's state and hash.
class Shooting {
 public:
  Shooting() = default;
  Shooting(std::size_t players_max, std::size_t monsters_max, std::size_t maps = 0);

  /// A player's row has a new owner: it may shoot at once.
  void player_joined(std::size_t row) { wait_ticks_[row] = 0; }

  /// A tick without shots: the last one's events are over.
  void rest() { events_.clear(); }

  /// Resolves the tick's shots, in the order of rows. Cost: a ray and 5
  /// ns a mover for each shot, and 5 ns a mover more for each other tick that shooters saw.
  /// @param now  the tick that the present state is the end of
  /// @param blocks  those of `space`: other ones while a shot is judged, the same ones afterwards
  void shoot(const Space& space, VoxelVolume& blocks, const Rules& rules, const PlayerTable& players,
             const MonsterTable& monsters, const History& history, TickId now);

  std::span<const ShotEvent> events() const { return events_; }  ///< of the last shoot()
  std::uint64_t shots() const { return shots_; }                 ///< since the start
  void add_to_hash(StripeHasher& hash) const;

 private:
  void list_targets(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters,
                    const History::Frame* then);
  Space space_then(const Space& space, const History::Frame* then);

  std::vector<std::uint16_t> wait_ticks_;  // by player row, until the next shot may be fired
  std::vector<ShotTarget> targets_;        // scratch: as of one tick
  std::vector<MapInSpace> maps_;           // scratch: likewise
  std::vector<ShotEvent> events_;
  std::uint64_t shots_ = 0;
};

}  // namespace ashlar
