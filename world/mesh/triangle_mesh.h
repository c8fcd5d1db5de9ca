#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "world/math/shapes.h"

namespace ashlar {

/// A triangle by its corners.
struct Triangle {
  DVec3 a, b, c;
};

/// First triangle on a ray; none: t_m is infinite.
struct MeshHit {
  double t_m = std::numeric_limits<double>::infinity();
  DVec3 normal{};              ///< unit, towards the side that the ray came from
  std::uint32_t triangle = 0;  ///< as given to build()

  bool hit() const { return t_m < std::numeric_limits<double>::infinity(); }
};

/// Why TriangleMesh::build refused.
enum class MeshError : std::uint8_t { empty, too_many, bad_index, not_finite, all_degenerate };
/// The reason in words that follow the mesh's name, "it has no triangles"; lives as long as the program.
const char* to_string(MeshError error);

/// Triangles under a tree of bounding boxes. Immutable. Static props, and whatever a shot may hit.
class TriangleMesh {
 public:
  static constexpr std::size_t triangles_max = 1u << 21;
  static constexpr std::uint32_t leaf_triangles_max = 4;
  static constexpr int depth_max = 32;

  /// Refused: no triangles, more than triangles_max, an index without its vertex, a coordinate that is not
  /// finite or not below 2^24, nothing but triangles without area. Those without area are left out.
  /// Halves the triangles along the longest axis of their middles at every node, so equal, strip-like and
  /// all-spanning input gives the same depth as any other: log2 of their number. Cost: about 0.3 s a million.
  static std::expected<TriangleMesh, MeshError> build(
      std::span<const DVec3> vertices, std::span<const std::array<std::uint32_t, 3>> triangles);

  /// Nearest triangle hit at t in [0, t_max_m], from either side; at the same t the lowest index. A ray in a
  /// triangle's plane misses that triangle. Rays do not slip through shared edges and corners: a closed mesh
  /// always stops a ray from inside. Direction of any length but zero; t in its units. No allocation.
  /// Source: Woop, Benthin, Wald, "Watertight Ray/Triangle Intersection" (2013).
  MeshHit ray(DVec3 origin, DVec3 direction, double t_max_m) const;

  /// Nearest point of the surface to p, at most reach_m away.
  struct Nearest {
    DVec3 point;
    double distance_m = 0;
    std::uint32_t triangle = 0;
  };
  std::optional<Nearest> nearest(DVec3 p, double reach_m) const;

  const Aabb& bounds() const { return bounds_; }          ///< of all its triangles, tight
  std::size_t size() const { return triangles_.size(); }  ///< triangles, those without area left out
  const Triangle& triangle(std::size_t i) const { return triangles_[i]; }  ///< in the tree's order
  int depth() const { return depth_; }
  /// All that build() was given, in that order, those without area too. A copy.
  std::vector<Triangle> triangles_as_given() const;
  /// Over the corners of all triangles as given to build(), in that order, those without area too.
  std::uint64_t content_hash() const { return content_hash_; }

 private:
  /// Inner: children at first and first + 1. Leaf: count > 0 triangles from first on.
  struct Node {
    Aabb box;
    std::uint32_t first = 0, count = 0;
  };

  std::vector<Node> nodes_;
  std::vector<Triangle> triangles_;
  std::vector<std::uint32_t> original_;  ///< index as given, by the tree's order
  /// Those that were left out, as they count for content_hash().
  struct LeftOut {
    Triangle triangle;
    std::uint32_t original = 0;
  };
  std::vector<LeftOut> left_out_;
  Aabb bounds_{};
  int depth_ = 0;
  std::uint64_t content_hash_ = 0;
};

/// When the ray meets the triangle: t >= 0, from either side; nothing in its plane or behind.
std::optional<double> ray_triangle(DVec3 origin, DVec3 direction, const Triangle& triangle);

/// Nearest point of a triangle to p, its edges and corners included.
/// Source: Ericson, "Real-Time Collision Detection" (2005), 5.1.5: the Voronoi regions of its features.
DVec3 nearest_on_triangle(DVec3 p, const Triangle& triangle);

/// Do a closed box and a triangle share a point?
/// Source: separating axes as in Akenine-Moeller, "Fast 3D Triangle-Box Overlap Testing" (2001).
bool box_meets_triangle(const Aabb& box, const Triangle& triangle);

}  // namespace ashlar
