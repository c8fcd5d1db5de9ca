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
// A contact counts when the line of the way, gone on beyond its end, goes deeper than contact_slop_m into a
// prism; it is reported where both first touch in full. So a way and its parts are told the same, and no
// order of lines decides anything.

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
    if (starts_in_rock()) return hit_;
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
      // What a later piece can find is first touched in it.
      if (hit_.hit() && hit_.t <= t1) break;
      if (t1 >= last) break;
      t0 = t1;
    }
    return hit_;
  }

 private:
  /// Is what is over the centre in rock? As map_overlaps() says, also exactly on a partition.
  bool starts_in_rock() {
    if (!ashlar::over_box(map_, base_)) return false;
    start_leaf_ = map_.grid().leaf_at(map_.tree(), p_);
    const std::uint32_t sector = map_.tree().leaves[start_leaf_].sector;
    if (!in_rock(map_, column_of(map_, heights_, sector), z_, height_, contact_slop_m)) return false;
    hit_ = SweepHit{0, {}, ContactKind::none, true, sector};
    return true;
  }

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
    // What is only touched counts as well.
    const double reach = radius_ + contact_slop_m * map_units_per_m;
    const DVec2 low{std::min(a.x, b.x) - reach, std::min(a.y, b.y) - reach};
    const DVec2 high{std::max(a.x, b.x) + reach, std::max(a.y, b.y) + reach};
    map_.grid().visit(low, high, [&](const SolidLine& l) {
      const DVec2 end = l.a + l.along;
      if (std::max(l.a.x, end.x) <= low.x || std::min(l.a.x, end.x) >= high.x ||
          std::max(l.a.y, end.y) <= low.y || std::min(l.a.y, end.y) >= high.y)
        return true;
      const Interval lateral = inside_capsule(l, p_, d_, inner_);
      if (lateral.empty() || lateral.to <= 0) return true;
      const Column c = column_of(map_, heights_, l);
      const std::uint32_t what = l.line == no_index ? 0 : l.line;
      prism(&l, lateral, bottom_ - height_, c.floor_m, what);
      if (c.ceiling_m < map_.roof_m()) prism(&l, lateral, c.ceiling_m - height_, map_.roof_m(), what);
      return true;
    });
  }

  void centre(double t0, double t1) {
    if (hit_.started_inside) return;
    const auto visit = [&](std::uint32_t leaf, double in, double out, const LeafEntry& entry) {
      const std::uint32_t sector = map_.tree().leaves[leaf].sector;
      const Column c = column_of(map_, heights_, sector);
      // Leaves of the same heights are one column, in which the way is from run_from_ on; where it starts it
      // may have been for ever.
      if (!running_ || c.floor_m != run_.floor_m || c.ceiling_m != run_.ceiling_m) {
        run_from_ = !running_ && in <= 0 && entry.node == no_index ? -never : in;
        run_ = c;
        running_ = true;
      }
      if (in > hit_.t && std::max(run_from_, touches_level(c)) >= hit_.t) return false;
      const Interval lateral{run_from_, out >= 1 ? never : out};
      prism(nullptr, lateral, bottom_ - height_, c.floor_m, sector);
      if (c.ceiling_m < map_.roof_m()) prism(nullptr, lateral, c.ceiling_m - height_, map_.roof_m(), sector);
      return !hit_.started_inside;
    };
    const Interval inside = centre_over_box();
    t0 = std::max(t0, inside.from);
    t1 = std::min(t1, inside.to);
    if (t0 > t1) return;
    const DVec2 a = p_ + d_ * t0, b = p_ + d_ * t1;
    const bool at_start = t0 == 0 && start_leaf_ != no_index;
    const std::uint32_t first = at_start ? start_leaf_ : map_.grid().leaf_at(map_.tree(), a);
    // A leaf is convex: both ends in it, all of the way in it.
    if (first == map_.grid().leaf_at(map_.tree(), b))
      visit(first, t0, t1, {});
    else
      trace_leaves(map_.tree(), map_.tree().root, p_, d_, t0, t1, visit);
  }

  /// When the body first touches a column's floor, ceiling or roof; never on a level way.
  double touches_level(const Column& c) const {
    if (dz_ == 0) return never;
    if (dz_ > 0) return (c.ceiling_m - height_ - z_) / dz_;
    const double floor = (c.floor_m - z_) / dz_;
    return c.ceiling_m < map_.roof_m() ? std::min(floor, (map_.roof_m() - z_) / dz_) : floor;
  }

  /// Does the column that the way ends in reach on beyond the end, up to time t?
  bool goes_on(double t) const {
    bool same = true;
    trace_leaves(map_.tree(), map_.tree().root, p_, d_, 1, t,
                 [&](std::uint32_t leaf, double, double, const LeafEntry&) {
                   const Column c = column_of(map_, heights_, map_.tree().leaves[leaf].sector);
                   same = c.floor_m == run_.floor_m && c.ceiling_m == run_.ceiling_m;
                   return same;
                 });
    return same;
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
    if (in.empty() || in.to <= 0) return;
    if (in.from < 0) {
      if (!hit_.started_inside || what < hit_.what) hit_ = SweepHit{0, {}, ContactKind::none, true, what};
      return;
    }
    if (hit_.started_inside) return;
    const bool down = dz_ < 0;
    const bool upright_last = upright.from >= lateral.from;
    const double level_touch = dz_ == 0 ? -never : ((down ? high : low) - z_) / dz_;
    SweepHit h;
    h.what = what;
    h.t = std::max(level_touch, side_touch(line, lateral.from, upright_last));
    if (h.t >= 1 || h.t > hit_.t) return;
    if (line == nullptr && in.from > 1 && !goes_on(in.from)) return;
    h.t = std::max(h.t, 0.0);
    if (upright_last) {
      h.normal = {0, 0, down ? 1.0 : -1.0};
      h.kind = down ? ContactKind::map_floor : ContactKind::map_ceiling;
    } else {
      side_contact(line, h);
    }
    if (h.t < hit_.t || !hit_.hit() || before(h, hit_)) hit_ = h;
  }

  /// When the full body first touches a prism's base.
  double side_touch(const SolidLine* line, double inner_t, bool upright_last) const {
    if (line != nullptr) {
      const Interval touch = inside_capsule(*line, p_, d_, radius_);
      return touch.empty() ? inner_t : touch.from;
    }
    if (upright_last) return inner_t;
    // Between leaves without a line (contradicting geometry): before the seam, as rounding decides which side
    // of it a place on it is on.
    return inner_t - contact_slop_m * map_units_per_m / length(d_);
  }

  void side_contact(const SolidLine* line, SweepHit& h) const {
    h.kind = ContactKind::map_wall;
    if (line == nullptr) {
      const double l = length(d_);
      h.normal = {-d_.x / l, -d_.y / l, 0};
      return;
    }
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

  /// Ties at the same time: walls first, as who presses into a wall exactly at a sill's height would hang on
  /// a rim that he does not reach; then the lower kind, then the lower line or sector, whatever the order of
  /// visiting.
  static bool before(const SweepHit& a, const SweepHit& b) {
    const bool a_wall = a.kind == ContactKind::map_wall, b_wall = b.kind == ContactKind::map_wall;
    if (a_wall != b_wall) return a_wall;
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
  Column run_;  // which the centre is over since run_from_
  double run_from_ = 0;
  std::uint32_t start_leaf_ = no_index;  // no_index: not over the box
  bool running_ = false;
};

}  // namespace

SweepHit map_sweep(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base,
                   DVec3 delta) {
  ASHLAR_ASSERT_SLOW(heights.size() == map.initial_heights().size());
  return MapSweep(map, heights, shape, base, delta).run();
}

}  // namespace ashlar
