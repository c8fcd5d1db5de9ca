// What digging and building costs: 200 players on 160 x 160 m of terrain at 60 Hz, who stand still, who dig
// and fill their hole again as fast as the rules allow, who place and dig in every tick (no cool-down, a
// block that gives way at once), and who send as many acts as are heard, of blocks that they cannot see. CPU
// time of the thread a tick, and how many blocks changed. Exit code 1 where nothing was changed that should
// be.
//   bench_edits [--ticks N]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/timing.h"
#include "world/sim/block_acts.h"
#include "world/sim/ground_generator.h"
#include "world/sim/world.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::bench;

namespace {

constexpr std::uint32_t players = 200;
enum class Way : std::uint8_t { still, work, every_tick, flood };

struct Hand {
  EntityId id{};
  IVec3 ground{};  ///< the block that is dug, and stands there again when it was placed
  std::uint32_t number = 0;
  bool hole = false, waits = false;
};

class Site {
 public:
  explicit Site(Way way) : way_(way) {
    WorldSetup setup;
    setup.players_max = players;
    setup.monsters = setup.monsters_max = 0;
    if (way == Way::every_tick) setup.rules.block_interval_s = 0;
    world_ = std::make_unique<World>(setup);
    join();
  }

  void decide() {
    acts_.clear();
    if (way_ == Way::still) return;
    for (Hand& hand : hands_) {
      if (way_ == Way::flood) {
        for (int i = 0; i < BlockActs::acts_per_tick_max; ++i)
          acts_.push_back({hand.id, ++hand.number, BlockActKind::dig, BlockFace::top,
                           hand.ground - IVec3{0, 0, 1}, BlockId::air});
        continue;
      }
      if (hand.waits) continue;
      hand.waits = true;
      // What fills the hole hangs on the block below it.
      if (hand.hole)
        acts_.push_back({hand.id, ++hand.number, BlockActKind::place, BlockFace::top,
                         hand.ground - IVec3{0, 0, 1}, BlockId::leaves});
      else
        acts_.push_back(
            {hand.id, ++hand.number, BlockActKind::dig, BlockFace::top, hand.ground, BlockId::air});
    }
  }
  double step() {
    TickInput input;
    input.commands = commands_;
    input.acts = acts_;
    const double start = thread_s();
    world_->step(input);
    const double took = thread_s() - start;
    changed += world_->applied_edits().size();
    for (const BlockVerdict& v : world_->block_acts().verdicts()) {
      if (v.verdict == ActVerdict::progress) continue;
      Hand& hand = hands_[slot_of(v.player)];
      hand.waits = false;
      if (v.verdict == ActVerdict::done) hand.hole = !hand.hole;
    }
    return took;
  }
  std::uint64_t changed = 0;

 private:
  void join() {
    const std::vector<std::uint32_t> tokens(players);
    TickInput input;
    input.joins = tokens;
    world_->step(input);
    std::vector<AdminCommand> put;
    for (std::uint32_t i = 0; i < players; ++i) {
      Hand hand;
      hand.id = world_->joined()[i].id;
      const DVec2 at{-80 + (i % 15 + 0.5) * 10.6, -80 + (i / 15 + 0.5) * 11.4};
      const IVec3 below = block_at({at.x, at.y, 0});
      const std::int32_t top = surface_height(world_->ground()->terrain(), below.x + 1, below.y);
      const auto ground = space_ground_below(world_->space(), at, 0.45, top + 12.0, 64);
      put.push_back({AdminAction::teleport, hand.id, {at.x, at.y, ground.value_or(top)}});
      hand.ground = {below.x + 1, below.y, top - 1};
      PlayerInput looks{hand.id, {}};
      looks.command.pitch = Turn16{static_cast<std::uint16_t>(-9000)};
      commands_.push_back(looks);
      hands_.push_back(hand);
    }
    TickInput placing;
    placing.admin = put;
    world_->step(placing);
    for (int i = 0; i < 60; ++i) step();
  }

  Way way_;
  std::unique_ptr<World> world_;
  std::vector<Hand> hands_;
  std::vector<PlayerInput> commands_;
  std::vector<BlockAct> acts_;
};

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t ticks = 1800;
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::strcmp(argv[i], "--ticks") == 0)
      ticks = static_cast<std::uint32_t>(std::max(60, std::atoi(argv[i + 1])));
  bool good = true;
  double still_us = 0;
  std::printf("%-52s %9s %9s %9s %12s\n", "us a tick, 200 players", "p50", "p99", "added", "blocks/s");
  const struct {
    Way way;
    const char* name;
  } ways[] = {{Way::still, "stand still"},
              {Way::work, "dig and fill as fast as the rules allow"},
              {Way::every_tick, "dig and fill without cool-down"},
              {Way::flood, "four acts a player of blocks out of sight"}};
  for (const auto& w : ways) {
    Site site(w.way);
    site.changed = 0;
    std::vector<double> us;
    for (std::uint32_t t = 0; t < ticks; ++t) {
      site.decide();
      us.push_back(site.step() * 1e6);
    }
    std::ranges::sort(us);
    const double p50 = us[us.size() / 2], p99 = us[us.size() * 99 / 100];
    if (w.way == Way::still) still_us = p50;
    std::printf("%-52s %9.1f %9.1f %9.1f %12.0f\n", w.name, p50, p99, p50 - still_us,
                static_cast<double>(site.changed) / ticks * 60);
    const bool changes = w.way == Way::work || w.way == Way::every_tick;
    if (changes != (site.changed > 0)) good = false, std::printf("WRONG: %s\n", w.name);
  }
  return good ? 0 : 1;
}
