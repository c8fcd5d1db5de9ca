#pragma once
// The floor under every figure of the wire: a server that takes each client's input and sends each a prebuilt
// datagram of 300 bytes in every tick, and does nothing else; and clients for it. Plain non-blocking calls in
// steps of 2 ms, as the real server and the real harness make them.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <thread>
#include <vector>

namespace ashlar::bench {

inline constexpr std::size_t null_answer_bytes = 300;
inline constexpr std::size_t null_input_bytes = 100;  // what a client's input with its repeats is
inline constexpr std::chrono::milliseconds null_step{2};

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

/// Runs until the process is ended; every second a line with the number of its ticks. @return 2 on failure
inline int run_null_server(std::uint16_t port, int rate_hz) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return 2;
  const int room = 8 << 20;
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  const sockaddr_in own = loopback(port);
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) return 2;

  using Clock = std::chrono::steady_clock;
  std::map<std::uint32_t, sockaddr_in> peers;  // by port: all are on one host
  std::array<char, 1500> input{};
  std::array<char, null_answer_bytes> answer{};
  const Clock::time_point start = Clock::now();
  for (std::int64_t tick = 1;; ++tick) {
    const Clock::time_point due = start + std::chrono::microseconds(tick * 1'000'000 / rate_hz);
    do {
      std::this_thread::sleep_until(std::min(due, Clock::now() + null_step));
      sockaddr_in from{};
      socklen_t size = sizeof from;
      while (::recvfrom(socket, input.data(), input.size(), 0, reinterpret_cast<sockaddr*>(&from), &size) > 0)
        peers.try_emplace(from.sin_port, from), size = sizeof from;
    } while (Clock::now() < due);
    for (const auto& [peer_port, at] : peers)
      ::sendto(socket, answer.data(), answer.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&at),
               sizeof at);
    if (tick % rate_hz == 0) {
      std::printf("ticks %lld peers %zu\n", static_cast<long long>(tick), peers.size());
      std::fflush(stdout);
    }
  }
}

/// So many sockets that send an input in each tick and read what comes. Runs until the process is ended.
inline int run_null_clients(std::uint16_t port, std::size_t count, int rate_hz) {
  std::vector<int> sockets(count);
  const sockaddr_in server = loopback(port);
  for (int& socket : sockets) {
    socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0 || ::connect(socket, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0)
      return 2;
  }
  using Clock = std::chrono::steady_clock;
  const std::array<char, null_input_bytes> input{};
  std::array<char, 1500> answer{};
  const Clock::time_point start = Clock::now();
  std::vector<std::int64_t> sent(count, 0);
  for (std::int64_t step = 1;; ++step) {
    std::this_thread::sleep_until(start + step * null_step);
    const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
    for (std::size_t i = 0; i < count; ++i) {
      while (::recv(sockets[i], answer.data(), answer.size(), 0) > 0) {
      }
      // Each at a time of its own within the tick, as clients' clocks are.
      const auto offset =
          static_cast<std::int64_t>(i) * 1'000'000 / rate_hz / static_cast<std::int64_t>(count);
      const std::int64_t due = (passed - offset) * rate_hz / 1'000'000;
      if (due <= sent[i]) continue;
      sent[i] = due;
      ::send(sockets[i], input.data(), input.size(), MSG_NOSIGNAL);
    }
  }
}

}  // namespace ashlar::bench
