#include "world/sim/rules.h"

namespace ashlar {

bool rules_sane(const Rules& rules) {
  bool sane = true;
  visit_rules(rules, [&sane](const RuleInfo& info, const auto& value) {
    const auto v = static_cast<double>(value);
    sane = sane && v >= info.low && v <= info.high;  // false for NaN
  });
  return sane && rules.player_eye_m <= rules.player.height_m;
}

}  // namespace ashlar
