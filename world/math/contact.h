#pragma once
#include <cstdint>
#include <limits>

#include "world/math/vec.h"

namespace ashlar {

/// Bodies may overlap a solid by this much and still only touch it: rounding at the world's edge is 2e-10 m,
/// a thousand ticks of it stay below. A sweep stops where the surfaces meet exactly and ignores solids that
/// it would enter by less; overlap tests, standing and openings (1.75 m for a body of 1.75 m) do likewise.
inline constexpr double contact_slop_m = 1e-6;

/// What kind of solid was met. Ties at the same time go to the lower value.
enum class ContactKind : std::uint8_t {
  none,
  voxel,
  map_floor,
  map_ceiling,
  map_wall,
  prop,
  mover,
  unloaded
};

/// First contact of a sweep, or none (kind == none, t == 1).
struct SweepHit {
  double t = 1;    ///< part of the way in [0, 1] that is free; the mover may stand at exactly t
  DVec3 normal{};  ///< unit, out of what was hit; zero when none or started inside
  ContactKind kind = ContactKind::none;
  bool started_inside = false;  ///< the start overlapped (depth > 0): t = 0, normal zero
  std::uint32_t what = 0;       ///< map: line or sector index, prop or mover: its row
  IVec3 block{};                ///< for voxels and what is not loaded: the block that was met

  bool hit() const { return kind != ContactKind::none || started_inside; }
};

/// Contacts of one tick, for events: the first few, one per contact; further ones are dropped.
struct ContactList {
  static constexpr std::uint8_t contacts_max = 4;

  std::uint8_t count = 0;
  // Not initialised: a list is made for every mover and tick, and nearly all stay empty.
  union {
    SweepHit hits[contacts_max];  ///< the first `count` hold
  };

  ContactList() {}  ///< empty; hits beyond `count` must not be read

  /// Leaves out a repeat of the contact before.
  void add(const SweepHit& hit) {
    if (count == contacts_max) return;
    if (count > 0) {
      const SweepHit& last = hits[count - 1];
      if (last.kind == hit.kind && last.what == hit.what && last.normal == hit.normal) return;
    }
    hits[count++] = hit;
  }
  const SweepHit* begin() const { return hits; }
  const SweepHit* end() const { return hits + count; }
};

/// First hit of a ray at distance t_m along a unit direction, t_m in [0, t_max]; none: kind == none.
struct RayHit {
  double t_m = std::numeric_limits<double>::infinity();
  DVec3 normal{};
  ContactKind kind = ContactKind::none;
  std::uint32_t what = 0;  ///< as in SweepHit
  IVec3 block{};           ///< for voxels and what is not loaded: the block that was hit

  bool hit() const { return kind != ContactKind::none; }
};

}  // namespace ashlar
