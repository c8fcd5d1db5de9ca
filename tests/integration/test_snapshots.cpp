// From a world to a client's view by way of bytes, held against a list of everybody, made one by one.

#include <cmath>
#include <map>
#include <utility>

#include "client_sim/client/packed_memory.h"
#include "client_sim/client/view.h"
#include "protocol/connection/connection.h"
#include "protocol/decode.h"
#include "server/host/publisher.h"
#include "tests/catch.h"
#include "tests/integration/told_part.h"
#include "world/math/random.h"
#include "world/sim/health.h"
#include "world/sim/projectiles.h"
#include "world/sim/world.h"

using namespace ashlar;
using server::Session;

namespace {

using Cells = std::map<CellCoord, std::vector<EntityRecord>>;

EntityRecord twin_of(EntityId id, EntityKind kind, const Body& body, std::uint8_t health) {
  const QuantisedPosition q = quantise(body.position_m);
  EntityRecord r;
  r.id = id, r.kind = kind, r.health = health;
  r.x = q.x, r.y = q.y, r.z = q.z;
  if (body.grounded != 0) r.flags |= entity_flag::grounded;
  if (body.stuck_ticks != 0) r.flags |= entity_flag::recovering;
  if (health == 0) r.flags |= entity_flag::dead;
  return r;
}

/// Everybody, in the cells that they are in, by id.
Cells everybody(const World& world) {
  Cells out;
  const PlayerTable& players = world.players();
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0}) continue;
    EntityRecord r = twin_of(players.id[i], EntityKind::player, players.body[i],
                             health_share(players.health[i], world.setup().rules.player_health));
    r.yaw = quantise_turn(players.yaw[i]);
    r.pitch = quantise_pitch(players.pitch[i]);
    out[quantise(players.body[i].position_m).cell].push_back(r);
  }
  const MonsterTable& monsters = world.monsters();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    EntityRecord r = twin_of(monsters.id[i], entity_kind(monsters.kind[i]), monsters.body[i],
                             health_share(monsters.health[i], traits(monsters.kind[i]).health));
    r.yaw = quantise_turn(monsters.yaw[i]);
    r.state = static_cast<std::uint8_t>(monsters.mood[i]);
    out[quantise(monsters.body[i].position_m).cell].push_back(r);
  }
  const ProjectileTable& flying = world.projectiles();
  for (std::size_t i = 0; i < flying.rows(); ++i) {
    if (flying.id[i] == EntityId{0}) continue;
    Body body;
    body.position_m = flying.position_m[i];
    EntityRecord r = twin_of(flying.id[i], projectile_entity_kind(flying.kind[i]), body, 255);
    r.yaw = quantise_turn(turn_towards(xy(flying.velocity_mps[i])));
    out[quantise(body.position_m).cell].push_back(r);
  }
  for (auto& [cell, list] : out) std::ranges::sort(list, {}, &EntityRecord::id);
  return out;
}

server::PublishConfig telling(std::uint32_t parts) {
  server::PublishConfig config;
  config.snapshot_bytes_max = parts * static_cast<std::uint32_t>(datagram_bytes_max);
  config.client_bytes_per_s = 100'000'000;  // what is cut here is cut by the parts
  return config;
}

/// A world of players who are put somewhere at random, and a publisher that tells some of them.
struct Gathering {
  Gathering(std::uint64_t seed, std::uint32_t people, bool in_one_cell, std::uint32_t parts)
      : rng(rng_for(seed, people)), crowd(in_one_cell), config(telling(parts)), publisher(config) {
    WorldSetup setup;
    setup.seed = seed;
    setup.players_max = people;
    setup.monsters = setup.monsters_max = 20;
    world = std::make_unique<World>(setup);
    std::vector<std::uint32_t> joins(people);
    for (std::uint32_t i = 0; i < people; ++i) joins[i] = i;
    TickInput input;
    input.joins = joins;
    world->step(input);
    for (const Joined& joined : world->joined()) players.push_back(joined.id);
    REQUIRE(players.size() == people);
    sessions = std::vector<Session>(std::min<std::size_t>(people, 6));
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      sessions[i].state = server::SessionState::playing;
      sessions[i].player = players[i];
      sessions[i].number = static_cast<std::uint32_t>(i + 1);
      sessions[i].address.port = static_cast<std::uint16_t>(i + 1);
      connect(sessions[i]);
      seated.push_back(static_cast<std::uint32_t>(i));
    }
    step(people);
  }

  /// A reliable link, so that nothing but the budget cuts a snapshot.
  void connect(Session& session) {
    ConnectionSettings settings;
    settings.reliable_link = true;
    const secure::SessionKeys keys = secure::SessionSecret{}.keys(session.number);
    clients.push_back(
        std::make_unique<Connection>(settings, keys, PeerAddress{}, secure::Secret{}, server::Micros{0}));
    settings.end = secure::End::server;
    session.blocks = std::make_unique<server::ClientBlocks>();
    session.connection =
        std::make_unique<Connection>(settings, keys, session.address, secure::Secret{}, server::Micros{0});
  }

  /// High above the ground, where nobody is in anybody's way but a crowd.
  DVec3 somewhere() {
    DVec3 p;
    p.x = crowd ? rng.between(1, 63) : rng.between(-200, 200);
    p.y = crowd ? rng.between(1, 63) : rng.between(-200, 200);
    p.z = rng.between(90, 120);
    return p;
  }

  /// One tick in which the next so many players are put somewhere else.
  void step(std::uint32_t moved) {
    std::vector<AdminCommand> acts;
    // They hang in the air, so that what is there changes only when somebody is moved.
    for (const EntityId player : players) acts.push_back({AdminAction::noclip_on, player, {}});
    for (std::uint32_t i = 0; i < moved; ++i)
      acts.push_back({AdminAction::teleport, players[next_moved++ % players.size()], somewhere()});
    TickInput input;
    input.admin = acts;
    world->step(input);
    now = everybody(*world);
  }

  Rng rng;
  bool crowd;
  server::PublishConfig config;
  server::Publisher publisher;
  std::unique_ptr<World> world;
  std::vector<EntityId> players;
  std::vector<Session> sessions;
  std::vector<std::unique_ptr<Connection>> clients;  // the other end of each session
  std::vector<std::uint32_t> seated;
  std::size_t next_moved = 0;
  Cells now;
};

/// One client's end: its view, and what it reads the next parts against.
struct Viewer {
  client_sim::View view;
  client_sim::PackedMemory memory;
};

/// Opens and decodes a client's datagrams of a tick into its view, and acknowledges them. @return parts
std::size_t take(const DatagramBatch& batch, server::Micros now, Session& session, Connection& client,
                 Viewer& viewer) {
  std::size_t parts = 0;
  PacketScratch opened;
  for (const auto& entry : batch.entries()) {
    if (entry.peer != session.address) continue;
    REQUIRE(entry.size <= datagram_bytes_max);
    const auto packet = client.open(now, PeerAddress{}, batch.bytes(entry), opened);
    REQUIRE(packet.has_value());
    const auto received = client.accept(now, *packet);
    REQUIRE(received.has_value());
    const PartHead part =
        testing::told_part(received->unreliable, session.encoding, viewer.memory, viewer.view);
    REQUIRE(viewer.memory.lost_epoch() == 0);
    REQUIRE(part.part == parts++);
  }
  DatagramBatch back;
  client.poll(now + ack_delay_max, back);
  for (const auto& entry : back.entries()) {
    PacketScratch scratch;
    const auto packet = session.connection->open(now, session.address, back.bytes(entry), scratch);
    REQUIRE(packet.has_value());
    REQUIRE(session.connection->accept(now, *packet).has_value());
  }
  while (const auto fate = session.connection->next_fate()) session.blocks->note_fate(*fate);
  return parts;
}

/// Whatever is held was so at its tick.
void check_true(const Viewer& viewer, const std::map<std::uint32_t, Cells>& history) {
  for (const client_sim::ViewCell& cell : viewer.view.cells())
    for (const EntityRecord& e : cell.now.entities) {
      const auto& list = history.at(cell.now.tick).at(cell.cell);
      const auto then = std::ranges::lower_bound(list, e.id, {}, &EntityRecord::id);
      REQUIRE(then != list.end());
      REQUIRE(tells(e, *then));
    }
}

}  // namespace

TEST_CASE("what a client puts together of a snapshot's bytes is who is there, listed one by one",
          "[integration][snapshots]") {
  struct Case {
    std::uint32_t people;
    bool crowd;
    std::uint32_t parts;
  };
  const Case c =
      GENERATE(Case{2, false, 16}, Case{60, false, 4}, Case{300, false, 4}, Case{300, false, 16},
               Case{300, true, 4}, Case{1000, true, 4}, Case{1000, true, 16}, Case{1000, true, 32});
  const auto encoding = GENERATE(SnapshotEncoding::plain, SnapshotEncoding::packed);
  CAPTURE(c.people, c.crowd, c.parts, encoding == SnapshotEncoding::plain);
  Gathering scene(c.parts, c.people, c.crowd, c.parts);
  std::vector<Viewer> viewers(scene.sessions.size());
  for (Viewer& viewer : viewers) viewer.view.reset(60), viewer.memory.reset(60, 1);
  for (Session& session : scene.sessions) session.encoding = encoding;
  std::map<std::uint32_t, Cells> history;  // by tick
  DatagramBatch batch;
  std::size_t known_in_the_end = 0;
  constexpr int ticks = 60;
  for (int t = 0; t < ticks; ++t) {
    if (t > 0) scene.step(t < 10 ? 1 + c.people / 20 : 0);
    const std::uint32_t tick = number(scene.world->tick());
    history[tick] = scene.now;
    batch.clear();
    const server::Micros at{t * 100'000};
    scene.publisher.publish(*scene.world, scene.sessions, scene.seated, at, batch);
    for (std::size_t i = 0; i < scene.sessions.size(); ++i) {
      const std::size_t parts = take(batch, at, scene.sessions[i], *scene.clients[i], viewers[i]);
      REQUIRE(parts >= 1);
      REQUIRE(parts <= c.parts);
      check_true(viewers[i], history);
      if (t + 1 < ticks) continue;

      // In the end everybody in reach is known, as of a tick within the bound, or still as he was then.
      const auto row = static_cast<std::size_t>(scene.world->player_row(scene.sessions[i].player));
      const DVec3 eye =
          scene.world->players().body[row].position_m + DVec3{0, 0, scene.world->setup().rules.player_eye_m};
      std::vector<client_sim::ViewEntity> seen;
      viewers[i].view.entities(seen);
      std::map<EntityId, client_sim::ViewEntity> by_id;
      for (const auto& entity : seen) by_id[entity.record.id] = entity;
      const std::uint32_t refresh = server::refresh_snapshots(c.people + 20, c.parts);
      for (const auto& [cell, list] : scene.now)
        for (const EntityRecord& there : list) {
          const DVec3 way = dequantise({cell, there.x, there.y, there.z}) - eye;
          if (dot(way, way) > 60 * 60) continue;  // those at the edge may be just beyond it
          ++known_in_the_end;
          REQUIRE(by_id.contains(there.id));
          const auto& known = by_id[there.id];
          if (tick - known.tick > refresh) REQUIRE(known.record == there);
        }
    }
  }
  // The crowd that the small snapshots are for.
  if (encoding == SnapshotEncoding::plain && c.crowd && c.people >= 300 && c.parts == 4)
    CHECK(scene.publisher.counters().snapshots_cut > 0);
  CHECK(scene.publisher.counters().wait_ticks_max <= ticks);
  CHECK(known_in_the_end >= c.people / (c.crowd ? 1 : 10));
}
