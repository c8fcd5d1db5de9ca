// A whole client in a hundred lines: joins, walks a square, prints what it sees, leaves.
// usage: walk_square [HOST:PORT]   exit code 0 when it played
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "client_sim/client/game_client.h"
#include "client_sim/net/client_sockets.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

constexpr auto side_takes = std::chrono::milliseconds(500);

Micros now() {
  return std::chrono::duration_cast<Micros>(std::chrono::steady_clock::now().time_since_epoch());
}

GameConfig config_for(const std::vector<PeerAddress>& addresses) {
  GameConfig config;
  config.client.server = addresses.front();
  config.client.more_addresses.assign(addresses.begin() + 1, addresses.end());
  config.client.name = "square";
  config.client.seed = secure::SystemEntropy().secret();
  config.client.fallback = addresses.front();  // where the network blocks UDP
  config.client.fallback->transport = Transport::tcp;
  config.client.opens_links = true;
  return config;
}

/// The command for a corner of the square: ahead, a quarter turn further to the left each time.
PlayerCommand walk(int corner) {
  PlayerCommand command;
  command.forward = 1;
  command.yaw = Turn16{static_cast<std::uint16_t>(corner * 16384)};
  return command;
}

void print_picture(GameClient& game, Micros at) {
  const auto self = game.self(at);
  if (!self) return;
  const DVec3 p = self->position_m;
  std::printf("I am at %.2f %.2f %.2f", p.x, p.y, p.z);
  if (game.predictor().ready()) {
    const Space space = game.predictor().replica().space();
    const IVec3 below = block_at(p - DVec3{0, 0, 0.5});
    std::printf(" on block %u, foreseen for tick %u", static_cast<unsigned>(space.voxels->block(below)),
                game.predictor().tick());
  }
  const auto others = game.others(at);
  std::printf(", %zu others in sight\n", others.size());
  for (const ShownEntity& e : others.first(std::min<std::size_t>(others.size(), 3)))
    std::printf("  kind %u at %.2f %.2f %.2f\n", static_cast<unsigned>(e.record.kind), e.position_m.x,
                e.position_m.y, e.position_m.z);
}

}  // namespace

int main(int argc, char** argv) {
  const auto addresses = resolve_addresses(argc > 1 ? argv[1] : "127.0.0.1:7777", Transport::udp);
  if (!addresses) return std::fprintf(stderr, "%s\n", addresses.error().c_str()), 2;
  auto sockets = ClientSockets::open(*addresses);
  if (!sockets) return std::fprintf(stderr, "%s\n", sockets.error().c_str()), 2;

  GameClient game(config_for(*addresses));
  DatagramBatch in, out;
  std::optional<Micros> started;
  int corner = -1;
  while (!game.client().ended()) {
    in.clear(), out.clear();
    sockets->receive(in);
    game.advance(now(), in, out);
    sockets->send(out);
    const bool there = game.predictor().ready() && !game.predictor().waiting();
    if (there && !started) started = now();
    if (started) {
      const auto passed = static_cast<int>((now() - *started) / side_takes);
      if (passed != corner) {
        corner = passed;
        print_picture(game, now());
        if (corner == 4) game.client().leave();
      }
      game.set_command(walk(corner));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (corner < 4) return std::fprintf(stderr, "%s\n", game.client().reason().c_str()), 1;
  const PredictorStats& stats = game.predictor().stats();
  std::printf("%llu of %llu ticks were not as foreseen\n",
              static_cast<unsigned long long>(stats.mispredicted_sum()),
              static_cast<unsigned long long>(stats.confirmed));
}
