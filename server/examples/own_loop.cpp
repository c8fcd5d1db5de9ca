// A server inside a program of one's own, which keeps the loop: a world without a map, everyone welcome.
// usage: own_loop [PORT [SECONDS]]   PORT 0 takes any that is free. Ends after SECONDS (10 unless told).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "server/ground_workers.h"
#include "server/host/host.h"
#include "server/net/transports.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

Micros now() {
  return std::chrono::duration_cast<Micros>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

int main(int argc, char** argv) {
  TransportConfig sockets;
  sockets.port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 7777);
  sockets.clients_max = 16;
  auto transports = Transports::open(sockets);
  if (!transports) return std::fprintf(stderr, "%s\n", transports.error().c_str()), 1;

  WorldSetup setup;
  setup.players_max = 16;
  HostConfig config;
  config.clients_max = 16;
  config.message_of_the_day = "hello from a program of its own";
  // Who keeps a key in a file is known by it again after a restart: config.identity.
  Host host(config, std::make_unique<World>(setup), secure::SystemEntropy().secret());
  std::printf("port %u\n", transports->port());
  std::fflush(stdout);

  GroundWorkers ground(host.world().ground(), 1);  // makes what players walk towards, on a thread of its own
  HostInput in;
  HostOutput out;
  const Micros end = now() + std::chrono::seconds(argc > 2 ? std::atoi(argv[2]) : 10);
  while (now() < end) {
    in.clear(), out.clear();
    transports->poll(now(), in.datagrams);
    ground.take(in.ground);
    ground.take(in.packed);
    host.advance(now(), in, out);  // runs one tick where one is due
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
  transports->send(now(), out.datagrams);  // a server that stays polite goes on until host.silent()
  std::printf("%u ticks\n", host.status().tick);
}
