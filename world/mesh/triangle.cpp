#include <algorithm>
#include <cmath>
#include <utility>

#include "world/mesh/triangle_mesh.h"

namespace ashlar {
namespace {}  // namespace

std::optional<double> ray_triangle(DVec3 origin, DVec3 direction, const Triangle& triangle) {
  // Shear the ray onto its longest axis; the three edge functions of neighbours then cancel bit by bit.
  const double ax = std::fabs(direction.x), ay = std::fabs(direction.y), az = std::fabs(direction.z);
  const int kz = ax > ay ? (ax > az ? 0 : 2) : (ay > az ? 1 : 2);
  const int kx = (kz + 1) % 3, ky = (kz + 2) % 3;
  const double depth = component(direction, kz);
  if (depth == 0) return std::nullopt;
  const double sx = component(direction, kx) / depth, sy = component(direction, ky) / depth, sz = 1 / depth;
  const DVec3 a = triangle.a - origin, b = triangle.b - origin, c = triangle.c - origin;
  const double axx = component(a, kx) - sx * component(a, kz), ayy = component(a, ky) - sy * component(a, kz);
  const double bxx = component(b, kx) - sx * component(b, kz), byy = component(b, ky) - sy * component(b, kz);
  const double cxx = component(c, kx) - sx * component(c, kz), cyy = component(c, ky) - sy * component(c, kz);
  const double u = cxx * byy - cyy * bxx;
  const double v = axx * cyy - ayy * cxx;
  const double w = bxx * ayy - byy * axx;
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return std::nullopt;
  const double det = u + v + w;
  if (det == 0) return std::nullopt;
  const double t = (u * sz * component(a, kz) + v * sz * component(b, kz) + w * sz * component(c, kz)) / det;
  if (!(t >= 0)) return std::nullopt;
  return t;
}

DVec3 nearest_on_triangle(DVec3 p, const Triangle& t) {
  const DVec3 ab = t.b - t.a, ac = t.c - t.a, ap = p - t.a;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return t.a;
  const DVec3 bp = p - t.b;
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return t.b;
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return t.a + ab * (d1 - d3 > 0 ? d1 / (d1 - d3) : 0);
  const DVec3 cp = p - t.c;
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return t.c;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return t.a + ac * (d2 - d6 > 0 ? d2 / (d2 - d6) : 0);
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const double span = (d4 - d3) + (d5 - d6);
    return t.b + (t.c - t.b) * (span > 0 ? (d4 - d3) / span : 0);
  }
  const double sum = va + vb + vc;
  return t.a + ab * (vb / sum) + ac * (vc / sum);
}

bool box_meets_triangle(const Aabb& box, const Triangle& triangle) {
  const DVec3 centre = (box.min + box.max) * 0.5, half = (box.max - box.min) * 0.5;
  const std::array<DVec3, 3> v{triangle.a - centre, triangle.b - centre, triangle.c - centre};
  const std::array<DVec3, 3> e{v[1] - v[0], v[2] - v[1], v[0] - v[2]};
  const auto apart = [&](DVec3 axis) {
    const double p0 = dot(v[0], axis), p1 = dot(v[1], axis), p2 = dot(v[2], axis);
    const double reach = half.x * std::fabs(axis.x) + half.y * std::fabs(axis.y) + half.z * std::fabs(axis.z);
    // Rounding may not part what touches.
    const double slack = 1e-12 * (1 + reach);
    return std::min({p0, p1, p2}) > reach + slack || std::max({p0, p1, p2}) < -reach - slack;
  };
  if (apart({1, 0, 0}) || apart({0, 1, 0}) || apart({0, 0, 1})) return false;
  if (apart(cross(e[0], e[1]))) return false;
  for (const DVec3& edge : e)
    if (apart({0, -edge.z, edge.y}) || apart({edge.z, 0, -edge.x}) || apart({-edge.y, edge.x, 0}))
      return false;
  return true;
}

}  // namespace ashlar
