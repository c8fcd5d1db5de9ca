// A game of one's own, linked into a server and a client: its grapple is foreseen to the last bit.
#include <algorithm>
#include <array>

#include "tests/integration/predicted_client.h"
#include "world/examples/capture/capture.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

WorldSetup capture_world() {
  WorldSetup setup;
  setup.terrain = TerrainKind::plains;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  const std::array<DVec3, 2> bases{{{-8, 0, 40}, {8, 0, 40}}};
  setup.game = [bases] { return std::make_unique<examples::Capture>(bases); };
  return with_shared_ground(setup);
}

/// Runs about, looks up and down, and swings on the grapple most of the time.
void swing(PredictedClient& p, double seconds) {
  Rng rng{9};
  int turns = 0;
  PlayerCommand command;
  p.run(seconds, [&] {
    if (turns++ % 150 == 0) {
      command.forward = rng.between(-1, 1), command.left = rng.between(-1, 1);
      command.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
      command.pitch = Turn16{static_cast<std::uint16_t>(rng.below(8000))};
      command.pitch = Turn16{static_cast<std::uint16_t>(65536 + 3000 - static_cast<int>(command.pitch))};
      command.buttons = rng.below(4) != 0 ? button::use : button::jump;
    }
    return command;
  });
}

}  // namespace

TEST_CASE("a client that is linked with a game foresees its grapple over a line of 50 ms",
          "[integration][game_motion]") {
  PredictedClient p(capture_world(), 5);
  client_sim::LinkConditions line;
  line.latency = Micros{50'000};
  p.play.conditions(line);
  p.enter();
  const std::uint64_t confirmed = p.predictor.stats().confirmed;
  double fastest = 0;
  p.play.after_tick = [&] {
    const DVec3 v = p.server_body().velocity_mps;
    fastest = std::max(fastest, dot(v, v));
  };
  swing(p, 10);
  CHECK(fastest > 12.0 * 12);  // faster than anybody runs
  CHECK(p.predictor.stats().confirmed - confirmed > 400);
  CHECK(p.mispredicted(MispredictCause::unknown) == 0);
  CHECK(p.mispredicted(MispredictCause::world) == 0);
}

TEST_CASE("a client without the game's motion is put right by the server", "[integration][game_motion]") {
  WorldSetup setup = capture_world();
  PredictedClient p(setup, 5, nullptr);
  p.enter();
  swing(p, 4);
  CHECK(p.mispredicted(MispredictCause::unknown) > 10);
  p.play.client.set_command({});
  p.run(2);
  const Body& shown = p.predictor.replica().body();
  const DVec3 off = shown.position_m - p.server_body().position_m;
  CHECK(dot(off, off) < 0.01);
}
