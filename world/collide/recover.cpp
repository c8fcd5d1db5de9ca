#include "world/collide/recover.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/placed_map.h"
#include "world/collide/prop.h"
#include "world/collide/recovery_side.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

bool is_free(const Space& space, const Cylinder& shape, DVec3 place) {
  return !space_unloaded(space, shape, place) && !space_overlaps(space, shape, place);
}

/// Collects the nearest place that fits and is on the body's side. What is dear is asked last.
class Search {
 public:
  Search(const Space& space, const Cylinder& shape, DVec3 position, DVec3 last_free)
      : space_(space), shape_(shape), position_(position), side_(space, shape, position, last_free) {}

  void offer(DVec3 place) {
    const DVec3 d = place - position_;
    const double distance2 = dot(d, d);
    if (distance2 >= best_distance2_ || !is_free(space_, shape_, place) || !side_.holds(place)) return;
    best_distance2_ = distance2;
    best_ = place;
  }

  /// The column's floors of three cells, and the ground in them.
  void offer_column(double x, double y) {
    const double floor = std::floor(position_.z + contact_slop_m);
    for (const double dz : {0.0, 1.0, -1.0}) offer({x, y, floor + dz});
    // What lies as high as the cells above them is no place of theirs.
    const auto ground = space_ground_below(space_, {x, y}, shape_.radius_m, floor + 2, 3);
    if (ground && *ground < floor + 2 - contact_slop_m) offer({x, y, *ground});
  }

  std::optional<DVec3> best() const { return best_; }

 private:
  const Space& space_;
  const Cylinder& shape_;
  DVec3 position_;
  RecoverySide side_;
  double best_distance2_ = std::numeric_limits<double>::infinity();
  std::optional<DVec3> best_;
};

/// Is the body free there, and as free on the rest of its way? What it only passes on the way to the target
/// may be a room on the other side.
bool arrived(const Space& space, const Cylinder& shape, DVec3 at, DVec3 target) {
  return is_free(space, shape, at) && (at == target || !space_sweep(space, shape, at, target - at).hit());
}

/// Moves straight towards the target and stops where the body is first free of what it was in, to a
/// centimetre.
DVec3 towards(const Space& space, const Cylinder& shape, DVec3 from, DVec3 target, double way_m, bool& free) {
  const DVec3 d = target - from;
  const double distance = length(d);
  free = true;
  if (distance <= way_m && way_m <= 0.01) return target;
  const double reach = std::min(distance, way_m);
  constexpr double probe_m = 0.01;
  for (double gone = probe_m; gone < reach; gone += probe_m) {
    const DVec3 at = from + d * (gone / distance);
    if (arrived(space, shape, at, target)) return at;
  }
  if (distance <= way_m) return target;  // known to be free
  ASHLAR_ASSERT(distance > 0 && reach < distance);
  const DVec3 end = from + d * (reach / distance);
  free = arrived(space, shape, end, target);
  return end;
}

}  // namespace

std::optional<DVec3> recovery_target(const Space& space, const Cylinder& shape, DVec3 position,
                                     DVec3 last_free) {
  Search search(space, shape, position, last_free);
  const DVec3 back = last_free - position;
  if (dot(back, back) <= recovery_back_m * recovery_back_m) search.offer(last_free);
  const Aabb bounds = bounds_of(shape, position);
  for (const MapInSpace& m : space.maps) {
    if (!map_in_reach(*m.map, bounds)) continue;
    if (const auto out = map_correct(*m.map, m.heights, shape, position, 1)) search.offer(position + *out);
  }
  for (const Prop* prop : space.props)
    if (const auto out = prop->correct(shape, position, 1)) search.offer(position + *out);
  const double x = std::floor(position.x) + 0.5, y = std::floor(position.y) + 0.5;
  // Sideways before up and down: a body is free of a block beside it sooner than on top of it.
  for (const double dx : {1.0, -1.0, 0.0})
    for (const double dy : {0.0, 1.0, -1.0})
      if (dx != 0 || dy != 0) search.offer_column(x + dx, y + dy);
  search.offer_column(x, y);
  if (search.best()) return search.best();
  const double floor = std::floor(position.z + contact_slop_m);
  for (int up = 2; up <= recovery_up_cells; ++up) {
    search.offer({position.x, position.y, floor + up});
    search.offer({x, y, floor + up});
    if (search.best()) return search.best();
  }
  return std::nullopt;
}

void recover(const Space& space, const Cylinder& shape, double dt_s, Body& body, MoveReport& report) {
  ASHLAR_ASSERT(dt_s > 0);
  report.recovered = true;
  const bool first = body.stuck_ticks == 0;
  body.velocity_mps = {};
  body.grounded = 0;
  if (body.stuck_ticks < 255) ++body.stuck_ticks;

  const auto free = [&](DVec3 place) { return is_free(space, shape, place); };
  const auto settle = [&body](DVec3 place) {
    body.position_m = place;
    body.last_free_m = place;
    body.recovery_velocity_mps = {};
    body.stuck_ticks = 0;
  };
  bool known = !first && free(body.recovery_target_m);
  if (!known) {
    const auto target = recovery_target(space, shape, body.position_m, body.last_free_m);
    known = target.has_value();
    if (known) body.recovery_target_m = *target;
    ASHLAR_ASSERT(!known || is_finite(body.recovery_target_m));
  }
  // Freed by something else, an edit or a door: it need not go on.
  if (known && !first && arrived(space, shape, body.position_m, body.recovery_target_m))
    return settle(body.position_m);
  const bool too_long = body.stuck_ticks * dt_s > recovery_s_max;
  if (!known || too_long) {
    // Deep in rock or walled in: back to where it came from, or to a spawn.
    if (free(body.last_free_m)) return settle(body.last_free_m);
    body.recovery_velocity_mps = {};
    report.lost = true;
    return;
  }

  const DVec3 way = body.recovery_target_m - body.position_m;
  const double distance = length(way);
  const DVec3 direction = distance > 0 ? way * (1 / distance) : DVec3{};
  // All of what it has points to the target: a new target takes the speed over.
  double speed = length(body.recovery_velocity_mps);
  speed = (speed + recovery_gain_mps2 * dt_s) / (1 + recovery_drag_per_s * dt_s);
  speed = std::min({speed, recovery_speed_mps_max, recovery_step_m_max / dt_s});
  ASHLAR_ASSERT(speed >= 0 && speed <= recovery_speed_mps_max);
  ASHLAR_ASSERT(speed * dt_s <= recovery_step_m_max * (1 + 1e-9));  // more could jump through a thin wall
  body.recovery_velocity_mps = direction * speed;
  bool there = false;
  const DVec3 next = towards(space, shape, body.position_m, body.recovery_target_m, speed * dt_s, there);
  body.position_m = next;
  if (there) settle(next);
}

}  // namespace ashlar
