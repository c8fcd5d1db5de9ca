#include "tests/catch.h"
#include "tests/server/net/sockets.h"

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

}  // namespace ashlar::server
