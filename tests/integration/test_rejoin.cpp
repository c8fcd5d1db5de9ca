// A server that is killed and started again has its clients back, over a link that loses some; a client that
// comes from elsewhere stays.
#include "protocol/secure/open_packets.h"
#include "protocol/version.h"
#include "tests/integration/hosted_client.h"

using namespace ashlar;
using ashlar::client_sim::ClientState;

namespace {

WorldSetup small_world() {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  return setup;
}

std::unique_ptr<server::Host> fresh_host(std::uint64_t seed) {
  server::HostConfig config;
  config.clients_max = 4;
  config.identity = testing::hosts_identity();
  return std::make_unique<server::Host>(config, std::make_unique<World>(small_world()),
                                        secure::SeededEntropy(seed).secret());
}

}  // namespace

TEST_CASE("after kill and restart a client is back within a second, without a word from anybody",
          "[integration][rejoin]") {
  const double loss = GENERATE(0.0, 0.1);
  CAPTURE(loss);
  testing::HostedClient match(small_world());
  client_sim::LinkConditions conditions;
  conditions.latency = client_sim::Micros{20'000};
  conditions.loss = loss;
  match.conditions(conditions);
  match.enter();
  match.run(2);
  const std::uint32_t before = match.client.session();
  match.client.say("as the old one went");
  match.host = fresh_host(99);
  match.client.say("said to nobody");
  match.run(loss > 0 ? 2 : 1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().rejoins == 1);
  CHECK(match.client.session() != before);
  CHECK(match.world().player_count() == 1);
  match.run(3);
  // In control again, and its lines arrived.
  PlayerCommand command;
  command.forward = 1;
  const DVec3 stood = match.world().players().body[match.row()].position_m;
  match.client.set_command(command);
  match.run(2);
  CHECK(length(xy(match.world().players().body[match.row()].position_m) - xy(stood)) > 0.5);
  CHECK(match.client.applied_tick() + 60 > number(match.world().tick()));
  int lines = 0;
  for (const auto& event : match.events)
    lines += event.kind == server::HostEventKind::chat && event.detail == "said to nobody";
  CHECK(lines == 1);
  CHECK(match.host->status().clients == 1);
}

namespace {

/// A link that is cut for a while and bad afterwards. @return bodies that were not found again
int bodies_lost(std::uint64_t first_seed, int times, double loss) {
  int lost = 0;
  for (int i = 0; i < times; ++i) {
    testing::HostedClient match(small_world(), first_seed + static_cast<std::uint64_t>(i));
    match.enter();
    const EntityId player = match.client.player();
    client_sim::LinkConditions conditions;
    conditions.latency = client_sim::Micros{20'000};
    conditions.loss = 1;
    match.conditions(conditions);
    // Some are called away by the server before they ask, some are not.
    match.run(i % 2 == 0 ? 4 : 11);
    conditions.loss = loss;
    match.conditions(conditions);
    for (int s = 0; s < 15 && match.client.stats().resumes == 0; ++s) match.run(1);
    match.run(2);
    if (match.world().player_row(player) < 0 || match.client.player() != player) ++lost;
  }
  return lost;
}

}  // namespace

TEST_CASE("who comes back over a link that loses much finds its body", "[integration][rejoin]") {
  CHECK(bodies_lost(1, 5, 0.4) == 0);
}

TEST_CASE("nine hundred who come back over a link that loses much find their bodies",
          "[integration][rejoin][.slow]") {
  CHECK(bodies_lost(1000, 900, 0.4) == 0);
}

TEST_CASE("two servers cannot be made to answer each other", "[integration][rejoin]") {
  auto one = fresh_host(1), other = fresh_host(2);
  PeerAddress at;
  at.ip[15] = 9;
  at.port = 9;
  server::HostInput in;
  server::HostOutput out;
  std::array<std::uint8_t, 2 * secure::reset_bytes> sealed{protocol_version, secure::sealed_type, 77};
  in.datagrams.add(at, sealed);
  one->advance(client_sim::Micros{1'000'000}, in, out);
  REQUIRE(out.datagrams.entries().size() == 1);
  REQUIRE(2 * out.datagrams.entries()[0].size <= sealed.size());
  // What one says to the other begets nothing.
  in.clear();
  in.datagrams.add(at, out.datagrams.bytes(out.datagrams.entries()[0]));
  server::HostOutput back;
  other->advance(client_sim::Micros{1'000'000}, in, back);
  CHECK(back.datagrams.entries().empty());
}

TEST_CASE("a player behind a new port plays on in the same session", "[integration][rejoin]") {
  testing::HostedClient match(small_world());
  match.enter();
  match.run(1);
  const std::uint32_t session = match.client.session();
  const EntityId player = match.client.player();
  // The translator on the way forgot us: the server sees another port from now on.
  const client_sim::Micros until = match.now + client_sim::Micros{3'000'000};
  PeerAddress moved;
  moved.port = 4242;
  PeerAddress server_side;
  server_side.port = 7777;
  while (match.now < until) {
    match.now += client_sim::Micros{2000};
    DatagramBatch to_client, from_client;
    match.to_server.clear(), match.from_server.clear();
    match.down.deliver(match.now, to_client);
    match.client.advance(match.now, to_client, from_client);
    for (const auto& entry : from_client.entries()) match.to_server.add(moved, from_client.bytes(entry));
    match.advance_host();
    DatagramBatch back;
    for (const auto& entry : match.from_server.entries())
      if (entry.peer == moved) back.add(server_side, match.from_server.bytes(entry));
    match.down.send(match.now, back);
  }
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.session() == session);
  CHECK(match.client.player() == player);
  CHECK(match.client.stats().rejoins + match.client.stats().resumes == 0);
  CHECK(match.client.silent_for(match.now) < client_sim::Micros{200'000});
  CHECK(match.host->status().moved == 1);
}

TEST_CASE("a client that leaves counts nothing as an error that was on its way to it",
          "[integration][rejoin]") {
  testing::HostedClient match(small_world());
  client_sim::LinkConditions conditions;
  conditions.latency = client_sim::Micros{100'000};
  match.conditions(conditions);
  match.enter();
  match.run(1);
  const std::uint64_t packets = match.client.stats().packets_in;
  match.client.leave();
  match.run(1);
  CHECK(match.client.state() == ClientState::left);
  CHECK(match.client.stats().packets_in > packets + 5);
  for (const std::uint64_t drops : match.client.stats().drops) CHECK(drops == 0);
}
