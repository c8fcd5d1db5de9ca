#pragma once
#include <optional>
#include <span>

#include "world/bsp/heights.h"
#include "world/math/contact.h"
#include "world/math/shapes.h"

// The one solid space: solid(p) = voxel_solid(p) or map_solid(p) or prop_solid(p).
// Every query of movement, sight and shots enters here, so that a new kind of solid is added once.

namespace ashlar {

class VoxelVolume;
class PlacedMap;
class Prop;

/// A map where it stands and the heights its sectors have now.
struct MapInSpace {
  const PlacedMap* map = nullptr;
  HeightsView heights;
};

/// A view: it owns nothing and is cheap to copy. Valid while the world it was taken from is not changed.
struct Space {
  const VoxelVolume* voxels = nullptr;
  std::span<const MapInSpace> maps;
  std::span<const Prop* const> props{};  ///< static, see world/collide/prop.h
};

/// Is the point in solid (unloaded space is)? Closed below, open above, as blocks span [i, i+1).
bool space_solid(const Space& space, DVec3 point);

/// Does the cylinder overlap a solid by more than contact_slop_m? Touching is not overlapping.
bool space_overlaps(const Space& space, const Cylinder& shape, DVec3 base);

/// First impact on the way base -> base + delta.
SweepHit space_sweep(const Space& space, const Cylinder& shape, DVec3 base, DVec3 delta);

/// First solid on a ray. Precondition: direction is unit length, t_max_m >= 0 and finite.
RayHit space_ray(const Space& space, DVec3 origin, DVec3 direction, double t_max_m);

/// True when nothing solid lies between two points: line of sight for monsters and shots.
bool space_sees(const Space& space, DVec3 from, DVec3 to);

/// Height of the ground under the disc at or below z, at most depth_m_max below; nullopt: none in reach.
std::optional<double> space_ground_below(const Space& space, DVec2 centre, double radius_m, double z,
                                         double depth_m_max);

/// Is any chunk that the cylinder's bounds touch not loaded? Such movers are frozen and left alone.
bool space_unloaded(const Space& space, const Cylinder& shape, DVec3 base);

/// Do the bounds come near the map's rock? Above the roof and beside its box a map is nothing.
bool map_in_reach(const PlacedMap& map, const Aabb& bounds);

/// The earlier of two contacts; at the same time a start inside, then the lower kind.
SweepHit earlier_hit(const SweepHit& a, const SweepHit& b);

}  // namespace ashlar
