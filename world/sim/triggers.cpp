#include "world/sim/triggers.h"

#include <algorithm>

#include "world/bsp/line_grid.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

// A switch is a wall: what lies in the same place as the wall that stops a ray still counts.
constexpr double same_place_m = 1e-3;

/// Where the path p + t d, t in [0, 1], crosses the segment a b (its ends included); negative: nowhere.
double crossing(DVec2 p, DVec2 d, DVec2 a, DVec2 b) {
  const DVec2 along = b - a;
  const double across = cross(d, along);
  if (across == 0) return -1;
  const double side_a = cross(d, a - p), side_b = cross(d, b - p);
  if ((side_a > 0 && side_b > 0) || (side_a < 0 && side_b < 0)) return -1;
  const double t = cross(a - p, along) / across;
  return t >= 0 && t <= 1 ? t : -1;
}

void insert(CrossedLines& out, const CrossedLine& line) {
  const auto before = [](const CrossedLine& a, const CrossedLine& b) {
    return a.t != b.t ? a.t < b.t : a.line < b.line;
  };
  std::size_t at = out.count;
  while (at > 0 && before(line, out.list[at - 1])) --at;
  if (at > 0 && out.list[at - 1].line == line.line) return;  // the grid shows some lines twice
  if (at < out.count && out.list[at].line == line.line) return;
  if (at == CrossedLines::lines_max) return;
  if (out.count < CrossedLines::lines_max) ++out.count;
  for (std::size_t i = out.count - 1; i > at; --i) out.list[i] = out.list[i - 1];
  out.list[at] = line;
}

}  // namespace

CrossedLines lines_walked_over(const MapPlan& plan, DVec2 from, DVec2 to) {
  CrossedLines out;
  if (from == to) return out;
  const DVec2 low{std::min(from.x, to.x), std::min(from.y, to.y)};
  const DVec2 high{std::max(from.x, to.x), std::max(from.y, to.y)};
  const DVec2 d = to - from;
  plan.visit_triggers(low, high, [&](std::uint32_t line) {
    if (plan.action(line)->trigger != LineTrigger::walk) return;
    const bool before = plan.in_front(line, from), after = plan.in_front(line, to);
    if (before == after) return;
    const double t = crossing(from, d, plan.start_m(line), plan.end_m(line));
    if (t >= 0) insert(out, {t, line, before});
  });
  return out;
}

std::uint32_t line_used(const MapPlan& plan, const Space& space, HeightsView heights, DVec3 base,
                        const Cylinder& shape, Turn16 yaw, double reach_m) {
  const DVec2 from = xy(base), ahead = heading(yaw);
  const DVec2 d = ahead * reach_m, to = from + d;
  const DVec2 low{std::min(from.x, to.x), std::min(from.y, to.y)};
  const DVec2 high{std::max(from.x, to.x), std::max(from.y, to.y)};
  double nearest = 2;
  std::uint32_t used = no_index;
  plan.visit_triggers(low, high, [&](std::uint32_t line) {
    if (plan.action(line)->trigger != LineTrigger::use || !plan.in_front(line, from)) return;
    const double t = crossing(from, d, plan.start_m(line), plan.end_m(line));
    if (t < 0 || t > nearest || (t == nearest && line > used)) return;
    nearest = t;
    used = line;
  });
  if (used == no_index) return no_index;

  // The nearest wall or closed door on the way must not come before it.
  const PlacedMap& map = plan.map();
  const DVec2 p = map.to_map(from), q = map.to_map(to);
  const DVec2 grid_low{std::min(p.x, q.x), std::min(p.y, q.y)};
  const DVec2 grid_high{std::max(p.x, q.x), std::max(p.y, q.y)};
  const double slack = same_place_m / reach_m;
  const bool free = map.grid().visit(grid_low, grid_high, [&](const SolidLine& l) {
    if (l.line == used) return true;
    const double t = crossing(p, q - p, l.a, l.a + l.along);
    return t < 0 || t >= nearest - slack || !plan.closed(heights, l.front, l.back);
  });
  if (!free) return no_index;

  // Blocks that players placed hide what is behind them.
  const Space voxels{space.voxels, {}};
  const DVec3 chest = base + DVec3{0, 0, shape.height_m / 2};
  const double distance_m = nearest * reach_m;
  const RayHit block = space_ray(voxels, chest, {ahead.x, ahead.y, 0}, distance_m);
  return block.hit() && block.t_m < distance_m - same_place_m ? no_index : used;
}

CrossedLines lines_shot(const MapPlan& plan, DVec3 eye, DVec3 direction, double reach_m) {
  CrossedLines out;
  if (plan.shoot_lines().empty()) return out;
  reach_m += same_place_m;
  const DVec2 d = xy(direction) * reach_m;
  for (const std::uint32_t line : plan.shoot_lines()) {
    const double t = crossing(xy(eye), d, plan.start_m(line), plan.end_m(line));
    if (t < 0 || eye.z + direction.z * reach_m * t >= plan.map().roof_m()) continue;
    insert(out, {t, line, plan.in_front(line, xy(eye))});
  }
  return out;
}

CrossedLines lines_shot(const MapPlan& plan, const Space& space, DVec3 eye, DVec3 direction, double range_m) {
  if (plan.shoot_lines().empty()) return {};
  return lines_shot(plan, eye, direction, std::min(range_m, space_ray(space, eye, direction, range_m).t_m));
}

}  // namespace ashlar
