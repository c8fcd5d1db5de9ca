#include "server/host/chat_room.h"

#include <variant>

#include "protocol/decode.h"
#include "protocol/text.h"
#include "world/math/assert.h"
#include "world/math/prefetch.h"

namespace ashlar::server {
namespace {

/// Notices go into a client's chat while less than this waits there, some four lines, so that chat never
/// waits behind them.
constexpr std::uint64_t notices_beside_bytes = 1024;

std::uint64_t chat_waiting(const Session& session) {
  return session.connection->status().queue_bytes[row(StreamId::chat)];
}

}  // namespace

ChatRoom::ChatRoom(SessionTable& sessions, HostStatus& status, const Defects& defects)
    : sessions_(&sessions), status_(&status), defects_(defects) {}

void ChatRoom::advance(Micros now, TickInputCollector& input, HostOutput& out) {
  const auto ahead = [](const Session& later) { later.connection->prefetch_take(); };
  sessions_->walk(ahead, [&](Session& session) {
    if (session.state == SessionState::playing) listen(now, session, input, out);
  });
  tell_notices(now);
}

bool ChatRoom::take(Session& session) {
  if (session.lines.empty()) return session.connection->take(StreamId::chat, message_);
  message_ = std::move(session.lines.front());
  session.lines.erase(session.lines.begin());
  return true;
}

void ChatRoom::listen(Micros now, Session& session, TickInputCollector& input, HostOutput& out) {
  while (session.chat_tokens > 0 && input.room_for_call() && take(session)) {
    --session.chat_tokens;
    const auto message = decode_client_message(message_);
    if (!message) {
      status_->drop(message.error());
      if (message.error() == DropReason::unknown_message) continue;
      session.connection->close(now, close_reason(SessionEnd::protocol), "a line of chat cannot be read");
      return;
    }
    const auto* chat = std::get_if<Chat>(&*message);
    if (chat == nullptr) {
      status_->drop(DropReason::wrong_state);
      continue;
    }
    if (chat->text.empty()) continue;  // nothing of it is shown
    if (session.admin && chat->text.starts_with("//")) {
      out.events.push_back(
          {HostEventKind::order, session.address, session.number, session.name, chat->text.substr(2)});
      continue;
    }
    if (chat->text.starts_with('/')) {  // for the game alone
      input.call(GameCall::command(session.player, std::string_view(chat->text).substr(1)));
      continue;
    }
    out.events.push_back({HostEventKind::chat, session.address, session.number, session.name, chat->text});
    say(session.name, chat->text);
  }
}

void ChatRoom::say(const std::string& from, const std::string& text) {
  const std::string printable = make_printable(text, chat_bytes_max);
  if (printable.empty()) return;
  const auto line = writer_.write(ChatLine{from, printable});
  if (defects_.lost_line && !from.empty() && ++lines_told_ % 8 == 0) return;
  for (const std::uint32_t row : sessions_->seated()) {
    Session& session = (*sessions_)[row];
    if (session.state != SessionState::playing) continue;
    if (defects_.lost_wake && chat_waiting(session) > 0) continue;
    send(session, line);
  }
}

void ChatRoom::tell(Session& session, std::string_view text) {
  const std::string printable = make_printable(text, chat_bytes_max);
  if (!printable.empty()) send(session, writer_.write(ChatLine{"", printable}));
}

void ChatRoom::send(Session& session, std::span<const std::uint8_t> line) {
  const SendResult result = session.connection->send(StreamId::chat, line);
  ASHLAR_ASSERT(result != SendResult::too_long);
  if (result == SendResult::queue_full) ++status_->chat_given_up;
}

void ChatRoom::tell_notices(Micros now) {
  for (const std::string& text : notices_.take(now)) {
    const std::string line = make_printable(text, chat_bytes_max);
    for (const std::uint32_t row : sessions_->seated()) {
      Session& session = (*sessions_)[row];
      if (session.state == SessionState::playing && !session.notices.push(line)) ++status_->notices_lost;
    }
  }
  const auto ahead = [](const Session& later) { prefetch(&later.notices, sizeof later.notices); };
  sessions_->walk(ahead, [&](Session& session) {
    if (session.state != SessionState::playing) return;
    for (; !session.notices.empty() && chat_waiting(session) < notices_beside_bytes; session.notices.pop())
      send(session, writer_.write(ChatLine{"", session.notices.front()}));
  });
}

}  // namespace ashlar::server
