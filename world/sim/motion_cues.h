#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "world/math/vec.h"
#include "world/sim/command.h"
#include "world/sim/cue.h"
#include "world/voxel/block.h"

namespace ashlar {

class World;
class VoxelVolume;
struct Body;

/// How far off a cue is heard or worth showing, whatever a viewer's interest; 0: as far as that.
constexpr double cue_reach_m(CueKind kind) {
  switch (kind) {
    case CueKind::step: return 20;
    case CueKind::splash:
    case CueKind::pickup: return 32;
    case CueKind::use:
    case CueKind::digging:
    case CueKind::plane_starts:
    case CueKind::plane_stops: return 48;
    default: return 0;
  }
}

/// What only shows of a world's ticks beside its fights: steps of those who run on the ground, splashes,
/// items taken, lines used, floors and ceilings that start and stop, blocks being dug (as it begins, at each
/// quarter, and when it is left off). It looks at the world from outside, so a
/// world that nobody watches pays nothing for it, and it is no part of its hash. Bounded: steps_max steps and
/// splashes a tick, of which cell_max in a cell of cell_m, and others_max of the rest. A step that finds no
/// room is made in a later tick; anything else is left out. One thread. No allocation once it has seen its
/// world. Cost: some 3 ns a row of players and monsters.
class MotionCues {
 public:
  static constexpr std::size_t steps_max = 48, cell_max = 4, others_max = 64;
  static constexpr double cell_m = 16;
  /// On foot from one step to the next.
  static constexpr double stride_m = 2;
  /// Who is slower walks softly.
  static constexpr double run_mps_least = 2;
  /// Into a liquid; slower bodies wade.
  static constexpr double splash_mps_least = 1.5;

  /// After each step of the world. Another world, or ticks that were passed over, begin anew.
  void stepped(const World& world);

  /// Of the last tick.
  std::span<const WorldCue> cues() const { return cues_; }

 private:
  /// What is known of a body, by its slot.
  struct Track {
    EntityId id{};
    DVec3 before;
    double walked_m = 0;  // since its last step
    IVec3 block;          // where its base is
    bool wet = false;     // that is a liquid
  };
  void follow(const VoxelVolume& ground, EntityId id, const Body& body);
  void take_step(const VoxelVolume& ground, Track& track, DVec3 base);
  bool has_room(DVec3 at);
  void add_bodies(const World& world);
  void add_pickups(const World& world);
  void add_digging(const World& world);
  void add_movers(const World& world);
  /// A block that a player was digging.
  struct Dug {
    EntityId who{};  // 0: none
    IVec3 block;
    BlockId id{};
  };
  void show(const WorldCue& cue, std::size_t& count, std::size_t most);

  std::vector<Track> tracks_;  // by slot
  std::vector<Dug> dug_;       // by player
  std::vector<WorldCue> cues_;
  std::array<std::uint8_t, 256> in_cell_{};  // steps of the tick, by a hash of the cell
  std::size_t steps_ = 0, others_ = 0;
  std::uint32_t tick_ = 0;
  double tick_s_ = 0;
};

}  // namespace ashlar
