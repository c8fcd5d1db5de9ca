#include "world/mesh/triangle_mesh.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"
#include "world/math/hash.h"

namespace ashlar {
namespace {

constexpr double mesh_coordinate_max = 1 << 24;

void extend(Aabb& box, DVec3 p) {
  box.min = {std::min(box.min.x, p.x), std::min(box.min.y, p.y), std::min(box.min.z, p.z)};
  box.max = {std::max(box.max.x, p.x), std::max(box.max.y, p.y), std::max(box.max.z, p.z)};
}

Aabb bounds_of(const Triangle& t) {
  Aabb box{t.a, t.a};
  extend(box, t.b);
  extend(box, t.c);
  return box;
}

/// A ray prepared for many boxes. Never rejects a box that holds a hit: ends are widened by a few ulps.
struct BoxRay {
  DVec3 origin, inverse;
  std::array<bool, 3> moves;

  BoxRay(DVec3 o, DVec3 d)
      : origin(o), inverse{1 / d.x, 1 / d.y, 1 / d.z}, moves{d.x != 0, d.y != 0, d.z != 0} {}

  /// When the ray enters the box; infinite when it misses it up to t_max.
  double enters(const Aabb& box, double t_max) const {
    constexpr double widen = 1 + 8 * 0x1p-53, never = std::numeric_limits<double>::infinity();
    double near = 0, far = t_max;
    for (int axis = 0; axis < 3; ++axis) {
      const double low = component(box.min, axis) - component(origin, axis),
                   high = component(box.max, axis) - component(origin, axis);
      if (!moves[static_cast<std::size_t>(axis)]) {
        if (low > 0 || high < 0) return never;
        continue;
      }
      const double i = component(inverse, axis);
      const double a = i > 0 ? low * i : high * i, b = (i > 0 ? high * i : low * i) * widen;
      near = std::max(near, a);
      far = std::min(far, b);
    }
    return near <= far * widen ? near : never;
  }
};

double distance2_to(const Aabb& box, DVec3 p) {
  const auto gap = [](double low, double high, double v) { return std::max({low - v, v - high, 0.0}); };
  const DVec3 d{gap(box.min.x, box.max.x, p.x), gap(box.min.y, box.max.y, p.y),
                gap(box.min.z, box.max.z, p.z)};
  return dot(d, d);
}

/// A triangle on its way into the tree.
struct Item {
  Triangle triangle;
  DVec3 middle;
  std::uint32_t original;
};

/// The triangles that have an area, or what is wrong with them. @param without_area  is told of the others
template <class LeaveOut>
std::expected<std::vector<Item>, MeshError> items_of(std::span<const DVec3> vertices,
                                                     std::span<const std::array<std::uint32_t, 3>> triangles,
                                                     LeaveOut&& without_area) {
  if (triangles.empty()) return std::unexpected(MeshError::empty);
  if (triangles.size() > TriangleMesh::triangles_max) return std::unexpected(MeshError::too_many);
  for (const DVec3& v : vertices) {
    const bool fine = is_finite(v) && std::fabs(v.x) < mesh_coordinate_max &&
                      std::fabs(v.y) < mesh_coordinate_max && std::fabs(v.z) < mesh_coordinate_max;
    if (!fine) return std::unexpected(MeshError::not_finite);
  }
  std::vector<Item> items;
  items.reserve(triangles.size());
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const auto& t = triangles[i];
    for (const std::uint32_t index : t)
      if (index >= vertices.size()) return std::unexpected(MeshError::bad_index);
    const Triangle corners{vertices[t[0]], vertices[t[1]], vertices[t[2]]};
    const DVec3 area = cross(corners.b - corners.a, corners.c - corners.a);
    if (dot(area, area) == 0) {
      without_area(corners, static_cast<std::uint32_t>(i));
      continue;
    }
    const Aabb box = bounds_of(corners);
    items.push_back({corners, (box.min + box.max) * 0.5, static_cast<std::uint32_t>(i)});
  }
  if (items.empty()) return std::unexpected(MeshError::all_degenerate);
  return items;
}

}  // namespace

const char* to_string(MeshError error) {
  switch (error) {
    case MeshError::empty: return "it has no triangles";
    case MeshError::too_many: return "it has more than 2097152 triangles";
    case MeshError::bad_index: return "a triangle names a vertex that does not exist";
    case MeshError::not_finite: return "a coordinate is not a number below 2^24";
    case MeshError::all_degenerate: return "none of its triangles has an area";
  }
  return "unknown";
}

std::expected<TriangleMesh, MeshError> TriangleMesh::build(
    std::span<const DVec3> vertices, std::span<const std::array<std::uint32_t, 3>> triangles) {
  TriangleMesh mesh;
  auto items = items_of(vertices, triangles, [&mesh](const Triangle& triangle, std::uint32_t original) {
    mesh.left_out_.push_back({triangle, original});
  });
  if (!items) return std::unexpected(items.error());
  // Halved at the median along the longest way, until few are left.
  struct Work {
    std::uint32_t node, first, count;
    int depth;
  };
  std::vector<Work> stack{{0, 0, static_cast<std::uint32_t>(items->size()), 1}};
  mesh.nodes_.emplace_back();
  while (!stack.empty()) {
    const Work work = stack.back();
    stack.pop_back();
    ASHLAR_ASSERT(work.count > 0);
    ASHLAR_ASSERT(work.first + work.count <= items->size());
    mesh.depth_ = std::max(mesh.depth_, work.depth);
    const auto begin = items->begin() + work.first, end = begin + work.count;
    Aabb box = bounds_of(begin->triangle), middles{begin->middle, begin->middle};
    for (auto it = begin; it != end; ++it) {
      const Aabb b = bounds_of(it->triangle);
      extend(box, b.min);
      extend(box, b.max);
      extend(middles, it->middle);
    }
    mesh.nodes_[work.node].box = box;
    if (work.count <= leaf_triangles_max) {
      mesh.nodes_[work.node].first = work.first;
      mesh.nodes_[work.node].count = work.count;
      continue;
    }
    const DVec3 size = middles.max - middles.min;
    const int axis = size.x >= size.y ? (size.x >= size.z ? 0 : 2) : (size.y >= size.z ? 1 : 2);
    const std::uint32_t half = work.count / 2;
    std::nth_element(begin, begin + half, end, [axis](const Item& a, const Item& b) {
      const double pa = component(a.middle, axis), pb = component(b.middle, axis);
      return pa != pb ? pa < pb : a.original < b.original;
    });
    const auto child = static_cast<std::uint32_t>(mesh.nodes_.size());
    mesh.nodes_[work.node].first = child;
    mesh.nodes_.emplace_back();
    mesh.nodes_.emplace_back();
    stack.push_back({child, work.first, half, work.depth + 1});
    stack.push_back({child + 1, work.first + half, work.count - half, work.depth + 1});
  }
  ASHLAR_ASSERT(mesh.depth_ <= mesh.depth_max);  // a search's stack holds no more
  mesh.triangles_.reserve(items->size());
  mesh.original_.reserve(items->size());
  for (const Item& item : *items) {
    mesh.triangles_.push_back(item.triangle);
    mesh.original_.push_back(item.original);
  }
  Hasher hash;
  for (const auto& t : triangles)
    for (const std::uint32_t index : t) hash.add(vertices[index]);
  mesh.bounds_ = mesh.nodes_[0].box;
  mesh.content_hash_ = hash.value();
  ASHLAR_ASSERT(mesh.triangles_.size() == mesh.original_.size());
  return mesh;
}

std::vector<Triangle> TriangleMesh::triangles_as_given() const {
  std::vector<Triangle> out(triangles_.size() + left_out_.size());
  for (std::size_t i = 0; i < triangles_.size(); ++i) out[original_[i]] = triangles_[i];
  for (const LeftOut& t : left_out_) out[t.original] = t.triangle;
  return out;
}

MeshHit TriangleMesh::ray(DVec3 origin, DVec3 direction, double t_max_m) const {
  ASHLAR_ASSERT_SLOW(is_finite(origin) && is_finite(direction));
  const BoxRay ray(origin, direction);
  MeshHit best;
  double reach = t_max_m;
  struct Entry {
    std::uint32_t node;
    double t;
  };
  std::array<Entry, depth_max + 1> stack;
  std::size_t size = 0;
  const double at_root = ray.enters(nodes_[0].box, reach);
  if (at_root <= reach) stack[size++] = {0, at_root};
  while (size > 0) {
    const Entry entry = stack[--size];
    if (entry.t > reach) continue;
    const Node& node = nodes_[entry.node];
    if (node.count > 0) {
      for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
        const auto t = ray_triangle(origin, direction, triangles_[i]);
        if (!t || *t > reach) continue;
        if (*t == best.t_m && original_[i] > best.triangle) continue;
        best.t_m = reach = *t;
        best.triangle = original_[i];
        const Triangle& tri = triangles_[i];
        const DVec3 area = cross(tri.b - tri.a, tri.c - tri.a);
        best.normal = area * ((dot(area, direction) > 0 ? -1 : 1) / length(area));
      }
      continue;
    }
    // The nearer child last, so that it is taken first.
    const double a = ray.enters(nodes_[node.first].box, reach),
                 b = ray.enters(nodes_[node.first + 1].box, reach);
    const bool a_first = a <= b;
    const double far = a_first ? b : a, near = a_first ? a : b;
    if (far <= reach) stack[size++] = {node.first + (a_first ? 1u : 0u), far};
    if (near <= reach) stack[size++] = {node.first + (a_first ? 0u : 1u), near};
  }
  return best;
}

std::optional<TriangleMesh::Nearest> TriangleMesh::nearest(DVec3 p, double reach_m) const {
  std::optional<Nearest> best;
  double reach2 = reach_m * reach_m;
  std::array<std::uint32_t, depth_max + 1> stack;
  std::size_t size = 0;
  stack[size++] = 0;
  while (size > 0) {
    const Node& node = nodes_[stack[--size]];
    if (distance2_to(node.box, p) > reach2) continue;
    if (node.count == 0) {
      const bool first_nearer =
          distance2_to(nodes_[node.first].box, p) <= distance2_to(nodes_[node.first + 1].box, p);
      stack[size++] = node.first + (first_nearer ? 1u : 0u);
      stack[size++] = node.first + (first_nearer ? 0u : 1u);
      continue;
    }
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
      const DVec3 q = nearest_on_triangle(p, triangles_[i]);
      const double d2 = dot(q - p, q - p);
      if (d2 > reach2 || (best && d2 == reach2 && original_[i] > best->triangle)) continue;
      reach2 = d2;
      best = Nearest{q, std::sqrt(d2), original_[i]};
    }
  }
  return best;
}

}  // namespace ashlar
