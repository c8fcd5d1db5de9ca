#include "server/loop.h"

#include <functional>
#include <optional>
#include <thread>

#include "protocol/stream_frame.h"
#include "tests/catch.h"
#include "tests/server/host/hand.h"
#include "tests/server/lines.h"
#include "tests/server/net/sockets.h"
#include "world/sim/world.h"

namespace ashlar::server {

using namespace test;

namespace {

Micros player_time() {
  return std::chrono::duration_cast<Micros>(std::chrono::steady_clock::now().time_since_epoch());
}

/// A player on a plain socket: as little of a client as joining takes.
class Player {
 public:
  Player(std::uint16_t port, Transport transport)
      : hand(address(transport), transport == Transport::tcp ? "over TCP" : "over UDP",
             transport == Transport::tcp),
        tcp_(transport == Transport::tcp),
        socket_(tcp_ ? tcp_to(port) : udp_to(port)) {}

  /// Plays until then, or gives up after a while. @return came it about?
  bool until(const std::function<bool(const Hand&)>& done) {
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    while (!done(hand) && !ended && std::chrono::steady_clock::now() < give_up) turn();
    return done(hand);
  }
  void begin() { hand.begin(player_time()); }
  bool sees_end() {
    while (!ended && socket_.readable(30000)) socket_.receive(&ended);
    return ended;
  }

  bool ended = false;
  Hand hand;

 private:
  static PeerAddress address(Transport transport) {
    PeerAddress a;
    a.transport = transport;
    return a;
  }
  void turn() {
    out_.clear();
    hand.poll(player_time(), out_);
    for (const auto& entry : out_.entries()) {
      const auto packet = out_.bytes(entry);
      if (!socket_.send(tcp_ ? framed(packet) : Bytes(packet.begin(), packet.end()))) ended = true;
    }
    if (!socket_.readable(5)) return;
    const Bytes bytes = socket_.receive(&ended);
    const auto take = [&](std::span<const std::uint8_t> packet) {
      hand.receive(player_time(), address(hand.at.transport), packet);
    };
    if (tcp_)
      deframer_.feed(bytes, take);
    else if (!bytes.empty())
      take(bytes);
  }

  bool tcp_;
  Socket socket_;
  StreamDeframer deframer_;
  DatagramBatch out_;
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
  Host host(config, std::make_unique<World>(setup), secure::SeededEntropy(1).secret());
  GroundWorkers ground(host.world().ground(), 1);
  TransportConfig sockets;
  sockets.send_thread = GENERATE(false, true);
  Transports transports = open_on_loopback(sockets);
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
    player->begin();
    served = served && player->until([](const Hand& hand) { return hand.own.has_value(); });
  }
  loop.request_stop("the test is over");
  const auto over = [](const Hand& hand) { return hand.end().has_value(); };
  const bool udp_told = udp.until(over), tcp_told = tcp.until(over);
  const bool tcp_ended = tcp.sees_end();
  thread.join();

  CHECK(served);
  CHECK(udp_told);
  CHECK(udp.hand.end() == SessionEnd::shutting_down);
  CHECK(tcp_told);
  CHECK(tcp.hand.end() == SessionEnd::shutting_down);
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
  Host host(config, std::make_unique<World>(setup), secure::SeededEntropy(1).secret());
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
