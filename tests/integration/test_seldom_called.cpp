// A client of a game that calls it but a few times a second.

#include <cstdint>
#include <vector>

#include "client_sim/client/others.h"
#include "tests/integration/rooms.h"
#include "tests/world/sim/moving_rooms.h"

using namespace ashlar;
using namespace ashlar::testing;
using client_sim::Micros;

TEST_CASE("who is called a few times a second runs at his speed, as foreseen", "[integration][client]") {
  const int tick_rate_hz = GENERATE(60, 20);
  const int call_ms = GENERATE(100, 130, 200, 500);
  CAPTURE(tick_rate_hz, call_ms);
  const auto map = placed_rooms(
      row_of_rooms(std::vector<Room>(10, Room{0, 256}), std::vector<Divider>(9), {thing_at(40, 128, 1)}));
  WorldSetup setup = setup_of_rooms(map);
  setup.rules.tick_rate_hz = static_cast<std::uint16_t>(tick_rate_hz);
  PredictedClient player(setup);
  client_sim::Others others;
  player.foresees(&others);
  player.play.conditions({.latency = Micros{20'000}});
  player.enter();
  const DVec2 at = map->to_world({40, 128});
  player.put({at.x, at.y, map->z_to_world(0)});
  player.play.call_every = Micros{1000 * call_ms};
  player.run(6);

  PlayerCommand forward;
  forward.forward = 1;
  player.play.client.set_command(forward);
  player.run(2);
  const client_sim::PredictorStats before = player.predictor.stats();
  const double from_m = player.server_body().position_m.x;
  player.run(3);
  const client_sim::PredictorStats& after = player.predictor.stats();
  const double tick_m = setup.rules.walk_speed_mps_max * setup.rules.tick_s();
  CHECK(player.server_body().position_m.x - from_m >= 3 * setup.rules.walk_speed_mps_max - 1.01 * tick_m);
  CHECK(after.confirmed - before.confirmed >= static_cast<std::uint64_t>(3000 / call_ms) - 1);
  CHECK(after.mispredicted_sum() == before.mispredicted_sum());
  CHECK(after.late == before.late);
  // A snapshot waits for a call, and commands for as long.
  CHECK(others.lag_ticks() * setup.rules.tick_s() <= 0.3 + 2e-3 * call_ms);
}
