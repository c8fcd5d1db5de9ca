#include "client_sim/simulation/match.h"

#include <algorithm>
#include <cstdio>

#include "client_sim/simulation/replay.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"
#include "world/sim/combat.h"
#include "world/sim/dropped_items.h"
#include "world/sim/game.h"
#include "world/sim/mechanics.h"
#include "world/sim/pickups.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
namespace {

/// What ground takes to make where nothing is wrong, at most.
constexpr std::uint32_t ground_delay_ms_max = 40;
/// The time of day when a run begins.
constexpr std::int64_t begins_unix_s = 1'800'000'000;

/// A stopped server says goodbye for so long at most, as server/loop.cpp has it.
constexpr Micros goodbye_max{1'000'000};

/// Little, so that what is small takes several parts, too, and a client has all within a second.
std::uint64_t content_bytes_per_s(const server::ContentShelf& shelf) {
  return std::max<std::uint64_t>(64 * 1024, 4 * shelf.bytes());
}

/// Servers start again and again, and each is replayed: their ground is made once.
ChunkSource chunks_of(const std::shared_ptr<GroundMemo>& memo) {
  return [memo](const Terrain& terrain, ChunkCoord at) { return memo->make(terrain, at); };
}

/// Clients that died hold their places until the server gives them up, and their bodies for a while more.
std::uint32_t places(const SimulationConfig& config) { return 3 * config.clients + 8; }

WorldSetup setup_of(const SimulationConfig& config) {
  WorldSetup setup;
  setup.seed = config.seed;
  setup.secret = world_secret(config);
  setup.rules.tick_rate_hz = config.tick_rate_hz;
  setup.rules.player_solver = config.player_solver;
  setup.rules.monster_solver = config.monster_solver;
  setup.rules.mode = config.match.mode;
  setup.rules.frag_limit = config.match.frag_limit;
  setup.rules.time_limit_s = config.match.time_limit_s;
  setup.rules.warmup_s = config.match.warmup_s;
  setup.rules.intermission_s = config.match.intermission_s;
  setup.game = config.game;
  if (config.survival) setup.rules.free_blocks = FreeBlocks::no;
  setup.players_max = places(config);
  setup.monsters_max = config.monsters;
  setup.monsters = config.monsters;
  setup.spawn = config.spawn;
  setup.terrain = config.terrain;
  setup.maps = config.maps;
  setup.props = config.props;
  setup.make_chunk = chunks_of(config.ground);
  return setup;
}

void add(client_sim::LinkStats& sum, const client_sim::LinkStats& more) {
  sum.taken += more.taken, sum.delivered += more.delivered, sum.lost += more.lost, sum.cut += more.cut;
  sum.overflowed += more.overflowed, sum.duplicated += more.duplicated;
  sum.reordered += more.reordered, sum.corrupted += more.corrupted;
  sum.resent += more.resent;
}

}  // namespace

Match::Match(const SimulationConfig& config)
    : config_(config),
      faults_(config.faults ? *config.faults
                            : plan_faults(config.seed, config.rates, config.clients,
                                          config.seconds * config.tick_rate_hz, config.tick_rate_hz)),
      end_(Micros{1'000'000 * static_cast<std::int64_t>(config.seconds)}),
      invariants_(all_invariants()),
      truth_(config.tick_rate_hz) {
  if (config_.ground == nullptr) config_.ground = std::make_shared<GroundMemo>();
  auto shelf = std::make_shared<server::ContentShelf>();
  for (const auto& map : config_.maps) shelf->add(map);
  for (const auto& prop : config_.props) shelf->add(prop);
  shelf_ = std::move(shelf);
  party_ = std::make_shared<client_sim::ExploreParty>(
      [this](const WelcomeMap& map) { return map_at(config_, map.name, map.origin_block); });
  for (std::uint32_t i = 0; i < config_.clients; ++i)
    seats_.push_back(std::make_unique<Seat>(config_, i, party_));
  kept_ = std::make_unique<KeptWorld>(config_);
  if (config_.defects.lying_disk) kept_->set_lying();
  start_server();
}

Match::~Match() = default;

std::uint32_t Match::tick() const {
  return static_cast<std::uint32_t>(now_.count() * config_.tick_rate_hz / 1'000'000);
}

std::size_t Match::kept_bytes() const {
  std::size_t bytes = recording_.capacity() + config_.ground->bytes() + kept_->bytes() + truth_.bytes();
  for (const auto& seat : seats_) {
    bytes += seat->kept_bytes();
    if (seat->client() != nullptr) bytes += seat->client()->ground().streamed().bytes();
  }
  if (host_ != nullptr) bytes += host_->status().ground_stream.cache_bytes;
  return bytes;
}

const Seat* Match::seat_of_session(std::uint32_t connection) const {
  for (const auto& seat : seats_)
    if (seat->client() != nullptr && seat->client()->session() == connection) return seat.get();
  return nullptr;
}

const Seat* Match::seat_of_player(EntityId id) const {
  for (const server::SessionAudit& session : audit_.sessions)
    if (session.playing && session.player == id) {
      const Seat* seat = seat_of_session(session.connection);
      return seat != nullptr && session_of(*seat) == &session ? seat : nullptr;
    }
  return nullptr;
}

const server::SessionAudit* Match::session_of(const Seat& seat) const {
  const Client* client = seat.client();
  // While it seeks a session its number is of one that may not have welcomed it yet.
  if (client == nullptr || !client->welcomed() || client->resuming()) return nullptr;
  if (client->state() == client_sim::ClientState::connecting) return nullptr;
  const std::uint32_t connection = client->session();
  // Numbers are random: another server's may come again.
  if (orphans_[seat.number()] == connection) return nullptr;
  for (const server::SessionAudit& session : audit_.sessions)
    if (session.connection == connection && session.client == client->identity()) return &session;
  return nullptr;
}

PlayerCommand Match::as_made(const PlayerInput& input) const {
  PlayerCommand command = input.command;
  for (const server::SessionAudit& session : audit_.sessions)
    if (session.playing && session.player == input.player) command.yaw = command.yaw - session.delta_yaw;
  return command;
}

void Match::report(const Invariant& invariant, const Finding& finding) {
  if (outcome_.broken) return;
  Broken broken;
  broken.tick = tick();
  broken.server_tick = host_ != nullptr ? host_->status().tick : 0;
  broken.invariant = invariant.name();
  broken.entity = finding.entity;
  broken.detail = finding.detail;
  outcome_.broken = broken;
}

// --- the server ---

void Match::start_server() {
  end_goodbye();
  ++outcome_.servers;
  WorldSetup world_setup = setup_of(config_);
  struct Kept final : Invariant {
    std::string_view name() const override { return "what was announced as saved is there, whole"; }
  } const kept;
  if (const auto wrong = kept_->open(world_setup)) report(kept, {"server", *wrong});
  auto world = std::make_unique<World>(world_setup);
  writer_ = std::make_unique<RecordingWriter>(recording_header(*world, "simulation", kept_->take_home()));
  recording_.clear();
  server::HostConfig setup;
  setup.clients_max = places(config_);
  setup.away_grace = away_grace;
  setup.return_with_life = true;
  setup.key_age = Micros{std::int64_t{1'000'000} * config_.key_age_s};
  setup.clients_per_address_max = setup.clients_max;
  setup.snapshot_every_ticks = config_.snapshot_every_ticks;
  setup.snapshot_bytes_max = config_.snapshot_bytes_max;
  setup.message_of_the_day = "simulated";
  setup.identity = server_identity(config_);
  setup.content = shelf_;
  setup.content_bytes_per_s = content_bytes_per_s(*shelf_);
  // The other one is not on every machine.
  setup.ciphers = static_cast<std::uint8_t>(secure::Cipher::chacha20_poly1305);
  const secure::Secret secret = drawn_secret(config_, 0x5ec, outcome_.servers);
  host_ = std::make_unique<server::Host>(setup, std::move(world), secret, config_.defects);
  host_->set_sink(this);
  if (!outcome_.broken)
    if (const auto wrong = kept_->tell(*host_)) report(kept, {"server", *wrong});
  truth_.clear();
  phase_ = host_->world().match().phase;
  const Rules& rules = host_->world().setup().rules;
  const std::uint32_t limit_ticks = std::uint32_t{rules.time_limit_s} * rules.tick_rate_hz;
  played_ticks_ = phase_ == MatchPhase::playing ? 1 : 0;
  if (played_ticks_ > 0 && limit_ticks > 0) played_ticks_ += limit_ticks - host_->world().match().left_ticks;
  audit_ = {};
  server_calm_since_ = now_;
  orphans_.assign(seats_.size(), 0);
  for (const auto& seat : seats_)
    if (seat->client() != nullptr) orphans_[seat->number()] = seat->client()->session();
  for (const auto& invariant : invariants_) invariant->on_server_start(*this);
}

void Match::stop_server(End how, std::uint32_t writes_left) {
  if (host_ == nullptr) return;
  const bool killed = how != End::peace;
  note_told();
  out_.clear();
  asked_.clear();
  packs_.clear();
  if (killed)
    kept_->kill(writes_left, how == End::power_cut), ++outcome_.kills;
  else
    kept_->close(server_clock(), *host_), host_->shut_down("the server restarts", out_.datagrams);
  send_down();
  check_recording();
  const server::HostStatus& status = host_->status();
  outcome_.datagrams += status.datagrams_in + status.datagrams_out;
  outcome_.resumed += status.resumed;
  outcome_.moved += status.moved;
  outcome_.fetched += status.content.finished;
  outcome_.items_dug += host_->world().items().counters().dug;
  leaving_ = std::move(host_);
  leaves_until_ = now_ + goodbye_max;
  if (killed) end_goodbye();
}

/// As the real one's loop: what it has said is said again until it was heard, for a while.
void Match::say_goodbye() {
  deliver_up();
  out_.clear();
  leaving_->advance(server_clock(), in_, out_);
  send_down();
  if (leaving_->silent() || now_ >= leaves_until_) end_goodbye();
}

void Match::end_goodbye() {
  if (leaving_ == nullptr) return;
  leaving_.reset();
  for (const auto& seat : seats_) seat->line().close_all_down();
}

void Match::on_tick(const TickRecord& record) {
  ticked_ = true;
  ++outcome_.ticks;
  writer_->add(record);
  if (writer_->block_ready() && (config_.check_replay || config_.keep_recording)) writer_->take(recording_);
  truth_.take(host_->world());
  host_->audit(audit_);
  for (const server::SessionAudit& session : audit_.sessions)
    outcome_.client_bytes_max =
        std::max<std::uint64_t>(outcome_.client_bytes_max, session.memory_bytes - session.stream_bytes);
  for (const PlayerInput& input : record.commands)
    truth_.note_command(host_->status().tick, input.player, as_made(input));
  note_match();
  const TrueFrame& frame = *truth_.at(host_->status().tick);
  hasher_.add(frame.hash);
  for (const auto& invariant : invariants_) {
    ++outcome_.checks;
    if (const auto finding = invariant->after_tick(*this, frame, record)) report(*invariant, *finding);
  }
}

/// What the tick did to the match that is played, and who died by whom.
void Match::note_match() {
  const World& world = host_->world();
  const ashlar::Match& played = world.match();
  for (const CombatEvent& e : world.combat().events())
    if (e.kind == CombatEventKind::died && e.by != e.who && world.player_row(e.by) >= 0)
      ++(slot_of(e.who) < world.players().rows() ? outcome_.player_kills : outcome_.monster_kills);
  outcome_.picked_up += world.pickups().events().size();
  const BlockId treasure = world.setup().blocks->treasure();
  for (const AppliedEdit& edit : world.applied_edits())
    outcome_.treasures += treasure != BlockId::air && edit.before == treasure ? 1 : 0;
  std::int32_t best = std::ranges::max(played.team_score);
  if (world.setup().rules.mode != GameMode::teams)
    for (const MatchPlayer& p : played.players) best = std::max(best, p.score);
  outcome_.best_score = std::max(outcome_.best_score, best);
  if (played.phase == MatchPhase::intermission && phase_ == MatchPhase::playing) {
    MatchEnd end{.number = played.number, .played_ticks = played_ticks_, .best_score = best};
    for (const MoverEvent& e : world.mechanics().events())
      end.exited = end.exited || e.kind == MoverEventKind::exited;
    outcome_.ends.push_back(end);
  }
  phase_ = played.phase;
  // While nobody is in the world it waits.
  if (phase_ != MatchPhase::playing)
    played_ticks_ = 0;
  else if (world.player_count() > 0)
    ++played_ticks_;
}

/// Chunks that are due, each after its own time, so in another order than they were asked for.
void Match::deliver_packs() {
  const auto due = [this](const AskedPack& asked) { return asked.due <= now_; };
  for (const AskedPack& asked : packs_)
    if (due(asked)) in_.packed.push_back(packer_.pack(asked.request));
  std::erase_if(packs_, due);
}

/// Ground that is due, as the server's workers would bring it.
void Match::deliver_ground() {
  std::ranges::sort(asked_, [](const AskedGround& a, const AskedGround& b) {
    return a.due != b.due ? a.due < b.due : a.number < b.number;
  });
  deliver_packs();
  const auto later = std::ranges::find_if(asked_, [this](const AskedGround& a) { return a.due > now_; });
  if (later == asked_.begin()) return;
  const auto generator = host_->world().ground();
  for (auto asked = asked_.begin(); asked != later; ++asked) {
    in_.ground.push_back(server::make_column(*generator, asked->column));
    kept_->finish(in_.ground.back());
  }
  asked_.erase(asked_.begin(), later);
}

/// Each column takes its own time, so that they come in another order than they were asked for.
void Match::ask_for_ground() {
  for (const IVec2 column : out_.ground_requests) {
    const auto number = static_cast<std::uint32_t>(++outcome_.columns);
    Rng rng = rng_for(config_.seed, 0x960, number);
    const std::uint32_t delay_ms = 1 + rng.below(ground_delay_ms_max + ground_delay_ms_);
    asked_.push_back({now_ + Micros{1000 * std::int64_t{delay_ms}}, number, column});
  }
  for (server::PackRequest& request : out_.pack_requests) {
    Rng rng = rng_for(config_.seed, 0x961, ++packs_asked_);
    const std::uint32_t delay_ms = rng.below(10 + ground_delay_ms_);
    packs_.push_back({now_ + Micros{1000 * std::int64_t{delay_ms}}, std::move(request)});
  }
}

/// What goes to a port that nobody listens on any more is lost.
void Match::send_down() {
  for (const DatagramBatch::Entry& entry : out_.datagrams.entries())
    if (seat_of(entry.peer) < seats_.size())
      seats_[seat_of(entry.peer)]->send_down(entry.peer, out_.datagrams.bytes(entry));
  for (const PeerAddress& closed : out_.datagrams.closed())
    if (seat_of(closed) < seats_.size()) seats_[seat_of(closed)]->line().close_down(closed);
}

void Match::deliver_up() {
  in_.clear();
  in_.unix_s = begins_unix_s + now_.count() / 1'000'000;
  for (const auto& seat : seats_) seat->deliver_up(now_, in_.datagrams);
}

void Match::run_server() {
  deliver_up();
  for (const DatagramBatch::Entry& entry : in_.datagrams.entries()) {
    const auto bytes = in_.datagrams.bytes(entry);
    if (seat_of(entry.peer) < seats_.size()) seats_[seat_of(entry.peer)]->note_delivered(now_, bytes);
  }
  deliver_ground();
  out_.clear();
  kept_->before(*host_);
  host_->advance(server_clock(), in_, out_);
  if (ticked_)
    kept_->after(server_clock(), *host_, in_.unix_s), outcome_.ticks_without_room += kept_->room() ? 0 : 1;
  if (ticked_) hand_out_gifts(), bury_treasures();
  if (ticked_ || !out_.datagrams.entries().empty() || !out_.events.empty()) host_->audit(audit_);
  for (const auto& invariant : invariants_)
    if (const auto finding = invariant->on_datagrams(*this, in_.datagrams, out_.datagrams))
      report(*invariant, *finding);
  ask_for_ground();
  for (const server::HostEvent& event : out_.events) {
    if (event.kind == server::HostEventKind::joined) ++outcome_.joins;
    if (event.kind == server::HostEventKind::chat) ++outcome_.chat_lines;
    for (const auto& invariant : invariants_)
      if (const auto finding = invariant->on_event(*this, event)) report(*invariant, *finding);
  }
  send_down();
}

void Match::check_recording() {
  if (!config_.check_replay && !config_.keep_recording) return;
  writer_->take(recording_);
  if (config_.keep_recording && outcome_.servers == 1) outcome_.recording = recording_;
  if (!config_.check_replay || outcome_.broken) return;
  ReplayOptions how;
  // Generated ground alone: what earlier servers changed of it is in the recording.
  how.ground = [memo = config_.ground](const Terrain& terrain, ChunkCoord at) {
    return memo->make(terrain, at);
  };
  how.game = config_.game;
  how.props = [this](const RecordedProp& wanted) -> std::expected<std::shared_ptr<const Prop>, std::string> {
    for (const auto& prop : config_.props)
      if (prop->name() == wanted.name && prop->at() == wanted.place && prop->up() == wanted.up) return prop;
    return std::unexpected{"no prop " + wanted.name};
  };
  const auto result = replay(
      recording_,
      [this](const RecordedMap& wanted) -> std::expected<std::shared_ptr<const PlacedMap>, std::string> {
        if (auto map = map_at(config_, wanted.name, wanted.origin_block)) return map;
        return std::unexpected{"no map " + wanted.name};
      },
      how);
  struct Replays final : Invariant {
    std::string_view name() const override { return "a recording replays"; }
  } const replays;
  if (!result) return report(replays, {"server", result.error()});
  outcome_.replayed_ticks += result->ticks;
  if (result->mismatch)
    return report(replays, {"server", "tick " + std::to_string(result->mismatch->tick) +
                                          " has another hash when it is played again"});
  if (result->ticks != host_->status().tick)
    return report(replays, {"server", "recorded " + std::to_string(result->ticks) + " of " +
                                          std::to_string(host_->status().tick) + " ticks"});
}

/// What clients heard of this server.
void Match::note_told() {
  for (const auto& seat : seats_)
    if (session_of(*seat) != nullptr) kept_->note_told(seat->client()->saved_tick());
}

// --- time ---

void Match::run_seats() {
  for (const auto& seat : seats_) seat->run(now_);
}

void Match::check_clients() {
  for (const auto& invariant : invariants_) {
    ++outcome_.checks;
    if (const auto finding = invariant->after_clients(*this)) report(*invariant, *finding);
  }
  for (const auto& seat : seats_) seat->forget_heard();
}

bool Match::advance() {
  if (now_ >= end_ || outcome_.broken) return false;
  now_ += Micros{quantum_us};
  begin_and_end_faults();
  if (outcome_.broken) return false;  // a world that is not as it was announced is not played
  ticked_ = false;
  kept_->work(now_);
  if (leaving_ != nullptr) {
    say_goodbye();
  } else if (host_ == nullptr) {
    // Nobody listens: what arrives is lost, connections are refused.
    deliver_up();
    for (const DatagramBatch::Entry& entry : in_.datagrams.entries())
      seats_[seat_of(entry.peer)]->line().close_down(entry.peer);
  } else if (overloads_ == 0) {
    run_server();
  }
  run_seats();
  if (ticked_) check_clients();
  return now_ < end_ && !outcome_.broken;
}

Outcome Match::finish() {
  while (advance()) {
  }
  if (!outcome_.broken) stop_server(End::killed, 0);
  outcome_.groups_saved = kept_->groups();
  outcome_.saves_failed = kept_->failed();
  for (const auto& seat : seats_) {
    add(outcome_.links, seat->line().stats());
    hasher_.add(static_cast<std::uint64_t>(seat->lives()));
    hasher_.add(seat->line().delivered_down());
    if (seat->client() != nullptr)
      hasher_.add(static_cast<std::uint64_t>(seat->client()->view().newest_tick()));
  }
  outcome_.sim_ticks = tick();
  outcome_.hash = hasher_.value();
  return std::move(outcome_);
}

}  // namespace ashlar::simulation
