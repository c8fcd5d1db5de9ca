#include "world/sim/block_act.h"

#include <array>

namespace ashlar {

std::string_view name(ActVerdict verdict) {
  constexpr std::array<std::string_view, act_verdict_count> names{
      "done",         "progress",         "stopped",
      "looked_away",  "out_of_reach",     "no_sight",
      "cooling_down", "protected_ground", "body_in_the_way",
      "not_loaded",   "out_of_bounds",    "nothing_there",
      "occupied",     "unknown_block",    "not_diggable",
      "no_support",   "no_blocks",        "dead",
      "stale_number", "not_saved",        "not_open",
      "holds_none",   "no_room",          "protected_zone"};
  static_assert(static_cast<std::size_t>(ActVerdict::protected_zone) + 1 == names.size());
  const auto number = static_cast<std::size_t>(verdict);
  return number < names.size() ? names[number] : "unknown";
}

}  // namespace ashlar
