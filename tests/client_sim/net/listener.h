#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "client_sim/net/socket.h"
#include "tests/catch.h"

namespace ashlar::test {

/// A plain socket on a free port of the loopback.
struct Listener {
  int socket = -1;
  std::uint16_t port = 0;

  explicit Listener(bool tcp) {
    socket = ::socket(AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
    REQUIRE(socket >= 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    socklen_t size = sizeof address;
    REQUIRE(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port = ntohs(address.sin_port);
    if (tcp) REQUIRE(listen(socket, 8) == 0);
  }
  ~Listener() { ::close(socket); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  PeerAddress address(Transport transport) const {
    return *client_sim::resolve_server("127.0.0.1:" + std::to_string(port), transport);
  }
};

/// Waits for a socket to have something to read: seconds, not milliseconds, as machines may be busy.
inline void wait_readable(int socket) {
  pollfd p{socket, POLLIN, 0};
  REQUIRE(poll(&p, 1, 20'000) == 1);
}

/// Polls a client's socket, or sockets, until something came or the patience ends.
template <class Socket>
void receive_something(Socket& socket, DatagramBatch& in) {
  for (int i = 0; i < 20'000 && in.empty(); ++i) {
    socket.receive(in);
    if (in.empty()) usleep(1000);
  }
}

}  // namespace ashlar::test
