#include "client_sim/simulation/cheats.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "client_sim/client/client.h"
#include "client_sim/harness/link.h"
#include "client_sim/simulation/feel.h"
#include "client_sim/simulation/ground_memo.h"
#include "protocol/secure/seeded_entropy.h"
#include "server/host/host.h"
#include "world/math/assert.h"
#include "world/sim/block_acts.h"
#include "world/sim/shooting.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

namespace ashlar::simulation {
namespace {

constexpr Micros cheat_turn{2'000};
constexpr Micros one_way{20'000};
constexpr double fast_clock_times = 1.5;
constexpr double settling_s = 2;

/// One player and a server of its own.
class CheatMatch {
 public:
  explicit CheatMatch(Cheat cheat) : cheat_(cheat), client_(setup()), up_(line(cheat), 1), down_({}, 2) {
    client_sim::LinkConditions back;
    back.latency = one_way;
    down_.set_conditions(back);
    auto ground = std::make_shared<GroundMemo>();
    WorldSetup world;
    world.terrain = TerrainKind::plains;
    world.players_max = 2;
    world.monsters = 0, world.monsters_max = 1;
    world.rules.step_height_m_max = 1.5;  // nothing in the plain stops a walker
    world.make_chunk = [ground](const Terrain& terrain, ChunkCoord at) { return ground->make(terrain, at); };
    server::HostConfig host;
    host.clients_max = host.clients_per_address_max = 2;
    host_ = std::make_unique<server::Host>(host, std::make_unique<World>(world),
                                           secure::SeededEntropy(3).secret());
  }

  CheatTaken play(double seconds) {
    const Micros patience = now_ + Micros{10'000'000};
    while (!client_.own() && now_ < patience) turn(false);
    ASHLAR_ASSERT(client_.own().has_value());
    run(settling_s, false);
    const auto row = static_cast<std::size_t>(host_->world().player_row(client_.player()));
    last_m_ = host_->world().players().body[row].position_m;
    const std::uint64_t shots = host_->world().shooting().shots();
    run(seconds, true);
    taken_.shots = host_->world().shooting().shots() - shots;
    taken_.refused = host_->world().block_acts().counters().refused;
    taken_.dug_far = host_->world().block_acts().counters().dug;
    return taken_;
  }

 private:
  static client_sim::ClientConfig setup() {
    client_sim::ClientConfig out;
    out.server.port = 7777;
    out.name = "cheat";
    out.seed = secure::SeededEntropy(5).secret();
    return out;
  }
  static client_sim::LinkConditions line(Cheat cheat) {
    client_sim::LinkConditions out;
    out.latency = one_way;
    out.duplication = cheat == Cheat::doubled || cheat == Cheat::taps ? 1.0 : 0.0;
    return out;
  }

  void run(double seconds, bool plays) {
    const Micros until = now_ + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    began_ = now_;
    while (now_ < until) turn(plays);
  }
  void turn(bool plays) {
    now_ += cheat_turn;
    in_.clear(), out_.clear();
    down_.deliver(now_, in_);
    if (plays) act();
    const bool fast = plays && cheat_ == Cheat::fast_clock;
    if (fast) ahead_ += Micros{static_cast<std::int64_t>((fast_clock_times - 1) * cheat_turn.count())};
    client_.advance(now_ + ahead_, in_, out_);
    for (const auto& entry : out_.entries()) kept_.add(entry.peer, out_.bytes(entry));
    if (!plays || speaks()) {
      up_.send(now_, kept_);
      kept_.clear();
    }
    input_.datagrams.clear(), input_.ground.clear();
    up_.deliver(now_, input_.datagrams);
    for (const IVec2 column : std::exchange(output_.ground_requests, {}))
      input_.ground.push_back(server::make_column(*host_->world().ground(), column));
    output_.clear();
    const std::uint32_t before = number(host_->world().tick());
    host_->advance(now_, input_, output_);
    down_.send(now_, output_.datagrams);
    if (plays && number(host_->world().tick()) != before) measure();
  }
  /// Does it send now what it has to say?
  bool speaks() const {
    const std::int64_t ms = (now_ - began_).count() / 1000;
    if (cheat_ == Cheat::bursts) return ms % 125 < 2;
    if (cheat_ == Cheat::stalls) return ms % 2000 >= 1000;
    return true;
  }
  void act() {
    PlayerCommand command;
    command.forward = 1;
    ++turns_;
    const bool pressed = cheat_ != Cheat::taps || turns_ / 9 % 2 == 0;  // a tick each
    command.buttons = pressed ? button::attack : std::uint16_t{0};
    if (cheat_ == Cheat::reach) command = dig_far();
    client_.set_command(command);
  }
  /// Stands, looks straight at a block that is too far away, and digs it for a second; then the next one.
  PlayerCommand dig_far() {
    constexpr int second = 500;  // in turns
    const int far_m = 8 + turns_ / second % 24;
    const IVec3 block = block_at(last_m_ - DVec3{0, 0, 0.5}) + IVec3{far_m, 0, 0};
    const DVec3 eye = last_m_ + DVec3{0, 0, client_.welcome().rules.player_eye_m};
    const DVec3 look = to_dvec3(block) + DVec3{0.5, 0.5, 1} - eye;
    if (turns_ % second == second / 2) static_cast<void>(client_.act(BlockActKind::dig, block));
    PlayerCommand command;
    command.yaw = turn_towards(xy(look));
    command.pitch = turn_towards({length(xy(look)), look.z});
    return command;
  }
  void measure() {
    const int row = host_->world().player_row(client_.player());
    if (row < 0) return;
    const DVec3 here = host_->world().players().body[static_cast<std::size_t>(row)].position_m;
    const double step_m = length(xy(here - last_m_));
    last_m_ = here;
    taken_.way_m += step_m;
    taken_.step_m = std::max(taken_.step_m, step_m);
  }

  Cheat cheat_;
  client_sim::Client client_;
  client_sim::Link up_, down_;
  std::unique_ptr<server::Host> host_;
  server::HostInput input_;
  server::HostOutput output_;
  DatagramBatch in_, out_, kept_;
  Micros now_{1'000'000}, began_{0}, ahead_{0};
  int turns_ = 0;
  DVec3 last_m_;
  CheatTaken taken_;
};

double percent(std::uint64_t part, std::uint64_t all) {
  return all > 0 ? 100 * static_cast<double>(part) / static_cast<double>(all) : 0;
}

/// Who lies hits no more often, and those who went behind cover no longer after that.
void add_lying(int lie_ms, int round_trip_ms, double seconds, std::vector<CheatFigure>& to) {
  FeelConfig config;
  config.players = 6;
  config.seconds = 3 * seconds;
  config.round_trip = Micros{1000 * round_trip_ms};
  config.lie = Micros{1000 * lie_ms};
  const FeelReport r = run_feel(config);
  config.cover = true;
  const FeelReport covered = run_feel(config);
  const std::string cheat =
      "lies about the tick by " + std::to_string(lie_ms) + " ms at " + std::to_string(round_trip_ms) + " ms";
  // Shares of some hundred shots differ by this much between two honest halves of a match.
  constexpr double chance_percent = 5, chance_covered_percent = 2;
  to.push_back({cheat, "hits, % of shots", percent(r.honest_hits, r.honest_shots),
                percent(r.liars_hits, r.liars_shots), chance_percent});
  to.push_back({cheat, "hits behind cover, % of shots", percent(covered.covered_hits, covered.honest_shots),
                percent(covered.liars_covered_hits, covered.liars_shots), chance_covered_percent});
}

}  // namespace

CheatTaken play_cheat(Cheat cheat, double seconds) { return CheatMatch(cheat).play(seconds); }

std::vector<CheatFigure> cheat_figures(double seconds) {
  ASHLAR_ASSERT(seconds >= 5);
  const CheatTaken honest = play_cheat(Cheat::none, seconds);
  const auto way = [&](const char* name, Cheat cheat) {
    return CheatFigure{name, "way, m", honest.way_m, play_cheat(cheat, seconds).way_m, 1e-6};
  };
  const CheatTaken stalls = play_cheat(Cheat::stalls, seconds);
  std::vector<CheatFigure> out{
      way("speed: a clock that runs 1.5 times as fast", Cheat::fast_clock),
      way("speed: everything said twice", Cheat::doubled),
      way("speed: packets kept back, in bursts", Cheat::bursts),
      {"teleport: silent for a second, then all at once", "longest step of a tick, m", honest.step_m,
       stalls.step_m, 1e-6},
      {"teleport: the same", "way, m", honest.way_m, stalls.way_m, 1e-6},
  };
  const auto fired = static_cast<double>(play_cheat(Cheat::taps, seconds).shots);
  // Where a shot falls to the second's end is chance.
  out.push_back({"rapid fire: trigger tapped each tick, said twice", "shots",
                 static_cast<double>(honest.shots), fired, 1});
  out.push_back({"reach: digs 8 to 31 m away", "blocks", 0,
                 static_cast<double>(play_cheat(Cheat::reach, seconds).dug_far), 0});
  add_lying(600, 80, seconds, out);
  add_lying(100, 20, seconds, out);
  add_lying(100, 80, seconds, out);
  return out;
}

}  // namespace ashlar::simulation
