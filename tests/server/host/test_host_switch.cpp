#include "server/host/host_switch.h"

#include <map>
#include <set>

#include "server/host/connection_ids.h"
#include "tests/catch.h"
#include "tests/server/host/host_table.h"

namespace ashlar::server::test {
namespace {

constexpr SecretKey secret{41, 42};

WorldSetup world_of(std::uint64_t seed, std::uint16_t tick_rate_hz) {
  WorldSetup setup;
  setup.seed = seed;
  setup.players_max = 8;
  setup.monsters = 0;
  setup.rules.tick_rate_hz = tick_rate_hz;
  return setup;
}

/// What one client was told.
struct Heard {
  std::vector<Welcome> welcomes;
  std::vector<Refuse> refusals;
  std::vector<ChatLine> lines;
  std::vector<SnapshotPart> snapshots;
  std::vector<Goodbye> goodbyes;
  std::set<std::uint32_t> connections;
};

/// Two rooms behind one batch: the first has two places and 60 ticks a second, the second three and 20.
struct House {
  House() : rooms(secret) {
    HostConfig config;
    config.clients_per_address_max = 8;
    config.clients_max = 2;
    rooms.add(config, std::make_unique<World>(world_of(1001, 60)));
    config.clients_max = 3;
    rooms.add(config, std::make_unique<World>(world_of(2002, 20)));
  }
  void run(int turns = 1) {
    for (int i = 0; i < turns; ++i) {
      out.clear();
      rooms.advance(now, in, out);
      in.clear();
      now += tick;
      for (const auto& entry : out.entries()) {
        const auto packet = decode_packet(out.bytes(entry));
        REQUIRE(packet);
        Heard& who = heard[entry.peer.port];
        if (packet->header.connection != 0) who.connections.insert(packet->header.connection);
        if (packet->payload.empty()) continue;
        const auto message = decode_server_message(packet->payload);
        REQUIRE(message);
        if (const auto* m = std::get_if<Welcome>(&*message)) who.welcomes.push_back(*m);
        if (const auto* m = std::get_if<Refuse>(&*message)) who.refusals.push_back(*m);
        if (const auto* m = std::get_if<Goodbye>(&*message)) who.goodbyes.push_back(*m);
        if (const auto* m = std::get_if<ChatLine>(&*message)) who.lines.push_back(*m);
        if (const auto* m = std::get_if<SnapshotPart>(&*message)) {
          // No tick of another room's: they run at different rates.
          const std::size_t room = ConnectionIds::room_of(secret, packet->header.connection);
          REQUIRE(room < rooms.size());
          CHECK(m->tick == rooms.host(room).status().tick);
          who.snapshots.push_back(*m);
        }
      }
    }
  }
  void greet(Hand& hand) {
    hand.send(in, Hello{protocol_version, hand.at.port, "p" + std::to_string(hand.at.port), ""});
    run();
  }
  void enter(Hand& hand) {
    greet(hand);
    REQUIRE(heard[hand.at.port].welcomes.size() == 1);
    hand.connection = heard[hand.at.port].welcomes[0].connection;
    hand.send(in, Join{});
    run(6);
  }

  HostSwitch rooms;
  Micros now{1'000'000};
  DatagramBatch in, out;
  std::map<std::uint16_t, Heard> heard;
};

}  // namespace

TEST_CASE("an id tells its room to who holds the secret, and to nobody else", "[server][host_switch]") {
  std::map<std::uint8_t, std::set<std::uint8_t>> top_bytes;
  for (const int room : {0, 1, 7, 255}) {
    ConnectionIds ids(secret, static_cast<std::uint8_t>(room));
    std::set<std::uint32_t> drawn;
    for (int i = 0; i < 2000; ++i) {
      const std::uint32_t id = ids.draw();
      CHECK(id != 0);
      CHECK(ConnectionIds::room_of(secret, id) == room);
      drawn.insert(id);
      top_bytes[static_cast<std::uint8_t>(room)].insert(static_cast<std::uint8_t>(id >> 24));
    }
    CHECK(drawn.size() > 1990);
  }
  // Every byte occurs in every room: what stands there does not narrow a guess.
  for (const auto& [room, seen] : top_bytes) CHECK(seen.size() > 250);
  ConnectionIds one(secret, 0), same(secret, 0), other(secret, 1), foreign({41, 43}, 0);
  const std::uint32_t first = one.draw();
  CHECK(same.draw() == first);
  CHECK((other.draw() & 0xffffff) != (first & 0xffffff));
  CHECK(foreign.draw() != first);
}

TEST_CASE("who finds the first room full comes into the second, and nobody hears of the other world",
          "[server][host_switch]") {
  House house;
  std::vector<Hand> hands;
  for (std::uint16_t port = 1; port <= 5; ++port) hands.push_back(Hand{peer(port)});
  for (Hand& hand : hands) house.enter(hand);
  for (std::uint16_t port = 1; port <= 5; ++port) {
    const Heard& who = house.heard[port];
    const bool first_room = port <= 2;
    CAPTURE(port);
    CHECK(who.welcomes[0].seed == (first_room ? 1001u : 2002u));
    CHECK(ConnectionIds::room_of(secret, who.welcomes[0].connection) == (first_room ? 0 : 1));
    CHECK_FALSE(who.snapshots.empty());
  }
  CHECK(house.rooms.host(0).status().clients == 2);
  CHECK(house.rooms.host(1).status().clients == 3);

  // Everybody speaks and walks, and each is told of its own room alone.
  for (Hand& hand : hands) hand.send(house.in, Chat{1, "from " + std::to_string(hand.at.port)});
  for (int turn = 0; turn < 90; ++turn) {
    for (Hand& hand : hands) {
      const std::size_t room = hand.at.port <= 2 ? 0 : 1;
      hand.send(house.in, walking(house.rooms.host(room).status().tick + 2));
    }
    house.run();
  }
  for (std::uint16_t port = 1; port <= 5; ++port) {
    const Heard& who = house.heard[port];
    const bool first_room = port <= 2;
    CAPTURE(port);
    CHECK(who.connections == std::set<std::uint32_t>{hands[port - 1u].connection});
    std::set<std::string> from;
    for (const ChatLine& line : who.lines)
      if (!line.from.empty()) from.insert(line.from);
    CHECK(from == (first_room ? std::set<std::string>{"p1", "p2"} : std::set<std::string>{"p3", "p4", "p5"}));
    CHECK(who.goodbyes.empty());
  }
  // All are full: the first room says so.
  Hand late{peer(6)};
  house.greet(late);
  REQUIRE(house.heard[6].refusals.size() == 1);
  CHECK(house.heard[6].refusals[0].reason == RefuseReason::full);

  house.out.clear();
  house.rooms.shut_down("closing time", house.out);
  CHECK(house.out.entries().size() == 5);
}

TEST_CASE("a hello that is said again reaches the room that answered it", "[server][host_switch]") {
  House house;
  Hand one{peer(1)}, two{peer(2)};
  house.enter(one);
  house.greet(two);  // it takes the last place of the first room, and its welcome is lost
  house.greet(two);
  REQUIRE(house.heard[2].welcomes.size() == 2);
  CHECK(house.heard[2].welcomes[0].connection == house.heard[2].welcomes[1].connection);
  HostAudit audit;
  house.rooms.host(1).audit(audit);
  CHECK(audit.sessions.empty());
}

TEST_CASE("packets with foreign ids and broken ones are dropped by one room each", "[server][host_switch]") {
  House house;
  Hand one{peer(1)};
  house.enter(one);
  Hand thief{peer(9)};
  for (std::uint32_t id = 1; id <= 300; ++id) {
    thief.connection = id * 0x01010101u;
    if (thief.connection != one.connection) thief.send(house.in, Leave{});
  }
  const std::array<std::uint8_t, 5> garbage{1, 2, 3, 4, 5};
  house.in.add(peer(9), garbage);
  house.run();
  const auto drops = [&](DropReason reason) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < 2; ++i)
      sum += house.rooms.host(i).status().drops[static_cast<std::size_t>(reason)];
    return sum;
  };
  CHECK(drops(DropReason::unknown_connection) == 300);
  std::uint64_t all = 0;
  for (std::size_t reason = 0; reason < HostStatus{}.drops.size(); ++reason)
    all += drops(static_cast<DropReason>(reason));
  CHECK(all == 301);
  CHECK(house.rooms.host(0).status().clients == 1);
}

TEST_CASE("a TCP connection belongs to the room that its session is in, and its end ends that",
          "[server][host_switch]") {
  House house;
  Hand one{peer(1)}, two{peer(2)}, three{peer(3)};
  std::uint32_t link = 0;
  for (Hand* hand : {&one, &two, &three}) {
    hand->at.transport = Transport::tcp;
    hand->at.link = ++link;
    house.enter(*hand);
  }
  CHECK(house.rooms.host(1).has_session(three.at));
  CHECK_FALSE(house.rooms.host(0).has_session(three.at));
  house.in.add_closed(three.at);
  house.in.add_closed(one.at);
  house.run(2);
  CHECK(house.rooms.host(0).status().clients == 1);
  CHECK(house.rooms.host(1).status().clients == 0);
  CHECK_FALSE(house.rooms.host(1).has_session(three.at));
}

TEST_CASE("a TCP connection that ends in the turn of its hello leaves no session", "[server][host_switch]") {
  House house;
  Hand one{peer(1)};
  one.at.transport = Transport::tcp;
  one.at.link = 1;
  one.send(house.in, Hello{protocol_version, one.at.port, "p1", ""});
  house.in.add_closed(one.at);
  house.run();
  CHECK_FALSE(house.rooms.host(0).has_session(one.at));
}

}  // namespace ashlar::server::test
