#include "world/collide/prop.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "world/collide/correct.h"
#include "world/collide/window_queries.h"
#include "world/math/assert.h"
#include "world/math/hash.h"

namespace ashlar {
namespace {

constexpr double cells_per_m = 1 / Prop::cell_m;
static_assert(cells_per_m * Prop::cell_m == 1);  // metres to cells and back is exact
constexpr double part_cells_max = 4;             // of a way that is looked at together
constexpr double inset_m = 1e-4;                 // a face on a cell's border belongs to the cell behind it
constexpr double world_limit_m = 1 << 20;

IVec3 cell_at(DVec3 p) { return block_at(p * cells_per_m); }

RoundedBox in_cells(const Cylinder& c) { return {0, 0, c.radius_m * cells_per_m, c.height_m * cells_per_m}; }

bool apart(const Aabb& a, const Aabb& b) {
  return a.max.x < b.min.x || b.max.x < a.min.x || a.max.y < b.min.y || b.max.y < a.min.y ||
         a.max.z < b.min.z || b.max.z < a.min.z;
}

/// Calls tile(low, high) for windows that cover the cells from low to high, both included.
template <class Tile>
void for_tiles(IVec3 low, IVec3 high, Tile tile) {
  constexpr std::int32_t wide = BlockWindow::columns_max, tall = BlockWindow::layers_max;
  for (std::int32_t z = low.z; z <= high.z; z += tall)
    for (std::int32_t y = low.y; y <= high.y; y += wide)
      for (std::int32_t x = low.x; x <= high.x; x += wide)
        tile(IVec3{x, y, z}, IVec3{std::min(high.x, x + wide - 1), std::min(high.y, y + wide - 1),
                                   std::min(high.z, z + tall - 1)});
}

/// As its cells are looked for: on the inner side of its face.
Triangle inset(const Triangle& t) {
  const DVec3 area = cross(t.b - t.a, t.c - t.a);
  ASHLAR_ASSERT(dot(area, area) > 0);  // the mesh leaves out those without
  const DVec3 in = area * (-inset_m / length(area));
  return {t.a + in, t.b + in, t.c + in};
}

using Axes = std::array<double, 3>;
Axes axes(DVec3 v) { return {v.x, v.y, v.z}; }

/// Twice the area, in square metres, of a triangle whose plane is known well: of thinner ones rounding turns
/// it.
constexpr double thin_m2 = 1e-6;

/// Calls visit(cell) for cells from `first` to `last` that a triangle may touch: of each column along the
/// axis that its plane is steepest to, those that the plane passes within the triangle's box, four at most.
/// Of thin ones all of the box.
template <typename Visit>
void cells_near(const Triangle& t, IVec3 first, IVec3 last, Visit&& visit) {
  const Axes a = axes(t.a), b = axes(t.b), c = axes(t.c), normal = axes(cross(t.b - t.a, t.c - t.a));
  const std::array<std::int32_t, 3> lowest{first.x, first.y, first.z}, highest{last.x, last.y, last.z};
  std::array<std::int32_t, 3> from{}, to{}, cell{};
  std::size_t up = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    if (std::fabs(normal[k]) > std::fabs(normal[up])) up = k;
    from[k] = std::clamp(floor_to_int(std::min({a[k], b[k], c[k]}) * cells_per_m), lowest[k], highest[k]);
    to[k] = std::clamp(floor_to_int(std::max({a[k], b[k], c[k]}) * cells_per_m), lowest[k], highest[k]);
  }
  const std::size_t u = (up + 1) % 3, v = (up + 2) % 3;
  const bool thin = std::fabs(normal[up]) < thin_m2;
  const double slope_u = thin ? 0 : -normal[u] / normal[up], slope_v = thin ? 0 : -normal[v] / normal[up];
  // Half of what the plane rises over a column's square, and more than any rounding.
  const double reach_m = thin ? 1e9 : (std::fabs(slope_u) + std::fabs(slope_v)) * Prop::cell_m / 2 + 1e-3;
  for (cell[u] = from[u]; cell[u] <= to[u]; ++cell[u])
    for (cell[v] = from[v]; cell[v] <= to[v]; ++cell[v]) {
      const double middle_m = a[up] + slope_u * ((cell[u] + 0.5) * Prop::cell_m - a[u]) +
                              slope_v * ((cell[v] + 0.5) * Prop::cell_m - a[v]);
      const double low = std::max<double>(std::floor((middle_m - reach_m) * cells_per_m), from[up]);
      const double high = std::min<double>(std::floor((middle_m + reach_m) * cells_per_m), to[up]);
      for (double at = low; at <= high; ++at) {
        cell[up] = static_cast<std::int32_t>(at);
        visit(IVec3{cell[0], cell[1], cell[2]});
      }
    }
}

/// How many columns cells_near() may go through for all triangles, of thin ones cells: what a prop costs at a
/// start.
double columns_of(const TriangleMesh& mesh) {
  double columns = 0;
  for (std::size_t i = 0; i < mesh.size(); ++i) {
    const Triangle& t = mesh.triangle(i);
    const Axes a = axes(t.a), b = axes(t.b), c = axes(t.c), normal = axes(cross(t.b - t.a, t.c - t.a));
    Axes cells{};
    for (std::size_t k = 0; k < 3; ++k)
      cells[k] = (std::max({a[k], b[k], c[k]}) - std::min({a[k], b[k], c[k]})) * cells_per_m + 2;
    std::ranges::sort(cells);
    const bool thin =
        std::max({std::fabs(normal[0]), std::fabs(normal[1]), std::fabs(normal[2])}) < 2 * thin_m2;
    columns += cells[1] * cells[2] * (thin ? cells[0] : 1);
  }
  return columns;
}

/// Why nothing can stand there, or nothing.
std::optional<std::string> wrong_place(const PropPlace& place) {
  if (!(place.scale >= prop_scale_min && place.scale <= prop_scale_max))
    return "its scale must lie in 0.001 to 1000";
  const bool in_world = is_finite(place.position_m) && std::fabs(place.position_m.x) < world_limit_m &&
                        std::fabs(place.position_m.y) < world_limit_m && std::fabs(place.position_m.z) < 4096;
  if (!in_world) return "its position lies outside of the world";
  return std::nullopt;
}

}  // namespace

std::expected<std::shared_ptr<const Prop>, std::string> Prop::place(const PropModel& model,
                                                                    const PropPlace& place) {
  if (auto wrong = wrong_place(place)) return std::unexpected(model.name + ": " + *wrong);
  const SinCos turn = sin_cos(place.yaw);
  std::vector<DVec3> vertices;
  vertices.reserve(model.vertices.size());
  for (const DVec3& v : model.vertices) {
    const DVec3 s = v * place.scale;
    vertices.push_back(place.position_m +
                       DVec3{s.x * turn.cos - s.y * turn.sin, s.x * turn.sin + s.y * turn.cos, s.z});
  }
  return stand(model, vertices, place);
}

std::expected<std::shared_ptr<const Prop>, std::string> Prop::stand(const PropModel& in_world,
                                                                    const PropPlace& place) {
  if (auto wrong = wrong_place(place)) return std::unexpected(in_world.name + ": " + *wrong);
  return stand(in_world, in_world.vertices, place);
}

std::expected<std::shared_ptr<const Prop>, std::string> Prop::stand(const PropModel& model,
                                                                    std::span<const DVec3> vertices,
                                                                    const PropPlace& place) {
  const auto refuse = [&model](const std::string& why) { return std::unexpected(model.name + ": " + why); };
  auto mesh = TriangleMesh::build(vertices, model.triangles);
  if (!mesh) return refuse(to_string(mesh.error()));
  const DVec3 size = mesh->bounds().max - mesh->bounds().min;
  if (std::max({size.x, size.y, size.z}) > extent_m_max)
    return refuse("it is larger than 64 m; scale it down or split it");
  if (columns_of(*mesh) > columns_max)
    return refuse("its triangles span too much, all of them together; give it fewer large ones, or split it");
  std::shared_ptr<Prop> prop(new Prop(std::move(*mesh)));
  prop->name_ = model.name;
  prop->place_ = place;
  prop->up_ = model.up;
  prop->content_hash_ = prop->mesh_.content_hash();
  prop->fill_cells();
  prop->close_hollows();
  return prop;
}

std::size_t Prop::index(IVec3 cell) const {
  const IVec3 c{cell.x - cell_min_.x, cell.y - cell_min_.y, cell.z - cell_min_.z};
  ASHLAR_ASSERT_SLOW(c.x >= 0 && c.x < size_x_ && c.y >= 0 && c.y < size_y_ && c.z >= 0 && c.z < size_z_);
  return static_cast<std::size_t>((static_cast<std::int64_t>(c.z) * size_y_ + c.y) * size_x_ + c.x);
}

void Prop::fill_cells() {
  const DVec3 slack{contact_slop_m, contact_slop_m, contact_slop_m};
  cell_min_ = cell_at(mesh_.bounds().min + slack);
  const IVec3 last = cell_at(mesh_.bounds().max - slack);
  size_x_ = std::max(last.x - cell_min_.x + 1, 1);
  size_y_ = std::max(last.y - cell_min_.y + 1, 1);
  size_z_ = std::max(last.z - cell_min_.z + 1, 1);
  cells_.assign(static_cast<std::size_t>(size_x_) * static_cast<std::size_t>(size_y_) *
                    static_cast<std::size_t>(size_z_),
                0);
  const IVec3 cell_max = cell_min_ + IVec3{size_x_ - 1, size_y_ - 1, size_z_ - 1};
  for (std::size_t i = 0; i < mesh_.size(); ++i) {
    const Triangle t = inset(mesh_.triangle(i));
    cells_near(t, cell_min_, cell_max, [&](IVec3 cell) {
      const DVec3 corner = to_dvec3(cell) * cell_m;
      const Aabb box{corner + slack, corner + DVec3{cell_m, cell_m, cell_m} - slack};
      if (box_meets_triangle(box, t)) cells_[index(cell)] = 1;
    });
  }
  const DVec3 corner = to_dvec3(cell_min_) * cell_m;
  bounds_.min = corner;
  bounds_.max = corner + DVec3{static_cast<double>(size_x_), static_cast<double>(size_y_),
                               static_cast<double>(size_z_)} *
                             cell_m;
  const Aabb& m = mesh_.bounds();
  bounds_.min = {std::min(bounds_.min.x, m.min.x), std::min(bounds_.min.y, m.min.y),
                 std::min(bounds_.min.z, m.min.z)};
  bounds_.max = {std::max(bounds_.max.x, m.max.x), std::max(bounds_.max.y, m.max.y),
                 std::max(bounds_.max.z, m.max.z)};
}

void Prop::close_hollows() {
  // What cannot be reached from the grid's sides is inside: solid, so nobody is ever let in.
  std::vector<std::uint8_t> outside(cells_.size(), 0);
  std::vector<IVec3> queue;
  const auto visit = [&](IVec3 c) {
    if (c.x < cell_min_.x || c.y < cell_min_.y || c.z < cell_min_.z || c.x >= cell_min_.x + size_x_ ||
        c.y >= cell_min_.y + size_y_ || c.z >= cell_min_.z + size_z_)
      return;
    const std::size_t i = index(c);
    if (cells_[i] != 0 || outside[i] != 0) return;
    outside[i] = 1;
    queue.push_back(c);
  };
  for (std::int32_t z = 0; z < size_z_; ++z)
    for (std::int32_t y = 0; y < size_y_; ++y)
      for (std::int32_t x = 0; x < size_x_; ++x) {
        const bool side =
            x == 0 || y == 0 || z == 0 || x == size_x_ - 1 || y == size_y_ - 1 || z == size_z_ - 1;
        if (side) visit(cell_min_ + IVec3{x, y, z});
      }
  while (!queue.empty()) {
    const IVec3 c = queue.back();
    queue.pop_back();
    for (const IVec3& d :
         {IVec3{1, 0, 0}, IVec3{-1, 0, 0}, IVec3{0, 1, 0}, IVec3{0, -1, 0}, IVec3{0, 0, 1}, IVec3{0, 0, -1}})
      visit(c + d);
  }
  for (std::size_t i = 0; i < cells_.size(); ++i)
    if (outside[i] == 0) cells_[i] = 1;
}

bool Prop::cell_solid(IVec3 c) const {
  const bool within = c.x >= cell_min_.x && c.y >= cell_min_.y && c.z >= cell_min_.z &&
                      c.x < cell_min_.x + size_x_ && c.y < cell_min_.y + size_y_ &&
                      c.z < cell_min_.z + size_z_;
  return within && cells_[index(c)] != 0;
}

void Prop::fill(IVec3 low, IVec3 high, BlockWindow& out) const {
  ASHLAR_ASSERT(fits_window(low, high));  // more would be written past the columns
  out.min = low;
  out.size_x = high.x - low.x + 1;
  out.size_y = high.y - low.y + 1;
  out.size_z = high.z - low.z + 1;
  out.unloaded = false;
  out.any = out.parts_any = 0;
  for (std::int32_t y = low.y; y <= high.y; ++y)
    for (std::int32_t x = low.x; x <= high.x; ++x) {
      std::uint32_t bits = 0;
      for (std::int32_t z = low.z; z <= high.z; ++z)
        if (cell_solid({x, y, z})) bits |= 1u << (z - low.z);
      out.columns[static_cast<std::size_t>((y - low.y) * out.size_x + (x - low.x))] = bits;
      out.any |= bits;
    }
}

bool Prop::solid(DVec3 point) const { return cell_solid(cell_at(point)); }

bool Prop::overlaps(const Cylinder& shape, DVec3 base) const {
  if (apart(bounds_, ashlar::bounds_of(shape, base))) return false;
  const RoundedBox rounded = in_cells(shape);
  const DVec3 p = base * cells_per_m;
  const BlockRange range = blocks_of(ashlar::bounds_of(rounded, p));
  bool met = false;
  BlockWindow window;
  for_tiles(range.low, range.high, [&](IVec3 low, IVec3 high) {
    if (met) return;
    fill(low, high, window);
    met = window_overlaps(window, rounded, p);
  });
  return met;
}

SweepHit Prop::sweep(const Cylinder& shape, DVec3 base, DVec3 delta) const {
  SweepHit out;
  if (apart(bounds_, swept(ashlar::bounds_of(shape, base), delta))) return out;
  const RoundedBox rounded = in_cells(shape);
  const DVec3 p = base * cells_per_m, d = delta * cells_per_m;
  const double longest = std::max({std::fabs(d.x), std::fabs(d.y), std::fabs(d.z)});
  const double parts_wanted = std::max(1.0, std::ceil(longest / part_cells_max));
  BlockWindow window;
  for (double i = 0; i < parts_wanted; ++i) {
    const double from = i / parts_wanted, to = i + 1 >= parts_wanted ? 1 : (i + 1) / parts_wanted;
    Aabb way = swept(ashlar::bounds_of(rounded, p + d * from), d * (to - from));
    const DVec3 margin{4 * contact_slop_m, 4 * contact_slop_m, 4 * contact_slop_m};
    way.min -= margin;
    way.max += margin;
    const Aabb in_m{way.min * cell_m, way.max * cell_m};
    if (apart(bounds_, in_m)) continue;
    const BlockRange range = blocks_of(way);
    BlockHit best;
    best.t = to;
    for_tiles(range.low, range.high, [&](IVec3 low, IVec3 high) {
      if (best.started_inside) return;
      fill(low, high, window);
      const BlockHit hit = window_sweep(window, rounded, p, d, best.t);
      if (hit.hit) best = hit;
    });
    if (!best.hit) continue;
    ASHLAR_ASSERT(best.t >= 0 && best.t <= to);
    out.t = best.t;
    out.normal = best.normal;
    out.kind = ContactKind::prop;
    out.started_inside = best.started_inside;
    return out;
  }
  return out;
}

void Prop::borders(const Cylinder& shape, DVec3 base, NearestPlace& out) const {
  const DVec3 reach{out.reach_m(), out.reach_m(), out.reach_m()};
  const Aabb body = ashlar::bounds_of(shape, base);
  const Aabb in_m{body.min - reach, body.max + reach};
  if (apart(bounds_, in_m)) return;
  const BlockRange range = blocks_of({in_m.min * cells_per_m, in_m.max * cells_per_m});
  const Cylinder cells{shape.radius_m * cells_per_m, shape.height_m * cells_per_m};
  BlockWindow window;
  for_tiles(range.low, range.high, [&](IVec3 low, IVec3 high) {
    fill(low, high, window);
    window_borders(window, cells, base * cells_per_m, cell_m, out);
  });
}

std::optional<DVec3> Prop::correct(const Cylinder& shape, DVec3 base, double reach_m) const {
  if (!overlaps(shape, base)) return DVec3{};
  NearestPlace search(reach_m);
  borders(shape, base, search);
  return search.find([&](DVec3 way) { return !overlaps(shape, base + way); });
}

RayHit Prop::ray(DVec3 origin, DVec3 direction, double t_max_m) const {
  RayHit out;
  const MeshHit hit = mesh_.ray(origin, direction, t_max_m);
  if (!hit.hit()) return out;
  out.t_m = hit.t_m;
  out.normal = hit.normal;
  out.kind = ContactKind::prop;
  out.what = hit.triangle;
  return out;
}

std::optional<double> Prop::ground_below(DVec2 centre, double radius_m, double z, double depth_m) const {
  const Aabb disc{{centre.x - radius_m, centre.y - radius_m, z - depth_m},
                  {centre.x + radius_m, centre.y + radius_m, z}};
  if (apart(bounds_, disc)) return std::nullopt;
  const RoundedBox rounded{0, 0, radius_m * cells_per_m, 0};
  const DVec2 c = centre * cells_per_m;
  BlockRange range = blocks_of({disc.min * cells_per_m, disc.max * cells_per_m});
  range.low.z = std::max(range.low.z - 1, cell_min_.z - 1);
  range.high.z = floor_to_int(z * cells_per_m + contact_slop_m);
  BlockWindow window;
  // Each window sees a part of the disc and of the depth: whether the disc itself is in a cell is asked
  // first.
  bool inside = false;
  for_tiles({range.low.x, range.low.y, range.high.z}, range.high, [&](IVec3 low, IVec3 high) {
    fill(low, high, window);
    inside =
        inside || window_overlaps(window, {0, 0, rounded.radius_m, 0.5}, {c.x, c.y, range.high.z + 0.25});
  });
  if (inside) return std::nullopt;
  std::optional<double> best;
  // Windows from the top down, so that the layer of z itself is always within the first.
  for (std::int32_t top = range.high.z; top >= range.low.z; top -= BlockWindow::layers_max - 1) {
    const std::int32_t bottom = std::max(range.low.z, top - (BlockWindow::layers_max - 1));
    const double from = std::min(z * cells_per_m, top + 0.5);
    for_tiles(
        {range.low.x, range.low.y, bottom}, {range.high.x, range.high.y, top}, [&](IVec3 low, IVec3 high) {
          fill(low, high, window);
          const auto ground = window_ground(window, rounded, c, from, from - (z - depth_m) * cells_per_m);
          if (ground && (!best || *ground * cell_m > *best)) best = *ground * cell_m;
        });
    if (best) break;
  }
  return best;
}

}  // namespace ashlar
