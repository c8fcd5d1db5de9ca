#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "world/bsp/heights.h"
#include "world/collide/space.h"
#include "world/sim/kinds.h"
#include "world/sim/player_move.h"

// Bodies and the floors and ceilings that move: who rides, who is in the way.

namespace ashlar {

class MapPlan;

/// Which of a sector's two planes.
enum class Plane : std::uint8_t { floor = 0, ceiling = 1 };

/// Somebody whom moving sectors carry and stop for.
struct MoverBody {
  Body* body = nullptr;
  Cylinder shape;
  EntityId id{};
};

/// What happened to a moving part, for sound, damage and logs.
enum class MoverEventKind : std::uint8_t {
  started,   ///< a plane began to move
  arrived,   ///< it reached an end of its way
  reversed,  ///< it met somebody and turned back
  crushed,   ///< it hurt `entity`: Rules::crush_damage
  switched,  ///< a line was set off by `entity`
  locked,    ///< `entity` lacks the key
  teleported,
  exited,  ///< `entity` left the map for the surface
  key_taken,
  died,  ///< `entity` died of it; a monster's row is free now
};

/// One of a tick's events. `plane` counts only where a plane did it: for lines and keys it is floor.
struct MoverEvent {
  MoverEventKind kind{};
  std::uint8_t map = 0;
  Plane plane = Plane::floor;
  std::uint32_t where = 0;  ///< sector; the line for switched, locked, teleported and exited; the key bit
  EntityId entity{};        ///< 0: nobody had to do with it
};

/// The events of one tick, bounded: what does not fit is dropped and counted.
class MoverEvents {
 public:
  static constexpr std::size_t events_max = 4096;
  MoverEvents() { list_.reserve(events_max); }
  void clear() { list_.clear(); }
  void add(const MoverEvent& event) {
    if (list_.size() < events_max)
      list_.push_back(event);
    else
      ++dropped_;
  }
  std::span<const MoverEvent> list() const { return list_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::vector<MoverEvent> list_;
  std::uint64_t dropped_ = 0;
};

/// Which bodies stand in or over each sector that moves: filled once a tick, only where something moves.
/// Scratch, not state.
class BodiesBySector {
 public:
  /// Room for so many sectors and bodies; a body may touch `touches_per_body` sectors on average.
  BodiesBySector(std::uint32_t sector_count, std::size_t bodies_max);

  static constexpr std::size_t touches_per_body = 16;
  static constexpr std::size_t touches_to_spare = 256;  ///< for worlds with few bodies
  static constexpr std::uint32_t none = 0xffffffffu;

  /// Lists the bodies whose open discs lie over marked sectors. @return false when the room did not suffice:
  /// the caller must then leave this map's planes where they are for a tick.
  bool fill(const MapPlan& plan, std::span<const MoverBody> bodies);
  /// Marks a sector that will move. Call before fill().
  void mark(std::uint32_t sector);
  /// Forgets touches and marks. Call after the planes moved, whatever fill() said.
  void clear();

  /// A marked sector's first touch, and the one after a touch; none: no more. In the order of the bodies.
  std::uint32_t first(std::uint32_t sector) const { return first_[sector]; }
  std::uint32_t next(std::uint32_t touch) const { return touches_[touch].next; }
  std::uint32_t body(std::uint32_t touch) const { return touches_[touch].body; }  ///< in fill()'s list

  /// Where a body goes with the plane that is being moved, if it goes anywhere: shift_plane's own notes.
  struct Answer {
    double z_m = 0;
    bool moves = false;
  };
  Answer& answer(std::uint32_t touch) { return touches_[touch].answer; }

 private:
  struct Touch {
    std::uint32_t body = 0, next = none;
    Answer answer;
  };
  bool touch(std::uint32_t sector, std::uint32_t body);

  std::vector<std::uint32_t> first_;
  std::vector<std::uint8_t> marked_;
  std::size_t touches_max_;
  std::vector<std::uint32_t> marks_;
  std::vector<Touch> touches_;
};

/// What one tick of one map's movers works on.
struct MoverTick {
  const MapPlan& plan;
  Space space;                        ///< sees `heights`: a plane that moved is felt at once
  std::span<SectorHeights> heights;   ///< of this map
  std::span<const MoverBody> bodies;  ///< of the whole world
  BodiesBySector& touching;
  MoverEvents& events;
  std::uint8_t map = 0;
};

/// Bodies that kept a plane from moving; as many as fit.
struct Blockers {
  static constexpr std::size_t blockers_max = 16;
  std::uint32_t body[blockers_max] = {};
  std::size_t count = 0;
};

/// How fast the floor goes that a body stands on: a conveyor's velocity, else none. Its own move is relative
/// to that (player_move.h); a client that predicts asks it where the world does, before that move.
/// Cost: nothing without conveyors, else one descent of the tree.
DVec2 floor_velocity(const MapPlan& plan, HeightsView heights, const Body& body);

/// Moves one plane to a height and every body on it along: those that stand on a floor stay on it exactly,
/// those that a rising floor meets are lifted, those in the air are pressed down by a ceiling.
/// @return false, and nothing changed, when a body would not fit then; `blockers` says who.
bool shift_plane(MoverTick& tick, std::uint32_t sector, Plane plane, double to_m, Blockers& blockers);

}  // namespace ashlar
