// A client without a window: joins, walks a square, prints whom it sees, and leaves.
// usage: headless_client [HOST:PORT]   exit code 0 when it played
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/net/client_sockets.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

Micros now() {
  return std::chrono::duration_cast<Micros>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

int main(int argc, char** argv) {
  const auto addresses = resolve_addresses(argc > 1 ? argv[1] : "127.0.0.1:7777", Transport::udp);
  if (!addresses) return std::fprintf(stderr, "%s\n", addresses.error().c_str()), 2;
  auto sockets = ClientSockets::open(*addresses);
  if (!sockets) return std::fprintf(stderr, "%s\n", sockets.error().c_str()), 2;

  ClientConfig config;
  config.server = addresses->front();
  config.more_addresses.assign(addresses->begin() + 1, addresses->end());
  config.name = "example";
  config.seed = secure::SystemEntropy().secret();
  config.fallback = addresses->front();  // where the network blocks UDP
  config.fallback->transport = Transport::tcp;
  config.opens_links = true;
  Client client(config);

  DatagramBatch in, out;
  constexpr auto side = std::chrono::seconds(1);
  Micros started{0};
  while (!client.ended()) {
    in.clear(), out.clear();
    sockets->receive(in);
    client.advance(now(), in, out);
    sockets->send(out);
    if (client.own()) {
      if (started == Micros{0}) started = now();
      const auto corner = (now() - started) / side;
      if (corner >= 4) client.leave();
      PlayerCommand command;
      command.forward = 1;
      command.yaw = Turn16{static_cast<std::uint16_t>(corner * 16384)};  // a quarter turn to the left
      client.set_command(command);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (!client.own()) return std::fprintf(stderr, "%s\n", client.reason().c_str()), 1;
  const DVec3 at = client.own()->body.position_m;
  std::vector<ViewEntity> seen;
  client.view().entities(seen);
  std::erase_if(seen, [&](const ViewEntity& entity) { return entity.record.id == client.player(); });
  std::printf("ended at %.2f %.2f %.2f among %zu others after %llu snapshots\n", at.x, at.y, at.z,
              seen.size(), static_cast<unsigned long long>(client.stats().snapshots));
}
