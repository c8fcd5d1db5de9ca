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
  ShownRun(int tick_rate_hz, const std::vector<Room>& rooms)
      : ShownRun(tick_rate_hz, rooms, std::vector<Divider>(rooms.size() - 1)) {}
  ShownRun(int tick_rate_hz, const std::vector<Room>& rooms, const std::vector<Divider>& dividers)
      : map(placed_rooms(row_of_rooms(rooms, dividers, {thing_at(40, 128, 1)}))),
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

TEST_CASE("who runs straight on is shown to go as far as his speed asks for in each frame",
          "[integration][predictor]") {
  struct Case {
    int tick_rate_hz, fps;
  };
  const auto [tick_rate_hz, fps] =
      GENERATE(Case{60, 30}, Case{60, 50}, Case{60, 60}, Case{60, 75}, Case{60, 100}, Case{60, 144},
               Case{20, 30}, Case{20, 60}, Case{10, 60});
  CAPTURE(tick_rate_hz, fps);
  ShownRun run(tick_rate_hz, std::vector<Room>(6, Room{0, 256}));
  PredictedClient& player = run.player;
  player.play.call_every = Micros{1'000'000 / fps};
  player.run(1);  // until its clock has settled
  DVec3 last_m;
  Micros seen{0};
  double off_m = 0;
  int frames = 0;
  player.run(2.5, [&] {
    PlayerCommand forward;
    forward.forward = 1;
    if (player.play.called_at == seen) return forward;
    const double frame_s = static_cast<double>((player.play.called_at - seen).count()) / 1e6;
    seen = player.play.called_at;
    const Body& body = player.predictor.body();
    const double even_m = length(body.velocity_mps) * frame_s;
    const DVec3 shown_m = player.predictor.shown(seen).position_m;
    const bool steady = body.velocity_mps.x > 0.99 * player.play.client.welcome().rules.walk_speed_mps_max;
    frames = steady ? frames + 1 : 0;
    if (frames > 8) off_m = std::max(off_m, std::abs(length(shown_m - last_m) - even_m));
    last_m = shown_m;
    return forward;
  });
  CHECK(frames > fps);
  CHECK(off_m < 0.01);
}

TEST_CASE(
    "a client that was not called for a moment counts late commands, and corrects nothing that was not shown",
    "[integration][predictor]") {
  const int away_ms = GENERATE(100, 240, 400);
  CAPTURE(away_ms);
  ShownRun run(60, std::vector<Room>(6, Room{0, 256}));
  PredictedClient& player = run.player;
  PlayerCommand forward;
  forward.forward = 1;
  player.play.client.set_command(forward);
  player.run(0.5);
  REQUIRE(player.predictor.stats().late == 0);
  const client_sim::PredictorStats before = player.predictor.stats();
  // The server goes on for so long, and then what it told is read at once.
  player.play.call_every = Micros{1000 * away_ms};
  const Micros called_at = player.play.called_at;
  while (player.play.called_at == called_at) player.turn();
  const client_sim::PredictorStats after = player.predictor.stats();
  CHECK(after.late > before.late);
  for (std::size_t cause = 0; cause < client_sim::mispredict_cause_count; ++cause) {
    CAPTURE(cause);
    CHECK(after.corrections_um[cause].count() == before.corrections_um[cause].count());
    CHECK(after.visible[cause] == before.visible[cause]);
  }
  player.play.call_every = Micros{0};
  player.run(1);
  // What the server made of the ticks without a command.
  for (std::size_t cause = 0; cause < client_sim::mispredict_cause_count; ++cause) {
    CAPTURE(cause);
    if (cause == static_cast<std::size_t>(MispredictCause::command)) continue;
    CHECK(player.predictor.stats().corrections_um[cause].count() == before.corrections_um[cause].count());
  }
}

TEST_CASE("who rides a lift is shown on its floor, whatever the tick rate", "[integration][predictor]") {
  const int tick_rate_hz = GENERATE(60, 20, 10);
  const int fps = GENERATE(60, 144);
  CAPTURE(tick_rate_hz, fps);
  constexpr int call_a_lift = 62;
  ShownRun run(tick_rate_hz, {{0, 256}, {96, 320, 3}, {96, 320}}, {{call_a_lift, 3}, {}});
  PredictedClient& player = run.player;
  const Predictor& predictor = player.predictor;
  player.play.call_every = Micros{1'000'000 / fps};
  Micros seen{0};
  int turns = 0, rides = 0;
  std::uint32_t tick = 0;
  bool rode = false, rides_on = false;  // as of the last tick but one, and as of both
  double off_m = 0;
  player.run(12, [&] {
    const Micros now = player.play.called_at;
    const DVec3 at_m = predictor.body().position_m;
    const bool on_lift = predictor.replica().plan(0).sector_at(xy(at_m)) == 1;
    const SectorHeights newest = predictor.replica().heights(0)[1];
    const DVec3 shown_m = predictor.shown(now).position_m;
    if (predictor.tick() != tick) {
      const bool riding = on_lift && std::abs(at_m.z - newest.floor_m) < 1e-6;
      rides_on = predictor.tick() == tick + 1 && rode && riding;
      tick = predictor.tick(), rode = riding;
    }
    if (now != seen && rides_on) {
      const double floor_m = predictor.shown_sector(0, 1, now).floor_m;
      off_m = std::max(off_m, std::abs(shown_m.z - floor_m));
      rides += floor_m != run.map->z_to_world(0) && floor_m != run.map->z_to_world(96) ? 1 : 0;
    }
    seen = now;
    PlayerCommand command;
    command.forward = on_lift ? 0 : 1;
    if (++turns / 100 % 2 == 0) command.buttons = button::use;
    return command;
  });
  CHECK(rides > fps / 2);
  CHECK(off_m < 0.01);
}
