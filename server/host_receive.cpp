// What clients say. Nothing here trusts a byte: packets and messages are decoded and range-checked by
// protocol, and what makes no sense in a session's state is counted and dropped.

#include <algorithm>

#include "protocol/decode.h"
#include "protocol/text.h"
#include "protocol/version.h"
#include "server/host_impl.h"
#include "server/net/address.h"
#include "world/bsp/placement.h"
#include "world/mesh/prop.h"

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
  const std::size_t row = connection & 0xffffu;
  if (row >= sessions.size()) return nullptr;
  Session& session = sessions[row];
  return session.state != SessionState::free && session.connection == connection ? &session : nullptr;
}

std::uint32_t Host::Impl::next_connection(std::uint32_t row) {
  // An odd step visits all 65536 salts before one comes again, from a place that nobody can know.
  std::uint32_t& salt = salts[row];
  do salt = (salt + 0x9e37u) & 0xffffu;
  while (salt == 0);
  return (config.defects.reuse_id ? 1u : salt) << 16 | row;  // never 0
}

Session* Host::Impl::free_session() {
  const auto it = std::ranges::find(sessions, SessionState::free, &Session::state);
  return it == sessions.end() ? nullptr : &*it;
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
    if (packet.error() == DropReason::wrong_version && bytes.size() == datagram_bytes_max &&
        greetings_left > 0) {
      --greetings_left;
      refuse(from, 0, RefuseReason::version,
             "this server speaks protocol " + std::to_string(protocol_version) +
                 "; use a client of that version",
             "", out, events);
    }
    return;
  }
  const PacketHeader& header = packet->header;
  Session* session = nullptr;
  if (header.connection != 0) {
    session = session_of(header.connection);
    if (session == nullptr) return drop(DropReason::unknown_connection);
    if (session->address != from) return drop(DropReason::wrong_address);
    if (session->datagram_tokens <= 0) return drop(DropReason::rate_limited);
    --session->datagram_tokens;
    if (session->state == SessionState::dismissed)
      return say_goodbye(*session, GoodbyeReason::kicked, session->kicked_for, out);
  }
  const auto message = decode_client_message(packet->payload);
  if (!message) return drop(message.error());

  if (const auto* hello = std::get_if<Hello>(&*message)) {
    if (session != nullptr) return drop(DropReason::wrong_state);
    return on_hello(at, from, header, *hello, out, events);
  }
  if (session == nullptr) return drop(DropReason::wrong_state);
  // Only now, after the message proved sound: garbage must not move the window.
  if (const auto fresh = session->seen.accept(header.sequence); !fresh && !config.defects.replay_window)
    return drop(fresh.error());
  if (const auto acked = session->sent.acknowledge(header, at); !acked) return drop(acked.error());
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

void Host::Impl::on_hello(Micros at, const PeerAddress& from, const PacketHeader& header, const Hello& hello,
                          DatagramBatch& out, std::vector<HostEvent>& events) {
  if (greetings_left == 0) return drop(DropReason::rate_limited);
  --greetings_left;
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
  // Full comes first: it is what a player can wait for, and where no limit an address is set both are met.
  Session* session = free_session();
  if (session == nullptr)
    return refuse(from, hello.nonce, RefuseReason::full,
                  "the server is full (" + std::to_string(sessions.size()) + " clients); try again later",
                  hello.name, out, events);
  const auto count = per_host.find(counted_as(from));
  if (count != per_host.end() && count->second >= config.clients_per_address_max)
    return refuse(
        from, hello.nonce, RefuseReason::too_many_from_address,
        "this server takes " + std::to_string(config.clients_per_address_max) + " clients an address",
        hello.name, out, events);

  const auto row = static_cast<std::uint32_t>(session - sessions.data());
  *session = Session{};
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
  if (!config.defects.ghost || why != "timed out") leaves.push_back(session.player);
  session.player = EntityId{};
  events.push_back({HostEventKind::left, session.address, session.connection, session.name, why});
  if (!why.empty()) tell_all("", session.name + " left (" + why + ")");
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
  leave_world(session, why, SessionState::free, events);
  by_address.erase(session.address);
  if (const auto it = per_host.find(counted_as(session.address)); it != per_host.end() && --it->second == 0)
    per_host.erase(it);
  leave_seat(static_cast<std::uint32_t>(&session - sessions.data()));
  session = Session{};
}

}  // namespace ashlar::server
