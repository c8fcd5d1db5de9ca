#include "server/host/lobby.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "protocol/text.h"
#include "protocol/version.h"
#include "server/host/welcome_content.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

constexpr Micros greeted_timeout{5'000'000};
constexpr Micros playing_timeout{10'000'000};
/// How long a kicked client is told again when it goes on talking: its goodbye was lost.
constexpr Micros dismissed_timeout{1'000'000};

/// What a client lacks to build the world, in a line; nothing: it holds everything.
std::optional<std::string> lacking(const WorldSetup& setup, std::span<const std::uint64_t> held) {
  const auto lacks = [&](std::uint64_t hash) { return std::ranges::find(held, hash) == held.end(); };
  for (const auto& map : setup.maps)
    if (lacks(map->content_hash()))
      return "the client lacks map " + map->name() + "; start it with the WAD that the server uses";
  for (const auto& prop : setup.props)
    if (lacks(prop->content_hash()))
      return "the client lacks prop " + prop->name() +
             "; start it with the file that the server uses (--prop)";
  return std::nullopt;
}

const char* name_of(LeaveReason reason) {
  static constexpr const char* reasons[] = {"quit", "stopped", "other version", "lacks content", "timed out"};
  const auto i = static_cast<std::size_t>(reason);
  return i < std::size(reasons) ? reasons[i] : "quit";
}

}  // namespace

Lobby::Lobby(const Rooms& rooms, const SecretKey& secret, const Defects& defects)
    : r_(rooms), ids_(secret, rooms.config.room), defects_(defects) {}

// --- how they come ---

namespace {

/// Put together part by part: g++ 14 sees a sum of texts written beyond its end.
std::string version_text(std::uint32_t theirs) {
  std::string text = "this server speaks protocol ";
  text += std::to_string(protocol_version);
  text += ", the client ";
  text += std::to_string(theirs);
  return text;
}

}  // namespace

void Lobby::hello(Micros now, const PeerAddress& from, const PacketHeader& header, const Hello& hello,
                  HostOutput& out) {
  switch (r_.gate.read(now, from, hello, r_.sessions)) {
    case HelloKind::unread: return r_.status.drop(DropReason::rate_limited);
    case HelloKind::address_taken: return r_.status.drop(DropReason::wrong_state);
    case HelloKind::other_version:
      return refuse(now, from, hello.nonce, {RefuseReason::version, version_text(hello.protocol)}, hello.name,
                    out);
    case HelloKind::repeated: {
      // Our welcome was lost: say it again. Once it plays, a hello is only a late duplicate.
      Session& known = *r_.sessions.find(from);
      if (known.state == SessionState::greeted) welcome(now, known, out.datagrams);
      return;
    }
    case HelloKind::comes_anew: remove(now, *r_.sessions.find(from), "came back anew", out); break;
    case HelloKind::fresh: break;
  }
  const Admission admission = r_.gate.admit(now, from, r_.sessions, r_.lingering.count());
  if (admission.gives_way != 0) {
    ++r_.status.greeted_displaced;
    remove(now, *r_.sessions.find(admission.gives_way), "", out);
  }
  if (admission.refusal) return refuse(now, from, hello.nonce, *admission.refusal, hello.name, out);
  begin(now, from, header, hello, out.datagrams);
}

std::uint32_t Lobby::new_connection() {
  if (defects_.reuse_id) return 1u << 16 | r_.sessions.free_row();
  std::uint32_t id = ids_.draw();
  while (r_.sessions.find(id) != nullptr) id = ids_.draw();
  return id;
}

void Lobby::begin(Micros now, const PeerAddress& from, const PacketHeader& header, const Hello& hello,
                  DatagramBatch& out) {
  Session& session = r_.sessions.open(from, new_connection());
  session.began_at = now;
  session.nonce = hello.nonce;
  session.name = hello.name;
  session.heard_at = now;
  session.datagram_tokens = datagrams_burst;
  session.chat_tokens = chat_lines_burst;
  session.accepted = 1;
  (void)session.seen.accept(header.sequence);
  welcome(now, session, out);
}

/// Tells the session what to build its world from; the message of the day is cut to motd_bytes_max.
void Lobby::welcome(Micros now, Session& session, DatagramBatch& out) {
  ASHLAR_ASSERT(session.state == SessionState::greeted);
  const WorldSetup& setup = r_.world.setup();
  Welcome message;
  message.nonce = session.nonce;
  message.connection = session.connection;
  message.seed = setup.seed;
  message.tick = number(r_.world.tick());
  message.snapshot_every_ticks = r_.config.snapshot_every_ticks;
  message.rules = setup.rules;
  add_content(setup, message);
  message.motd = make_printable(r_.config.message_of_the_day, motd_bytes_max);
  r_.sender.send(session, message, now, out);
}

void Lobby::join(Micros now, Session& session, const Join& join, HostOutput& out) {
  if (session.state != SessionState::greeted) return;  // a repeat: the snapshots are its answer
  const auto lack = lacking(r_.world.setup(), std::span(join.content.data(), join.content_count));
  if (!lack) return r_.sessions.begin_join(session);
  refuse(now, session.address, session.nonce,
         {RefuseReason::content, make_printable(*lack, reason_bytes_max)}, session.name, out);
  remove(now, session, "", out);
}

void Lobby::settle_joins(Micros now, HostOutput& out) {
  for (const Joined& joined : r_.world.joined()) {
    Session& session = r_.sessions[joined.token];
    ASHLAR_ASSERT(session.state == SessionState::joining);
    if (joined.id == EntityId{0}) {
      // Cannot be while clients_max <= players_max; refuse rather than trust it.
      refuse(now, session.address, session.nonce, {RefuseReason::full, "the world has no free place"},
             session.name, out);
      remove(now, session, "", out);
      continue;
    }
    session.player = joined.id;
    session.joined_at = session.heard_at;
    session.state = SessionState::playing;
    session.input = InputBuffer{r_.world.setup().rules.tick_rate_hz};
    // It has not turned yet and looks as it was put down.
    session.delta_yaw = r_.world.players().yaw[slot_of(joined.id)];
    if (session.address.transport == Transport::tcp) out.datagrams.add_admitted(session.address);
    out.events.push_back({HostEventKind::joined, session.address, session.connection, session.name, ""});
    r_.chat.note_joined(session.name);
  }
}

void Lobby::refuse(Micros now, const PeerAddress& to, std::uint64_t nonce, const Admission::Refusal& refusal,
                   const std::string& player, HostOutput& out) {
  if (to.transport == Transport::tcp) out.datagrams.add_closed(to);
  if (!r_.gate.refuses(now, to)) return r_.status.drop(DropReason::rate_limited);
  PacketHeader header;
  header.sequence = 1;
  put_nonce(header, nonce);
  Refuse message;
  message.nonce = nonce;
  message.reason = refusal.reason;
  message.text = refusal.text;
  out.events.push_back({HostEventKind::refused, to, 0, player, message.text});
  r_.sender.send(to, header, message, out.datagrams);
}

// --- how they go ---

void Lobby::leave(Micros now, Session& session, const Leave& leave, HostOutput& out) {
  r_.sender.goodbye(session, GoodbyeReason::left, "", now, out.datagrams);
  remove(now, session, name_of(leave.reason), out);
}

void Lobby::connection_closed(Micros now, const PeerAddress& peer, HostOutput& out) {
  if (Session* session = r_.sessions.find(peer)) remove(now, *session, "connection closed", out);
}

/// Puts the session into state `then`. Where it played the body leaves in the next tick, or lingers after a
/// fight.
/// @param why  for log and chat; empty: nobody is told in chat
void Lobby::leave_world(Session& session, const std::string& why, SessionState then, HostOutput& out) {
  const bool was_playing = session.state == SessionState::playing;
  session.state = then;
  if (!was_playing) return;
  ASHLAR_ASSERT(session.player != EntityId{0});
  if (r_.lingering.fought_lately(r_.world, session.player))
    r_.lingering.stay(r_.world, session.player);
  else if (!defects_.ghost || why != "timed out")
    r_.input.leave(session.player);
  session.player = EntityId{};
  out.events.push_back({HostEventKind::left, session.address, session.connection, session.name, why});
  if (!why.empty()) r_.chat.note_left(session.name, why);
}

/// Tells a session in kicked_for why it goes and takes it out of the world. Over UDP it stays for a while,
/// dismissed, to be told again: whoever goes on talking hears it. TCP delivers.
void Lobby::dismiss(Micros now, Session& session, HostOutput& out) {
  ASHLAR_ASSERT(!session.kicked_for.empty());
  r_.sender.goodbye(session, GoodbyeReason::kicked, session.kicked_for, now, out.datagrams);
  const std::string why = "kicked: " + session.kicked_for;
  if (session.address.transport == Transport::tcp) return remove(now, session, why, out);
  leave_world(session, why, SessionState::dismissed, out);
  session.heard_at = now;
}

/// Frees the session and its row; `session` is empty afterwards.
void Lobby::remove(Micros now, Session& session, const std::string& why, HostOutput& out) {
  // Who only said hello over UDP may have spoken in another's name: that address has not been here.
  const bool came = session.state != SessionState::greeted || session.address.transport == Transport::tcp;
  leave_world(session, why, SessionState::free, out);
  if (came) r_.gate.note_stay(now, session.address, now - session.began_at);
  r_.sessions.close(session);
}

bool Lobby::keep(Micros now, Session& session, HostOutput& out) {
  if (session.state == SessionState::dismissed) {
    if (now - session.heard_at > dismissed_timeout) remove(now, session, "", out);
    return false;
  }
  if (!session.kicked_for.empty()) {
    dismiss(now, session, out);
    return false;
  }
  const Micros limit = session.state == SessionState::greeted ? greeted_timeout : playing_timeout;
  if (now - session.heard_at <= limit) return session.state == SessionState::playing;
  // Who never joined may have spoken in another's name: that one is told nothing more. TCP has to close.
  if (session.state != SessionState::greeted || session.address.transport == Transport::tcp)
    r_.sender.goodbye(session, GoodbyeReason::timeout, "nothing heard for too long", now, out.datagrams);
  remove(now, session, "timed out", out);
  return false;
}

void Lobby::keep_house(Micros now, HostOutput& out) {
  const bool second = r_.status.tick % r_.world.setup().rules.tick_rate_hz == 0;
  std::uint32_t playing = 0;
  for (const std::uint32_t row : r_.sessions.visit()) {
    Session& session = r_.sessions[row];
    ASHLAR_ASSERT(session.state != SessionState::free);
    session.datagram_tokens = std::min(session.datagram_tokens + datagrams_per_tick, datagrams_burst);
    if (second) session.chat_tokens = std::min(session.chat_tokens + 1, chat_lines_burst);
    if (keep(now, session, out)) ++playing;
  }
  r_.status.clients = playing;
}

void Lobby::shut_down(Micros now, const std::string& reason, DatagramBatch& out) {
  HostOutput unheard;
  for (const std::uint32_t row : r_.sessions.visit()) {
    Session& session = r_.sessions[row];
    r_.sender.goodbye(session, GoodbyeReason::shutting_down, reason, now, out);
    remove(now, session, "", unheard);
  }
  ASHLAR_ASSERT(r_.sessions.size() == 0);
  r_.status.clients = 0;
}

}  // namespace ashlar::server
