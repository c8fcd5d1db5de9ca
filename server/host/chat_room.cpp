#include "server/host/chat_room.h"

#include "protocol/text.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

constexpr Micros chat_repeat_after{250'000};
/// Notices go into a client's chat while fewer lines than this wait there.
constexpr std::size_t notices_beside_chat = chat_lines_waiting_max / 4;

}  // namespace

ChatRoom::ChatRoom(SessionTable& sessions, ControlSender& sender, HostStatus& status, const Defects& defects)
    : sessions_(&sessions), sender_(&sender), status_(&status), defects_(defects) {}

bool ChatRoom::take(Session& session, const Chat& chat, HostOutput& out) {
  if (session.state != SessionState::playing) return true;
  if (chat.number != session.chat_taken + 1) return true;  // a repeat, or one too far ahead
  if (session.chat_tokens <= 0) return false;
  --session.chat_tokens;
  session.chat_taken = chat.number;
  out.events.push_back({HostEventKind::chat, session.address, session.connection, session.name, chat.text});
  say(session.name, chat.text);
  return true;
}

void ChatRoom::say(const std::string& from, const std::string& text) {
  const std::string line = make_printable(text, chat_bytes_max);
  for (const std::uint32_t row : sessions_->seated()) {
    Session& session = (*sessions_)[row];
    if (session.state == SessionState::playing) push(session, from, line);
  }
  if (!defects_.lost_line || from.empty() || ++lines_told_ % 8 != 0) return;
  for (Session& session : sessions_->rows()) session.chat.give_up_oldest();
}

void ChatRoom::push(Session& session, const std::string& from, const std::string& line) {
  if (!session.chat.push(from, line)) ++status_->chat_given_up;
  ASHLAR_ASSERT(session.chat.size() <= ChatQueue::lines_max);
}

void ChatRoom::tell_notices(Micros now) {
  for (const std::string& text : notices_.take(now)) {
    const std::string line = make_printable(text, chat_bytes_max);
    for (const std::uint32_t row : sessions_->seated()) {
      Session& session = (*sessions_)[row];
      if (session.state == SessionState::playing && !session.notices.push(line)) ++status_->notices_lost;
    }
  }
}

void ChatRoom::send(Micros now, DatagramBatch& out) {
  tell_notices(now);
  for (const std::uint32_t row : sessions_->seated())
    if ((*sessions_)[row].state == SessionState::playing) send_to((*sessions_)[row], now, out);
}

void ChatRoom::send_to(Session& session, Micros now, DatagramBatch& out) {
  for (; !session.notices.empty() && session.chat.size() < notices_beside_chat; session.notices.pop())
    push(session, "", session.notices.front());
  if (session.chat.size() == 0 || now - session.chat_sent_at < chat_repeat_after) return;
  if (defects_.lost_wake && session.chat_woken == session.chat.newest()) return;
  session.chat_sent_at = now;
  std::size_t first = 0;
  while (defects_.lost_wake && session.chat[first].number <= session.chat_woken) ++first;
  session.chat_woken = session.chat.newest();
  for (std::size_t i = first; i < session.chat.size(); ++i) sender_->send(session, session.chat[i], now, out);
}

}  // namespace ashlar::server
