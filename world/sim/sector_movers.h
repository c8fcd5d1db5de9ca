#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "world/bsp/heights.h"
#include "world/math/hash.h"
#include "world/sim/mover_bodies.h"

namespace ashlar {

class PlacedMap;

/// How a plane goes on after it arrived or met somebody; one row of `motion_traits` each.
/// Values travel on the wire: append only.
enum class Motion : std::uint8_t {
  door_raise,            ///< up, wait, down; turns back when it meets somebody
  door_open,             ///< up
  door_close,            ///< down; waits for whoever stands in it
  door_close_wait_open,  ///< down, wait, up; turns back
  lift,                  ///< down, wait, up; turns back
  lift_up,               ///< up, wait, down; turns back
  perpetual,             ///< down, wait, up, wait, and so on; turns back
  once,                  ///< to its target; waits for whoever is in the way
  crusher,               ///< down, up, and so on; presses on
};
inline constexpr std::uint8_t motion_count = 9;

/// What a plane does right now.
enum class MotionPhase : std::uint8_t { up, down, wait_high, wait_low, held };

/// One floor or ceiling in motion (or waiting to move on). A value: snapshots copy it, clients predict from
/// it. One struct a mover, as advancing it touches every field.
struct Mover {
  std::uint32_t sector = 0;
  Plane plane = Plane::floor;
  Motion motion = Motion::once;
  MotionPhase phase = MotionPhase::up;
  MotionPhase resume = MotionPhase::up;  ///< what a held mover goes on with
  std::uint8_t crushes = 0;              ///< 0 or 1: hurts whom it meets
  std::uint8_t slows = 0;                ///< 0 or 1: creeps once it met somebody, until it turns
  std::uint8_t pressed = 0;              ///< 0 or 1: it met somebody on this stroke
  std::uint8_t fresh = 1;                ///< 0 or 1: set off and not moved yet, so nobody has heard it start
  double low_m = 0, high_m = 0;          ///< ends of its way
  double speed_mps = 0;
  double wait_s = 0;     ///< at the end where it waits
  double left_s = 0;     ///< of the present wait
  double hurt_in_s = 0;  ///< until it may hurt again

  bool moving() const { return phase == MotionPhase::up || phase == MotionPhase::down; }
  friend bool operator==(const Mover&, const Mover&) = default;
};

/// Are the kinds known and the values finite and within what a mover may have? For what was received.
bool mover_sane(const Mover& mover);

/// Do both move alike where nobody is in the way? Everything counts but when it hurts and is heard.
bool same_motion(const Mover& a, const Mover& b);

/// The planes of one map that are in motion, ordered by sector, floor before ceiling: state of the simulation
/// beside the heights. A copyable value; copying into one of the same map allocates nothing.
class SectorMovers {
 public:
  SectorMovers() = default;
  /// Room for every plane of the map: full cannot happen.
  explicit SectorMovers(std::uint32_t sector_count);

  /// By sector, floor before ceiling. Valid until a plane is set in motion or comes to rest.
  std::span<const Mover> movers() const { return movers_; }
  /// The plane's mover, or nullptr when it rests.
  const Mover* find(std::uint32_t sector, Plane plane) const;
  Mover* find(std::uint32_t sector, Plane plane);

  /// Sets a plane in motion. @return false, and nothing changed, when it is in motion already.
  /// Preconditions: the sector exists; speed_mps > 0; finite ends.
  bool start(const Mover& mover);

  /// Replaces the state, as received; what is not a mover of this map (order, ranges) is refused.
  /// @return false: refused, nothing changed. No allocation.
  bool assign(std::span<const Mover> movers);

  /// Sets one plane's motion to what was received, whatever it did before.
  /// @return false: no mover of this map, nothing changed. No allocation.
  bool put(const Mover& mover);
  /// The plane rests from now on.
  void remove(std::uint32_t sector, Plane plane);

  /// Moves every plane by one tick, in order, carrying and stopping for the bodies in `tick`. Those that
  /// arrived for good leave the table. What is left of a tick after an arrival counts for what comes next, so
  /// a motion takes the same time at every tick rate.
  /// No allocation. Cost: about 20 ns a mover in motion, plus one query or two of space per body it touches.
  void advance(MoverTick& tick, double dt_s);

  /// Moves every plane by one tick as if nobody were there: what a client foresees, and what a server need
  /// not tell. The arithmetic is advance()'s, so where nobody is in the way both give the same bits. No
  /// allocation.
  void advance_alone(const PlacedMap& map, std::span<SectorHeights> heights, double dt_s);

  /// Feeds every field, in order.
  void add_to_hash(StripeHasher& hash) const;

 private:
  void step_all(const PlacedMap& map, std::span<SectorHeights> heights, MoverTick* tick, double dt_s);

  std::vector<Mover> movers_;
  std::uint32_t sectors_ = 0;
};

}  // namespace ashlar
