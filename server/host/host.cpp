#include "server/host/host.h"

#include <algorithm>
#include <cstring>

#include "server/host/host_impl.h"
#include "world/math/assert.h"
#include "world/sim/shooting.h"
#include "world/voxel/chunk.h"

namespace ashlar::server {
namespace {

/// Each so many ticks behind, one tick fewer is made up for: a stall is forgotten soon, overload slows the
/// tick.
constexpr std::int64_t ticks_per_backlog = 8;
constexpr Micros greeted_timeout{5'000'000};
constexpr Micros playing_timeout{10'000'000};
/// How long a kicked client is told again when it goes on talking: its goodbye was lost.
constexpr Micros dismissed_timeout{1'000'000};

}  // namespace

std::size_t AddressHash::operator()(const PeerAddress& a) const {
  std::array<std::uint64_t, 2> ip{};
  static_assert(sizeof ip == sizeof a.ip);
  std::memcpy(ip.data(), a.ip.data(), sizeof ip);
  const std::uint64_t rest =
      static_cast<std::uint64_t>(a.port) << 40 | static_cast<std::uint64_t>(a.transport) << 32 | a.link;
  return static_cast<std::size_t>(mix64(mix64(mix64(rest) ^ ip[0]) ^ ip[1]) ^ a.scope);
}

Host::Impl::Impl(const HostConfig& given, std::unique_ptr<World> a_world, const SecretKey& key)
    : config(given),
      world(std::move(a_world)),
      secret(key),
      // What an address may have playing at once may also come back twice a minute: harnesses and proxies do.
      gate(key,
           given.rejoins_per_minute == 0
               ? 0
               : std::max(given.rejoins_per_minute, 2 * given.clients_per_address_max),
           2 * given.clients_per_address_max + 64),
      greeted(64 + given.clients_max / 4),
      publisher(
          {given.snapshot_every_ticks, given.interest_radius_m, given.snapshot_bytes_max, given.defects}) {
  ASHLAR_ASSERT(world != nullptr);
  ASHLAR_ASSERT(config.clients_max >= 1 && config.clients_max <= world->setup().players_max);
  ASHLAR_ASSERT(config.clients_max < 65536);
  ASHLAR_ASSERT(config.snapshot_every_ticks >= 1);
  ASHLAR_ASSERT(config.snapshot_every_ticks <= world->setup().rules.tick_rate_hz);
  ASHLAR_ASSERT(config.snapshot_bytes_max >= snapshot_parts_least * datagram_bytes_max);
  ASHLAR_ASSERT(config.snapshot_bytes_max <= snapshot_parts_max * datagram_bytes_max);
  sessions.resize(config.clients_max);
  by_connection.reserve(2 * config.clients_max);
  lingering.reserve(config.clients_max);
  fighters.resize(world->setup().players_max);
  linger_ticks =
      static_cast<std::uint32_t>(config.fight_linger.count() * world->setup().rules.tick_rate_hz / 1'000'000);
  seated.reserve(config.clients_max);
  visited.reserve(config.clients_max);
  by_address.reserve(2 * config.clients_max);
  per_host.reserve(2 * config.clients_max);
  status.monsters = world->monster_count();
  status.world_hash = world->hash();
}

void Host::Impl::note_phase(Phase phase, std::uint64_t ns) {
  const auto i = static_cast<std::size_t>(phase);
  status.phase_ns_last[i] = ns;
  status.phase_ns_max[i] = std::max(status.phase_ns_max[i], ns);
  status.phase_ns_sum[i] += ns;
}

/// From the count of ticks, so that no rate drifts by what a length in microseconds leaves out.
Micros Host::Impl::due_at(std::int64_t slot) const {
  return began + Micros{slot * 1'000'000 / world->setup().rules.tick_rate_hz};
}

std::int64_t Host::Impl::ticks_due() const {
  if (now < due_at(tick_slots)) return 0;
  const std::int64_t passed = (now - began).count();
  return ((passed + 1) * world->setup().rules.tick_rate_hz - 1) / 1'000'000 - tick_slots + 1;
}

void Host::Impl::take_seat(std::uint32_t row) { seated.insert(std::ranges::lower_bound(seated, row), row); }

void Host::Impl::leave_seat(std::uint32_t row) {
  const auto at = std::ranges::lower_bound(seated, row);
  ASHLAR_ASSERT(at != seated.end() && *at == row);
  seated.erase(at);
}

void Host::Impl::fill_input() {
  joins.clear();
  commands.clear();
  const std::uint32_t tick = next_tick();
  for (const std::uint32_t row : seated) {
    Session& session = sessions[row];
    if (session.state == SessionState::joining) joins.push_back(row);
    if (session.state != SessionState::playing) continue;
    const InputBuffer::Played played = session.input.take(tick, config.defects.stale_input);
    PlayerCommand command = played.command;
    command.yaw = session.yaw_given = command.yaw + session.delta_yaw;
    commands.push_back({session.player, command});
  }
  let_go();
  chunks_ready.clear();
  chunks_dropped.clear();
  ground.plan(*world, chunks_ready, chunks_dropped);
}

// --- who leaves a fight ---

/// Who hit somebody, was hit or lost health. The dead have left their fight.
void Host::Impl::note_fights() {
  if (world->player_count() == 0) return;
  const std::uint32_t tick = number(world->tick());
  const auto fought = [&](EntityId id) {
    const std::size_t slot = slot_of(id);
    if (slot < fighters.size() && fighters[slot].player == id) fighters[slot].fought_tick = tick;
  };
  const PlayerTable& players = world->players();
  for (std::size_t slot = 0; slot < fighters.size(); ++slot) {
    Fighter& fighter = fighters[slot];
    const std::uint16_t health = players.health[slot];
    if (fighter.player != players.id[slot]) fighter = {players.id[slot], 0, health};
    if (health < fighter.health) fighter.fought_tick = tick;
    fighter.health = health;
  }
  for (const ShotEvent& shot : world->shooting().events()) {
    if (shot.hit.target == EntityId{0}) continue;
    fought(shot.shooter);
    fought(shot.hit.target);
  }
}

bool Host::Impl::fought_lately(EntityId player) const {
  const Fighter& fighter = fighters[slot_of(player)];
  return fighter.player == player && fighter.health != 0 && fighter.fought_tick != 0 &&
         number(world->tick()) - fighter.fought_tick < linger_ticks;
}

/// Bodies whose time is over, or whose fight ended in death, leave in the tick to come.
void Host::Impl::let_go() {
  const std::uint32_t tick = next_tick();
  std::erase_if(lingering, [&](const Lingering& body) {
    const int row = world->player_row(body.player);
    const bool over =
        row < 0 || tick >= body.until_tick || world->players().health[static_cast<std::size_t>(row)] == 0;
    if (over) leaves.push_back(body.player);
    return over;
  });
  status.lingering = static_cast<std::uint32_t>(lingering.size());
}

/// The world turned some players: their own turning stays what it is, what is added to it makes up for it.
void Host::Impl::adopt_turns() {
  for (const std::uint32_t seat : seated) {
    Session& session = sessions[seat];
    if (session.state != SessionState::playing) continue;
    const int row = world->player_row(session.player);
    if (row < 0) continue;
    const Turn16 yaw = world->players().command[static_cast<std::size_t>(row)].yaw;
    session.delta_yaw = session.delta_yaw + (yaw - session.yaw_given);
  }
}

void Host::Impl::settle_joins(DatagramBatch& out, std::vector<HostEvent>& events) {
  for (const Joined& joined : world->joined()) {
    Session& session = sessions[joined.token];
    if (joined.id == EntityId{0}) {
      // Cannot be while clients_max <= players_max; refuse rather than trust it.
      refuse(session.address, session.nonce, RefuseReason::full, "the world has no free place", session.name,
             out, events);
      remove(session, "", events);
      continue;
    }
    session.player = joined.id;
    session.joined_at = session.heard_at;
    session.state = SessionState::playing;
    session.input = InputBuffer{world->setup().rules.tick_rate_hz};
    // It has not turned yet and looks as it was put down.
    session.delta_yaw = world->players().command[slot_of(joined.id)].yaw;
    if (session.address.transport == Transport::tcp) out.add_admitted(session.address);
    events.push_back({HostEventKind::joined, session.address, session.connection, session.name, ""});
    notices.joined(session.name);
  }
}

void Host::Impl::run_tick(Micros at, DatagramBatch& out, std::vector<HostEvent>& events) {
  const std::uint64_t begun = stopwatch();
  fill_input();
  TickInput input;
  input.joins = joins;
  input.leaves = leaves;
  input.commands = commands;
  input.admin = admin;
  input.chunks_ready = chunks_ready;
  input.chunks_dropped = chunks_dropped;
  if (sink != nullptr) record.assign(input);

  const std::uint64_t before = stopwatch();
  world->step(input);
  const std::uint64_t stepped = stopwatch();
  note_phase(Phase::step, stepped - before);
  leaves.clear();
  admin.clear();
  status.tick = number(world->tick());
  status.world_hash = world->hash();
  status.monsters = world->monster_count();
  status.recovered = world->counters().recoveries;
  status.stuck = world->counters().stuck;
  if (sink != nullptr) {
    record.hash = world->hash();
    sink->on_tick(record);
  }
  adopt_turns();
  note_fights();
  settle_joins(out, events);

  if (status.tick % config.snapshot_every_ticks == 0) publish(at, out);
  const std::uint64_t published = stopwatch();
  note_phase(Phase::publish, published - stepped);
  keep_house(at, out, events);
  note_phase(Phase::housekeeping, stopwatch() - published + (before - begun));
}

void Host::Impl::keep_house(Micros at, DatagramBatch& out, std::vector<HostEvent>& events) {
  gate.next_tick();
  status.gate = gate.counters();
  tell_notices(at);
  const bool second = status.tick % world->setup().rules.tick_rate_hz == 0;
  std::uint32_t clients = 0;
  visited = seated;
  for (const std::uint32_t row : visited) {
    Session& session = sessions[row];
    if (session.state == SessionState::free) continue;
    session.datagram_tokens = std::min(session.datagram_tokens + datagrams_per_tick, datagrams_burst);
    if (second) session.chat_tokens = std::min(session.chat_tokens + 1, chat_lines_burst);
    if (session.state == SessionState::dismissed) {
      if (at - session.heard_at > dismissed_timeout) remove(session, "", events);
      continue;
    }
    if (!session.kicked_for.empty()) {
      dismiss(at, session, out, events);
      continue;
    }
    const Micros limit = session.state == SessionState::greeted ? greeted_timeout : playing_timeout;
    if (at - session.heard_at > limit) {
      // Who never joined may have spoken in another's name: that one is told nothing more. TCP has to close.
      if (session.state != SessionState::greeted || session.address.transport == Transport::tcp)
        say_goodbye(session, GoodbyeReason::timeout, "nothing heard for too long", out);
      remove(session, "timed out", events);
      continue;
    }
    if (session.state == SessionState::playing) {
      ++clients;
      send_chat(at, session, out);
    }
  }
  status.clients = clients;
}

Host::Host(const HostConfig& config, std::unique_ptr<World> world, const SecretKey& secret)
    : impl_(std::make_unique<Impl>(config, std::move(world), secret)) {}
Host::~Host() = default;

void Host::advance(Micros now, const DatagramBatch& in, DatagramBatch& out, std::vector<HostEvent>& events) {
  Impl& h = *impl_;
  h.now = now;
  if (!h.started) {
    h.started = true;
    h.began = now;
  }
  const std::uint64_t before = h.stopwatch();
  h.receive(now, in, out, events);
  h.note_phase(Phase::receive, h.stopwatch() - before);
  if (h.closed) return;

  const std::int64_t due = h.ticks_due();
  if (due == 0) return;
  if (due > 1) ++h.status.ticks_late;
  h.ticks_behind = due > 1 ? h.ticks_behind + 1 : 0;
  const std::int64_t backlog_max =
      std::max<std::int64_t>(1, catch_up_ticks_max - h.ticks_behind / ticks_per_backlog);
  if (due > backlog_max) {
    h.status.ticks_skipped += static_cast<std::uint64_t>(due - backlog_max);
    h.tick_slots += due - backlog_max;
  }
  h.run_tick(now, out, events);
  ++h.tick_slots;
}

void Host::note_adapter(std::uint64_t poll_ns, std::uint64_t send_ns) {
  impl_->note_phase(Phase::poll, poll_ns);
  impl_->note_phase(Phase::send, send_ns);
}

void Host::shut_down(const std::string& reason, DatagramBatch& out) {
  Impl& h = *impl_;
  std::vector<HostEvent> unheard;
  for (Session& session : h.sessions) {
    if (session.state == SessionState::free) continue;
    h.say_goodbye(session, GoodbyeReason::shutting_down, reason, out);
    h.remove(session, "", unheard);
  }
  h.closed = true;
  h.shut_reason = reason;
  h.status.clients = 0;
}

void Host::admin(const AdminCommand& command) { impl_->admin.push_back(command); }

std::uint32_t Host::set_noclip(const std::string& name, bool on) {
  std::uint32_t count = 0;
  for (const Session& session : impl_->sessions) {
    if (session.state != SessionState::playing || session.name != name) continue;
    admin({on ? AdminAction::noclip_on : AdminAction::noclip_off, session.player, {}});
    ++count;
  }
  return count;
}

std::uint32_t Host::kick(const std::string& name, const std::string& reason) {
  ASHLAR_ASSERT(!reason.empty());
  std::uint32_t count = 0;
  for (Session& session : impl_->sessions) {
    if (session.state != SessionState::playing || session.name != name) continue;
    session.kicked_for = reason;
    ++count;
  }
  return count;
}

void Host::say(const std::string& text) { impl_->tell_all("", text); }

namespace {

double missing_share(std::uint64_t there, std::uint64_t of) {
  return there >= of ? 0 : static_cast<double>(of - there) / static_cast<double>(of);
}

}  // namespace

std::vector<PlayerInfo> Host::players() const {
  std::vector<PlayerInfo> playing;
  for (const Session& session : impl_->sessions)
    if (session.state == SessionState::playing)
      playing.push_back({session.name, session.address, session.connection, session.joined_at, session.rtt,
                         missing_share(session.accepted, session.seen.highest()),
                         missing_share(session.acked, session.ack_highest)});
  return playing;
}

void Host::set_sink(TickSink* sink) { impl_->sink = sink; }
void Host::set_message_of_the_day(const std::string& text) { impl_->config.message_of_the_day = text; }
Micros Host::next_tick_at() const { return impl_->due_at(impl_->tick_slots); }
const HostStatus& Host::status() const { return impl_->status; }
const World& Host::world() const { return *impl_->world; }

}  // namespace ashlar::server
