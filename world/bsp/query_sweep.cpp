#include <cmath>

#include "world/bsp/column.h"
#include "world/bsp/trace.h"
#include "world/math/assert.h"
#include "world/math/never.h"

// The swept cylinder. In the space of the base's centre a line is a capsule (the line grown by the radius)
// under its column's rock and over the rock of its ceiling, both grown by the body's height: upright prisms
// over a convex base. A straight way meets each in one interval of time. The inside of a sector adds its
// floor and ceiling under the centre; no prism is made of leaves, so seams between leaves do not exist.
//
// A contact counts when the way goes deeper than contact_slop_m into a prism; it is reported where the
// surfaces meet.

namespace ashlar {
namespace {

struct Interval {
  double from = -never, to = never;
  bool empty() const { return !(from < to); }
};

Interval both(Interval a, Interval b) { return {std::max(a.from, b.from), std::min(a.to, b.to)}; }
Interval hull(Interval a, Interval b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.from, b.from), std::max(a.to, b.to)};
}

/// Times at which low < at + t speed < high.
Interval between(double at, double speed, double low, double high) {
  if (speed == 0) return low < at && at < high ? Interval{} : Interval{0, 0};
  const double a = (low - at) / speed, b = (high - at) / speed;
  return {std::min(a, b), std::max(a, b)};
}

/// Times at which p + t d is nearer to the origin than the root of radius2.
Interval inside_disc(DVec2 p, DVec2 d, double radius2) {
  const double a = dot(d, d), b = dot(p, d), c = dot(p, p) - radius2;
  if (a == 0) return c < 0 ? Interval{} : Interval{0, 0};
  // c a - b^2 as a cross product: no cancellation when the way is long.
  const double x = cross(p, d);
  const double discriminant = radius2 * a - x * x;
  if (discriminant <= 0) return {0, 0};
  const double root = std::sqrt(discriminant);
  return {(-b - root) / a, (-b + root) / a};
}

/// Times at which p + t d is nearer than radius to a line's segment: one interval, as a capsule is convex.
Interval inside_capsule(const SolidLine& l, DVec2 p, DVec2 d, double radius) {
  const double inverse_length = std::sqrt(l.inverse_length2);
  const DVec2 unit = l.along * inverse_length;
  const DVec2 to = p - l.a;
  const double off = cross(unit, to), off_speed = cross(unit, d);
  const Interval slab = between(off, off_speed, -radius, radius);
  if (slab.empty()) return slab;
  const double at = dot(unit, to), speed = dot(unit, d);
  Interval inside = both(slab, between(at, speed, 0, 1 / inverse_length));
  inside = hull(inside, inside_disc(to, d, radius * radius));
  return hull(inside, inside_disc(to - l.along, d, radius * radius));
}

class MapSweep {
 public:
  MapSweep(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base, DVec3 delta)
      : map_(map),
        heights_(heights),
        p_(map.to_map(xy(base))),
        d_(xy(delta) * map_units_per_m),
        z_(base.z),
        dz_(delta.z),
        height_(shape.height_m),
        radius_(shape.radius_m * map_units_per_m),
        inner_(std::max(0.0, shape.radius_m - contact_slop_m) * map_units_per_m),
        base_(xy(base)),
        delta_(xy(delta)),
        bottom_(static_cast<double>(map.box().min.z)) {}

  SweepHit run() {
    // Pieces of a few cells each, so that a long way looks only at lines along it and ends at the first hit.
    const double reach = std::max(std::fabs(d_.x), std::fabs(d_.y));
    const double piece = 4 * map_.grid().cell;
    const Interval over = over_box();
    if (over.empty()) return hit_;
    const double last = std::min(1.0, over.to);
    double t0 = std::max(0.0, over.from);
    const double dt = reach > piece ? piece / reach : 1.0;
    while (t0 <= last && !hit_.started_inside) {
      const double t1 = std::min(last, t0 + dt);
      lines(t0, t1);
      centre(t0, t1);
      // What a later piece can find, it finds after t1; a contact is never reported later than it is found.
      if (hit_.hit() && found_at_ <= t1) break;
      if (t1 >= last) break;
      t0 = t1;
    }
    return hit_;
  }

 private:
  /// When the way is over the box, grown by the radius.
  Interval over_box() const {
    const BlockBox& b = map_.box();
    const double r = radius_ / map_units_per_m;
    const auto side = [&](double at, double speed, std::int32_t low, std::int32_t high) {
      return between(at, speed, static_cast<double>(low) - r, static_cast<double>(high) + r);
    };
    return both(side(base_.x, delta_.x, b.min.x, b.max.x), side(base_.y, delta_.y, b.min.y, b.max.y));
  }

  void lines(double t0, double t1) {
    const DVec2 a = p_ + d_ * t0, b = p_ + d_ * t1;
    const DVec2 low{std::min(a.x, b.x) - radius_, std::min(a.y, b.y) - radius_};
    const DVec2 high{std::max(a.x, b.x) + radius_, std::max(a.y, b.y) + radius_};
    map_.grid().visit(low, high, [&](const SolidLine& l) {
      const DVec2 end = l.a + l.along;
      if (std::max(l.a.x, end.x) <= low.x || std::min(l.a.x, end.x) >= high.x ||
          std::max(l.a.y, end.y) <= low.y || std::min(l.a.y, end.y) >= high.y)
        return true;
      const Interval lateral = inside_capsule(l, p_, d_, inner_);
      if (lateral.empty() || lateral.to <= 0 || lateral.from > hit_.t) return true;
      const Column c = column_of(map_, heights_, l);
      const std::uint32_t what = l.line == no_index ? 0 : l.line;
      prism(&l, lateral, bottom_ - height_, c.floor_m, what);
      if (c.ceiling_m < map_.roof_m()) prism(&l, lateral, c.ceiling_m - height_, map_.roof_m(), what);
      return !hit_.started_inside;
    });
  }

  void centre(double t0, double t1) {
    if (hit_.started_inside) return;
    const auto visit = [&](std::uint32_t leaf, double in, double out, const LeafEntry& entry) {
      if (in > hit_.t) return false;
      const std::uint32_t sector = map_.tree().leaves[leaf].sector;
      const Column c = column_of(map_, heights_, sector);
      // The way is in this column in [in, out]; where it starts it may have been for ever. Who starts on a
      // partition is in the leaf in front of it, and enters the other one at once.
      const bool starts = in <= 0 && entry.node == no_index;
      const Interval lateral{starts ? -never : in, out >= 1 ? never : out};
      prism(nullptr, lateral, bottom_ - height_, c.floor_m, sector);
      if (c.ceiling_m < map_.roof_m()) prism(nullptr, lateral, c.ceiling_m - height_, map_.roof_m(), sector);
      return !hit_.started_inside;
    };
    const Interval inside = centre_over_box();
    t0 = std::max(t0, inside.from);
    t1 = std::min(t1, inside.to);
    if (t0 > t1) return;
    const DVec2 a = p_ + d_ * t0, b = p_ + d_ * t1;
    const std::uint32_t first = map_.grid().leaf_at(map_.tree(), a);
    // A leaf is convex: both ends in it, all of the way in it.
    if (first == map_.grid().leaf_at(map_.tree(), b))
      visit(first, t0, t1, {});
    else
      trace_leaves(map_.tree(), map_.tree().root, p_, d_, t0, t1, visit);
  }

  Interval centre_over_box() const {
    const BlockBox& b = map_.box();
    const auto side = [](double at, double speed, std::int32_t low, std::int32_t high) {
      return between(at, speed, static_cast<double>(low), static_cast<double>(high));
    };
    return both(side(base_.x, delta_.x, b.min.x, b.max.x), side(base_.y, delta_.y, b.min.y, b.max.y));
  }

  /// One prism: the times in its base, and its z range for the body's base. `line` null: a sector's inside.
  void prism(const SolidLine* line, Interval lateral, double low, double high, std::uint32_t what) {
    const Interval upright = between(z_, dz_, low + contact_slop_m, high - contact_slop_m);
    const Interval in = both(lateral, upright);
    if (in.empty() || in.to <= 0 || in.from > 1) return;
    if (in.from < 0) {
      hit_ = SweepHit{0, {}, ContactKind::none, true, what};
      return;
    }
    SweepHit h;
    h.what = what;
    if (upright.from >= lateral.from) {
      const bool down = dz_ < 0;
      h.t = std::clamp(((down ? high : low) - z_) / dz_, 0.0, 1.0);
      h.normal = {0, 0, down ? 1.0 : -1.0};
      h.kind = down ? ContactKind::map_floor : ContactKind::map_ceiling;
    } else {
      side_contact(line, in.from, h);
    }
    const bool better = h.t < hit_.t || !hit_.hit() || (h.t == hit_.t && before(h, hit_));
    if (!better) return;
    hit_ = h;
    found_at_ = in.from;
  }

  void side_contact(const SolidLine* line, double inner_t, SweepHit& h) const {
    h.kind = ContactKind::map_wall;
    if (line == nullptr) {
      // Between leaves without a line (contradicting geometry): stop against the way, and before the seam, as
      // rounding decides which side of it a place on it is on.
      const double l = length(d_);
      h.t = std::clamp(inner_t - contact_slop_m * map_units_per_m / l, 0.0, 1.0);
      h.normal = {-d_.x / l, -d_.y / l, 0};
      return;
    }
    const Interval touch = inside_capsule(*line, p_, d_, radius_);
    h.t = std::clamp(touch.empty() ? inner_t : touch.from, 0.0, 1.0);
    const DVec2 to = p_ + d_ * h.t - line->a;
    const double at = std::clamp(dot(to, line->along) * line->inverse_length2, 0.0, 1.0);
    DVec2 away = to - line->along * at;
    if (at > 0 && at < 1) {
      // On the flat of the line its own normal is exact.
      const double side = cross(line->along, to) < 0 ? 1.0 : -1.0;
      away = DVec2{line->along.y, -line->along.x} * side;
    }
    const double l = length(away);
    h.normal = {away.x / l, away.y / l, 0};
  }

  /// Ties at the same time: the lower kind, then the lower line or sector, whatever the order of visiting.
  static bool before(const SweepHit& a, const SweepHit& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.what < b.what;
  }

  const PlacedMap& map_;
  HeightsView heights_;
  DVec2 p_, d_;            // map units
  double z_, dz_;          // metres
  double height_;          // metres
  double radius_, inner_;  // map units
  DVec2 base_, delta_;     // metres
  double bottom_;
  SweepHit hit_;
  double found_at_ = never;
};

}  // namespace

SweepHit map_sweep(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base,
                   DVec3 delta) {
  ASHLAR_ASSERT_SLOW(heights.size() == map.initial_heights().size());
  return MapSweep(map, heights, shape, base, delta).run();
}

}  // namespace ashlar
