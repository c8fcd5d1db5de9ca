#include "server/host/host.h"

#include <algorithm>
#include <utility>

#include "protocol/recording.h"
#include "server/host/chat_room.h"
#include "server/host/chunk_loader.h"
#include "server/host/control_sender.h"
#include "server/host/gate.h"
#include "server/host/inbox.h"
#include "server/host/lingering.h"
#include "server/host/lobby.h"
#include "server/host/publisher.h"
#include "server/host/session_table.h"
#include "server/host/tick_input.h"
#include "server/host/tick_schedule.h"
#include "world/math/assert.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

std::uint32_t ticks_in(Micros time, std::uint16_t tick_rate_hz) {
  return static_cast<std::uint32_t>(time.count() * tick_rate_hz / 1'000'000);
}

HostConfig checked(const HostConfig& config, const World* world) {
  ASHLAR_ASSERT(world != nullptr);
  const Rules& rules = world->setup().rules;
  ASHLAR_ASSERT(config.clients_max >= 1 && config.clients_max <= world->setup().players_max);
  ASHLAR_ASSERT(config.clients_max < 65536);
  ASHLAR_ASSERT(config.fight_linger >= Micros{0});
  ASHLAR_ASSERT(config.snapshot_every_ticks >= 1);
  ASHLAR_ASSERT(config.snapshot_every_ticks <= rules.tick_rate_hz);
  ASHLAR_ASSERT(config.snapshot_bytes_max >= snapshot_parts_least * datagram_bytes_max);
  ASHLAR_ASSERT(config.snapshot_bytes_max <= snapshot_parts_max * datagram_bytes_max);
  return config;
}

}  // namespace

/// The rooms, and the order in which a tick goes through them. What each does is in its own file.
struct Host::Impl {
  Impl(const HostConfig& given, std::unique_ptr<World> a_world, const SecretKey& secret,
       const Defects& defects)
      : config(checked(given, a_world.get())),
        world(std::move(a_world)),
        sessions(config.clients_max),
        gate(secret, config.clients_per_address_max, config.rejoins_per_minute),
        schedule(world->setup().rules.tick_rate_hz),
        sender(status),
        chat(sessions, sender, status, defects),
        lingering(world->setup().players_max, config.clients_max,
                  ticks_in(config.fight_linger, world->setup().rules.tick_rate_hz)),
        input(config.clients_max, defects),
        lobby(rooms(), secret, defects),
        inbox(rooms(), lobby, defects),
        publisher(
            {config.snapshot_every_ticks, config.interest_radius_m, config.snapshot_bytes_max, defects}) {
    status.monsters = world->monster_count();
    status.world_hash = world->hash();
  }

  Lobby::Rooms rooms() { return {*world, config, sessions, gate, sender, chat, lingering, input, status}; }

  void run_tick(Micros now, HostOutput& out);
  void step(const TickInput& next);
  void publish(Micros now, DatagramBatch& out);
  /// Nanoseconds; always 0 without HostConfig::stopwatch_ns.
  std::uint64_t stopwatch() const { return config.stopwatch_ns != nullptr ? config.stopwatch_ns() : 0; }
  void note_phase(Phase phase, std::uint64_t ns);  ///< last, longest and sum of a phase, in the status

  HostConfig config;
  HostStatus status;
  std::unique_ptr<World> world;
  SessionTable sessions;
  Gate gate;
  TickSchedule schedule;
  ControlSender sender;
  ChatRoom chat;
  LingeringBodies lingering;
  TickInputCollector input;
  ChunkLoader ground;
  Lobby lobby;
  Inbox inbox;
  Publisher publisher;
  TickSink* sink = nullptr;
  TickRecord record;
  Micros now{0};
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
  status.tick = number(world->tick());
  status.world_hash = world->hash();
  status.monsters = world->monster_count();
  status.recovered = world->counters().recoveries;
  status.stuck = world->counters().stuck;
}

void Host::Impl::publish(Micros at, DatagramBatch& out) {
  const PublishCounters before = publisher.counters();
  publisher.publish(*world, sessions.rows(), sessions.seated(), at, out);
  const PublishCounters& told = publisher.counters();
  status.datagrams_out += told.datagrams - before.datagrams;
  status.bytes_out += told.bytes - before.bytes;
  status.snapshots_cut = told.snapshots_cut;
  status.snapshot_wait_ticks = told.wait_ticks;
  status.snapshot_wait_ticks_max = told.wait_ticks_max;
}

void Host::Impl::run_tick(Micros at, HostOutput& out) {
  const std::uint64_t begun = stopwatch();
  input.collect(*world, sessions, lingering, ground, out.ground_requests);
  status.ground = ground.counters();
  status.lingering = lingering.count();

  const TickInput next = input.input();
  if (sink != nullptr) record.assign(next);
  const std::uint64_t collected = stopwatch();
  step(next);
  const std::uint64_t stepped = stopwatch();
  note_phase(Phase::step, stepped - collected);
  if (sink != nullptr) {
    record.hash = world->hash();
    sink->on_tick(record);
  }
  input.stepped(*world, sessions);
  lobby.settle_joins(at, out);
  lingering.note_fights(*world, sessions);

  if (status.tick % config.snapshot_every_ticks == 0) publish(at, out.datagrams);
  const std::uint64_t published = stopwatch();
  note_phase(Phase::publish, published - stepped);
  gate.next_tick();
  status.gate = gate.counters();
  lobby.keep_house(at, out);
  chat.send(at, out.datagrams);
  note_phase(Phase::housekeeping, stopwatch() - published + (collected - begun));
}

Host::Host(const HostConfig& config, std::unique_ptr<World> world, const SecretKey& secret,
           const Defects& defects)
    : impl_(std::make_unique<Impl>(config, std::move(world), secret, defects)) {}
Host::~Host() = default;

void Host::advance(Micros now, HostInput& in, HostOutput& out) {
  Impl& h = *impl_;
  h.now = now;
  if (h.closed) return h.inbox.ignore(in.datagrams);
  const std::uint64_t before = h.stopwatch();
  h.inbox.receive(now, in.datagrams, out);
  h.ground.take(in.ground);
  h.note_phase(Phase::receive, h.stopwatch() - before);
  const bool due = h.schedule.take(now);
  h.status.ticks_late = h.schedule.late();
  h.status.ticks_skipped = h.schedule.skipped();
  if (due) h.run_tick(now, out);
}

void Host::note_adapter(std::uint64_t poll_ns, std::uint64_t send_ns) {
  impl_->note_phase(Phase::poll, poll_ns);
  impl_->note_phase(Phase::send, send_ns);
}

void Host::shut_down(const std::string& reason, DatagramBatch& out) {
  impl_->lobby.shut_down(impl_->now, reason, out);
  impl_->closed = true;
}

bool Host::has_session(const PeerAddress& peer) const {
  return std::as_const(impl_->sessions).find(peer) != nullptr;
}

std::uint32_t Host::free_places() const {
  const std::uint32_t taken = impl_->sessions.size() + impl_->lingering.count();
  return taken >= impl_->sessions.capacity() ? 0 : impl_->sessions.capacity() - taken;
}

void Host::admin(const AdminCommand& command) { impl_->input.admin(command); }

std::uint32_t Host::set_noclip(const std::string& name, bool on) {
  std::uint32_t count = 0;
  for (const Session& session : impl_->sessions.rows()) {
    if (session.state != SessionState::playing || session.name != name) continue;
    admin({on ? AdminAction::noclip_on : AdminAction::noclip_off, session.player, {}});
    ++count;
  }
  return count;
}

std::uint32_t Host::kick(const std::string& name, const std::string& reason) {
  ASHLAR_ASSERT(!reason.empty());
  std::uint32_t count = 0;
  for (Session& session : impl_->sessions.rows()) {
    if (session.state != SessionState::playing || session.name != name) continue;
    session.kicked_for = reason;
    ++count;
  }
  return count;
}

void Host::say(const std::string& text) { impl_->chat.say("", text); }

namespace {

double missing_share(std::uint64_t there, std::uint64_t of) {
  return there >= of ? 0 : static_cast<double>(of - there) / static_cast<double>(of);
}

}  // namespace

std::vector<PlayerInfo> Host::players() const {
  std::vector<PlayerInfo> playing;
  for (const Session& session : std::as_const(impl_->sessions).rows())
    if (session.state == SessionState::playing)
      playing.push_back({session.name, session.address, session.connection, session.joined_at, session.rtt,
                         missing_share(session.accepted, session.seen.highest()),
                         missing_share(session.acked, session.told)});
  return playing;
}

void Host::audit(HostAudit& out) const {
  const SessionTable& sessions = impl_->sessions;
  out.sessions.clear();
  out.counted_by_address = 0;
  for (const std::uint32_t number : sessions.seated()) {
    const Session& session = sessions[number];
    SessionAudit& row = out.sessions.emplace_back();
    row.address = session.address;
    row.connection = session.connection;
    row.nonce = session.nonce;
    row.player = session.player;
    row.playing = session.state == SessionState::playing;
    row.delta_yaw = session.delta_yaw;
    row.accepted = session.accepted;
    row.chat_waiting = session.chat.size();
    row.chat_given_up = session.chat.given_up();
    if (sessions.find(session.address) == &session) ++out.counted_by_address;
  }
  out.addresses = sessions.address_rows();
  out.hosts = sessions.host_rows();
  out.leaves_waiting = impl_->input.leaves_waiting();
  out.admin_waiting = impl_->input.admin_waiting();
  out.lingering = impl_->lingering.count();
  out.extra_columns = impl_->ground.extra_columns();
}

void Host::set_sink(TickSink* sink) { impl_->sink = sink; }
void Host::set_message_of_the_day(const std::string& text) { impl_->config.message_of_the_day = text; }
Micros Host::next_tick_at() const { return impl_->schedule.next_at(); }
const HostStatus& Host::status() const { return impl_->status; }
const World& Host::world() const { return *impl_->world; }

}  // namespace ashlar::server
