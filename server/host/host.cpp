#include "server/host/host.h"

#include <utility>

#include "protocol/secure/key_derivation.h"
#include "server/host/early_sender.h"
#include "server/host/host_impl.h"
#include "server/host/host_keys.h"
#include "world/math/assert.h"
#include "world/sim/observer.h"
#include "world/sim/world.h"

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

Host::Impl::Impl(const HostConfig& given, std::unique_ptr<World> a_world, const secure::Secret& seed,
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
  status.snapshots_made = told.snapshots_made;
  status.snapshots_cut = told.snapshots_cut;
  status.snapshots_overdue = told.snapshots_overdue;
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
  book.collect(*world, sessions, input);
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
  status.players_forgotten = book.forgotten();
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
  gate.next_tick(world->setup().rules.tick_rate_hz);
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
  h.scores.begin_world();
  h.edits.begin_world();
  h.stream.begin_world();
  h.book.begin_world(setup.players_max, setup.rules.tick_rate_hz);
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

bool Host::ground_waits() const { return impl_->input.ground_waits(); }

bool Host::silent() const { return !impl_->farewells.talking(); }

}  // namespace ashlar::server
