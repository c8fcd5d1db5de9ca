#pragma once
#include <cstddef>

#include "world/sim/monster_think.h"

namespace ashlar {

class Navigation;

/// What a monster wants to do that hunts or flees and has nothing else to do: along a way to the player,
/// where there is one, else straight to where it last saw its target, or away from there.
/// @param slow  it is held up, or has not got going yet
/// @param ways  null: there are none
MonsterWish monster_hunts(const Space& space, const Rules& rules, const PlayerTable& players,
                          MonsterTable& monsters, std::size_t row, bool slow, const Navigation* ways,
                          TickId tick);

}  // namespace ashlar
