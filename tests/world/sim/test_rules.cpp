#include "world/sim/rules.h"

#include <limits>
#include <string>
#include <type_traits>

#include "tests/catch.h"

using namespace ashlar;

TEST_CASE("rule sets with values that movement was not made for are refused, one value at a time",
          "[world][sim][rules]") {
  REQUIRE(rules_sane(Rules{}));
  constexpr double Rules::* reals[] = {
      &Rules::player_eye_m,          &Rules::step_height_m_max,     &Rules::gravity_mps2,
      &Rules::jump_speed_mps,        &Rules::walk_speed_mps_max,    &Rules::ground_acceleration_mps2,
      &Rules::air_acceleration_mps2, &Rules::ground_friction_per_s, &Rules::fall_speed_mps_max,
      &Rules::shot_interval_s,       &Rules::shot_range_m,          &Rules::respawn_s,
      &Rules::block_reach_m,         &Rules::block_interval_s};
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

TEST_CASE("every rule is in the one list, within its bounds and refused beside them", "[world][sim][rules]") {
  CHECK(rule_count() == 45);
  std::size_t number = 0;
  const Rules usual;
  visit_rules(usual, [&](const RuleInfo& info, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    CAPTURE(std::string(info.key));
    CHECK((static_cast<double>(value) >= info.low && static_cast<double>(value) <= info.high));
    for (const double bad : {info.low - 1, info.high + 1}) {
      if (!std::is_same_v<Value, double> && bad < 0) continue;
      Rules rules;
      std::size_t at = 0;
      visit_rules(rules, [&](const RuleInfo&, auto& field) {
        if (at++ == number) field = static_cast<std::remove_cvref_t<decltype(field)>>(bad);
      });
      CHECK_FALSE(rules_sane(rules));
    }
    ++number;
  });
}

TEST_CASE("seconds become whole ticks at every rate, and a jump's rise follows from its rules",
          "[world][sim][rules]") {
  Rules rules;
  CHECK(rules.ticks_within(1.0 / 6) == 10);
  CHECK(rules.ticks_within(8.0 / 60) == 8);
  CHECK(rules.ticks_within(0.5) == 30);
  CHECK(rules.ticks_within(1e9) == 65535);
  CHECK(rules.jump_rise_m() == Approx(1.225));
  rules.tick_rate_hz = 10;
  CHECK(rules.ticks_within(1.0 / 6, 1) == 1);
  CHECK(rules.ticks_within(0.01, 1) == 1);
  CHECK(rules.ticks_within(0.01) == 0);
  rules.tick_rate_hz = 128;
  CHECK(rules.ticks_within(0.5) == 64);
  rules.gravity_mps2 = 0;
  CHECK(rules.jump_rise_m() == std::numeric_limits<double>::infinity());
}
