#include "server/loop.h"

#include <array>
#include <optional>
#include <thread>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/packet.h"
#include "protocol/stream_frame.h"
#include "protocol/version.h"
#include "tests/catch.h"
#include "tests/server/lines.h"
#include "tests/server/net/sockets.h"
#include "world/sim/world.h"

namespace ashlar::server {

using namespace test;

namespace {

/// A player on a plain socket: as little of a client as joining takes.
class Player {
 public:
  Player(std::uint16_t port, Transport transport)
      : tcp_(transport == Transport::tcp), socket_(tcp_ ? tcp_to(port) : udp_to(port)) {}

  void say_hello() {
    Hello hello;
    hello.protocol = protocol_version;
    hello.nonce = 42;
    hello.name = tcp_ ? "over TCP" : "over UDP";
    send(writer_.write(next_header(), hello));
  }

  /// Reads until a message of this kind came, or gives up after a while.
  template <class Message>
  std::optional<Message> wait_for() {
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    std::optional<Message> found;
    while (!found && !ended && std::chrono::steady_clock::now() < give_up) {
      if (!socket_.readable(100)) continue;
      const Bytes bytes = socket_.receive(&ended);
      const auto take = [&](std::span<const std::uint8_t> packet_bytes) {
        alignas(8) std::array<std::uint8_t, datagram_bytes_max> aligned{};
        std::copy(packet_bytes.begin(), packet_bytes.end(), aligned.begin());
        const auto packet = decode_packet({aligned.data(), packet_bytes.size()});
        const auto message =
            packet ? decode_server_message(packet->payload) : std::unexpected(packet.error());
        if (!message) return;
        if (const auto* welcome = std::get_if<Welcome>(&*message)) connection_ = welcome->connection;
        if (const auto* wanted = std::get_if<Message>(&*message)) found = *wanted;
      };
      if (tcp_)
        deframer_.feed(bytes, take);
      else if (!bytes.empty())
        take(bytes);
    }
    return found;
  }

  void join() { send(writer_.write(next_header(), Join{})); }
  bool sees_end() {
    while (!ended && socket_.readable(30000)) socket_.receive(&ended);
    return ended;
  }

  bool ended = false;

 private:
  PacketHeader next_header() {
    PacketHeader header;
    header.connection = connection_;
    header.sequence = ++sequence_;
    return header;
  }
  void send(std::span<const std::uint8_t> packet) {
    if (!socket_.send(tcp_ ? framed(packet) : Bytes(packet.begin(), packet.end())))
      throw std::runtime_error("cannot send");
  }

  bool tcp_;
  Socket socket_;
  MessageWriter writer_;
  StreamDeframer deframer_;
  std::uint32_t connection_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace

TEST_CASE("players over UDP and TCP are served by one loop and told goodbye when it stops",
          "[server][loop]") {
  WorldSetup setup;
  setup.monsters = 0;
  setup.players_max = 8;
  HostConfig config;
  config.clients_max = 8;
  config.clients_per_address_max = 8;
  config.stopwatch_ns = stopwatch_ns;
  Host host(config, std::make_unique<World>(setup), SecretKey{1, 0});
  GroundWorkers ground(host.world().ground(), 1);
  Transports transports = open_on_loopback();
  auto lines = std::make_shared<Lines>();
  Log log(LogFormat::text, LogLevel::info, lines);
  Loop loop;
  LoopOptions options;
  options.title.port = transports.port();
  std::thread thread([&] { loop.run(host, transports, ground, log, options); });

  Player udp(transports.port(), Transport::udp);
  Player tcp(transports.port(), Transport::tcp);
  bool served = true;
  for (Player* player : {&udp, &tcp}) {
    player->say_hello();
    const auto welcome = player->wait_for<Welcome>();
    served = served && welcome.has_value() && welcome->nonce == 42;
    player->join();
    served = served && player->wait_for<SnapshotPart>().has_value();
  }
  loop.request_stop("the test is over");
  const auto udp_goodbye = udp.wait_for<Goodbye>();
  const auto tcp_goodbye = tcp.wait_for<Goodbye>();
  const bool tcp_ended = tcp.sees_end();
  thread.join();

  CHECK(served);
  REQUIRE(udp_goodbye.has_value());
  CHECK(udp_goodbye->reason == GoodbyeReason::shutting_down);
  REQUIRE(tcp_goodbye.has_value());
  CHECK(tcp_goodbye->reason == GoodbyeReason::shutting_down);
  CHECK(tcp_ended);
  std::string all;
  for (const std::string& line : lines->all) all += line + "\n";
  CHECK_THAT(all, ContainsSubstring("event=joined player=\"over UDP\""));
  CHECK_THAT(all, ContainsSubstring("transport=tcp"));
  CHECK_THAT(all, ContainsSubstring("event=stopping reason=\"the test is over\" clients=2"));
  CHECK_THAT(all, ContainsSubstring("event=stopped"));
}

TEST_CASE("a loop ends by itself when its time is up", "[server][loop]") {
  WorldSetup setup;
  setup.monsters = 0;
  HostConfig config;
  Host host(config, std::make_unique<World>(setup), SecretKey{1, 0});
  GroundWorkers ground(host.world().ground(), 1);
  Transports transports = open_on_loopback();
  auto lines = std::make_shared<Lines>();
  Log log(LogFormat::text, LogLevel::info, lines);
  Loop loop;
  CHECK_FALSE(loop.stop_requested());
  LoopOptions options;
  options.run_for = 120ms;
  options.title.port = transports.port();
  loop.run(host, transports, ground, log, options);
  CHECK(host.status().tick >= 1);
  REQUIRE(lines->all.size() >= 2);
  CHECK_THAT(lines->all[lines->all.size() - 2], ContainsSubstring("reason=\"time is up\""));
}

}  // namespace ashlar::server
