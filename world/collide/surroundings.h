#pragma once
#include <array>
#include <optional>

#include "world/collide/space.h"
#include "world/collide/window_queries.h"
#include "world/math/nearest_place.h"

namespace ashlar {

/// What one correction may ask: what it starts from, and the places it tries.
inline constexpr std::uint32_t correct_queries_max = 1 + NearestPlace::tries_max;

/// The part of the one solid space around one mover for one tick: block bits copied once, maps that are out
/// of reach left out. Same answers as the space_ functions, several times cheaper where a tick asks often.
/// A query that leaves the reach goes to the whole space by itself.
class Surroundings {
 public:
  /// @param reach  everything that the mover may touch this tick; a larger one costs columns, a smaller one
  ///               costs the detour over the whole space
  Surroundings(const Space& space, const Cylinder& shape, const Aabb& reach);

  const Space& space() const { return space_; }     ///< kept by reference: it has to outlive this, unchanged
  const Cylinder& shape() const { return shape_; }  ///< the mover's, of every query
  /// Is nothing but full blocks in reach?
  bool full_blocks_only() const {
    return !whole_space_ && map_count_ == 0 && prop_count_ == 0 && window_.parts_any == 0;
  }

  /// Likewise with the reach grown by margin_m on every side, for what slides a little out of it.
  bool full_blocks_only(double margin_m) const;

  /// As space_overlaps(): by more than contact_slop_m.
  bool overlaps(DVec3 base) const;
  /// As space_sweep(), on the way base -> base + delta.
  SweepHit sweep(DVec3 base, DVec3 delta) const;
  /// Height of the ground under the shape's disc at or below base.z, at most depth_m below.
  std::optional<double> ground_below(DVec3 base, double depth_m) const;
  /// The least translation of at most reach_m that separates the body from all solids together; zero where
  /// nothing is overlapped, nullopt where there is none. At most correct_queries_max queries.
  std::optional<DVec3> correct(DVec3 base, double reach_m) const;
  /// Is a chunk that the body's bounds touch not loaded?
  bool unloaded(DVec3 base) const;

  /// How many overlaps, sweeps, grounds and corrections were asked for: a tick's work, which is bounded.
  std::uint32_t queries() const { return queries_; }

 private:
  bool covered(const Aabb& b, double below_m) const {
    return !whole_space_ && b.min.x >= reach_.min.x && b.max.x <= reach_.max.x && b.min.y >= reach_.min.y &&
           b.max.y <= reach_.max.y && b.min.z - below_m >= reach_.min.z && b.max.z <= reach_.max.z;
  }

  static constexpr std::size_t maps_max = 4, props_max = 8;
  const Space& space_;
  Cylinder shape_;
  RoundedBox rounded_;
  Aabb reach_;
  bool whole_space_ = false;  ///< the reach fits no window or holds too many maps
  std::size_t map_count_ = 0;
  std::array<const MapInSpace*, maps_max> maps_;
  std::size_t prop_count_ = 0;
  std::array<std::uint32_t, props_max> props_;
  mutable std::uint32_t queries_ = 0;
  BlockWindow window_;
};

}  // namespace ashlar
