#include "client_sim/load/load.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>

#include "client_sim/brains/hostile.h"
#include "client_sim/brains/light_walker.h"
#include "client_sim/client/game_client.h"
#include "client_sim/explore/party.h"
#include "client_sim/harness/version.h"
#include "client_sim/load/cheating.h"
#include "client_sim/load/crowd_check.h"
#include "client_sim/load/predicting.h"
#include "client_sim/net/client_sockets.h"

namespace ashlar::client_sim {
namespace {

constexpr Micros poll_every{2'000};
constexpr Micros late_after{20'000};
constexpr Micros farewell{1'000'000};  // at most, for goodbyes to be sent and answered
constexpr Micros think_every{15'000};
/// Clients without a picture of the world are turned once in so many turns: about once for each of their
/// ticks.
constexpr std::size_t light_shares = 8;
constexpr Micros check_every{100'000};

Micros read_clock() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Micros{static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000};
}

void sleep_until(Micros at) {
  const timespec t{static_cast<time_t>(at.count() / 1'000'000),
                   static_cast<long>(at.count() % 1'000'000) * 1000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
}

/// Sockets with a link before them on each way; nothing is copied through links that do nothing.
class Wire {
 public:
  Wire(ClientSockets sockets, const LinkConditions& conditions, std::uint64_t seed)
      : sockets_(std::move(sockets)),
        plain_(conditions.plain()),
        up_(conditions, seed),
        down_(conditions, ~seed) {}

  const DatagramBatch& receive(Micros now) {
    take(now);
    if (plain_) return in_;
    late_in_.clear();
    down_.deliver(now, late_in_);
    return late_in_;
  }
  /// In turns without: what is on its way goes on.
  void pump(Micros now) {
    if (plain_) return;
    take(now);
    send(now, {});
  }

  void send(Micros now, const DatagramBatch& out) {
    if (plain_) return sockets_.send(out);
    up_.send(now, out);
    late_out_.clear();
    up_.deliver(now, late_out_);
    sockets_.send(late_out_);
  }

  SocketCounters counters() const { return sockets_.counters(); }
  std::uint16_t local_port() const { return sockets_.local_port(); }

 private:
  void take(Micros now) {
    in_.clear();
    sockets_.receive(in_);
    if (!plain_) down_.send(now, in_);
  }

  ClientSockets sockets_;
  bool plain_;
  Link up_, down_;
  DatagramBatch in_, late_in_, late_out_;
};

struct Player {
  Client client;
  Brain brain;
  Wire wire;
  Rng rng;
  Micros next_think{0};
  Micros next_line{0};
  Micros joined_at{0};
  Micros ended_at{0};
  bool joined = false;
  std::optional<Predicting> predicting;
  std::optional<LightWalker> light;  // in the brain's place
  std::optional<Cheater> cheater;
  std::optional<Spy> spy;
  Gait gait;
  ShotCount shots;
};

struct Enemy {
  HostilePeer peer;
  Wire wire;
};

/// One run: everything that has to live as long as it.
class Run {
 public:
  /// @param addresses  of the server, at least one
  Run(const LoadOptions& options, std::vector<PeerAddress> addresses, ContentLibrary& content,
      const LoadHooks& hooks)
      : options_(options),
        addresses_(std::move(addresses)),
        server_(addresses_.front()),
        content_(content),
        hooks_(hooks) {
    if (options.brain == BrainKind::explore || options.brain == BrainKind::fight)
      party_ = std::make_shared<ExploreParty>([&content](const WelcomeMap& map) { return content.map(map); });
  }

  std::expected<LoadReport, std::string> play();

 private:
  std::expected<void, std::string> add_player(Micros now);
  std::expected<void, std::string> add_enemies();
  ClientConfig config(std::string name);
  PredictorConfig prediction();
  ClientConfig player_config(std::uint32_t index);
  void turn(Micros now);
  void turn(Micros now, Player& player);
  void command(Micros now, Player& player);
  void check(Micros now);
  std::uint32_t wanted() const { return options_.clients + options_.light; }
  void progress(Micros now);
  LoadReport report(Micros now) const;
  bool everyone_ended() const {
    return std::all_of(players_.begin(), players_.end(), [](const auto& p) { return p->client.ended(); });
  }

  const LoadOptions& options_;
  std::vector<PeerAddress> addresses_;
  PeerAddress server_;  // the first of them
  ContentLibrary& content_;
  const LoadHooks& hooks_;
  std::shared_ptr<ExploreParty> party_;  // of explorers, else null
  ChunkMemo ground_;                     // of clients that predict
  std::vector<ShownEntity> shown_;       // scratch of theirs
  SpyWalls spy_walls_{[this](const WelcomeMap& map) { return content_.map(map); }};
  Micros start_{0};
  std::deque<std::unique_ptr<Player>> players_;
  std::vector<std::unique_ptr<Enemy>> enemies_;
  std::optional<Raid> raid_;
  std::vector<RaidVictim> victims_;
  DatagramBatch out_;
  CrowdCheck crowd_check_;
  Micros next_check_{0};
  std::uint64_t late_polls_ = 0;
  bool interrupted_ = false;
  std::size_t light_turn_ = 0;  // whose share it is
  Micros next_progress_{0};
  std::uint64_t bytes_in_before_ = 0, bytes_out_before_ = 0, snapshots_before_ = 0;
  Micros progress_before_{0};
};

ClientConfig Run::config(std::string player_name) {
  ClientConfig c;
  c.server = server_;
  c.more_addresses.assign(addresses_.begin() + 1, addresses_.end());
  c.name = std::move(player_name);
  c.build = "ashlar-sim " + std::string(version());
  // Not of the run's seed: two runs against one server must not be taken for each other.
  c.seed = secure::SystemEntropy().secret();
  c.pinned = options_.credentials.server_key;
  c.opens_links = true;
  if (options_.fallback && server_.transport == Transport::udp) {
    c.fallback = server_;
    c.fallback->transport = Transport::tcp;
  }
  c.watches = options_.brain == BrainKind::watch;
  content_.serve(c);
  if (party_ != nullptr || options_.predict > 0 || options_.cheat == LoadCheat::spy)
    c.map = [this](const WelcomeMap& map) { return content_.map(map); };
  return c;
}

PredictorConfig Run::prediction() {
  PredictorConfig c;
  c.map = [this](const WelcomeMap& map) { return content_.map(map); };
  c.prop = [this](const WelcomeProp& prop) { return content_.prop(prop); };
  c.make_chunk = [this](const Terrain& terrain, ChunkCoord at) { return ground_.make(terrain, at); };
  c.chunks_per_advance = 1;
  return c;
}

/// With what the run was given for that player: who it is, and what it shows at the door.
ClientConfig Run::player_config(std::uint32_t index) {
  ClientConfig c = config("sim-" + std::to_string(index + 1));
  const Credentials& given = options_.credentials;
  c.light = index >= options_.clients;
  c.stream_ground = options_.stream_ground;
  if (index < options_.predict) c.lead_ticks = GameConfig().client.lead_ticks;
  if (hooks_.tap) c.tap = hooks_.tap(index);
  if (given.identity) c.identity = client_key(*given.identity, index);
  if (index < given.tokens.size()) c.token = given.tokens[index];
  return c;
}

std::expected<void, std::string> Run::add_player(Micros now) {
  const auto index = static_cast<std::uint32_t>(players_.size());
  auto sockets = ClientSockets::open(addresses_);
  if (!sockets) return std::unexpected(std::move(sockets.error()));
  Rng rng = rng_for(options_.seed, 1, index);
  const std::uint64_t brain_seed = rng.next_u64();
  const std::uint64_t link_seed = rng.next_u64();
  // Walkers are most of a mix; a third of it jumps, stands or gathers.
  static constexpr BrainKind mix[] = {BrainKind::wander, BrainKind::jumper, BrainKind::wander,
                                      BrainKind::follow, BrainKind::wander, BrainKind::crowd,
                                      BrainKind::hunt,   BrainKind::build,  BrainKind::idle};
  const BrainKind kind = options_.brain.value_or(mix[index % std::size(mix)]);
  players_.push_back(std::make_unique<Player>(Player{Client(player_config(index)),
                                                     Brain(kind, brain_seed, party_),
                                                     Wire(std::move(*sockets), options_.link, link_seed),
                                                     rng,
                                                     now,
                                                     now,
                                                     now,
                                                     now,
                                                     false,
                                                     {},
                                                     {},
                                                     {},
                                                     {},
                                                     {},
                                                     {}}));
  if (index >= options_.clients)
    players_.back()->light.emplace(brain_seed, kind == BrainKind::crowd || kind == BrainKind::idle);
  if (index < options_.predict) players_.back()->predicting.emplace(prediction());
  if (options_.cheat && index % 2 == 1) players_.back()->cheater.emplace(*options_.cheat);
  if (players_.back()->cheater && options_.cheat == LoadCheat::spy) players_.back()->spy.emplace(spy_walls_);
  return {};
}

std::expected<void, std::string> Run::add_enemies() {
  if (options_.raid && options_.hostile > 0) {
    RaidOptions o;
    o.server = server_;
    o.server.transport = Transport::udp;
    o.kind = *options_.raid;
    o.peers = options_.hostile;
    o.per_s = options_.hostile_datagrams_per_s;
    o.seed = options_.seed;
    auto raid = Raid::open(o);
    if (!raid) return std::unexpected(std::move(raid.error()));
    raid_.emplace(std::move(*raid));
    return {};
  }
  for (std::uint32_t i = 0; i < options_.hostile; ++i) {
    auto sockets = ClientSockets::open(server_);
    if (!sockets) return std::unexpected(std::move(sockets.error()));
    Rng rng = rng_for(options_.seed, 2, i);
    const std::uint64_t seed = rng.next_u64();
    enemies_.push_back(std::make_unique<Enemy>(
        Enemy{HostilePeer(config("enemy-" + std::to_string(i + 1)), seed, options_.hostile_datagrams_per_s),
              Wire(std::move(*sockets), options_.link, seed)}));
  }
  return {};
}

void Run::command(Micros now, Player& p) {
  p.next_think = now + think_every;
  PlayerCommand command = p.light ? p.light->think(now) : p.brain.think(now, p.client);
  // All hold the trigger, who cheats with it and who does not.
  const bool rapid = options_.cheat == LoadCheat::taps;
  if (rapid) command.buttons = static_cast<std::uint16_t>(command.buttons | button::attack);
  p.client.set_command(p.cheater ? p.cheater->falsified(command, p.client) : command);
  if (!p.light) p.brain.act(p.client);
  if (options_.chat_every_s == 0 || now < p.next_line) return;
  p.next_line = now + Micros{static_cast<std::int64_t>((0.5 + p.rng.unit()) * 1e6 * options_.chat_every_s)};
  p.client.say("hello from " + std::to_string(p.client.command_tick()));
  p.client.take_chat();
}

/// What those who look are told of each other.
void Run::check(Micros now) {
  for (std::uint32_t i = 0; i < options_.clients && i < players_.size(); ++i)
    crowd_check_.note(players_[i]->client);
  if (now < next_check_) return;
  next_check_ = now + check_every;
  for (std::uint32_t i = 0; i < options_.clients && i < players_.size(); ++i)
    crowd_check_.look(players_[i]->client);
}

void Run::turn(Micros now, Player& p) {
  if (p.client.ended()) return;
  // Who cheats reads at once, and says what it says when it likes.
  if (p.predicting && !p.cheater && !p.predicting->frame_due(now, p.client)) return p.wire.pump(now);
  const DatagramBatch& in = p.wire.receive(now);
  // Before anybody plays: it takes a while, and a client that is silent for so long would count as starved.
  if (party_ != nullptr && p.client.welcomed() && !p.client.fetching()) party_->prepare(p.client.welcome());
  if (p.client.state() == ClientState::playing && now >= p.next_think) command(now, p);
  out_.clear();
  if (p.cheater) p.cheater->act(now, p.client);
  const Micros its_now = p.cheater ? p.cheater->clock(now, p.client) : now;
  if (!p.predicting)
    p.client.advance(its_now, in, out_);
  else if (!in.empty() || p.predicting->frame_due(its_now, p.client))
    p.predicting->advance(its_now, p.client, in, out_, shown_);
  if (p.spy) p.spy->look(p.client);
  p.wire.send(now, p.cheater ? p.cheater->say(now, out_) : out_);
  if (options_.cheat) p.gait.note(p.client), p.shots.note(p.client);
  if (!p.joined && p.client.state() == ClientState::playing) {
    p.joined = true;
    p.joined_at = now;
  }
  if (p.client.ended()) p.ended_at = now;
}

void Run::turn(Micros now) {
  const std::size_t full = std::min<std::size_t>(players_.size(), options_.clients);
  for (std::size_t i = 0; i < full; ++i) turn(now, *players_[i]);
  // A share of the light ones in each turn, so that nobody looks at those whose time has not come.
  light_turn_ = (light_turn_ + 1) % light_shares;
  for (std::size_t i = full + light_turn_; i < players_.size(); i += light_shares) turn(now, *players_[i]);
  if (options_.light > 0) check(now);
  for (const auto& enemy : enemies_) {
    const DatagramBatch& in = enemy->wire.receive(now);
    out_.clear();
    enemy->peer.advance(now, in, out_);
    enemy->wire.send(now, out_);
  }
  if (!raid_) return;
  victims_.clear();
  if (options_.raid == RaidKind::spoofed)
    for (const auto& p : players_) victims_.push_back({p->wire.local_port(), p->client.session()});
  raid_->set_victims(victims_);
  raid_->turn(now);
}

void Run::progress(Micros now) {
  std::uint32_t playing = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0, snapshots = 0;
  Histogram rtt;
  for (const auto& p : players_) {
    playing += p->client.state() == ClientState::playing ? 1 : 0;
    bytes_in += p->client.stats().bytes_in;
    bytes_out += p->client.stats().bytes_out;
    snapshots += p->client.stats().snapshots;
    const bool own_clock = p->cheater && options_.cheat == LoadCheat::fast_clock;
    if (p->client.state() == ClientState::playing && !own_clock) rtt.add(p->client.rtt());
  }
  const double span = std::max(static_cast<double>((now - progress_before_).count()) / 1e6, 1e-3);
  char line[256];
  std::snprintf(
      line, sizeof line,
      "%5.1f s  playing %u of %u  round trip %.1f ms  snapshots %.0f /s  in %.2f MB/s  out %.2f MB/s",
      static_cast<double>((now - start_).count()) / 1e6, playing, wanted(),
      static_cast<double>(rtt.quantile(0.5).count()) / 1e3,
      static_cast<double>(snapshots - snapshots_before_) / span,
      static_cast<double>(bytes_in - bytes_in_before_) / span / 1e6,
      static_cast<double>(bytes_out - bytes_out_before_) / span / 1e6);
  hooks_.line(line);
  bytes_in_before_ = bytes_in;
  bytes_out_before_ = bytes_out;
  snapshots_before_ = snapshots;
  progress_before_ = now;
}

LoadReport Run::report(Micros now) const {
  std::vector<ClientOutcome> outcomes;
  for (const auto& p : players_) {
    ClientOutcome o;
    o.state = p->client.state();
    o.joined = p->joined;
    o.reason = p->client.reason();
    o.stats = p->client.stats();
    o.own_clock = p->cheater && options_.cheat == LoadCheat::fast_clock;
    if (p->joined) o.playing_for = (p->client.ended() ? p->ended_at : now) - p->joined_at;
    if (hooks_.played)
      hooks_.played(static_cast<std::uint32_t>(outcomes.size()), p->client.stats(), o.playing_for);
    outcomes.push_back(std::move(o));
  }
  LoadReport r = sum_up(outcomes, now - start_);
  r.wanted = wanted();
  r.interrupted = interrupted_;
  r.late_polls = late_polls_;
  r.light = r.clients > options_.clients ? r.clients - options_.clients : 0;
  r.hostile = options_.hostile;
  r.places_compared = crowd_check_.compared();
  r.places_wrong = crowd_check_.wrong();
  r.seen_near = crowd_check_.seen_near();
  r.gaps = crowd_check_.gaps();
  r.agreed_after_ticks = crowd_check_.agreed_after_ticks();
  r.disagreeing = crowd_check_.disagreeing();
  for (const auto& p : players_) r.send_full += p->wire.counters().send_full;
  std::uint32_t newest = 0;
  for (const auto& p : players_) {
    const auto& score = p->client.score();
    if (!score || score->tick < newest) continue;
    newest = score->tick;
    r.score = {score->match, score->phase, static_cast<std::uint32_t>(score->rows.size()), {}, 0};
    if (!score->rows.empty()) r.score.best = score->rows[0].name, r.score.best_score = score->rows[0].score;
  }
  for (const auto& p : players_)
    if (p->predicting) r.prediction.merge(p->predicting->report(p->client));
  r.cheats.cheat = options_.cheat;
  for (const auto& p : players_) {
    if (!options_.cheat) break;
    if (p->spy) r.cheats.spied.merge(p->spy->report(p->client));
    r.cheats.add(p->gait, p->shots, p->client.stats().hits_given, p->cheater.has_value());
    const bool builds = p->brain.kind() == BrainKind::build;
    if (p->cheater && !builds) r.cheats.far_dug += p->client.stats().acts_done;
  }
  if (party_ != nullptr) r.explored = party_->explored();
  if (raid_) r.attacks_sent += raid_->sent();
  for (const auto& e : enemies_) r.attacks_sent += e->peer.attacks_sent();
  return r;
}

std::expected<LoadReport, std::string> Run::play() {
  start_ = progress_before_ = read_clock();
  next_progress_ = start_ + options_.progress;
  if (auto added = add_enemies(); !added) return std::unexpected(std::move(added.error()));
  const Micros join_gap{1'000'000 / options_.joins_per_s};
  Micros next_join = start_;
  Micros due = start_;
  bool leaving = false;
  Micros leaving_since{0};
  Micros played_until{0};
  while (true) {
    const Micros now = read_clock();
    late_polls_ += now - due > late_after ? 1 : 0;
    // What a long pause missed is not made up for, or all of them would come at once behind it.
    constexpr Micros made_up_for{250'000};
    next_join = std::max(next_join, now - made_up_for);
    while (!leaving && players_.size() < wanted() && now >= next_join) {
      if (auto added = add_player(now); !added) return std::unexpected(std::move(added.error()));
      next_join += join_gap;
    }
    turn(now);
    if (options_.progress > Micros{0} && now >= next_progress_ && !leaving) {
      if ((next_progress_ += options_.progress) <= now) next_progress_ = now + options_.progress;
      progress(now);
    }
    const bool all_here = players_.size() == wanted();
    const bool stopped = !leaving && hooks_.stop();
    if (!leaving && (now - start_ >= options_.duration || stopped || (all_here && everyone_ended()))) {
      leaving = true;
      interrupted_ = stopped;
      leaving_since = played_until = now;
      for (const auto& p : players_)
        if (p->client.state() == ClientState::playing) p->client.leave();
    }
    if (leaving) {
      const bool playing = std::any_of(players_.begin(), players_.end(), [](const auto& p) {
        return p->client.state() == ClientState::playing;
      });
      if (!playing || now - leaving_since > farewell) return report(played_until);
    }
    due = std::max(due + poll_every, now);
    sleep_until(due);
  }
}

}  // namespace

std::expected<LoadReport, std::string> run_load(const LoadOptions& options, ContentLibrary& content,
                                                const LoadHooks& hooks) {
  const auto addresses = resolve_addresses(options.server, options.transport);
  if (!addresses) return std::unexpected(addresses.error());
  if (auto room = allow_sockets(options.clients + options.light + options.hostile); !room)
    return std::unexpected(room.error());
  return Run(options, *addresses, content, hooks).play();
}

}  // namespace ashlar::client_sim
