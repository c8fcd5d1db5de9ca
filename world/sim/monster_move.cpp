#include "world/sim/monster_move.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "world/bsp/column.h"
#include "world/collide/stepped.h"
#include "world/sim/block_touch.h"
#include "world/sim/mover.h"

namespace ashlar {
namespace {

constexpr double monster_acceleration_mps2 = 40;  // full pace within about a tenth of a second
constexpr double fly_climb_share = 0.5;           // flyers climb at half of their pace

constexpr double air_acceleration_mps2 = 20;  // of who leapt out of water or came to a ladder's end
constexpr double monster_swim_share = 0.5;    // of its height in liquid: deeper in it swims
constexpr double monster_float_share = 0.8;   // of it where it floats
constexpr double monster_leap_share = 0.9;    // who is deeper in does not get out in one leap
constexpr double swim_pace_share = 0.7;
constexpr double rise_mps_max = 2, rise_per_s = 6, rise_acceleration_mps2 = 25;
constexpr double leap_m = 1.7;  // out of water onto a block at its surface
constexpr double monster_climb_speed_mps = 2.5;
constexpr double edge_ahead_m = 0.2, edge_foot_m = 0.05, edge_slack_m = 0.05;  // before an edge it stops at
constexpr double edge_look_every_m = 0.25;
constexpr double leap_ahead_m = 0.1, leap_slack_m = 0.15;

/// Up to where it floats, or out onto a bank that it wants up and is held up at.
void monster_swims(const Rules& rules, const MonsterWish& wish, double pace, double immersed, Body& body) {
  const double dt_s = rules.tick_s();
  const DVec2 before = xy(body.velocity_mps);
  const DVec2 v =
      accelerate(before, wish.direction * (pace * swim_pace_share), monster_acceleration_mps2 * dt_s);
  const double rise_mps =
      std::clamp((immersed - monster_float_share) * rise_per_s, -rise_mps_max, rise_mps_max);
  const double change = rise_acceleration_mps2 * dt_s;
  double up = body.velocity_mps.z + std::clamp(rise_mps - body.velocity_mps.z, -change, change);
  const double slow = 0.3 * pace;
  if (wish.climb > 0 && immersed <= monster_leap_share && dot(before, before) < slow * slow)
    up = std::sqrt(2 * rules.gravity_mps2 * leap_m);
  body.velocity_mps = {v.x, v.y, up};
}

/// @return whether it is carried by what is around it instead of the ground: neither steps nor falls
bool swims_or_climbs(const Space& space, const Rules& rules, const MonsterTraits& kind,
                     const MonsterWish& wish, double pace, Body& body) {
  const BlockTouch touch = touch_of(*space.voxels, kind.shape, body.position_m);
  if (kind.swims != 0 && touch.immersed > monster_swim_share) {
    monster_swims(rules, wish, pace, touch.immersed, body);
    return true;
  }
  if (kind.climbs == 0 || !touch.climbs || wish.climb <= 0) return false;
  const DVec2 v = accelerate(xy(body.velocity_mps), wish.direction * (0.5 * pace),
                             monster_acceleration_mps2 * rules.tick_s());
  body.velocity_mps = {v.x, v.y, monster_climb_speed_mps};
  return true;
}

/// Does it stand before something that it does not step onto, but leaps, and there is room for that?
bool leaps_up(const Space& space, const MonsterTraits& kind, const MonsterWish& wish, double pace,
              const Body& body) {
  if (kind.jump_m <= 0 || body.grounded == 0 || wish.climb <= 0) return false;
  const double slow = 0.3 * pace;
  if (dot(wish.direction, wish.direction) == 0 ||
      dot(xy(body.velocity_mps), xy(body.velocity_mps)) > slow * slow)
    return false;
  const DVec3 ahead{wish.direction.x * leap_ahead_m, wish.direction.y * leap_ahead_m, 0};
  const DVec3 up{0, 0, kind.jump_m};
  return space_overlaps(space, kind.shape, body.position_m + ahead) &&
         !space_overlaps(space, kind.shape, body.position_m + up) &&
         !space_overlaps(space, kind.shape, body.position_m + ahead + up);
}

/// Is a disc that goes from one place to another kept back by a line that monsters do not cross? Who already
/// touches one may go along it and off it. Map units.
bool kept_back(std::span<const SolidLine> lines, DVec2 from, DVec2 to, double radius) {
  return std::ranges::any_of(lines, [&](const SolidLine& l) {
    const double before = distance2(l, from), now = distance2(l, to);
    if (now < radius * radius && now < before) return true;
    const double a = cross(l.along, from - l.a), b = cross(l.along, to - l.a);
    if ((a < 0) == (b < 0)) return false;
    const DVec2 met = from + (to - from) * (a / (a - b));
    const double at = dot(met - l.a, l.along) * l.inverse_length2;
    return at >= 0 && at <= 1;
  });
}

/// Calls visit(map, lines) for lines that only monsters do not cross, near a body.
template <typename Visit>
void visit_monster_lines(const Space& space, DVec3 at, Visit&& visit) {
  for (const MapInSpace& map : space.maps) {
    if (!in_box(*map.map, at)) continue;
    const auto lines = map.map->grid().monster_lines_at(map.map->to_map(xy(at)));
    if (!lines.empty()) visit(*map.map, lines);
  }
}

/// Turns a velocity along such lines that it would lead across.
DVec2 along_monster_lines(const Space& space, double radius_m, DVec3 at, DVec2 velocity_mps, double dt_s) {
  visit_monster_lines(space, at, [&](const PlacedMap& map, std::span<const SolidLine> lines) {
    const DVec2 from = map.to_map(xy(at));
    const double radius = radius_m * map_units_per_m;
    const auto kept = [&](std::span<const SolidLine> by, DVec2 v) {
      return kept_back(by, from, from + v * (dt_s * map_units_per_m), radius);
    };
    for (const SolidLine& l : lines)
      if (kept({&l, 1}, velocity_mps))
        velocity_mps = l.along * (dot(velocity_mps, l.along) * l.inverse_length2);
    if (kept(lines, velocity_mps)) velocity_mps = {};
  });
  return velocity_mps;
}

/// Walls may have turned it the wrong way after all: then it stays where it was.
void stay_behind_monster_lines(const Space& space, double radius_m, const Body& before, Body& body) {
  visit_monster_lines(space, before.position_m, [&](const PlacedMap& map, std::span<const SolidLine> lines) {
    const DVec2 from = map.to_map(xy(before.position_m)), to = map.to_map(xy(body.position_m));
    if (from == to || !kept_back(lines, from, to, radius_m * map_units_per_m)) return;
    body = before;
    body.velocity_mps = {};
  });
}

bool as_point(const Rules& rules, const MonsterTraits& kind) {
  return rules.monster_solver == Solver::correct && kind.body_meets_walls == 0;
}

}  // namespace

Cylinder wall_shape(const Rules& rules, const MonsterTraits& kind) {
  return as_point(rules, kind) ? point_body : kind.shape;
}

MoveReport monster_move(const Space& space, const Rules& rules, const MonsterTraits& kind,
                        const MonsterWish& wish, Body& body, DVec2 floor_mps) {
  const double dt_s = rules.tick_s();
  MoveReport report;
  const bool flies = kind.flies != 0;
  const double pace = kind.speed_mps * wish.speed_share;
  const bool carried = !flies && (kind.swims != 0 || kind.climbs != 0) &&
                       swims_or_climbs(space, rules, kind, wish, pace, body);
  const bool stops = !carried && !flies && kind.drop_m < monster_drop_any_m &&
                     comes_over_edge(space, kind, kind.drop_m, wish.direction, body);
  const DVec2 direction = stops ? DVec2{} : wish.direction;
  const bool leaps = !carried && !flies && leaps_up(space, kind, wish, pace, body);
  if (leaps) body.velocity_mps.z = std::sqrt(2 * rules.gravity_mps2 * (kind.jump_m + leap_slack_m));
  if (!carried && !flies && body.grounded == 0 && body.velocity_mps.z > 0) {
    const DVec2 v = accelerate(xy(body.velocity_mps), direction * pace, air_acceleration_mps2 * dt_s);
    body.velocity_mps.x = v.x;
    body.velocity_mps.y = v.y;
  }
  if (!carried && (body.grounded != 0 || flies)) {
    const DVec2 v =
        accelerate(xy(body.velocity_mps), direction * pace + floor_mps, monster_acceleration_mps2 * dt_s);
    body.velocity_mps.x = v.x;
    body.velocity_mps.y = v.y;
  }
  if (flies) body.velocity_mps.z = std::clamp(wish.climb, -1.0, 1.0) * pace * fly_climb_share;
  const double radius_m = kind.shape.radius_m;
  const DVec2 v = along_monster_lines(space, radius_m, body.position_m, xy(body.velocity_mps), dt_s);
  body.velocity_mps = {v.x, v.y, body.velocity_mps.z};
  const Body before = body;
  carry(space,
        {wall_shape(rules, kind), kind.step_height_m_max, flies || carried ? 0.0 : rules.gravity_mps2,
         rules.fall_speed_mps_max, flies, rules.monster_solver, as_point(rules, kind)},
        dt_s, !carried && !leaps, body, report);
  if (report.frozen) body.velocity_mps = {};
  if (body.stuck_ticks == 0) stay_behind_monster_lines(space, radius_m, before, body);
  return report;
}

bool comes_over_edge(const Space& space, const MonsterTraits& kind, double drop_m, DVec2 direction,
                     const Body& body) {
  if (body.grounded == 0 || dot(direction, direction) == 0) return false;
  const DVec2 v = xy(body.velocity_mps);
  const double stops_within_m = dot(v, v) / (2 * monster_acceleration_mps2);
  const double ahead_m = kind.shape.radius_m + edge_ahead_m + stops_within_m;
  double z = body.position_m.z;
  const auto ground = [&](double at_m) {
    return space_ground_below(space, xy(body.position_m) + direction * at_m, edge_foot_m,
                              z + kind.step_height_m_max, kind.step_height_m_max + drop_m + edge_slack_m);
  };
  if (ground(ahead_m)) return false;
  for (double at_m = 0; at_m < ahead_m; at_m += edge_look_every_m) {
    const auto next = ground(at_m);
    if (!next) return true;
    z = std::min(z, *next);
  }
  return !ground(ahead_m).has_value();
}

Ahead look_ahead(const Space& space, const MonsterTraits& kind, DVec3 from, DVec2 direction, double way_m) {
  constexpr double every_m = 0.5, foot_m = 0.05, slack_m = 0.05;
  const double step_m = kind.step_height_m_max;
  double z = from.z;
  way_m = std::min(way_m, look_ahead_m);
  for (double at_m = every_m; at_m <= way_m; at_m += every_m) {
    const DVec2 at = xy(from) + direction * at_m;
    const double over_m = z + step_m + slack_m;
    if (space_overlaps(space, {foot_m, slack_m}, {at.x, at.y, over_m})) return Ahead::wall;
    const auto ground = space_ground_below(space, at, foot_m, over_m, 2 * (step_m + slack_m));
    if (!ground) return Ahead::edge;
    z = *ground;
  }
  return Ahead::clear;
}

}  // namespace ashlar
