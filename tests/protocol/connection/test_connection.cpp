#include "protocol/connection/connection.h"

#include <cstring>
#include <set>

#include "tests/catch.h"
#include "tests/protocol/connection/simulated_link.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr Micros second{1'000'000};

SimulatedPair::Options near_by() {
  SimulatedPair::Options options;
  options.up.latency = options.down.latency = Micros{20'000};
  return options;
}

Bytes patterned(std::size_t size, std::uint32_t seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::uint8_t>(mix64(seed + i / 8) >> (8 * (i % 8)));
  return bytes;
}

}  // namespace

TEST_CASE("messages of every size and stream arrive whole, in order, both ways", "[protocol][connection]") {
  SimulatedPair::Options options = near_by();
  options.reliable_link = GENERATE(false, true);
  options.server_windows = client_stream_windows;
  SimulatedPair pair(options);
  for (std::size_t i = 0; i < stream_count; ++i) {
    const auto stream = static_cast<StreamId>(i);
    const std::size_t longest = properties(stream).message_bytes_max;
    const std::vector<std::size_t> sizes{1, 7, 1143, 1200, longest};
    for (SimulatedEnd* end : {pair.client.get(), pair.server.get()}) {
      SimulatedEnd& other = end == pair.client.get() ? *pair.server : *pair.client;
      for (std::size_t k = 0; k < sizes.size(); ++k)
        REQUIRE(end->connection.send(stream, patterned(std::min(sizes[k], longest),
                                                       static_cast<std::uint32_t>(k))) == SendResult::sent);
      Bytes message;
      std::size_t got = 0;
      pair.run(pair.now + 10 * second, [&](Micros now) {
        while (other.connection.take(stream, message)) {
          REQUIRE(reinterpret_cast<std::uintptr_t>(message.data()) % 8 == 0);
          REQUIRE(message == patterned(std::min(sizes[got], longest), static_cast<std::uint32_t>(got)));
          ++got;
        }
        return now + Micros{5000};
      });
      CHECK(got == sizes.size());
      CHECK(end->connection.streams_idle());
      CHECK(end->connection.counters().messages_sent[i] == sizes.size());
      CHECK(other.connection.counters().messages_received[i] == sizes.size());
    }
  }
}

TEST_CASE("an unreliable message is handed over aligned, and its fate told once", "[protocol][connection]") {
  SimulatedPair::Options options = near_by();
  options.down.loss = 0.3;
  SimulatedPair pair(options);
  std::set<std::uint64_t> arrived, acked, lost, sent;
  pair.client->on_unreliable = [&](Micros, std::uint64_t sequence, std::span<const std::uint8_t> message) {
    REQUIRE(reinterpret_cast<std::uintptr_t>(message.data()) % 8 == 0);
    REQUIRE(Bytes(message.begin(), message.end()) == patterned(message.size(), 5));
    REQUIRE(arrived.insert(sequence).second);
  };
  Micros next{0};
  std::size_t size = 1;
  const auto work = [&](Micros now) {
    if (now >= next && size <= unreliable_bytes_max) {
      next = now + Micros{10'000};
      const auto sequence =
          pair.server->connection.send_unreliable(now, patterned(size++, 5), pair.server->out);
      if (sequence) REQUIRE(sent.insert(*sequence).second);
    }
    while (const auto fate = pair.server->connection.next_fate())
      REQUIRE((fate->acked ? acked : lost).insert(fate->sequence).second);
    return std::max(next, now + Micros{1000});
  };
  pair.run(pair.now + 20 * second, work);
  CHECK(sent.size() > 1000);
  CHECK(acked.size() + lost.size() == sent.size());
  for (const std::uint64_t sequence : acked) REQUIRE(arrived.count(sequence) == 1);
  for (const std::uint64_t sequence : lost) REQUIRE(acked.count(sequence) == 0);
  CHECK(lost.size() > sent.size() / 5);
  CHECK(pair.server->connection.send_unreliable(pair.now, Bytes(unreliable_bytes_max + 1), pair.server->out)
            .error() == SendResult::too_long);
}

TEST_CASE("a stream's lost packet does not hold up the others", "[protocol][connection]") {
  SimulatedPair pair(near_by());
  pair.run(pair.now + second);
  // One chat line is lost, then an event is sent.
  REQUIRE(pair.server->connection.send(StreamId::chat, patterned(50, 1)) == SendResult::sent);
  pair.server_sends = [](const PeerAddress&, std::span<const std::uint8_t>) { return false; };
  pair.server->connection.poll(pair.now, pair.server->out);
  pair.flush(*pair.server);
  pair.server_sends = {};
  REQUIRE(pair.server->connection.send(StreamId::events, patterned(50, 2)) == SendResult::sent);
  Bytes message;
  pair.run(pair.now + Micros{25'000});
  CHECK(pair.client->connection.take(StreamId::events, message));
  CHECK_FALSE(pair.client->connection.take(StreamId::chat, message));
  pair.run(pair.now + second);
  CHECK(pair.client->connection.take(StreamId::chat, message));
  CHECK(message == patterned(50, 1));
}

TEST_CASE("who does not take messages gets no more, and other streams go on", "[protocol][connection]") {
  SimulatedPair pair(near_by());
  std::size_t queued = 0;
  const auto fill = [&](Micros now) {
    while (pair.client->connection.send(StreamId::edits, patterned(8000, 1)) == SendResult::sent) ++queued;
    return now + Micros{10'000};
  };
  pair.run(pair.now + 5 * second, fill);
  const auto held = pair.server->connection.status().received_bytes[row(StreamId::edits)];
  CHECK(held <= server_stream_windows[row(StreamId::edits)]);
  CHECK(held > server_stream_windows[row(StreamId::edits)] - 1200);
  CHECK(pair.client->connection.counters().queue_full[row(StreamId::edits)] > 0);
  REQUIRE(pair.client->connection.send(StreamId::chat, patterned(10, 2)) == SendResult::sent);
  pair.run(pair.now + second);
  Bytes message;
  CHECK(pair.server->connection.take(StreamId::chat, message));
  CHECK(pair.server->connection.status().received_bytes[row(StreamId::edits)] == held);
  // It wakes up: all comes.
  std::size_t got = 0;
  pair.run(pair.now + 5 * second, [&](Micros now) {
    while (pair.server->connection.take(StreamId::edits, message)) ++got;
    return now + Micros{10'000};
  });
  CHECK(got == queued);
}

TEST_CASE("a close is told with its reason and text, and then nothing is taken", "[protocol][connection]") {
  SimulatedPair::Options options = near_by();
  options.down.loss = GENERATE(0.0, 0.5);
  SimulatedPair pair(options);
  pair.run(pair.now + second);
  REQUIRE(pair.server->connection.send(StreamId::bulk, patterned(100'000, 1)) == SendResult::sent);
  REQUIRE(pair.server->connection.send_unreliable(pair.now, patterned(10, 1), pair.server->out).has_value());
  pair.server->connection.close(pair.now, CloseReason::application, "kicked: spamming\n");
  CHECK(pair.server->connection.state() == ConnectionState::closing);
  CHECK(pair.server->connection.next_fate()->acked == false);
  CHECK_FALSE(pair.server->connection.next_fate().has_value());
  CHECK(pair.server->connection.send(StreamId::chat, patterned(1, 1)) == SendResult::closed);
  CHECK(pair.server->connection.send_unreliable(pair.now, patterned(1, 1), pair.server->out).error() ==
        SendResult::closed);
  const std::uint64_t sent = pair.server->connection.counters().packets_sent;
  pair.run(pair.now + 8 * second);
  CHECK(pair.client->connection.state() == ConnectionState::closed);
  CHECK(pair.client->connection.closed_by_peer());
  CHECK(pair.client->connection.close_reason() == CloseReason::application);
  CHECK(pair.client->connection.close_text() == "kicked: spamming?");
  CHECK(pair.server->connection.state() == ConnectionState::closed);
  CHECK(pair.server->connection.counters().packets_sent - sent <= close_packets);
  CHECK(pair.server->connection.next_poll_at() == Micros::max());
}

TEST_CASE("silence ends a connection, and keepalive prevents it", "[protocol][connection]") {
  SimulatedPair pair(near_by());
  pair.run(pair.now + 60 * second);
  CHECK(pair.client->connection.state() == ConnectionState::open);
  CHECK(pair.client->connection.counters().packets_sent < 150);
  pair.up.faults().loss = pair.down.faults().loss = 1;
  pair.run(pair.now + 7 * second);  // it may have heard its last two seconds ago
  CHECK(pair.client->connection.state() == ConnectionState::open);
  pair.run(pair.now + 5 * second);
  CHECK(pair.client->connection.state() == ConnectionState::closed);
  CHECK(pair.server->connection.close_reason() == CloseReason::timeout);
  CHECK_FALSE(pair.server->connection.closed_by_peer());
}

TEST_CASE("a peer that talks and never acknowledges is given up", "[protocol][connection]") {
  SimulatedPair pair(near_by());
  Micros next{0};
  pair.run(pair.now + second);
  pair.down.faults().loss = 1;  // it hears nothing, but is heard
  pair.run(pair.now + 9 * second, [&](Micros now) {
    if (now >= next) {
      next = now + Micros{50'000};
      (void)pair.client->connection.send_unreliable(now, patterned(50, 1), pair.client->out);
      (void)pair.server->connection.send_unreliable(now, patterned(50, 1), pair.server->out);
    }
    return next;
  });
  CHECK(pair.server->connection.state() == ConnectionState::open);
  pair.run(pair.now + 4 * second);
  CHECK(pair.server->connection.close_reason() == CloseReason::timeout);
}

TEST_CASE("an outage of seconds is got over, and nothing is lost of the streams", "[protocol][connection]") {
  SimulatedPair pair(near_by());
  std::size_t sent = 0, got = 0;
  Micros next{0};
  Bytes message;
  const auto work = [&](Micros now) {
    if (now >= next) {
      next = now + Micros{16'667};
      if (pair.server->connection.send(StreamId::events, patterned(100, static_cast<std::uint32_t>(sent))) ==
          SendResult::sent)
        ++sent;
      (void)pair.server->connection.send_unreliable(now, patterned(600, 1), pair.server->out);
      (void)pair.client->connection.send_unreliable(now, patterned(60, 1), pair.client->out);
      while (pair.server->connection.next_fate() || pair.client->connection.next_fate()) {
      }
    }
    while (pair.client->connection.take(StreamId::events, message)) {
      REQUIRE(message == patterned(100, static_cast<std::uint32_t>(got)));
      ++got;
    }
    return next;
  };
  pair.run(pair.now + 3 * second, work);
  pair.up.faults().loss = pair.down.faults().loss = 1;
  pair.run(pair.now + 4 * second, work);
  const std::size_t during = got;
  pair.up.faults().loss = pair.down.faults().loss = 0;
  pair.run(pair.now + Micros{500'000}, work);  // a probe is at most a quarter of a second away
  CHECK(got > during + 200);
  pair.run(pair.now + 2 * second, work);
  CHECK(sent - got < 5);
  CHECK(pair.server->connection.state() == ConnectionState::open);
}

TEST_CASE("a reset stream forgets the old world's messages and brings the new one's",
          "[protocol][connection]") {
  SimulatedPair::Options options = near_by();
  options.down.loss = 0.2, options.down.reordering = 0.3;
  options.seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  SimulatedPair pair(options);
  for (int i = 0; i < 20; ++i)
    REQUIRE(pair.server->connection.send(StreamId::events, patterned(3000, static_cast<std::uint32_t>(i))) ==
            SendResult::sent);
  pair.run(pair.now + Micros{45'000});
  pair.server->connection.reset(StreamId::events);
  CHECK(pair.server->connection.status().queue_bytes[row(StreamId::events)] == 0);
  for (int i = 100; i < 110; ++i)
    REQUIRE(pair.server->connection.send(StreamId::events, patterned(3000, static_cast<std::uint32_t>(i))) ==
            SendResult::sent);
  pair.run(pair.now + 5 * second);
  Bytes message;
  std::vector<Bytes> got;
  pair.run(pair.now + 5 * second, [&](Micros now) {
    while (pair.client->connection.take(StreamId::events, message)) got.push_back(message);
    return now + Micros{1000};
  });
  REQUIRE(got.size() == 10);
  for (std::size_t i = 0; i < 10; ++i) CHECK(got[i] == patterned(3000, static_cast<std::uint32_t>(100 + i)));
  CHECK(pair.server->connection.streams_idle());
}

TEST_CASE("an idle connection is small, and steady work allocates nothing", "[protocol][connection]") {
  SimulatedPair pair(near_by());
  CHECK(sizeof(Connection) < 6 * 1024);
  Micros next{0};
  const auto work = [&](Micros now) {
    if (now >= next) {
      next = now + Micros{7812};  // 128 Hz
      (void)pair.server->connection.send_unreliable(now, patterned(600, 1), pair.server->out);
      (void)pair.client->connection.send_unreliable(now, patterned(60, 1), pair.client->out);
      while (pair.server->connection.next_fate() || pair.client->connection.next_fate()) {
      }
    }
    return next;
  };
  pair.run(pair.now + 5 * second, work);
  const std::size_t memory = pair.server->connection.memory_bytes();
  CAPTURE(memory, sizeof(Connection));
  CHECK(memory < 8 * 1024);
  pair.run(pair.now + 20 * second, work);
  CHECK(pair.server->connection.memory_bytes() == memory);
}

TEST_CASE("keys are renewed every two hours without a packet lost", "[protocol][connection]") {
  SimulatedPair pair(near_by());
  std::size_t sent = 0, got = 0;
  Micros next{0};
  Bytes message;
  pair.run(pair.now + 3 * 7200 * second, [&](Micros now) {
    if (now >= next) {
      next = now + 5 * second;
      if (pair.client->connection.send(StreamId::chat, patterned(20, 1)) == SendResult::sent) ++sent;
    }
    while (pair.server->connection.take(StreamId::chat, message)) ++got;
    return next;
  });
  pair.run(pair.now + second);
  while (pair.server->connection.take(StreamId::chat, message)) ++got;
  CHECK(got == sent);
  CHECK(pair.client->connection.counters().rekeys >= 2);
  CHECK(pair.server->connection.counters().rekeys >= 2);
  CHECK(pair.client->connection.counters().packets_lost == 0);
}

TEST_CASE("over a reliable link bulk leaves the link's queue short", "[protocol][connection]") {
  SimulatedPair::Options options = near_by();
  options.reliable_link = true;
  options.down.bytes_per_s = 100'000;
  options.down.queue_bytes = 1 << 20;
  SimulatedPair pair(options);
  REQUIRE(pair.server->connection.send(StreamId::bulk, patterned(1 << 20, 1)) == SendResult::sent);
  Micros longest{0};
  Bytes message;
  bool got = false;
  pair.run(pair.now + 15 * second, [&](Micros now) {
    longest = std::max(longest, pair.down.queue_delay(now));
    got = got || pair.client->connection.take(StreamId::bulk, message);
    return now + Micros{10'000};
  });
  CHECK(got);
  CHECK(longest < Micros{1'500'000});  // 128 KiB at 100 kB/s
  CHECK(pair.server->connection.counters().packets_lost == 0);
  CHECK(pair.server->connection.counters().bytes_resent == 0);
}

TEST_CASE("over a reliable link what an end would not take comes again", "[protocol][connection]") {
  SimulatedPair::Options options = near_by();
  options.reliable_link = true;
  SimulatedPair pair(options);
  Rng rng{4};
  pair.server->refuses = [&rng] { return rng.below(4) == 0; };
  std::size_t sent = 0, got = 0;
  Bytes message;
  const auto work = [&](Micros now) {
    if (sent < 500 &&
        pair.client->connection.send(StreamId::control, patterned(900, static_cast<std::uint32_t>(sent))) ==
            SendResult::sent)
      ++sent;
    while (pair.server->connection.take(StreamId::control, message)) {
      REQUIRE(message == patterned(900, static_cast<std::uint32_t>(got)));
      ++got;
    }
    return now + Micros{10'000};
  };
  pair.run(pair.now + 30 * second, work);
  CHECK(sent == 500);
  CHECK(got == sent);
  CHECK(pair.client->connection.counters().packets_lost > 50);
  CHECK(pair.client->connection.state() == ConnectionState::open);
}

TEST_CASE("over a reliable link a slow reader bounds what is on its way", "[protocol][connection]") {
  SimulatedPair::Options options = near_by();
  options.reliable_link = true;
  options.down.bytes_per_s = 20'000;
  options.down.queue_bytes = 64 << 20;
  SimulatedPair pair(options);
  Bytes message = patterned(unreliable_bytes_max, 1);
  std::uint64_t refused = 0, sent = 0;
  pair.run(pair.now + 9 * second, [&](Micros now) {
    const auto result = pair.server->connection.send_unreliable(now, message, pair.server->out);
    ++(result ? sent : refused);
    return now + Micros{2'000};
  });
  const double queued = static_cast<double>(pair.down.queue_delay(pair.now).count()) * 1e-6 * 20'000;
  CHECK(queued < 1.2 * reliable_link_unreliable_bytes);
  CHECK(refused > sent);
}

TEST_CASE("the longest unreliable messages make packets of one length", "[protocol][connection]") {
  SimulatedPair pair(near_by());
  std::set<std::size_t> lengths;
  pair.server_sends = [&](const PeerAddress&, std::span<const std::uint8_t> packet) {
    if (packet.size() > 1000) lengths.insert(packet.size());
    return true;
  };
  std::size_t got = 0;
  pair.client->on_unreliable = [&](Micros, std::uint64_t, std::span<const std::uint8_t> message) {
    got += message.size() == unreliable_bytes_max ? 1 : 0;
  };
  const Bytes message = patterned(unreliable_bytes_max, 1);
  pair.run(pair.now + second, [&](Micros now) {
    // Something to acknowledge and to send along, now and then.
    (void)pair.client->connection.send(StreamId::chat, patterned(30, 1));
    if (now.count() % 3 == 0) (void)pair.server->connection.send(StreamId::chat, patterned(30, 1));
    for (int i = 0; i < 3; ++i) (void)pair.server->connection.send_unreliable(now, message, pair.server->out);
    return now + Micros{16'667};
  });
  CHECK(got > 50);
  CHECK(lengths == std::set<std::size_t>{datagram_bytes_max});
}

TEST_CASE("keys change as often as the settings say", "[protocol][connection]") {
  SimulatedPair::Options options = near_by();
  options.key_age = second;
  options.up.loss = options.down.loss = 0.1;
  SimulatedPair pair(options);
  std::size_t sent = 0, got = 0;
  Bytes message;
  const auto take = [&] {
    while (pair.server->connection.take(StreamId::chat, message)) ++got;
  };
  pair.run(pair.now + 20 * second, [&](Micros now) {
    if (pair.client->connection.send(StreamId::chat, patterned(20, 1)) == SendResult::sent) ++sent;
    take();
    return now + Micros{50'000};
  });
  pair.run(pair.now + 5 * second);
  take();
  CHECK(got == sent);
  CHECK(pair.client->connection.counters().rekeys >= 10);
  CHECK(pair.server->connection.counters().rekeys >= 10);
}

TEST_CASE("keys change in time though nothing but unreliable messages is said", "[protocol][connection]") {
  Micros now{1'000'000};
  ConnectionSettings settings;
  settings.end = secure::End::server;
  settings.key_age = second;
  const secure::SessionKeys keys = session_keys(1, secure::Cipher::chacha20_poly1305);
  Connection connection(settings, keys, client_address, secure::Secret{}, now);
  secure::PacketProtection client(keys, secure::End::client, now);
  PacketScratch scratch;
  DatagramBatch out;
  Bytes packet(datagram_bytes_max);
  for (std::uint64_t i = 1; i <= 180; ++i) {
    now += Micros{16'667};
    const auto sent = connection.send_unreliable(now, Bytes(100), out);
    REQUIRE(sent.has_value());
    Bytes plaintext(20);
    FrameWriter writer(plaintext);
    const AckRange range{*sent, *sent};
    REQUIRE(writer.ack({&range, 1}, 0, plaintext.size()) == 1);
    const std::size_t size = client.seal(i, std::span(plaintext).first(writer.size()), packet);
    const auto opened = connection.open(now, client_address, std::span(packet).first(size), scratch);
    REQUIRE(opened.has_value());
    REQUIRE(connection.accept(now, *opened).has_value());
    while (connection.next_fate()) {
    }
  }
  CHECK(connection.counters().rekeys == 3);  // in three seconds, and nobody had to poll
}
