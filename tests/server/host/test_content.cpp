// Maps and props that sessions ask for.
#include "server/host/content_shelf.h"
#include "tests/protocol/content/contents.h"
#include "tests/server/host/host_table.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

std::shared_ptr<const Prop> large_prop() {
  Rng rng = rng_for(5, 80);
  PropModel model;
  model.name = "large.obj";
  for (std::uint32_t i = 0; i < 9000; ++i) {
    model.vertices.push_back({rng.unit(), rng.unit(), rng.unit()});
    if (i >= 2) model.triangles.push_back({i - 2, i - 1, i});
  }
  auto prop = Prop::place(model, {{20, 20, 1}, Turn16{0}, 1});
  if (!prop) FAIL(prop.error());
  return *prop;
}

/// A server that gives one prop away.
struct Desk {
  explicit Desk(std::uint64_t bytes_per_s = 4 << 20, std::uint32_t clients = 4)
      : table(clients, {prop}, config(*prop, bytes_per_s)) {
    whole = table.config.content->find(hash()).bytes;
  }
  static HostConfig config(const Prop& of, std::uint64_t bytes_per_s) {
    auto shelf = std::make_shared<ContentShelf>();
    REQUIRE_FALSE(shelf->add(std::shared_ptr<const Prop>(&of, [](const Prop*) {})));
    HostConfig config;
    config.content = std::move(shelf);
    config.content_bytes_per_s = bytes_per_s;
    config.clients_per_address_max = 64;
    return config;
  }
  std::uint64_t hash() const { return prop->content_hash(); }
  Hand& greet(std::uint16_t port, const std::string& name) {
    Hand& hand = table.hand(peer(port), name);
    hand.joins = false;
    table.greet(hand);
    REQUIRE(hand.welcomed());
    return hand;
  }
  bool has_all(const Hand& hand) const { return std::ranges::equal(hand.fetched, whole); }

  std::shared_ptr<const Prop> prop = large_prop();
  Table table;
  std::span<const std::uint8_t> whole;
};

}  // namespace

TEST_CASE("content is given to who was welcomed and to who plays", "[server][content]") {
  Desk desk;
  Hand& ann = desk.greet(1, "ann");
  (void)ann.send(ContentRequest{desk.hash(), 0});
  desk.table.run(60);
  CHECK(desk.has_all(ann));
  (void)ann.send(Join{{desk.hash()}, 1});
  desk.table.run(5);
  REQUIRE(ann.own);
  ann.fetched.clear();
  (void)ann.send(ContentRequest{desk.hash(), 100});
  desk.table.run(60);
  CHECK(std::ranges::equal(ann.fetched, desk.whole.subspan(100)));
  CHECK(ann.snapshot_tick == desk.table.host->status().tick);
  CHECK(desk.table.host->status().content.finished == 2);
  // What it did not ask for right is told to it.
  (void)ann.send(ContentRequest{desk.hash() + 1, 0});
  desk.table.run(10);
  (void)ann.send(ContentRequest{desk.hash(), static_cast<std::uint32_t>(desk.whole.size())});
  desk.table.run(10);
  CHECK(ann.refusals == std::vector{ContentRefusal::unknown, ContentRefusal::bad_offset});
}

TEST_CASE("a row's next session does not get what the last one asked for", "[server][content]") {
  Desk desk(64 << 10);
  Hand& ann = desk.greet(1, "ann");
  (void)ann.send(ContentRequest{desk.hash(), 0});
  desk.table.run(20);
  REQUIRE_FALSE(ann.fetched.empty());
  ann.leave(desk.table.now);
  desk.table.run(5);
  const std::uint64_t parts = desk.table.host->status().content.parts;
  Hand& bob = desk.greet(2, "bob");
  desk.table.run(120);
  CHECK(bob.fetched.empty());
  CHECK(desk.table.host->status().content.parts == parts);
}

TEST_CASE("a client that fetches keeps its place, but not for ever", "[server][content]") {
  Desk desk(4096);  // a KiB a second for it: minutes
  Hand &ann = desk.greet(1, "ann"), &idle = desk.greet(2, "idle");
  (void)ann.send(ContentRequest{desk.hash(), 0});
  desk.table.run(60 * 6);
  CHECK(idle.end() == SessionEnd::protocol);
  CHECK_FALSE(ann.end());
  desk.table.run(60 * 60);
  CHECK_FALSE(ann.end());
  CHECK(ann.fetched.size() > 50 * 1024);
  // It asks for it again and again.
  int asked = 0;
  for (int second = 0; second < 560 && !ann.end(); ++second) {
    if (second % 60 == 0) (void)ann.send(ContentRequest{desk.hash(), 0}), ++asked;
    desk.table.run(60);
  }
  CHECK(asked > 8);
  CHECK(ann.end() == SessionEnd::protocol);
  CHECK(ann.end_text() == "fetching maps and props took longer than 10 minutes");
}

TEST_CASE("who fetches holds up nobody who plays", "[server][content]") {
  Desk desk(std::uint64_t{1} << 30);
  Hand& bob = desk.table.hand(peer(2), "bob");
  bob.content = {desk.hash()};
  desk.table.enter(bob);
  // Its path takes 1.2 Mbit/s, its snapshots a part of that.
  bob.bytes_per_turn = 2500;
  (void)bob.send(ContentRequest{desk.hash(), 0});
  std::uint32_t latest = 0;
  for (int i = 0; i < 240; ++i) {
    desk.table.run();
    if (i > 60) latest = std::max(latest, desk.table.host->status().tick - bob.snapshot_tick);
    for (const SessionAudit& session : desk.table.books().sessions) CHECK(session.memory_bytes < 512 * 1024);
  }
  CHECK(bob.fetched.size() > 64 * 1024);
  CHECK(latest < 30);
  CHECK_FALSE(bob.end());
}
