// A game's own kinds, fields and messages, from its hooks to its players' clients, over links that lose.

#include <array>
#include <functional>
#include <map>
#include <set>

#include "client_sim/client/client.h"
#include "client_sim/harness/link.h"
#include "protocol/secure/seeded_entropy.h"
#include "server/host/host.h"
#include "tests/catch.h"
#include "world/sim/game.h"
#include "world/sim/game_replication.h"
#include "world/sim/match.h"
#include "world/sim/world.h"

using namespace ashlar;
using client_sim::Client;
using client_sim::ClientConfig;
using client_sim::Link;
using client_sim::Micros;

namespace {

constexpr std::uint32_t secret_of(EntityId id) { return 0xa51c0000u | slot_of(id) << 8 | 0x5a; }
constexpr std::uint32_t plan_of(std::uint8_t team) { return 0xc3960000u | team * 0x1111u; }

/// Two teams. A player's secret is its own, its team's plan is its team's, its mood is there for all to see;
/// so is a lamp's light, whose wick is its owner's.
class Secrets final : public Game {
 public:
  void declare(ReplicationRegistry& to) override {
    to.add_field(EntityKind::player,
                 {.name = "mood", .bits = 20, .interpolated = true, .low = -5, .step = 0.25});
    to.add_field(EntityKind::player, {.name = "secret", .bits = 32, .to = FieldAudience::owner});
    to.add_field(EntityKind::player, {.name = "plan", .bits = 32, .to = FieldAudience::team});
    lamp_ = *to.add_kind("lamp", false);
    to.add_field(lamp_, {.name = "light", .bits = 7});
    to.add_field(lamp_, {.name = "wick", .bits = 32, .to = FieldAudience::owner});
    to.add_message("to_all", 4);
    to.add_message("to_team", 4);
    to.add_message("to_one", 4);
  }
  void joined(GameApi& api, EntityId player) override {
    api.set_team(player, static_cast<std::uint8_t>(1 + slot_of(player) % 2));
    api.set_field(player, 1, secret_of(player));
    api.set_field(player, 2, plan_of(api.team(player)));
    lamps_[slot_of(player)] = api.add_thing(lamp_, {3, 3, 80}, player);
    api.set_field(lamps_[slot_of(player)], 1, secret_of(player) ^ 0x00ff00ffu);
  }
  /// The use button takes a player to the other team.
  void used(GameApi& api, EntityId player) override {
    api.set_team(player, static_cast<std::uint8_t>(3 - api.team(player)));
    api.set_field(player, 2, plan_of(api.team(player)));
  }
  void tick(GameApi& api) override {
    const auto tick = number(api.tick());
    for (const EntityId player : api.players().id) {
      if (player == EntityId{0}) continue;
      api.move_thing(lamps_[slot_of(player)], api.players().body[slot_of(player)].position_m);
      if (tick < 300 && api.random().below(20) == 0)
        api.set_field(player, 0, api.random().between(-5.0, 500.0));
      if (tick % 60 != slot_of(player)) continue;
      const std::array<std::uint8_t, 1> who{static_cast<std::uint8_t>(slot_of(player))};
      api.send_to_all(0, who);
      api.send_to_team(api.team(player), 1, who);
      api.send_to(player, 2, who);
    }
  }

 private:
  EntityKind lamp_{};
  std::array<EntityId, 8> lamps_{};
};

/// Keeps a client's unreliable messages as they came out of their packets.
struct Ear final : client_sim::ClientTap {
  void welcomed(const Welcome&, bool) override {}
  void unreliable_in(std::span<const std::uint8_t> message) override {
    heard.emplace_back(message.begin(), message.end());
  }
  void stream_in(StreamId, std::string_view, std::size_t) override {}
  void input_out(std::size_t) override {}

  /// Is a 32-bit number in any of them, at whatever bit?
  bool heard_of(std::uint32_t number) const {
    for (const auto& message : heard) {
      std::uint64_t window = 0;
      for (std::size_t i = 0; i < message.size(); ++i) {
        window = window >> 8 | std::uint64_t{message[i]} << 32;
        for (unsigned bit = 0; bit < 8 && i >= 3; ++bit)
          if (static_cast<std::uint32_t>(window >> bit) == number) return true;
      }
    }
    return false;
  }
  std::vector<std::vector<std::uint8_t>> heard;
};

/// A Host and some clients, each with a link each way, in simulated time.
class SecretMatch {
 public:
  struct Seat {
    explicit Seat(ClientConfig config, std::uint64_t seed)
        : client(std::move(config)), up({}, seed), down({}, seed + 1000) {}
    Client client;
    Link up, down;
  };

  SecretMatch(std::size_t clients, std::size_t plain, std::uint64_t seed) {
    server::HostConfig config;
    config.clients_max = 8;
    config.identity = secure::key_pair(secure::SeededEntropy(seed + 5).secret());
    config.snapshot_every_ticks = 2;
    host = std::make_unique<server::Host>(config, new_world(), secure::SeededEntropy(seed).secret());
    ears.resize(clients);
    for (std::size_t i = 0; i < clients; ++i) {
      ClientConfig player;
      player.server.port = static_cast<std::uint16_t>(7000 + i);  // in place of an address of its own
      player.name = "player" + std::to_string(i);
      player.seed = secure::SeededEntropy(seed + 77 + i).secret();
      player.takes_packed = i >= plain;
      player.tap = &ears[i];
      seats.push_back(std::make_unique<Seat>(std::move(player), seed + 10 * i));
    }
  }
  static std::unique_ptr<World> new_world() {
    WorldSetup setup;
    setup.terrain = TerrainKind::flat;
    setup.players_max = 8;
    setup.monsters = 0;
    setup.monsters_max = 1;
    setup.game = [] { return std::make_unique<Secrets>(); };
    return std::make_unique<World>(setup);
  }
  void conditions(const client_sim::LinkConditions& c) {
    for (const auto& seat : seats) seat->up.set_conditions(c), seat->down.set_conditions(c);
  }
  void turn() {
    now += Micros{2000};
    input.datagrams.clear();
    output.datagrams.clear();
    for (const auto& seat : seats) {
      in.clear(), out.clear();
      seat->down.deliver(now, in);
      seat->client.advance(now, in, out);
      seat->up.send(now, out);
      seat->up.deliver(now, input.datagrams);
    }
    input.ground.clear();
    for (const IVec2 column : std::exchange(output.ground_requests, {}))
      input.ground.push_back(server::make_column(*host->world().ground(), column));
    host->advance(now, input, output);
    for (const auto& seat : seats) seat->down.send(now, output.datagrams);
  }
  void run(double seconds) {
    for (const Micros until = now + Micros{static_cast<std::int64_t>(seconds * 1e6)}; now < until;) turn();
  }

  std::unique_ptr<server::Host> host;
  std::vector<Ear> ears;
  std::vector<std::unique_ptr<Seat>> seats;
  Micros now{1'000'000};
  server::HostInput input;
  server::HostOutput output;
  DatagramBatch in, out;
};

}  // namespace

TEST_CASE("clients know a game's fields as it set them, each only those that are for it",
          "[integration][game_replication]") {
  SecretMatch match(5, 2, 3);
  client_sim::LinkConditions lossy;
  lossy.latency = Micros{20'000};
  lossy.loss = 0.1;
  match.conditions(lossy);
  match.run(6);
  match.conditions({});
  match.run(0.5);
  const World& world = match.host->world();
  for (std::size_t i = 0; i < match.seats.size(); ++i) {
    const Client& client = match.seats[i]->client;
    CAPTURE(i, client.reason());
    REQUIRE(client.state() == client_sim::ClientState::playing);
    const EntityId self = client.player();
    CHECK(client.field(self, "secret") == static_cast<double>(secret_of(self)));
    CHECK(match.ears[i].heard_of(secret_of(self)));
    int lamps = 0;
    for (const auto& other : match.seats) {
      const EntityId id = other->client.player();
      const std::uint8_t team = world.match().players[slot_of(id)].team;
      CAPTURE(slot_of(id), team);
      const FieldTraits& mood = world.replication().registry()->find(EntityKind::player)->fields[0];
      CHECK(client.field(id, "mood") == mood.value_of(world.replication().values(id)[0]));
      const bool friends = team == world.match().players[slot_of(self)].team;
      CHECK(client.field(id, "plan").has_value() == friends);
      CHECK(match.ears[i].heard_of(plan_of(team)) == friends);
      if (id == self) continue;
      CHECK_FALSE(client.field(id, "secret").has_value());
      CHECK_FALSE(match.ears[i].heard_of(secret_of(id)));
      CHECK_FALSE(match.ears[i].heard_of(secret_of(id) ^ 0x00ff00ffu));
    }
    for (const OwnThing& thing : world.replication().things()) {
      if (thing.id == EntityId{0}) continue;
      CHECK(client.field(thing.id, "light") == 0.0);
      const auto wick = client.field(thing.id, "wick");
      CHECK(wick.has_value() == (thing.owner == self));
      lamps += wick.has_value() ? 1 : 0;
    }
    CHECK(lamps == 1);
    CHECK_FALSE(client.field(self, "height").has_value());
  }
}

TEST_CASE("who changes teams is told the new one's fields and forgets the old one's",
          "[integration][game_replication]") {
  // Teams by slot: the second and the fourth are of another one than the first and third.
  SecretMatch match(3, 0, 9);
  match.run(1.5);
  Client& mover = match.seats[0]->client;
  const EntityId friendly = match.seats[2]->client.player(), other = match.seats[1]->client.player();
  REQUIRE(mover.field(friendly, "plan").has_value());
  REQUIRE_FALSE(mover.field(other, "plan").has_value());
  client_sim::LinkConditions lossy;
  lossy.loss = 0.3;
  match.conditions(lossy);
  PlayerCommand press;
  press.buttons = button::use;
  mover.set_command(press);
  match.run(2);
  match.conditions({});
  match.run(0.5);
  REQUIRE(match.host->world().match().players[slot_of(mover.player())].team == 2);
  CHECK_FALSE(mover.field(friendly, "plan").has_value());
  CHECK(mover.field(other, "plan") == static_cast<double>(plan_of(2)));
  CHECK(mover.field(mover.player(), "plan") == static_cast<double>(plan_of(2)));
  // Who leaves takes along what its team knew of it.
  match.seats[1]->client.leave();
  match.run(1);
  CHECK_FALSE(mover.field(other, "plan").has_value());
}

TEST_CASE("a game's messages reach those they are for, in order and once, whatever is lost",
          "[integration][game_replication]") {
  SecretMatch match(4, 1, 5);
  match.run(1);
  client_sim::LinkConditions lossy;
  lossy.latency = Micros{30'000};
  lossy.loss = 0.2;
  match.conditions(lossy);
  for (const auto& seat : match.seats) seat->client.take_game_messages();
  const std::uint32_t begun = number(match.host->world().tick());
  match.run(5);
  match.conditions({});
  match.run(2);
  const std::uint32_t end = number(match.host->world().tick());
  for (const auto& seat : match.seats) {
    std::map<int, std::uint32_t> count;
    std::uint32_t newest = 0;
    for (const GameMessage& message : seat->client.take_game_messages()) {
      CHECK(message.tick >= newest);
      newest = message.tick;
      ++count[message.number];
      REQUIRE(message.bytes.size() == 1);
      const std::uint32_t own = slot_of(seat->client.player());
      if (message.number == 2) CHECK(message.bytes[0] == own);
      if (message.number == 1) CHECK(message.bytes[0] % 2 == own % 2);
    }
    const std::uint32_t rounds = (end - begun) / 60;
    CHECK(count[0] + 4 >= 4 * rounds);
    CHECK(count[0] <= 4 * (rounds + 2));
    CHECK(count[1] + 2 >= 2 * rounds);
    CHECK(count[2] + 1 >= rounds);
    CHECK(count[2] <= rounds + 2);
  }
  CHECK(match.host->status().game_messages_missed == 0);
}

TEST_CASE("what is for its owner is told in the next world until it is held, and then no more",
          "[integration][game_replication]") {
  // The first one's snapshots are plain, in which a value stands as it is.
  SecretMatch match(2, 1, 7);
  // They come late: what is for them last changed in a tick that the next world has not reached.
  for (const auto& seat : match.seats) seat->up.partition(match.now + Micros{6'000'000});
  match.run(8);
  REQUIRE(match.seats[0]->client.state() == client_sim::ClientState::playing);
  const EntityId before = match.seats[0]->client.player();
  match.host->change_world(SecretMatch::new_world());
  match.ears[0].heard.clear();
  match.run(2);
  const Client& client = match.seats[0]->client;
  REQUIRE(client.welcome().world == 2);
  REQUIRE(client.player() == before);  // so that all that is for it is as it was
  CHECK(client.field(before, "secret") == static_cast<double>(secret_of(before)));
  CHECK(match.ears[0].heard_of(secret_of(before)));
  match.ears[0].heard.clear();
  match.run(2);
  REQUIRE(number(match.host->world().tick()) < 300);
  CHECK_FALSE(match.ears[0].heard.empty());
  CHECK_FALSE(match.ears[0].heard_of(secret_of(before)));
}
