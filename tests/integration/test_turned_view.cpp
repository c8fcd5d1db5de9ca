// Who is teleported faces as the landing says, whatever its client sent before it knew.

#include "tests/integration/hosted_client.h"
#include "tests/integration/teleporter_world.h"
#include "tests/world/compass.h"
#include "world/sim/mechanics.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

struct Traveller : HostedClient {
  explicit Traveller(int latency_ms) : HostedClient(teleporter_world(), 3) {
    client_sim::LinkConditions link;
    link.latency = Micros{latency_ms * 1000};
    conditions(link);
    enter();
    const PlacedMap& map = *world().setup().maps[0];
    const DVec2 at = map.to_world({60, 128});
    host->admin({AdminAction::teleport, client.player(), {at.x, at.y, map.z_to_world(0)}});
    run(1);
  }
  Turn16 facing() const { return world().players().yaw[row()]; }
  /// Walks east until the teleporter has it.
  void travel() {
    PlayerCommand walk;
    walk.yaw = east, walk.forward = 1;
    client.set_command(walk);
    for (int i = 0; i < 5000 && world().mechanics().counters().teleports == 0; ++i) turn();
    REQUIRE(world().mechanics().counters().teleports == 1);
  }
};

}  // namespace

TEST_CASE("a new player looks as its start says until it turns", "[integration][turned_view]") {
  const int latency_ms = GENERATE(0, 90);
  HostedClient play(teleporter_world(), 5);
  std::vector<Turn16> seen;
  play.after_tick = [&] {
    if (play.world().player_count() == 1 && play.client.welcomed() && play.client.own())
      seen.push_back(play.world().players().yaw[0]);
  };
  client_sim::LinkConditions link;
  link.latency = Micros{latency_ms * 1000};
  play.conditions(link);
  play.enter();
  play.run(1);
  REQUIRE(seen.size() > 30);
  for (const Turn16 yaw : seen) CHECK(yaw == seen.front());
  CHECK(play.client.delta_yaw() == seen.front());
  PlayerCommand look;
  look.yaw = Turn16{12345};
  play.client.set_command(look);
  play.run(1);
  CHECK(seen.back() == Turn16{12345});
}

TEST_CASE("a teleporter's turn holds from its tick on, before and after the client knows",
          "[integration][turned_view]") {
  const int latency_ms = GENERATE(0, 40, 150);
  CAPTURE(latency_ms);
  Traveller t(latency_ms);
  t.travel();
  CHECK(t.facing() == north);
  const Turn16 before = t.client.delta_yaw();
  int known_after = -1;
  for (int i = 0; i < 1000; ++i) {
    t.turn();
    // It still holds the walk button: north now, as the landing says.
    REQUIRE(t.facing() == north);
    if (known_after < 0 && t.client.delta_yaw() != before) known_after = i * 2;
  }
  REQUIRE(known_after >= 0);
  CHECK(known_after >= latency_ms - 20);
  CHECK(t.client.delta_yaw() - before == north - east);
  const DVec3 at = t.world().players().body[t.row()].position_m;
  const DVec2 in_map = t.world().setup().maps[0]->to_map(xy(at));
  CHECK(in_map.y > 130);

  // Who steers by the world's directions goes where it means to once it knows.
  PlayerCommand walk;
  walk.yaw = east, walk.forward = 1;
  t.client.set_command(walk);
  t.run(1);
  CHECK(t.facing() == east);
  // And one that turns by a little turns from where it was put.
  walk.yaw = walk.yaw + Turn16{1000};
  t.client.set_command(walk);
  t.run(1);
  CHECK(t.facing() == east + Turn16{1000});
}

TEST_CASE("commands on their way are turned with the view, whatever is lost", "[integration][turned_view]") {
  Traveller t(60);
  client_sim::LinkConditions lossy;
  lossy.latency = Micros{60'000};
  lossy.jitter = Micros{30'000};
  lossy.loss = 0.2;
  t.conditions(lossy);
  t.travel();
  for (int i = 0; i < 1500; ++i) {
    t.turn();
    REQUIRE(t.facing() == north);
  }
}
