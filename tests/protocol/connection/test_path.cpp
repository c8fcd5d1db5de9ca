#include "protocol/connection/path.h"

#include <optional>
#include <set>

#include "tests/catch.h"
#include "tests/protocol/connection/simulated_link.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

constexpr Micros path_second{1'000'000};

SimulatedPair::Options path_options() {
  SimulatedPair::Options options;
  options.up.latency = options.down.latency = Micros{20'000};
  return options;
}

/// A client that sends an input, and a server that sends a snapshot, 60 times a second.
struct Chatter {
  explicit Chatter(SimulatedPair& pair) : pair_(pair) {
    pair.client->on_unreliable = [this](Micros, std::uint64_t, std::span<const std::uint8_t>) {
      ++snapshots;
    };
    pair.server->on_unreliable = [this](Micros, std::uint64_t, std::span<const std::uint8_t>) { ++inputs; };
  }
  Micros operator()(Micros now) {
    if (now >= next_) {
      next_ = now + Micros{16'667};
      (void)pair_.client->connection.send_unreliable(now, std::vector<std::uint8_t>(60), pair_.client->out);
      (void)pair_.server->connection.send_unreliable(now, std::vector<std::uint8_t>(300), pair_.server->out);
      while (pair_.client->connection.next_fate() || pair_.server->connection.next_fate()) {
      }
    }
    return next_;
  }
  int snapshots = 0, inputs = 0;

 private:
  SimulatedPair& pair_;
  Micros next_{0};
};

/// One of a server's connections, all of which get the same secret for challenges, and its client.
struct OneOfMany {
  explicit OneOfMany(const secure::SessionKeys& keys)
      : client(keys, secure::End::client, now),
        connection(settings(), keys, client_address, challenge_secret(2), now) {}

  static ConnectionSettings settings() {
    ConnectionSettings s;
    s.end = secure::End::server;
    s.peer_may_move = true;
    return s;
  }

  void send(const std::vector<std::uint8_t>& plaintext, const PeerAddress& from) {
    std::vector<std::uint8_t> packet(datagram_bytes_max);
    packet.resize(client.seal(++sequence, plaintext, packet));
    const auto opened = connection.open(now, from, packet, scratch);
    REQUIRE(opened.has_value());
    REQUIRE(connection.accept(now, *opened).has_value());
  }
  void poll() { out.clear(), connection.poll(now, out); }

  /// What a client that comes from there is challenged with.
  std::optional<std::uint64_t> challenge_for(const PeerAddress& from) {
    send(std::vector<std::uint8_t>(20, 1), from);
    poll();
    for (const auto& entry : out.entries()) {
      if (entry.peer != from) continue;
      const auto packet = out.bytes(entry);
      const auto header = client.peek(packet);
      REQUIRE(header.has_value());
      const auto size = client.open(packet, *header, scratch.bytes);
      REQUIRE(size.has_value());
      FrameReader frames(std::span<const std::uint8_t>(scratch.bytes).first(*size));
      Frame frame;
      while (frames.next(frame))
        if (const auto* challenge = std::get_if<PathChallengeFrame>(&frame)) return challenge->data;
    }
    return std::nullopt;
  }
  void answer(std::uint64_t data, const PeerAddress& from) {
    std::vector<std::uint8_t> plaintext(9);
    FrameWriter(plaintext).path_response(data);
    send(plaintext, from);
  }

  Micros now{1'000'000};
  secure::PacketProtection client;
  Connection connection;
  PacketScratch scratch;
  DatagramBatch out;
  std::uint64_t sequence = 0;
};

}  // namespace

TEST_CASE("no candidate is sent more than came from it", "[protocol][connection][path]") {
  Path path(address(1), challenge_secret(1));
  path.received(Micros{0}, address(2), 30, true);
  REQUIRE(path.moving());
  CHECK_FALSE(path.challenge(Micros{0}, 35, Micros{100'000}).has_value());  // 30 bytes do not pay for 35
  path.received(Micros{10}, address(2), 30, true);
  const auto data = path.challenge(Micros{10}, 35, Micros{100'000});
  REQUIRE(data.has_value());
  CHECK_FALSE(path.challenge(Micros{20}, 35, Micros{100'000}).has_value());  // not yet, and not paid
  CHECK_FALSE(path.answered(*data + 1));
  CHECK(path.address() == address(1));
  CHECK(path.answered(*data));
  CHECK(path.address() == address(2));
  CHECK_FALSE(path.answered(*data));
}

TEST_CASE("an old packet from elsewhere moves nothing, and the old address calls a move off",
          "[protocol][connection][path]") {
  Path path(address(1), challenge_secret(1));
  path.received(Micros{0}, address(2), 1000, false);
  CHECK_FALSE(path.moving());
  path.received(Micros{0}, address(2), 1000, true);
  CHECK(path.moving());
  const auto data = path.challenge(Micros{0}, 35, Micros{100'000});
  REQUIRE(data.has_value());
  path.received(Micros{0}, address(1), 1000, false);
  CHECK(path.moving());
  path.received(Micros{0}, address(1), 1000, true);
  CHECK_FALSE(path.moving());
  CHECK(path.challenges_failed() == 1);
  CHECK_FALSE(path.answered(*data));
}

TEST_CASE("challenges differ, and stop after some", "[protocol][connection][path]") {
  std::set<std::uint64_t> seen;
  Path path(address(1), challenge_secret(1));
  Micros now{0};
  for (std::uint16_t port = 2; port < 200; ++port) {
    path.received(now, address(port), 1200, true);
    std::uint32_t count = 0;
    for (int i = 0; i < 20; ++i, now += Micros{200'000})
      if (const auto data = path.challenge(now, 35, Micros{100'000})) seen.insert(*data), ++count;
    CHECK(count == Path::challenges_max);
    CHECK_FALSE(path.moving());
  }
  CHECK(seen.size() == 198);
}

TEST_CASE("what one connection is challenged with tells nothing of another's",
          "[protocol][connection][path]") {
  const secure::SessionKeys keys = session_keys(1, secure::Cipher::chacha20_poly1305);
  secure::SessionKeys asked_again = keys;  // one handshake, the first session refused
  ++asked_again.connection;
  OneOfMany first(keys), second(session_keys(2, secure::Cipher::chacha20_poly1305)), third(asked_again);
  const PeerAddress elsewhere = address(5000);
  const auto a = first.challenge_for(elsewhere), b = second.challenge_for(elsewhere),
             c = third.challenge_for(elsewhere);
  REQUIRE((a && b && c));
  CHECK(std::set{*a, *b, *c}.size() == 3);
  second.answer(*a, elsewhere);
  CHECK(second.connection.address() == client_address);
  second.answer(*b, elsewhere);
  CHECK(second.connection.address() == elsewhere);
}

TEST_CASE("a candidate that has not paid for a challenge is waited for, not polled for",
          "[protocol][connection][path]") {
  OneOfMany one(session_keys(1, secure::Cipher::chacha20_poly1305));
  one.send({1}, address(5000));  // 27 bytes, and a challenge takes 35
  one.poll();
  CHECK(one.connection.next_poll_at() > one.now);
  REQUIRE(one.challenge_for(address(5000)).has_value());
  CHECK(one.connection.next_poll_at() > one.now);
  for (int i = 0; i < 2; ++i) {  // another challenge is due; 73 bytes pay for two
    one.now += path_second;
    one.poll();
    CHECK(one.connection.next_poll_at() > one.now);
  }
  one.send(std::vector<std::uint8_t>(20, 1), address(5000));
  CHECK(one.connection.next_poll_at() <= one.now);
}

TEST_CASE("a session moves with its client's address, and loses a round trip of snapshots",
          "[protocol][connection][path]") {
  SimulatedPair pair(path_options());
  Chatter chatter(pair);
  pair.run(pair.now + 2 * path_second, std::ref(chatter));
  const int before = chatter.snapshots;
  pair.client->own = address(1001);
  std::size_t to_old = 0, to_new = 0;
  pair.server_sends = [&](const PeerAddress& to, std::span<const std::uint8_t>) {
    ++(to == address(1001) ? to_new : to_old);
    return to == address(1001);  // nobody is at the old address any more
  };
  pair.run(pair.now + path_second, std::ref(chatter));
  CHECK(pair.server->connection.address() == address(1001));
  CHECK(pair.server->connection.counters().moves == 1);
  CHECK(chatter.snapshots - before >= 60 - 6);  // 40 ms and a tick
  CHECK(to_old <= 8);
  CHECK(pair.client->connection.state() == ConnectionState::open);
}

TEST_CASE("who copies honest packets from elsewhere, and faster, gets challenges and nothing else",
          "[protocol][connection][path]") {
  SimulatedPair pair(path_options());
  Chatter chatter(pair);
  pair.run(pair.now + path_second, std::ref(chatter));
  // Every packet of the client arrives first from the attacker's address; the original is a double then.
  pair.client->own = address(6666);
  std::size_t to_attacker = 0, to_attacker_packets = 0, longest = 0;
  const std::uint64_t copied_before = pair.server->connection.counters().bytes_received;
  pair.server_sends = [&](const PeerAddress& to, std::span<const std::uint8_t> bytes) {
    if (to != address(6666)) return true;
    to_attacker += bytes.size(), ++to_attacker_packets;
    longest = std::max(longest, bytes.size());
    return false;  // he does not pass them on
  };
  const int before = chatter.snapshots;
  pair.run(pair.now + 5 * path_second, std::ref(chatter));
  CHECK(pair.server->connection.address() == client_address);
  CHECK(pair.server->connection.counters().moves == 0);
  CHECK(pair.server->connection.counters().challenges_failed > 0);
  CHECK(chatter.snapshots - before >= 5 * 59);  // the session goes on where it was
  CHECK(longest == secure::seal_overhead_bytes + 9);
  CHECK(to_attacker <= pair.server->connection.counters().bytes_received - copied_before);
  // He stops: nothing is left of it.
  pair.client->own = client_address;
  pair.run(pair.now + path_second, std::ref(chatter));
  CHECK(pair.server->connection.address() == client_address);
}

TEST_CASE("who copies acknowledgements from elsewhere, and faster, shortens no round trip",
          "[protocol][connection][path]") {
  OneOfMany one(session_keys(1, secure::Cipher::chacha20_poly1305));
  const auto acked_after = [&](Micros took, const PeerAddress& from) {
    const auto sent = one.connection.send_unreliable(one.now, std::vector<std::uint8_t>(100), one.out);
    REQUIRE(sent.has_value());
    one.now += took;
    std::vector<std::uint8_t> plaintext(20);
    const AckRange range{*sent, *sent};
    FrameWriter writer(plaintext);
    REQUIRE(writer.ack({&range, 1}, 0, plaintext.size()) == 1);
    plaintext.resize(writer.size());
    one.send(plaintext, from);
    return one.connection.round_trip().samples();
  };
  CHECK(acked_after(Micros{80'000}, client_address) == 1);
  for (int i = 0; i < 20; ++i) CHECK(acked_after(Micros{1'000}, address(6666)) == 1);
  CHECK(one.connection.round_trip().smoothed() == Micros{80'000});
  CHECK(one.connection.counters().unreliable_acked == 21);
  CHECK(acked_after(Micros{80'000}, client_address) == 2);
}

TEST_CASE("a client hears its server from one address alone", "[protocol][connection][path]") {
  SimulatedPair pair(path_options());
  Chatter chatter(pair);
  pair.server->own = address(2001);
  pair.run(pair.now + path_second, std::ref(chatter));
  CHECK(chatter.snapshots == 0);
  CHECK(pair.client->dropped[static_cast<std::size_t>(DropReason::wrong_address)] > 0);
}
