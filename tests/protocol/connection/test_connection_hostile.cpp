// A peer with the session's keys who sends what no honest one would.
#include <cstring>

#include "protocol/connection/connection.h"
#include "tests/catch.h"
#include "tests/protocol/connection/simulated_link.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// A server's connection, and the client's keys in the wrong hands.
struct Victim {
  Victim()
      : keys(session_keys(9, secure::Cipher::chacha20_poly1305)),
        seals(keys, secure::End::client, now),
        connection(settings(), keys, client_address, challenge_secret(2), now) {}

  static ConnectionSettings settings() {
    ConnectionSettings s;
    s.end = secure::End::server;
    s.peer_may_move = true;
    s.receive_windows = server_stream_windows;
    return s;
  }

  /// @return what accept() said; nothing: it did not open
  std::optional<DropReason> send(const Bytes& plaintext, const PeerAddress& from = client_address) {
    Bytes packet(datagram_bytes_max);
    packet.resize(seals.seal(++sequence, plaintext, packet));
    return deliver(packet, from);
  }
  std::optional<DropReason> deliver(const Bytes& packet, const PeerAddress& from = client_address) {
    const auto opened = connection.open(now, from, packet, scratch);
    if (!opened) return opened.error();
    const auto received = connection.accept(now, *opened);
    if (!received) return received.error();
    return std::nullopt;
  }
  Bytes stream(StreamId id, std::uint64_t offset, const Bytes& bytes) {
    Bytes plaintext(plaintext_bytes_max);
    FrameWriter writer(plaintext);
    std::memcpy(writer.stream(id, offset, bytes.size()).data(), bytes.data(), bytes.size());
    plaintext.resize(writer.size());
    return plaintext;
  }
  void poll() { out.clear(), connection.poll(now, out); }

  Micros now{1'000'000};
  secure::SessionKeys keys;
  secure::PacketProtection seals;
  Connection connection;
  PacketScratch scratch;
  DatagramBatch out;
  std::uint64_t sequence = 0;
};

}  // namespace

TEST_CASE("malformed frames close the connection and change nothing else",
          "[protocol][connection][hostile]") {
  Victim victim;
  // A chat message first, then a frame of no type: the message must not count.
  Bytes bytes = victim.stream(StreamId::chat, 0, {1, 0, 0, 0, 'x'});
  bytes.push_back(99);
  CHECK(victim.send(bytes) == DropReason::malformed);
  CHECK(victim.connection.close_reason() == CloseReason::malformed);
  Bytes message;
  CHECK_FALSE(victim.connection.take(StreamId::chat, message));
  CHECK(victim.send({1}) == DropReason::wrong_state);
}

TEST_CASE("acknowledging what was never sent closes the connection", "[protocol][connection][hostile]") {
  Victim victim;
  CHECK(victim.send({2, 1, 0, 0, 0}) == DropReason::bad_ack);
  CHECK(victim.connection.close_reason() == CloseReason::bad_ack);
}

TEST_CASE("who acknowledges whatever it may have been sent is found out, and who tells the truth is not",
          "[protocol][connection][hostile]") {
  const bool honest = GENERATE(true, false);
  Victim victim;
  Connection listens({}, victim.keys, client_address, secure::Secret{}, victim.now);
  AckRanges arrived;
  std::uint64_t newest = 0, packets = 0;
  while (packets < 4000 && victim.connection.state() == ConnectionState::open) {
    victim.now += Micros{10'000};
    victim.out.clear();
    REQUIRE(victim.connection.send_unreliable(victim.now, Bytes(20), victim.out));
    for (const DatagramBatch::Entry& entry : victim.out.entries()) {
      const auto opened = listens.open(victim.now, client_address, victim.out.bytes(entry), victim.scratch);
      REQUIRE(opened.has_value());
      newest = opened->sequence, ++packets;
      arrived.insert(newest);
    }
    Bytes plaintext(200);
    FrameWriter writer(plaintext);
    const AckRange all[] = {{1, newest}};
    REQUIRE(writer.ack(honest ? arrived.list() : std::span<const AckRange>(all), 0, 150) > 0);
    plaintext.resize(writer.size());
    const auto refused = victim.send(plaintext);
    if (honest) REQUIRE_FALSE(refused.has_value());
  }
  CHECK(victim.connection.counters().packets_passed_over > 0);
  if (honest) {
    CHECK(victim.connection.counters().packets_lost == 0);
    CHECK(packets == 4000);
  } else {
    CHECK(victim.connection.close_reason() == CloseReason::bad_ack);
    CHECK(packets <= 2 * passed_over_every_most);
  }
}

TEST_CASE("more than the credit closes the connection, wherever it is", "[protocol][connection][hostile]") {
  const std::uint64_t offset = GENERATE(std::uint64_t{4096}, std::uint64_t{1} << 32, varint_max - 100);
  Victim victim;
  CHECK(victim.send(victim.stream(StreamId::bulk, offset, Bytes(50))) == DropReason::malformed);
  CHECK(victim.connection.close_reason() == CloseReason::flow_control);
  CHECK(victim.connection.memory_bytes() < 8 * 1024);
}

TEST_CASE("a message that is too long closes the connection as it begins",
          "[protocol][connection][hostile]") {
  Victim victim;
  CHECK(victim.send(victim.stream(StreamId::chat, 0, {0xff, 0xff, 0xff, 0xff})) == DropReason::malformed);
  CHECK(victim.connection.close_reason() == CloseReason::bad_stream);
}

TEST_CASE("a forged, doubled or foreign packet moves nothing", "[protocol][connection][hostile]") {
  Victim victim;
  Bytes packet(datagram_bytes_max);
  packet.resize(victim.seals.seal(++victim.sequence, Bytes{1}, packet));
  Bytes forged = packet;
  forged.back() ^= 1;
  CHECK(victim.deliver(forged) == DropReason::corrupt);
  CHECK_FALSE(victim.deliver(packet).has_value());  // the forgery has not used its sequence up
  CHECK(victim.deliver(packet) == DropReason::duplicate);
  CHECK(victim.deliver(packet, address(5)) == DropReason::duplicate);
  forged = packet;
  forged[2] ^= 1;
  CHECK(victim.deliver(forged) == DropReason::unknown_connection);
  CHECK(victim.connection.counters().packets_received == 1);
}

TEST_CASE("whatever a peer does, a server's session stays within its memory",
          "[protocol][connection][hostile]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Rng rng{seed};
  Victim victim;
  victim.poll();
  std::size_t most = 0;
  std::uint64_t windows = 0;
  for (const std::uint32_t window : server_stream_windows) windows += window;
  // As many gaps as there can be, in every stream, and never an acknowledgement; the server goes on sending.
  for (int i = 0; i < 30'000; ++i) {
    Bytes plaintext(plaintext_bytes_max);
    FrameWriter writer(plaintext);
    for (int k = 0; k < 30; ++k) {
      const auto stream = static_cast<StreamId>(rng.below(stream_count));
      const std::uint64_t offset = 8 + rng.below(server_stream_windows[row(stream)] - 16);
      writer.stream(stream, offset, 1)[0] = 1;
    }
    plaintext.resize(writer.size());
    victim.send(plaintext);
    if (i % 16 == 0) {
      victim.now += Micros{1000};
      (void)victim.connection.send_unreliable(victim.now, Bytes(1000), victim.out);
      (void)victim.connection.send(StreamId::bulk, Bytes(10'000));
      victim.poll();
    }
    most = std::max(most, victim.connection.memory_bytes());
  }
  std::size_t queues = 0;
  for (const StreamProperties& each : stream_properties) queues += each.queue_bytes_max;
  CHECK(victim.connection.state() == ConnectionState::open);
  // Windows, rounded up by the rings; gaps; what the server itself wants to send; books.
  CHECK(most <
        2 * windows + stream_count * 2 * ReceiveStream::gaps_max * sizeof(Interval) + queues + 64 * 1024);
}

TEST_CASE("who leaves as many packets unanswered as are remembered keeps nobody polling",
          "[protocol][connection][hostile]") {
  Victim victim;
  REQUIRE(victim.connection.send(StreamId::bulk, Bytes(100)) == SendResult::sent);
  // Acknowledgements count, too, and every fourth packet gets one at once.
  for (std::size_t i = 0; i < ack_packets * LossDetection::packets_max; ++i) {
    REQUIRE_FALSE(victim.send({1}).has_value());
    victim.poll();
  }
  const ConnectionCounters& counters = victim.connection.counters();
  CHECK(counters.packets_sent + counters.packets_passed_over == LossDetection::packets_max);
  // Something of everything that would be said: acknowledgements, an answer, a challenge, a probe, a ping.
  Bytes challenge(40, 1);
  challenge[0] = static_cast<std::uint8_t>(FrameType::path_challenge);
  for (std::size_t i = 0; i < ack_packets; ++i)
    REQUIRE_FALSE(victim.send(challenge, address(5000)).has_value());
  for (const Micros wait : {Micros{0}, ack_delay_max, Micros{3'000'000}}) {
    victim.now += wait;
    victim.poll();
    CHECK(victim.out.empty());
    CHECK(victim.connection.state() == ConnectionState::open);
    CHECK(victim.connection.next_poll_at() > victim.now);
  }
  victim.now = victim.connection.next_poll_at();
  victim.poll();
  CHECK(victim.connection.close_reason() == CloseReason::timeout);
}

TEST_CASE("random frames never harm a connection", "[protocol][connection][hostile]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Rng rng{seed};
  for (int round = 0; round < 200; ++round) {
    Victim victim;
    victim.poll();
    Bytes message;
    for (int i = 0; i < 60 && victim.connection.state() == ConnectionState::open; ++i) {
      Bytes plaintext(plaintext_bytes_max);
      FrameWriter writer(plaintext);
      for (std::uint32_t k = rng.below(6); k > 0; --k) {
        const auto stream = static_cast<StreamId>(rng.below(stream_count));
        const std::uint64_t small = rng.below(5000);
        switch (rng.below(8)) {
          case 0: writer.ping(); break;
          case 1: {
            const std::uint64_t last = 1 + rng.below(4);
            writer.ack(std::vector<AckRange>{{1 + rng.below(static_cast<std::uint32_t>(last)), last}}, small,
                       50);
            break;
          }
          case 2: writer.credit({stream, rng.below(2) == 0 ? small : rng.next_u64() >> 2}); break;
          case 3: writer.stream_reset({stream, small}); break;
          case 4: writer.path_challenge(rng.next_u64()); break;
          case 5: writer.path_response(rng.next_u64()); break;
          default: {
            const auto body = writer.stream(stream, small, 1 + rng.below(60));
            for (std::uint8_t& b : body) b = rng.below(2) == 0 ? 0 : static_cast<std::uint8_t>(rng.below(20));
          }
        }
      }
      plaintext.resize(writer.size());
      victim.send(plaintext,
                  rng.below(10) == 0 ? address(static_cast<std::uint16_t>(rng.below(4))) : client_address);
      victim.now += Micros{rng.below(30'000)};
      (void)victim.connection.send(static_cast<StreamId>(rng.below(stream_count)),
                                   Bytes(1 + rng.below(1000)));
      if (rng.below(4) == 0) victim.connection.reset(static_cast<StreamId>(rng.below(stream_count)));
      (void)victim.connection.send_unreliable(victim.now, Bytes(1 + rng.below(1000)), victim.out);
      victim.poll();
      for (std::size_t s = 0; s < stream_count; ++s)
        while (victim.connection.take(static_cast<StreamId>(s), message)) REQUIRE_FALSE(message.empty());
      while (victim.connection.next_fate()) {
      }
    }
  }
}
