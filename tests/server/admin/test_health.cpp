#include "server/admin/health.h"

#include <atomic>
#include <thread>

#include "protocol/pong_info.h"
#include "protocol/secure/open_packets.h"
#include "protocol/version.h"
#include "tests/catch.h"
#include "tests/server/net/sockets.h"

namespace ashlar::server {

using namespace test;

namespace {

/// A host of a few lines that answers pings.
class Answering {
 public:
  /// @param silent_for  pings that are left unanswered first
  explicit Answering(int silent_for = 0, std::uint64_t nonce_change = 0)
      : transports_(open_on_loopback()),
        thread_([=, this](std::stop_token stop) { run(stop, silent_for, nonce_change); }) {}

  PeerAddress address() const { return *parse_peer("127.0.0.1", transports_.port()); }
  std::atomic<int> pings{0}, others{0};

 private:
  void run(std::stop_token stop, int silent_for, std::uint64_t nonce_change) {
    std::array<std::uint8_t, datagram_bytes_max> answer;
    DatagramBatch in, out;
    while (!stop.stop_requested()) {
      in.clear(), out.clear();
      transports_.poll(0us, in);
      for (const auto& entry : in.entries()) {
        const auto info = encode(PongInfo{123, 4, 8});
        const std::size_t size = secure::write_pong(in.bytes(entry), protocol_version, info, answer);
        if (size == 0) {
          ++others;
          continue;
        }
        if (++pings <= silent_for) continue;
        answer[secure::open_nonce_at] ^= static_cast<std::uint8_t>(nonce_change);
        out.add(entry.peer, std::span(answer).first(size));
      }
      transports_.send(0us, out);
      ::usleep(500);
    }
  }

  Transports transports_;
  std::jthread thread_;
};

}  // namespace

TEST_CASE("a server that answers a ping is healthy, and hears nothing else", "[server][health]") {
  Answering server;
  const auto answer = ask_health(server.address(), 5s);
  REQUIRE(answer.has_value());
  CHECK_THAT(*answer, ContainsSubstring("tick 123, 4 of 8 clients"));
  CHECK(server.pings >= 1);
  CHECK(server.others == 0);
}

TEST_CASE("a ping that was lost is said again", "[server][health]") {
  Answering server(1);
  CHECK(ask_health(server.address(), 5s).has_value());
}

TEST_CASE("an answer to somebody else's question does not count", "[server][health]") {
  Answering server(0, 1);
  const auto answer = ask_health(server.address(), 600ms);
  REQUIRE_FALSE(answer.has_value());
  CHECK_THAT(answer.error(), ContainsSubstring("does not answer within 600 ms"));
}

TEST_CASE("nobody at the port is told as such", "[server][health]") {
  std::uint16_t port = 0;
  {
    Transports gone = open_on_loopback();
    port = gone.port();
  }
  // At once: an hour would be more than the test's own limit.
  const auto answer = ask_health(*parse_peer("127.0.0.1", port), 1h);
  REQUIRE_FALSE(answer.has_value());
  CHECK_THAT(answer.error(), ContainsSubstring("nothing listens on 127.0.0.1:" + std::to_string(port)));
}

}  // namespace ashlar::server
