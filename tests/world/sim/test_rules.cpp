#include "world/sim/rules.h"

#include <limits>

#include "tests/catch.h"

using namespace ashlar;

TEST_CASE("rule sets with values that movement was not made for are refused, one value at a time",
          "[world][sim][rules]") {
  REQUIRE(rules_sane(Rules{}));
  constexpr double Rules::* reals[] = {
      &Rules::player_eye_m,          &Rules::step_height_m_max,     &Rules::gravity_mps2,
      &Rules::jump_speed_mps,        &Rules::walk_speed_mps_max,    &Rules::ground_acceleration_mps2,
      &Rules::air_acceleration_mps2, &Rules::ground_friction_per_s, &Rules::fall_speed_mps_max,
      &Rules::shot_interval_s,       &Rules::shot_range_m,          &Rules::respawn_s};
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  constexpr double endless = std::numeric_limits<double>::infinity();
  for (const double bad : {none, endless, -endless, -1.0, 1e9}) {
    CAPTURE(bad);
    for (const auto field : reals) {
      Rules rules;
      rules.*field = bad;
      CHECK_FALSE(rules_sane(rules));
    }
  }
  for (const double bad : {none, endless, 0.0, -0.3, 1e9}) {
    CAPTURE(bad);
    Rules wide, tall;
    wide.player.radius_m = bad, tall.player.height_m = bad;
    CHECK_FALSE(rules_sane(wide));
    CHECK_FALSE(rules_sane(tall));
  }
  for (const int rate : {0, 9, 129, 65535}) {
    Rules rules;
    rules.tick_rate_hz = static_cast<std::uint16_t>(rate);
    CHECK_FALSE(rules_sane(rules));
  }
  Rules dead;
  dead.player_health = 0;
  CHECK_FALSE(rules_sane(dead));
}
