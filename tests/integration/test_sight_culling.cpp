// Players behind rock are not told of each other where the server culls by sight.
#include <algorithm>

#include "tests/integration/hosted_client.h"
#include "tests/integration/spy.h"
#include "tests/world/bsp/maps.h"
#include "world/math/random.h"

using namespace ashlar;
using ashlar::testing::builtin_map;
using ashlar::testing::HostedClient;
using ashlar::testing::must_place;
using ashlar::testing::Spy;

namespace {

WorldSetup peopled() {
  WorldSetup setup;
  setup.monsters = setup.monsters_max = 40;
  setup.spawn.radius_m = 12;
  return setup;
}

std::size_t others(const HostedClient& game) {
  std::size_t count = 0;
  game.client.view().visit([&](const EntityRecord& e, CellCoord, std::uint32_t) {
    count += e.id != game.client.player() ? 1 : 0;
  });
  return count;
}

/// Stone around a hollow of 14 x 14 x 9 m, so that where its player may soon be ends within.
void build_cabin(HostedClient& game, IVec3 low) {
  AdminCommand act{AdminAction::fill_box, {}, {}};
  act.box = {low, low + IVec3{16, 16, 14}};
  act.id = BlockId::stone;
  game.host->admin(act);
  act.box = {low + IVec3{1, 1, 4}, low + IVec3{15, 15, 13}};
  act.id = BlockId::air;
  game.host->admin(act);
}

}  // namespace

TEST_CASE("in a cabin of stone a player is told of nobody outside, and of all in sight through a hole in it",
          "[integration][sight_culling]") {
  const bool culled = GENERATE(true, false), packed = GENERATE(true, false);
  CAPTURE(culled, packed);
  const WorldSetup setup = peopled();
  server::HostConfig config;
  config.sight_culling = culled;
  config.interest_radius_m = 300;
  client_sim::ClientConfig player = HostedClient::client_config(setup, "ada");
  player.takes_packed = packed;
  HostedClient game(setup, config, player);
  game.enter();
  game.run(1);
  CHECK(others(game) > 20);
  const DVec3 at = game.client.own()->body.position_m;
  const IVec3 low = block_at(at + DVec3{0, 0, 16});
  build_cabin(game, low);
  game.run(0.2);
  AdminCommand in{AdminAction::teleport, game.client.player(), {}};
  in.position_m = {low.x + 8.0, low.y + 8.0, low.z + 4.0};
  game.host->admin(in);
  game.run(2);
  REQUIRE(std::abs(game.client.own()->body.position_m.z - in.position_m.z) < 0.1);
  CHECK((others(game) == 0) == culled);
  // One side goes, with its part of floor and roof.
  AdminCommand hole{AdminAction::fill_box, {}, {}};
  hole.box = {low, low + IVec3{5, 16, 14}};
  hole.id = BlockId::air;
  game.host->admin(hole);
  game.run(0.3);
  CHECK(others(game) > 0);
}

TEST_CASE("a spy behind a client learns less of those behind walls, and sees nobody whom it was not told of",
          "[integration][sight_culling][spy]") {
  WorldSetup setup;
  setup.maps = {must_place(builtin_map())};
  setup.monsters = setup.monsters_max = 80;
  const auto spied = [&setup](bool culled) {
    server::HostConfig config;
    config.sight_culling = culled;
    HostedClient game(setup, config, HostedClient::client_config(setup, "ada"));
    game.enter();
    game.run(0.5);
    Spy spy;
    Rng rng{7};
    game.after_tick = [&] {
      if (number(game.world().tick()) % 40 == 0) {
        PlayerCommand command;
        command.forward = 1;
        command.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
        game.client.set_command(command);
      }
      spy.look(game.world(), game.client.view(), game.client.player());
    };
    game.run(15);
    return spy.report();
  };
  const Spy::Report open = spied(false), culled = spied(true);
  CAPTURE(open.told, open.unseen, open.seen, open.late, culled.told, culled.unseen, culled.seen, culled.late);
  CAPTURE(open.unseen_share(), culled.unseen_share());
  CHECK(open.seen > 1000);
  CHECK(culled.seen > 1000);
  CHECK(culled.late == 0);
  CHECK(culled.told < open.told);
  CHECK(culled.unseen_share() < open.unseen_share());
}
