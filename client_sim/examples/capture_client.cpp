// A client of a game of one's own (world/examples/capture): swings to the other team's flag on a grapple that
// it foresees, brings it home, and leaves once that scored. usage: capture_client [HOST:PORT]   exit code 0
// when it scored
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "client_sim/client/game_client.h"
#include "client_sim/net/client_sockets.h"
#include "world/examples/capture/capture.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

Micros now() {
  return std::chrono::duration_cast<Micros>(std::chrono::steady_clock::now().time_since_epoch());
}

/// Where the flags lie, or are carried: of the one that is farther from where the player began.
struct Errand {
  DVec3 home;
  bool began = false;
  std::vector<ViewEntity> seen;  // scratch

  PlayerCommand command(const GameClient& game, Micros at) {
    const auto self = game.self(at);
    if (!self) return {};
    if (!began) home = self->position_m, began = true;
    DVec3 goal = self->position_m;
    double farthest = 0;
    const Client& client = game.client();
    client.view().entities(seen);
    for (const ViewEntity& entity : seen) {
      const auto carrier = client.field(entity.record.id, "carrier");
      if (!carrier) continue;  // no flag
      const DVec3 off = entity.position_m - home;
      if (static_cast<EntityId>(*carrier) == client.player())
        goal = home, farthest = 1e9;
      else if (dot(off, off) > farthest)
        goal = entity.position_m, farthest = dot(off, off);
    }
    PlayerCommand c;
    const DVec2 way = xy(goal - self->position_m);
    c.yaw = turn_towards(way);
    c.forward = 1;
    if (length(way) > 4) {  // to the ground before it: fast, and it lets go in time
      c.buttons = button::use;
      c.pitch = Turn16{static_cast<std::uint16_t>(65536 - 1500)};
    }
    return c;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto server = resolve_server(argc > 1 ? argv[1] : "127.0.0.1:7777", Transport::udp);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 2;
  auto sockets = ClientSockets::open(*server);
  if (!sockets) return std::fprintf(stderr, "%s\n", sockets.error().c_str()), 2;

  bool scored = false;
  GameConfig config;
  config.client.server = *server;
  config.client.name = "runner";
  config.client.seed = secure::SystemEntropy().secret();
  config.prediction.motion = std::make_shared<examples::Grapple>();
  config.client.on_message = [&](const MessageTraits& kind, const GameMessage&) {
    scored = scored || kind.name == "scored";
  };
  GameClient game(std::move(config));

  DatagramBatch in, out;
  Errand errand;
  const Micros end = now() + std::chrono::seconds(40);
  while (!game.client().ended() && now() < end) {
    in.clear(), out.clear();
    sockets->receive(in);
    game.advance(now(), in, out);
    sockets->send(out);
    game.set_command(errand.command(game, now()));
    if (scored) game.client().leave();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (!scored) return std::fprintf(stderr, "no score. %s\n", game.client().reason().c_str()), 1;
  std::printf("scored after %llu snapshots, %llu states foreseen to the last bit\n",
              static_cast<unsigned long long>(game.client().stats().snapshots),
              static_cast<unsigned long long>(game.predictor().stats().confirmed));
}
