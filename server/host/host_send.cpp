// What clients are told.

#include "protocol/text.h"
#include "server/host/host_impl.h"
#include "server/host/welcome_content.h"
#include "world/bsp/placement.h"

namespace ashlar::server {
namespace {

constexpr Micros chat_repeat_after{250'000};
/// Notices go into a client's chat while fewer lines than this wait there.
constexpr std::size_t notices_beside_chat = chat_lines_waiting_max / 4;

}  // namespace

void Host::Impl::send(const PeerAddress& to, std::span<const std::uint8_t> bytes, DatagramBatch& out) {
  if (!out.add(to, bytes)) return;
  ++status.datagrams_out;
  status.bytes_out += bytes.size();
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
  send(session.address, writer.write(session.next_header(at), message), out);
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
  send(session.address, writer.write(session.next_header(now), message), out);
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
    send(session.address, writer.write(session.next_header(at), session.chat[i]), out);
}

void Host::Impl::publish(Micros at, DatagramBatch& out) {
  const PublishCounters before = publisher.counters();
  publisher.publish(*world, sessions, seated, at, out);
  const PublishCounters& told = publisher.counters();
  status.datagrams_out += told.datagrams - before.datagrams;
  status.bytes_out += told.bytes - before.bytes;
  status.snapshots_cut = told.snapshots_cut;
  status.snapshot_wait_ticks = told.wait_ticks;
  status.snapshot_wait_ticks_max = told.wait_ticks_max;
}

}  // namespace ashlar::server
