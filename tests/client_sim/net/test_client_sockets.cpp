#include "client_sim/net/client_sockets.h"

#include "tests/catch.h"
#include "tests/client_sim/net/listener.h"

using namespace ashlar;
using namespace ashlar::client_sim;
using test::Listener;

namespace {

std::vector<std::uint8_t> bytes_of(std::size_t size) { return std::vector<std::uint8_t>(size, 0x24); }

/// What comes out of a plain UDP socket: its size, and the sender's port.
std::pair<ssize_t, std::uint16_t> one_datagram(int socket) {
  test::wait_readable(socket);
  std::uint8_t buffer[2000];
  sockaddr_in from{};
  socklen_t size = sizeof from;
  const ssize_t got = recvfrom(socket, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &size);
  return {got, ntohs(from.sin_port)};
}

PeerAddress link(const Listener& server, std::uint32_t number) {
  PeerAddress out = server.address(Transport::tcp);
  out.link = number;
  return out;
}

int accepted(const Listener& server) {
  test::wait_readable(server.socket);
  return accept(server.socket, nullptr, nullptr);
}

}  // namespace

TEST_CASE("what is sent to a TCP address for the first time opens a connection of its own",
          "[client_sim][net]") {
  const Listener udp(false), tcp(true);
  auto sockets = ClientSockets::open(udp.address(Transport::udp));
  REQUIRE(sockets.has_value());
  CHECK(sockets->count() == 1);
  DatagramBatch out;
  out.add(udp.address(Transport::udp), bytes_of(10));
  out.add(link(tcp, 1), bytes_of(20));
  out.add(link(tcp, 2), bytes_of(30));
  out.add(link(tcp, 1), bytes_of(40));
  sockets->send(out);
  CHECK(sockets->count() == 3);
  CHECK(one_datagram(udp.socket).first == 10);
  const int first = accepted(tcp), second = accepted(tcp);
  REQUIRE(first >= 0);
  REQUIRE(second >= 0);
  std::uint8_t buffer[200];
  std::vector<ssize_t> sizes;
  for (const int peer : {first, second}) {
    for (int i = 0; i < 100; ++i) sockets->send(DatagramBatch{}), usleep(1000);  // as they stand now
    test::wait_readable(peer);
    sizes.push_back(recv(peer, buffer, sizeof buffer, 0));
  }
  std::ranges::sort(sizes);
  CHECK(sizes == std::vector<ssize_t>{2 + 30, 2 + 20 + 2 + 40});

  // What comes says which way it came.
  DatagramBatch in;
  REQUIRE(::send(first, "\x03\x00\x01\x02\x03", 5, 0) == 5);
  test::receive_something(*sockets, in);
  REQUIRE(in.entries().size() == 1);
  CHECK(in.entries()[0].size == 3);
  CHECK((in.entries()[0].peer == link(tcp, 1) || in.entries()[0].peer == link(tcp, 2)));
  ::close(first);
  ::close(second);
}

TEST_CASE("a connection is closed when the client says so, and told when the server does",
          "[client_sim][net]") {
  const Listener tcp(true);
  auto sockets = ClientSockets::open(link(tcp, 0));
  REQUIRE(sockets.has_value());
  CHECK(sockets->count() == 0);
  DatagramBatch out, in;
  out.add(link(tcp, 1), bytes_of(20));
  out.add(link(tcp, 2), bytes_of(20));
  sockets->send(out);
  const int first = accepted(tcp), second = accepted(tcp);
  out.clear();
  out.add_closed(link(tcp, 1));
  for (int i = 0; i < 20'000 && sockets->count() > 1; ++i) sockets->send(out), usleep(1000);
  CHECK(sockets->count() == 1);
  ::close(first);
  ::close(second);
  test::receive_something(*sockets, in);
  REQUIRE(in.closed().size() == 1);
  CHECK(in.closed()[0] == link(tcp, 2));
  CHECK(sockets->count() == 0);
  in.clear();
  sockets->receive(in);
  CHECK(in.empty());
}

TEST_CASE("a connection that nobody takes is told as one that ended", "[client_sim][net]") {
  PeerAddress nobody;
  {
    const Listener tcp(true);
    nobody = link(tcp, 3);
  }
  auto sockets = ClientSockets::open(nobody);
  REQUIRE(sockets.has_value());
  DatagramBatch out, in;
  out.add(nobody, bytes_of(20));
  sockets->send(out);
  test::receive_something(*sockets, in);
  REQUIRE(in.closed().size() == 1);
  CHECK(in.closed()[0] == nobody);
}

TEST_CASE("connections that nobody closes take each other's place", "[client_sim][net]") {
  const Listener tcp(true);
  auto sockets = ClientSockets::open(link(tcp, 0));
  REQUIRE(sockets.has_value());
  for (std::uint32_t i = 1; i <= 2 * ClientSockets::sockets_max; ++i) {
    DatagramBatch out;
    out.add(link(tcp, i), bytes_of(20));
    sockets->send(out);
    CHECK(sockets->count() == std::min<std::size_t>(i, ClientSockets::sockets_max));
  }
}

TEST_CASE("who goes to another network sends from another port", "[client_sim][net]") {
  const Listener udp(false);
  auto sockets = ClientSockets::open(udp.address(Transport::udp));
  REQUIRE(sockets.has_value());
  DatagramBatch out;
  out.add(udp.address(Transport::udp), bytes_of(10));
  sockets->send(out);
  const auto [before_size, before_port] = one_datagram(udp.socket);
  CHECK(before_size == 10);
  CHECK(before_port == sockets->local_port());
  REQUIRE(sockets->roam().has_value());
  sockets->send(out);
  const auto [size, port] = one_datagram(udp.socket);
  CHECK(size == 10);
  CHECK(port == sockets->local_port());
  CHECK(port != before_port);
}

TEST_CASE("of a server's addresses the first is taken that a socket can be opened for", "[client_sim][net]") {
  const Listener udp(false);
  PeerAddress no_way = udp.address(Transport::udp);
  no_way.ip = {0xfe, 0x80};  // link-local, of a device that is not there
  no_way.scope = 0x7fff'fff0;
  REQUIRE_FALSE(ClientSockets::open(no_way).has_value());
  const std::array<PeerAddress, 2> addresses{no_way, udp.address(Transport::udp)};
  auto sockets = ClientSockets::open(addresses);
  REQUIRE(sockets.has_value());
  DatagramBatch out, in;
  out.add(addresses[1], bytes_of(10));
  sockets->send(out);
  CHECK(one_datagram(udp.socket).first == 10);
  // Who tries the other one is told that there is no way.
  out.clear();
  out.add(no_way, bytes_of(10));
  sockets->send(out);
  sockets->receive(in);
  REQUIRE(in.closed().size() == 1);
  CHECK(in.closed()[0] == no_way);
}
