#pragma once
#include <cstdint>

#include "world/sim/kinds.h"

namespace ashlar {

/// Somebody whom a shooter's picture showed between other states than its command says, as its player is told
/// of him more seldom than of the rest.
struct ToldApart {
  EntityId shooter{};
  EntityId target{};
  std::uint8_t told_before = 0;  ///< of the command's `seen`, with the next one: PlayerCommand
  std::int8_t told_after = 0;
  friend bool operator==(const ToldApart&, const ToldApart&) = default;
};

}  // namespace ashlar
