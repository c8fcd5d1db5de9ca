#include <algorithm>
#include <span>
#include <utility>

#include "protocol/decode.h"
#include "protocol/replication_codec.h"
#include "protocol/secure/connect_token.h"
#include "protocol/secure/key_derivation.h"
#include "protocol/secure/open_packets.h"
#include "protocol/secure/resumption.h"
#include "protocol/text.h"
#include "server/host/lobby.h"
#include "server/host/welcome_content.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"
#include "world/math/assert.h"
#include "world/sim/block_acts.h"
#include "world/sim/game_replication.h"
#include "world/sim/kinds.h"
#include "world/sim/world.h"
#include "world/voxel/terrain.h"

namespace ashlar::server {
namespace {

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

/// A token's fault as it is told. The enumerators of both stand in the same order.
Refusal token_refusal(secure::TokenError error) {
  constexpr std::array ends{
      SessionEnd::token_malformed,     SessionEnd::token_truncated,      SessionEnd::token_wrong_version,
      SessionEnd::token_bad_signature, SessionEnd::token_unknown_issuer, SessionEnd::token_expired,
      SessionEnd::token_not_yet,       SessionEnd::token_other_client,   SessionEnd::token_other_server};
  static_assert(ends.size() == secure::token_error_count);
  constexpr std::array texts{
      "the connect token is none; get a new one from the operator",
      "the connect token is cut off; copy all of it",
      "the connect token is of another version; get a new one from the operator",
      "the connect token's signature is wrong; copy it again, or get a new one from the operator",
      "this server does not know who signed the connect token; get one for this server",
      "the connect token has expired; get a new one from the operator",
      "the connect token is not valid yet; try again later, or set the clock right",
      "the connect token belongs to another player's key; use the key that it was made for",
      "the connect token is for other servers; get one for this server"};
  static_assert(texts.size() == secure::token_error_count);
  const auto i = static_cast<std::size_t>(error);
  ASHLAR_ASSERT(i < ends.size());
  return {ends[i], texts[i]};
}

/// By which a body that stood still goes on to look where it looked: without delta_yaw, as commands are.
InputBuffer standing_input(const World& world, const Session& session) {
  const std::uint32_t rate_hz = world.setup().rules.tick_rate_hz;
  const int row = world.player_row(session.player);
  if (row < 0) return InputBuffer{rate_hz};
  const auto at = static_cast<std::size_t>(row);
  return InputBuffer{rate_hz, world.players().yaw[at] - session.delta_yaw, world.players().pitch[at]};
}

}  // namespace

std::expected<Lobby::Guest, Refusal> Lobby::know(std::int64_t unix_s,
                                                 const secure::Accepted& accepted) const {
  auto message = decode_client_message(accepted.payload);
  if (!message && message.error() == DropReason::bad_text) {
    // Piece by piece: g++ 14 takes a sum of texts here for one that runs over its end.
    std::string why = "names have 1 to ";
    why += std::to_string(player_name_chars_max);
    why += " printable characters and no space at either end";
    return std::unexpected(Refusal{SessionEnd::bad_name, std::move(why)});
  }
  Hello* const hello = message ? std::get_if<Hello>(&*message) : nullptr;
  if (hello == nullptr)
    return std::unexpected(Refusal{SessionEnd::bad_hello, "the client's hello is none of this version"});
  Guest guest{std::move(*hello), accepted.client.bytes, {}};
  if (r_.config.access == Access::open) return guest;

  if (guest.hello.token.empty())
    return std::unexpected(
        Refusal{SessionEnd::token_missing, "this server wants a connect token; get one from its operator"});
  const auto claims = secure::verify_token(guest.hello.token, unix_s, accepted.client, identity_.open,
                                           r_.config.token_issuers);
  if (!claims) return std::unexpected(token_refusal(claims.error()));
  guest.hello.name = claims->name;
  guest.token_id = claims->id;
  guest.identity = secure::sha256({secure::bytes_of("ashlar token id"), secure::bytes_of(claims->id)});
  return guest;
}

/// The body that a guest proves to have left, taken out of those who are away: its session may have ended
/// without the server's knowing, or may not have ended at all, when the client came over another link.
std::optional<AwayBodies::Body> Lobby::resume(Micros now, const PeerAddress& from, const Guest& guest,
                                              const secure::Accepted& accepted, HostOutput& out) {
  const std::uint32_t number = guest.hello.resume;
  if (number == 0) return std::nullopt;
  Session* const session = r_.sessions.find_resumable(number);
  AwayBodies::Body* body = session == nullptr ? r_.away.find(number) : nullptr;
  if (session == nullptr && body == nullptr)
    return std::nullopt;  // the server was started again, or time is over
  const bool same = guest.identity == (session != nullptr ? session->identity : body->identity);
  const ResumeKey key = *(session != nullptr ? session->resume : body->resume).find(number);
  const bool proven = same && secure::resume_proof_ok(key.secret, accepted.binding, guest.hello.resume_proof);
  if (!proven && !defects_.unproven_resume) {
    ++r_.status.resume_refused;
    return std::nullopt;
  }
  // It stays as it is, and waits for him: the gate turns him away for now.
  if (!r_.gate.may_come_back(now, from, guest.identity)) return std::nullopt;
  if (session != nullptr) {
    // Whoever is at its old end is this client: it needs no word there.
    if (session->address.transport == Transport::tcp) out.datagrams.add_closed(session->address);
    const bool plays = session->player != EntityId{0};
    step_aside(Micros{0}, *session);
    if (!plays) return std::nullopt;
    body = r_.away.find(number);
  }
  AwayBodies::Body taken = r_.away.take(*body);
  taken.resume = {key, {}};  // what its client holds
  return taken;
}

/// Whom the gate lets in finds a place, and the same player's earlier session is over. Who is turned away
/// costs nobody anything.
std::optional<Refusal> Lobby::make_room(Micros now, const PeerAddress& from, const Guest& guest,
                                        HostOutput& out) {
  Session* const earlier = r_.sessions.find_identity(guest.identity);
  AwayBodies::Body* const body = r_.away.find_identity(guest.identity);
  // Who fought lately would linger: whoever took his place would find none in the world.
  const auto gives_way = [&](const AwayBodies::Body& away) {
    return away.identity != guest.identity && !r_.lingering.fought_lately(*r_.world, away.player);
  };
  const auto give_way = static_cast<std::uint32_t>(std::ranges::count_if(r_.away.bodies(), gives_way));
  // What the same player has in the world counts as gone, though it fought lately: should it linger, this one
  // goes on with it, or it has left before this one joins.
  const std::uint32_t others = r_.away.count() - (body == nullptr ? 0 : 1);
  const std::uint32_t stay = r_.lingering.count() + others - give_way;
  const Admission admission = r_.gate.admit(now, from, r_.sessions, stay, give_way, earlier);
  if (admission.refusal) return admission.refusal;
  if (earlier != nullptr)
    send_away(now, *earlier, SessionEnd::replaced, "the same player came in by another connection", out);
  if (body != nullptr) end_away(now, *body, "replaced", out);
  if (admission.away_gives_way) end_away(now, *r_.away.oldest(gives_way), "its place was given away", out);
  if (admission.gives_way != 0) {
    ++r_.status.greeted_displaced;
    send_away(now, *r_.sessions.find(admission.gives_way), SessionEnd::full,
              "others came who joined sooner; try again", out);
  }
  return std::nullopt;
}

bool Lobby::arrive(Micros now, std::int64_t unix_s, const PeerAddress& from, const secure::Accepted& accepted,
                   HostOutput& out) {
  auto guest = know(unix_s, accepted);
  if (!guest) {
    refuse(now, from, accepted, guest.error(), "", out);
    return false;
  }
  // Before any earlier session is looked for: whoever is banned does not come back to its body either.
  if (const auto ban = banned({accepted.client, guest->token_id, from})) {
    refuse(now, from, accepted, *ban, guest->hello.name, out);
    return false;
  }
  // Held back on its way while its client made another handshake: it would end the session that came of that.
  if (const Session* const newer = r_.sessions.find_identity(guest->identity);
      newer != nullptr && newer->door_slot > accepted.slot) {
    r_.status.drop(DropReason::too_old);
    return true;
  }
  auto body = resume(now, from, *guest, accepted, out);
  if (!body) {
    if (const auto refusal = make_room(now, from, *guest, out)) {
      refuse(now, from, accepted, *refusal, guest->hello.name, out);
      return false;
    }
  }
  // Who comes back to its body had a place all the time.
  Session& session = begin(now, from, accepted, std::move(*guest));
  if (body) take_back(session, std::move(*body));
  welcome(session);
  return true;
}

/// A connection that says nothing but why it ends. It weighs no more than the finish that it answers.
void Lobby::refuse(Micros now, const PeerAddress& to, const secure::Accepted& accepted,
                   const Refusal& refusal, const std::string& player, HostOutput& out) {
  ++r_.status.refused(refusal.reason);
  out.events.push_back({HostEventKind::refused, to, 0, player, refusal.text});
  const auto connection = connect(now, to, accepted.session.keys(new_number()));
  connection->close(now, close_reason(refusal.reason), refusal.text);
  connection->poll(now, out.datagrams);
  if (to.transport == Transport::tcp) out.datagrams.add_closed(to);
}

std::uint32_t Lobby::new_number() {
  if (defects_.reuse_id) return 1u << 16 | r_.sessions.free_row();
  std::uint32_t number = ids_.draw();
  while (r_.sessions.find(number) != nullptr || r_.farewells.holds(number)) number = ids_.draw();
  return number;
}

std::unique_ptr<Connection> Lobby::connect(Micros now, const PeerAddress& peer,
                                           const secure::SessionKeys& keys) const {
  ConnectionSettings settings;
  settings.end = secure::End::server;
  settings.reliable_link = peer.transport == Transport::tcp;
  settings.peer_may_move = !settings.reliable_link;
  settings.receive_windows = server_stream_windows;
  settings.key_age = r_.config.key_age;
  return std::make_unique<Connection>(settings, keys, peer, challenge_, now);
}

Session& Lobby::begin(Micros now, const PeerAddress& from, const secure::Accepted& accepted, Guest guest) {
  const std::uint32_t number = new_number();
  const secure::SessionKeys keys = accepted.session.keys(number);
  Session& session = r_.sessions.open(from, number, guest.identity);
  session.connection = connect(now, from, keys);
  note_activity(session);
  session.client = accepted.client;
  session.admin = std::ranges::find(r_.config.admins, accepted.client) != r_.config.admins.end();
  session.token_id = std::move(guest.token_id);
  session.door_slot = accepted.slot;
  session.resume.own = {number, keys.resumption};
  session.name = std::move(guest.hello.name);
  session.encoding = guest.hello.takes_packed ? SnapshotEncoding::packed : SnapshotEncoding::plain;
  session.blocks = std::make_unique<ClientBlocks>();
  session.came_at = session.began_at = session.answered_at = session.progress_at = now;
  session.datagram_tokens = datagrams_burst;
  session.chat_tokens = 1;  // the rest comes with time, so that coming anew is no way to say more
  return session;
}

void Lobby::take_back(Session& session, AwayBodies::Body body) {
  r_.sessions.keep_place(session);
  session.resume.earlier = body.resume.own;
  session.player = body.player;
  session.name = std::move(body.name);
  session.delta_yaw = body.delta_yaw;
  session.edits.number_offset = body.act_number_offset;
  session.lines = std::move(body.lines);
  session.came_at = body.came_at;
  session.joined_at = body.joined_at;
}

/// Tells the session what to build its world from; the message of the day is cut to motd_bytes_max.
void Lobby::welcome(Session& session) {
  ASHLAR_ASSERT(session.state == SessionState::greeted);
  const WorldSetup& setup = r_.world->setup();
  Welcome message;
  message.reset_token = secure::reset_token(reset_key_, session.number);
  message.resumed = session.player != EntityId{0};
  message.world = session.world;
  message.seed = setup.seed;
  message.terrain = static_cast<std::uint8_t>(setup.terrain);
  message.generator = terrain_generator;
  message.blocks_hash = setup.blocks->hash();
  if (setup.kinds) message.kind_bodies = kind_bodies_of(*setup.kinds);
  message.bare = setup.secret.has_value();
  const auto& replication = r_.world->replication().registry();
  message.replication_hash = replication_hash(*replication);
  message.columns = r_.world->columns();
  message.tick = number(r_.world->tick());
  message.snapshot_every_ticks = r_.config.snapshot_every_ticks;
  message.rules = setup.rules;
  message.zones = setup.zones;
  message.age_ticks = setup.age_ticks;
  add_content(setup, message);
  message.motd = make_printable(r_.config.message_of_the_day, motd_bytes_max);
  // Nothing waits in front of a first welcome; a client that takes none for so long gets no further world.
  const auto say = [&](const auto& what) {
    const SendResult sent = session.connection->send(StreamId::control, writer_.write(what));
    ASHLAR_ASSERT(sent != SendResult::too_long);
  };
  say(message);
  // Whose player is in the world knows them.
  if (message.resumed) return;
  say(BlockKinds{setup.blocks, session.world});
  const KindSet& kinds = r_.world->monsters().kind_set();
  say(WeaponKinds{kinds.weapons, kinds.ammo, session.world});
  if (auto shows = kind_shows_of(kinds); !shows.empty()) say(MonsterShows{std::move(shows), session.world});
  say(ReplicatedKinds{replication, session.world});
}

void Lobby::give_content(Micros now, const Session& session, const ContentRequest& request) {
  r_.content.ask(now, r_.sessions.row_of(session), request);
}

void Lobby::join(Micros now, Session& session, const Join& join, HostOutput& out) {
  // A join that was on its way when the session was welcomed to another world is none for this one.
  if (session.state != SessionState::greeted || join.world != session.world)
    return r_.status.drop(DropReason::wrong_state);
  if (const auto lack = lacking(r_.world->setup(), join.content)) {
    ++r_.status.refused(SessionEnd::content);
    return session.connection->close(now, close_reason(SessionEnd::content), *lack);
  }
  r_.stream.join(session, join);
  session.watches = join.watches;
  r_.sessions.leave_greeted(session, SessionState::joining);
  if (session.player == EntityId{0}) return back_to_fight(now, session, out);
  ++r_.status.resumed;
  session.input = standing_input(*r_.world, session);
  session.picture.reset();
  note_back(session);
  play(session, HostEventKind::returned, out);
}

/// Leaving is no escape, and neither is coming in anew: whose body lingers goes on with that one, where it
/// stands and as hurt as it is, though its client was welcomed as one that joins and builds the world. Who
/// has none joins.
void Lobby::back_to_fight(Micros now, Session& session, HostOutput& out) {
  session.player = r_.lingering.take(*r_.world, session.identity);
  if (session.player == EntityId{0}) return;
  const std::size_t row = slot_of(session.player);
  const PlayerTable& players = r_.world->players();
  session.joined_at = now;
  // Its client has not turned yet, and looks as the body does.
  session.delta_yaw = players.yaw[row];
  session.input = standing_input(*r_.world, session);
  session.picture.reset();
  // Its client counts its acts from 1 again.
  session.edits.number_offset = r_.world->block_acts().player(row).last_number;
  // As a player may by a line of chat, in a fight or not.
  const bool watches = players.role[row] == PlayerRole::watches;
  if (session.watches != watches && players.role[row] != PlayerRole::out)
    r_.input.admin({session.watches ? AdminAction::spectate : AdminAction::play, session.player, {}});
  note_back(session);
  play(session, HostEventKind::joined, out);
  r_.chat.note_joined(session.name);
}

/// Its player commands the body again that it has had all the time.
void Lobby::note_back(const Session& session) {
  r_.input.note_away(*r_.world, {session.player, false, PlayerName(session.name)});
}

/// It is in the world from now on.
void Lobby::play(Session& session, HostEventKind how, HostOutput& out) {
  session.state = SessionState::playing;
  if (session.address.transport == Transport::tcp) out.datagrams.add_admitted(session.address);
  out.events.push_back({how, session.address, session.number, session.name, "", session.client});
}

void Lobby::settle_joins(Micros now, HostOutput& out) {
  for (const Joined& joined : r_.world->joined()) {
    Session& session = r_.sessions[joined.token];
    ASHLAR_ASSERT(session.state == SessionState::joining);
    if (joined.id == EntityId{0}) {
      // Cannot be while clients_max <= players_max; refuse rather than trust it.
      send_away(now, session, SessionEnd::full, "the world has no free place", out);
      continue;
    }
    session.player = joined.id;
    session.joined_at = now;
    session.input = InputBuffer{r_.world->setup().rules.tick_rate_hz};
    session.picture.reset();
    // It has not turned yet and looks as it was put down.
    session.delta_yaw = r_.world->players().yaw[slot_of(joined.id)];
    play(session, HostEventKind::joined, out);
    r_.chat.note_joined(session.name);
  }
}

}  // namespace ashlar::server
