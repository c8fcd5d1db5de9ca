#pragma once
#include "world/collide/space.h"
#include "world/sim/player_grid.h"
#include "world/sim/tables.h"

namespace ashlar {

/// What a monster wants this tick: a direction in the plane (unit or zero) and, for flyers, a climb in [-1,
/// 1].
struct MonsterWish {
  DVec2 direction;
  double climb = 0;
  double speed_share = 1;  ///< of its kind's speed: wandering is slower than chasing
};

/// Decides for one row: looks around six times a second (rows take turns), chases what it sees to where it
/// last saw it, wanders otherwise, and turns when it is held up. No allocation. `tick` staggers the looking.
/// Touches its own row alone, so the order in which rows think does not matter.
/// @param near  filled with `players` where they are now
MonsterWish monster_think(const Space& space, const Rules& rules, const PlayerTable& players,
                          const PlayerGrid& near, MonsterTable& monsters, std::size_t row, TickId tick);

/// A noise that a player made reached this row: it goes where the noise came from, unless it is deaf or
/// chases somebody already.
void monster_hears(const Rules& rules, MonsterTable& monsters, std::size_t row, EntityId who, DVec3 from_m);

}  // namespace ashlar
