#include "world/collide/window_queries.h"

#include <algorithm>
#include <cmath>

#include "world/collide/part_blocks.h"
#include "world/math/assert.h"
#include "world/math/never.h"

namespace ashlar {
namespace {

constexpr double standing_m = 1e-12;  // a shorter way along an axis is none: 1/d stays finite

/// The footprint, smaller by the slop: what it does not meet counts as touched at most.
struct Footprint {
  double half_x, half_y, radius;
  double reach_x() const { return half_x + radius; }
  double reach_y() const { return half_y + radius; }
};

Footprint shrunk(const RoundedBox& s) {
  if (s.radius_m > 0) return {s.half_x_m, s.half_y_m, s.radius_m - contact_slop_m};
  return {s.half_x_m - contact_slop_m, s.half_y_m - contact_slop_m, 0};
}

/// What stands upright on a rectangle, grown by the footprint's flat part: its middle and half its sides.
struct GrownColumn {
  DVec2 middle;
  double core_x, core_y;
};

GrownColumn grown_column(const Footprint& f, std::int32_t i, std::int32_t j) {
  return {{i + 0.5, j + 0.5}, 0.5 + f.half_x, 0.5 + f.half_y};
}
GrownColumn grown_box(const Footprint& f, const Aabb& b) {
  return {{0.5 * (b.min.x + b.max.x), 0.5 * (b.min.y + b.max.y)},
          0.5 * (b.max.x - b.min.x) + f.half_x,
          0.5 * (b.max.y - b.min.y) + f.half_y};
}

/// Does the footprint centred at (x, y) meet it? Open.
bool meets(const Footprint& f, double x, double y, const GrownColumn& c) {
  const double dx = std::fabs(x - c.middle.x) - c.core_x;
  const double dy = std::fabs(y - c.middle.y) - c.core_y;
  if (dx >= f.radius || dy >= f.radius) return false;
  if (dx <= 0 || dy <= 0) return true;
  return dx * dx + dy * dy < f.radius * f.radius;
}
bool meets_column(const Footprint& f, double x, double y, std::int32_t i, std::int32_t j) {
  return meets(f, x, y, grown_column(f, i, j));
}

/// Columns of the window that the footprint's bounds meet on the way from p by (dx, dy): ahead also those
/// that the full footprint comes to touch.
[[gnu::always_inline]] inline ColumnRange columns_on_way(const BlockWindow& w, const Footprint& f, DVec3 p,
                                                         double dx, double dy) {
  const double rx = f.reach_x(), ry = f.reach_y();
  return {std::max(floor_to_int(dx < 0 ? p.x - rx + dx - contact_slop_m : p.x - rx), 0),
          std::min(floor_to_int(dx > 0 ? p.x + rx + dx + contact_slop_m : p.x + rx), w.size_x - 1),
          std::max(floor_to_int(dy < 0 ? p.y - ry + dy - contact_slop_m : p.y - ry), 0),
          std::min(floor_to_int(dy > 0 ? p.y + ry + dy + contact_slop_m : p.y + ry), w.size_y - 1)};
}

/// Blocks that a body from z to z + height overlaps by more than the slop.
[[gnu::always_inline]] inline std::uint32_t layers_at(double z, double height) {
  return layer_mask(floor_to_int(z + contact_slop_m), -floor_to_int(-(z + height - contact_slop_m)) - 1);
}

/// One sweep, relative to the window's corner.
///
/// Each block asks the whole line of the way: does it ever lead deeper than the slop into the block? Then the
/// contact is where the full shapes first touch, if that lies on the way. What happens beyond the way's end
/// is not asked for its own sake, but so that a way and its parts are told the same.
class BlockSweep {
 public:
  BlockSweep(const RoundedBox& shape, DVec3 p, DVec3 d, double t_max)
      : f_(shrunk(shape)), full_radius_(shape.radius_m), height_(shape.height_m), p_(p), d_(d) {
    best_.t = t_max;
    moves_x_ = std::fabs(d.x) > standing_m;
    moves_y_ = std::fabs(d.y) > standing_m;
    moves_z_ = std::fabs(d.z) > standing_m;
    inverse_x_ = moves_x_ ? 1 / d.x : 0;
    inverse_y_ = moves_y_ ? 1 / d.y : 0;
    slop_x_ = contact_slop_m * std::fabs(inverse_x_);
    slop_y_ = contact_slop_m * std::fabs(inverse_y_);
  }

  /// All blocks of one column; `bits` are those in the layers of the whole way.
  void column(std::int32_t i, std::int32_t j, std::uint32_t bits) {
    Passage way;
    if (!crosses(grown_column(f_, i, j), way)) return;
    const double z = p_.z + d_.z * std::max(way.enters, 0.0);
    const std::uint32_t beside = bits & layers_at(z, height_);
    if (beside == 0) {
      if (moves_z_) vertical(i, j, bits, z, way.touches, way.leaves);
      return;
    }
    if (way.enters < 0 || way.through == Through::nothing) return start_inside({i, j, lowest(beside)});
    const double t = std::max(way.touches, touched_at_level(beside));
    take(t, normal_of(way, t), {i, j, lowest(beside)});
  }

  /// One box of a block that is solid in part.
  void box(const Aabb& b, IVec3 block) {
    Passage way;
    if (!crosses(grown_box(f_, b), way)) return;
    const double z = p_.z + d_.z * std::max(way.enters, 0.0), top = z + height_;
    const bool below = b.max.z <= z + contact_slop_m, above = b.min.z >= top - contact_slop_m;
    const double level = d_.z < 0 ? b.max.z : b.min.z - height_;  // where the body's height touches it
    if (!below && !above) {
      if (way.enters < 0 || way.through == Through::nothing) return start_inside(block);
      const double t = std::max(way.touches, moves_z_ ? (level - p_.z) / d_.z : -never);
      return take(t, normal_of(way, t), block);
    }
    if (!moves_z_ || (d_.z < 0 ? !below : !above)) return;
    const double deep = d_.z < 0 ? level - contact_slop_m : level + contact_slop_m;
    if ((deep - p_.z) / d_.z < way.leaves)
      take(std::max(way.touches, (level - p_.z) / d_.z), {0, 0, d_.z < 0 ? 1.0 : -1.0}, block);
  }

  const BlockHit& best() const { return best_; }
  bool inside() const { return best_.started_inside; }

 private:
  static std::int32_t lowest(std::uint32_t bits) { return std::countr_zero(bits); }

  /// What the axis goes through on its way into a column grown by the footprint.
  enum class Through : std::uint8_t { nothing, face_x, face_y, corner };

  /// When the axis is within a grown column, and how it comes into it.
  struct Passage {
    double enters = -never, leaves = never;
    double touches = -never;  ///< when it comes into that of the full shape
    Through through = Through::nothing;
    DVec2 corner{};               ///< of the core, when it enters through one
    bool touches_corner = false;  ///< the same one with the full shape
  };

  /// All of it. False: the axis misses the grown column, or comes there later than to the best hit.
  [[gnu::always_inline]] bool crosses(const GrownColumn& c, Passage& way) const {
    if (!crosses_bounds(c, way)) return false;
    // Rounded: a rectangle entered beside its core is entered through the disc at that corner, or missed.
    if (f_.radius > 0) {
      if (!moves_x_ && !moves_y_) {
        if (!meets(f_, p_.x, p_.y, c)) return false;
      } else if (!crosses_corners(c, way)) {
        return false;
      }
    }
    ASHLAR_ASSERT_SLOW(way.enters < way.leaves && way.leaves > 0 && way.touches <= best_.t);
    return true;
  }

  /// The grown column's bounding rectangle. False: the axis misses it, or comes there later than to the best
  /// hit.
  bool crosses_bounds(const GrownColumn& c, Passage& way) const {
    const double grown_x = c.core_x + f_.radius, grown_y = c.core_y + f_.radius;
    if (moves_x_) {
      const double near = (d_.x > 0 ? c.middle.x - grown_x : c.middle.x + grown_x) - p_.x;
      const double far = (d_.x > 0 ? c.middle.x + grown_x : c.middle.x - grown_x) - p_.x;
      way.enters = near * inverse_x_;
      way.leaves = far * inverse_x_;
      way.touches = way.enters - slop_x_;
      way.through = Through::face_x;
    } else if (std::fabs(p_.x - c.middle.x) >= grown_x) {
      return false;
    }
    if (moves_y_) {
      const double near = (d_.y > 0 ? c.middle.y - grown_y : c.middle.y + grown_y) - p_.y;
      const double far = (d_.y > 0 ? c.middle.y + grown_y : c.middle.y - grown_y) - p_.y;
      const double enters = near * inverse_y_;
      way.touches = std::max(way.touches, enters - slop_y_);
      if (enters > way.enters) way.enters = enters, way.through = Through::face_y;
      way.leaves = std::min(way.leaves, far * inverse_y_);
    } else if (std::fabs(p_.y - c.middle.y) >= grown_y) {
      return false;
    }
    return way.enters < way.leaves && way.leaves > 0 && way.touches <= best_.t;
  }

  /// The same with the rectangle's corners rounded.
  bool crosses_corners(const GrownColumn& c, Passage& way) const {
    if (beside_core(way.enters, c, way.corner)) {
      const double full = corner_time(way.corner, f_.radius, -1);
      if (full != full) return false;
      way.enters = full;
      way.through = Through::corner;
    }
    DVec2 leaving{};
    if (beside_core(way.leaves, c, leaving)) {
      const double exit = corner_time(leaving, f_.radius, 1);
      if (exit == exit) way.leaves = exit;
    }
    if (way.enters >= way.leaves || way.leaves <= 0) return false;
    DVec2 touched{};
    if (beside_core(way.touches, c, touched)) {
      const double full = corner_time(touched, full_radius_, -1);
      if (full == full) way.touches = full;
      way.touches_corner = touched == way.corner;
    }
    return way.touches <= best_.t;
  }

  /// Of the side of the column that is touched at time t.
  DVec3 normal_of(const Passage& way, double t) const {
    switch (way.through) {
      case Through::face_x: return {d_.x > 0 ? -1.0 : 1.0, 0, 0};
      case Through::face_y: return {0, d_.y > 0 ? -1.0 : 1.0, 0};
      default: break;
    }
    ASHLAR_ASSERT(way.through == Through::corner);  // who goes through nothing started inside
    // Away from the edge where the full shape touches it, or where the way goes deeper than the slop.
    const double at = way.touches_corner ? std::max(t, 0.0) : way.enters;
    const DVec2 out{p_.x + d_.x * at - way.corner.x, p_.y + d_.y * at - way.corner.y};
    const double size = length(out);
    ASHLAR_ASSERT(size > 0);  // the edge lies a radius away from the axis
    return {out.x / size, out.y / size, 0};
  }

  /// Is the axis at time t beside the core on both axes? Then `corner` is the core's corner there.
  bool beside_core(double t, const GrownColumn& c, DVec2& corner) const {
    const double x = p_.x + d_.x * t - c.middle.x, y = p_.y + d_.y * t - c.middle.y;
    if (std::fabs(x) <= c.core_x || std::fabs(y) <= c.core_y) return false;
    corner = {x > 0 ? c.middle.x + c.core_x : c.middle.x - c.core_x,
              y > 0 ? c.middle.y + c.core_y : c.middle.y - c.core_y};
    return true;
  }

  /// When the axis enters (side -1) or leaves (+1) the disc around a corner; NaN when it misses.
  double corner_time(DVec2 corner, double radius, int side) const {
    // The nearest approach first, then half the chord: no difference of large squares.
    const DVec2 d{d_.x, d_.y};
    const double dd = dot(d, d);
    const DVec2 from{p_.x - corner.x, p_.y - corner.y};
    const double nearest = -dot(from, d) / dd;
    const double miss = cross(from, d);
    const double rest = radius * radius * dd - miss * miss;
    if (!(rest > 0)) return std::numeric_limits<double>::quiet_NaN();
    return nearest + side * std::sqrt(rest) / dd;
  }

  void start_inside(IVec3 block) { best_ = {0, {}, true, true, block}; }

  /// When the first of these blocks of a column is touched by the body's height.
  double touched_at_level(std::uint32_t blocks) const {
    if (!moves_z_) return -never;
    if (d_.z < 0) return (32 - std::countl_zero(blocks) - p_.z) / d_.z;
    return (lowest(blocks) - height_ - p_.z) / d_.z;
  }

  /// What is met from above or below while within a column: from `touch` on by the full shape.
  void vertical(std::int32_t i, std::int32_t j, std::uint32_t bits, double z, double touch, double t1) {
    if (d_.z < 0) {
      const std::uint32_t below = bits & layer_mask(0, floor_to_int(z + contact_slop_m) - 1);
      if (below == 0) return;
      const std::int32_t k = 31 - std::countl_zero(below);
      const double entered = (k + 1 - contact_slop_m - p_.z) / d_.z;
      if (entered < t1) take(std::max(touch, (k + 1 - p_.z) / d_.z), {0, 0, 1}, {i, j, k});
    } else {
      const std::int32_t top = -floor_to_int(-(z + height_ - contact_slop_m));
      const std::uint32_t above = bits & layer_mask(top, 31);
      if (above == 0) return;
      const std::int32_t k = lowest(above);
      const double entered = (k + contact_slop_m - height_ - p_.z) / d_.z;
      if (entered < t1) take(std::max(touch, (k - height_ - p_.z) / d_.z), {0, 0, -1}, {i, j, k});
    }
  }

  void take(double t, DVec3 normal, IVec3 block) {
    t = std::max(t, 0.0);
    // Ties: a side before what is above or below, or who presses into a wall would hang on its rims.
    const bool side_first = best_.hit && t == best_.t && normal.z == 0 && best_.normal.z != 0;
    if (t >= best_.t && !side_first) return;
    best_ = {t, normal, true, false, block};
  }

  Footprint f_;
  double full_radius_, height_;
  DVec3 p_, d_;
  double inverse_x_, inverse_y_;
  double slop_x_, slop_y_;  // how long the way takes through the slop, along each axis
  bool moves_x_, moves_y_, moves_z_;
  BlockHit best_;
};

}  // namespace

bool window_overlaps(const BlockWindow& window, const RoundedBox& shape, DVec3 base) {
  const DVec3 p = base - to_dvec3(window.min);
  const std::uint32_t layers = layers_at(p.z, shape.height_m);
  if (((window.any | window.parts_any) & layers) == 0) return false;
  const Footprint f = shrunk(shape);
  const ColumnRange range = columns_on_way(window, f, p, 0, 0);
  for (std::int32_t j = range.y0; j <= range.y1; ++j)
    for (std::int32_t i = range.x0; i <= range.x1; ++i)
      if ((window.column(i, j) & layers) != 0 && meets_column(f, p.x, p.y, i, j)) return true;
  const double low = p.z + contact_slop_m, high = p.z + shape.height_m - contact_slop_m;
  return visit_part_boxes(window, range, layers, [&](const Aabb& b, IVec3) {
    return b.max.z > low && b.min.z < high && meets(f, p.x, p.y, grown_box(f, b));
  });
}

BlockHit window_sweep(const BlockWindow& window, const RoundedBox& shape, DVec3 base, DVec3 delta,
                      double t_max) {
  const DVec3 p = base - to_dvec3(window.min);
  // Ahead also what the way's end only touches; elsewhere what is met by more than the slop.
  const bool down = delta.z<-standing_m, up = delta.z> standing_m;
  const double low = down ? p.z + delta.z : p.z + contact_slop_m;
  const double high = p.z + shape.height_m + (up ? delta.z : -contact_slop_m);
  const std::uint32_t layers = layer_mask(floor_to_int(low), -floor_to_int(-high) - 1);
  if (((window.any | window.parts_any) & layers) == 0) return {};
  BlockSweep sweep(shape, p, delta, t_max);
  const ColumnRange range = columns_on_way(window, shrunk(shape), p, delta.x, delta.y);
  for (std::int32_t j = range.y0; j <= range.y1; ++j)
    for (std::int32_t i = range.x0; i <= range.x1; ++i) {
      const std::uint32_t bits = window.column(i, j) & layers;
      if (bits != 0) sweep.column(i, j, bits);
    }
  visit_part_boxes(window, range, layers, [&](const Aabb& b, IVec3 block) {
    if (!sweep.inside()) sweep.box(b, block);
    return sweep.inside();
  });
  BlockHit hit = sweep.best();
  if (hit.hit) hit.block = hit.block + window.min;
  return hit;
}

std::optional<double> window_ground(const BlockWindow& window, const RoundedBox& shape, DVec2 centre,
                                    double z, double depth_m) {
  const DVec3 p = DVec3{centre.x, centre.y, z} - to_dvec3(window.min);
  const std::int32_t at = floor_to_int(p.z + contact_slop_m);
  const std::int32_t lowest = floor_to_int(p.z - depth_m - contact_slop_m) - 1;
  const std::uint32_t here = layer_mask(at, at);
  const std::uint32_t below = layer_mask(lowest, at - 1);
  if (((window.any | window.parts_any) & (here | below)) == 0) return std::nullopt;
  const Footprint f = shrunk(shape);
  const ColumnRange range = columns_on_way(window, f, p, 0, 0);
  std::int32_t top = -1;
  for (std::int32_t j = range.y0; j <= range.y1; ++j)
    for (std::int32_t i = range.x0; i <= range.x1; ++i) {
      const std::uint32_t bits = window.column(i, j);
      if ((bits & (here | below)) == 0 || !meets_column(f, p.x, p.y, i, j)) continue;
      if ((bits & here) != 0) return std::nullopt;
      if ((bits & below) != 0) top = std::max(top, 31 - std::countl_zero(bits & below));
    }
  double ground = top + 1;
  bool found = top >= 0;
  const double level = p.z + contact_slop_m;
  const bool inside = visit_part_boxes(window, range, here | below, [&](const Aabb& b, IVec3) {
    if (b.min.z > level || !meets(f, p.x, p.y, grown_box(f, b))) return false;
    if (b.max.z > level) return true;
    ground = found ? std::max(ground, b.max.z) : b.max.z;
    found = true;
    return false;
  });
  if (inside || !found || p.z - ground > depth_m + contact_slop_m) return std::nullopt;
  return window.min.z + ground;
}

}  // namespace ashlar
