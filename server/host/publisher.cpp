#include "server/host/publisher.h"

#include <algorithm>

#include "protocol/datagram.h"
#include "world/math/assert.h"
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

/// Its window is no smaller than so many parts: who waits will find room.
bool holds_at_once(const Connection& connection, std::size_t parts) {
  return connection.address().transport == Transport::tcp ||
         connection.congestion().window_bytes() >= parts * datagram_bytes_max;
}

}  // namespace

void Publisher::publish(const World& world, std::span<Session> sessions,
                        std::span<const std::uint32_t> seated, Micros now, DatagramBatch& out) {
  counters_.wait_ticks = 0;
  const auto plays = [&](std::uint32_t row) { return sessions[row].state == SessionState::playing; };
  if (std::ranges::none_of(seated, plays)) return;
  gather(world, sessions, seated);
  // Another one is first each time: where the send buffer is full it is not always the same who lose.
  const std::size_t first = number(world.tick()) / config_.snapshot_every_ticks % seated.size();
  for (std::size_t i = 0; i < seated.size(); ++i) {
    const std::uint32_t row = seated[(first + i) % seated.size()];
    if (!plays(row)) continue;
    const Turn turn = turn_of(row, world);
    if (turn.snapshot)
      publish_to(world, sessions[row], turn.far, now, out);
    else
      ++counters_.snapshots_spared;
  }
  if (!culler_) return;
  counters_.sights_computed = culler_->counters().computed;
  counters_.sights_beyond = culler_->counters().beyond;
}

/// Not everybody's at once: each tick does an equal share of the work.
Publisher::Turn Publisher::turn_of(std::uint32_t session, const World& world) const {
  const std::uint32_t every = config_.snapshot_every_ticks;
  const std::uint32_t divisor = snapshot_divisor(overload_, world.setup().rules.tick_rate_hz, every);
  const std::uint32_t at = number(world.tick()) / every + session;
  return {at % divisor == 0, at / divisor % far_every(overload_) == 0};
}

void Publisher::gather(const World& world, std::span<const Session> sessions,
                       std::span<const std::uint32_t> seated) {
  const auto playing = [&](bool packed) {
    return std::ranges::any_of(seated, [&](std::uint32_t row) {
      return sessions[row].state == SessionState::playing && (sessions[row].packed != nullptr) == packed;
    });
  };
  replicator_.gather(world, playing(false));
  private_fields_.gather(world);
  cues_.gather(
      world, replicator_.placed(),
      config_.sight_culling ? sight_ahead(world.setup().rules.tick_rate_hz, config_.snapshot_every_ticks) : 0,
      culler_ ? &*culler_ : nullptr);
  if (!playing(true)) return;
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

void Publisher::publish_to(const World& world, Session& session, bool far, Micros now, DatagramBatch& out) {
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
  head.world = session.world;
  const std::int32_t level = session.input.level(tick);
  head.input_ahead = level == InputBuffer::level_none
                         ? input_ahead_none
                         : static_cast<std::int8_t>(std::clamp(level, -127, 127));
  head.own = &own;
  const Viewer viewer = viewer_of(world, session, own.body);
  const std::size_t allowed =
      session.budget.allow(now, PathState::of(*session.connection), config_.client_bytes_per_s);
  if (allowed == 0) return note_congested(session, false);
  if (session.packed) return publish_packed(world, session, head, viewer, allowed, now, out);
  const double radius_m = config_.interest_radius_m * (far ? 1 : near_share);
  std::span<const CellBlock> blocks =
      replicator_.blocks_near(config_.defects.wrong_eyes ? eye_before_ : viewer.eye, radius_m,
                              viewer.margin_m, session.turn.active, viewer.reach ? &*viewer.reach : nullptr);
  eye_before_ = viewer.eye;
  if (config_.defects.blind_spot && !blocks.empty()) blocks = blocks.first(blocks.size() - 1);
  const std::size_t parts_max = config_.snapshot_bytes_max / datagram_bytes_max;
  const std::size_t fitting = parts_that_fit(*session.connection);
  const std::size_t parts =
      std::clamp(std::min(fitting, allowed / datagram_bytes_max), snapshot_parts_least, parts_max);
  const Layout layout = lay_out(session, head, blocks, parts);
  if (layout.plan.parts > fitting || (layout.in_turns && parts < parts_max))
    note_congested(session, fitting <= parts);
  // A piece of one would tell of the nearest alone, again and again: a whole one a little later is worth
  // more.
  const bool waits = layout.plan.parts > fitting && holds_at_once(*session.connection, layout.plan.parts);
  if (const std::size_t sent = waits ? 0 : send(session, tick, layout.plan.parts, now, out); sent > 0) {
    note_told(session, head, layout, sent);
    if (world.replication().registry()->extended())
      plain_fields_.tell(world, private_fields_, blocks, session, now, out);
    send_cues(session, tick, cues_for(world, session, viewer, radius_m), now, out);
  }
  counters_.wait_ticks = std::max(counters_.wait_ticks, session.turn.waited(tick));
  counters_.wait_ticks_max = std::max(counters_.wait_ticks_max, counters_.wait_ticks);
}

std::span<const Cue> Publisher::cues_for(const World& world, const Session& session, const Viewer& viewer,
                                         double radius_m) {
  const bool before = session.cues_told_tick < number(world.tick());  // else it was in another world
  return cues_.pick({session.player, viewer.eye, radius_m, viewer.margin_m,
                     before ? session.cues_told_tick : 0, viewer.reach ? &*viewer.reach : nullptr},
                    world, replicator_.rooms());
}

void Publisher::send_cues(Session& session, std::uint32_t tick, std::span<const Cue> cues, Micros now,
                          DatagramBatch& out) {
  session.cues_told_tick = tick;
  if (cues.empty()) return;
  cue_list_.tick = tick;
  cue_list_.world = session.world;
  cue_list_.cues.assign(cues.begin(), cues.end());
  const auto message = writer_.write(cue_list_);
  if (!session.connection->send_unreliable(now, message, out)) return;  // the path takes no more
  session.budget.spend(message.size() + beside_message_bytes);
  counters_.cues_sent += cues.size();
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

void Publisher::publish_packed(const World& world, Session& session, const SnapshotHead& head,
                               const Viewer& viewer, std::size_t allowed, Micros now, DatagramBatch& out) {
  const std::size_t parts_max =
      std::min<std::size_t>(config_.snapshot_bytes_max / datagram_bytes_max, packed_parts_max);
  const std::size_t fitting = parts_that_fit(*session.connection);
  PackedRequest request;
  request.head.tick = head.tick;
  request.head.applied_tick = std::min(head.applied_tick, head.tick + 255);
  request.head.input_ahead = head.input_ahead;
  request.head.world = head.world;
  request.own = head.own;
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
  request.linger_ticks = request.tick_rate_hz / (viewer.reach ? culled_linger : usual_linger);
  if (const std::uint32_t every = far_every(overload_); every > 1) {
    request.far_m = config_.interest_radius_m * near_share;
    request.far_ticks = every * config_.snapshot_every_ticks *
                        snapshot_divisor(overload_, request.tick_rate_hz, config_.snapshot_every_ticks);
  }
  request.heights = !config_.defects.lost_heights;
  request.turns = !config_.defects.no_turns;
  if (world.replication().registry()->has_private_fields()) {
    request.fields = &private_fields_;
    request.team = world.match().players[slot_of(head.own->id)].team;
  }
  // One part more than the budget fills: the last block may go beyond it.
  const std::size_t budgeted = allowed / datagram_bytes_max + 2;
  request.parts_max = std::clamp<std::size_t>(std::min(fitting, budgeted), 1, parts_max);
  const bool by_budget = budgeted <= parts_max;
  if (by_budget) request.bytes_max = allowed;
  const std::size_t parts = packed_snapshot_.lay_out(*packed_, request, *session.packed);
  session.cues_told_tick = head.tick;
  counters_.cues_sent += packed_snapshot_.cues().count;
  if (packed_snapshot_.cut()) ++counters_.snapshots_cut;
  if (fitting == 0 || (packed_snapshot_.cut() && (fitting < parts_max || by_budget)))
    note_congested(session, fitting <= budgeted);
  std::size_t went = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto sent = session.connection->send_unreliable(now, packed_snapshot_.part(part), out);
    if (!sent) break;
    ++went;
    session.budget.spend(packed_snapshot_.part(part).size() + beside_message_bytes);
    packed_snapshot_.note_sent(part, *sent, *session.packed);
    if (part == 0) session.picture.note_sent(*sent, head.tick);
  }
  if (observer_ != nullptr) show_packed(session, head.tick, went);
  counters_.wait_ticks = std::max(counters_.wait_ticks, packed_snapshot_.waited_ticks());
  counters_.wait_ticks_max = std::max(counters_.wait_ticks_max, counters_.wait_ticks);
}

std::size_t Publisher::send(Session& session, std::uint32_t tick, std::size_t parts, Micros now,
                            DatagramBatch& out) {
  for (std::size_t part = 0; part < parts; ++part) {
    const auto bytes = std::span(part_).first(snapshots_.part_bytes(part));
    snapshots_.write(part, bytes);
    const auto sent = session.connection->send_unreliable(now, bytes, out);
    if (sent && part == 0) session.picture.note_sent(*sent, tick);
    if (sent) session.budget.spend(bytes.size() + beside_message_bytes);
    if (sent) continue;
    ASHLAR_ASSERT(sent.error() != SendResult::too_long);
    return part;
  }
  return parts;
}

std::span<const HeightBlock> Publisher::heights() const {
  return config_.defects.lost_heights ? std::span<const HeightBlock>{} : replicator_.heights();
}

Publisher::Layout Publisher::lay_out(const Session& session, SnapshotHead& head,
                                     std::span<const CellBlock> blocks, std::size_t parts) {
  const SnapshotPlan whole = snapshots_.begin(head, blocks, heights(), parts, replicator_.motions());
  if (whole.blocks_taken == blocks.size()) return {whole, blocks, false};
  ++counters_.snapshots_cut;
  if (config_.defects.no_turns) return {whole, blocks, false};
  std::size_t records = blocks.size();
  for (const CellBlock& block : blocks) records += block.entities.size();
  // Where the path takes fewer of them a lap takes as long as the last one did.
  const std::uint32_t refresh = std::max(refresh_snapshots(records, parts) * config_.snapshot_every_ticks,
                                         session.turn.waited(head.tick));
  head.refresh_ticks = static_cast<std::uint16_t>(std::min<std::uint32_t>(refresh, 0xffff));
  const auto in_turns = snapshot_order_.arrange(blocks, parts, session.turn);
  return {snapshots_.begin(head, in_turns, heights(), parts, replicator_.motions()), in_turns, true};
}

void Publisher::note_told(Session& session, const SnapshotHead& head, const Layout& layout,
                          std::size_t parts_sent) {
  const std::uint32_t tick_before = head.tick - config_.snapshot_every_ticks;
  SnapshotPlan told = layout.plan;
  if (parts_sent < told.parts)  // what those that went hold: they are laid out alike
    told = snapshots_.begin(head, layout.order, heights(), parts_sent, replicator_.motions());
  if (observer_ != nullptr) show_plain(session, head.tick, layout.order.first(told.blocks_taken));
  if (layout.in_turns)
    snapshot_order_.advance(told, head.tick, tick_before, session.turn);
  else if (told.blocks_taken < layout.order.size() && !config_.defects.no_turns)
    session.turn = {true, layout.order[told.blocks_taken].cell, told.resume, tick_before, 0};
  else
    session.turn = {};
}

void Publisher::show_plain(const Session& session, std::uint32_t tick, std::span<const CellBlock> blocks) {
  shown_.clear();
  for (const CellBlock& block : blocks)
    for (const EntityRecord& record : block.entities) shown_.push_back(record.id);
  observer_->sent(TickId{tick}, session.player, shown_);
}

void Publisher::show_packed(const Session& session, std::uint32_t tick, std::size_t parts_sent) {
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
