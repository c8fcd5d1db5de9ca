// What clients are told.

#include <algorithm>

#include "protocol/text.h"
#include "server/host/host_impl.h"
#include "server/host/welcome_content.h"
#include "world/bsp/placement.h"
#include "world/sim/health.h"

namespace ashlar::server {
namespace {

constexpr Micros chat_repeat_after{250'000};
/// Notices go into a client's chat while fewer lines than this wait there.
constexpr std::size_t notices_beside_chat = chat_lines_waiting_max / 4;
/// What viewers move while their command travels here and the snapshot back: a third of a second at a run.
constexpr double eye_margin_m = 2;

}  // namespace

void Host::Impl::send(const PeerAddress& to, std::span<const std::uint8_t> bytes, DatagramBatch& out) {
  if (!out.add(to, bytes)) return;
  ++status.datagrams_out;
  status.bytes_out += bytes.size();
}

PacketHeader Host::Impl::next_header(Session& session, Micros at) {
  PacketHeader header;
  header.connection = session.connection;
  header.sequence = session.sent.next_sequence(at);
  session.seen.fill(header);
  return header;
}

void Host::Impl::welcome(Micros at, Session& session, DatagramBatch& out) {
  Welcome message;
  message.nonce = session.nonce;
  message.connection = session.connection;
  message.seed = world->setup().seed;
  message.tick = number(world->tick());
  message.snapshot_every_ticks = config.snapshot_every_ticks;
  message.rules = world->setup().rules;
  add_content(world->setup(), message);
  message.motd = make_printable(config.message_of_the_day, motd_bytes_max);
  send(session.address, writer.write(next_header(session, at), message), out);
}

void Host::Impl::refuse(const PeerAddress& to, std::uint64_t nonce, RefuseReason reason, std::string text,
                        const std::string& player, DatagramBatch& out, std::vector<HostEvent>& events) {
  if (to.transport == Transport::tcp) out.add_closed(to);
  if (!gate.refuses(now, to)) return drop(DropReason::rate_limited);
  PacketHeader header;
  header.sequence = 1;
  put_nonce(header, nonce);
  Refuse message;
  message.nonce = nonce;
  message.reason = reason;
  message.text = std::move(text);
  events.push_back({HostEventKind::refused, to, 0, player, message.text});
  send(to, writer.write(header, message), out);
}

void Host::Impl::say_goodbye(Session& session, GoodbyeReason reason, const std::string& text,
                             DatagramBatch& out) {
  Goodbye message;
  message.reason = reason;
  message.text = make_printable(text, reason_bytes_max);
  send(session.address, writer.write(next_header(session, now), message), out);
  if (session.address.transport == Transport::tcp) out.add_closed(session.address);
}

void Host::Impl::tell_all(const std::string& from, const std::string& text) {
  const std::string line = make_printable(text, chat_bytes_max);
  for (const std::uint32_t row : seated)
    if (sessions[row].state == SessionState::playing) push_chat(sessions[row], from, line);
  if (!config.defects.lost_line || from.empty() || ++lines_told % 8 != 0) return;
  for (Session& session : sessions) session.chat.give_up_oldest();
}

void Host::Impl::push_chat(Session& session, const std::string& from, const std::string& line) {
  if (!session.chat.push(from, line)) ++status.chat_given_up;
}

void Host::Impl::tell_notices(Micros at) {
  for (const std::string& text : notices.take(at)) {
    const std::string line = make_printable(text, chat_bytes_max);
    for (Session& session : sessions)
      if (session.state == SessionState::playing && !session.notices.push(line)) ++status.notices_lost;
  }
}

void Host::Impl::send_chat(Micros at, Session& session, DatagramBatch& out) {
  for (; !session.notices.empty() && session.chat.size() < notices_beside_chat; session.notices.pop())
    push_chat(session, "", session.notices.front());
  if (session.chat.size() == 0 || at - session.chat_sent_at < chat_repeat_after) return;
  if (config.defects.lost_wake && session.chat_woken == session.chat.newest()) return;
  session.chat_sent_at = at;
  std::size_t first = 0;
  while (config.defects.lost_wake && session.chat[first].number <= session.chat_woken) ++first;
  session.chat_woken = session.chat.newest();
  for (std::size_t i = first; i < session.chat.size(); ++i)
    send(session.address, writer.write(next_header(session, at), session.chat[i]), out);
}

/// Lays out what the client is told of others, in turns where a snapshot has no room for all.
SnapshotPlan Host::Impl::lay_out(Session& session, SnapshotHead& head, std::span<const CellBlock> blocks) {
  const auto heights = config.defects.lost_heights ? std::span<const HeightBlock>{} : replicator.heights();
  const std::size_t parts = config.snapshot_bytes_max / datagram_bytes_max;
  const SnapshotPlan whole = snapshots.begin(head, blocks, heights, parts, replicator.motions());
  if (whole.blocks_taken == blocks.size()) {
    session.turn = {};
    return whole;
  }
  ++status.snapshots_cut;
  if (config.defects.no_turns) return whole;
  std::size_t records = blocks.size();
  for (const CellBlock& block : blocks) records += block.entities.size();
  head.refresh_ticks = static_cast<std::uint16_t>(
      std::min<std::uint32_t>(refresh_snapshots(records, parts) * config.snapshot_every_ticks, 0xffff));
  const auto in_turns = snapshot_order.arrange(blocks, parts, session.turn);
  const SnapshotPlan plan = snapshots.begin(head, in_turns, heights, parts, replicator.motions());
  snapshot_order.advance(plan, head.tick, head.tick - config.snapshot_every_ticks, session.turn);
  status.snapshot_wait_ticks = std::max(status.snapshot_wait_ticks, session.turn.waited(head.tick));
  status.snapshot_wait_ticks_max = std::max(status.snapshot_wait_ticks_max, status.snapshot_wait_ticks);
  return plan;
}

void Host::Impl::publish_to(Session& session, Micros at, DatagramBatch& out) {
  const int row = world->player_row(session.player);
  if (row < 0) return;
  const std::uint32_t tick = number(world->tick());
  const Rules& rules = world->setup().rules;
  const PlayerTable& players = world->players();
  const auto i = static_cast<std::size_t>(row);
  OwnPlayer own;
  own.body = players.body[i];
  own.id = session.player;
  own.health = health_share(players.health[i], rules.player_health);
  own.delta_yaw = session.delta_yaw;
  SnapshotHead head;
  head.tick = tick;
  head.applied_tick = config.defects.early_ack ? session.input.newest_tick() : session.input.last_own_tick();
  head.chat_seen = session.chat_taken;
  const std::int32_t level = session.input.level(tick);
  head.input_ahead = level == InputBuffer::level_none
                         ? input_ahead_none
                         : static_cast<std::int8_t>(std::clamp(level, -127, 127));
  head.own = &own;
  const DVec3 eye = own.body.position_m + DVec3{0, 0, rules.player_eye_m};
  const double travelled_m = rules.walk_speed_mps_max * config.snapshot_every_ticks / rules.tick_rate_hz;
  std::span<const CellBlock> blocks =
      replicator.blocks_near(config.defects.wrong_eyes ? eye_before : eye, config.interest_radius_m,
                             eye_margin_m + travelled_m, session.turn.active);
  eye_before = eye;
  if (config.defects.blind_spot && !blocks.empty()) blocks = blocks.first(blocks.size() - 1);
  const SnapshotPlan plan = lay_out(session, head, blocks);
  for (std::size_t part = 0; part < plan.parts; ++part)
    send(session.address, snapshots.part(part, next_header(session, at)), out);
}

void Host::Impl::publish(Micros at, DatagramBatch& out) {
  status.snapshot_wait_ticks = 0;
  const auto plays = [this](std::uint32_t row) { return sessions[row].state == SessionState::playing; };
  if (std::ranges::none_of(seated, plays)) return;
  replicator.gather(*world);
  // Another one is first each time: where the send buffer is full it is not always the same who lose.
  const std::size_t first = number(world->tick()) / config.snapshot_every_ticks % seated.size();
  for (std::size_t i = 0; i < seated.size(); ++i) {
    const std::uint32_t row = seated[(first + i) % seated.size()];
    if (plays(row)) publish_to(sessions[row], at, out);
  }
}

}  // namespace ashlar::server
