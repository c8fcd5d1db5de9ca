#pragma once
#include <span>

#include "world/collide/space.h"
#include "world/sim/ground_edits.h"
#include "world/sim/rules.h"
#include "world/sim/tables.h"

namespace ashlar {

/// What blocks that change by themselves read and write in a tick: those that fall (loose_blocks.h) and those
/// whose timers run out (block_timers.h).
struct GroundTick {
  std::span<const MapInSpace> maps;
  VoxelVolume& volume;
  GroundEdits& edits;
  const Rules& rules;
  const PlayerTable& players;
  const MonsterTable& monsters;
};

}  // namespace ashlar
