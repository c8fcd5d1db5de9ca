// What a client gains that plays by other rules: nothing.

#include <cmath>
#include <string>

#include "tests/integration/predicted_client.h"
#include "world/sim/block_acts.h"
#include "world/sim/shooting.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// How somebody cheats.
struct Cheat {
  std::string name;
  double clock = 1;    ///< its clock goes so many times as fast as it should
  double doubled = 0;  ///< share of its packets that it says twice
  bool taps = false;   ///< presses and releases the trigger instead of holding it
  int burst_ms = 0;    ///< keeps back what it says, and says it in bursts of so long
};

/// What came of ten seconds.
struct Taken {
  double way_m = 0;
  std::uint64_t shots = 0;
};

Taken play(const Cheat& cheat) {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters_max = setup.monsters = 0;
  setup.rules.step_height_m_max = 1.5;  // nothing in the plain stops a walker
  HostedClient game(with_shared_ground(setup));
  client_sim::LinkConditions link;
  link.latency = Micros{20'000};
  link.duplication = cheat.doubled;
  game.conditions(link);
  game.enter();
  game.run(2);
  Taken out;
  const std::uint64_t shots = game.world().shooting().shots();
  DVec3 last = game.world().players().body[game.row()].position_m;
  game.after_tick = [&] {
    const DVec3 here = game.world().players().body[game.row()].position_m;
    out.way_m += length(xy(here - last));
    last = here;
  };
  const Micros from = game.now;
  int turn = 0;
  DatagramBatch kept;
  while (game.now < from + Micros{10'000'000}) {
    // As HostedClient::turn(), but for the client's clock and for when it speaks.
    game.now += Micros{2000};
    game.to_client.clear(), game.from_client.clear(), game.to_server.clear(), game.from_server.clear();
    game.down.deliver(game.now, game.to_client);
    PlayerCommand command;
    command.forward = 1;
    const bool pressed = !cheat.taps || ++turn / 9 % 2 == 0;
    command.buttons = pressed ? button::attack : std::uint16_t{0};
    game.client.set_command(command);
    const Micros its_now =
        from +
        Micros{static_cast<std::int64_t>(static_cast<double>((game.now - from).count()) * cheat.clock)};
    game.client.advance(its_now, game.to_client, game.from_client);
    for (const auto& entry : game.from_client.entries()) kept.add(entry.peer, game.from_client.bytes(entry));
    if (cheat.burst_ms == 0 || (game.now.count() / 1000) % cheat.burst_ms == 0) {
      game.up.send(game.now, kept);
      kept.clear();
    }
    game.up.deliver(game.now, game.to_server);
    const std::uint32_t before = number(game.world().tick());
    game.advance_host();
    game.down.send(game.now, game.from_server);
    if (number(game.world().tick()) != before) game.after_tick();
  }
  out.shots = game.world().shooting().shots() - shots;
  return out;
}

}  // namespace

TEST_CASE("nobody moves or shoots faster by sending more, earlier, doubled or in bursts",
          "[integration][cheats]") {
  static const Taken honest = play({"honest"});
  REQUIRE(honest.way_m > 20);
  REQUIRE(honest.shots >= 24);
  const Cheat cheat = GENERATE(Cheat{"fast clock", 1.5}, Cheat{"doubled", 1, 1.0}, Cheat{"taps", 1, 0, true},
                               Cheat{"bursts", 1, 0, false, 120});
  const Taken taken = play(cheat);
  CAPTURE(cheat.name, honest.way_m, honest.shots, taken.way_m, taken.shots);
  CHECK(taken.way_m <= honest.way_m + 1e-9);
  CHECK(taken.shots <= honest.shots + 1);
}

TEST_CASE("blocks beyond a player's reach are not dug, whatever its client says", "[integration][cheats]") {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters_max = setup.monsters = 0;
  HostedClient game(with_shared_ground(setup));
  game.enter();
  game.run(1);
  const DVec3 here = game.world().players().body[game.row()].position_m;
  const IVec3 under = block_at(here - DVec3{0, 0, 0.5});
  for (int far = 8; far < 30; far += 3)
    REQUIRE(game.client.act(BlockActKind::dig, under + IVec3{far, 0, 0}) != 0);
  game.run(2);
  CHECK(game.world().block_acts().counters().dug == 0);
  CHECK(game.client.stats().acts_refused == 8);
}
