// Clients that hold no files get the world's maps and props from the server, and play.
#include <map>

#include "server/host/content_shelf.h"
#include "server/host/host_switch.h"
#include "tests/integration/hosted_client.h"
#include "tests/protocol/content/contents.h"

using namespace ashlar;
using ashlar::client_sim::ClientConfig;
using ashlar::client_sim::ClientState;
using ashlar::client_sim::ContentFetch;
using ashlar::client_sim::Micros;
using ashlar::testing::HostedClient;

namespace {

/// A prop whose bytes fill several parts, as hardly anything in it repeats.
std::shared_ptr<const Prop> large_prop(std::uint64_t seed) {
  Rng rng = rng_for(seed, 79);
  PropModel model;
  model.name = "large" + std::to_string(seed) + ".obj";
  for (std::uint32_t i = 0; i < 6000; ++i) {
    model.vertices.push_back({rng.unit(), rng.unit(), rng.unit()});
    if (i >= 2) model.triangles.push_back({i - 2, i - 1, i});
  }
  auto prop = Prop::place(model, {{30, 30, 1}, Turn16{0}, 1});
  if (!prop) FAIL(prop.error());
  return *prop;
}

WorldSetup world_of(std::uint64_t seed) {
  WorldSetup setup;
  setup.seed = seed;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  setup.maps = {testing::must_place(testing::builtin_map())};
  setup.props = {large_prop(seed), testing::random_prop(seed)};
  return setup;
}

std::shared_ptr<server::ContentShelf> shelf_of(std::initializer_list<WorldSetup> worlds) {
  auto shelf = std::make_shared<server::ContentShelf>();
  for (const WorldSetup& world : worlds) REQUIRE(shelf->add(world).empty());
  return shelf;
}

server::HostConfig giving(std::shared_ptr<server::ContentShelf> shelf, std::uint64_t bytes_per_s = 4 << 20) {
  server::HostConfig config;
  config.content = std::move(shelf);
  config.content_bytes_per_s = bytes_per_s;
  return config;
}

/// What a player without files has, once it was fetched.
struct Store {
  std::map<std::uint64_t, ContentFetch::Fetched> held;

  ClientConfig client(const std::string& name = "ada") {
    ClientConfig config;
    config.server.port = 7777;
    config.name = name;
    config.seed = secure::SeededEntropy(78).secret();
    config.pinned = testing::hosts_identity().open;
    const auto has = [this](std::uint64_t hash) {
      return held.contains(hash) ? std::optional(hash) : std::nullopt;
    };
    config.content = [has](const WelcomeMap& map) { return has(map.content_hash); };
    config.prop_content = [has](const WelcomeProp& prop) { return has(prop.content_hash); };
    config.map = [this](const WelcomeMap& map) {
      return std::get<std::shared_ptr<const PlacedMap>>(*held.at(map.content_hash).content);
    };
    config.fetched = [this](ContentFetch::Fetched one) {
      CHECK(held.try_emplace(one.hash, std::move(one)).second);
    };
    return config;
  }
  /// Is all of a world here, byte for byte as the server gave it?
  bool same(const server::ContentShelf& shelf, const WorldSetup& setup) const {
    const auto here = [&](std::uint64_t hash) {
      return held.contains(hash) && std::ranges::equal(held.at(hash).bytes, shelf.find(hash).bytes);
    };
    return std::ranges::all_of(setup.maps, [&](const auto& map) { return here(map->content_hash()); }) &&
           std::ranges::all_of(setup.props, [&](const auto& prop) { return here(prop->content_hash()); });
  }
};

client_sim::LinkConditions lossy(double loss) {
  client_sim::LinkConditions conditions;
  conditions.latency = Micros{20'000};
  conditions.loss = loss;
  conditions.reordering = loss;
  return conditions;
}

}  // namespace

TEST_CASE("a client without files fetches maps and props, and plays", "[integration][content]") {
  const double loss = GENERATE(0.0, 0.1);
  CAPTURE(loss);
  const WorldSetup setup = world_of(1);
  const auto shelf = shelf_of({setup});
  Store store;
  HostedClient match(setup, giving(shelf), store.client());
  match.conditions(lossy(loss));
  match.run(10);
  CAPTURE(match.client.reason());
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.missing_maps().empty());
  CHECK(store.same(*shelf, setup));
  CHECK(match.client.stats().fetched == 3);
  CHECK(match.client.stats().fetched_bytes == shelf->bytes());
  CHECK(match.client.sectors().map_count() == 1);
  const server::ContentCounters& counters = match.host->status().content;
  CHECK(counters.requests == 3);
  CHECK(counters.finished == 3);
  CHECK(counters.bytes == shelf->bytes());
  CHECK(counters.parts > 5);
  // In control, in a world that is the server's.
  PlayerCommand command;
  command.forward = 1;
  const DVec3 stood = match.world().players().body[match.row()].position_m;
  match.client.set_command(command);
  match.run(2);
  CHECK(length(match.world().players().body[match.row()].position_m - stood) > 0.5);
}

TEST_CASE("a fetch that takes longer than the time to join goes on", "[integration][content]") {
  const WorldSetup setup = world_of(2);
  const auto shelf = shelf_of({setup});
  Store store;
  // A quarter of it for one client: 12 s and more.
  HostedClient match(setup, giving(shelf, shelf->bytes() / 3), store.client());
  match.conditions(lossy(0.02));
  match.run(10);
  CHECK(match.client.fetching());
  CHECK(match.client.fetch().bytes_arrived() > 0);
  CHECK(match.client.state() == ClientState::joining);
  match.run(10);
  CAPTURE(match.client.reason());
  CHECK(match.client.state() == ClientState::playing);
  CHECK(store.same(*shelf, setup));
}

TEST_CASE("who asks for nothing and does not join loses its place all the same", "[integration][content]") {
  const WorldSetup setup = world_of(2);
  const auto shelf = shelf_of({setup});
  Store store;
  ClientConfig config = store.client();
  config.fetched = [&](ContentFetch::Fetched one) {
    store.held.clear();  // so that it never has all
    store.held.try_emplace(one.hash, std::move(one));
  };
  HostedClient match(setup, giving(shelf), config);
  match.run(3);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.reason().find("it was fetched and is not there") != std::string::npos);
}

TEST_CASE("a fetch goes on over another connection from where it was", "[integration][content]") {
  const WorldSetup setup = world_of(3);
  const auto shelf = shelf_of({setup});
  Store store;
  HostedClient match(setup, giving(shelf, shelf->bytes()), store.client());
  match.run(2);
  const std::size_t arrived = match.client.fetch().bytes_arrived() + match.client.stats().fetched_bytes;
  REQUIRE(match.client.fetching());
  REQUIRE(arrived > 0);
  SECTION("after a cut") {
    match.up.partition(match.now + Micros{12'000'000});
    match.down.partition(match.now + Micros{12'000'000});
    match.run(13);
  }
  SECTION("to a server that was started again") {
    server::HostConfig config = giving(shelf, shelf->bytes());
    config.clients_max = 4;
    config.identity = testing::hosts_identity();
    match.host = std::make_unique<server::Host>(config, std::make_unique<World>(setup),
                                                secure::SeededEntropy(99).secret());
  }
  match.run(8);
  CAPTURE(match.client.reason());
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().rejoins == 1);
  CHECK(store.same(*shelf, setup));
  // What had arrived was not sent twice, but for what was on its way.
  const std::uint64_t sent = match.host->status().content.bytes;
  CHECK(sent < shelf->bytes() + 128 * 1024);
}

TEST_CASE("another world is fetched as the first was", "[integration][content]") {
  const WorldSetup first = world_of(4), second = world_of(5);
  const bool early = GENERATE(false, true);  // while the first is still on its way
  const bool new_shelf = GENERATE(false, true);
  CAPTURE(early, new_shelf);
  const auto shelf = new_shelf ? shelf_of({first}) : shelf_of({first, second});
  const auto next = new_shelf ? shelf_of({second}) : nullptr;
  Store store;
  HostedClient match(first, giving(shelf, 600 << 10), store.client());
  match.conditions(lossy(0.02));
  match.run(early ? 0.5 : 4);
  REQUIRE(match.client.fetching() == early);
  match.host->change_world(std::make_unique<World>(second), next);
  match.run(5);
  CAPTURE(match.client.reason());
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().worlds == 2);
  CHECK(match.client.welcome().seed == second.seed);
  CHECK(store.same(next != nullptr ? *next : *shelf, second));
  CHECK(match.client.stats().fetched == (early ? 3 : 5));  // the map is in both worlds
}

TEST_CASE("a server that gives nothing away says so in one line", "[integration][content]") {
  const WorldSetup setup = world_of(6);
  Store store;
  const bool none = GENERATE(false, true);
  HostedClient match(setup, none ? server::HostConfig{} : giving(shelf_of({setup}), 0), store.client());
  match.run(3);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.end_reason() == SessionEnd::lacks_content);
  CHECK(match.client.reason() ==
        "this client lacks " + setup.maps[0]->name() + " large6.obj prop6.obj as the server has it: map " +
            setup.maps[0]->name() +
            " cannot be fetched: the server gives no files away: get its file from the operator");
  CHECK(match.host->status().content.refused == 1);
}

TEST_CASE("rooms behind one port give their own content away", "[integration][content]") {
  const WorldSetup setups[] = {world_of(7), world_of(8)};
  const auto shelf = shelf_of({setups[0], setups[1]});
  std::size_t room = 0;
  server::HostSwitch rooms(secure::SeededEntropy(3).secret(),
                           [&](const server::HostSwitch&, const PeerAddress&) { return room; });
  for (const WorldSetup& setup : setups) {
    server::HostConfig config = giving(shelf);
    config.clients_max = 4;
    config.identity = testing::hosts_identity();
    rooms.add(config, std::make_unique<World>(setup));
  }
  Store stores[2];
  client_sim::Client clients[] = {client_sim::Client(stores[0].client("ada")),
                                  client_sim::Client(stores[1].client("bob"))};
  Micros now{1'000'000};
  DatagramBatch in, out, heard[2];
  for (int turn = 0; turn < 4000; ++turn) {
    now += Micros{2000};
    in.clear();
    for (std::size_t i = 0; i < 2; ++i) {
      DatagramBatch said;
      if (turn >= static_cast<int>(500 * i)) clients[i].advance(now, heard[i], said);
      heard[i].clear();
      room = turn < 500 ? 0 : 1;
      PeerAddress from;
      from.port = static_cast<std::uint16_t>(100 + i);
      for (const auto& entry : said.entries()) in.add(from, said.bytes(entry));
    }
    out.clear();
    rooms.advance(now, in, out);
    for (std::size_t i = 0; i < 2; ++i)
      for (const IVec2 column : rooms.output(i).ground_requests)
        rooms.ground(i).push_back(server::make_column(*rooms.host(i).world().ground(), column));
    PeerAddress server;
    server.port = 7777;
    for (const auto& entry : out.entries()) heard[entry.peer.port - 100].add(server, out.bytes(entry));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    CAPTURE(i, clients[i].reason());
    CHECK(clients[i].state() == ClientState::playing);
    CHECK(clients[i].welcome().seed == setups[i].seed);
    CHECK(stores[i].same(*shelf, setups[i]));
    CHECK(rooms.host(i).status().content.finished == 3);
  }
}
