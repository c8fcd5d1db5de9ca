#pragma once
#include <cstdint>

#include "world/sim/block_contents.h"

namespace ashlar {

/// What the treasure at a place holds that nobody opened yet: items of the kinds that every world has, and
/// some charges where the world knows those; the deeper, the rarer. A function of the secret seed and the
/// place, so that who has no secret seed cannot tell a rich one from a poor one. Never empty; it fits into a
/// chest.
BlockData loot_of(const BlockRegistry& kinds, std::uint64_t secret, IVec3 block);

}  // namespace ashlar
