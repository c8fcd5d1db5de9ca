#include "server/loop.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "protocol/stream_frame.h"
#include "tests/catch.h"
#include "tests/server/host/hand.h"
#include "tests/server/lines.h"
#include "tests/server/net/sockets.h"
#include "world/sim/game.h"
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
  bool until(const std::function<bool(const Hand&)>& done, std::chrono::seconds patience = 30s) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
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

/// What each tick takes at least, on a machine of whatever speed, and the processor time that the loop says
/// it used: of those ticks alone, so that what else holds it up is others' doing.
std::atomic<std::int64_t> tick_cost_ms{0};
std::atomic<std::uint64_t> cost_ns{1};
std::uint64_t cost_so_far_ns() { return cost_ns.load(); }

class Costly final : public Game {
 public:
  void tick(GameApi&) override {
    const std::chrono::milliseconds cost(tick_cost_ms.load());
    if (cost.count() == 0) return;
    const auto begun = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(cost);
    cost_ns += static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begun) / 1ns);
  }
};

/// Of a host's status, for other threads than its own.
struct Watched {
  std::atomic<std::uint32_t> rung{0}, tick{0};
  std::atomic<std::uint64_t> climbs{0}, spared{0};
  void note(const HostStatus& status) {
    rung = status.overload_rung, tick = status.tick;
    climbs = status.overload_climbs, spared = status.snapshots_spared;
  }
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

TEST_CASE("a loop ends by itself", "[server][loop]") {
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
  options.title.port = transports.port();
  std::string reason;
  SECTION("when its time is up") {
    options.run_for = 120ms;
    reason = "reason=\"time is up\"";
  }
  SECTION("when the world has no more ticks") {
    options.ticks_max = 3;
    reason = "reason=\"the world's ticks are used up: start the server again\"";
  }
  loop.run(host, transports, ground, log, options);
  CHECK(host.status().tick >= 1);
  REQUIRE(lines->all.size() >= 2);
  CHECK_THAT(lines->all[lines->all.size() - 2], ContainsSubstring(reason));
}

TEST_CASE("a live server beyond what it holds leaves out more and more, says so, and tells all again later",
          "[server][loop][overload]") {
  WorldSetup setup;
  setup.monsters = 0;
  setup.rules.tick_rate_hz = 20;
  setup.game = [] { return std::make_unique<Costly>(); };
  HostConfig config;
  config.stopwatch_ns = stopwatch_ns;
  config.cpu_ns = cost_so_far_ns;
  tick_cost_ms = 0;
  Host host(config, std::make_unique<World>(setup), secure::SeededEntropy(1).secret());
  GroundWorkers ground(host.world().ground(), 1);
  Transports transports = open_on_loopback();
  auto lines = std::make_shared<Lines>();
  Log log(LogFormat::text, LogLevel::info, lines);
  Loop loop;
  Watched watched;
  LoopOptions options;
  options.title.port = transports.port();
  options.title.tick_rate_hz = 20;
  options.status_every_s = 1;
  options.watch = [&] { watched.note(host.status()); };
  std::thread thread([&] { loop.run(host, transports, ground, log, options); });

  Player ann(transports.port(), Transport::udp);
  ann.begin();
  const bool served = ann.until([](const Hand& hand) { return hand.own.has_value(); });
  const auto after_ticks = [&](std::uint32_t count) {
    const std::uint32_t then = watched.tick + count;
    return ann.until([&](const Hand& hand) { return watched.tick >= then && hand.snapshot_tick >= then; },
                     120s);
  };

  // Each tick takes two, whatever is left out: up to the highest rung, and there it stays.
  tick_cost_ms = 100;
  const bool climbed = ann.until([&](const Hand&) { return watched.rung == 4; }, 120s);
  const std::uint64_t spared_before = watched.spared;
  const bool still_told = after_ticks(20);
  const std::uint32_t rung = watched.rung;
  const std::uint64_t spared = watched.spared - spared_before;

  // The load is gone: down, a rung at a time, and not up again.
  tick_cost_ms = 0;
  const bool recovered = ann.until([&](const Hand&) { return watched.rung == 0; }, 120s);
  const std::uint64_t spared_in_all = watched.spared;
  const bool told = after_ticks(20);
  const std::uint64_t climbs = watched.climbs, spared_since = watched.spared - spared_in_all;
  const bool stayed = !ann.ended && !ann.hand.end().has_value();
  loop.request_stop("the test is over");
  thread.join();

  CHECK(served);
  CHECK(climbed);
  CHECK(still_told);
  CHECK(rung == 4);
  CHECK(spared >= 8);  // every second one: no fewer than ten a second are told
  CHECK(recovered);
  CHECK(told);
  CHECK(climbs == 4);
  CHECK(spared_since == 0);
  CHECK(stayed);
  std::string all;
  for (const std::string& line : lines->all) all += line + "\n";
  const char* const rungs[] = {"none", "far_cells", "half_rate", "quarter_rate", "slow_tick"};
  for (int i = 0; i < 4; ++i) {
    const std::string low = rungs[i], high = rungs[i + 1];
    CHECK_THAT(all, ContainsSubstring("event=overload leaves_out=" + high + " before=" + low));
    CHECK_THAT(all, ContainsSubstring("event=overload_eased leaves_out=" + low + " before=" + high));
  }
  CHECK_THAT(all, ContainsSubstring("overload=slow_tick overload_climbs=4"));
  CHECK_THAT(all, ContainsSubstring("overload=none overload_climbs=4"));
}

}  // namespace ashlar::server
