#include "server/store/stored_ticks.h"

#include "tests/catch.h"
#include "world/sim/arsenal.h"
#include "world/sim/day.h"

namespace ashlar::server {

TEST_CASE("at another tick rate the clock, fuses, items and the match have as many seconds as before",
          "[server][stored_ticks]") {
  const std::uint16_t from = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{128});
  const std::uint16_t to = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{125});
  CAPTURE(from, to);
  KeptState state;
  state.monsters = {{.row = 1, .respawn_ticks = 30u * from}, {.row = 2, .respawn_ticks = 0}};
  state.projectiles = {{.life_ticks = static_cast<std::uint16_t>(2 * from)}, {.life_ticks = 1}};
  state.match.left_ticks = 90u * from;
  PlacedData fuse{{1, 2, 3}, {}}, late{{1, 2, 4}, {}}, chest{{1, 2, 5}, {}};
  fuse.data.due = 1000u * from + 10u * from;
  late.data.due = 500u * from;
  StoredTicks ticks{.tick = 1000u * from,
                    .contents = {fuse, late, chest},
                    .items = {{{BlockId::stone, 1}, {}, 7u * from}},
                    .state = std::make_shared<const KeptState>(state)};
  convert_ticks(ticks, from, to);
  CHECK(ticks.tick == 1000u * to);
  CHECK(ticks.contents[0].data.due == 1010u * to);
  CHECK(ticks.contents[1].data.due == 500u * to);
  CHECK(ticks.contents[2].data.due == 0);
  CHECK(ticks.items[0].age_ticks == 7u * to);
  CHECK(ticks.state->monsters[0].respawn_ticks == 30u * to);
  CHECK(ticks.state->monsters[1].respawn_ticks == 0);
  CHECK(ticks.state->projectiles[0].life_ticks == 2 * to);
  CHECK(ticks.state->projectiles[1].life_ticks >= 1);
  CHECK(ticks.state->match.left_ticks == 90u * to);
  Rules before, after;
  before.tick_rate_hz = from, after.tick_rate_hz = to;
  before.day_s = after.day_s = 600;
  CHECK(sky_light(before, 1000u * from) == sky_light(after, ticks.tick));
}

TEST_CASE("at another tick rate powers of players who are away have as many seconds left",
          "[server][stored_ticks]") {
  StoredTicks ticks{.tick = 1000};
  Arsenal& arsenal = ticks.players.emplace_back().life.arsenal;
  arsenal.power_ticks = {30 * 20, 0, 65'535};
  arsenal.wait_ticks = 1;
  convert_ticks(ticks, 20, 60);
  CHECK(arsenal.power_ticks[0] == 30 * 60);
  CHECK(arsenal.power_ticks[1] == 0);
  CHECK(arsenal.power_ticks[2] == 65'535);
  CHECK(arsenal.wait_ticks == 3);
  convert_ticks(ticks, 60, 10);
  CHECK(arsenal.power_ticks[0] == 30 * 10);
  CHECK(arsenal.wait_ticks == 1);
}

TEST_CASE("at another tick rate powers without an end have none, and others keep theirs",
          "[server][stored_ticks]") {
  StoredTicks ticks{.tick = 1000};
  Arsenal& arsenal = ticks.players.emplace_back().life.arsenal;
  arsenal.power_ticks = {power_endless, power_endless - 1, 60};
  SECTION("a lower one") {
    convert_ticks(ticks, 60, 30);
    CHECK(arsenal.power_ticks[1] == power_endless / 2);
    CHECK(arsenal.power_ticks[2] == 30);
  }
  SECTION("a higher one") {
    convert_ticks(ticks, 60, 120);
    CHECK(arsenal.power_ticks[1] == power_endless - 1);
    CHECK(arsenal.power_ticks[2] == 120);
  }
  CHECK(arsenal.power_ticks[0] == power_endless);
}

TEST_CASE("the longest clock is converted without overflow", "[server][stored_ticks]") {
  StoredTicks ticks{.tick = life_ticks_max};
  convert_ticks(ticks, 10, 128);
  CHECK(ticks.tick == life_ticks_max);
  convert_ticks(ticks, 128, 10);
  CHECK(ticks.tick < life_ticks_max);
}

}  // namespace ashlar::server
