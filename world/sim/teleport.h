#pragma once
#include <optional>
#include <span>

#include "world/sim/map_plan.h"
#include "world/sim/mover_bodies.h"

namespace ashlar {

/// The place nearest to `wanted` where a body fits between solids and other bodies: there itself, or on one
/// of three rings around it that can be seen from it, on the ground. nullopt: everything is taken. Cost: at
/// most 25 tries of a few queries.
std::optional<DVec3> free_place_near(const Space& space, const Cylinder& shape, DVec3 wanted,
                                     std::span<const MoverBody> others, EntityId self);

/// Where a teleporting line leads: the landing of the first tagged sector that has one, or for line to line
/// the middle of the other line with the tag. nullopt: the line leads nowhere.
std::optional<Landing> teleport_landing(const MapPlan& plan, HeightsView heights, std::uint32_t line);

/// Puts a body down at a place, at rest: what moved it before is forgotten, so nothing takes it back.
void put_down(Body& body, DVec3 place);

}  // namespace ashlar
