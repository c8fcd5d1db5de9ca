// What clients are told.

#include <algorithm>

#include "protocol/text.h"
#include "server/host_impl.h"
#include "server/welcome_content.h"
#include "world/bsp/placement.h"
#include "world/sim/health.h"

namespace ashlar::server {
namespace {

constexpr Micros chat_repeat_after{250'000};
constexpr std::size_t snapshot_parts_per_client = 16;
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
  for (Session& session : sessions)
    if (session.state == SessionState::playing) push_chat(session, from, line);
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

void Host::Impl::publish(Micros at, DatagramBatch& out) {
  bool anyone = false;
  for (const Session& session : sessions) anyone = anyone || session.state == SessionState::playing;
  if (!anyone) return;
  publisher.gather(*world);
  const std::uint32_t tick = number(world->tick());
  const Rules& rules = world->setup().rules;
  const double travelled_m = rules.walk_speed_mps_max * config.snapshot_every_ticks / rules.tick_rate_hz;
  DVec3 eye_before;
  for (Session& session : sessions) {
    if (session.state != SessionState::playing) continue;
    const int row = world->player_row(session.player);
    if (row < 0) continue;
    OwnPlayer own;
    const PlayerTable& players = world->players();
    const auto i = static_cast<std::size_t>(row);
    own.body = players.body[i];
    own.id = session.player;
    own.health = health_share(players.health[i], world->setup().rules.player_health);
    own.view_turn = session.view_turn;
    SnapshotHead head;
    head.tick = tick;
    head.applied_tick =
        config.defects.early_ack ? session.input.newest_tick() : session.input.last_own_tick();
    head.chat_seen = session.chat_taken;
    const std::int32_t level = session.input.level(tick);
    head.input_ahead = level == InputBuffer::level_none
                           ? input_ahead_none
                           : static_cast<std::int8_t>(std::clamp(level, -127, 127));
    head.own = &own;
    const DVec3 eye = own.body.position_m + DVec3{0, 0, world->setup().rules.player_eye_m};
    std::span<const CellBlock> blocks = publisher.blocks_near(
        config.defects.wrong_eyes ? eye_before : eye, config.interest_radius_m, eye_margin_m + travelled_m);
    eye_before = eye;
    if (config.defects.blind_spot && !blocks.empty()) blocks = blocks.first(blocks.size() - 1);
    const auto heights = config.defects.lost_heights ? std::span<const HeightBlock>{} : publisher.heights();
    const SnapshotPlan plan =
        snapshots.begin(head, blocks, heights, snapshot_parts_per_client, publisher.motions());
    for (std::size_t part = 0; part < plan.parts; ++part)
      send(session.address, snapshots.part(part, next_header(session, at)), out);
  }
}

}  // namespace ashlar::server
