#include "server/host/inbox.h"

#include <algorithm>
#include <array>
#include <variant>

#include "protocol/decode.h"
#include "protocol/pong_info.h"
#include "protocol/secure/open_packets.h"
#include "protocol/version.h"
#include "world/math/assert.h"
#include "world/sim/world.h"

namespace ashlar::server {

Inbox::Inbox(const Lobby::Rooms& rooms, Lobby& lobby, DoorKeeper& door, const Defects& defects)
    : r_(rooms),
      lobby_(&lobby),
      door_(&door),
      reset_key_(secure::reset_key(rooms.config.identity.secret)),
      defects_(defects) {}

void Inbox::count(std::span<const std::uint8_t> bytes) {
  ++r_.status.datagrams_in;
  r_.status.bytes_in += bytes.size();
}

void Inbox::ignore(Micros now, const DatagramBatch& in) {
  for (const DatagramBatch::Entry& entry : in.entries()) {
    const auto bytes = in.bytes(entry);
    count(bytes);
    if (const auto number = secure::sealed_connection(bytes, protocol_version))
      (void)r_.farewells.receive(now, entry.peer, *number, bytes);
  }
}

void Inbox::receive(Micros now, const HostInput& in, HostOutput& out) {
  const auto entries = in.datagrams.entries();
  const auto session_at = [&](std::size_t i) -> const Session* {
    if (i >= entries.size()) return nullptr;
    const auto number = secure::sealed_connection(in.datagrams.bytes(entries[i]), protocol_version);
    return number ? r_.sessions.find(*number) : nullptr;
  };
  // Each comes from another client, whose session lies elsewhere in memory. Rows stay where they are,
  // whoever leaves meanwhile.
  constexpr std::size_t own_ahead = 4, connection_ahead = 2;
  std::array<const Session*, own_ahead> ahead{};  // of the entries to come, by their number modulo
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Session* const later = ahead[i % own_ahead] = session_at(i + own_ahead);
    if (later != nullptr) later->prefetch_own();
    if (const Session* const soon = ahead[(i + connection_ahead) % own_ahead])
      soon->prefetch_connection(false);
    if (const Session* const next = ahead[(i + 1) % own_ahead]) next->prefetch_rings(false);
    const auto bytes = in.datagrams.bytes(entries[i]);
    count(bytes);
    receive_one(now, in.unix_s, entries[i].peer, bytes, out);
  }
  for (const PeerAddress& peer : in.datagrams.closed()) lobby_->link_ended(now, peer, out);
}

void Inbox::receive_one(Micros now, std::int64_t unix_s, const PeerAddress& from,
                        std::span<const std::uint8_t> bytes, HostOutput& out) {
  const auto type = secure::packet_type(bytes, protocol_version);
  if (!type && type.error() != DropReason::wrong_version) return drop(type.error());
  if (type && *type == secure::PacketType::sealed) return on_sealed(now, from, bytes, out);
  if (type && *type == secure::PacketType::ping) return on_ping(now, from, bytes, out.datagrams);
  const bool handshake = !type || *type == secure::PacketType::hello || *type == secure::PacketType::finish;
  // Over a link that has a session nobody begins another one.
  if (!handshake || r_.sessions.find_link(from) != nullptr) return drop(DropReason::wrong_state);
  door_->receive(now, unix_s, from, bytes, out);
}

void Inbox::on_sealed(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                      HostOutput& out) {
  const auto number = secure::sealed_connection(bytes, protocol_version);
  if (!number) return drop(number.error());
  if (Session* const session = r_.sessions.find(*number)) {
    lobby_->note_activity(*session);  // before: the session may end with it
    return on_session(now, *session, from, bytes, out);
  }
  if (!r_.farewells.receive(now, from, *number, bytes)) on_unknown(now, from, bytes, out.datagrams);
}

/// The server was started again: its client believes that when it hears a token that only this server's key
/// can have made.
void Inbox::on_unknown(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                       DatagramBatch& out) {
  drop(DropReason::unknown_connection);
  if (bytes.size() < 2 * secure::reset_bytes || !r_.gate.tells_unknown(now, from)) return;
  std::array<std::uint8_t, secure::reset_bytes> answer;
  const std::size_t size = secure::write_reset(bytes, protocol_version, reset_key_, answer);
  if (size > 0) out.add(from, std::span(answer).first(size));
}

/// The order is fixed: what does not open costs its session nothing, not even one of its tokens.
void Inbox::on_session(Micros now, Session& session, const PeerAddress& from,
                       std::span<const std::uint8_t> bytes, HostOutput& out) {
  ASHLAR_ASSERT(session.state != SessionState::free);
  if (from.transport != session.address.transport) return drop(DropReason::wrong_address);
  Connection& connection = *session.connection;
  const auto opened = connection.open(now, from, bytes, scratch_);
  if (!opened) {
    if (defects_.replay_window && opened.error() == DropReason::duplicate) ++session.accepted;
    if (defects_.pays_for_forgery && session.datagram_tokens > 0) --session.datagram_tokens;
    if (defects_.tells_forger) on_unknown(now, from, bytes, out.datagrams);
    return drop(opened.error());
  }
  if (defects_.moves_at_once && opened->newest && from != session.address) r_.sessions.move(session, from);
  session.resume.heard();
  session.newest_sequence = std::max(session.newest_sequence, opened->sequence);
  if (session.datagram_tokens <= 0) return drop(DropReason::rate_limited);
  --session.datagram_tokens;
  const auto received = connection.accept(now, *opened);
  if (!received) return drop(received.error());
  ++session.accepted;
  if (!received->unreliable.empty()) on_unreliable(now, session, received->unreliable);
  take_streams(now, session, out);
}

/// Its pong, within the gate's limits and without a session.
void Inbox::on_ping(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                    DatagramBatch& out) {
  if (!r_.gate.answers_ping(now, from)) return drop(DropReason::rate_limited);
  const auto info = encode(PongInfo{r_.status.tick, r_.status.clients, r_.config.clients_max});
  std::array<std::uint8_t, secure::open_prefix_bytes + secure::pong_info_bytes_max> answer;
  const std::size_t size = secure::write_pong(bytes, protocol_version, info, answer);
  if (size == 0) return drop(DropReason::malformed);
  out.add(from, std::span(answer).first(size));
}

namespace {

/// Of who spoke with the session's keys: a broken client, or a hostile one. A message that is whole but of a
/// type that is not known comes from a newer one, which does without.
void close_for_nonsense(Micros now, Session& session, DropReason reason) {
  if (reason == DropReason::unknown_message) return;
  session.connection->close(now, close_reason(SessionEnd::protocol),
                            "a message cannot be read: " + std::string(name(reason)));
}

}  // namespace

void Inbox::on_unreliable(Micros now, Session& session, std::span<const std::uint8_t> bytes) {
  const auto message = decode_client_message(bytes);
  if (!message) {
    drop(message.error());
    return close_for_nonsense(now, session, message.error());
  }
  const auto* input = std::get_if<Input>(&*message);
  // Commands for another world, or before the first snapshot, were on their way.
  if (input == nullptr || input->world != session.world) return drop(DropReason::wrong_state);
  if (session.state == SessionState::playing) on_input(session, *input);
}

/// All that came but chat and edits, which are taken as the session has tokens for them.
void Inbox::take_streams(Micros now, Session& session, HostOutput& out) {
  Connection& connection = *session.connection;
  while (connection.take(StreamId::control, message_)) {
    const auto message = decode_client_message(message_);
    if (!message) {
      drop(message.error());
      close_for_nonsense(now, session, message.error());
      continue;
    }
    if (const auto* join = std::get_if<Join>(&*message))
      lobby_->join(now, session, *join, out);
    else if (const auto* request = std::get_if<ContentRequest>(&*message))
      lobby_->give_content(now, session, *request);
    else
      drop(DropReason::wrong_state);
  }
  take_calls(now, session);
  while (connection.take(StreamId::bulk, message_)) drop(DropReason::wrong_state);
}

/// What the player says to the game, a few a tick; the rest waits, in the end with its client.
void Inbox::take_calls(Micros now, Session& session) {
  constexpr int calls_per_tick = 8;
  for (int n = 0; n < calls_per_tick && r_.input.room_for_call() && session.calls_this_tick < calls_per_tick;
       ++n) {
    if (!session.connection->take(StreamId::events, message_)) return;
    const auto message = decode_client_message(message_);
    if (!message) {
      drop(message.error());
      close_for_nonsense(now, session, message.error());
      continue;
    }
    const auto* said = std::get_if<GameCallMessage>(&*message);
    if (said == nullptr || said->world != session.world || session.state != SessionState::playing) {
      drop(DropReason::wrong_state);
      continue;
    }
    ++session.calls_this_tick;
    r_.input.call(GameCall::of(session.player, said->number, said->bytes));
  }
}

/// Commands into the input buffer.
void Inbox::on_input(Session& session, const Input& input) {
  const std::uint32_t next = number(r_.world->tick()) + 1;
  // Told anew it is no more often than this: it costs as much as its joining did.
  if (input.lost_epoch == session.blocks->epoch() &&
      next - session.blocks_reset_tick >= r_.world->setup().rules.tick_rate_hz / 4u) {
    session.blocks->reset();
    session.blocks_reset_tick = next;
    ++r_.status.snapshots_anew;
  }
  ASHLAR_ASSERT(input.command_count <= input.commands.size());
  // What it acknowledges in the same packet it had when it gave the newest of these.
  session.note_fates(next);
  const std::uint32_t news = session.input.count_news(input.newest_tick, input.command_count, next);
  for (std::uint32_t i = 0; i < news; ++i) {
    PlayerCommand command = input.commands[i];
    session.picture.complete(command, i, next, r_.world->setup().rules.tick_rate_hz);
    // Of a message the newest alone is counted: a command is lost only if no repeat of it came in time.
    const InputVerdict verdict = session.input.add(input.newest_tick - i, command, next, i == 0 ? 0 : i + 1,
                                                   i == 0 ? input.foreseen : 0);
    if (i == 0 && verdict == InputVerdict::late) ++r_.status.inputs_late;
    if (i == 0 && verdict == InputVerdict::early) ++r_.status.inputs_early;
  }
}

}  // namespace ashlar::server
