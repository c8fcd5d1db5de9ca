// Where who hunts goes next: by the fields of its map, over blocks, or straight.
#include <algorithm>
#include <cmath>

#include "world/bsp/placed_map.h"
#include "world/sim/map_plan.h"
#include "world/sim/monster_move.h"
#include "world/sim/navigation.h"

namespace ashlar {
namespace {

constexpr double behind_m = 0.35;       // behind an opening, so that its line is crossed
constexpr int openings_ahead_max = 10;  // that a straight way may lead through
constexpr double inwards_m = 0.75;      // off an opening's corner, by who takes care
constexpr double before_lift_m = 0.5;   // so far from its edge one waits
constexpr double stairs_near_m = 1.5;   // who comes so near to their top goes down them
constexpr double stairs_reached_m = 0.2;
constexpr double stairs_ahead_m = 0.7;  // so far ahead on their middle who goes down them aims
constexpr double stairs_off_m = 3;      // so far behind their top who came up is clear of them

/// Where the straight line from p to q meets the line through an opening, as its part from a (0) to b (1).
double crossing(DVec2 p, DVec2 q, const LeafGraph::Join& join) {
  const DVec2 along = join.b - join.a, way = q - p;
  const double over = cross(way, along);
  if (over == 0) return 0.5;
  return cross(way, p - join.a) / over;
}

/// The point of an opening's free part that is nearest to p, or so far from there towards the part's middle.
DVec2 nearest_in(const LeafGraph::Join& join, std::size_t which, DVec2 p, double shift_m) {
  const DVec2 along = join.b - join.a;
  const double size2 = dot(along, along);
  const auto low = static_cast<double>(join.from[which]), high = static_cast<double>(join.until[which]);
  const double t = std::clamp(size2 > 0 ? dot(p - join.a, along) / size2 : 0, low, high);
  const double most = size2 > 0 ? shift_m / std::sqrt(size2) : 0;
  return join.at(t + std::clamp((low + high) / 2 - t, -most, most));
}

/// Straight through an opening into the leaf behind it; unit.
DVec2 out_of(const LeafGraph& graph, const LeafGraph::Join& join, DVec2 in_m) {
  const DVec2 along = join.b - join.a;
  const double wide = length(along);
  if (!(wide > 0)) return {};
  const DVec2 side{-along.y / wide, along.x / wide};
  return graph.leaf_at(in_m + side * 0.01) == join.to ? side : side * -1;
}

}  // namespace

bool Navigation::straight_to(const Space& space, const MonsterTable& monsters, std::size_t row,
                             DVec3 player_m) const {
  const MonsterTraits& kind = monsters.traits_at(row);
  const DVec3 off = player_m - monsters.body[row].position_m;
  if (monsters.sees[row] == 0 || monsters.held_ticks[row] != 0 || std::fabs(off.z) > kind.step_height_m_max)
    return false;
  const double size = length(xy(off));
  return size > 0 &&
         look_ahead(space, kind, monsters.body[row].position_m, xy(off) * (1 / size), size) == Ahead::clear;
}

bool Navigation::goes_straight(const Space& space, const PlayerTable& players, const MonsterTable& monsters,
                               std::size_t row, bool beside) const {
  if (monsters.sees[row] == 0) return false;
  const auto target = blocks_ != nullptr ? target_of(players, monsters, row) : std::nullopt;
  if (!target || target->map != grounds_.size() || monsters.traits_at(row).flies != 0) return beside;
  if (target->other_map != grounds_.size() || tick_ < by_ways_until_tick_[row]) return false;
  return straight_to(space, monsters, row, players.body[slot_of(target->to)].position_m);
}

bool Navigation::over_blocks(const PlayerTable& players, const MonsterTable& monsters,
                             std::size_t row) const {
  const auto target = blocks_ != nullptr ? target_of(players, monsters, row) : std::nullopt;
  return target && target->map == grounds_.size() && block_walker_of(monsters.traits_at(row));
}

/// Near the top of a map's stairs, or past it: a body is out of the map until all of its disc is over steps
/// that are lower than the roof, and no way over blocks leads there.
bool Navigation::at_stairs(const Ground& ground, DVec3 body) {
  const DVec3 off = body - ground.top_m;
  if (dot(off, off) < stairs_near_m * stairs_near_m) return true;
  const DVec2 along = xy(ground.foot_m - ground.top_m);
  const double size = length(along);
  if (!(size > 0) || std::fabs(off.z) >= stairs_near_m) return false;
  const double past_m = dot(xy(off), along) / size, aside_m = std::fabs(cross(xy(off), along)) / size;
  return past_m > 0 && past_m < size && aside_m < stairs_near_m;
}

/// About the top of its stairs a map is open, and ways over blocks keep off that: who is going down them gets
/// onto their middle first.
WayPoint Navigation::down_stairs(const Ground& ground, DVec3 body) {
  const DVec2 along = xy(ground.top_m - ground.foot_m), top = xy(ground.top_m);
  const double size = length(along);
  const DVec2 out = size > 0 ? along * (1 / size) : DVec2{};
  const double past_m = -dot(xy(body) - top, out);
  const bool before = past_m < -stairs_reached_m;
  // Beside their middle it would stay on the roof that is about them.
  const double ahead_m = before ? stairs_reached_m : past_m + stairs_ahead_m;
  const DVec2 to = ahead_m < size ? top - out * ahead_m : xy(ground.foot_m);
  return {to, before ? ground.top_m.z : ground.foot_m.z, length(ground.foot_m - body)};
}

/// Likewise who came up goes on until it is where ways begin. nullopt: no stairs end there.
std::optional<WayPoint> Navigation::off_stairs(DVec3 body) const {
  for (const Ground& ground : grounds_) {
    const DVec3 off = body - ground.top_m;
    if (!ground.has_stairs || dot(off, off) > stairs_off_m * stairs_off_m) continue;
    const DVec2 along = xy(ground.top_m - ground.foot_m);
    const double size = length(along);
    if (!(size > 0)) continue;
    WayPoint way{xy(ground.top_m) + along * (stairs_off_m / size), ground.top_m.z, 0};
    const DVec2 remains = way.at_m - xy(body);
    if (dot(remains, remains) < stairs_reached_m * stairs_reached_m) continue;
    return way;
  }
  return std::nullopt;
}

Route Navigation::route_over_blocks(const PlayerTable& players, const MonsterTable& monsters, std::size_t row,
                                    const Target& target) const {
  const auto walker = block_walker_of(monsters.traits_at(row));
  if (!walker) return {};
  const DVec3 body = monsters.body[row].position_m;
  if (target.other_map != grounds_.size() && at_stairs(grounds_[target.other_map], body))
    return {down_stairs(grounds_[target.other_map], body), false};
  const BlockRoute route = blocks_->route(players, target.to, *walker, body);
  if (!route.step) return {off_stairs(body), route.pending};
  const double drop_m = body.z - route.step->to_m.z;
  const bool drops = drop_m > monsters.traits_at(row).step_height_m_max;
  return {WayPoint{xy(route.step->to_m), route.step->to_m.z, route.step->distance_m, false,
                   route.step->climbs, drops ? drop_m : 0},
          false};
}

Route Navigation::route(const Space& space, const PlayerTable& players, const MonsterTable& monsters,
                        std::size_t row, bool careful) const {
  if (blocks_ == nullptr) return {};
  const auto target = target_of(players, monsters, row);
  if (!target) return {};
  if (target->map == grounds_.size()) return route_over_blocks(players, monsters, row, *target);
  return {way_in_map(space.maps, monsters, row, *target, careful), false};
}

/// Before a lift that is elsewhere, or on one that has not come yet, a body stands; one at rest it calls.
/// nullopt: no lift keeps it from going through the opening.
std::optional<WayPoint> Navigation::wait_for_lift(const WayRules& rules, std::size_t map, std::uint32_t leaf,
                                                  const LeafGraph::Join& join, std::size_t which,
                                                  DVec3 body) const {
  const LeafGraph& graph = *grounds_[map].graph;
  const std::uint32_t from = graph.sector(leaf), to = graph.sector(join.to);
  if (from == to || (!rules.rides(from) && !rules.rides(to))) return std::nullopt;
  const WalkerClass& walker = walker_class(which);
  if (way_open({rules.heights, rules.map, rules.doors}, walker, from, to)) return std::nullopt;
  const MapLifts& lifts = grounds_[map].lifts;
  const MapPlan& plan = *grounds_[map].plan;
  if (rules.rides(from)) {
    if (!lifts.in_motion(from))
      if (const auto call = lifts.call_from(plan, from, xy(body))) return WayPoint{*call, body.z, 0};
    const SectorBounds& bounds = plan.bounds_of(from);
    return WayPoint{(bounds.low + bounds.high) * 0.5, body.z, 0, true};
  }
  if (!lifts.in_motion(to))
    if (const auto call = lifts.call_from(plan, to, xy(body))) return WayPoint{*call, body.z, 0};
  const DVec2 in_m = nearest_in(join, which, xy(body), inwards_m);
  const DVec2 back = out_of(graph, join, in_m) * -(walker.shape.radius_m + before_lift_m);
  return WayPoint{in_m + back, body.z, 0, true};
}

std::optional<WayPoint> Navigation::way_in_map(std::span<const MapInSpace> maps, const MonsterTable& monsters,
                                               std::size_t row, const Target& target, bool careful) const {
  const std::size_t map = target.map;
  const DVec3 body = monsters.body[row].position_m;
  const Skill own = skill_of(monsters.traits_at(row));
  if (own.which == walker_class_count) return std::nullopt;
  const Field* field = field_of(row, target, own);
  if (field == nullptr || !field->ready) return std::nullopt;
  const std::size_t which = field->which;
  const LeafGraph& graph = *grounds_[map].graph;
  const WayField& ways = field->now;
  std::uint32_t leaf = graph.leaf_at(xy(body));
  std::uint32_t out = ways.way_out(leaf);
  WayPoint way;
  if (leaf == ways.target_leaf()) return WayPoint{field->to_m, body.z, 0};
  if (out == no_index) return std::nullopt;
  way.distance_m = static_cast<double>(ways.distance_m(leaf));
  if (const auto detour = detours_.next(row)) {
    way.at_m = *detour, way.floor_m = body.z;
    return way;
  }
  const WayRules now = rules(maps, map, field->opens);
  const DVec2 from = xy(body);
  // As far ahead as a straight line stays within the openings on the way.
  std::uint32_t passed[openings_ahead_max];
  int count = 0;
  bool first = true;
  while (out != no_index && count < openings_ahead_max) {
    const LeafGraph::Join& join = graph.join(out);
    if (join.sends) {
      // Onto its line, and over it.
      if (first) way.at_m = join.over, way.floor_m = body.z;
      break;
    }
    if (const auto wait = wait_for_lift(now, map, leaf, join, which, body)) {
      if (first) way.at_m = wait->at_m, way.floor_m = wait->floor_m, way.waits = wait->waits;
      break;
    }
    const DVec2 in_m = nearest_in(join, which, from, careful ? inwards_m : 0);
    const DVec2 across = in_m - from;
    const double size = length(across);
    // Who stands in the opening goes on into the leaf behind.
    const DVec2 at = in_m + (size < 0.05 ? out_of(graph, join, in_m) : across * (1 / size)) * behind_m;
    bool straight = true;
    for (int i = 0; i < count && straight; ++i) {
      const LeafGraph::Join& before = graph.join(passed[i]);
      const double t = crossing(from, at, before);
      straight =
          t >= static_cast<double>(before.from[which]) && t <= static_cast<double>(before.until[which]);
    }
    if (!straight) break;
    way.at_m = at;
    way.floor_m = maps[map].heights[graph.sector(join.to)].floor_m;
    if (careful) break;
    passed[count++] = out;
    first = false;
    leaf = join.to;
    out = ways.way_out(leaf);
  }
  return way;
}

}  // namespace ashlar
