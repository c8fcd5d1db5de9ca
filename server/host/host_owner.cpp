#include <algorithm>
#include <utility>

#include "server/host/host.h"
#include "server/host/host_impl.h"
#include "world/math/assert.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

// What the owner of a Host asks of it and is told; how it runs is in host.cpp.

namespace ashlar::server {

const secure::PublicKey& Host::identity() const { return impl_->config.identity.open; }

bool Host::has_session(const PeerAddress& link) const {
  return std::as_const(impl_->sessions).find_link(link) != nullptr;
}

std::uint32_t Host::free_places() const {
  const std::uint32_t taken = impl_->sessions.size() + impl_->lingering.count() + impl_->away.count();
  return taken >= impl_->sessions.capacity() ? 0 : impl_->sessions.capacity() - taken;
}

void Host::learn_changes(std::span<const AppliedEdit> changes) { impl_->edits.learn(changes); }

void Host::remember(const KeptPlayer& player) { impl_->book.remember(player); }
std::span<const KeptPlayer> Host::changed_players() const { return impl_->book.changed(); }

std::vector<KeptPlayer> Host::present_players() const { return impl_->book.present(); }
void Host::author_of(EntityId id, EditAuthor& out) const { impl_->book.author_of(id, out); }
void Host::note_saving(std::uint32_t saved_tick, bool room, std::int64_t operator_blocks) {
  const Defects& defects = impl_->defects;
  impl_->edits.note_saving(defects.early_saved ? impl_->status.tick : saved_tick,
                           room || defects.no_refusals);
  impl_->ground.note_saved(saved_tick);
  impl_->input.allow_admin_blocks(operator_blocks);
}

void Host::admin(const AdminCommand& command) { impl_->input.admin(command); }
void Host::tell(std::uint32_t connection, std::string_view text) {
  Session* const session = impl_->sessions.find(connection);
  if (session != nullptr && session->state == SessionState::playing) impl_->chat.tell(*session, text);
}

EntityId Host::player_of(std::uint32_t connection) const {
  const Session* const session = impl_->sessions.find(connection);
  return session != nullptr && session->state == SessionState::playing ? session->player : EntityId{0};
}

bool Host::admin_waits() const { return impl_->input.admin_waiting() > 0; }

namespace {

/// Calls visit(session) for all who play by that name. @return how many
template <class Visit>
std::uint32_t each_named(SessionTable& sessions, const std::string& name, Visit&& visit) {
  std::uint32_t count = 0;
  for (const std::uint32_t row : sessions.seated()) {
    const Session& session = sessions[row];
    if (session.state != SessionState::playing || session.name != name) continue;
    visit(sessions[row]);
    ++count;
  }
  return count;
}

}  // namespace

std::uint32_t Host::set_noclip(const std::string& name, bool on) {
  return each_named(impl_->sessions, name, [&](const Session& session) {
    admin({on ? AdminAction::noclip_on : AdminAction::noclip_off, session.player, {}});
  });
}

std::uint32_t Host::set_watching(const std::string& name, bool on) {
  return each_named(impl_->sessions, name, [&](const Session& session) {
    admin({on ? AdminAction::spectate : AdminAction::play, session.player, {}});
  });
}

Host::Gift Host::give(const std::string& name, BlockId kind, std::uint16_t items) {
  Gift out;
  if (kind == BlockId::air || !world().setup().blocks->knows(kind) || items == 0) return out;
  out.players = each_named(impl_->sessions, name, [&](const Session& session) {
    if (!world().players().has(session.player)) return;
    Inventory held = world().players().inventory[slot_of(session.player)];
    out.items += static_cast<std::uint32_t>(items - held.add({kind, items}));
    AdminCommand gift;
    gift.action = AdminAction::give;
    gift.player = session.player;
    gift.id = kind;
    gift.count = items;
    admin(gift);
  });
  return out;
}

void Host::set_observer(Observer* observer) {
  impl_->observer = observer;
  impl_->publisher.set_observer(observer);
}

std::uint32_t Host::kick(const std::string& name, const std::string& reason) {
  ASHLAR_ASSERT(!reason.empty());
  const std::uint32_t count =
      each_named(impl_->sessions, name, [&](Session& session) { session.kicked_for = reason; });
  return count + impl_->lobby.kick_away(name, reason);
}

std::uint32_t Host::away() const { return impl_->away.count(); }

void Host::set_bans(std::shared_ptr<const BanList> bans) { impl_->lobby.set_bans(std::move(bans)); }

void Host::say(const std::string& text) { impl_->chat.say("", text); }

namespace {

/// Of parts that add up to the whole; 0 of nothing.
double share(std::uint64_t part, std::uint64_t others) {
  const std::uint64_t whole = part + others;
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

PlayerInfo info_of(const Session& session) {
  const ConnectionCounters counters = session.connection->counters();
  PlayerInfo info;
  info.name = session.name;
  info.key = session.client;
  info.token_id = session.token_id;
  info.peer = session.address;
  info.connection = session.number;
  info.joined_at = session.joined_at;
  info.rtt = session.connection->status().rtt;
  const std::uint64_t missing = session.newest_sequence - std::min(session.newest_sequence, session.accepted);
  info.loss_in = share(missing, session.accepted);
  info.loss_out = share(counters.unreliable_lost, counters.unreliable_acked);
  return info;
}

}  // namespace

std::vector<PlayerInfo> Host::players() const {
  std::vector<PlayerInfo> playing;
  for (const Session& session : std::as_const(impl_->sessions).rows())
    if (session.state == SessionState::playing) playing.push_back(info_of(session));
  return playing;
}

std::vector<PlayerInfo> Host::away_players() const {
  std::vector<PlayerInfo> away;
  for (const AwayBodies::Body& body : impl_->away.bodies()) {
    PlayerInfo& info = away.emplace_back();
    info.name = body.name;
    info.key = body.client;
    info.token_id = body.token_id;
    info.peer = body.address;
    info.connection = body.resume.own.number;
    info.joined_at = body.joined_at;
  }
  return away;
}

bool Host::public_blocks(ChunkCoord at, std::span<BlockId> out) const {
  const Chunk* const chunk = impl_->world->space().voxels->find(at);
  if (chunk == nullptr) return false;
  chunk->copy_blocks(out);
  const PackRequest how = pack_request(*impl_->world, impl_->edits.log(), at, 0);
  if (how.hides) hide_blocks(out, how.shown, *how.kinds);
  return true;
}

namespace {

std::size_t memory_of(const Session& session) {
  return sizeof session + session.connection->memory_bytes() + session.blocks->memory_bytes();
}

}  // namespace

ClientMemory Host::client_memory() const {
  ClientMemory out;
  for (const std::uint32_t number : impl_->sessions.seated()) {
    const Session& session = impl_->sessions[number];
    const std::size_t streams = session.connection->stream_memory_bytes();
    const std::size_t beside = memory_of(session) - streams;
    out.most = std::max(out.most, beside);
    out.sum += beside;
    out.streams += streams;
  }
  return out;
}

void Host::audit(HostAudit& out) const {
  const SessionTable& sessions = impl_->sessions;
  out.sessions.clear();
  for (const std::uint32_t number : sessions.seated()) {
    const Session& session = sessions[number];
    SessionAudit& row = out.sessions.emplace_back();
    row.address = session.address;
    row.connection = session.number;
    row.client = session.client;
    row.player = session.player;
    row.playing = session.state == SessionState::playing;
    row.delta_yaw = session.delta_yaw;
    row.accepted = session.accepted;
    row.chat_bytes_waiting = session.connection->status().queue_bytes[ashlar::row(StreamId::chat)];
    row.memory_bytes = memory_of(session);
    row.stream_bytes = session.connection->stream_memory_bytes();
    row.streams_ground = session.ground.streams;
    row.ground_settled = row.playing && session.ground.streams && session.ground.gone.empty() &&
                         session.connection->queue_bytes(StreamId::bulk) == 0 &&
                         session.connection->queue_bytes(StreamId::edits) == 0;
    row.rekeys = session.connection->counters().rekeys;
    row.congested = session.congested;
  }
  out.links = sessions.link_rows();
  out.identities = sessions.identity_rows();
  out.hosts = sessions.host_rows();
  out.leaves_waiting = impl_->input.leaves_waiting();
  out.admin_waiting = impl_->input.admin_waiting();
  out.lingering = impl_->lingering.count();
  out.away = impl_->away.count();
  out.farewells = impl_->farewells.count();
  out.extra_columns = impl_->ground.extra_columns();
  impl_->book.count_away(out.items_away);
}

void Host::set_sink(TickSink* sink) { impl_->sink = sink; }
void Host::set_message_of_the_day(const std::string& text) { impl_->config.message_of_the_day = text; }
Micros Host::next_tick_at() const { return impl_->schedule.next_at(); }
const HostStatus& Host::status() const { return impl_->status; }
const World& Host::world() const { return *impl_->world; }

}  // namespace ashlar::server
