#include "server/host/inbox.h"

#include <algorithm>
#include <string>
#include <variant>

#include "protocol/decode.h"
#include "protocol/text.h"
#include "protocol/version.h"
#include "world/math/assert.h"
#include "world/sim/world.h"

namespace ashlar::server {

Inbox::Inbox(const Lobby::Rooms& rooms, Lobby& lobby, const Defects& defects)
    : r_(rooms), lobby_(&lobby), defects_(defects) {}

void Inbox::ignore(const DatagramBatch& in) {
  for (const DatagramBatch::Entry& entry : in.entries()) {
    ++r_.status.datagrams_in;
    r_.status.bytes_in += entry.size;
  }
}

void Inbox::receive(Micros now, const DatagramBatch& in, HostOutput& out) {
  for (const DatagramBatch::Entry& entry : in.entries()) {
    const auto bytes = in.bytes(entry);
    ++r_.status.datagrams_in;
    r_.status.bytes_in += bytes.size();
    receive_one(now, entry.peer, bytes, out);
  }
  for (const PeerAddress& peer : in.closed()) lobby_->connection_closed(now, peer, out);
}

void Inbox::receive_one(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                        HostOutput& out) {
  const auto packet = decode_packet(bytes);
  if (!packet) return on_malformed(now, from, bytes, packet.error(), out);
  if (packet->header.connection == 0) return on_stranger(now, from, bytes, *packet, out);
  Session* session = r_.sessions.find(packet->header.connection);
  if (session == nullptr || session->address != from) {
    drop(session == nullptr ? DropReason::unknown_connection : DropReason::wrong_address);
    return on_unknown(now, from, *packet, out.datagrams);
  }
  on_session(now, *session, *packet, bytes.size(), out);
}

void Inbox::on_malformed(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                         DropReason reason, HostOutput& out) {
  drop(reason);
  // Another version's hello is as large as ours; tell it why, never with more bytes than it sent.
  if (reason != DropReason::wrong_version || bytes.size() != datagram_bytes_max) return;
  lobby_->refuse(now, from, nonce_of(bytes),
                 {RefuseReason::version, "this server speaks protocol " + std::to_string(protocol_version) +
                                             "; use a client of that version"},
                 "", out);
}

/// A packet of a session whose address it comes from.
void Inbox::on_session(Micros now, Session& session, const Packet& packet, std::size_t bytes,
                       HostOutput& out) {
  ASHLAR_ASSERT(session.state != SessionState::free);
  if (session.datagram_tokens <= 0) return drop(DropReason::rate_limited);
  --session.datagram_tokens;
  if (session.state == SessionState::dismissed) return on_dismissed(now, session, bytes, out.datagrams);
  const auto message = decode_client_message(packet.payload);
  if (!message) return drop(message.error());
  if (std::holds_alternative<Hello>(*message) || std::holds_alternative<Ping>(*message))
    return drop(DropReason::wrong_state);
  // Only now, after the message proved sound: garbage must not move the window.
  if (!note_packet(now, session, packet.header)) return;

  if (const auto* input = std::get_if<Input>(&*message)) return on_input(session, *input);
  if (const auto* join = std::get_if<Join>(&*message)) return lobby_->join(now, session, *join, out);
  if (const auto* leave = std::get_if<Leave>(&*message)) return lobby_->leave(now, session, *leave, out);
  if (const auto* chat = std::get_if<Chat>(&*message); chat != nullptr && !r_.chat.take(session, *chat, out))
    drop(DropReason::rate_limited);
}

/// Its sequence number and acknowledgements. @return false: it was here before, or names what was not sent
bool Inbox::note_packet(Micros now, Session& session, const PacketHeader& header) {
  if (const auto fresh = session.seen.accept(header.sequence); !fresh && !defects_.replay_window) {
    drop(fresh.error());
    return false;
  }
  const auto acked = session.sent.acknowledge(header, now);
  if (!acked) {
    drop(acked.error());
    return false;
  }
  session.acked += acked->newly_acked;
  session.told += acked->newly_told;
  if (acked->has_rtt)
    session.rtt = session.rtt == Micros{0} ? acked->rtt : (session.rtt * 7 + acked->rtt) / 8;
  session.heard_at = now;
  ++session.accepted;
  return true;
}

/// A sound packet of no connection: hellos and pings go on, all else is dropped.
void Inbox::on_stranger(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                        const Packet& packet, HostOutput& out) {
  const auto message = decode_client_message(packet.payload);
  if (!message) {
    drop(message.error());
    // A hello is as large as this and nothing else is; its nonce stands in the header, too.
    if (message.error() == DropReason::bad_text && bytes.size() == datagram_bytes_max)
      lobby_->refuse(now, from, nonce_of(bytes),
                     {RefuseReason::bad_name, "names have 1 to " + std::to_string(player_name_chars_max) +
                                                  " printable characters and no space at either end"},
                     "", out);
    return;
  }
  if (const auto* hello = std::get_if<Hello>(&*message))
    return lobby_->hello(now, from, packet.header, *hello, out);
  if (const auto* ping = std::get_if<Ping>(&*message)) return on_ping(now, from, *ping, out.datagrams);
  drop(DropReason::wrong_state);
}

/// Its pong, within the gate's limits and without a session.
void Inbox::on_ping(Micros now, const PeerAddress& from, const Ping& ping, DatagramBatch& out) {
  if (!r_.gate.answers_ping(now, from)) return drop(DropReason::rate_limited);
  PacketHeader header;
  header.sequence = 1;
  r_.sender.send(from, header, Pong{ping.nonce, r_.status.tick, r_.status.clients, r_.config.clients_max},
                 out);
}

/// The server was started again, or the client comes from elsewhere now: it can join again when it knows. A
/// header without a payload gets no answer, or two servers could be made to answer each other for ever.
void Inbox::on_unknown(Micros now, const PeerAddress& from, const Packet& packet, DatagramBatch& out) {
  if (packet.payload.empty() || !r_.gate.tells_unknown(now, from)) return;
  r_.sender.send(from, unknown_connection_packet(packet.header), out);
}

/// A kicked client went on talking: its goodbye was lost, and it hears it again.
void Inbox::on_dismissed(Micros now, Session& session, std::size_t bytes, DatagramBatch& out) {
  session.bytes_unanswered = std::min(session.bytes_unanswered + bytes, datagram_bytes_max);
  r_.sender.goodbye_again(session, now, out);
}

/// Commands into the input buffer. Like chat it counts for nothing in a session that does not play.
void Inbox::on_input(Session& session, const Input& input) {
  if (session.state != SessionState::playing) return;  // on its way before the first snapshot
  session.chat.seen(std::min(input.chat_seen, session.chat.newest()));
  const std::uint32_t next = number(r_.world.tick()) + 1;
  ASHLAR_ASSERT(input.command_count <= input.commands.size());
  for (std::uint8_t i = 0; i < input.command_count; ++i) {
    // A command counts as lost only if no repeat of it came in time, so late repeats are no news.
    const InputVerdict verdict = session.input.add(input.newest_tick - i, input.commands[i], next);
    if (i == 0 && verdict == InputVerdict::late) ++r_.status.inputs_late;
    if (i == 0 && verdict == InputVerdict::early) ++r_.status.inputs_early;
  }
}

}  // namespace ashlar::server
