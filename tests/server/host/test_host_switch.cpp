#include "server/host/host_switch.h"

#include <deque>
#include <map>
#include <set>

#include "protocol/little_endian.h"
#include "server/host/connection_ids.h"
#include "server/host/host_keys.h"
#include "tests/catch.h"
#include "tests/server/host/host_table.h"

namespace ashlar::server::test {
namespace {

constexpr SecretKey secret{41, 42};
const secure::Secret house_seed = seed_of(41);

WorldSetup world_of(std::uint64_t seed, std::uint16_t tick_rate_hz) {
  WorldSetup setup;
  setup.seed = seed;
  setup.players_max = 8;
  setup.monsters = 0;
  setup.rules.tick_rate_hz = tick_rate_hz;
  return setup;
}

/// Two rooms behind one batch: the first has two places and 60 ticks a second, the second three and 20.
struct House {
  explicit House(Micros away_grace = Micros{0}) : rooms(house_seed) {
    HostConfig config;
    config.clients_per_address_max = 8;
    config.clients_max = 2;
    config.away_grace = away_grace;
    rooms.add(config, std::make_unique<World>(world_of(1001, 60)));
    config.clients_max = 3;
    rooms.add(config, std::make_unique<World>(world_of(2002, 20)));
  }
  Hand& hand(const PeerAddress& at) {
    return hands.emplace_back(at, "p" + std::to_string(at.port), hands.size() + 1);
  }
  void run(int turns = 1) {
    for (int i = 0; i < turns; ++i) {
      for (Hand& h : hands) h.poll(now, in);
      out.clear();
      rooms.advance(now, in, out);
      in.clear();
      now += tick;
      for (const auto& entry : out.entries())
        for (Hand& h : hands)
          if (h.at == entry.peer) h.receive(now, peer(7777), out.bytes(entry));
      for (Hand& h : hands) {
        if (!h.own) continue;
        // No tick of another room's: they run at different rates.
        CHECK(h.snapshot_tick <= rooms.host(room_of(h)).status().tick);
      }
    }
  }
  std::size_t room_of(const Hand& h) const {
    const std::size_t room = ConnectionIds::room_of(connection_key(house_seed), h.number());
    REQUIRE(room < rooms.size());
    return room;
  }
  void greet(Hand& h) {
    h.begin(now);
    for (int i = 0; i < 60 && !h.welcomed() && !h.end(); ++i) run();
  }
  void enter(Hand& h) {
    greet(h);
    REQUIRE(h.welcomed());
    run(8);
    REQUIRE(h.own);
  }

  HostSwitch rooms;
  Micros now{1'000'000};
  DatagramBatch in, out;
  std::deque<Hand> hands;
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
  for (std::uint16_t port = 1; port <= 5; ++port) house.hand(peer(port));
  for (Hand& hand : house.hands) house.enter(hand);
  for (const Hand& hand : house.hands) {
    const bool first_room = hand.at.port <= 2;
    CAPTURE(hand.at.port);
    CHECK(hand.welcomes[0].seed == (first_room ? 1001u : 2002u));
    CHECK(house.room_of(hand) == (first_room ? 0 : 1));
    CHECK(hand.handshake->server_key() == house.rooms.host(0).identity());
    CHECK(hand.snapshots > 0);
  }
  CHECK(house.rooms.host(0).status().clients == 2);
  CHECK(house.rooms.host(1).status().clients == 3);

  // Everybody speaks, and each is told of its own room alone.
  for (Hand& hand : house.hands) CHECK(hand.send(Chat{"from " + hand.name}) == SendResult::sent);
  house.run(90);
  for (const Hand& hand : house.hands) {
    CAPTURE(hand.at.port);
    std::set<std::string> from;
    for (const ChatLine& line : hand.lines)
      if (!line.from.empty()) from.insert(line.from);
    CHECK(from ==
          (hand.at.port <= 2 ? std::set<std::string>{"p1", "p2"} : std::set<std::string>{"p3", "p4", "p5"}));
    CHECK_FALSE(hand.end());
    CHECK(hand.resets == 0);
  }
  // All are full: the first room says so.
  Hand& late = house.hand(peer(6));
  house.greet(late);
  CHECK(late.end() == SessionEnd::full);
  CHECK(house.rooms.host(0).status().refused(SessionEnd::full) == 1);

  house.out.clear();
  house.rooms.shut_down("closing time", house.out);
  CHECK(house.out.entries().size() == 5);
  CHECK_FALSE(house.rooms.silent());
  house.run(200);
  CHECK(house.rooms.silent());
  for (const Hand& hand : house.hands)
    if (hand.at.port <= 5) CHECK(hand.end() == SessionEnd::shutting_down);
}

TEST_CASE("a handshake ends in the room where it began, whatever the policy says meanwhile",
          "[server][host_switch]") {
  House house;
  Hand &one = house.hand(peer(1)), &two = house.hand(peer(2)), &three = house.hand(peer(3));
  house.enter(one);
  // Two begin for the last place of the first room. One has to give way, and is told by that room.
  two.begin(house.now);
  three.begin(house.now);
  house.run(20);
  CHECK(three.own);
  CHECK(house.room_of(three) == 0);
  CHECK(two.end() == SessionEnd::full);
  CHECK(house.room_of(two) == 0);
  // It begins again, and the policy knows better now.
  house.enter(two);
  CHECK(house.room_of(two) == 1);
}

TEST_CASE("packets with foreign numbers and broken ones are dropped by one room each",
          "[server][host_switch]") {
  House house;
  Hand& one = house.hand(peer(1));
  house.enter(one);
  for (std::uint32_t id = 1; id <= 300; ++id) {
    std::vector<std::uint8_t> bytes(60, 0x33);
    bytes[0] = protocol_version;
    bytes[1] = static_cast<std::uint8_t>(secure::PacketType::sealed);
    put_little(&bytes[2], id * 0x01010101u);
    if (id * 0x01010101u != one.number()) house.in.add(peer(9), bytes);
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
  Hand &one = house.hand(tcp_peer(1, 1)), &two = house.hand(tcp_peer(2, 2)),
       &three = house.hand(tcp_peer(3, 3));
  for (Hand* hand : {&one, &two, &three}) house.enter(*hand);
  CHECK(house.rooms.host(1).has_session(three.at));
  CHECK_FALSE(house.rooms.host(0).has_session(three.at));
  three.vanished = one.vanished = true;
  house.in.add_closed(three.at);
  house.in.add_closed(one.at);
  house.run(2);
  CHECK(house.rooms.host(0).status().clients == 1);
  CHECK(house.rooms.host(1).status().clients == 0);
  CHECK_FALSE(house.rooms.host(1).has_session(three.at));
}

TEST_CASE("a TCP connection that ends in the turn of its finish leaves no session", "[server][host_switch]") {
  House house;
  Hand& one = house.hand(tcp_peer(1, 1));
  one.begin(house.now);
  house.run();  // its hello was accepted
  one.poll(house.now, house.in);
  REQUIRE(house.in.entries().size() == 1);
  one.vanished = true;
  house.in.add_closed(one.at);
  house.run();
  CHECK(house.rooms.host(0).status().door.finishes == 1);
  CHECK_FALSE(house.rooms.host(0).has_session(one.at));
}

TEST_CASE("who comes back to its room has its body, and who is sent to another begins anew",
          "[server][host_switch]") {
  House house(Micros{60'000'000});
  Hand &one = house.hand(peer(1)), &two = house.hand(peer(2));
  house.enter(one);
  if (GENERATE(false, true)) {
    // There is a place: the policy sends it where it was, from another port, and over TCP.
    const EntityId body = one.own->id;
    one.will_resume();
    one.at = GENERATE(peer(11), tcp_peer(11, 7));
    house.enter(one);
    CHECK(one.welcomes.back().resumed);
    CHECK(one.own->id == body);
    CHECK(house.room_of(one) == 0);
    CHECK(house.rooms.host(0).status().resumed == 1);
    CHECK(house.rooms.host(0).away() == 0);
    return;
  }
  house.enter(two);
  one.will_resume();
  one.at = peer(11);
  house.enter(one);  // the first room is full, by its own old session, too
  CHECK_FALSE(one.welcomes.back().resumed);
  CHECK(house.room_of(one) == 1);
  CHECK(house.rooms.host(1).status().resume_refused == 0);
  // Its body stands where it was for a while.
  house.run(60 * 12);
  CHECK(house.rooms.host(0).away() == 1);
  CHECK_FALSE(one.end());
  CHECK_FALSE(two.end());
}

}  // namespace ashlar::server::test
