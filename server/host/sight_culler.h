#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/host/placed_entity.h"
#include "world/bsp/sight_graph.h"
#include "world/collide/space.h"
#include "world/math/shapes.h"
#include "world/sim/block_act.h"
#include "world/sim/rules.h"
#include "world/voxel/volume.h"

namespace ashlar::server {

/// Before it can be seen somebody's word arrives so long, at the speeds in play.
inline constexpr double sight_ahead_s = 0.1;
/// What that makes of a snapshot that is followed by the next so many ticks later.
constexpr double sight_ahead(std::uint32_t tick_rate_hz, std::uint32_t every_ticks) {
  return sight_ahead_s + static_cast<double>(every_ticks + 1) / tick_rate_hz;
}
/// Pairs of places that are looked into in one tick at most; who is asked for beyond may be seen.
inline constexpr std::uint32_t sights_computed_max = 2048;
/// Likewise of the rows of blocks that this reads: some 3 ms, wherever the pairs are.
inline constexpr std::uint32_t sight_rows_max = std::uint32_t{1} << 17;
/// Answers that are kept, 16 bytes each.
inline constexpr std::size_t sights_kept = std::size_t{1} << 17;

/// Where something that stands somewhere may be within some seconds: as fast as it moves now or as players
/// walk, jumping or falling. What flies on its own goes on as it does.
Aabb reach_of(const PlacedEntity& entity, const Rules& rules, double seconds);
/// Likewise of a pair of eyes.
Aabb reach_of_eyes(DVec3 eye, DVec3 velocity_mps, const Rules& rules, double seconds);

/// Only grow.
struct SightCounters {
  std::uint64_t asked = 0, hidden = 0;
  std::uint64_t computed = 0;  ///< were not known
  std::uint64_t beyond = 0;    ///< were not known, and told all the same as the tick had no time for more
};

/// Whom a viewer cannot see whatever both do in the next moments: rock between them, ground or a map's, that
/// no straight line from where the one may be to where the other may be passes (sight_shaft.h,
/// sight_graph.h). For rules under which such a one is not told of at all, so that no client can show what is
/// behind walls. Doors and lifts count as open as they may ever be; who they hide the visibility query knows.
///
/// Answers are kept by places of a quarter of a metre (half, farther than 24 m), so who stands still asks
/// once and viewers in one spot share, until a block between is taken away; farther than 6 m those of two
/// metres are asked first, as rock that parts them parts all that is in them. A pair is looked into in some 2
/// us in rock and 20 between hills; a tick looks into sights_computed_max pairs and reads sight_rows_max rows
/// of blocks. About 2 MiB, and the maps' graphs. The Host's thread. No allocation in may_see() once grown.
class SightCuller {
 public:
  /// Of a world's ground and maps, which must outlive it.
  SightCuller(const VoxelVolume& ground, std::span<const MapInSpace> maps);

  /// Call after each step with what it changed: blocks that went are holes.
  void stepped(std::uint32_t tick, std::span<const AppliedEdit> edits);
  /// Of where something that fills `now` may soon be, the part that walls leave to it (confined_box.h).
  Aabb confined(const Aabb& now, const Aabb& reach);
  /// Likewise of an entity, which is worked out once for all who ask (reach_of() above).
  Aabb reach_of(const PlacedEntity& entity, const Rules& rules, double seconds);
  /// False is sure: nothing in the one box can be seen from anywhere in the other.
  bool may_see(const Aabb& eyes, const Aabb& body);
  const SightCounters& counters() const { return counters_; }

 private:
  struct Answer {
    std::uint64_t key = 0;  // 0: none
    std::uint32_t tick = 0;
    bool open = false;
  };
  struct Hole {
    std::uint32_t tick = 0;
    IVec3 block;
  };
  struct Confined {
    EntityId id{};
    std::uint32_t tick = 0;
    Aabb reach{}, part{};
  };
  bool holds(const Answer& answer, const Aabb& eyes, const Aabb& body) const;
  /// The answer for two boxes rounded to cells; nothing where the tick has no time for it.
  std::optional<bool> known(const Aabb& eyes, const Aabb& body, double cell_m);
  bool look(const Aabb& eyes, const Aabb& body);

  const VoxelVolume& ground_;
  std::vector<SightGraph> graphs_;
  SightGraph::Scratch scratch_;
  std::vector<Answer> answers_;
  std::vector<Confined> confined_;  // by slot
  std::array<Hole, 64> holes_{};
  std::size_t next_hole_ = 0;
  std::uint32_t forgotten_ = 0;  // answers of this tick and before know nothing of holes that are not kept
  std::uint32_t tick_ = 0;
  std::uint32_t computed_ = 0, rows_read_ = 0;  // in this tick
  SightCounters counters_;
};

/// A viewer's question to it. The culler has to outlive it.
struct SightView {
  SightCuller* culler = nullptr;
  Aabb eyes{};
  bool may_see(const Aabb& body) const { return culler->may_see(eyes, body); }
};

/// Likewise, with what tells where an entity may soon be.
struct SightReach {
  SightView view;
  const Rules* rules = nullptr;
  double seconds = 0;
  bool may_see(const PlacedEntity& entity) const {
    return view.may_see(view.culler->reach_of(entity, *rules, seconds));
  }
};

}  // namespace ashlar::server
