#pragma once
// Players of a world who dig and build, for benchmarks.
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/bench/timing.h"
#include "world/sim/block_acts.h"
#include "world/sim/ground_generator.h"
#include "world/sim/world.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

namespace ashlar::bench {

/// What they do: nothing; dig and fill their hole again as fast as the rules allow; in every tick, without a
/// cool-down; send as many acts as are heard, of blocks that they cannot see.
enum class BuildersWay : std::uint8_t { still, work, every_tick, flood };

/// 200 players on 160 x 160 m of terrain at 60 Hz who dig and build.
class Builders {
 public:
  explicit Builders(BuildersWay way) : way_(way) {
    WorldSetup setup;
    setup.players_max = players;
    setup.monsters = setup.monsters_max = 0;
    if (way == BuildersWay::every_tick) setup.rules.block_interval_s = 0;
    world_ = std::make_unique<World>(setup);
    join();
  }

  /// What they do in the next step.
  void decide() {
    acts_.clear();
    if (way_ == BuildersWay::still) return;
    for (Hand& hand : hands_) {
      if (way_ == BuildersWay::flood) {
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
  /// @return seconds that it took of this thread
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
  const World& world() const { return *world_; }
  std::uint64_t changed = 0;  ///< blocks

 private:
  static constexpr std::uint32_t players = 200;
  struct Hand {
    EntityId id{};
    IVec3 ground{};  ///< the block that is dug, and stands there again when it was placed
    std::uint32_t number = 0;
    bool hole = false, waits = false;
  };
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

  BuildersWay way_;
  std::unique_ptr<World> world_;
  std::vector<Hand> hands_;
  std::vector<PlayerInput> commands_;
  std::vector<BlockAct> acts_;
};

}  // namespace ashlar::bench
