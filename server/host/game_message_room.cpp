#include "server/host/game_message_room.h"

#include "protocol/text.h"
#include "world/sim/game_replication.h"
#include "world/sim/match.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

bool is_for(const GameMessageOut& message, EntityId player, std::uint8_t team) {
  switch (message.to) {
    case MessageTo::all: return true;
    case MessageTo::team: return team == message.target;
    case MessageTo::one: return static_cast<std::uint32_t>(player) == message.target;
  }
  return false;
}

}  // namespace

void GameMessageRoom::tell_line(Session& session, std::string_view text) {
  const ChatLine line{"", make_printable(text, chat_bytes_max)};
  if (line.text.empty()) return;
  if (session.connection->send(StreamId::chat, writer_.write(line)) != SendResult::sent) ++missed_;
}

void GameMessageRoom::publish(const World& world) {
  const GameReplication& told = world.replication();
  if (told.messages().empty()) return;
  message_.tick = number(world.tick());
  for (const std::uint32_t row : sessions_->seated()) {
    Session& session = (*sessions_)[row];
    if (session.state != SessionState::playing || world.player_row(session.player) < 0) continue;
    const std::uint8_t team = world.match().players[slot_of(session.player)].team;
    for (const GameMessageOut& message : told.messages()) {
      if (!is_for(message, session.player, team)) continue;
      const auto bytes = told.message_bytes(message);
      if (message.number == GameMessageOut::chat_line) {
        tell_line(session, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        continue;
      }
      message_.world = session.world;
      message_.number = message.number;
      message_.bytes.assign(bytes.begin(), bytes.end());
      if (session.connection->send(StreamId::events, writer_.write(message_)) != SendResult::sent) ++missed_;
    }
  }
}

}  // namespace ashlar::server
