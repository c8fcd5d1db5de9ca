#pragma once
#include <cstdint>
#include <vector>

#include "world/collide/body.h"
#include "world/collide/space.h"
#include "world/math/shapes.h"
#include "world/sim/kinds.h"
#include "world/sim/rules.h"

namespace ashlar {

/// Nobody is pushed faster than this: crowds give way softly, and a tick's push never crosses a wall.
inline constexpr double crowd_push_mps_max = 6.0;

/// When a mover is pushed. Monsters among themselves take turns, every second tick each: a push costs as much
/// as a step, and in heaps all are pushed all the time.
enum class PushTurn : std::uint8_t {
  always,     ///< and whom it meets likewise: clients foresee their own pushes
  this_tick,  ///< of those that take turns
  next_tick,
};

/// Movers meet: upright cylinders that overlap push each other apart, never into a wall. Filled anew every
/// tick; memory is reserved once. The outcome does not depend on the order in which movers were added.
class Crowd {
 public:
  /// Room for this many movers: add() asserts it, and a tick then allocates nothing.
  void reserve(std::size_t movers_max);
  void clear();
  /// The body must stay where it is in memory until push_apart() returns. Ids must differ.
  /// @param against_walls  what of it meets walls
  void add(const Cylinder& shape, const Cylinder& against_walls, Body& body, EntityId id,
           PushTurn turn = PushTurn::always);
  void add(const Cylinder& shape, Body& body, EntityId id) { add(shape, shape, body, id); }
  /// One who pushes and is not pushed: it is where it came to rest after its half of the push, so the other
  /// one takes all that is left of the overlap.
  void add_fixed(const Cylinder& shape, DVec3 position_m, EntityId id);
  /// Moves overlapping bodies apart, each by half of the overlap, sliding along solids and never into them.
  /// Whoever has to wait for its turn is left where it is, but for those who meet somebody that does not.
  /// Of its speed a body loses half of what points into the other and gains nothing. Bodies in recovery and
  /// in no-clip neither push nor are pushed. Cost: about 0.05 us a mover that meets nobody and 0.3 us one
  /// that does, more where they stand in heaps.
  void push_apart(const Space& space, const Rules& rules);

  /// How many pairs overlapped in the last push_apart().
  std::size_t pairs_met() const { return pairs_met_; }

 private:
  struct Mover {
    Cylinder shape, against_walls;
    DVec3 position_m;
    Body* body;  // null: fixed
    DVec2 push_m;
    DVec2 brake_mps;
    std::uint64_t cell;
    EntityId id;
    PushTurn turn;
    bool pushed_now;
  };
  /// The order of movers is that of their cells, then of their ids.
  struct Key {
    std::uint64_t cell;
    EntityId id;
    std::uint32_t mover;
  };
  /// What says whether somebody meets somebody, in that order: who stand in one heap lie together in memory.
  struct Disc {
    DVec3 position_m;
    double radius_m, height_m;
    EntityId id;
    std::uint32_t mover;
  };
  /// Movers whose cells have the same y are neighbours in the order.
  struct Row {
    std::int32_t y;
    std::uint32_t first;
    std::uint32_t from;  ///< where a search in it ended last: the next one's is near
  };

  void add(const Mover& mover);
  void follow_changes();
  void sort();
  void meet_neighbours(std::size_t row, std::uint32_t place);
  void meet(Mover& a, Mover& b);

  std::vector<Mover> movers_;
  std::vector<Key> order_;            ///< kept from tick to tick: the next one's is nearly the same
  std::vector<EntityId> ids_;         ///< of the movers that it is of
  std::vector<std::uint32_t> now_;    ///< by number of these, their numbers now
  std::vector<std::uint64_t> cells_;  ///< in order, dense for the searches
  std::vector<Disc> discs_;           ///< likewise
  std::vector<Row> rows_;             ///< of occupied cells, ascending; a last one ends them
  double narrow_radius_m_ = 0;        ///< of the widest that is not wide
  std::size_t movers_max_ = 0;
  std::size_t pairs_met_ = 0;
};

}  // namespace ashlar
