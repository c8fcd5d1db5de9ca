#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/messages.h"
#include "server/host/placed_entity.h"
#include "server/host/sight_culler.h"
#include "world/bsp/open_rooms.h"
#include "world/collide/visibility_query.h"
#include "world/sim/motion_cues.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// What only shows of the last ticks (fights and what moves: motion_cues.h), and what of it a client may be
/// told: a cue's entity where that entity is told of now, its place where somebody who stood there would be.
/// So nobody learns of who may not be seen, also not by what he does. A client is told each cue once, in the
/// next snapshot that goes to it; what is older than 16 ticks and two snapshots, or finds no room there, it
/// misses. Steps are for the next snapshot alone, and nobody is told of its own. The Host's thread. No
/// allocation once grown.
class CueBoard {
 public:
  /// Of all ticks that are kept; what happens beyond is left out.
  static constexpr std::size_t kept_max = 4096;

  /// @param every_ticks  how often the world is published
  explicit CueBoard(std::uint32_t every_ticks)
      : every_ticks_(every_ticks), ticks_kept_(std::clamp(2 * every_ticks, 16u, 255u)) {}

  /// After each step.
  void stepped(const World& world);
  /// Before clients are told of a tick.
  /// @param placed   everybody, in any order
  /// @param reach_s  where sight is culled: for how long ahead (SightReach::seconds); 0: it is not
  /// @param culler  which tells what of that walls leave; null: all of it
  void gather(const World& world, std::span<const PlacedEntity> placed, double reach_s,
              SightCuller* culler = nullptr);
  /// Another world.
  void clear() {
    kept_.clear();
    motion_ = MotionCues{};
  }

  /// Who is told.
  struct Viewer {
    EntityId player{};
    DVec3 eye_m;
    double radius_m = 0, margin_m = 0;
    std::uint32_t told_tick = 0;        ///< what happened up to it the client has been told
    const SightReach* reach = nullptr;  ///< what rock hides from it is left out; null: nothing is for that
  };
  /// What a viewer may be told, the nearest first, at most cues_max; steps count as four times as far. Call
  /// after gather(). Valid until the next call. Cost: some 5 ns for each cue that is new to the viewer, and
  /// one visibility query where any is near.
  /// @param rooms  of the world's maps, as of now
  std::span<const Cue> pick(const Viewer& viewer, const World& world, std::span<const OpenRooms> rooms);

 private:
  /// Something that may be seen, or may not.
  struct Spot {
    bool there = false;
    DVec3 base{};
    std::uint32_t first_place = 0, place_count = 0;  // in places_
    Aabb reach{};                                    // where sight is culled
  };
  struct Kept {
    std::uint32_t tick = 0;
    Cue cue;
    DVec3 place_m{};
    double reach_m = 0;  // no farther than this; 0: as far as the viewer's interest
    Spot who, place;
  };
  struct Picked {
    double distance2 = 0;
    Cue cue;
  };
  void forget(std::uint32_t tick);
  void keep(std::uint32_t tick, CueKind kind, std::uint8_t detail, EntityId who,
            std::optional<DVec3> place_m);
  Spot spot_of(const World& world, DVec3 base, const Cylinder& shape);
  bool may_know(const Spot& spot, const Viewer& viewer, const World& world, std::span<const OpenRooms> rooms);
  /// What of a cue the viewer may know; nothing where that is nothing.
  std::optional<Cue> told_of(const Kept& kept, const Viewer& viewer, const World& world,
                             std::span<const OpenRooms> rooms);

  std::uint32_t every_ticks_, ticks_kept_;
  MotionCues motion_;
  std::vector<Kept> kept_;  // by tick
  std::vector<SightPlace> places_;
  std::vector<std::uint32_t> row_of_slot_;  // in placed, and one more; 0: not there
  VisibilityQuery query_;
  bool looked_ = false;       // query_ has, for this viewer
  std::vector<Picked> best_;  // nearest first
  std::vector<Cue> picked_;
};

}  // namespace ashlar::server
