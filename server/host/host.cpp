#include "server/host/host.h"

#include <algorithm>
#include <utility>

#include "protocol/recording.h"
#include "protocol/secure/key_derivation.h"
#include "protocol/secure/seeded_entropy.h"
#include "server/host/away_bodies.h"
#include "server/host/bulk_streams.h"
#include "server/host/chat_room.h"
#include "server/host/chunk_loader.h"
#include "server/host/content_room.h"
#include "server/host/contents_room.h"
#include "server/host/door_keeper.h"
#include "server/host/early_sender.h"
#include "server/host/edit_room.h"
#include "server/host/farewells.h"
#include "server/host/fight_room.h"
#include "server/host/game_message_room.h"
#include "server/host/gate.h"
#include "server/host/ground_room.h"
#include "server/host/host_keys.h"
#include "server/host/inbox.h"
#include "server/host/inventory_room.h"
#include "server/host/lingering.h"
#include "server/host/lobby.h"
#include "server/host/overload.h"
#include "server/host/player_book.h"
#include "server/host/publisher.h"
#include "server/host/score_room.h"
#include "server/host/session_table.h"
#include "server/host/tick_input.h"
#include "server/host/tick_schedule.h"
#include "world/math/assert.h"
#include "world/sim/observer.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

std::uint32_t ticks_in(Micros time, std::uint16_t tick_rate_hz) {
  return static_cast<std::uint32_t>(time.count() * tick_rate_hz / 1'000'000);
}

/// Of Hosts on one port: each has its own randomness and the same identity.
secure::SeededEntropy entropy_of(const secure::Secret& seed, std::uint8_t room) {
  return secure::SeededEntropy(secure::expand(seed, "room", {&room, 1}));
}

/// Places for connections that say why they end: those of a full server that is emptied at once.
std::size_t farewells_max(std::uint32_t clients_max) { return 64 + std::size_t{clients_max}; }

HostConfig checked(const HostConfig& config, const World* world, const secure::Secret& seed) {
  ASHLAR_ASSERT(world != nullptr);
  const Rules& rules = world->setup().rules;
  ASHLAR_ASSERT(config.clients_max >= 1 && config.clients_max <= world->setup().players_max);
  ASHLAR_ASSERT(config.clients_max < 65536);
  ASHLAR_ASSERT(config.fight_linger >= Micros{0});
  ASHLAR_ASSERT(config.snapshot_every_ticks >= 1);
  ASHLAR_ASSERT(config.snapshot_every_ticks <= rules.tick_rate_hz);
  ASHLAR_ASSERT(config.snapshot_bytes_max >= snapshot_parts_least * datagram_bytes_max);
  ASHLAR_ASSERT(config.snapshot_bytes_max <= snapshot_parts_max * datagram_bytes_max);
  ASHLAR_ASSERT(config.client_bytes_per_s >= snapshot_rate_least);
  ASHLAR_ASSERT(config.away_grace >= Micros{0});
  HostConfig whole = config;
  if (whole.content == nullptr) {
    whole.content = std::make_shared<const ContentShelf>();
    whole.content_bytes_per_s = 0;
  }
  if (config.identity.open == secure::PublicKey{})
    whole.identity = secure::key_pair(secure::expand(seed, "identity"));
  return whole;
}

}  // namespace

/// The rooms, and the order in which a tick goes through them. What each does is in its own file.
struct Host::Impl {
  Impl(const HostConfig& given, std::unique_ptr<World> a_world, const secure::Secret& seed,
       const Defects& wrong)
      : config(checked(given, a_world.get(), seed)),
        defects(wrong),
        world(std::move(a_world)),
        entropy(entropy_of(seed, config.room)),
        sessions(config.clients_max),
        gate(hash_key(seed, "gate", config.room), config.clients_per_address_max, config.rejoins_per_minute),
        schedule(world->setup().rules.tick_rate_hz),
        overload(world->setup().rules.tick_rate_hz),
        chat(sessions, status, defects),
        edits(sessions, status, config.interest_radius_m, config.ores_seen_m),
        fights(sessions),
        inventories(sessions),
        contents(sessions, config.interest_radius_m),
        book(world->setup().players_max, world->setup().rules.tick_rate_hz,
             {given.return_to_place, given.return_with_life}, given.players_away_max),
        scores(sessions, status),
        messages(sessions),
        content(*config.content, config.content_bytes_per_s, config.clients_max, defects),
        bulk(sessions),
        lingering(world->setup().players_max, config.clients_max,
                  ticks_in(config.fight_linger, world->setup().rules.tick_rate_hz)),
        away(config.clients_max),
        farewells(farewells_max(config.clients_max)),
        input(config.clients_max, defects),
        stream(sessions, status),
        lobby(rooms(), connection_key(seed), entropy, defects),
        door(config, entropy, gate, lobby, status),
        inbox(rooms(), lobby, door, defects),
        publisher({config.snapshot_every_ticks, config.interest_radius_m, config.snapshot_bytes_max,
                   config.client_bytes_per_s, config.sight_culling, defects}) {
    note_world();
  }

  Lobby::Rooms rooms() {
    return {world, config, sessions, gate, chat, content, stream, lingering, away, farewells, input, status};
  }

  void run_tick(Micros now, HostOutput& out);
  void bring_back();
  void take_verdicts(HostOutput& out);
  void step(const TickInput& next);
  void note_world();  ///< what the status tells of it
  bool tick_due(Micros now);
  Micros publish(Micros now, HostOutput& out);
  class CountedSender;
  void count_out(const DatagramBatch& out);
  /// Nanoseconds; always 0 without HostConfig::stopwatch_ns.
  std::uint64_t stopwatch() const { return config.stopwatch_ns != nullptr ? config.stopwatch_ns() : 0; }
  void note_phase(Phase phase, std::uint64_t ns);  ///< last, longest and sum of a phase, in the status

  HostConfig config;
  Defects defects;
  HostStatus status;
  std::unique_ptr<World> world;
  secure::SeededEntropy entropy;
  SessionTable sessions;
  Gate gate;
  TickSchedule schedule;
  OverloadLadder overload;
  ChatRoom chat;
  EditRoom edits;
  FightRoom fights;
  InventoryRoom inventories;
  ContentsRoom contents;
  PlayerBook book;
  ScoreRoom scores;
  GameMessageRoom messages;
  ContentRoom content;
  BulkStreams bulk;
  LingeringBodies lingering;
  AwayBodies away;
  Farewells farewells;
  TickInputCollector input;
  ChunkLoader ground;
  GroundRoom stream;
  Lobby lobby;
  DoorKeeper door;
  Inbox inbox;
  Publisher publisher;
  TickSink* sink = nullptr;
  Observer* observer = nullptr;
  TickRecord record;
  Micros now{0};
  std::size_t counted = 0;          // of the batch that is being filled: those in the status
  std::uint64_t sent_early_ns = 0;  // in the present turn
  bool closed = false;
};

void Host::Impl::note_phase(Phase phase, std::uint64_t ns) {
  const auto i = static_cast<std::size_t>(phase);
  status.phase_ns_last[i] = ns;
  status.phase_ns_max[i] = std::max(status.phase_ns_max[i], ns);
  status.phase_ns_sum[i] += ns;
}

/// The world, and what the status tells of it.
void Host::Impl::step(const TickInput& next) {
  const std::uint32_t before = number(world->tick());
  world->step(next);
  ASHLAR_ASSERT(number(world->tick()) == before + 1);
  note_world();
}

void Host::Impl::note_world() {
  status.tick = number(world->tick());
  status.world_hash = world->hash();
  status.monsters = world->monster_count();
  status.recovered = world->counters().recoveries;
  status.stuck = world->counters().stuck;
}

/// Counts what goes early, and the time that it takes.
class Host::Impl::CountedSender : public EarlySender {
 public:
  CountedSender(Impl& host, EarlySender* sender) : host_(host), sender_(sender) {}
  Micros send(DatagramBatch& datagrams) override {
    host_.count_out(datagrams);
    const std::uint64_t begun = host_.stopwatch();
    const Micros now = sender_->send(datagrams);
    host_.sent_early_ns += host_.stopwatch() - begun;
    host_.counted = datagrams.entries().size();
    return now;
  }

 private:
  Impl& host_;
  EarlySender* sender_;
};

/// @return when it was done
Micros Host::Impl::publish(Micros at, HostOutput& out) {
  CountedSender sender(*this, out.early);
  const Micros done = publisher.publish(*world, sessions.rows(), sessions.seated(), at, out.datagrams,
                                        out.early == nullptr ? nullptr : &sender);
  const PublishCounters& told = publisher.counters();
  status.snapshots_congested = told.snapshots_congested;
  status.snapshots_cut = told.snapshots_cut;
  status.sights_computed = told.sights_computed;
  status.sights_beyond = told.sights_beyond;
  status.snapshots_spared = told.snapshots_spared;
  status.snapshot_wait_ticks = told.wait_ticks;
  status.snapshot_wait_ticks_max = told.wait_ticks_max;
  return done;
}

/// How late it is decides what is left out.
bool Host::Impl::tick_due(Micros at) {
  const std::uint64_t late_before = schedule.late();
  const bool due = schedule.take(at);
  status.ticks_late = schedule.late();
  status.ticks_skipped = schedule.skipped();
  if (!due) return false;
  std::uint64_t last_ns = 0;
  for (const std::uint64_t ns : status.phase_ns_last) last_ns += ns;
  const double busy = static_cast<double>(last_ns) * world->setup().rules.tick_rate_hz / 1e9;
  overload.observe(at, schedule.late() != late_before, busy, config.cpu_ns != nullptr ? config.cpu_ns() : 0);
  status.overload_starved = overload.starved();
  schedule.set_catch_up(overload.rung() != OverloadRung::slow_tick);
  publisher.set_overload(overload.rung());
  status.overload_rung = static_cast<std::uint8_t>(overload.rung());
  status.overload_climbs = overload.climbs();
  return true;
}

/// What was appended since it was counted last.
void Host::Impl::count_out(const DatagramBatch& out) {
  for (const DatagramBatch::Entry& entry : out.entries().subspan(counted)) {
    ++status.datagrams_out;
    status.bytes_out += entry.size;
  }
  counted = out.entries().size();
}

void Host::Impl::take_verdicts(HostOutput& out) {
  while (const auto verdict = observer->take_verdict())
    for (const std::uint32_t row : sessions.seated()) {
      Session& session = sessions[row];
      if (session.state != SessionState::playing || session.player != verdict->player) continue;
      out.events.push_back(
          {HostEventKind::flagged, session.address, session.number, session.name, verdict->reason});
      if (verdict->kick) session.kicked_for = verdict->reason;
    }
}

/// Who joined and was here before goes to where it was, with the next tick, and looks as it did. What stands
/// there now is recovery's.
void Host::Impl::bring_back() {
  for (const Arrival& arrival : book.arrivals()) {
    AdminCommand there;
    there.action = AdminAction::teleport;
    there.player = arrival.player;
    there.position_m = arrival.position_m;
    input.admin(there);
    sessions[arrival.session].delta_yaw = arrival.yaw;
  }
}

void Host::Impl::run_tick(Micros at, HostOutput& out) {
  const std::uint64_t begun = stopwatch();
  book.collect(*world, sessions, lingering, input);
  input.collect(*world, sessions, lingering, ground, out.ground_requests, publisher.frames());
  status.ground = ground.counters();
  status.lingering = lingering.count();

  edits.collect(at, *world);
  TickInput next = input.input();
  next.acts = edits.due();
  next.returning = book.returning();
  if (sink != nullptr) record.assign(next);
  const std::uint64_t collected = stopwatch();
  if (observer != nullptr) observe_input(*observer, *world, next);
  step(next);
  if (observer != nullptr) observe_step(*observer, *world);
  const std::uint64_t stepped = stopwatch();
  note_phase(Phase::step, stepped - collected);
  publisher.stepped(*world);
  if (sink != nullptr) {
    record.hash = world->hash();
    sink->on_tick(record);
  }
  input.stepped(*world, sessions);
  book.stepped(*world, sessions);
  lobby.settle_joins(at, out);
  bring_back();
  lingering.note_fights(*world, sessions);
  ground.note_edits(world->applied_edits(), number(world->tick()));
  edits.learn(ground.entering_changes());
  edits.publish(*world);
  stream.publish(*world, edits.log(), out.pack_requests);
  fights.publish(*world, publisher);
  inventories.publish(*world);
  contents.publish(*world);
  scores.publish(*world);
  messages.publish(*world);
  status.game_messages_missed = messages.missed();

  if (status.tick % config.snapshot_every_ticks == 0) now = at = publish(at, out);
  const std::uint64_t published = stopwatch();
  note_phase(Phase::publish, published - stepped - sent_early_ns);
  gate.next_tick();
  status.gate = gate.counters();
  lobby.keep_house(at, out);
  if (observer != nullptr) take_verdicts(out);
  chat.advance(at, input, out);
  content.tick(at, bulk);
  status.content = content.counters();
  lobby.note_activity_of_all();
  lobby.poll(at, out);
  note_phase(Phase::housekeeping, stopwatch() - published + (collected - begun));
}

Host::Host(const HostConfig& config, std::unique_ptr<World> world, const secure::Secret& seed,
           const Defects& defects)
    : impl_(std::make_unique<Impl>(config, std::move(world), seed, defects)) {}
Host::~Host() = default;

void Host::advance(Micros now, HostInput& in, HostOutput& out) {
  Impl& h = *impl_;
  h.now = now;
  h.counted = out.datagrams.entries().size();
  h.sent_early_ns = 0;
  if (h.closed) {
    h.inbox.ignore(now, in.datagrams);
    h.farewells.poll(now, out.datagrams);
    return h.count_out(out.datagrams);
  }
  const std::uint64_t before = h.stopwatch();
  h.door.advance(now);
  h.lobby.set_time_of_day(in.unix_s);
  h.inbox.receive(now, in, out);
  h.ground.take(in.ground);
  h.stream.take(in.packed);
  h.note_phase(Phase::receive, h.stopwatch() - before);
  if (h.tick_due(now))
    h.run_tick(now, out);
  else
    h.lobby.poll(now, out);
  h.count_out(out.datagrams);
}

void Host::change_world(std::unique_ptr<World> world, std::shared_ptr<const ContentShelf> content) {
  Impl& h = *impl_;
  if (h.closed) return;
  (void)checked(h.config, world.get(), secure::Secret{});
  const WorldSetup& setup = world->setup();
  h.world = std::move(world);
  if (content != nullptr) h.config.content = std::move(content);
  h.content.begin_world(*h.config.content);
  h.schedule.begin_again(setup.rules.tick_rate_hz);
  h.overload.begin_again(setup.rules.tick_rate_hz);
  h.lingering = LingeringBodies(setup.players_max, h.config.clients_max,
                                ticks_in(h.config.fight_linger, setup.rules.tick_rate_hz));
  h.input.begin_world();
  h.ground.begin_world();
  h.publisher.begin_world();
  h.edits.begin_world();
  h.stream.begin_world();
  h.book.begin_world(setup.players_max);
  h.lobby.change_world(h.now);
  h.note_world();
}

void Host::note_adapter(std::uint64_t poll_ns, std::uint64_t send_ns) {
  impl_->note_phase(Phase::poll, poll_ns);
  impl_->note_phase(Phase::send, send_ns + impl_->sent_early_ns);
}

void Host::shut_down(const std::string& reason, DatagramBatch& out) {
  impl_->counted = out.entries().size();
  impl_->lobby.shut_down(impl_->now, reason, out);
  impl_->count_out(out);
  impl_->closed = true;
}

bool Host::silent() const { return !impl_->farewells.talking(); }

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

std::uint32_t Host::set_noclip(const std::string& name, bool on) {
  std::uint32_t count = 0;
  for (const Session& session : impl_->sessions.rows()) {
    if (session.state != SessionState::playing || session.name != name) continue;
    admin({on ? AdminAction::noclip_on : AdminAction::noclip_off, session.player, {}});
    ++count;
  }
  return count;
}

std::uint32_t Host::set_watching(const std::string& name, bool on) {
  std::uint32_t count = 0;
  for (const Session& session : impl_->sessions.rows()) {
    if (session.state != SessionState::playing || session.name != name) continue;
    admin({on ? AdminAction::spectate : AdminAction::play, session.player, {}});
    ++count;
  }
  return count;
}

std::uint32_t Host::give(const std::string& name, BlockId kind, std::uint16_t items) {
  std::uint32_t count = 0;
  for (const Session& session : impl_->sessions.rows()) {
    if (session.state != SessionState::playing || session.name != name) continue;
    AdminCommand gift;
    gift.action = AdminAction::give;
    gift.player = session.player;
    gift.id = kind;
    gift.count = items;
    admin(gift);
    ++count;
  }
  return count;
}

void Host::set_observer(Observer* observer) {
  impl_->observer = observer;
  impl_->publisher.set_observer(observer);
}

std::uint32_t Host::kick(const std::string& name, const std::string& reason) {
  ASHLAR_ASSERT(!reason.empty());
  std::uint32_t count = 0;
  for (Session& session : impl_->sessions.rows()) {
    if (session.state != SessionState::playing || session.name != name) continue;
    session.kicked_for = reason;
    ++count;
  }
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
