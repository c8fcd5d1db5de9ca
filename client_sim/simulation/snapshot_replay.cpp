#include "client_sim/simulation/snapshot_replay.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "protocol/connection/frames.h"
#include "protocol/secure/packet_protection.h"
#include "world/sim/health.h"

namespace ashlar::simulation {
namespace {

/// As the publisher has it: what viewers move until they see the snapshot.
constexpr double eye_margin_m = 2;
/// Of a packet beside its message: header, type and padding up to it, tag.
constexpr std::size_t beside_message =
    secure::seal_overhead_bytes + unreliable_alignment - plaintext_begin % unreliable_alignment;

}  // namespace

SnapshotReplay::SnapshotReplay(const SnapshotReplayOptions& options, std::uint32_t tick_rate_hz)
    : options_(options),
      tick_rate_hz_(tick_rate_hz),
      rng_(rng_for(options.seed, 31, 0)),
      packed_(tick_rate_hz, options.every_ticks),
      cues_(options.every_ticks) {}

void SnapshotReplay::publish(const World& world) {
  cues_.stepped(world);
  if (number(world.tick()) % options_.every_ticks != 0) return;
  replicator_.gather(world);
  packed_.gather(world, replicator_.placed());
  cues_.gather(world, replicator_.placed(), 0);
  const PlayerTable& players = world.players();
  for (std::size_t row = 0; row < players.rows(); ++row) {
    if (players.id[row] == EntityId{0}) continue;
    std::unique_ptr<Viewer>& viewer = viewers_[players.id[row]];
    if (viewer == nullptr) {
      viewer = std::make_unique<Viewer>();
      viewer->session = std::make_unique<Session>();
      viewer->meter.begin_world(static_cast<std::uint16_t>(tick_rate_hz_),
                                static_cast<std::uint16_t>(options_.every_ticks));
    }
    tell(world, row, *viewer);
  }
  forget_gone(world);
}

/// Of who has gone the sums stay, and nothing of what it held.
void SnapshotReplay::forget_gone(const World& world) {
  for (auto& [id, viewer] : viewers_) {
    if (viewer->session == nullptr || world.player_row(id) >= 0) continue;
    viewer->session.reset();
    client_sim::ByteMeter sums;
    sums.merge(viewer->meter);
    viewer->meter = std::move(sums);
  }
}

std::size_t SnapshotReplay::told() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(viewers_, [](const auto& entry) { return entry.second->session != nullptr; }));
}

void SnapshotReplay::tell(const World& world, std::size_t row, Viewer& viewer) {
  const std::uint32_t tick = number(world.tick());
  Session& session = *viewer.session;
  for (; !session.fates.empty() && session.fates.front().due <= tick; session.fates.pop_front())
    session.blocks.note_fate(session.fates.front().fate);
  const PlayerTable& players = world.players();
  const Rules& rules = world.setup().rules;
  OwnPlayer own;
  own.body = players.body[row];
  own.id = players.id[row];
  own.health = health_share(players.health[row], rules.player_health);
  server::PackedRequest request;
  request.head.tick = request.head.applied_tick = tick;
  request.head.input_ahead = 2;
  request.head.world = 1;
  request.own = &own;
  const double travelled_m = rules.walk_speed_mps_max * options_.every_ticks / rules.tick_rate_hz;
  const DVec3 eye = own.body.position_m + DVec3{0, 0, rules.player_eye_m};
  const double margin_m = eye_margin_m + travelled_m;
  request.near = packed_.near(eye, options_.interest_radius_m, margin_m, world.maps(), replicator_.rooms());
  request.cues = cues_.pick({own.id, eye, options_.interest_radius_m, margin_m, session.told_tick, nullptr},
                            world, replicator_.rooms());
  session.told_tick = tick;
  request.motions = replicator_.motions();
  request.tick_rate_hz = tick_rate_hz_;
  request.every_ticks = options_.every_ticks;
  request.linger_ticks = tick_rate_hz_ / 2;
  request.parts_max =
      std::clamp<std::size_t>(options_.snapshot_bytes_max / datagram_bytes_max, 1, snapshot_parts_max);
  const std::size_t parts = snapshot_.lay_out(packed_, request, session.blocks);
  ++viewer.snapshots;
  for (std::size_t part = 0; part < parts; ++part) {
    snapshot_.note_sent(part, ++session.sequence, session.blocks);
    const bool lost = rng_.unit() < options_.loss;
    ++viewer.packets;
    viewer.bytes += snapshot_.part(part).size() + beside_message;
    session.fates.push_back({tick + options_.ack_ticks, {session.sequence, !lost}});
    // Lost or not: what it says is what it cost. That the meter then holds more than the client harms
    // nothing.
    viewer.meter.unreliable_in(snapshot_.part(part));
  }
}

client_sim::ByteReport SnapshotReplay::report() const {
  client_sim::ByteReport out;
  for (const auto& [id, viewer] : viewers_) {
    char name[32];
    std::snprintf(name, sizeof name, "player %08x", static_cast<unsigned>(id));
    out.clients.push_back(
        {name, static_cast<double>(viewer->snapshots) * options_.every_ticks / tick_rate_hz_, viewer->meter});
    out.clients.back().meter.wire(viewer->packets, viewer->bytes, 0, 0);
  }
  return out;
}

}  // namespace ashlar::simulation
