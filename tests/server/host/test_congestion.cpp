// Paths and readers that take less than there is to tell.
#include "tests/server/host/host_table.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

/// Ticks since a hand knew how a monster is: 0 where it still does. Those that it was never told of, many.
std::uint32_t ticks_behind(const Table& table, const Hand& hand, std::size_t row) {
  const MonsterTable& monsters = table.host->world().monsters();
  const auto told = hand.told.find(monsters.id[row]);
  if (told == hand.told.end()) return 10'000;
  const QuantisedPosition now = quantise(monsters.body[row].position_m);
  const EntityRecord& known = told->second.record;
  if (QuantisedPosition{told->second.cell, known.x, known.y, known.z} == now) return 0;
  return table.host->status().tick - told->second.tick;
}

/// One client among so many monsters that a snapshot takes several parts.
struct Crowd {
  explicit Crowd(const PeerAddress& at, std::uint32_t snapshot_bytes = 19'200)
      : table(3, {}, wide(snapshot_bytes)), ann(table.hand(at)) {
    table.setup.monsters_max = table.setup.monsters = 300;
    table.restart();
    table.enter(ann);
    table.run(60);
  }
  static HostConfig wide(std::uint32_t snapshot_bytes) {
    HostConfig config;
    config.interest_radius_m = 2000;
    config.snapshot_bytes_max = snapshot_bytes;
    return config;
  }
  /// Monsters in the world that ann does not know, and has not known within so many ticks. They fight, so
  /// that some die, and what they throw is told of for a moment.
  std::size_t untold(std::uint32_t ticks) const {
    std::size_t count = 0;
    for (std::size_t row = 0; row < monsters().size(); ++row)
      count += monsters()[row] != EntityId{0} && ticks_behind(table, ann, row) > ticks ? 1 : 0;
    return count;
  }
  std::span<const EntityId> monsters() const { return table.host->world().monsters().id; }
  Table table;
  Hand& ann;
};

}  // namespace

TEST_CASE("a client that hears nothing is not sent without end, and then told of everybody",
          "[server][congestion]") {
  Crowd crowd(peer(1));
  CHECK(std::ranges::count(crowd.monsters(), EntityId{0}) == 0);
  crowd.table.run(60);  // the budget begins small
  CHECK(crowd.untold(60) == 0);
  const std::uint64_t learning = crowd.table.host->status().snapshots_congested;
  crowd.table.run(60);
  CHECK(crowd.table.host->status().snapshots_congested == learning);
  const std::uint64_t before = crowd.table.host->status().bytes_out;
  crowd.ann.deaf = true;
  crowd.table.run(60 * 5);
  CHECK(crowd.untold(60) > 200);
  const std::uint64_t sent = crowd.table.host->status().bytes_out - before;
  CHECK(crowd.table.host->status().snapshots_congested > 100);
  CHECK(sent < 60 * 5 * 5 * 1200 / 2);
  crowd.ann.deaf = false;
  crowd.table.run(120);
  CHECK(crowd.untold(60) == 0);
  CHECK(crowd.table.host->status().clients == 1);
}

TEST_CASE("where the path takes a part of what there is to tell everybody is told of in turn",
          "[server][congestion]") {
  const std::size_t bytes_per_turn = GENERATE(900u, 2000u, 4000u);  // of some 6000
  CAPTURE(bytes_per_turn);
  Crowd crowd(peer(1));
  crowd.ann.bytes_per_turn = bytes_per_turn;
  crowd.table.run(600);
  CAPTURE(crowd.ann.snapshots, crowd.ann.parts, crowd.table.host->status().snapshots_congested,
          crowd.table.host->status().snapshot_wait_ticks_max,
          crowd.ann.connection->counters().packets_received);
  CHECK(crowd.table.host->status().snapshots_congested > 60);
  CHECK(crowd.untold(120) == 0);
  CHECK(crowd.table.host->status().tick - crowd.ann.snapshot_tick <
        45);  // what comes is news, four datagrams at once
  CHECK(crowd.table.host->players().at(0).loss_out < 0.2);
}

TEST_CASE(
    "who stands still, hears nothing or half of it for a second costs the others nothing, and then knows all",
    "[server][congestion]") {
  HostConfig config = Crowd::wide(19'200);
  config.clients_per_address_max = 4;
  Table table(4, {}, config);
  table.setup.monsters_max = table.setup.monsters = 100;
  table.restart();
  Hand &ann = table.hand(peer(1), "ann"), &bob = table.hand(peer(2), "bob"),
       &cyd = table.hand(peer(3), "cyd"), &dan = table.hand(peer(4), "dan");
  for (Hand* hand : {&ann, &bob, &cyd, &dan}) table.enter(*hand);
  table.run(120);
  // Ticks since the hand was last told of each monster, at most.
  const auto oldest = [&](const Hand& hand) {
    std::uint32_t most = 0;
    const MonsterTable& monsters = table.host->world().monsters();
    for (std::size_t row = 0; row < monsters.rows(); ++row)
      if (monsters.id[row] != EntityId{0}) most = std::max(most, ticks_behind(table, hand, row));
    return most;
  };
  for (const Hand* hand : {&ann, &bob, &cyd, &dan}) CHECK(oldest(*hand) <= 4);
  bob.vanished = true;
  cyd.deaf = true;
  for (int i = 0; i < 60; ++i) {
    dan.deaf = i * 7 % 13 < 6;
    table.run();
    CHECK(oldest(ann) <= 4);
  }
  CHECK(oldest(bob) >= 60);
  bob.vanished = cyd.deaf = dan.deaf = false;
  for (int i = 0; i < 120; ++i) {
    table.run();
    CHECK(oldest(ann) <= 4);
  }
  for (const Hand* hand : {&bob, &cyd, &dan}) CHECK(oldest(*hand) <= 4);
  CHECK(table.host->status().clients == 4);
}

TEST_CASE("a slow reader over TCP is closed with a reason, before it holds much", "[server][congestion]") {
  Crowd crowd(tcp_peer(1, 4));
  crowd.ann.deaf = true;  // it goes on to speak
  std::size_t most = 0;
  int ticks = 0;
  while (crowd.table.host->status().clients == 1 && ++ticks < 60 * 20) {
    // What a client says that acknowledges nothing.
    if (ticks % 30 == 0) crowd.table.send(crowd.ann, walking(1));
    crowd.table.run();
    for (const SessionAudit& session : crowd.table.books().sessions)
      most = std::max(most, session.memory_bytes);
  }
  CHECK(crowd.table.events.back().kind == HostEventKind::left);
  CHECK(crowd.table.events.back().detail == "overload");
  CHECK(crowd.table.closed_links.size() == 1);
  CHECK(most < 200'000);
  CHECK(ticks > 60 * 5);
}
