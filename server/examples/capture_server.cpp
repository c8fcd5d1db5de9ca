// A server of a game of one's own (world/examples/capture): flat ground and two bases, everyone welcome.
// usage: capture_server [PORT [SECONDS]]   PORT 0 takes any that is free. Ends after SECONDS (10 unless
// told).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "server/ground_workers.h"
#include "server/host/host.h"
#include "server/net/transports.h"
#include "world/examples/capture/capture.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

Micros now() {
  return std::chrono::duration_cast<Micros>(std::chrono::steady_clock::now().time_since_epoch());
}

/// The bases stand on the ground, wherever that is.
WorldSetup capture_world() {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.players_max = 16;
  setup.monsters = setup.monsters_max = 0;
  const World probe(setup);
  const double ground = space_ground_below(probe.space(), {0.5, 0.5}, 0.45, 60, 120).value_or(0);
  const std::array<DVec3, 2> bases{{{-8, 0, ground}, {8, 0, ground}}};
  setup.game = [bases] { return std::make_unique<examples::Capture>(bases); };
  return setup;
}

}  // namespace

int main(int argc, char** argv) {
  TransportConfig sockets;
  sockets.port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 7777);
  sockets.clients_max = 16;
  auto transports = Transports::open(sockets);
  if (!transports) return std::fprintf(stderr, "%s\n", transports.error().c_str()), 1;

  HostConfig config;
  config.clients_max = 16;
  Host host(config, std::make_unique<World>(capture_world()), secure::SystemEntropy().secret());
  std::printf("port %u\n", transports->port());
  std::fflush(stdout);

  GroundWorkers ground(host.world().ground(), 1);
  HostInput in;
  HostOutput out;
  const Micros end = now() + std::chrono::seconds(argc > 2 ? std::atoi(argv[2]) : 10);
  while (now() < end) {
    in.clear(), out.clear();
    transports->poll(now(), in.datagrams);
    ground.take(in.ground);
    ground.take(in.packed);
    host.advance(now(), in, out);
    transports->send(now(), out.datagrams);
    ground.request(out.ground_requests);
    ground.request(out.pack_requests);
    for (const HostEvent& event : out.events)
      if (event.kind == HostEventKind::joined) std::printf("%s joined\n", event.name.c_str());
    std::fflush(stdout);
    if (host.next_tick_at() > now()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  out.clear();
  host.shut_down("the example is over", out.datagrams);
  transports->send(now(), out.datagrams);
  std::printf("%u ticks\n", host.status().tick);
}
