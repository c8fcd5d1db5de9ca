#include "server/host/publisher.h"

#include <algorithm>

#include "protocol/datagram.h"
#include "world/sim/health.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

/// What viewers move while their command travels here and the snapshot back: a third of a second at a run.
constexpr double eye_margin_m = 2;

}  // namespace

void Publisher::publish(const World& world, std::span<Session> sessions,
                        std::span<const std::uint32_t> seated, Micros now, DatagramBatch& out) {
  counters_.wait_ticks = 0;
  const auto plays = [&](std::uint32_t row) { return sessions[row].state == SessionState::playing; };
  if (std::ranges::none_of(seated, plays)) return;
  replicator_.gather(world);
  // Another one is first each time: where the send buffer is full it is not always the same who lose.
  const std::size_t first = number(world.tick()) / config_.snapshot_every_ticks % seated.size();
  for (std::size_t i = 0; i < seated.size(); ++i) {
    const std::uint32_t row = seated[(first + i) % seated.size()];
    if (plays(row)) publish_to(world, sessions[row], now, out);
  }
}

void Publisher::publish_to(const World& world, Session& session, Micros now, DatagramBatch& out) {
  const int row = world.player_row(session.player);
  if (row < 0) return;
  const std::uint32_t tick = number(world.tick());
  const Rules& rules = world.setup().rules;
  const PlayerTable& players = world.players();
  const auto i = static_cast<std::size_t>(row);
  OwnPlayer own;
  own.body = players.body[i];
  own.id = session.player;
  own.health = health_share(players.health[i], rules.player_health);
  own.delta_yaw = session.delta_yaw;
  SnapshotHead head;
  head.tick = tick;
  head.applied_tick = config_.defects.early_ack ? session.input.newest_tick() : session.input.last_own_tick();
  head.chat_seen = session.chat_taken;
  const std::int32_t level = session.input.level(tick);
  head.input_ahead = level == InputBuffer::level_none
                         ? input_ahead_none
                         : static_cast<std::int8_t>(std::clamp(level, -127, 127));
  head.own = &own;
  const DVec3 eye = own.body.position_m + DVec3{0, 0, rules.player_eye_m};
  const double travelled_m = rules.walk_speed_mps_max * config_.snapshot_every_ticks / rules.tick_rate_hz;
  std::span<const CellBlock> blocks =
      replicator_.blocks_near(config_.defects.wrong_eyes ? eye_before_ : eye, config_.interest_radius_m,
                              eye_margin_m + travelled_m, session.turn.active);
  eye_before_ = eye;
  if (config_.defects.blind_spot && !blocks.empty()) blocks = blocks.first(blocks.size() - 1);
  const SnapshotPlan plan = lay_out(session, head, blocks);
  for (std::size_t part = 0; part < plan.parts; ++part) {
    const auto bytes = snapshots_.part(part, session.next_header(now));
    if (!out.add(session.address, bytes)) continue;
    ++counters_.datagrams;
    counters_.bytes += bytes.size();
  }
}

SnapshotPlan Publisher::lay_out(Session& session, SnapshotHead& head, std::span<const CellBlock> blocks) {
  const auto heights = config_.defects.lost_heights ? std::span<const HeightBlock>{} : replicator_.heights();
  const std::size_t parts = config_.snapshot_bytes_max / datagram_bytes_max;
  const SnapshotPlan whole = snapshots_.begin(head, blocks, heights, parts, replicator_.motions());
  if (whole.blocks_taken == blocks.size()) {
    session.turn = {};
    return whole;
  }
  ++counters_.snapshots_cut;
  if (config_.defects.no_turns) return whole;
  std::size_t records = blocks.size();
  for (const CellBlock& block : blocks) records += block.entities.size();
  head.refresh_ticks = static_cast<std::uint16_t>(
      std::min<std::uint32_t>(refresh_snapshots(records, parts) * config_.snapshot_every_ticks, 0xffff));
  const auto in_turns = snapshot_order_.arrange(blocks, parts, session.turn);
  const SnapshotPlan plan = snapshots_.begin(head, in_turns, heights, parts, replicator_.motions());
  snapshot_order_.advance(plan, head.tick, head.tick - config_.snapshot_every_ticks, session.turn);
  counters_.wait_ticks = std::max(counters_.wait_ticks, session.turn.waited(head.tick));
  counters_.wait_ticks_max = std::max(counters_.wait_ticks_max, counters_.wait_ticks);
  return plan;
}

}  // namespace ashlar::server
