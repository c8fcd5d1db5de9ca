#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/harness/link.h"
#include "protocol/secure/seeded_entropy.h"
#include "server/host/host.h"
#include "tests/catch.h"
#include "world/bsp/placement.h"
#include "world/sim/world.h"

namespace ashlar::testing {

using client_sim::Micros;

/// Who the servers of these tests are, however often they start.
inline secure::KeyPair hosts_identity() { return secure::key_pair(secure::SeededEntropy(4711).secret()); }

/// A few players alone, who build of what they have.
inline WorldSetup survival_setup() {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  setup.rules.free_blocks = FreeBlocks::no;
  return setup;
}

/// A Host and one client that holds its maps, with a link each way, in simulated time.
class HostedClient {
 public:
  explicit HostedClient(const WorldSetup& setup, std::uint64_t seed = 1, const std::string& name = "ada")
      : HostedClient(setup, {}, client_config(setup, name), seed) {}
  /// With more to say of either end.
  HostedClient(const WorldSetup& setup, server::HostConfig config, client_sim::ClientConfig player,
               std::uint64_t seed = 1)
      : client(std::move(player)), up({}, seed), down({}, seed + 1000) {
    config.clients_max = 4;
    config.identity = hosts_identity();
    host = std::make_unique<server::Host>(config, std::make_unique<World>(setup),
                                          secure::SeededEntropy(seed).secret());
  }
  /// A client that holds all that there is.
  static client_sim::ClientConfig client_config(const WorldSetup& setup, const std::string& name) {
    client_sim::ClientConfig config;
    config.server.port = 7777;
    config.name = name;
    config.seed = secure::SeededEntropy(77).secret();
    config.pinned = hosts_identity().open;
    const auto held = [maps = setup.maps](const WelcomeMap& wanted) -> std::shared_ptr<const PlacedMap> {
      for (const auto& map : maps)
        if (map->content_hash() == wanted.content_hash) return map;
      return nullptr;
    };
    config.map = held;
    config.content = [held](const WelcomeMap& wanted) -> std::optional<std::uint64_t> {
      const auto map = held(wanted);
      return map == nullptr ? std::nullopt : std::optional(map->content_hash());
    };
    config.prop_content = [](const WelcomeProp& wanted) { return std::optional(wanted.content_hash); };
    return config;
  }

  void conditions(const client_sim::LinkConditions& c) { up.set_conditions(c), down.set_conditions(c); }

  /// Two milliseconds: the client, if it is called that often, then the server. `after_tick` sees the world
  /// whenever it has stepped.
  void turn() {
    now += Micros{2000};
    to_server.clear(), from_server.clear();
    if (now >= called_at + call_every) turn_client();
    up.deliver(now, to_server);
    const std::uint32_t before = number(host->world().tick());
    advance_host();
    down.send(now, from_server);
    if (number(host->world().tick()) != before && after_tick) after_tick();
  }
  void turn_client() {
    called_at = now;
    to_client.clear(), from_client.clear();
    down.deliver(now, to_client);
    client.advance(now, to_client, from_client, foresight);
    up.send(now, from_client);
  }
  /// The server's part of a turn, ground made on the spot.
  void advance_host() {
    input.ground.clear(), input.packed.clear();
    for (const IVec2 column : std::exchange(output.ground_requests, {}))
      input.ground.push_back(server::make_column(*host->world().ground(), column));
    for (const server::PackRequest& request : std::exchange(output.pack_requests, {}))
      input.packed.push_back(packer.pack(request));
    host->advance(now, input, output);
  }
  void run(double seconds) {
    const Micros until = now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    while (now < until) turn();
  }
  /// Runs until the client has its player.
  void enter() {
    for (int i = 0; i < 2000 && !client.own(); ++i) turn();
    REQUIRE(client.own().has_value());
  }
  /// The last word on an act; none within so long.
  std::optional<ActAnswer> settled(std::uint32_t number, double seconds = 5) {
    for (int i = 0; i < static_cast<int>(seconds * 10); ++i) {
      run(0.1);
      for (const ActAnswer& answer : client.take_verdicts())
        if (answer.number == number && answer.verdict != ActVerdict::progress) return answer;
    }
    return std::nullopt;
  }
  const World& world() const { return host->world(); }
  std::size_t row() const {
    const int row = world().player_row(client.player());
    REQUIRE(row >= 0);
    return static_cast<std::size_t>(row);
  }

  std::unique_ptr<server::Host> host;
  client_sim::Client client;
  client_sim::Foresight* foresight = nullptr;
  client_sim::Link up, down;
  Micros now{1'000'000}, called_at{0};
  Micros call_every{0};  ///< from one call of the client to the next, as a game calls it each frame
  server::HostInput input;
  server::HostOutput output;
  server::GroundPacker packer;
  DatagramBatch to_client, from_client;
  DatagramBatch &to_server = input.datagrams, &from_server = output.datagrams;
  std::vector<server::HostEvent>& events = output.events;
  std::function<void()> after_tick;
};

}  // namespace ashlar::testing
