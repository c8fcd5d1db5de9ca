#include "server/net/udp.h"

#include <netinet/udp.h>

#include "server/net/udp_sender.h"
#include "tests/catch.h"
#include "tests/server/net/sockets.h"
#include "world/math/random.h"

namespace ashlar::server {

using namespace test;

TEST_CASE("datagrams arrive with their sender and answers find the way back", "[server][udp]") {
  const std::string where = GENERATE(as<std::string>{}, "127.0.0.1", "::1");
  Transports transports = open_on_loopback({}, where);
  Socket peer = udp_to(transports.port(), where);
  DatagramBatch in;
  REQUIRE(peer.send(bytes_of("hello")));
  REQUIRE(poll_until(transports, in, [&] { return in.entries().size() == 1; }));
  CHECK(entry_bytes(in, 0) == bytes_of("hello"));
  CHECK(in.entries()[0].peer.transport == Transport::udp);
  CHECK(in.entries()[0].peer.link == 0);

  DatagramBatch out;
  const Bytes largest(datagram_bytes_max, 7);
  REQUIRE(out.add(in.entries()[0].peer, largest));
  transports.send(0us, out);
  REQUIRE(peer.readable(5000));
  CHECK(peer.receive() == largest);
  CHECK(transports.counters().datagrams_in == 1);
  CHECK(transports.counters().datagrams_out == 1);
  CHECK(transports.counters().bytes_in == 5);
  CHECK(transports.counters().bytes_out == datagram_bytes_max);
}

TEST_CASE("listening everywhere hears IPv4 and IPv6 on one port", "[server][udp]") {
  Transports transports = open_on_loopback({}, "*");
  Socket four = udp_to(transports.port(), "127.0.0.1");
  Socket six = udp_to(transports.port(), "::1");
  REQUIRE(four.send(bytes_of("4")));
  REQUIRE(six.send(bytes_of("6")));
  DatagramBatch in;
  REQUIRE(poll_until(transports, in, [&] { return in.entries().size() == 2; }));

  DatagramBatch out;
  for (const auto& entry : in.entries()) out.add(entry.peer, in.bytes(entry));
  transports.send(0us, out);
  REQUIRE(four.readable(5000));
  CHECK(four.receive() == bytes_of("4"));
  REQUIRE(six.readable(5000));
  CHECK(six.receive() == bytes_of("6"));
  const bool four_first = in.bytes(in.entries()[0])[0] == '4';
  CHECK_THAT(to_text(in.entries()[four_first ? 0 : 1].peer), ContainsSubstring("127.0.0.1:"));
  CHECK_THAT(to_text(in.entries()[four_first ? 1 : 0].peer), ContainsSubstring("[::1]:"));
}

TEST_CASE("a datagram that is too long is dropped and counted, the next one is heard", "[server][udp]") {
  Transports transports = open_on_loopback();
  Socket peer = udp_to(transports.port());
  REQUIRE(peer.send(Bytes(datagram_bytes_max + 1, 1)));
  REQUIRE(peer.send(Bytes(60000, 2)));
  REQUIRE(peer.send(Bytes(datagram_bytes_max, 3)));
  DatagramBatch in;
  REQUIRE(poll_until(transports, in, [&] { return !in.entries().empty(); }));
  CHECK(in.entries().size() == 1);
  CHECK(entry_bytes(in, 0) == Bytes(datagram_bytes_max, 3));
  CHECK(transports.counters().udp_dropped_long == 2);
}

TEST_CASE("what the kernel merged on its way comes apart as it was sent", "[server][udp]") {
  const std::string where = GENERATE(as<std::string>{}, "127.0.0.1", "::1");
  Transports transports = open_on_loopback({}, where);
  Socket burst = udp_to(transports.port(), where), single = udp_to(transports.port(), where);
  const auto send_in_segments = [&burst](const Bytes& bytes, int size) {
    REQUIRE(::setsockopt(burst.native(), SOL_UDP, UDP_SEGMENT, &size, sizeof size) == 0);
    REQUIRE(burst.send(bytes));
  };
  Bytes bytes;
  for (int i = 0; i < 63 * 200 + 7; ++i) bytes.push_back(static_cast<std::uint8_t>(i / 200));
  send_in_segments(bytes, 200);
  REQUIRE(single.send(bytes_of("between")));
  send_in_segments(Bytes(3 * datagram_bytes_max, 1), datagram_bytes_max);
  send_in_segments(Bytes(2 * datagram_bytes_max + 100, 2), datagram_bytes_max + 1);  // too long, but the last
  REQUIRE(single.send({}));
  DatagramBatch in;
  REQUIRE(poll_until(transports, in, [&] { return in.entries().size() >= 64 + 1 + 3 + 1 + 1; }));
  REQUIRE(in.entries().size() == 70);
  for (std::size_t i = 0; i < 63; ++i) CHECK(entry_bytes(in, i) == Bytes(200, static_cast<std::uint8_t>(i)));
  CHECK(entry_bytes(in, 63) == Bytes(7, 63));
  CHECK(entry_bytes(in, 64) == bytes_of("between"));
  CHECK(in.entries()[64].peer.port != in.entries()[63].peer.port);
  for (std::size_t i = 65; i < 68; ++i) CHECK(entry_bytes(in, i) == Bytes(datagram_bytes_max, 1));
  CHECK(entry_bytes(in, 68) == Bytes(98, 2));
  CHECK(entry_bytes(in, 69).empty());
  CHECK(transports.counters().udp_dropped_long == 2);
  CHECK(transports.counters().datagrams_in == 70);
}

TEST_CASE("an answer that cannot be sent is counted and stops nothing", "[server][udp]") {
  Transports transports = open_on_loopback();
  Socket peer = udp_to(transports.port());
  REQUIRE(peer.send(bytes_of("x")));
  DatagramBatch in;
  REQUIRE(poll_until(transports, in, [&] { return !in.entries().empty(); }));
  DatagramBatch out;
  out.add(*parse_peer("[2001:db8::1]:9", 9), bytes_of("to IPv6 from an IPv4 socket"));
  out.add(in.entries()[0].peer, bytes_of("y"));
  transports.send(0us, out);
  CHECK(transports.counters().udp_send_errors == 1);
  REQUIRE(peer.readable(5000));
  CHECK(peer.receive() == bytes_of("y"));
}

TEST_CASE("a receive buffer that overflows shows in the drop counter", "[server][udp]") {
  Transports transports = open_on_loopback();
  Socket peer = udp_to(transports.port());
  const Bytes large(datagram_bytes_max, 1);
  // Loopback delivers within the call, so what is sent without a poll between is what the buffer must hold.
  const std::size_t sent = 2 * transports.receive_buffer_bytes() / datagram_bytes_max;
  for (std::size_t index = 0; index < sent; ++index) REQUIRE(peer.send(large));
  DatagramBatch in;
  std::size_t received = 0;
  auto now = 0us;
  // The kernel is asked for its drops once a second: every poll is a second later than the one before.
  poll_until(transports, in, [&] {
    received += in.entries().size();
    in.clear();
    transports.poll(now += 1s, in);
    received += in.entries().size();
    in.clear();
    return received + transports.counters().udp_dropped_kernel == sent;
  });
  CHECK(transports.counters().udp_dropped_kernel > 0);
  CHECK(received + transports.counters().udp_dropped_kernel == sent);
}

TEST_CASE("the receive buffer grows with clients and tick length and is read back", "[server][udp]") {
  CHECK(receive_buffer_bytes_for(256, 60) >= 256 * 800 * 3);
  CHECK(receive_buffer_bytes_for(4000, 60) == 4000 * 800 * 3);
  CHECK(receive_buffer_bytes_for(4000, 128) > receive_buffer_bytes_for(4000, 60));
  CHECK(receive_buffer_bytes_for(1, 10) >= 1024 * 1024);
  Transports transports = open_on_loopback();
  CHECK(transports.receive_buffer_bytes() > 0);
}

TEST_CASE("a flood is taken in bounded pieces", "[server][udp]") {
  TransportConfig config;
  config.clients_max = 4000;
  Transports transports = open_on_loopback(config);
  Socket peer = udp_to(transports.port());
  for (int index = 0; index < 9000; ++index) REQUIRE(peer.send(bytes_of("x")));
  DatagramBatch in;
  transports.poll(0us, in);
  CHECK(in.entries().size() <= 8192);
  CHECK(in.entries().size() >= 1000);
}

namespace {

/// A UdpSender on a socket of its own, and peers that it knows.
struct Bursts {
  explicit Bursts(std::size_t peer_count = 1) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(socket.native(), reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::getsockname(socket.native(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port.size_receive_buffer(1024 * 1024);  // that for sending, too
    for (std::size_t i = 0; i < peer_count; ++i) {
      peers.push_back(udp_to(ntohs(at.sin_port)));
      REQUIRE(peers.back().send(bytes_of("hello")));
    }
    DatagramBatch in;
    for (int i = 0; i < 1000 && in.entries().size() < peer_count; ++i) {
      port.receive(in);
      ::usleep(1000);
    }
    REQUIRE(in.entries().size() == peer_count);
    for (const auto& entry : in.entries()) addresses.push_back(entry.peer);
  }

  /// Adds a datagram whose bytes tell its number.
  void add(std::size_t bytes, std::size_t peer = 0) {
    Bytes content(bytes, static_cast<std::uint8_t>(expected.size()));
    if (bytes > 1) content[1] = static_cast<std::uint8_t>(expected.size() >> 8);
    REQUIRE(out.add(addresses[peer], content));
    expected.push_back({peer, content});
  }

  /// Sends all, and holds what arrives against it: the same datagrams, for each peer in their order.
  void send_and_check() {
    sender.send(out);
    std::uint64_t sum = 0;
    for (const auto& [peer, content] : expected) {
      CAPTURE(peer, content.size());
      REQUIRE(peers[peer].readable(5000));
      REQUIRE(peers[peer].receive() == content);
      sum += content.size();
    }
    for (Socket& peer : peers) CHECK_FALSE(peer.readable());
    CHECK(sender.counters().datagrams == expected.size());
    CHECK(sender.counters().bytes == sum);
    CHECK(sender.counters().full + sender.counters().errors == 0);
  }

  Socket socket{AF_INET, SOCK_DGRAM};
  TransportCounters counters;
  UdpPort port{socket.native(), counters};
  UdpSender sender{socket.native(), false};
  std::vector<Socket> peers;
  std::vector<PeerAddress> addresses;
  DatagramBatch out;
  std::vector<std::pair<std::size_t, Bytes>> expected;
};

}  // namespace

TEST_CASE("datagrams of a burst arrive one by one, as they were", "[server][udp]") {
  Bursts b;
  const auto sizes =
      GENERATE(std::vector<std::size_t>{1200, 1200, 1200}, std::vector<std::size_t>{1200, 1200, 700},
               std::vector<std::size_t>{1200, 700, 1200, 1200},
               std::vector<std::size_t>{700, 1200, 1200, 1200, 1, 1, 2}, std::vector<std::size_t>{1, 1, 1},
               std::vector<std::size_t>{99, 99, 98, 98, 97, 99, 100});
  for (const std::size_t size : sizes) b.add(size);
  b.send_and_check();
}

TEST_CASE("a burst of more segments than one call takes goes in several", "[server][udp]") {
  Bursts b;
  for (int i = 0; i < 150; ++i) b.add(100);
  b.add(40);
  b.send_and_check();
}

TEST_CASE("a burst of more bytes than a datagram's length can say goes in several", "[server][udp]") {
  Bursts b;
  for (int i = 0; i < 60; ++i) b.add(1200);
  b.add(1100);
  b.send_and_check();
}

TEST_CASE("whatever the sizes and peers, each peer gets its own in order", "[server][udp]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
  CAPTURE(seed);
  Rng rng{seed};
  Bursts b(3);
  std::size_t size = 1200, peer = 0;
  for (int i = 0; i < 80; ++i) {
    if (rng.below(4) == 0) size = 1 + rng.below(1200);
    if (rng.below(5) == 0) peer = rng.below(3);
    b.add(size, peer);
  }
  b.send_and_check();
}

TEST_CASE("where segments are refused the datagrams go one by one", "[server][udp]") {
  Bursts b;
  // A socket that sends without checksums takes no segments: EINVAL.
  const int on = 1;
  REQUIRE(::setsockopt(b.socket.native(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on) == 0);
  for (int i = 0; i < 5; ++i) b.add(1200);
  b.add(10);
  b.send_and_check();
  CHECK(b.sender.counters().bursts_refused == 1);
}

TEST_CASE("a burst that cannot be sent counts each of its datagrams", "[server][udp]") {
  Bursts b;
  for (int i = 0; i < 3; ++i) b.out.add(*parse_peer("[2001:db8::1]:9", 9), Bytes(500, 1));
  b.sender.send(b.out);
  CHECK(b.sender.counters().errors == 3);
  CHECK(b.sender.counters().datagrams == 0);
  b.out.clear();
  // Nobody may send to a broadcast address without asking first: the kernel refuses each.
  for (int i = 0; i < 4; ++i) b.out.add(*parse_peer("255.255.255.255:9", 9), Bytes(500, 1));
  b.sender.send(b.out);
  CHECK(b.sender.counters().errors == 7);
  CHECK(b.sender.counters().datagrams == 0);
}

}  // namespace ashlar::server
