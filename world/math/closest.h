#pragma once
#include <algorithm>

#include "world/math/vec.h"

namespace ashlar {

/// A straight line between two points, which may be the same.
struct Segment {
  DVec3 a, b;
};

/// Nearest points of two segments; where several are (parallel ones), some pair of them.
struct SegmentPair {
  DVec3 on_first, on_second;
};

/// Exact for crossing, parallel, collinear and point-like segments; never NaN.
/// Source: Ericson, "Real-Time Collision Detection" (2005), 5.1.9.
inline SegmentPair closest_points(const Segment& s, const Segment& r) {
  const DVec3 d1 = s.b - s.a, d2 = r.b - r.a, between = s.a - r.a;
  const double a = dot(d1, d1), e = dot(d2, d2), f = dot(d2, between);
  double u = 0, v = 0;  // along the first and the second
  if (a > 0 && e > 0) {
    const double b = dot(d1, d2), c = dot(d1, between);
    const double denominator = a * e - b * b;
    // Nearly parallel: any point of the first will do, its own end is the stable choice.
    u = denominator > 1e-12 * a * e ? std::clamp((b * f - c * e) / denominator, 0.0, 1.0) : 0;
    v = (b * u + f) / e;
    if (v < 0) {
      v = 0;
      u = std::clamp(-c / a, 0.0, 1.0);
    } else if (v > 1) {
      v = 1;
      u = std::clamp((b - c) / a, 0.0, 1.0);
    }
  } else if (a > 0) {
    u = std::clamp(-dot(d1, between) / a, 0.0, 1.0);
  } else if (e > 0) {
    v = std::clamp(f / e, 0.0, 1.0);
  }
  return {s.a + d1 * u, r.a + d2 * v};
}

/// The place of a segment that is nearest to p; a segment of no length is its end.
inline DVec3 closest_point(const Segment& s, DVec3 p) {
  const DVec3 d = s.b - s.a;
  const double size2 = dot(d, d);
  if (size2 == 0) return s.a;
  return s.a + d * std::clamp(dot(p - s.a, d) / size2, 0.0, 1.0);
}

}  // namespace ashlar
