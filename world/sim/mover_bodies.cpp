#include "world/sim/mover_bodies.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/column.h"
#include "world/math/assert.h"
#include "world/sim/map_plan.h"

namespace ashlar {
namespace {

// A body rests on a floor when its base is this close to it: far above rounding, far below anything seen.
constexpr double rest_m = 1e-6;

double& plane_of(SectorHeights& h, Plane plane) { return plane == Plane::floor ? h.floor_m : h.ceiling_m; }

enum class Fit { stays, moves, blocked };

/// Where a body goes when the floor of a sector it touches went from one height to another (heights are
/// already the new ones). @param shut  the sector is rock up to the roof now
Fit follow_floor(const MoverTick& tick, const MoverBody& b, double from_m, double to_m, bool shut,
                 double& z_m) {
  const DVec3 base = b.body->position_m;
  if (to_m < from_m) {
    if (b.body->grounded == 0 || base.z > from_m + rest_m || base.z < from_m - rest_m) return Fit::stays;
    // What else holds it up (a step of another sector, a block) may be higher than the floor that left.
    const auto ground =
        space_ground_below(tick.space, xy(base), b.shape.radius_m, base.z, from_m - to_m + 2 * rest_m);
    z_m = ground ? *ground : to_m;
    return z_m == base.z ? Fit::stays : Fit::moves;
  }
  if (base.z >= to_m || base.z + b.shape.height_m <= from_m)
    return shut && space_overlaps(tick.space, b.shape, base) ? Fit::blocked : Fit::stays;
  // Its disc lies over the sector, so the floor has come into it: no need to ask.
  z_m = to_m;
  return space_overlaps(tick.space, b.shape, {base.x, base.y, to_m}) ? Fit::blocked : Fit::moves;
}

/// The same for a ceiling.
Fit follow_ceiling(const MoverTick& tick, const MoverBody& b, double from_m, double to_m, double& z_m) {
  const DVec3 base = b.body->position_m;
  if (to_m >= from_m || base.z + b.shape.height_m <= to_m) return Fit::stays;
  if (!space_overlaps(tick.space, b.shape, base)) return Fit::stays;
  if (b.body->grounded != 0) return Fit::blocked;
  z_m = to_m - b.shape.height_m;
  return space_overlaps(tick.space, b.shape, {base.x, base.y, z_m}) ? Fit::blocked : Fit::moves;
}

}  // namespace

BodiesBySector::BodiesBySector(std::uint32_t sector_count, std::size_t bodies_max)
    : first_(sector_count, none),
      marked_(sector_count, 0),
      touches_max_(bodies_max * touches_per_body + touches_to_spare) {
  marks_.reserve(sector_count);
  touches_.reserve(touches_max_);
}

void BodiesBySector::mark(std::uint32_t sector) {
  ASHLAR_ASSERT(sector < marked_.size());
  if (marked_[sector] != 0) return;
  marked_[sector] = 1;
  marks_.push_back(sector);
}

void BodiesBySector::clear() {
  for (const std::uint32_t sector : marks_) first_[sector] = none, marked_[sector] = 0;
  marks_.clear();
  touches_.clear();
}

bool BodiesBySector::touch(std::uint32_t sector, std::uint32_t body) {
  if (sector == no_index || marked_[sector] == 0) return true;
  // A body's touches are made in a row, so a second one of the same pair is the sector's latest.
  const std::uint32_t latest = first_[sector];
  if (latest != none && touches_[latest].body == body) return true;
  if (touches_.size() == touches_max_) return false;
  ASHLAR_ASSERT(touches_.size() < touches_.capacity());  // a tick allocates nothing
  touches_.push_back({body, latest, {}});
  first_[sector] = static_cast<std::uint32_t>(touches_.size() - 1);
  return true;
}

bool BodiesBySector::fill(const MapPlan& plan, std::span<const MoverBody> bodies) {
  const PlacedMap& map = plan.map();
  if (marks_.empty()) return true;
  // Most bodies are nowhere near what moves.
  SectorBounds near = plan.bounds_of(marks_.front());
  for (const std::uint32_t sector : marks_) {
    const SectorBounds& b = plan.bounds_of(sector);
    near.low = {std::min(near.low.x, b.low.x), std::min(near.low.y, b.low.y)};
    near.high = {std::max(near.high.x, b.high.x), std::max(near.high.y, b.high.y)};
  }
  for (std::size_t i = bodies.size(); i-- > 0;) {
    // Backwards, so that each sector's list runs in the order of the bodies.
    const MoverBody& b = bodies[i];
    const DVec3 p = b.body->position_m;
    const double r = b.shape.radius_m;
    if (p.x + r < near.low.x || p.x - r > near.high.x || p.y + r < near.low.y || p.y - r > near.high.y)
      continue;
    const auto index = static_cast<std::uint32_t>(i);
    const DVec2 at = map.to_map(xy(p));
    const double reach = r * map_units_per_m;
    bool room = true;
    if (over_box(map, xy(p)))
      room = touch(map.tree().leaves[map.grid().leaf_at(map.tree(), at)].sector, index);
    map.grid().visit({at.x - reach, at.y - reach}, {at.x + reach, at.y + reach}, [&](const SolidLine& l) {
      if (distance2(l, at) < reach * reach) room = room && touch(l.front, index) && touch(l.back, index);
      return room;
    });
    if (!room) return false;
  }
  return true;
}

DVec2 floor_velocity(const MapPlan& plan, HeightsView heights, const Body& body) {
  if (plan.conveyors().empty() || body.grounded == 0) return {};
  const DVec3 p = body.position_m;
  if (!over_box(plan.map(), xy(p))) return {};
  const std::uint32_t sector = plan.sector_at(xy(p));
  const auto at = std::ranges::lower_bound(plan.conveyors(), sector, {}, &Conveyor::sector);
  if (at == plan.conveyors().end() || at->sector != sector) return {};
  const bool stands_on_it = std::fabs(p.z - heights[sector].floor_m) <= rest_m;
  return stands_on_it ? at->velocity_mps : DVec2{};
}

bool shift_plane(MoverTick& tick, std::uint32_t sector, Plane plane, double to_m, Blockers& blockers) {
  ASHLAR_ASSERT(sector < tick.heights.size());
  ASHLAR_ASSERT(std::isfinite(to_m));
  double& height = plane_of(tick.heights[sector], plane);
  const double from_m = height;
  height = to_m;
  blockers.count = 0;
  const std::uint32_t first = tick.touching.first(sector);
  if (first == BodiesBySector::none) return true;

  // A sky that lines move is shut where its floor comes up to it: who was in the air over that floor is in
  // it.
  const PlacedMap& map = tick.plan.map();
  const bool shut = map.sky(sector) && !map.open_to_sky(sector, tick.heights[sector]);
  bool blocked = false;
  for (std::uint32_t t = first; t != BodiesBySector::none; t = tick.touching.next(t)) {
    const std::uint32_t who = tick.touching.body(t);
    double z_m = 0;
    const Fit fit = plane == Plane::floor ? follow_floor(tick, tick.bodies[who], from_m, to_m, shut, z_m)
                                          : follow_ceiling(tick, tick.bodies[who], from_m, to_m, z_m);
    tick.touching.answer(t) = {z_m, fit == Fit::moves};
    if (fit != Fit::blocked) continue;
    blocked = true;
    if (blockers.count < Blockers::blockers_max) blockers.body[blockers.count++] = who;
  }
  if (blocked) {
    height = from_m;
    return false;
  }
  // Nobody is in the way: bodies do not hold each other up, so the answers hold together.
  for (std::uint32_t t = first; t != BodiesBySector::none; t = tick.touching.next(t)) {
    const BodiesBySector::Answer answer = tick.touching.answer(t);
    if (!answer.moves) continue;
    const MoverBody& b = tick.bodies[tick.touching.body(t)];
    b.body->position_m.z = answer.z_m;
    if (plane == Plane::floor && to_m > from_m) {
      b.body->grounded = 1;
      if (b.body->velocity_mps.z < 0) b.body->velocity_mps.z = 0;
    } else if (plane == Plane::ceiling && b.body->velocity_mps.z > 0) {
      b.body->velocity_mps.z = 0;
    }
  }
  return true;
}

}  // namespace ashlar
