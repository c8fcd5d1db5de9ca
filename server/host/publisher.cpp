#include "server/host/publisher.h"

#include <algorithm>
#include <utility>

#include "protocol/datagram.h"
#include "server/host/early_sender.h"
#include "world/math/assert.h"
#include "world/math/prefetch.h"
#include "world/sim/game_replication.h"
#include "world/sim/health.h"
#include "world/sim/match.h"
#include "world/sim/observer.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

/// What viewers move while their command travels here and the snapshot back: a third of a second at a run.
constexpr double eye_margin_m = 2;

/// Who went out of sight is told on for such a share of a second: pillars hide people for moments, and where
/// nobody shall be seen through walls these are short.
constexpr std::uint32_t usual_linger = 2, culled_linger = 20;

/// Of a viewer's round trip, at most: who is farther away than that sees late.
constexpr double culled_rtt_s_max = 0.4;

/// Of the interest radius: who is farther away is far.
constexpr double near_share = 0.5;

/// Parts of a snapshot that the path to a client takes now.
std::size_t parts_that_fit(const Connection& connection) {
  return (connection.unreliable_room() + datagram_bytes_max - 1) / datagram_bytes_max;
}

}  // namespace

Micros Publisher::publish(const World& world, std::span<Session> sessions,
                          std::span<const std::uint32_t> seated, Micros now, DatagramBatch& out,
                          EarlySender* early) {
  counters_.wait_ticks = 0;
  const auto plays = [&](std::uint32_t row) { return sessions[row].state == SessionState::playing; };
  if (std::ranges::none_of(seated, plays)) return now;
  gather(world);
  const Micros due = now;
  // Another one is first each time: where the send buffer is full it is not always the same who lose.
  const std::size_t first = number(world.tick()) / config_.snapshot_every_ticks % seated.size();
  const auto row_at = [&](std::size_t i) { return seated[(first + i) % seated.size()]; };
  for (std::size_t i = 0; i < seated.size(); ++i) {
    const std::uint32_t row = row_at(i);
    sessions[row_at(i + 3)].prefetch_own();
    sessions[row_at(i + 2)].prefetch_connection(true);
    sessions[row_at(i + 1)].prefetch_rings(true);
    if (const int next = world.player_row(sessions[row_at(i + 1)].player); next >= 0)
      prefetch(&world.players().body[static_cast<std::size_t>(next)], sizeof(Body));
    if (!plays(row)) continue;
    if (has_turn(row, world))
      publish_to(world, sessions[row], due, now, out);
    else
      ++counters_.snapshots_spared;
    if (early != nullptr && out.entries().size() >= EarlySender::datagrams_least)
      now = std::max(now, early->send(out));
  }
  if (culler_) {
    counters_.sights_computed = culler_->counters().computed;
    counters_.sights_beyond = culler_->counters().beyond;
  }
  return now;
}

/// Not everybody's at once: each tick does an equal share of the work.
bool Publisher::has_turn(std::uint32_t session, const World& world) const {
  const std::uint32_t every = config_.snapshot_every_ticks;
  const std::uint32_t divisor = snapshot_divisor(overload_, world.setup().rules.tick_rate_hz, every);
  return (number(world.tick()) / every + session) % divisor == 0;
}

void Publisher::gather(const World& world) {
  replicator_.gather(world);
  private_fields_.gather(world);
  cues_.gather(
      world, replicator_.placed(),
      config_.sight_culling ? sight_ahead(world.setup().rules.tick_rate_hz, config_.snapshot_every_ticks) : 0,
      culler_ ? &*culler_ : nullptr);
  if (!packed_)
    packed_.emplace(world.setup().rules.tick_rate_hz, config_.snapshot_every_ticks,
                    world.replication().registry(), config_.sight_culling);
  packed_->gather(world, replicator_.placed(), culler_ ? &*culler_ : nullptr);
}

void Publisher::note_congested(Session& session, bool by_window) {
  ++counters_.snapshots_congested;
  ++session.congested;
  session.budget.held_back();
  if (by_window) session.connection->held_back();
}

void Publisher::publish_to(const World& world, Session& session, Micros due, Micros now, DatagramBatch& out) {
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
  const Viewer viewer = viewer_of(world, session, own.body);
  const std::size_t allowed =
      session.budget.allow(due, PathState::of(*session.connection, Micros{1'000'000} / rules.tick_rate_hz),
                           config_.client_bytes_per_s);
  if (allowed == 0) return note_congested(session, false);
  PackedRequest request = request_for(world, session, viewer);
  request.own = &own;
  request.foreseen = session.input.foreseen(tick);
  PartHead& head = request.head;
  head.tick = tick;
  const std::uint32_t applied =
      config_.defects.early_ack ? session.input.newest_tick() : session.input.last_own_tick();
  head.applied_tick = std::min(applied, tick + 255);
  head.world = session.world;
  const std::int32_t level = session.input.level(tick);
  head.input_ahead = level == InputBuffer::level_none
                         ? input_ahead_none
                         : static_cast<std::int8_t>(std::clamp(level, -127, 127));
  send(session, request, allowed, now, out);
}

bool Publisher::knows(const Session& session, EntityId who) const {
  const PartitionBlock* const block = packed_ ? packed_->block_of(who) : nullptr;
  if (block == nullptr) return false;
  const ClientBlock* const entry = std::as_const(*session.blocks).find(block->number);
  return entry != nullptr && entry->born == block->born && !entry->leaving && entry->sent != 0;
}

std::span<const Cue> Publisher::cues_for(const World& world, const Session& session, const Viewer& viewer,
                                         double radius_m) {
  const bool before = session.cues_told_tick < number(world.tick());  // else it was in another world
  return cues_.pick({session.player, viewer.eye, radius_m, viewer.margin_m,
                     before ? session.cues_told_tick : 0, viewer.reach ? &*viewer.reach : nullptr},
                    world, replicator_.rooms());
}

void Publisher::stepped(const World& world) {
  cues_.stepped(world);
  if (!config_.sight_culling) return;
  if (!culler_) culler_.emplace(*world.space().voxels, world.maps());
  culler_->stepped(number(world.tick()), world.applied_edits());
}

Publisher::Viewer Publisher::viewer_of(const World& world, const Session& session, const Body& body) const {
  const Rules& rules = world.setup().rules;
  const double travelled_m = rules.walk_speed_mps_max * config_.snapshot_every_ticks / rules.tick_rate_hz;
  Viewer viewer{body.position_m + DVec3{0, 0, rules.player_eye_m}, eye_margin_m + travelled_m, {}};
  if (!culler_) return viewer;
  // When this arrives its player is ahead by the round trip, and by the commands that wait for their tick.
  const double ahead = sight_ahead(rules.tick_rate_hz, config_.snapshot_every_ticks);
  const Micros rtt =
      session.connection->round_trip().known() ? session.connection->round_trip().smoothed() : Micros{0};
  const double late =
      std::min(static_cast<double>(rtt.count()) * 1e-6, culled_rtt_s_max) + 2.0 / rules.tick_rate_hz;
  const Aabb eyes = reach_of_eyes(viewer.eye, body.velocity_mps, rules, ahead + late);
  viewer.reach = {{&*culler_, culler_->confined({viewer.eye, viewer.eye}, eyes)}, &rules, ahead};
  return viewer;
}

PackedRequest Publisher::request_for(const World& world, const Session& session, const Viewer& viewer) {
  PackedRequest request;
  request.encoding = session.encoding;
  request.eye_m = viewer.eye;
  request.near = packed_->near(config_.defects.wrong_eyes ? eye_before_ : viewer.eye,
                               config_.interest_radius_m, viewer.margin_m, world.maps(), replicator_.rooms(),
                               viewer.reach ? &viewer.reach->view : nullptr);
  eye_before_ = viewer.eye;
  if (config_.defects.blind_spot && !request.near.empty())
    request.near = request.near.first(request.near.size() - 1);
  request.cues = cues_for(world, session, viewer, config_.interest_radius_m);
  request.motions = replicator_.motions();
  request.tick_rate_hz = world.setup().rules.tick_rate_hz;
  request.every_ticks = config_.snapshot_every_ticks *
                        snapshot_divisor(overload_, request.tick_rate_hz, config_.snapshot_every_ticks);
  request.linger_ticks = request.tick_rate_hz / (viewer.reach ? culled_linger : usual_linger);
  if (const std::uint32_t every = far_every(overload_); every > 1) {
    request.far_m = config_.interest_radius_m * near_share;
    request.far_ticks = every * request.every_ticks;
  }
  request.heights = !config_.defects.lost_heights;
  request.turns = !config_.defects.no_turns;
  if (world.replication().registry()->has_private_fields()) {
    request.fields = &private_fields_;
    request.team = world.match().players[slot_of(session.player)].team;
  }
  return request;
}

void Publisher::send(Session& session, PackedRequest& request, std::size_t allowed, Micros now,
                     DatagramBatch& out) {
  const std::size_t parts_max =
      std::min<std::size_t>(config_.snapshot_bytes_max / datagram_bytes_max, snapshot_parts_max);
  const std::size_t fitting = parts_that_fit(*session.connection);
  // One part more than the budget fills: the last block may go beyond it.
  const std::size_t budgeted = allowed / datagram_bytes_max + 2;
  request.parts_max = std::clamp<std::size_t>(std::min(fitting, budgeted), 1, parts_max);
  const bool by_budget = budgeted <= parts_max;
  if (by_budget) request.bytes_max = allowed;
  const std::uint32_t tick = request.head.tick;
  const std::size_t parts = packed_snapshot_.lay_out(*packed_, request, *session.blocks);
  session.cues_told_tick = tick;
  ++counters_.snapshots_made;
  if (packed_snapshot_.cut()) ++counters_.snapshots_cut;
  if (packed_snapshot_.overdue()) ++counters_.snapshots_overdue;
  if (fitting == 0 || (packed_snapshot_.cut() && (fitting < parts_max || by_budget)))
    note_congested(session, fitting <= budgeted);
  std::size_t went = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto sent = session.connection->send_unreliable(now, packed_snapshot_.part(part), out);
    if (!sent) break;
    ++went;
    session.budget.spend(packed_snapshot_.part(part).size() + beside_message_bytes);
    packed_snapshot_.note_sent(part, *sent, *session.blocks);
    if (part == 0) session.picture.note_sent(*sent, tick);
  }
  if (observer_ != nullptr) show(session, tick, went);
  counters_.wait_ticks = std::max(counters_.wait_ticks, packed_snapshot_.waited_ticks());
  counters_.wait_ticks_max = std::max(counters_.wait_ticks_max, counters_.wait_ticks);
}

void Publisher::show(const Session& session, std::uint32_t tick, std::size_t parts_sent) {
  shown_.clear();
  const auto blocks = packed_->frames().blocks();
  for (std::size_t part = 0; part < parts_sent; ++part)
    for (const JournalItem& item : packed_snapshot_.items(part)) {
      if (item.kind != JournalItem::Kind::block) continue;
      const auto block = std::ranges::lower_bound(blocks, item.number, {}, &FrameBlock::number);
      if (block == blocks.end() || block->number != item.number) continue;
      for (const MovingRecord& record : packed_->frames().entities(*block))
        shown_.push_back(record.record.id);
    }
  observer_->sent(TickId{tick}, session.player, shown_);
}

}  // namespace ashlar::server
