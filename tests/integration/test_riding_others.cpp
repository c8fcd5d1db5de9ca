// Who rides a lift is shown on it by others, over lines of any delay.
#include <cmath>

#include "client_sim/client/others.h"
#include "tests/integration/rooms.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::testing;
using client_sim::Others;
using client_sim::ShownEntity;

namespace {

/// A row of rooms, one who looks on from its far end, and one who rides.
struct LookingOn {
  LookingOn(const SectorMap& source, Micros delay, Micros jitter)
      : map(placed_rooms(source)), p(setup_of_rooms(map)), rider(rider_config(setup_of_rooms(map))) {
    client_sim::LinkConditions link;
    link.latency = delay, link.jitter = jitter;
    p.play.conditions(link);
    p.foresees(&others);
    up.set_conditions(link), down.set_conditions(link);
    for (int i = 0; i < 2000 && !(p.predictor.ready() && rider.own() && others.lag_ticks() > 0); ++i) turn();
    REQUIRE(rider.own().has_value());
    REQUIRE(p.predictor.ready());
    put(p.play.client.player(), {40, 40});
    put(rider.player(), {40, 128});
    run(2);
  }
  static client_sim::ClientConfig rider_config(const WorldSetup& setup) {
    client_sim::ClientConfig config = HostedClient::client_config(setup, "rider");
    config.server.port = 7778;  // what the Host tells the two apart by
    config.seed = secure::SeededEntropy(78).secret();
    return config;
  }
  void put(EntityId who, DVec2 at_units) {
    const DVec2 at = map->to_world(at_units);
    p.play.host->admin({AdminAction::teleport, who, {at.x, at.y, map->z_to_world(0)}});
  }
  /// Two milliseconds of both clients and the Host.
  void turn() {
    HostedClient& play = p.play;
    play.now += Micros{2000};
    play.to_server.clear(), play.from_server.clear();
    advance(play.client, play.up, play.down, play.foresight);
    advance(rider, up, down);
    play.advance_host();
    for (const DatagramBatch::Entry& entry : play.from_server.entries()) {
      DatagramBatch one;
      one.add(entry.peer, play.from_server.bytes(entry));
      (entry.peer.port == 7778 ? down : play.down).send(play.now, one);
    }
    look();
  }
  void advance(client_sim::Client& client, client_sim::Link& there, client_sim::Link& back,
               client_sim::Foresight* foresight = nullptr) {
    HostedClient& play = p.play;
    play.to_client.clear(), play.from_client.clear();
    back.deliver(play.now, play.to_client);
    client.advance(play.now, play.to_client, play.from_client, foresight);
    there.send(play.now, play.from_client);
    there.deliver(play.now, play.to_server);
  }
  void run(double seconds, const PlayerCommand& command = {}) {
    rider.set_command(command);
    const Micros until = p.play.now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    while (p.play.now < until) turn();
  }
  /// To the east or back, pressing and letting go of buttons.
  void walk(double seconds, bool east, std::uint16_t pressed) {
    PlayerCommand command;
    command.forward = 1;
    command.yaw = Turn16{static_cast<std::uint16_t>(east ? 0 : 32768)};
    for (double s = 0; s < seconds; s += 0.4) {
      command.buttons = 0;
      run(0.2, command);
      command.buttons = pressed;
      run(0.2, command);
    }
  }
  /// How the rider is shown beside the floor that is drawn under it.
  void look() {
    if (!p.predictor.ready() || !watching) return;
    others.shown(p.play.now, p.play.client, &p.predictor.replica(), shown,
                 p.predictor.shown_sectors(p.play.now));
    for (const ShownEntity& e : shown) {
      const std::uint32_t sector = p.predictor.replica().plan(0).sector_at(xy(e.position_m));
      if (sector == no_index) continue;
      const double floor_m = p.predictor.shown_sector(0, sector, p.play.now).floor_m;
      const double told_m = p.play.client.sectors().heights(0)[sector].floor_m;
      highest_m = std::max(highest_m, e.position_m.z - map->z_to_world(0));
      if ((e.record.flags & entity_flag::grounded) == 0) continue;
      if (floor_m != told_m) ++on_lift;
      if (sector != watched) continue;
      lowest_over_m = std::min(lowest_over_m, e.position_m.z - floor_m);
      highest_over_m = std::max(highest_over_m, e.position_m.z - floor_m);
    }
  }

  std::shared_ptr<const PlacedMap> map;
  PredictedClient p;
  Others others;
  client_sim::Client rider;
  client_sim::Link up{{}, 5}, down{{}, 6};
  std::vector<ShownEntity> shown;
  bool watching = false;
  std::uint32_t watched = 1;
  double highest_m = 0, lowest_over_m = 0, highest_over_m = 0;
  std::uint32_t on_lift = 0;
};

}  // namespace

TEST_CASE("who rides a lift is shown standing on it, neither sunk in nor floating",
          "[integration][prediction][riding]") {
  const auto delay_us = GENERATE(10'000, 75'000);
  const auto jitter_us = GENERATE(0, 30'000);
  CAPTURE(delay_us, jitter_us);
  LookingOn look(row_of_rooms({{0, 256}, {96, 320, 3}, {96, 320}}, {{62, 3}, {}}, {thing_at(40, 128, 1)}),
                 Micros{delay_us}, Micros{jitter_us});
  // The lift comes down and waits for who used it, and takes it up.
  look.walk(1.6, true, button::use);
  look.run(2);
  look.watching = true;
  look.walk(0.8, true, 0);
  look.run(6);
  CHECK(look.highest_m > 2.9);
  CHECK(look.on_lift > 100);  // turns in which the floor was drawn elsewhere than it was told
  // Steps of places on the wire.
  CHECK(look.lowest_over_m > -0.04);
  CHECK(look.highest_over_m < 0.04);
}

TEST_CASE(
    "a door that two work at is foreseen by the one, corrected by the other's hand, and comes out alike",
    "[integration][prediction][riding]") {
  LookingOn look(row_of_rooms({{0, 256}, {0, 0}, {0, 256}}, {{1, 0}, {1, 0, true}}, {thing_at(40, 128, 1)}),
                 Micros{75'000}, Micros{0});
  look.put(look.p.play.client.player(), {140, 100});
  look.put(look.rider.player(), {140, 160});
  look.run(2);
  const auto& stats = look.p.predictor.stats();
  Rng rng = rng_for(3, 9);
  std::uint64_t alike = 0, apart = 0, passed = 0;
  for (int i = 0; i < 60; ++i) {
    // The one goes through and back, the other one stays; both press as they like.
    PlayerCommand own, other;
    own.forward = 1;
    own.yaw = Turn16{static_cast<std::uint16_t>(i / 6 % 2 == 0 ? 0 : 32768)};
    own.buttons = rng.below(2) == 0 ? button::use : std::uint16_t{0};
    other.buttons = rng.below(2) == 0 ? button::use : std::uint16_t{0};
    look.p.play.client.set_command(own);
    look.run(0.5, other);
    const double x_m = look.p.server_body().position_m.x - look.map->to_world({256, 0}).x;
    passed += x_m > 1.5 ? 1 : 0;
    const HeightsView told = look.p.play.world().space().maps[0].heights;
    (told[1].ceiling_m == look.p.predictor.replica().heights(0)[1].ceiling_m ? alike : apart) += 1;
  }
  CHECK(passed > 0);
  CHECK(apart > 5);  // it moved as the one foresaw, ahead of the server
  CHECK(alike > 5);
  CHECK(stats.mispredicted[static_cast<std::size_t>(MispredictCause::unknown)] == 0);
  // Left alone, both have the same.
  look.p.play.client.set_command({});
  look.run(8);
  CHECK(look.p.predictor.body().position_m == look.p.server_body().position_m);
  const HeightsView told = look.p.play.world().space().maps[0].heights;
  CHECK(told[1].ceiling_m == look.p.predictor.replica().heights(0)[1].ceiling_m);
}
