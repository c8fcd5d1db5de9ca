// What cheating gains, as the table of docs/feel.md says: nothing.
#include "client_sim/simulation/cheats.h"

#include "tests/catch.h"

using namespace ashlar::simulation;

TEST_CASE("who cheats goes no farther and fires no more often", "[client_sim][feel][cheats]") {
  static const CheatTaken honest = play_cheat(Cheat::none, 2);
  REQUIRE(honest.way_m > 4);
  REQUIRE(honest.shots > 3);
  const Cheat cheat =
      GENERATE(Cheat::fast_clock, Cheat::doubled, Cheat::bursts, Cheat::stalls, Cheat::taps, Cheat::reach);
  const CheatTaken taken = play_cheat(cheat, 2);
  CAPTURE(static_cast<int>(cheat), honest.way_m, taken.way_m, honest.shots, taken.shots);
  CHECK(taken.way_m <= honest.way_m + 1e-6);
  CHECK(taken.step_m <= honest.step_m + 1e-6);
  CHECK(taken.shots <= honest.shots + 1);
  CHECK(taken.dug_far == 0);
  CHECK((taken.refused > 0) == (cheat == Cheat::reach));
}

TEST_CASE("no cheat of the table gains anything", "[client_sim][feel][cheats][.slow]") {
  const std::vector<CheatFigure> figures = cheat_figures(20);
  REQUIRE(figures.size() >= 13);
  for (const CheatFigure& figure : figures) {
    CAPTURE(figure.cheat, figure.measure, figure.honest, figure.cheating);
    CHECK(figure.gained() == 0);
  }
}
