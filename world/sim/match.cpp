#include "world/sim/match.h"

namespace ashlar {

std::string_view name(MatchPhase phase) {
  constexpr std::array<std::string_view, match_phase_count> names{"open", "warmup", "playing",
                                                                  "intermission"};
  return names[static_cast<std::size_t>(phase)];
}

}  // namespace ashlar
