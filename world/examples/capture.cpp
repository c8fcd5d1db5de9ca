// A game of one's own on the seam (docs/games.md): capture the flag, played by one who runs and one who
// sleeps.
#include "world/examples/capture/capture.h"

#include <cstdio>

#include "world/sim/world.h"

using namespace ashlar;

int main() {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.players_max = 2;
  setup.monsters = setup.monsters_max = 0;
  const World probe(setup);
  const double ground = space_ground_below(probe.space(), {0.5, 0.5}, 0.45, 60, 120).value_or(0);
  const std::array<DVec3, 2> bases{{{-8, 0, ground}, {8, 0, ground}}};
  setup.game = [bases] { return std::make_unique<examples::Capture>(bases); };

  World world(setup);
  const std::uint32_t tokens[]{1, 2};
  TickInput joins;
  joins.joins = tokens;
  world.step(joins);
  const EntityId runner = world.joined()[0].id;

  for (int tick = 0; tick < 40 * setup.rules.tick_rate_hz && world.match().number == 1; ++tick) {
    const auto& game = static_cast<const examples::Capture&>(world.game());
    const std::size_t row = static_cast<std::size_t>(world.player_row(runner));
    const DVec3 goal = game.carrier(1) == runner ? bases[0] : game.flag(1);
    PlayerInput input{runner, {}};
    input.command.forward = 1;
    input.command.yaw = turn_towards(xy(goal - world.players().body[row].position_m));
    TickInput next;
    next.commands = {&input, 1};
    world.step(next);
  }
  std::printf("match %u at tick %u, hash %016llx\n", world.match().number, number(world.tick()),
              static_cast<unsigned long long>(world.hash()));
  return world.match().number == 2 ? 0 : 1;
}
