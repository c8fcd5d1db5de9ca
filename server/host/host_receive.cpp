// What clients say. Nothing here trusts a byte: packets and messages are decoded and range-checked by
// protocol, and what makes no sense in a session's state is counted and dropped.

#include <algorithm>

#include "protocol/decode.h"
#include "protocol/text.h"
#include "protocol/version.h"
#include "server/host/host_impl.h"
#include "server/net/address.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

/// A second hello from an address replaces a session only when that one has been silent for so long: a
/// spoofed hello must not throw out a player.
constexpr Micros replace_after{2'000'000};

/// What the limit per address counts by: neither port nor transport, and of IPv6 no more than the /64.
PeerAddress counted_as(const PeerAddress& peer) {
  PeerAddress a;
  a.ip = limit_key(peer);
  return a;
}

}  // namespace

Session* Host::Impl::session_of(std::uint32_t connection) {
  const auto row = by_connection.find(connection);
  return row == by_connection.end() ? nullptr : &sessions[row->second];
}

std::uint32_t Host::Impl::next_connection(std::uint32_t row) {
  if (config.defects.reuse_id) return 1u << 16 | row;
  std::uint32_t id = 0;
  do id = static_cast<std::uint32_t>(keyed_hash(secret, ++connections_made));
  while (id == 0 || by_connection.contains(id));
  return id;
}

Session* Host::Impl::free_session() {
  if (seated.size() == sessions.size()) return nullptr;
  // Bodies that stay behind hold their places in the world.
  if (!lingering.empty() && seated.size() + lingering.size() >= sessions.size()) return nullptr;
  std::uint32_t row = 0;  // rows are in order: the first that is not at its own number follows a free one
  while (row < seated.size() && seated[row] == row) ++row;
  ASHLAR_ASSERT(sessions[row].state == SessionState::free);
  return &sessions[row];
}

void Host::Impl::make_room(const PeerAddress& from, std::vector<HostEvent>& events) {
  const auto key = limit_key(from);
  std::uint32_t oldest = greeted.gives_way_to(key);
  const bool helps = seated.size() + lingering.size() <= sessions.size();  // one fewer is a place
  if (oldest == 0 && helps && free_session() == nullptr) oldest = greeted.first_to_go(key);
  if (oldest == 0) return;
  ++status.greeted_displaced;
  remove(*session_of(oldest), "", events);
}

void Host::Impl::receive(Micros at, const DatagramBatch& in, DatagramBatch& out,
                         std::vector<HostEvent>& events) {
  for (const DatagramBatch::Entry& entry : in.entries()) {
    const auto bytes = in.bytes(entry);
    ++status.datagrams_in;
    status.bytes_in += bytes.size();
    if (closed) continue;
    receive_one(at, entry.peer, bytes, out, events);
  }
  for (const PeerAddress& peer : in.closed()) {
    const auto it = by_address.find(peer);
    if (it != by_address.end()) remove(sessions[it->second], "connection closed", events);
  }
}

void Host::Impl::receive_one(Micros at, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                             DatagramBatch& out, std::vector<HostEvent>& events) {
  const auto packet = decode_packet(bytes);
  if (!packet) {
    drop(packet.error());
    // Another version's hello is as large as ours; tell it why, never with more bytes than it sent.
    if (packet.error() == DropReason::wrong_version && bytes.size() == datagram_bytes_max)
      refuse(from, nonce_of(bytes), RefuseReason::version,
             "this server speaks protocol " + std::to_string(protocol_version) +
                 "; use a client of that version",
             "", out, events);
    return;
  }
  if (packet->header.connection == 0) return on_stranger(at, from, bytes, *packet, out, events);
  const PacketHeader& header = packet->header;
  Session* session = session_of(header.connection);
  if (session == nullptr || session->address != from) {
    drop(session == nullptr ? DropReason::unknown_connection : DropReason::wrong_address);
    return on_unknown(at, from, *packet, out);
  }
  if (session->datagram_tokens <= 0) return drop(DropReason::rate_limited);
  --session->datagram_tokens;
  if (session->state == SessionState::dismissed) return on_dismissed(at, *session, bytes.size(), out);
  const auto message = decode_client_message(packet->payload);
  if (!message) return drop(message.error());
  if (std::holds_alternative<Hello>(*message) || std::holds_alternative<Ping>(*message))
    return drop(DropReason::wrong_state);
  // Only now, after the message proved sound: garbage must not move the window.
  if (const auto fresh = session->seen.accept(header.sequence); !fresh && !config.defects.replay_window)
    return drop(fresh.error());
  const auto acked = session->sent.acknowledge(header, at);
  if (!acked) return drop(acked.error());
  session->acked += acked->newly_acked;
  session->ack_highest = std::max<std::uint64_t>(session->ack_highest, header.ack);
  if (acked->has_rtt)
    session->rtt = session->rtt == Micros{0} ? acked->rtt : (session->rtt * 7 + acked->rtt) / 8;
  session->heard_at = at;
  ++session->accepted;

  if (const auto* input = std::get_if<Input>(&*message)) return on_input(*session, *input);
  if (const auto* chat = std::get_if<Chat>(&*message)) return on_chat(*session, *chat, events);
  if (const auto* join = std::get_if<Join>(&*message)) return on_join(*session, *join, out, events);
  if (const auto* leave = std::get_if<Leave>(&*message)) {
    static constexpr const char* reasons[] = {"quit", "stopped", "other version", "lacks content",
                                              "timed out"};
    const auto reason = static_cast<std::size_t>(leave->reason);
    say_goodbye(*session, GoodbyeReason::left, "", out);
    remove(*session, reason < std::size(reasons) ? reasons[reason] : "quit", events);
  }
}

/// Packets of no connection: hellos and pings.
void Host::Impl::on_stranger(Micros at, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                             const Packet& packet, DatagramBatch& out, std::vector<HostEvent>& events) {
  const auto message = decode_client_message(packet.payload);
  if (!message) {
    drop(message.error());
    // A hello is as large as this and nothing else is; its nonce stands in the header, too.
    if (message.error() == DropReason::bad_text && bytes.size() == datagram_bytes_max)
      refuse(from, nonce_of(bytes), RefuseReason::bad_name,
             "names have 1 to " + std::to_string(player_name_chars_max) +
                 " printable characters and no space at either end",
             "", out, events);
    return;
  }
  if (const auto* hello = std::get_if<Hello>(&*message))
    return on_hello(at, from, packet.header, *hello, out, events);
  if (const auto* ping = std::get_if<Ping>(&*message)) return on_ping(at, from, *ping, out);
  drop(DropReason::wrong_state);
}

void Host::Impl::on_ping(Micros at, const PeerAddress& from, const Ping& ping, DatagramBatch& out) {
  if (!gate.answers_ping(at, from)) return drop(DropReason::rate_limited);
  PacketHeader header;
  header.sequence = 1;
  send(from, writer.write(header, Pong{ping.nonce, status.tick, status.clients, config.clients_max}), out);
}

/// The server was started again, or the client comes from elsewhere now: it can join again when it knows. A
/// header without a payload gets no answer, or two servers could be made to answer each other for ever.
void Host::Impl::on_unknown(Micros at, const PeerAddress& from, const Packet& packet, DatagramBatch& out) {
  if (packet.payload.empty() || !gate.tells_unknown(at, from)) return;
  send(from, unknown_connection_packet(packet.header), out);
}

/// Its goodbye was lost: it hears it again, in no more bytes than it sent since it last did.
void Host::Impl::on_dismissed(Micros at, Session& session, std::size_t bytes, DatagramBatch& out) {
  session.bytes_unanswered = std::min(session.bytes_unanswered + bytes, datagram_bytes_max);
  Goodbye message;
  message.reason = GoodbyeReason::kicked;
  message.text = make_printable(session.kicked_for, reason_bytes_max);
  const auto packet = writer.write(session.next_header(at), message);
  if (packet.size() > session.bytes_unanswered) return;  // once more has come
  session.bytes_unanswered -= packet.size();
  send(session.address, packet, out);
}

void Host::Impl::on_hello(Micros at, const PeerAddress& from, const PacketHeader& header, const Hello& hello,
                          DatagramBatch& out, std::vector<HostEvent>& events) {
  if (!gate.greets(at, from)) return drop(DropReason::rate_limited);
  if (hello.protocol != protocol_version)
    return refuse(from, hello.nonce, RefuseReason::version,
                  "this server speaks protocol " + std::to_string(protocol_version) + ", the client " +
                      std::to_string(hello.protocol),
                  hello.name, out, events);
  if (const auto known = by_address.find(from); known != by_address.end()) {
    Session& old = sessions[known->second];
    if (old.nonce == hello.nonce) {
      // Our welcome was lost: say it again. Once it plays, a hello is only a late duplicate.
      if (old.state == SessionState::greeted) welcome(at, old, out);
      return;
    }
    if (at - old.heard_at < replace_after) return drop(DropReason::wrong_state);
    remove(old, "came back anew", events);
  }
  const auto count = per_host.find(counted_as(from));
  const bool too_many = count != per_host.end() && count->second >= config.clients_per_address_max;
  const bool too_often = !gate.may_come_again(at, from);
  if (!too_many && !too_often) make_room(from, events);
  // Full comes first: it is what a player can wait for, and where no limit an address is set both are met.
  Session* session = free_session();
  if (session == nullptr)
    return refuse(from, hello.nonce, RefuseReason::full,
                  "the server is full (" + std::to_string(sessions.size()) + " clients); try again later",
                  hello.name, out, events);
  if (too_many)
    return refuse(
        from, hello.nonce, RefuseReason::too_many_from_address,
        "this server takes " + std::to_string(config.clients_per_address_max) + " clients an address",
        hello.name, out, events);
  if (too_often)
    return refuse(from, hello.nonce, RefuseReason::too_many_from_address,
                  "too many come and go from your address; try again in a few seconds", hello.name, out,
                  events);

  const auto row = static_cast<std::uint32_t>(session - sessions.data());
  *session = Session{};
  session->began_at = at;
  take_seat(row);
  session->state = SessionState::greeted;
  session->address = from;
  session->connection = next_connection(row);
  session->nonce = hello.nonce;
  session->name = hello.name;
  session->heard_at = at;
  session->datagram_tokens = datagrams_burst;
  session->chat_tokens = chat_lines_burst;
  session->accepted = 1;
  (void)session->seen.accept(header.sequence);
  by_address[from] = row;
  by_connection[session->connection] = row;
  greeted.add(session->connection, limit_key(from));
  ++per_host[counted_as(from)];
  welcome(at, *session, out);
}

void Host::Impl::on_join(Session& session, const Join& join, DatagramBatch& out,
                         std::vector<HostEvent>& events) {
  if (session.state != SessionState::greeted) return;  // a repeat: the snapshots are its answer
  const std::span<const std::uint64_t> held(join.content.data(), join.content_count);
  for (const auto& map : world->setup().maps) {
    const std::uint64_t needed = map->content_hash();
    if (std::ranges::find(held, needed) != held.end()) continue;
    refuse(
        session.address, session.nonce, RefuseReason::content,
        make_printable("the client lacks map " + map->name() + "; start it with the WAD that the server uses",
                       reason_bytes_max),
        session.name, out, events);
    return remove(session, "", events);
  }
  for (const auto& prop : world->setup().props) {
    if (std::ranges::find(held, prop->content_hash()) != held.end()) continue;
    refuse(session.address, session.nonce, RefuseReason::content,
           make_printable("the client lacks prop " + prop->name() +
                              "; start it with the file that the server uses (--prop)",
                          reason_bytes_max),
           session.name, out, events);
    return remove(session, "", events);
  }
  session.state = SessionState::joining;
  greeted.remove(session.connection);
}

void Host::Impl::on_input(Session& session, const Input& input) {
  if (session.state != SessionState::playing) return;  // on its way before the first snapshot
  session.chat.seen(std::min(input.chat_seen, session.chat.newest()));
  const std::uint32_t next = next_tick();
  for (std::uint8_t i = 0; i < input.command_count; ++i) {
    // A command counts as lost only if no repeat of it came in time, so late repeats are no news.
    const InputVerdict verdict = session.input.add(input.newest_tick - i, input.commands[i], next);
    if (i == 0 && verdict == InputVerdict::late) ++status.inputs_late;
    if (i == 0 && verdict == InputVerdict::early) ++status.inputs_early;
  }
}

void Host::Impl::on_chat(Session& session, const Chat& chat, std::vector<HostEvent>& events) {
  if (session.state != SessionState::playing) return;
  if (chat.number != session.chat_taken + 1) return;  // a repeat of one already taken, or one too far ahead
  if (session.chat_tokens <= 0) return drop(DropReason::rate_limited);  // it will be repeated
  --session.chat_tokens;
  session.chat_taken = chat.number;
  events.push_back({HostEventKind::chat, session.address, session.connection, session.name, chat.text});
  tell_all(session.name, chat.text);
}

void Host::Impl::leave_world(Session& session, const std::string& why, SessionState then,
                             std::vector<HostEvent>& events) {
  const bool was_playing = session.state == SessionState::playing;
  session.state = then;
  if (!was_playing) return;
  if (fought_lately(session.player))
    lingering.push_back({session.player, number(world->tick()) + linger_ticks});
  else if (!config.defects.ghost || why != "timed out")
    leaves.push_back(session.player);
  session.player = EntityId{};
  events.push_back({HostEventKind::left, session.address, session.connection, session.name, why});
  if (!why.empty()) notices.left(session.name, why);
}

void Host::Impl::dismiss(Micros at, Session& session, DatagramBatch& out, std::vector<HostEvent>& events) {
  say_goodbye(session, GoodbyeReason::kicked, session.kicked_for, out);
  const std::string why = "kicked: " + session.kicked_for;
  // Over UDP the goodbye may get lost: whoever goes on talking hears it again. TCP delivers.
  if (session.address.transport == Transport::tcp) return remove(session, why, events);
  leave_world(session, why, SessionState::dismissed, events);
  session.heard_at = at;
}

void Host::Impl::remove(Session& session, const std::string& why, std::vector<HostEvent>& events) {
  // Who only said hello over UDP may have spoken in another's name: that address has not been here.
  const bool came = session.state != SessionState::greeted || session.address.transport == Transport::tcp;
  leave_world(session, why, SessionState::free, events);
  if (came) gate.note_stay(now, session.address, now - session.began_at);
  by_address.erase(session.address);
  by_connection.erase(session.connection);
  greeted.remove(session.connection);
  if (const auto it = per_host.find(counted_as(session.address)); it != per_host.end() && --it->second == 0)
    per_host.erase(it);
  leave_seat(static_cast<std::uint32_t>(&session - sessions.data()));
  session = Session{};
}

}  // namespace ashlar::server
