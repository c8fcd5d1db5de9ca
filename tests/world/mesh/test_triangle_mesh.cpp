#include "world/mesh/triangle_mesh.h"

#include <cmath>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

struct Soup {
  std::vector<DVec3> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

DVec3 point_in_cube(Rng& rng, double size) {
  DVec3 p;
  p.x = rng.between(-size, size);
  p.y = rng.between(-size, size);
  p.z = rng.between(-size, size);
  return p;
}

/// Triangles of every kind of size around the origin.
Soup random_soup(Rng& rng, std::size_t count, double spread, double size) {
  Soup s;
  for (std::size_t i = 0; i < count; ++i) {
    const DVec3 at = point_in_cube(rng, spread);
    const auto first = static_cast<std::uint32_t>(s.vertices.size());
    for (int k = 0; k < 3; ++k) s.vertices.push_back(at + point_in_cube(rng, size));
    s.triangles.push_back({first, first + 1, first + 2});
  }
  return s;
}

/// A ball of squares cut in triangles, closed, its corners on round numbers so that rays meet edges.
Soup closed_ball(int n) {
  Soup s;
  const auto index = [n](int face, int i, int j) {
    return static_cast<std::uint32_t>((face * (n + 1) + i) * (n + 1) + j);
  };
  for (int face = 0; face < 6; ++face)
    for (int i = 0; i <= n; ++i)
      for (int j = 0; j <= n; ++j) {
        const double u = 2.0 * i / n - 1, v = 2.0 * j / n - 1, w = face % 2 == 0 ? 1 : -1;
        s.vertices.push_back(face / 2 == 0   ? DVec3{w, u, v}
                             : face / 2 == 1 ? DVec3{u, w, v}
                                             : DVec3{u, v, w});
      }
  for (int face = 0; face < 6; ++face)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        s.triangles.push_back({index(face, i, j), index(face, i + 1, j), index(face, i + 1, j + 1)});
        s.triangles.push_back({index(face, i, j), index(face, i + 1, j + 1), index(face, i, j + 1)});
      }
  return s;
}

}  // namespace

TEST_CASE("a ray through the tree hits what a ray against every triangle hits", "[world][mesh]") {
  const std::size_t count = GENERATE(std::size_t{1}, std::size_t{7}, std::size_t{300});
  const double size = GENERATE(0.3, 20.0);
  CAPTURE(count, size);
  Rng rng{count};
  const Soup soup = random_soup(rng, count, 10, size);
  const auto mesh = TriangleMesh::build(soup.vertices, soup.triangles);
  REQUIRE(mesh);
  unsigned hits = 0, wrong = 0;
  for (int i = 0; i < 4000; ++i) {
    const DVec3 o = point_in_cube(rng, 15);
    DVec3 d = point_in_cube(rng, 1);
    switch (rng.below(5)) {
      case 0: d.x = 0; break;
      case 1: d.x = d.y = 0; break;
      default: break;
    }
    if (d == DVec3{}) continue;
    const double t_max = rng.between(0, 30);
    const MeshHit hit = mesh->ray(o, d, t_max);
    double best = t_max;
    bool any = false;
    for (const auto& t : soup.triangles) {
      const auto found = ray_triangle(o, d, {soup.vertices[t[0]], soup.vertices[t[1]], soup.vertices[t[2]]});
      if (found && *found <= best) best = *found, any = true;
    }
    hits += any;
    wrong += hit.hit() != any || (any && hit.t_m != best);
    if (hit.hit()) wrong += dot(hit.normal, d) > 0 || std::fabs(dot(hit.normal, hit.normal) - 1) > 1e-9;
  }
  CHECK(wrong == 0);
  if (count == 300 && size > 1) CHECK(hits > 100);
}

TEST_CASE("a closed mesh stops every ray from inside, also through its edges and corners", "[world][mesh]") {
  const Soup ball = closed_ball(8);
  const auto mesh = TriangleMesh::build(ball.vertices, ball.triangles);
  REQUIRE(mesh);
  Rng rng{4};
  unsigned leaks = 0, outside = 0;
  for (int i = 0; i < 20000; ++i) {
    DVec3 o = point_in_cube(rng, 0.9);
    DVec3 d = point_in_cube(rng, 1);
    // Straight at a corner, or at the middle of an edge.
    const auto& t = ball.triangles[rng.below(static_cast<std::uint32_t>(ball.triangles.size()))];
    if (i % 4 == 0) d = ball.vertices[t[0]] - o;
    if (i % 4 == 1) d = (ball.vertices[t[0]] + ball.vertices[t[1]]) * 0.5 - o;
    if (i % 8 == 2) o = {}, d = ball.vertices[t[2]];
    if (d == DVec3{}) continue;
    const MeshHit hit = mesh->ray(o, d, 1e9);
    leaks += !hit.hit();
    const DVec3 p = o + d * hit.t_m;
    outside += std::max({std::fabs(p.x), std::fabs(p.y), std::fabs(p.z)}) > 1 + 1e-9;
  }
  CHECK(leaks == 0);
  CHECK(outside == 0);
}

TEST_CASE("the tree stays shallow for equal, strip-like and all-spanning input", "[world][mesh]") {
  const int kind = GENERATE(0, 1, 2);
  CAPTURE(kind);
  Soup s;
  for (std::uint32_t i = 0; i < 20000; ++i) {
    const double at = kind == 1 ? i * 0.01 : 0, reach = kind == 2 ? 1000 : 1;
    s.vertices.insert(s.vertices.end(), {{at, 0, 0}, {at + reach, 0, 0}, {at, reach, 0}});
    s.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  const auto mesh = TriangleMesh::build(s.vertices, s.triangles);
  REQUIRE(mesh);
  CHECK(mesh->depth() <= 15);
  const MeshHit hit = mesh->ray({0.2, 0.2, 5}, {0, 0, -1}, 10);
  CHECK(hit.t_m == Approx(5));
  if (kind != 1) CHECK(hit.triangle == 0);  // the lowest of those at the same place
}

TEST_CASE("the nearest point of a mesh equals the nearest over all triangles", "[world][mesh]") {
  Rng rng{9};
  const Soup soup = random_soup(rng, 200, 5, 2);
  const auto mesh = TriangleMesh::build(soup.vertices, soup.triangles);
  REQUIRE(mesh);
  unsigned wrong = 0;
  for (int i = 0; i < 2000; ++i) {
    const DVec3 p = point_in_cube(rng, 9);
    double best = 1e9;
    for (const auto& t : soup.triangles) {
      const DVec3 q = nearest_on_triangle(p, {soup.vertices[t[0]], soup.vertices[t[1]], soup.vertices[t[2]]});
      best = std::min(best, length(q - p));
    }
    const auto found = mesh->nearest(p, 3);
    wrong += found.has_value() != (best <= 3) || (found && std::fabs(found->distance_m - best) > 1e-12);
  }
  CHECK(wrong == 0);
}

TEST_CASE("bad meshes are refused with a reason", "[world][mesh]") {
  const std::vector<DVec3> v{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  using Triangles = std::vector<std::array<std::uint32_t, 3>>;
  CHECK(TriangleMesh::build(v, {}).error() == MeshError::empty);
  CHECK(TriangleMesh::build(v, Triangles{{0, 1, 3}}).error() == MeshError::bad_index);
  CHECK(TriangleMesh::build(v, Triangles{{0, 1, 1}}).error() == MeshError::all_degenerate);
  const std::vector<DVec3> bad{{0, 0, 0}, {std::nan(""), 0, 0}, {0, 1, 0}};
  CHECK(TriangleMesh::build(bad, Triangles{{0, 1, 2}}).error() == MeshError::not_finite);
}
