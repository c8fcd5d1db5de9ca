#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "world/math/contact.h"
#include "world/math/nearest_place.h"
#include "world/math/rounded_box.h"
#include "world/math/shapes.h"
#include "world/math/turn.h"
#include "world/mesh/triangle_mesh.h"
#include "world/voxel/window.h"

namespace ashlar {

/// Which axis of a model's file points up; exporters of games use y.
enum class ModelUp : std::uint8_t { y, z };

/// A prop's source: corners in metres, z up, around the place it stands on.
struct PropModel {
  std::string name;
  ModelUp up = ModelUp::y;  ///< what its file was read with: whoever wants the same has to as well
  std::vector<DVec3> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

inline constexpr double prop_scale_min = 0.001, prop_scale_max = 1000;

/// Where a prop stands.
struct PropPlace {
  DVec3 position_m;
  Turn16 yaw{0};
  double scale = 1;
  friend bool operator==(const PropPlace&, const PropPlace&) = default;
};

/// A static prop in the world. Rays and shots meet its triangles. Bodies meet the cells of a quarter metre
/// that its triangles pass through or close in: exact sweeps and steps as over blocks, and no body ever gets
/// between two triangles. Immutable and shared.
class Prop {
 public:
  static constexpr double cell_m = 0.25;
  static constexpr double extent_m_max = 64;  ///< along each axis
  /// Squares of a cell that all of its triangles span together, each by the two longer sides of its box, of
  /// triangles without width all of its cells: 500 as large as a prop may be, or two million small ones.
  /// Takes some seconds.
  static constexpr double columns_max = double{1 << 25};

  /// Refused, with a line that says why: what TriangleMesh::build refuses, a scale outside [0.001, 1000], a
  /// prop larger than extent_m_max or outside of the world, one of more than columns_max.
  static std::expected<std::shared_ptr<const Prop>, std::string> place(const PropModel& model,
                                                                       const PropPlace& place);

  /// The same of a model whose corners lie where they stand, as those of another prop's mesh(): nothing is
  /// turned, scaled or moved. `place` is only what at() tells. Refused as by place().
  static std::expected<std::shared_ptr<const Prop>, std::string> stand(const PropModel& in_world,
                                                                       const PropPlace& place);

  const std::string& name() const { return name_; }  ///< the model's
  const PropPlace& at() const { return place_; }     ///< as it was placed
  ModelUp up() const { return up_; }                 ///< what the model's file was read with
  /// Of triangles and cells together.
  const Aabb& bounds() const { return bounds_; }
  const TriangleMesh& mesh() const { return mesh_; }  ///< turned, scaled, in the world frame
  /// Over the corners of its triangles where they stand: equal on two machines means the same solid.
  std::uint64_t content_hash() const { return content_hash_; }

  bool cell_solid(IVec3 cell) const;  ///< world cells: cell (i, j, k) spans [i, i+1) * cell_m

  bool solid(DVec3 point) const;  ///< is it in a solid cell: closed below, open above
  /// Does the cylinder overlap a solid cell by more than contact_slop_m? Touching is not overlapping.
  bool overlaps(const Cylinder& shape, DVec3 base) const;
  /// First contact with its cells on the way base -> base + delta, of any length, of kind prop. `what`
  /// stays 0: which row this prop has only the space knows.
  SweepHit sweep(const Cylinder& shape, DVec3 base, DVec3 delta) const;
  /// The least translation out of its cells, at most reach_m; nullopt where there is none.
  std::optional<DVec3> correct(const Cylinder& shape, DVec3 base, double reach_m) const;
  /// Adds what bounds the free places around a body (world/math/nearest_place.h).
  void borders(const Cylinder& shape, DVec3 base, NearestPlace& out) const;
  /// First of its triangles on a ray, from either side, of kind prop; `what` is the triangle, not the prop's
  /// row.
  RayHit ray(DVec3 origin, DVec3 direction, double t_max_m) const;
  /// Top of the highest solid cell at or below z under the open disc, at most depth_m below. nullopt: none,
  /// or the disc at z is in a cell.
  std::optional<double> ground_below(DVec2 centre, double radius_m, double z, double depth_m) const;

 private:
  static std::expected<std::shared_ptr<const Prop>, std::string> stand(const PropModel& model,
                                                                       std::span<const DVec3> vertices,
                                                                       const PropPlace& place);
  explicit Prop(TriangleMesh mesh) : mesh_(std::move(mesh)) {}
  void fill_cells();
  void close_hollows();
  void fill(IVec3 low, IVec3 high, BlockWindow& out) const;
  std::size_t index(IVec3 cell) const;

  std::string name_;
  PropPlace place_;
  ModelUp up_{};
  TriangleMesh mesh_;
  Aabb bounds_{};
  IVec3 cell_min_{};
  std::int32_t size_x_ = 0, size_y_ = 0, size_z_ = 0;
  std::vector<std::uint8_t> cells_;  ///< 1 solid; (z * size_y + y) * size_x + x
  std::uint64_t content_hash_ = 0;
};

}  // namespace ashlar
