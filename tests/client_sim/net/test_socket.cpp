#include "client_sim/net/socket.h"

#include <cstring>

#include "tests/catch.h"
#include "tests/client_sim/net/listener.h"

using namespace ashlar;
using namespace ashlar::client_sim;
using test::Listener;
using test::receive_something;
using test::wait_readable;

namespace {

std::vector<std::uint8_t> some_bytes(std::size_t size) { return std::vector<std::uint8_t>(size, 0x42); }

}  // namespace

TEST_CASE("server addresses are read with and without ports and brackets", "[client_sim][net]") {
  const auto plain = resolve_server("127.0.0.1", Transport::udp);
  REQUIRE(plain.has_value());
  CHECK(plain->port == 7777);
  CHECK(plain->ip[12] == 127);
  CHECK(plain->ip[11] == 0xff);
  const auto tcp = resolve_server("127.0.0.1:80", Transport::tcp);
  REQUIRE(tcp.has_value());
  CHECK(tcp->port == 80);
  CHECK(tcp->transport == Transport::tcp);
  const auto six = resolve_server("[::1]:9000", Transport::udp);
  REQUIRE(six.has_value());
  CHECK(six->ip[15] == 1);
  CHECK(six->port == 9000);
  CHECK(resolve_server("::1", Transport::udp)->port == 7777);
  for (const char* bad :
       {"", ":7777", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "[::1", "[::1]x"}) {
    CAPTURE(bad);
    const auto peer = resolve_server(bad, Transport::udp);
    REQUIRE_FALSE(peer.has_value());
    CHECK_THAT(peer.error(), ContainsSubstring("'" + std::string(bad) + "'"));
  }
}

TEST_CASE("datagrams go out and come back over a connected UDP socket", "[client_sim][net]") {
  const Listener server(false);
  const PeerAddress address = server.address(Transport::udp);
  auto socket = ClientSocket::open(address);
  REQUIRE(socket.has_value());
  DatagramBatch out;
  out.add(address, some_bytes(100));
  PeerAddress other = address;
  other.port = static_cast<std::uint16_t>(other.port + 1);
  out.add(other, some_bytes(50));  // not for this server: stays here
  socket->send(out);
  wait_readable(server.socket);
  std::uint8_t buffer[2000];
  sockaddr_in from{};
  socklen_t size = sizeof from;
  REQUIRE(recvfrom(server.socket, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &size) ==
          100);
  // One too long for the protocol and one as it should be.
  REQUIRE(sendto(server.socket, buffer, 1300, 0, reinterpret_cast<sockaddr*>(&from), size) == 1300);
  REQUIRE(sendto(server.socket, buffer, 1200, 0, reinterpret_cast<sockaddr*>(&from), size) == 1200);
  DatagramBatch in;
  receive_something(*socket, in);
  REQUIRE(in.entries().size() == 1);
  CHECK(in.entries()[0].peer == address);
  CHECK(in.entries()[0].size == 1200);
  CHECK(socket->counters().dropped_long == 1);
}

TEST_CASE("packets go out and come back over TCP however they are cut", "[client_sim][net]") {
  const Listener server(true);
  const PeerAddress address = server.address(Transport::tcp);
  auto socket = ClientSocket::open(address);
  REQUIRE(socket.has_value());
  wait_readable(server.socket);
  const int peer = accept(server.socket, nullptr, nullptr);
  REQUIRE(peer >= 0);
  DatagramBatch out;
  for (std::size_t i = 1; i <= 10; ++i) out.add(address, some_bytes(100 * i));
  socket->send(out);
  StreamDeframer deframer;
  std::vector<std::size_t> sizes;
  std::uint8_t buffer[777];
  while (sizes.size() < 10) {
    wait_readable(peer);
    const ssize_t size = recv(peer, buffer, sizeof buffer, 0);
    REQUIRE(size > 0);
    REQUIRE(deframer.feed({buffer, static_cast<std::size_t>(size)},
                          [&](std::span<const std::uint8_t> packet) { sizes.push_back(packet.size()); }));
    socket->send(DatagramBatch{});
  }
  for (std::size_t i = 0; i < 10; ++i) CHECK(sizes[i] == 100 * (i + 1));

  const std::uint8_t frames[] = {3, 0, 7, 8, 9, 1, 0, 5};
  for (const std::uint8_t byte : frames) REQUIRE(::send(peer, &byte, 1, 0) == 1);
  DatagramBatch in;
  while (in.entries().size() < 2) {
    const std::size_t before = in.entries().size();
    for (int i = 0; i < 20'000 && in.entries().size() == before; ++i) {
      socket->receive(in);
      if (in.entries().size() == before) usleep(1000);
    }
    REQUIRE(in.entries().size() > before);
  }
  CHECK(in.entries()[0].size == 3);
  CHECK(in.entries()[1].size == 1);

  ::close(peer);
  in.clear();
  receive_something(*socket, in);
  CHECK(in.closed().size() == 1);
  in.clear();
  socket->receive(in);
  CHECK(in.empty());
}

TEST_CASE("a broken stream and a refused connection end in closed", "[client_sim][net]") {
  SECTION("broken") {
    const Listener server(true);
    auto socket = ClientSocket::open(server.address(Transport::tcp));
    REQUIRE(socket.has_value());
    wait_readable(server.socket);
    const int peer = accept(server.socket, nullptr, nullptr);
    const std::uint8_t zero[] = {0, 0};
    REQUIRE(::send(peer, zero, 2, 0) == 2);
    DatagramBatch in;
    receive_something(*socket, in);
    CHECK(in.closed().size() == 1);
    CHECK(socket->counters().broken_streams == 1);
    ::close(peer);
  }
  SECTION("refused") {
    PeerAddress address;
    {
      const Listener server(true);
      address = server.address(Transport::tcp);
    }
    auto socket = ClientSocket::open(address);
    if (!socket.has_value()) return;  // some systems say so at once
    DatagramBatch in;
    receive_something(*socket, in);
    CHECK(in.closed().size() == 1);
  }
}

TEST_CASE("what the kernel does not take over TCP waits within a bound", "[client_sim][net]") {
  const Listener server(true);
  const PeerAddress address = server.address(Transport::tcp);
  auto socket = ClientSocket::open(address);
  REQUIRE(socket.has_value());
  DatagramBatch out;
  for (int i = 0; i < 200; ++i) out.add(address, some_bytes(1200));
  // Nobody reads: at some point the kernel's buffers are full, then the queue, and the rest is dropped.
  for (int i = 0; i < 400 && socket->counters().send_full == 0; ++i) socket->send(out);
  CHECK(socket->counters().send_full > 0);
}
