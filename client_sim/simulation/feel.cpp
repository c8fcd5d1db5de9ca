#include "client_sim/simulation/feel.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "client_sim/client/client.h"
#include "client_sim/client/game_client.h"
#include "client_sim/client/others.h"
#include "client_sim/harness/link.h"
#include "client_sim/simulation/ground_memo.h"
#include "protocol/secure/seeded_entropy.h"
#include "server/host/host.h"
#include "world/math/assert.h"
#include "world/sim/history.h"
#include "world/sim/shooting.h"
#include "world/sim/shown_walls.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

namespace ashlar::simulation {
namespace {

using client_sim::Client;
using client_sim::Link;
using client_sim::MispredictCause;
using client_sim::Others;
using client_sim::Predictor;
using client_sim::ShownEntity;

constexpr Micros quantum{500};
constexpr Micros frame_every{10'000};
constexpr std::uint16_t first_port = 10'000;

PeerAddress address(std::uint16_t port) {
  PeerAddress a;
  a.port = port;
  return a;
}

/// A client with all that it takes to play, its line, and what it expects of its shots.
class FeelSeat {
 public:
  FeelSeat(const FeelConfig& config, std::uint32_t number, std::shared_ptr<GroundMemo> ground)
      : config_(config),
        number_(number),
        rng_(rng_for(config.seed, 21, number)),
        client_(setup(config, number)),
        predictor_(prediction(std::move(ground))),
        up_(line(config), config.seed * 1000 + number),
        down_(line(config), config.seed * 1000 + 500 + number) {}

  void send_down(Micros now, std::span<const std::uint8_t> bytes) {
    batch_.clear();
    batch_.add(address(7777), bytes);
    down_.send(now, batch_);
  }
  void run(Micros now) {
    in_.clear(), out_.clear();
    down_.deliver(now, in_);
    if (predictor_.ready()) steer(now);
    client_sim::PredictorForesight ahead(predictor_, &others_);
    client_.advance(now, in_, out_, &ahead);
    note_snapshot(now);
    up_.send(now, out_);
    if (predictor_.ready()) foresee_hits(now);
  }
  void deliver_up(Micros now, DatagramBatch& to) {
    batch_.clear();
    up_.deliver(now, batch_);
    for (const auto& entry : batch_.entries())
      to.add(address(static_cast<std::uint16_t>(first_port + number_)), batch_.bytes(entry));
  }

  /// A shot as it was foreseen.
  struct Expected {
    EntityId target{};
    DVec3 origin;
    DVec3 target_m;               // as it was shown
    std::uint32_t claimed = 0;    // the tick that the command says was seen
    std::vector<EntityId> shown;  // by id
  };
  /// A frame. @param tick  what it shows, with a fraction
  std::span<const ShownEntity> frame(Micros now, double& tick) {
    frame_.clear();
    if (!predictor_.ready()) return frame_;
    tick = others_.shown_tick(now, client_sim::PictureSource(client_, now));
    others_.shown(now, client_, &predictor_.replica(), frame_);
    return frame_;
  }
  /// What it expects of a shot in a tick; nullopt: it expects none.
  std::optional<Expected> take_expected(std::uint32_t tick) {
    const auto at = expected_.find(tick);
    if (at == expected_.end()) return std::nullopt;
    Expected expected = std::move(at->second);
    expected_.erase(at);
    return expected;
  }
  /// Hits that it expected up to a tick and that nobody judged.
  std::uint64_t drop_expected(std::uint32_t until) {
    std::uint64_t lost = 0;
    while (!expected_.empty() && expected_.begin()->first < until) {
      lost += expected_.begin()->second.target != EntityId{0} ? 1 : 0;
      expected_.erase(expected_.begin());
    }
    return lost;
  }
  bool lies() const { return config_.lie > Micros{0} && number_ % 2 == 1; }
  /// From now on the age of snapshots counts.
  void begin_counting() { ages_.clear(), lag_sum_ = 0, lag_count_ = 0; }
  void note_lag() { lag_sum_ += others_.lag_ticks(), ++lag_count_; }
  /// FeelReport::excess_snapshots.
  double excess_snapshots() {
    if (ages_.empty() || lag_count_ == 0) return 0;
    const auto at =
        static_cast<std::ptrdiff_t>(Others::in_time_share * static_cast<double>(ages_.size() - 1));
    std::ranges::nth_element(ages_, ages_.begin() + at);
    const double lag = static_cast<double>(lag_sum_) / static_cast<double>(lag_count_);
    return (lag - ages_[static_cast<std::size_t>(at)]) / config_.snapshot_every_ticks;
  }
  const Client& client() const { return client_; }
  const Predictor& predictor() const { return predictor_; }
  const Others& others() const { return others_; }
  std::span<const ShownEntity> shown() const { return shown_; }
  std::uint64_t in_walls = 0;  ///< of those shown, one look a tick
  std::uint64_t crowd_noted = 0;

 private:
  static client_sim::ClientConfig setup(const FeelConfig& config, std::uint32_t number) {
    client_sim::ClientConfig out;
    out.server = address(7777);
    out.name = "p" + std::to_string(number);
    out.lead_ticks = client_sim::GameConfig().client.lead_ticks;
    out.seed = secure::SeededEntropy(config.seed * 100 + number).secret();
    return out;
  }
  static client_sim::PredictorConfig prediction(std::shared_ptr<GroundMemo> ground) {
    client_sim::PredictorConfig out;
    out.make_chunk = [ground = std::move(ground)](const Terrain& terrain, ChunkCoord at) {
      return ground->make(terrain, at);
    };
    out.chunks_per_advance = 64;
    return out;
  }
  static client_sim::LinkConditions line(const FeelConfig& config) {
    client_sim::LinkConditions out;
    out.latency = config.round_trip / 2;
    out.jitter = config.jitter / 2;
    out.loss = config.loss;
    return out;
  }

  /// Runs about, and keeps whoever is nearest in its sights.
  void steer(Micros now) {
    const DVec3 here = predictor_.body().position_m;
    if (now >= next_turn_) {
      next_turn_ = now + Micros{300'000 + static_cast<std::int64_t>(rng_.below(900'000))};
      way_ = Turn16{static_cast<std::uint16_t>(rng_.below(65536))};
      jumps_ = rng_.below(4) == 0;
    }
    const bool outside = dot(xy(here), xy(here)) > config_.place_radius_m * config_.place_radius_m;
    const Turn16 way = outside ? turn_towards(-xy(here)) : way_;
    PlayerCommand command;
    const ShownEntity* target = nullptr;
    double nearest2 = 1e9;
    for (const ShownEntity& e : shown_) {
      const DVec3 to = e.position_m - here;
      const bool near = dot(to, to) < config_.aim_beyond_m * config_.aim_beyond_m;
      if (!near && dot(to, to) < nearest2) nearest2 = dot(to, to), target = &e;
    }
    command.yaw = way;
    if (target != nullptr) {
      const DVec3 eye = here + DVec3{0, 0, client_.welcome().rules.player_eye_m};
      const DVec3 to = aim_at(*target) + DVec3{0, 0, 0.9} - eye;
      command.yaw = turn_towards(xy(to));
      command.pitch = turn_towards({length(xy(to)), to.z});
      command.buttons = button::attack;
    }
    const DVec2 along = heading(way - command.yaw);
    command.forward = along.x, command.left = along.y;
    if (jumps_) command.buttons = static_cast<std::uint16_t>(command.buttons | button::jump);
    if (lies()) {
      const std::uint32_t lag = client_.view_lag() + lie_ticks();
      command.seen = TickId{client_.command_tick() + 1 > lag ? client_.command_tick() + 1 - lag : 1};
      // And about what that picture was made of: whatever suits.
      command.told_before = static_cast<std::uint8_t>(1 + rng_.below(12));
      command.told_after =
          static_cast<std::int8_t>(static_cast<int>(rng_.below(20)) - command.told_before + 1);
    }
    client_.set_command(command);
  }
  std::uint32_t lie_ticks() const {
    return static_cast<std::uint32_t>(config_.lie.count() * config_.tick_rate_hz / 1'000'000);
  }
  /// Liars aim where somebody was.
  DVec3 aim_at(const ShownEntity& target) {
    if (!lies()) return target.position_m;
    const auto at =
        was_.find({client_.command_tick() - std::min(client_.command_tick(), lie_ticks()), target.record.id});
    return at == was_.end() ? target.position_m : at->second;
  }

  /// How far the newest command is ahead of a snapshot that comes.
  void note_snapshot(Micros now) {
    if (client_.view().newest_tick() == std::exchange(newest_, client_.view().newest_tick())) return;
    ages_.push_back(client_.command_time(now) - newest_);
  }

  void foresee_hits(Micros now) {
    if (predictor_.tick() == looked_) return;
    looked_ = predictor_.tick();
    others_.shown(now, client_, &predictor_.replica(), shown_);
    const Rules& rules = client_.welcome().rules;
    for (const ShownEntity& e : shown_)
      in_walls += shown_in_wall(predictor_.replica().space(), rules.player, e.position_m) ? 1 : 0;
    if (lies()) {
      for (const ShownEntity& e : shown_) was_[{looked_, e.record.id}] = e.position_m;
      std::erase_if(was_, [&](const auto& w) { return w.first.first + 256 < looked_; });
    }
    for (const ShotEvent& shot : predictor_.take_shots()) {
      std::vector<ShotTarget> targets;
      targets.reserve(shown_.size());
      for (const ShownEntity& e : shown_)
        targets.push_back(
            {e.record.id, rules.player, e.position_m, hit_shape(rules.player, HitBuild::upright)});
      const ShotHit hit = resolve_shot(predictor_.replica().space(), targets, client_.player(), shot.origin,
                                       shot.direction, shot.range_m);
      const auto seen =
          std::ranges::find(shown_, hit.target, [](const ShownEntity& e) { return e.record.id; });
      const std::uint32_t tick = number(shot.seen) + 1;
      Expected& expected = expected_[tick];
      expected = {hit.target, shot.origin, seen == shown_.end() ? DVec3{} : seen->position_m, 0, {}};
      if (const PlayerCommand* command = client_.command_of(tick)) expected.claimed = number(command->seen);
      for (const ShownEntity& e : shown_) expected.shown.push_back(e.record.id);
    }
  }

  FeelConfig config_;
  std::uint32_t number_;
  Rng rng_;
  Client client_;
  Predictor predictor_;
  Others others_;
  Link up_, down_;
  DatagramBatch in_, out_, batch_;
  Micros next_turn_{0};
  Turn16 way_{0};
  bool jumps_ = false;
  std::uint32_t looked_ = 0, newest_ = 0;
  std::vector<double> ages_;  // of snapshots as they came, in ticks
  std::uint64_t lag_sum_ = 0, lag_count_ = 0;
  std::vector<ShownEntity> shown_, frame_;
  std::map<std::uint32_t, Expected> expected_;
  std::map<std::pair<std::uint32_t, EntityId>, DVec3> was_;
};

class FeelMatch {
 public:
  explicit FeelMatch(const FeelConfig& config) : config_(config) {
    ASHLAR_ASSERT(config.players >= 1 && config.players <= 64);
    auto ground = std::make_shared<GroundMemo>();
    WorldSetup setup;
    setup.seed = config.seed;
    setup.rules.tick_rate_hz = config.tick_rate_hz;
    setup.rules.player_health = 10'000;  // nobody is to leave the match
    setup.players_max = config.players + 1;
    setup.monsters = 0, setup.monsters_max = 1;
    setup.terrain = config.terrain;
    setup.spawn = {{0, 0}, config.place_radius_m};
    setup.make_chunk = [ground](const Terrain& terrain, ChunkCoord at) { return ground->make(terrain, at); };
    if (config.spread_deg) {
      auto kinds = std::make_shared<KindSet>(default_kinds());
      kinds->weapons[weapon::pistol].spread_deg = *config.spread_deg;
      setup.kinds = std::move(kinds);
    }
    server::HostConfig host;
    host.clients_max = host.clients_per_address_max = config.players + 1;
    host.identity = secure::key_pair(secure::SeededEntropy(config.seed).secret());
    host.snapshot_every_ticks = config.snapshot_every_ticks;
    if (config.overload) host.stopwatch_ns = busy_ns;
    host_ = std::make_unique<server::Host>(host, std::make_unique<World>(setup),
                                           secure::SeededEntropy(config.seed + 1).secret());
    for (std::uint32_t i = 0; i < config.players; ++i)
      seats_.push_back(std::make_unique<FeelSeat>(config, i, ground));
  }

  FeelReport run() {
    if (config_.cover) build_cover();
    turns(settle_s);
    FeelReport before;
    add_clients(before);
    counting_ = true;
    for (const auto& seat : seats_) seat->begin_counting();
    turns(config_.seconds);
    for (const auto& seat : seats_) report_.excess_snapshots.push_back(seat->excess_snapshots());
    add_clients(report_);
    subtract(before);
    report_.player_minutes = config_.players * config_.seconds / 60;
    return report_;
  }

 private:
  /// Two rings of pillars, each two blocks wide and three high.
  void build_cover() {
    const VoxelVolume& blocks = *host_->world().space().voxels;
    const double ring_m = config_.place_radius_m / 3;
    for (int i = 0; i < 12; ++i) {
      const DVec2 at = heading(Turn16{static_cast<std::uint16_t>(i * 65536 / 12)}) * (ring_m * (1 + i % 2));
      IVec3 base = block_at({at.x, at.y, 0});
      const ColumnSpan columns = host_->world().columns();
      base.z = columns.high * chunk_size - 1;
      while (base.z > columns.low * chunk_size && !blocks.solid(base)) --base.z;
      host_->admin(
          {.action = AdminAction::fill_box, .box = {base, base + IVec3{2, 2, 4}}, .id = BlockId::stone});
    }
  }

  /// Of a loop that has most of its time to do: it stays overloaded once it was late.
  static std::uint64_t busy_ns() {
    thread_local std::uint64_t now_ns = 0;
    return now_ns += 2'500'000;
  }
  /// The host comes late until it leaves out who is far.
  bool host_is_late() const {
    constexpr Micros late_by{40'000};
    const bool leaves_out = host_->status().overload_rung >= 1;
    return config_.overload && !leaves_out && now_.count() % late_by.count() != 0;
  }
  void turns(double seconds) {
    const Micros until = now_ + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    while (now_ < until) turn();
  }
  void turn() {
    now_ += quantum;
    for (const auto& seat : seats_) seat->run(now_);
    if (host_is_late()) return;
    input_.datagrams.clear(), input_.ground.clear(), input_.packed.clear();
    for (const auto& seat : seats_) seat->deliver_up(now_, input_.datagrams);
    for (const IVec2 column : std::exchange(output_.ground_requests, {}))
      input_.ground.push_back(server::make_column(*host_->world().ground(), column));
    for (const server::PackRequest& request : std::exchange(output_.pack_requests, {}))
      input_.packed.push_back(packer_.pack(request));
    output_.clear();
    const std::uint32_t before = number(host_->world().tick());
    host_->advance(now_, input_, output_);
    for (const auto& entry : output_.datagrams.entries()) {
      const std::size_t seat = entry.peer.port - first_port;
      if (seat < seats_.size()) seats_[seat]->send_down(now_, output_.datagrams.bytes(entry));
    }
    if (number(host_->world().tick()) != before) look();
    if (counting_ && now_.count() % frame_every.count() == 0)
      for (const auto& seat : seats_) look_at_frame(*seat);
  }
  /// Where the others were at the tick that a frame shows.
  void look_at_frame(FeelSeat& seat) {
    double tick = 0;
    for (const ShownEntity& e : seat.frame(now_, tick)) {
      const auto before = static_cast<std::uint32_t>(tick);
      const auto& from = stood_[before % stood_.size()];
      const auto& to = stood_[(before + 1) % stood_.size()];
      const std::size_t row = slot_of(e.record.id);
      if (number(host_->world().tick()) <= before || row >= from.size() || row >= to.size()) continue;
      const DVec3 truth = from[row] + (to[row] - from[row]) * (tick - before);
      report_.frame_off_um.add(Micros{static_cast<std::int64_t>(1e6 * length(e.position_m - truth))});
    }
  }

  /// What the server made of the tick's shots, and how old the pictures are.
  void look() {
    const World& world = host_->world();
    const std::uint32_t tick = number(world.tick());
    auto& now = stood_[tick % stood_.size()];
    now.assign(world.players().rows(), {});
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = world.players().body[i].position_m;
    for (const auto& seat : seats_) {
      for (const ShotEvent& shot : world.shooting().events())
        if (shot.shooter == seat->client().player()) judge(*seat, shot, tick);
      const std::uint64_t lost = seat->drop_expected(tick > 64 ? tick - 64 : 0);
      note_crowd(*seat, tick);
      if (!counting_) continue;
      report_.hits_lost += lost;
      seat->note_lag();
      const std::int64_t lag_us = std::int64_t{seat->others().lag_ticks()} * 1'000'000 / config_.tick_rate_hz;
      report_.others_age.add(Micros{lag_us});
    }
  }
  void judge(FeelSeat& seat, const ShotEvent& shot, std::uint32_t tick) {
    const auto expected = seat.take_expected(tick);
    if (!counting_) return;
    note_judged(seat, shot, tick);
    if (!expected) return;
    const bool hit = shot.hit.target != EntityId{0};
    if (hit && !seat.lies() && expected->target != shot.hit.target) {
      ++report_.hits_unforeseen;
      report_.hits_unseen += std::ranges::binary_search(expected->shown, shot.hit.target) ? 0 : 1;
    }
    if (expected->target == EntityId{0}) return;
    note_seen_off(*expected, shot);
    const std::uint32_t back_max = host_->world().history().ticks_max();
    constexpr double displaced_m = 0.01;
    if (tick - 1 - std::min(expected->claimed, tick - 1) > back_max)
      ++report_.hits_beyond;
    else if (length(expected->origin - shot.origin) > displaced_m)
      ++report_.hits_displaced;
    else
      ++(expected->target == shot.hit.target ? report_.hits_agreed : report_.hits_denied);
  }
  /// What the server made of a shot, whatever its player saw.
  void note_judged(const FeelSeat& seat, const ShotEvent& shot, std::uint32_t tick) {
    const bool hit = shot.hit.target != EntityId{0};
    (seat.lies() ? report_.liars_shots : report_.honest_shots) += 1;
    if (!hit) return;
    (seat.lies() ? report_.liars_hits : report_.honest_hits) += 1;
    (seat.lies() ? report_.liars_rewound : report_.rewound).add(of_ticks(tick - 1 - number(shot.seen)));
    const std::uint32_t hidden = out_of_sight(shot, tick);
    (seat.lies() ? report_.liars_behind_cover : report_.behind_cover).add(of_ticks(hidden));
    (seat.lies() ? report_.liars_covered_hits : report_.covered_hits) += hidden > 1 ? 1 : 0;
  }

  /// Of what a client has mispredicted since the last tick for bodies near by: did one touch its player?
  void note_crowd(FeelSeat& seat, std::uint32_t tick) {
    const auto& stats = seat.predictor().stats();
    const std::uint64_t all = stats.mispredicted[static_cast<std::size_t>(MispredictCause::crowd)];
    const std::uint64_t more = all - std::exchange(seat.crowd_noted, all);
    if (more == 0 || !counting_) return;
    report_.crowd_ticks += more;
    constexpr double touch_m = 0.05;
    constexpr std::uint32_t ticks_before = 4;  // it was told of the last of them
    const std::size_t own = slot_of(seat.client().player());
    const std::uint32_t told = std::min(seat.client().own_tick(), tick);
    const double near_m = 2 * host_->world().setup().rules.player.radius_m + touch_m;
    for (std::uint32_t t = told - std::min(told, ticks_before); t <= told; ++t) {
      const auto& then = stood_[t % stood_.size()];
      for (std::size_t i = 0; i < then.size() && own < then.size(); ++i)
        if (i != own && length(xy(then[i] - then[own])) < near_m) return;
    }
    report_.crowd_apart_ticks += more;
  }

  void note_seen_off(const FeelSeat::Expected& expected, const ShotEvent& shot) {
    const World& world = host_->world();
    const int row = world.player_row(expected.target), shooter = world.player_row(shot.shooter);
    if (row < 0 || shooter < 0) return;
    const PlayerCommand& command = world.players().command[static_cast<std::size_t>(shooter)];
    PictureAt picture{shot.seen, 0, 0};
    if (command.seen == shot.seen) picture = {shot.seen, command.told_before, command.told_after};
    const auto at = world.history().shown_position(world.setup().rules, static_cast<std::size_t>(row),
                                                   expected.target, picture);
    if (at) report_.seen_off_um.add(Micros{static_cast<std::int64_t>(1e6 * length(*at - expected.target_m))});
  }

  Micros of_ticks(std::uint32_t ticks) const {
    return Micros{std::int64_t{ticks} * 1'000'000 / config_.tick_rate_hz};
  }
  /// For how many ticks the one shot has been where the shooter could not see it.
  std::uint32_t out_of_sight(const ShotEvent& shot, std::uint32_t tick) const {
    const std::size_t shooter = slot_of(shot.shooter), target = slot_of(shot.hit.target);
    const Rules& rules = host_->world().setup().rules;
    for (std::uint32_t ago = 0; ago < stood_.size() - 1 && ago < tick; ++ago) {
      const auto& then = stood_[(tick - ago) % stood_.size()];
      if (shooter >= then.size() || target >= then.size()) return ago;
      const DVec3 eye = then[shooter] + DVec3{0, 0, rules.player_eye_m};
      for (const double height : {0.2, 0.5, 0.9})
        if (space_sees(host_->world().space(), eye,
                       then[target] + DVec3{0, 0, height * rules.player.height_m}))
          return ago;
    }
    return static_cast<std::uint32_t>(stood_.size());
  }

  /// Counters of the clients as they stand.
  void add_clients(FeelReport& to) const {
    for (const auto& seat : seats_) {
      const client_sim::PredictorStats& p = seat->predictor().stats();
      for (std::size_t i = 0; i < client_sim::mispredict_cause_count; ++i) {
        const bool crowd = i == static_cast<std::size_t>(MispredictCause::crowd);
        const bool unknown = i == static_cast<std::size_t>(MispredictCause::unknown);
        (crowd ? to.crowd_visible : unknown ? to.unknown_visible : to.network_visible) += p.visible[i];
        (crowd ? to.crowd_um : unknown ? to.unknown_um : to.network_um).merge(p.corrections_um[i]);
      }
      to.mispredicted += p.mispredicted_sum();
      to.confirmed += p.confirmed, to.late += p.late;
      for (std::size_t i = 0; i < to.leads.size(); ++i) to.leads[i] += seat->client().stats().leads[i];
      to.shown += seat->others().stats().shown, to.extrapolated += seat->others().stats().extrapolated;
      to.in_walls += seat->in_walls;
    }
  }
  /// Of the histograms the settling stays in: there is little of it.
  void subtract(const FeelReport& before) {
    report_.network_visible -= before.network_visible, report_.crowd_visible -= before.crowd_visible;
    report_.unknown_visible -= before.unknown_visible;
    report_.mispredicted -= before.mispredicted;
    report_.confirmed -= before.confirmed, report_.late -= before.late;
    for (std::size_t i = 0; i < report_.leads.size(); ++i) report_.leads[i] -= before.leads[i];
    report_.shown -= before.shown, report_.extrapolated -= before.extrapolated;
    report_.in_walls -= before.in_walls;  // pillars were built where somebody stood
  }

  FeelConfig config_;
  std::unique_ptr<server::Host> host_;
  std::vector<std::unique_ptr<FeelSeat>> seats_;
  server::HostInput input_;
  server::HostOutput output_;
  server::GroundPacker packer_;
  Micros now_{1'000'000};
  bool counting_ = false;
  std::array<std::vector<DVec3>, 64> stood_;  // players by row, by tick modulo
  FeelReport report_;
};

}  // namespace

FeelReport run_feel(const FeelConfig& config) { return FeelMatch(config).run(); }

}  // namespace ashlar::simulation
