#include <cmath>

#include "tests/catch.h"
#include "world/collide/ray_shapes.h"
#include "world/collide/shape_pairs.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

DVec3 point_about(Rng& rng, double size) {
  DVec3 p;
  p.x = rng.between(-size, size);
  p.y = rng.between(-size, size);
  p.z = rng.between(-size, size);
  if (rng.below(4) == 0) p = {std::floor(p.x), std::floor(p.y), std::floor(p.z)};
  return p;
}
Aabb random_box(Rng& rng) {
  const DVec3 a = point_about(rng, 2);
  DVec3 size;
  size.x = rng.between(0.1, 2);
  size.y = rng.between(0.1, 2);
  size.z = rng.between(0.1, 2);
  return {a, a + size};
}
Sphere random_sphere(Rng& rng) {
  const DVec3 c = point_about(rng, 2);
  return {c, rng.between(0.1, 1.5)};
}
Capsule random_capsule(Rng& rng) {
  const DVec3 a = point_about(rng, 2), way = rng.below(6) == 0 ? DVec3{} : point_about(rng, 2);
  return {{a, a + way}, rng.between(0.1, 1)};
}
StandingCylinder random_cylinder(Rng& rng) {
  Cylinder c;
  c.radius_m = rng.between(0.1, 1.5);
  c.height_m = rng.between(0.1, 2);
  return {c, point_about(rng, 2)};
}

Aabb moved(Aabb b, DVec3 d) { return {b.min + d, b.max + d}; }
Sphere moved(Sphere s, DVec3 d) { return {s.centre + d, s.radius_m}; }
StandingCylinder moved(StandingCylinder c, DVec3 d) { return {c.shape, c.base + d}; }

/// Overlap and touching agree, the normal is a unit, moving out separates, swapping flips.
template <class A, class B>
unsigned faults(const A& a, const B& b, unsigned& overlaps) {
  const auto s = separate(a, b), back = separate(b, a);
  if (!s) return (back.has_value() ? 1u : 0u);
  ++overlaps;
  unsigned wrong = 0;
  wrong += !touch(a, b);
  wrong += !back || std::fabs(back->depth_m - s->depth_m) > 1e-9;
  wrong += !is_finite(s->normal) || std::fabs(dot(s->normal, s->normal) - 1) > 1e-9 || !(s->depth_m > 0);
  // Ties may break either way only where both ways are equally short.
  if (back && length(back->normal + s->normal) > 1e-6) {
    const auto again = separate(moved(a, -back->normal * (s->depth_m * (1 + 1e-9) + 1e-9)), b);
    wrong += again.has_value();
  }
  const auto after = separate(moved(a, s->normal * (s->depth_m * (1 + 1e-9) + 1e-9)), b);
  wrong += after && after->depth_m > 1e-7;
  return wrong;
}

}  // namespace

TEST_CASE("pairs of shapes separate by depth and normal, and swapping flips", "[world][collide][shapes]") {
  Rng rng{1};
  unsigned wrong = 0, overlaps = 0;
  for (int i = 0; i < 20000; ++i) {
    const Aabb box = random_box(rng), box2 = random_box(rng);
    const Sphere ball = random_sphere(rng), ball2 = random_sphere(rng);
    const StandingCylinder post = random_cylinder(rng), post2 = random_cylinder(rng);
    wrong += faults(box, box2, overlaps) + faults(ball, ball2, overlaps) + faults(ball, box, overlaps);
    wrong += faults(post, post2, overlaps);
    const auto s = separate(post, box);
    if (s) {
      ++overlaps;
      const auto after = separate(moved(post, s->normal * (s->depth_m + 1e-9)), box);
      wrong += (after && after->depth_m > 1e-7) || !touch(post, box);
    }
    const Capsule pill = random_capsule(rng), pill2 = random_capsule(rng);
    const auto c = separate(pill, pill2), back = separate(pill2, pill);
    wrong += c.has_value() != back.has_value() || (c && !is_finite(c->normal));
    if (c && back) {
      ++overlaps;
      wrong +=
          std::fabs(c->depth_m - back->depth_m) > 1e-9 || std::fabs(dot(c->normal, c->normal) - 1) > 1e-9;
    }
  }
  CHECK(overlaps > 10000);
  CHECK(wrong == 0);
}

TEST_CASE("concentric shapes get some unit normal", "[world][collide][shapes]") {
  const Sphere ball{{1, 2, 3}, 0.5};
  const Capsule pill{{{0, 0, 0}, {0, 0, 2}}, 0.3}, flat{{{-1, 0, 1}, {1, 0, 1}}, 0.3};
  const StandingCylinder post{{0.3, 1.75}, {}};
  for (const auto& s :
       {separate(ball, ball), separate(pill, pill), separate(pill, flat), separate(post, post)}) {
    REQUIRE(s);
    CHECK(dot(s->normal, s->normal) == Approx(1));
    CHECK(s->depth_m > 0);
  }
}

TEST_CASE("crossing capsules part by depth and normal however far out they are", "[world][collide][shapes]") {
  // How near the axes come after the move, by the plane of two lines: not from closest_points.
  const auto axes_apart = [](const Capsule& a, const Capsule& b, DVec3 by) {
    double best = 1e9;
    for (int i = 0; i <= 200; ++i) {
      const DVec3 p = a.axis.a + (a.axis.b - a.axis.a) * (i / 200.0) + by;
      best = std::min(best, length(p - closest_point(b.axis, p)));
    }
    return best;
  };
  Rng rng{31};
  unsigned wrong = 0, flips = 0, met = 0;
  for (int i = 0; i < 20000; ++i) {
    constexpr double places[] = {0, 1000, -1e6, 1e6};
    DVec3 at = point_about(rng, 3);
    at.x += places[rng.below(4)], at.y += places[rng.below(4)];
    const DVec3 u = point_about(rng, 2), v = point_about(rng, 2);
    if (length(u) < 0.1 || length(v) < 0.1) continue;
    // Through one place, at its end now and then, or a hair beside it.
    const double k = 0.25 * rng.below(5), l = 0.25 * rng.below(5);
    constexpr double beside[] = {0, 0, 1e-13, 1e-10, 1e-7};
    DVec3 off = point_about(rng, 1) * beside[rng.below(5)];
    const Capsule a{{at - u * k, at + u * (1 - k)}, rng.between(0.05, 1)};
    const Capsule b{{at - v * l + off, at + v * (1 - l) + off}, rng.between(0.05, 1)};
    const auto s = separate(a, b), back = separate(b, a);
    if (!s || !back) {
      ++wrong;
      continue;
    }
    ++met;
    const double apart = axes_apart(a, b, s->normal * s->depth_m);
    wrong += std::fabs(dot(s->normal, s->normal) - 1) > 1e-9 || apart < a.radius_m + b.radius_m - 1e-6;
    flips += axes_apart(b, a, back->normal * back->depth_m) < a.radius_m + b.radius_m - 1e-6;
  }
  CHECK(met > 15000);
  CHECK(wrong == 0);
  CHECK(flips == 0);
}

TEST_CASE("rays against shapes of no size at all give numbers", "[world][collide][shapes]") {
  Rng rng{32};
  unsigned bad = 0, hits = 0;
  const auto check = [&](const std::optional<ShapeHit>& hit) {
    if (!hit) return;
    ++hits;
    bad += !std::isfinite(hit->t_m) || !is_finite(hit->normal) || std::fabs(length(hit->normal) - 1) > 1e-9;
  };
  check(ray_cylinder({-1, 0, 1}, {1, 0, 0}, 5, {{0, 2}, {}}));
  for (int i = 0; i < 20000; ++i) {
    constexpr double sizes[] = {0, 1e-310, 1e-160, 1e-9};
    const double r = sizes[rng.below(4)], h = rng.below(3) == 0 ? 0 : 1;
    constexpr DVec3 ways[] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}, {0.6, 0.8, 0}, {0.6, 0, 0.8}};
    const DVec3 d = ways[rng.below(6)];
    const DVec3 at = point_about(rng, 3), o = at - d * (rng.below(4) * 0.5);
    check(ray_cylinder(o, d, 5, {{r, h}, at - DVec3{0, 0, h / 2}}));
    check(ray_capsule(o, d, 5, {{at - DVec3{0, h, 0}, at + DVec3{0, h, 0}}, r}));
    check(ray_sphere(o, d, 5, {at, r}));
    check(ray_box(o, d, 5, {at, at}));
  }
  CHECK(hits > 1000);
  CHECK(bad == 0);
}

TEST_CASE("closest points of segments equal a fine search", "[world][collide][shapes]") {
  Rng rng{2};
  unsigned wrong = 0;
  for (int i = 0; i < 3000; ++i) {
    Segment s{point_about(rng, 2), point_about(rng, 2)}, r{point_about(rng, 2), point_about(rng, 2)};
    switch (rng.below(6)) {
      case 0: s.b = s.a; break;
      case 1: r.b = r.a + (s.b - s.a) * 0.5; break;        // parallel
      case 2: r = {s.a + (s.b - s.a) * 0.25, s.b}; break;  // collinear, overlapping
      case 3: s.b = s.a, r.b = r.a; break;
      default: break;
    }
    const SegmentPair p = closest_points(s, r);
    const double found = length(p.on_first - p.on_second);
    double best = 1e9;
    for (int k = 0; k <= 400; ++k) {
      const DVec3 q = s.a + (s.b - s.a) * (k / 400.0);
      best = std::min(best, length(q - closest_point(r, q)));
    }
    wrong += !is_finite(p.on_first) || !is_finite(p.on_second) || found > best + 1e-9 || found < best - 0.02;
  }
  CHECK(wrong == 0);
}

TEST_CASE("rays against shapes agree with marching along them", "[world][collide][shapes]") {
  Rng rng{3};
  unsigned wrong = 0, hits = 0;
  const auto march = [&](const auto& inside, DVec3 o, DVec3 d, const std::optional<ShapeHit>& hit,
                         double t_max) {
    constexpr double step = 0.004;
    double first = -1;
    for (double t = 0; t <= t_max; t += step)
      if (inside(o + d * t)) {
        first = t;
        break;
      }
    if (first < 0) return;  // it may still graze between two steps
    ++hits;
    wrong += !hit || hit->t_m > first + 1e-9 || hit->t_m < first - step - 1e-9 ||
             std::fabs(dot(hit->normal, hit->normal) - 1) > 1e-6;
  };
  const auto nothing_nearer = [&](const auto& outside_by, DVec3 o, DVec3 d,
                                  const std::optional<ShapeHit>& hit) {
    if (hit) wrong += outside_by(o + d * hit->t_m) > 1e-6;  // what is hit lies on the shape
  };
  for (int i = 0; i < 1500; ++i) {
    const DVec3 o = point_about(rng, 4);
    DVec3 d = point_about(rng, 2) - o;  // about where the shapes are
    if (rng.below(4) == 0) d.z = 0;
    if (rng.below(6) == 0) d.x = d.y = 0;
    if (length(d) < 0.01) continue;
    d = d * (1 / length(d));
    const double t_max = rng.between(0, 8);
    const Aabb box = random_box(rng);
    const auto in_box = [&](DVec3 p) {
      return p.x > box.min.x && p.x < box.max.x && p.y > box.min.y && p.y < box.max.y && p.z > box.min.z &&
             p.z < box.max.z;
    };
    march(in_box, o, d, ray_box(o, d, t_max, box), t_max);
    const Capsule pill = random_capsule(rng);
    const auto gap = [&](DVec3 p) { return length(p - closest_point(pill.axis, p)) - pill.radius_m; };
    const auto pill_hit = ray_capsule(o, d, t_max, pill);
    march([&](DVec3 p) { return gap(p) < 0; }, o, d, pill_hit, t_max);
    nothing_nearer(gap, o, d, pill_hit);
    const Sphere ball = random_sphere(rng);
    const auto ball_hit = ray_sphere(o, d, t_max, ball);
    march([&](DVec3 p) { return length(p - ball.centre) < ball.radius_m; }, o, d, ball_hit, t_max);
    const StandingCylinder post = random_cylinder(rng);
    march(
        [&](DVec3 p) {
          return p.z > post.base.z && p.z < post.base.z + post.shape.height_m &&
                 length(xy(p) - xy(post.base)) < post.shape.radius_m;
        },
        o, d, ray_cylinder(o, d, t_max, post), t_max);
  }
  CHECK(hits > 250);
  CHECK(wrong == 0);
  CHECK_FALSE(ray_plane({0, 0, 1}, {1, 0, 0}, 10, {}, {0, 0, 1}));
  CHECK(ray_plane({0, 0, 1}, {0, 0, -1}, 10, {}, {0, 0, 1})->t_m == 1.0);
  CHECK_FALSE(ray_plane({0, 0, 1}, {0, 0, 1}, 10, {}, {0, 0, 1}));
}

TEST_CASE("a sphere on a plane stays on the side it came from", "[world][collide][shapes]") {
  const DVec3 up{0, 0, 1};
  CHECK(slide_on_plane({{1, 2, 3}, 1}, {0, 0, 5}, {}, up) == DVec3{1, 2, 3});
  CHECK(slide_on_plane({{1, 2, 0.5}, 1}, {0, 0, 5}, {}, up) == DVec3{1, 2, 1});
  CHECK(slide_on_plane({{1, 2, -3}, 1}, {0, 0, 5}, {}, up) == DVec3{1, 2, 1});
  CHECK(slide_on_plane({{1, 2, 3}, 1}, {0, 0, -5}, {}, up) == DVec3{1, 2, -1});
}
