#include "server/admin/health.h"

#include <atomic>
#include <optional>
#include <thread>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/packet.h"
#include "protocol/version.h"
#include "tests/catch.h"
#include "tests/server/net/sockets.h"

namespace ashlar::server {

using namespace test;

namespace {

/// A host of a few lines that gives each hello the same answer. It notes what else it hears.
class Answering {
 public:
  /// @param silent_for  hellos that are left unanswered first
  Answering(std::optional<RefuseReason> refuse, int silent_for = 0, std::uint64_t nonce_change = 0)
      : transports_(open_on_loopback()),
        thread_([=, this](std::stop_token stop) { run(stop, refuse, silent_for, nonce_change); }) {}
  ~Answering() { finish(); }

  PeerAddress address() const { return *parse_peer("127.0.0.1", transports_.port()); }
  void finish() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  std::atomic<int> hellos{0}, leaves{0};

 private:
  void run(std::stop_token stop, std::optional<RefuseReason> refuse, int silent_for,
           std::uint64_t nonce_change) {
    MessageWriter writer;
    DatagramBatch in, out;
    while (!stop.stop_requested()) {
      in.clear(), out.clear();
      transports_.poll(0us, in);
      for (const auto& entry : in.entries()) {
        const auto packet = decode_packet(in.bytes(entry));
        const auto message =
            packet ? decode_client_message(packet->payload) : std::unexpected(packet.error());
        if (!message) continue;
        if (std::get_if<Leave>(&*message) != nullptr && packet->header.connection == 77) ++leaves;
        const auto* hello = std::get_if<Hello>(&*message);
        if (hello == nullptr || ++hellos <= silent_for) continue;
        PacketHeader header;
        header.sequence = static_cast<std::uint64_t>(hellos);
        if (refuse) {
          out.add(entry.peer, writer.write(header, Refuse{hello->nonce + nonce_change, *refuse, "because"}));
          continue;
        }
        Welcome welcome;
        welcome.nonce = hello->nonce + nonce_change;
        welcome.connection = 77;
        welcome.tick = 123;
        out.add(entry.peer, writer.write(header, welcome));
      }
      transports_.send(0us, out);
      ::usleep(500);
    }
  }

  Transports transports_;
  std::jthread thread_;
};

}  // namespace

TEST_CASE("a server that welcomes is healthy, and is left again", "[server][health]") {
  Answering server(std::nullopt);
  const auto answer = ask_health(server.address(), 5s);
  REQUIRE(answer.has_value());
  CHECK_THAT(*answer, ContainsSubstring("tick 123"));
  for (int wait = 0; wait < 2000 && server.leaves == 0; ++wait) ::usleep(1000);
  server.finish();
  CHECK(server.hellos >= 1);
  CHECK(server.leaves == 1);
}

TEST_CASE("a hello that was lost is said again", "[server][health]") {
  Answering server(std::nullopt, 1);
  CHECK(ask_health(server.address(), 5s).has_value());
}

TEST_CASE("a full server is healthy, one that ends or speaks otherwise is not", "[server][health]") {
  for (const RefuseReason reason : {RefuseReason::full, RefuseReason::closed, RefuseReason::banned,
                                    RefuseReason::too_many_from_address}) {
    Answering server(reason);
    CHECK(ask_health(server.address(), 5s).has_value());
  }
  for (const RefuseReason reason : {RefuseReason::shutting_down, RefuseReason::version}) {
    Answering server(reason);
    const auto answer = ask_health(server.address(), 5s);
    REQUIRE_FALSE(answer.has_value());
    CHECK_THAT(answer.error(), ContainsSubstring("because"));
  }
}

TEST_CASE("an answer to somebody else's question does not count", "[server][health]") {
  Answering server(std::nullopt, 0, 1);
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
