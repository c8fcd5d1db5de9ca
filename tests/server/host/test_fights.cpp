// Leaving is no escape: who fought lately leaves a body behind for a while.
#include "server/host/lingering.h"
#include "tests/server/host/host_table.h"
#include "world/sim/shooting.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

/// Two who face each other a few metres apart in no world but the terrain; one shoots.
struct Duel {
  explicit Duel(Micros linger = Micros{5'000'000}, const PeerAddress& bobs = peer(2),
                Switch friendly_fire = Switch::off)
      : table(3, {}, lingering(linger)) {
    table.setup.rules.friendly_fire = friendly_fire;
    table.restart();
    bob.at = bobs;
    table.enter(ann);
    shooter = ann.own->id;
    table.enter(bob);
    target = bob.own->id;
    // High above everything: nothing stands between them.
    table.host->admin({AdminAction::noclip_on, shooter, {}});
    table.host->admin({AdminAction::teleport, shooter, {0, 0, 100}});
    table.host->admin({AdminAction::teleport, target, {4, 0, 100}});
    table.run();
  }
  /// Until somebody was hit.
  bool shoot() {
    for (int i = 0; i < 30; ++i) {
      Input input = walking(ann.snapshot_tick + 2);
      input.commands[0] = {};
      input.commands[0].buttons = button::attack;
      // What the world turned the view by is added to it.
      const int row = table.host->world().player_row(shooter);
      REQUIRE(row >= 0);
      input.commands[0].yaw = Turn16{0} - delta_yaw();
      table.send(ann, input);
      table.run();
      for (const ShotEvent& shot : table.host->world().shooting().events())
        if (shot.hit.target == target) return true;
      table.host->admin({AdminAction::teleport, target, {4, 0, 100}});
      table.host->admin({AdminAction::teleport, shooter, {0, 0, 100}});
    }
    return false;
  }
  Turn16 delta_yaw() {
    HostAudit books;
    table.host->audit(books);
    for (const SessionAudit& session : books.sessions)
      if (session.player == shooter) return session.delta_yaw;
    return Turn16{0};
  }
  static HostConfig lingering(Micros linger) {
    HostConfig config;
    config.fight_linger = linger;
    return config;
  }
  std::uint32_t bodies() const { return table.host->world().player_count(); }
  /// bob by another connection.
  Hand& bob_again() {
    Hand& again = table.hand(peer(4), "bob");
    again.at.ip[7] = 3;
    again.identity = bob.identity;
    return again;
  }

  Table table;
  Hand &ann = table.hand(peer(1), "ann"), &bob = table.hand(peer(2), "bob");
  EntityId shooter{}, target{};
};

}  // namespace

TEST_CASE("who leaves without a fight is gone at once", "[server][fights]") {
  Duel duel;
  duel.bob.leave(duel.table.now);
  duel.table.run(2);
  CHECK(duel.bodies() == 1);
  CHECK(duel.table.host->status().lingering == 0);
}

TEST_CASE("who was hit and leaves stays in the world for a while, and holds its place", "[server][fights]") {
  Duel duel;
  Leaves leaves;
  duel.table.host->set_sink(&leaves);
  REQUIRE(duel.shoot());
  duel.bob.leave(duel.table.now);
  duel.table.run(60);
  CHECK(duel.bodies() == 2);
  CHECK(duel.table.host->status().clients == 1);
  CHECK(duel.table.host->status().lingering == 1);
  CHECK(leaves.count == 0);
  HostAudit books;
  duel.table.host->audit(books);
  CHECK(books.sessions.size() == 1);
  CHECK(books.lingering == 1);
  // Three places: one plays, one body stays, one is free.
  Hand &cid = duel.table.hand(peer(3), "cid"), &dan = duel.table.hand(peer(4), "dan");
  cid.at.ip[7] = 2, dan.at.ip[7] = 3;
  duel.table.enter(cid);
  duel.table.greet(dan);
  CHECK(dan.end() == SessionEnd::full);
  // Five seconds after it left the body does, as a leave of the tick's input.
  for (int i = 0; i < 300; ++i) {
    duel.table.send(duel.ann, walking(duel.ann.snapshot_tick + 2));
    duel.table.send(cid, walking(cid.snapshot_tick + 2));
    duel.table.run();
  }
  CHECK(leaves.count == 1);
  CHECK(duel.bodies() == 2);
  CHECK(duel.table.host->status().lingering == 0);
  duel.table.enter(dan);
}

TEST_CASE("who shot somebody stays as well, and a kick is no way out", "[server][fights]") {
  Duel duel;
  REQUIRE(duel.shoot());
  CHECK(duel.table.host->kick("ann", "be kind") == 1);
  duel.table.run(10);
  CHECK(duel.table.host->status().clients == 1);
  CHECK(duel.bodies() == 2);
}

TEST_CASE("a fight of long ago holds nobody", "[server][fights]") {
  Duel duel;
  REQUIRE(duel.shoot());
  for (int i = 0; i < 320; ++i) {
    duel.table.send(duel.ann, walking(duel.ann.snapshot_tick + 2));
    duel.table.send(duel.bob, walking(duel.bob.snapshot_tick + 2));
    duel.table.run();
  }
  duel.bob.leave(duel.table.now);
  duel.table.run(2);
  CHECK(duel.bodies() == 1);
}

TEST_CASE("where the setting is 0 nobody stays", "[server][fights]") {
  Duel duel(Micros{0});
  REQUIRE(duel.shoot());
  duel.bob.leave(duel.table.now);
  duel.table.run(2);
  CHECK(duel.bodies() == 1);
}

TEST_CASE("who was cut off in a fight keeps his place as long as his body stays", "[server][fights][away]") {
  Duel duel(Micros{5'000'000}, tcp_peer(2, 3));
  Table& t = duel.table;
  REQUIRE(duel.shoot());
  duel.bob.will_resume();
  duel.bob.vanished = true;
  t.in.add_closed(duel.bob.at);
  Hand &cid = t.hand(peer(3), "cid"), &dan = t.hand(peer(4), "dan");
  cid.at.ip[7] = 2, dan.at.ip[7] = 3;
  t.run(2);
  REQUIRE(t.host->status().away == 1);
  t.enter(cid);
  t.greet(dan);
  CHECK(dan.end() == SessionEnd::full);
  CHECK(t.host->status().away == 1);
  CHECK(t.host->status().lingering == 0);
  SECTION("he comes back to it") {
    duel.bob.vanished = false;
    duel.bob.at.link = 40;
    t.enter(duel.bob);
    CHECK(duel.bob.welcomes.back().resumed);
    CHECK(duel.bob.own->id == duel.target);
  }
  SECTION("he comes in anew, and goes on with it, though that is all there is") {
    duel.bob.vanished = false;
    duel.bob.at.link = 40;
    duel.bob.resume = 0;
    t.enter(duel.bob);
    CHECK_FALSE(duel.bob.welcomes.back().resumed);
    CHECK(duel.bob.own->id == duel.target);
    t.run(2);
    CHECK(t.host->status().lingering == 0);
    CHECK(duel.bodies() == 3);
  }
  SECTION("the fight is over: who waits outside comes in") {
    t.run(60 * 6);
    t.enter(dan);
    CHECK(t.host->status().away == 0);
    CHECK(duel.bodies() == 3);
  }
}

TEST_CASE("who plays on by another connection after a fight needs no second place", "[server][fights]") {
  Duel duel;
  Hand &cid = duel.table.hand(peer(3), "cid"), &again = duel.bob_again();
  cid.at.ip[7] = 2;
  duel.table.enter(cid);
  REQUIRE(duel.shoot());
  duel.table.enter(again);
  CHECK(duel.bob.end() == SessionEnd::replaced);
  CHECK(again.own->id == duel.target);
  duel.table.run(2);
  CHECK(duel.bodies() == 3);
  CHECK(duel.table.host->status().lingering == 0);
}

TEST_CASE("who comes in anew in a fight goes on with the body that he left, as hurt as it is",
          "[server][fights]") {
  Duel duel(Micros{5'000'000}, peer(2), Switch::on);
  Table& t = duel.table;
  Hand& again = duel.bob_again();
  REQUIRE(duel.shoot());
  const auto health = [&] { return t.host->world().players().health[slot_of(duel.target)]; };
  const std::uint16_t hurt = health();
  REQUIRE(hurt < t.setup.rules.player_health);
  const Turn16 looked = t.host->world().players().yaw[slot_of(duel.target)];
  const bool left = GENERATE(true, false);
  CAPTURE(left);
  if (left) duel.bob.leave(t.now), t.run(30);
  t.enter(again);
  t.run(3);
  // It is told all that who joins is told, and its own view is added to the body's.
  CHECK_FALSE(again.welcomes.back().resumed);
  CHECK(again.own->id == duel.target);
  CHECK(health() == hurt);
  CHECK(t.host->world().players().yaw[slot_of(duel.target)] == looked);
  CHECK(t.host->status().lingering == 0);
  CHECK(t.host->status().clients == 2);
  CHECK(duel.bodies() == 2);
  CHECK(t.host->present_players().size() <= 2);
  const DVec3 before = again.own->body.position_m;
  for (int i = 0; i < 30; ++i) {
    t.send(again, walking(again.snapshot_tick + 2));
    t.run();
  }
  CHECK(length(xy(again.own->body.position_m) - xy(before)) > 0.5);
  // And lingers again where it leaves.
  REQUIRE(t.host->status().clients == 2);
  again.leave(t.now);
  t.run(2);
  CHECK(t.host->status().lingering == 1);
}

TEST_CASE("who comes in anew in a fight counts its acts from 1 again, over a broken connection, too",
          "[server][fights][away]") {
  Duel duel;
  Table& t = duel.table;
  Hand& again = duel.bob_again();
  const auto stop = [&](Hand& hand, std::uint32_t number) {
    Acts acts;
    acts.tick = hand.snapshot_tick + 1;
    acts.world = hand.welcomes.back().world;
    acts.acts[0].number = number, acts.acts[0].kind = BlockActKind::stop;
    acts.act_count = 1;
    hand.answers.clear();
    REQUIRE(hand.send(acts) == SendResult::sent);
    t.run(5);
    REQUIRE(hand.answers.size() == 1);
    CHECK(hand.answers.front().number == number);
    return hand.answers.front().verdict;
  };
  for (std::uint32_t number = 1; number <= 5; ++number) CHECK(stop(duel.bob, number) == ActVerdict::done);
  CHECK(stop(duel.bob, 5) == ActVerdict::stale_number);
  REQUIRE(duel.shoot());
  duel.bob.leave(t.now);
  t.run(2);
  t.enter(again);
  t.run(3);
  REQUIRE(again.own->id == duel.target);
  for (std::uint32_t number = 1; number <= 3; ++number) CHECK(stop(again, number) == ActVerdict::done);
  CHECK(stop(again, 2) == ActVerdict::stale_number);
  // The same client counts on.
  again.will_resume();
  t.enter(again);
  REQUIRE(again.welcomes.back().resumed);
  t.run(3);
  CHECK(stop(again, 3) == ActVerdict::stale_number);
  CHECK(stop(again, 4) == ActVerdict::done);
}

TEST_CASE("who comes in anew to watch watches, by the body that he left in a fight",
          "[server][fights][spectators]") {
  Duel duel;
  Hand& again = duel.bob_again();
  again.watches = true;
  REQUIRE(duel.shoot());
  duel.table.enter(again);
  duel.table.run(2);
  CHECK(again.own->id == duel.target);
  CHECK(duel.table.host->world().players().role[slot_of(duel.target)] == PlayerRole::watches);
  CHECK(duel.bodies() == 2);
}

TEST_CASE("who comes back when his body is gone begins anew", "[server][fights]") {
  Duel duel;
  REQUIRE(duel.shoot());
  duel.bob.leave(duel.table.now);
  duel.table.run(60 * 6);
  REQUIRE(duel.table.host->status().lingering == 0);
  duel.table.enter(duel.bob);
  CHECK(duel.bob.own->id != duel.target);
}

TEST_CASE("a fight in the last world is no body in this one", "[server][fights][change_world]") {
  Duel duel;
  Hand& again = duel.bob_again();
  again.joins = false;
  REQUIRE(duel.shoot());
  duel.table.greet(again);
  REQUIRE(duel.table.host->status().lingering == 1);
  duel.table.host->change_world(std::make_unique<World>(duel.table.setup));
  again.joins = true;
  for (int i = 0; i < 20 && !again.own; ++i) duel.table.run();
  REQUIRE(again.own);
  CHECK(duel.bodies() == 2);
  CHECK(duel.table.host->status().lingering == 0);
}

TEST_CASE("where as many bodies stay as may, one more goes at once", "[server][fights]") {
  Duel duel;
  REQUIRE(duel.shoot());
  const World& world = duel.table.host->world();
  SessionTable sessions(2);
  const auto seat = [&](EntityId player, std::uint8_t number) {
    Session& session = sessions.open(peer(number), number, Identity{number});
    sessions.leave_greeted(session, SessionState::playing);
    session.player = player;
  };
  seat(duel.shooter, 1);
  seat(duel.target, 2);
  LingeringBodies bodies(3, 1, 300);
  bodies.note_fights(world, sessions);
  REQUIRE(bodies.fought_lately(world, duel.shooter));
  REQUIRE(bodies.fought_lately(world, duel.target));
  CHECK(bodies.stay(world, duel.shooter, Identity{1}));
  CHECK_FALSE(bodies.stay(world, duel.target, Identity{2}));
  CHECK(bodies.count() == 1);
  CHECK(bodies.take(world, Identity{2}) == EntityId{0});
  CHECK(bodies.take(world, Identity{1}) == duel.shooter);
  CHECK(bodies.count() == 0);
}
