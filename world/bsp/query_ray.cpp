#include <cmath>

#include "world/bsp/column.h"
#include "world/bsp/trace.h"
#include "world/math/assert.h"

// Rays walk the leaves in order. Every point of the box lies in exactly one leaf, so nothing leaks at corners
// or along walls.

namespace ashlar {
namespace {

class Ray {
 public:
  Ray(const PlacedMap& map, HeightsView heights, DVec3 origin, DVec3 direction, double t_max)
      : map_(map),
        heights_(heights),
        origin_(origin),
        direction_(direction),
        t_max_(t_max),
        roof_(map.roof_m()),
        bottom_(static_cast<double>(map.box().min.z)) {}

  RayHit run() {
    double from = 0, to = t_max_;
    if (!clip(origin_.x, direction_.x, map_.box().min.x, map_.box().max.x, {-1, 0, 0}, from, to)) return hit_;
    if (!clip(origin_.y, direction_.y, map_.box().min.y, map_.box().max.y, {0, -1, 0}, from, to)) return hit_;
    const DVec2 p = map_.to_map(xy(origin_));
    const DVec2 d = xy(direction_) * map_units_per_m;
    const auto visit = [&](std::uint32_t leaf, double in, double out, const LeafEntry& entry) {
      return column(map_.tree().leaves[leaf].sector, in, out, entry);
    };
    if (d.x == 0 && d.y == 0)
      visit(map_.grid().leaf_at(map_.tree(), p), from, to, {});
    else
      trace_leaves(map_.tree(), map_.tree().root, p, d, from, to, visit);
    return hit_;
  }

 private:
  /// Cuts the way to the box's extent on one axis. False: it misses the box.
  bool clip(double at, double speed, std::int32_t low, std::int32_t high, DVec3 low_normal, double& from,
            double& to) {
    if (speed == 0) return at >= low && at < high;
    const double a = (low - at) / speed, b = (high - at) / speed;
    const double in = std::min(a, b);
    if (in > from) {
      from = in;
      entry_normal_ = speed > 0 ? low_normal : -low_normal;
    }
    to = std::min(to, std::max(a, b));
    return from < to;
  }

  double z_at(double t) const { return origin_.z + direction_.z * t; }

  /// The way through one column. False when it ends there.
  bool column(std::uint32_t sector, double in, double out, const LeafEntry& entry) {
    const Column c = column_of(map_, heights_, sector);
    const double z = z_at(in);
    const bool in_lower = z > bottom_ && z < c.floor_m;
    const bool in_upper = z > c.ceiling_m && z < roof_;
    if (in_lower || in_upper) return wall(in, entry);

    // In free space the next surface up or down is the only one that can be met.
    double surface = 0;
    ContactKind kind = ContactKind::none;
    if (direction_.z < 0) {
      kind = ContactKind::map_floor;
      if (z >= roof_ && c.ceiling_m < roof_)
        surface = roof_;
      else if (z >= c.floor_m)
        surface = c.floor_m;
      else
        kind = ContactKind::none;  // below the box
    } else if (direction_.z > 0) {
      kind = ContactKind::map_ceiling;
      if (z <= bottom_ && c.floor_m > bottom_)
        surface = bottom_;
      else if (z <= c.ceiling_m && c.ceiling_m < roof_)
        surface = c.ceiling_m;
      else
        kind = ContactKind::none;
    }
    if (kind == ContactKind::none) return true;
    const double t = (surface - origin_.z) / direction_.z;
    if (t > out) return true;
    hit_.t_m = std::max(t, in);
    ASHLAR_ASSERT(hit_.t_m >= 0 && hit_.t_m <= t_max_);
    hit_.kind = kind;
    hit_.normal = {0, 0, kind == ContactKind::map_floor ? 1.0 : -1.0};
    hit_.what = sector == no_index ? 0 : sector;
    return false;
  }

  bool wall(double t, const LeafEntry& entry) {
    hit_.t_m = t;
    hit_.kind = ContactKind::map_wall;
    hit_.normal = entry_normal_;
    if (entry.node != no_index) {
      const BspTree::Node& n = map_.tree().nodes[entry.node];
      const double l = length(DVec2{n.dx, n.dy});
      const double sign = entry.from_front ? 1.0 : -1.0;
      hit_.normal = {sign * n.dy / l, -sign * n.dx / l, 0};
      hit_.what = line_at(map_.to_map(xy(origin_) + xy(direction_) * t), n.line);
    }
    return false;
  }

  /// A partition runs on beyond its line: the line that was really met is the nearest one there.
  std::uint32_t line_at(DVec2 p, std::uint32_t otherwise) const {
    double best = 1;
    std::uint32_t line = otherwise == no_index ? 0 : otherwise;
    map_.grid().visit({p.x - 1, p.y - 1}, {p.x + 1, p.y + 1}, [&](const SolidLine& l) {
      const double d2 = distance2(l, p);
      if (l.line != no_index && (d2 < best || (d2 == best && l.line < line))) best = d2, line = l.line;
      return true;
    });
    return line;
  }

  const PlacedMap& map_;
  HeightsView heights_;
  DVec3 origin_, direction_;
  double t_max_;
  double roof_, bottom_;
  DVec3 entry_normal_{};
  RayHit hit_;
};

}  // namespace

RayHit map_ray(const PlacedMap& map, HeightsView heights, DVec3 origin, DVec3 direction, double t_max_m) {
  ASHLAR_ASSERT_SLOW(heights.size() == map.initial_heights().size());
  return Ray(map, heights, origin, direction, t_max_m).run();
}

}  // namespace ashlar
