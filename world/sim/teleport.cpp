#include "world/sim/teleport.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr int rings = 3;
constexpr int places_per_ring = 8;
constexpr double ground_above_m = 0.75,
                 ground_below_m = 4;  // how far a ring's floor may be off the landing's

bool meets_others(const Cylinder& shape, DVec3 at, std::span<const MoverBody> others, EntityId self) {
  return std::ranges::any_of(others, [&](const MoverBody& o) {
    if (o.id == self) return false;
    const DVec3 d = o.body->position_m - at;
    const double reach = o.shape.radius_m + shape.radius_m;
    return d.x * d.x + d.y * d.y < reach * reach && d.z < shape.height_m && d.z > -o.shape.height_m;
  });
}

}  // namespace

std::optional<DVec3> free_place_near(const Space& space, const Cylinder& shape, DVec3 wanted,
                                     std::span<const MoverBody> others, EntityId self) {
  const auto fits = [&](DVec3 at) {
    return !space_unloaded(space, shape, at) && !space_overlaps(space, shape, at) &&
           !meets_others(shape, at, others, self);
  };
  if (fits(wanted)) return wanted;
  const DVec3 waist{0, 0, shape.height_m / 2};
  for (int ring = 1; ring <= rings; ++ring) {
    const double away_m = 2.1 * shape.radius_m * ring;
    for (int i = 0; i < places_per_ring; ++i) {
      const DVec2 to = heading(Turn16{static_cast<std::uint16_t>(65536 / places_per_ring * i)}) * away_m;
      DVec3 at = wanted + DVec3{to.x, to.y, 0};
      const auto ground = space_ground_below(space, xy(at), shape.radius_m, wanted.z + ground_above_m,
                                             ground_above_m + ground_below_m);
      if (!ground) continue;
      at.z = *ground;
      if (fits(at) && space_sees(space, wanted + waist, at + waist)) return at;
    }
  }
  return std::nullopt;
}

std::optional<Landing> teleport_landing(const MapPlan& plan, HeightsView heights, std::uint32_t line) {
  const LineAction* action = plan.action(line);
  ASHLAR_ASSERT(action != nullptr);
  if (action->effect == LineEffect::teleport_line) {
    const SectorMap& source = plan.map().source();
    for (std::uint32_t other = 0; other < source.lines.size(); ++other) {
      if (other == line || source.lines[other].tag != action->tag || action->tag == 0) continue;
      const std::uint32_t front = source.front_sector(source.lines[other]);
      const DVec2 a = plan.start_m(other), b = plan.end_m(other);
      // Out of the front of the other line, clear of it, or it would send the body back at once.
      const DVec2 along = b - a;
      const double long_m = length(along);
      if (long_m <= 0) continue;
      const DVec2 out = DVec2{along.y, -along.x} * (1 / long_m);
      const DVec2 at = (a + b) * 0.5 + out * 0.5;
      return Landing{{at.x, at.y, heights[front].floor_m}, turn_towards(out), front};
    }
    return std::nullopt;
  }
  for (const auto& [tag, sector] : plan.tagged(action->tag)) {
    const auto at = std::ranges::lower_bound(plan.landings(), sector, {}, &Landing::sector);
    if (at == plan.landings().end() || at->sector != sector) continue;
    Landing landing = *at;
    landing.position_m.z = heights[sector].floor_m;
    return landing;
  }
  return std::nullopt;
}

void put_down(Body& body, DVec3 place) {
  body.position_m = place;
  body.velocity_mps = {};
  body.recovery_velocity_mps = {};
  body.recovery_target_m = {};
  body.last_free_m = place;
  body.eye_offset_m = 0;
  body.grounded = 1;
  body.stuck_ticks = 0;
}

}  // namespace ashlar
