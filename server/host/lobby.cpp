#include "server/host/lobby.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "protocol/secure/open_packets.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

constexpr Micros greeted_timeout{5'000'000};
// Of who played in another world: its line may be as bad as it likes while the world is changed.
constexpr Micros moving_timeout{30'000'000};
/// Maps and props that are fetched take their time, but a place is not held for ever: at its quarter of the
/// usual budget a client gets all that may be offered in a ninth of it.
constexpr Micros fetch_timeout{600'000'000};
/// Nothing acknowledged for so long while there was more to be sent.
constexpr Micros slow_reader_timeout{5'000'000};
/// A client says something every two seconds, whatever it does.
constexpr Micros heard_lately{3'000'000};

/// Why a connection ended, as people read it in log and chat. A client says of itself only why it goes: what
/// else it names would read as the server's deed.
std::string readable(const Connection& connection) {
  const CloseReason reason = connection.close_reason();
  constexpr std::array own{SessionEnd::quit, SessionEnd::stopped, SessionEnd::lacks_content,
                           SessionEnd::unknown_terrain, SessionEnd::protocol};
  const auto end = session_end(reason);
  if (connection.closed_by_peer() && (!end || std::ranges::find(own, *end) == own.end()))
    return "closed by the client (" + std::to_string(static_cast<unsigned>(reason)) + ")";
  std::string text(end_name(reason));
  std::ranges::replace(text, '_', ' ');
  return text;
}

}  // namespace

Lobby::Lobby(const Rooms& rooms, const SecretKey& ids, secure::Entropy& entropy, const Defects& defects)
    : r_(rooms),
      ids_(ids, rooms.config.room),
      identity_(rooms.config.identity),
      challenge_(entropy.secret()),
      reset_key_(secure::reset_key(rooms.config.identity.secret)),
      poll_at_(rooms.sessions.capacity(), Micros::min()),
      defects_(defects) {}

void Lobby::link_ended(Micros now, const PeerAddress& peer, HostOutput& out) {
  if (Session* session = r_.sessions.find_link(peer)) go_away(now, *session, out);
}

void Lobby::send_away(Micros now, Session& session, SessionEnd reason, const std::string& text,
                      HostOutput& out) {
  session.connection->close(now, close_reason(reason), text);
  note_end(now, session, out);
}

/// Takes a session out whose connection is over, whoever ended it. `session` is empty afterwards.
void Lobby::note_end(Micros now, Session& session, HostOutput& out) {
  const ConnectionState state = session.connection->state();
  ASHLAR_ASSERT(state != ConnectionState::open);
  const CloseReason reason = session.connection->close_reason();
  if (state == ConnectionState::closed) return go_away(now, session, out);
  std::string why = readable(*session.connection);
  if (!session.connection->closed_by_peer() && !session.connection->close_text().empty() &&
      reason == close_reason(SessionEnd::kicked))
    why += ": " + session.connection->close_text();
  // The first of the reasons goes out before the body does.
  session.connection->poll(now, out.datagrams);
  if (session.address.transport == Transport::tcp)
    out.datagrams.add_closed(session.address);
  else
    r_.farewells.add(now, std::move(session.connection));
  remove(now, session, why, out);
}

/// Its connection broke off without a word. The body waits for its player, where there is one and that is
/// wanted.
void Lobby::go_away(Micros now, Session& session, HostOutput& out) {
  const bool over_tcp = session.address.transport == Transport::tcp;
  if (session.player == EntityId{0} || r_.config.away_grace == Micros{0} || defects_.no_grace)
    return remove(now, session, over_tcp ? "connection closed" : "timed out", out);
  out.events.push_back({HostEventKind::away, session.address, session.number, session.name, ""});
  step_aside(now, session);
}

/// Frees a session; its body, where it has one, is kept for its player. `session` is empty afterwards.
void Lobby::step_aside(Micros now, Session& session) {
  if (session.player != EntityId{0}) {
    AwayBodies::Body body;
    body.player = session.player;
    body.identity = session.identity;
    body.client = session.client;
    body.token_id = session.token_id;
    body.resume = session.resume;
    body.name = session.name;
    body.delta_yaw = session.delta_yaw;
    body.act_number_offset = session.edits.number_offset;
    // Its client holds these for said: they were acknowledged.
    body.lines = std::move(session.lines);
    for (std::vector<std::uint8_t> line; session.connection->take(StreamId::chat, line);)
      if (body.lines.size() < AwayBodies::lines_max)
        body.lines.push_back(line);
      else
        ++r_.status.chat_given_up;
    body.address = session.address;
    body.came_at = session.came_at;
    body.joined_at = session.joined_at;
    body.until = now + r_.config.away_grace;
    r_.away.add(std::move(body));
    r_.input.note_away(*r_.world, {session.player, true});
  }
  free_row(session);
}

/// `session` is empty afterwards.
void Lobby::free_row(Session& session) {
  r_.content.forget(r_.sessions.row_of(session));
  r_.sessions.close(session);
}

/// Its player does not come back to it. `body` is another one afterwards.
void Lobby::end_away(Micros now, AwayBodies::Body& body, const std::string& why, HostOutput& out) {
  note_gone(now, r_.away.take(body), why, out);
}

/// Likewise, once it waits no more.
void Lobby::note_gone(Micros now, const AwayBodies::Body& gone, const std::string& why, HostOutput& out) {
  leave_body(gone.player, gone.identity, !defects_.ghost);
  r_.gate.note_stay(now, gone.address, now - gone.came_at);
  out.events.push_back({HostEventKind::left, gone.address, gone.resume.own.number, gone.name, why});
  r_.chat.note_left(gone.name, why);
}

/// A body leaves in the next tick, or lingers after a fight.
void Lobby::leave_body(EntityId player, const Identity& identity, bool leaves) {
  ASHLAR_ASSERT(player != EntityId{0});
  if (r_.lingering.fought_lately(*r_.world, player) && r_.lingering.stay(*r_.world, player, identity))
    return r_.input.note_away(*r_.world, {player, true});
  if (leaves) r_.input.leave(player);
}

/// Where the session has a body it goes.
/// @param why  for log and chat
void Lobby::leave_world(Session& session, const std::string& why, HostOutput& out) {
  if (session.player == EntityId{0}) return;
  leave_body(session.player, session.identity,
             !defects_.ghost || (why != "timed out" && why != "connection closed"));
  session.player = EntityId{};
  out.events.push_back({HostEventKind::left, session.address, session.number, session.name, why});
  r_.chat.note_left(session.name, why);
}

/// Frees the session and its row; `session` is empty afterwards.
void Lobby::remove(Micros now, Session& session, const std::string& why, HostOutput& out) {
  leave_world(session, why, out);
  r_.gate.note_stay(now, session.address, now - session.came_at);
  free_row(session);
}

namespace {

void prefetch_poll(const Session& later) {
  if (later.connection) later.connection->prefetch_poll();
}

}  // namespace

void Lobby::poll(Micros now, HostOutput& out) {
  const std::span<const std::uint32_t> rows = r_.sessions.visit();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t row = rows[i];
    if (poll_at_[row] > now) continue;
    r_.sessions.fetch_ahead(rows, i, prefetch_poll);
    Session& session = r_.sessions[row];
    Connection& connection = *session.connection;
    poll_at_[row] = connection.next_poll_at();
    if (poll_at_[row] <= now) {
      connection.poll(now, out.datagrams);
      poll_at_[row] = connection.next_poll_at();
    }
    if (connection.state() != ConnectionState::open) {
      note_end(now, session, out);
    } else if (connection.address() != session.address && !defects_.moves_at_once) {
      r_.sessions.move(session, connection.address());
      ++r_.status.moved;
      (void)put_out(now, session, out);
    }
  }
  r_.farewells.poll(now, out.datagrams);
}

/// Over TCP what nobody reads piles up. It is there, as its client is heard, and has taken nothing for long
/// though there was more to be sent. Over UDP who takes nothing is not told more; whose link is dead is not
/// heard either.
bool Lobby::slow_reader(Micros now, Session& session) {
  const Connection& connection = *session.connection;
  const std::uint64_t acked = connection.unreliable_acked();
  if (acked != session.parts_acked || connection.unreliable_room() > 0) {
    session.parts_acked = acked;
    session.progress_at = now;
  }
  return session.address.transport == Transport::tcp && now - session.progress_at >= slow_reader_timeout &&
         now - connection.heard_at() < heard_lately;
}

/// Time counts while it is the client's turn: not while it waits for content that it asked for, nor while
/// parts of that are on their way. @return false: its time is over, and it was sent away
bool Lobby::joins_in_time(Micros now, Session& session, HostOutput& out) {
  if (r_.content.owes(r_.sessions.row_of(session)) || session.connection->queue_bytes(StreamId::bulk) > 0)
    session.answered_at = now;
  const char* late = nullptr;
  const bool moves = session.joined_at != Micros{0} && session.player == EntityId{0};
  if (moves && now - session.answered_at > moving_timeout)
    late = "no join came within 30 seconds of the change of world, or of what was fetched";
  else if (!moves && now - session.answered_at > greeted_timeout)
    late = "no join came within 5 seconds of the welcome, or of what was fetched";
  else if (now - session.began_at > fetch_timeout)
    late = "fetching maps and props took longer than 10 minutes";
  if (late == nullptr) return true;
  // Its client may not have heard of this session, and asks again as it did for this one.
  const bool unheard = now - session.connection->heard_at() >= heard_lately;
  if (session.player != EntityId{0} && unheard) {
    go_away(now, session, out);
    return false;
  }
  send_away(now, session, SessionEnd::protocol, late, out);
  return false;
}

std::optional<Refusal> Lobby::banned(const BanSuspect& who) const {
  const Ban* const ban = bans_ == nullptr ? nullptr : bans_->find(who, unix_s_);
  if (ban == nullptr) return std::nullopt;
  return Refusal{SessionEnd::banned, ban_text(*ban, unix_s_)};
}

/// @return true: it is banned, and was sent away
bool Lobby::put_out(Micros now, Session& session, HostOutput& out) {
  const auto ban = banned({session.client, session.token_id, session.address});
  if (!ban) return false;
  ++r_.status.refused(ban->reason);
  send_away(now, session, ban->reason, ban->text, out);
  return true;
}

void Lobby::set_bans(std::shared_ptr<const BanList> bans) {
  bans_ = std::move(bans);
  bans_changed_ = true;
}

void Lobby::end_banned_away() {
  for (AwayBodies::Body& body : r_.away.bodies())
    if (banned({body.client, body.token_id, body.address})) body.ended_for = "banned";
}

bool Lobby::keep(Micros now, Session& session, HostOutput& out) {
  session.note_fates(number(r_.world->tick()) + 1);
  if (!session.kicked_for.empty()) {
    send_away(now, session, SessionEnd::kicked, std::string(session.kicked_for), out);
    return false;
  }
  if (session.state == SessionState::greeted && !joins_in_time(now, session, out)) return false;
  if (slow_reader(now, session)) {
    send_away(now, session, SessionEnd::overload, "the client did not take what it was sent for 5 seconds",
              out);
    return false;
  }
  return session.state == SessionState::playing;
}

void Lobby::keep_house(Micros now, HostOutput& out) {
  const std::uint16_t tick_rate_hz = r_.world->setup().rules.tick_rate_hz;
  const bool second = r_.status.tick % tick_rate_hz == 0;
  const std::int32_t datagrams = datagrams_per_tick(tick_rate_hz);
  std::uint32_t playing = 0;
  const std::span<const std::uint32_t> rows = r_.sessions.visit();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    r_.sessions.fetch_ahead(rows, i, prefetch_poll);
    Session& session = r_.sessions[rows[i]];
    ASHLAR_ASSERT(session.state != SessionState::free);
    const std::uint64_t packets = session.connection->packets_sent();
    const auto acks = static_cast<std::int32_t>((packets - session.packets_paid) / ack_packets);
    session.packets_paid += static_cast<std::uint64_t>(acks) * ack_packets;
    session.calls_this_tick = 0;
    session.datagram_tokens = std::min(session.datagram_tokens + datagrams + acks, datagrams_burst);
    if (bans_changed_ && put_out(now, session, out)) continue;
    if (second) session.chat_tokens = std::min(session.chat_tokens + 1, chat_lines_burst);
    if (keep(now, session, out)) ++playing;
  }
  if (std::exchange(bans_changed_, false)) end_banned_away();
  if (!defects_.waits_for_ever)
    r_.away.take_due(now, [&](const AwayBodies::Body& gone) {
      note_gone(now, gone, gone.ended_for.empty() ? "away too long" : gone.ended_for, out);
    });
  r_.status.clients = playing;
  r_.status.away = r_.away.count();
}

void Lobby::change_world(Micros now) {
  r_.away.clear();
  r_.status.away = r_.status.clients = 0;
  for (const std::uint32_t row : r_.sessions.seated()) {
    Session& session = r_.sessions[row];
    session.player = EntityId{};
    session.delta_yaw = session.yaw_given = Turn16{0};
    session.blocks->reset();
    session.began_at = session.answered_at = now;
    ++session.world;  // over 255 to 0
    r_.sessions.greet_again(session);
    // What was said of the old world is void, whether it arrived or not.
    for (const StreamId stream : {StreamId::control, StreamId::events, StreamId::edits, StreamId::bulk})
      session.connection->reset(stream);
    welcome(session);
  }
  note_activity_of_all();
}

std::uint32_t Lobby::kick_away(const std::string& name, const std::string& reason) {
  std::uint32_t count = 0;
  for (AwayBodies::Body& body : r_.away.bodies()) {
    if (body.name != name) continue;
    body.ended_for = "kicked: " + reason;
    ++count;
  }
  return count;
}

void Lobby::shut_down(Micros now, const std::string& reason, DatagramBatch& out) {
  HostOutput unheard;
  std::swap(unheard.datagrams, out);
  for (const std::uint32_t row : r_.sessions.visit())
    send_away(now, r_.sessions[row], SessionEnd::shutting_down, reason, unheard);
  std::swap(unheard.datagrams, out);
  ASHLAR_ASSERT(r_.sessions.size() == 0);
  r_.status.clients = 0;
}

}  // namespace ashlar::server
