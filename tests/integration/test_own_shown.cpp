// The own player as a picture shows it, frame by frame.

#include <algorithm>
#include <cmath>

#include "tests/integration/rooms.h"
#include "tests/world/sim/moving_rooms.h"

using namespace ashlar;
using namespace ashlar::testing;
using client_sim::Micros;

namespace {

/// A client alone in a row of rooms, at the west end, behind a line of 40 ms there and back.
struct ShownRun {
  ShownRun(int tick_rate_hz, std::vector<Room> rooms)
      : map(placed_rooms(row_of_rooms(rooms, std::vector<Divider>(rooms.size() - 1), {thing_at(40, 128, 1)}))),
        player(setup_at(map, tick_rate_hz)) {
    player.play.conditions({.latency = Micros{20'000}});
    player.enter();
    const DVec2 at = map->to_world({40, 128});
    player.put({at.x, at.y, map->z_to_world(rooms.front().floor)});
  }
  static WorldSetup setup_at(const std::shared_ptr<const PlacedMap>& map, int tick_rate_hz) {
    WorldSetup setup = setup_of_rooms(map);
    setup.rules.tick_rate_hz = static_cast<std::uint16_t>(tick_rate_hz);
    return setup;
  }

  std::shared_ptr<const PlacedMap> map;
  PredictedClient player;
};

}  // namespace

TEST_CASE("the eye rises over a stair and sinks down one evenly, whatever the tick rate",
          "[integration][predictor]") {
  const int tick_rate_hz = GENERATE(60, 20, 10);
  const int fps = GENERATE(60, 144);
  const bool up = GENERATE(true, false);
  CAPTURE(tick_rate_hz, fps, up);
  ShownRun run(tick_rate_hz, up ? std::vector<Room>{{0, 256}, {24, 256}, {48, 256}}
                                : std::vector<Room>{{48, 256}, {24, 256}, {0, 256}});
  PredictedClient& player = run.player;
  double last_m = 0, back_m = 0;
  bool any = false;
  Micros next{0};
  player.run(2, [&] {
    PlayerCommand forward;
    forward.forward = 1;
    if (player.play.now < next) return forward;
    next = player.play.now + Micros{1'000'000 / fps};
    const client_sim::ShownPlayer shown = player.predictor.shown(player.play.now);
    const double eye_m = shown.position_m.z + shown.eye_offset_m;
    if (any) back_m = std::max(back_m, up ? last_m - eye_m : eye_m - last_m);
    last_m = eye_m, any = true;
    return forward;
  });
  CHECK(std::abs(player.predictor.body().position_m.z - run.map->z_to_world(up ? 48 : 0)) < 1e-6);
  CHECK(back_m < 0.001);
}
