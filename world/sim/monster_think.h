#pragma once
#include "world/collide/space.h"
#include "world/sim/player_grid.h"
#include "world/sim/tables.h"

namespace ashlar {

class Navigation;

/// What a monster wants this tick: a direction in the plane (unit or zero) and a climb in [-1, 1]: of flyers,
/// swimmers and who goes up ladders.
struct MonsterWish {
  DVec2 direction;
  double climb = 0;
  double speed_share = 1;  ///< of its kind's speed: wandering is slower than chasing
  bool fires = false;      ///< its attack is due: Combat::fight()
  bool alarms = false;     ///< it woke: its kin may hear (monsters_alarm)
};

/// So far from every player a monster stands where it is and only looks about.
inline constexpr double doze_m = 96;

/// Does it decide nothing but when its turn to look comes: asleep or far from every player, with nothing
/// under way? Cheap, for whoever goes through all rows: monster_think() of such a row changes nothing
/// between.
inline bool monster_idles(const MonsterTable& monsters, std::size_t row) {
  return (monsters.dozes[row] != 0 || monsters.mood[row] == MonsterMood::asleep) &&
         monsters.action[row] == MonsterAction::none;
}
/// Ticks from one look of a row to the next: it looks when they divide the sum of the tick and its number.
std::uint16_t monster_look_ticks(const Rules& rules);

/// Decides for one row: looks around six times a second (rows take turns), chases what it sees to where it
/// last saw it, comes to attacks, wanders otherwise, and turns when it is held up. Asleep or far from every
/// player it does nothing but look: a few ns a tick. No allocation. `tick` staggers the looking.
/// Touches its own row alone, so the order in which rows think does not matter.
/// Source: A_Look, A_Chase and their kin in the published Doom source, p_enemy.c.
/// With a way to the player it hunts it never forgets him, as Doom's.
/// @param near  filled with `players` where they are now
/// @param ways  to players, in maps; null: it walks straight at whom it hunts
MonsterWish monster_think(const Space& space, const Rules& rules, const PlayerTable& players,
                          const PlayerGrid& near, MonsterTable& monsters, std::size_t row, TickId tick,
                          const Navigation* ways = nullptr);

/// A noise that a player made reached this row: it goes where the noise came from, unless it is deaf or
/// chases somebody already.
void monster_hears(const Rules& rules, MonsterTable& monsters, std::size_t row, EntityId who, DVec3 from_m);

/// From now on it is after somebody who is there.
void monster_takes_up(const Rules& rules, MonsterTable& monsters, std::size_t row, EntityId who, DVec3 at_m);

/// A row that woke tells its own kind: those asleep or wandering in sight of it and within its kind's
/// alarm_m take up its target. Cost: a pass over all rows.
void monsters_alarm(const Space& space, const Rules& rules, MonsterTable& monsters, std::size_t row);

}  // namespace ashlar
