#include "world/sim/player_grid.h"

#include <algorithm>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

/// Players here and there, many of them where the grid's cells begin and where the plane is rolled up.
PlayerTable some_players(Rng& rng, std::size_t rows) {
  PlayerTable players;
  players.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    if (rng.below(8) == 0) continue;
    players.id[i] = make_entity_id(static_cast<std::uint32_t>(i), 1);
    players.health[i] = rng.below(8) == 0 ? std::uint16_t{0} : std::uint16_t{100};
    players.body[i].noclip = rng.below(8) == 0 ? 1 : 0;
    const double spread_m = rng.below(2) == 0 ? 300 : 100'000;
    double x = rng.between(-spread_m, spread_m);
    double y = rng.between(-spread_m, spread_m);
    if (rng.below(3) == 0) x = static_cast<double>(static_cast<int>(x / 64)) * 64;
    if (rng.below(3) == 0) y = static_cast<double>(static_cast<int>(y / 2048)) * 2048;
    players.body[i].position_m = {x, y, 0};
  }
  return players;
}

}  // namespace

TEST_CASE("the grid of players finds everybody within reach once, and none who is not to be seen",
          "[world][sim][player_grid]") {
  Rng rng{31};
  for (int round = 0; round < 40; ++round) {
    const std::size_t rows = 1 + rng.below(200);
    const PlayerTable players = some_players(rng, rows);
    PlayerGrid grid(rows);
    grid.fill(players);
    const auto visible = [&](std::size_t row) { return players.alive(row) && players.body[row].noclip == 0; };
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows; ++i) count += visible(i) ? 1 : 0;
    CHECK(grid.empty() == (count == 0));
    for (int look = 0; look < 50; ++look) {
      DVec2 centre = xy(players.body[rng.below(static_cast<std::uint32_t>(rows))].position_m);
      if (rng.below(2) == 0) centre.x += rng.between(-200, 200);
      const double radius_m = rng.below(4) == 0 ? 0 : rng.between(0, rng.below(2) == 0 ? 100 : 5000);
      CAPTURE(round, centre.x, centre.y, radius_m);
      std::vector<std::uint32_t> met;
      grid.visit_near(centre, radius_m, [&](std::uint32_t row, DVec3 position_m) {
        REQUIRE(row < rows);
        REQUIRE(visible(row));
        REQUIRE(position_m == players.body[row].position_m);
        met.push_back(row);
      });
      std::ranges::sort(met);
      REQUIRE(std::ranges::adjacent_find(met) == met.end());
      for (std::uint32_t i = 0; i < rows; ++i) {
        if (!visible(i) || length(xy(players.body[i].position_m) - centre) > radius_m) continue;
        REQUIRE(std::ranges::binary_search(met, i));
      }
    }
  }
}

TEST_CASE("a grid that is filled again holds who is there now", "[world][sim][player_grid]") {
  PlayerTable players;
  players.resize(2);
  PlayerGrid grid(2);
  const auto met_at = [&grid](DVec2 centre) {
    int count = 0;
    grid.visit_near(centre, 1,
                    [&](std::uint32_t, DVec3 at) { count += length(xy(at) - centre) <= 1 ? 1 : 0; });
    return count;
  };
  players.id[1] = make_entity_id(1, 1);
  players.health[1] = 100;
  players.body[1].position_m = {10, 10, 0};
  grid.fill(players);
  CHECK(met_at({10, 10}) == 1);
  players.body[1].position_m = {-500, 70, 0};
  grid.fill(players);
  CHECK(met_at({10, 10}) == 0);
  CHECK(met_at({-500, 70}) == 1);
  players.id[1] = EntityId{0};
  grid.fill(players);
  CHECK(grid.empty());
  CHECK(met_at({-500, 70}) == 0);
}
