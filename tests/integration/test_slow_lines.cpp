// Clients on slow lines: what they see is little, but of now.
#include <map>

#include "tests/integration/hosted_client.h"

using namespace ashlar;
using ashlar::testing::HostedClient;

namespace {

WorldSetup crowded_by_a_line() {
  WorldSetup setup;
  setup.monsters = setup.monsters_max = 120;
  setup.spawn.radius_m = 20;
  return setup;
}

client_sim::LinkConditions line_of(double kbit_per_s) {
  client_sim::LinkConditions line;
  line.latency = Micros{20'000};
  line.bytes_per_s = static_cast<std::uint64_t>(kbit_per_s * 125);
  return line;
}

/// How old the newest complete snapshot of a client is, at most, in ticks.
std::uint32_t oldest_picture(HostedClient& game, double seconds) {
  std::uint32_t oldest = 0;
  for (const Micros until = game.now + Micros{static_cast<std::int64_t>(seconds * 1e6)}; game.now < until;) {
    game.turn();
    if (game.client.own())
      oldest = std::max(oldest, number(game.world().tick()) - game.client.complete_tick());
  }
  return oldest;
}

}  // namespace

TEST_CASE("on a line of 64 kbit/s a client's picture is half a second old at most",
          "[integration][slow_lines]") {
  const double kbit_per_s = GENERATE(64., 256., 10'000.);
  const bool packed = GENERATE(true, false);
  CAPTURE(kbit_per_s, packed);
  // A plain snapshot is at least 4 datagrams, which such a line takes 0.6 s for: not asked of it.
  if (!packed && kbit_per_s < 100) return;
  const std::uint32_t most = kbit_per_s > 1'000 ? 12 : packed ? 27 : 45;
  const WorldSetup setup = crowded_by_a_line();
  server::HostConfig config;
  config.interest_radius_m = 500;
  client_sim::ClientConfig player = HostedClient::client_config(setup, "ada");
  player.takes_packed = packed;
  HostedClient game(setup, config, player);
  game.conditions(line_of(kbit_per_s));
  game.enter();
  oldest_picture(game, 3);
  const std::uint32_t oldest = oldest_picture(game, 8);
  CAPTURE(oldest);
  CHECK(oldest <= most);
  CHECK(game.client.stats().rejoins == 0);

  // It stands for a second, and two seconds later all is as before.
  game.up.partition(game.now + Micros{1'000'000});
  game.down.partition(game.now + Micros{1'000'000});
  oldest_picture(game, 3);
  CHECK(oldest_picture(game, 3) <= most);
}
