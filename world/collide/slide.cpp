#include "world/collide/slide.h"

#include <cmath>
#include <span>

#include "world/math/assert.h"

namespace ashlar {
namespace {

/// A hair more than all of the normal part is taken, so that rounding never leaves a part that points in.
constexpr double over_clip = 1 + 1e-9;
static_assert(over_clip > 1);

DVec3 clip(DVec3 v, DVec3 normal) {
  // Along an axis nothing is rounded: what stands on a floor has no upward speed left, not even dust.
  if (std::fabs(normal.z) == 1) return {v.x, v.y, 0};
  if (std::fabs(normal.x) == 1) return {0, v.y, v.z};
  if (std::fabs(normal.y) == 1) return {v.x, 0, v.z};
  const double into = dot(v, normal);
  return into < 0 ? v - normal * (into * over_clip) : v;
}

bool same(DVec3 a, DVec3 b) { return dot(a, b) > 0.9999; }

}  // namespace

DVec3 clip_to_planes(DVec3 v, std::span<const DVec3> normals) {
  const auto enters_none = [&normals](DVec3 w) {
    // A part of 1e-12 of the speed is rounding: over_clip leaves more than that on the right side.
    const double tolerance = -1e-12 * (std::fabs(w.x) + std::fabs(w.y) + std::fabs(w.z));
    for (const DVec3& n : normals)
      if (dot(w, n) < tolerance) return false;
    return true;
  };
  if (enters_none(v)) return v;
  // One plane that suffices: the latest first, it is what was just hit.
  for (std::size_t i = normals.size(); i-- > 0;) {
    if (dot(v, normals[i]) >= 0) continue;
    const DVec3 w = clip(v, normals[i]);
    if (enters_none(w)) return w;
  }
  // Two planes: along the crease.
  for (std::size_t i = normals.size(); i-- > 0;) {
    for (std::size_t j = i; j-- > 0;) {
      if (same(normals[i], normals[j])) continue;
      DVec3 crease = cross(normals[i], normals[j]);
      const double size = length(crease);
      if (size < 1e-9) continue;
      crease = crease * (1 / size);
      const DVec3 w = crease * dot(v, crease);
      if (enters_none(w)) return w;
    }
  }
  return {};
}

SlideEnd slide(const Surroundings& around, DVec3 position, DVec3 velocity, DVec3 way, double /*dt_s*/,
               ContactList& contacts) {
  SlideEnd end;
  end.position_m = position;
  end.velocity_mps = velocity;
  std::array<DVec3, slide_sweeps_max> normals;
  std::size_t planes = 0;
  [[maybe_unused]] const std::uint32_t asked = around.queries();
  for (int i = 0; i < slide_sweeps_max; ++i) {
    if (way == DVec3{}) break;
    const SweepHit hit = around.sweep(end.position_m, way);
    if (hit.started_inside) {
      end.started_inside = i == 0;
      break;
    }
    if (!hit.hit()) {
      end.position_m += way;
      break;
    }
    ASHLAR_ASSERT(hit.t >= 0 && hit.t <= 1);
    end.position_m += way * hit.t;
    contacts.add(hit);
    if (hit.normal.z >= walkable_normal_z_min) {
      end.met_floor = true;
      end.floor_speed_mps = std::fmax(end.floor_speed_mps, -dot(end.velocity_mps, hit.normal));
    } else if (hit.normal.z <= -walkable_normal_z_min) {
      end.met_ceiling = true;
    } else {
      end.met_wall = true;
    }
    ASHLAR_ASSERT(planes < normals.size());
    normals[planes++] = hit.normal;
    const std::span<const DVec3> met{normals.data(), planes};
    way = clip_to_planes(way * (1 - hit.t), met);
    end.velocity_mps = clip_to_planes(end.velocity_mps, met);
  }
  ASHLAR_ASSERT_SLOW(around.queries() - asked <= slide_queries_max);
  return end;
}

}  // namespace ashlar
