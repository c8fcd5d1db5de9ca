#include "client_sim/load/cheating.h"

#include <algorithm>
#include <array>
#include <utility>

#include "world/sim/block_act.h"
#include "world/voxel/chunk.h"

namespace ashlar::client_sim {
namespace {

constexpr std::array<std::string_view, load_cheat_count> cheat_words{
    "fast-clock", "doubled", "bursts", "stalls", "reach", "taps", "lies", "spy"};
constexpr std::int64_t burst_ms = 125, stall_ms = 500;
constexpr int nearest_far_m = 8, far_count = 24;

}  // namespace

std::string_view name(LoadCheat cheat) { return cheat_words[static_cast<std::size_t>(cheat)]; }

std::optional<LoadCheat> load_cheat(std::string_view wanted) {
  const auto at = std::ranges::find(cheat_words, wanted);
  if (at == cheat_words.end()) return std::nullopt;
  return static_cast<LoadCheat>(at - cheat_words.begin());
}

Micros Cheater::clock(Micros now, const Client& client) {
  if (since_ == Micros{0} && client.own()) since_ = now;
  if (cheat_ != LoadCheat::fast_clock || since_ == Micros{0}) return now;
  return now + (now - since_) / 2;
}

const DatagramBatch& Cheater::say(Micros now, const DatagramBatch& out) {
  const auto append = [](DatagramBatch& to, const DatagramBatch& from) {
    for (const auto& entry : from.entries()) to.add(entry.peer, from.bytes(entry));
  };
  const std::int64_t ms = (now - since_).count() / 1000;
  const bool silent = (cheat_ == LoadCheat::bursts && ms % burst_ms >= burst_ms / 12) ||
                      (cheat_ == LoadCheat::stalls && ms % (2 * stall_ms) < stall_ms);
  said_.clear();
  append(kept_, out);
  if (silent && since_ != Micros{0}) return said_;
  append(said_, kept_);
  if (cheat_ == LoadCheat::doubled || cheat_ == LoadCheat::taps) append(said_, kept_);
  kept_.clear();
  return said_;
}

/// A block that it looks at from too far away.
void Cheater::act(Micros now, Client& client) {
  if (cheat_ != LoadCheat::reach || now < next_act_ || !client.own()) return;
  next_act_ = now + Micros{1'000'000};
  const IVec3 under = block_at(client.own()->body.position_m - DVec3{0, 0, 0.5});
  const IVec3 far = under + IVec3{nearest_far_m + acts_++ % far_count, 0, 0};
  static_cast<void>(client.act(BlockActKind::dig, far));
}

PlayerCommand Cheater::falsified(PlayerCommand command, const Client& client) const {
  const std::uint32_t tick = client.command_tick() + 1;
  if (cheat_ == LoadCheat::taps && tick % 2 == 0)
    command.buttons = static_cast<std::uint16_t>(command.buttons & ~button::attack);
  if (cheat_ == LoadCheat::lies) {
    constexpr double lie_s = 0.6;
    const auto lag =
        static_cast<std::uint32_t>(lie_s * client.welcome().rules.tick_rate_hz) + client.view_lag();
    command.seen = TickId{tick > lag ? tick - lag : 1};
    command.told_before = static_cast<std::uint8_t>(1 + tick % 9);
    command.told_after = static_cast<std::int8_t>(static_cast<int>(tick % 13) - command.told_before);
  }
  return command;
}

void ShotCount::note(Client& client) {
  const std::uint32_t second = client.welcome().rules.tick_rate_hz;
  for (const HeardCue& heard : client.take_cues()) {
    const bool shot = heard.cue.kind == CueKind::shot || heard.cue.kind == CueKind::launch;
    if (!shot || heard.cue.who != client.player()) continue;
    add(client.stats().worlds, heard.tick, second);
  }
}

void ShotCount::add(std::uint64_t world, std::uint32_t tick, std::uint32_t second) {
  if (std::exchange(world_, world) != world) ticks_.clear();
  ++shots_;
  ticks_.push_back(tick);
  // They nearly always come in order; what is late counts where it comes.
  while (ticks_.front() + second <= tick) ticks_.pop_front();
  most_ = std::max(most_, static_cast<std::uint32_t>(ticks_.size()));
}

void Gait::note(const Client& client) {
  if (!client.own() || client.own_tick() == tick_) return;
  const std::uint32_t before = tick_;
  const DVec3 was_m = at_m_;
  tick_ = client.own_tick();
  at_m_ = client.own()->body.position_m;
  const Rules& rules = client.welcome().rules;
  const std::uint32_t second = rules.tick_rate_hz;
  // What anybody may walk, whether or not the honest ones ran as straight.
  may_second_m_ = rules.walk_speed_mps_max, may_step_m_ = rules.walk_speed_mps_max * rules.tick_s();
  if (client.stats().worlds != world_ || client.own()->health == 0 || tick_ < before) {
    world_ = client.stats().worlds;
    from_tick_ = tick_ + second / 2;  // it falls to the ground
    steps_m_ = {};
  }
  if (tick_ < from_tick_ || before + 1 < from_tick_) return;
  // What was lost on the way is a longer step over several ticks.
  const double way_m = length(xy(at_m_ - was_m));
  const std::uint32_t ticks = tick_ - before;
  if (ticks >= second) {
    steps_m_ = {};
    return;
  }
  for (std::uint32_t t = before + 1; t <= tick_; ++t) steps_m_[t % ticks_max] = way_m / ticks;
  step_m_ = std::max(step_m_, way_m / ticks);
  double sum_m = 0;
  for (std::uint32_t i = 0; i < second; ++i) sum_m += steps_m_[(tick_ - i) % ticks_max];
  second_m_ = std::max(second_m_, sum_m);
}

void CheatReport::add(const Gait& gait, const ShotCount& fired, std::uint64_t hit, bool cheats) {
  ++(cheats ? cheating : honest);
  (cheats ? shots : honest_shots) += fired.shots();
  (cheats ? hits : honest_hits) += hit;
  std::uint32_t& most = cheats ? shots_second : honest_shots_second;
  most = std::max(most, fired.second());
  double& second = cheats ? second_m : honest_second_m;
  double& step = cheats ? step_m : honest_step_m;
  second = std::max(second, gait.second_m());
  step = std::max(step, gait.step_m());
  may_second_m = std::max(may_second_m, gait.may_second_m());
  may_step_m = std::max(may_step_m, gait.may_step_m());
}

}  // namespace ashlar::client_sim
