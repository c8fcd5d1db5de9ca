#include "world/bsp/line_grid.h"

#include <cmath>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double line_cell_smallest = 64;
/// More cells than this many per line would be empty; the least keeps small maps fine-grained.
constexpr double cells_per_line_max = 64;
constexpr double cells_min = 4096;

/// Cells of a row that a segment touches; false: none.
bool cells_of_row(const LineGrid& grid, const SolidLine& l, std::int32_t row, LineGrid::Range& out) {
  const double low = grid.origin.y + row * grid.cell, high = low + grid.cell;
  const auto within = within_row(l.a, l.along, low, high);
  if (!within) return false;
  const double y = (low + high) / 2;
  out = grid.cells({within->west, y}, {within->east, y});
  return out.x0 <= out.x1;
}

/// Parts of a segment, by share of its length, and the sectors of the leaves that they border.
struct Border {
  double from, to;
  std::uint32_t sector;
};

/// What lies beside the segment a -> a + along, on its right or its left hand.
void find_borders(const BspTree& tree, std::uint32_t at, DVec2 a, DVec2 along, bool right, double from,
                  double to, std::vector<Border>& out) {
  constexpr double on = 1e-5;
  while ((at & BspTree::leaf_bit) == 0) {
    const BspTree::Node& n = tree.nodes[at];
    const double scale = std::sqrt(n.dx * n.dx + n.dy * n.dy);
    const double s0 = BspTree::side(n, a + along * from) / scale,
                 s1 = BspTree::side(n, a + along * to) / scale;
    if (std::fabs(s0) <= on && std::fabs(s1) <= on) {
      const bool with = n.dx * along.x + n.dy * along.y > 0;
      at = n.child[with == right ? 0 : 1];
    } else if (s0 >= -on && s1 >= -on) {
      at = n.child[0];
    } else if (s0 <= on && s1 <= on) {
      at = n.child[1];
    } else {
      const double t = from + (to - from) * (s0 / (s0 - s1));
      find_borders(tree, n.child[s0 > 0 ? 0 : 1], a, along, right, from, t, out);
      at = n.child[s0 > 0 ? 1 : 0];
      from = t;
    }
  }
  out.push_back({from, to, tree.leaves[at & ~BspTree::leaf_bit].sector});
}

/// A line that names one sector on both sides may yet part two: those of the leaves beside it count.
template <typename Add>
void add_parting(const BspTree& tree, DVec2 a, DVec2 b, const SolidLine& line, Add&& add) {
  std::vector<Border> right, left;
  find_borders(tree, tree.root, a, b - a, true, 0, 1, right);
  find_borders(tree, tree.root, a, b - a, false, 0, 1, left);
  for (const Border& r : right)
    for (const Border& l : left) {
      const double from = std::max(r.from, l.from), to = std::min(r.to, l.to);
      if (r.sector == l.sector || (to - from) * length(b - a) < 1e-3) continue;
      SolidLine part = line;
      part.front = r.sector, part.back = l.sector;
      add(a + (b - a) * from, a + (b - a) * to, part);
    }
}

void add_lines(const SectorMap& map, const BspTree& tree, const MapBounds& footprint,
               std::vector<SolidLine>& out) {
  const auto add = [&](DVec2 a, DVec2 b, SolidLine l) {
    l.a = a;
    l.along = b - a;
    const double length2 = dot(l.along, l.along);
    if (length2 < 1e-12) return;
    l.inverse_length2 = 1 / length2;
    out.push_back(l);
  };
  for (std::uint32_t i = 0; i < map.lines.size(); ++i) {
    const MapLine& line = map.lines[i];
    SolidLine l;
    l.front = map.front_sector(line);
    l.back = map.back_sector(line);
    l.line = i;
    l.fence = (line.flags & line_flag::blocking) != 0 && line.back != no_index;
    if (l.front == l.back && !l.fence) {
      add_parting(tree, map.vertices[line.v1], map.vertices[line.v2], l, add);
      continue;
    }
    add(map.vertices[line.v1], map.vertices[line.v2], l);
  }
  const DVec2 low = footprint.min, high = footprint.max;
  const SolidLine side{};  // void on both sides: what is outside the box is not the map's
  add({low.x, low.y}, {high.x, low.y}, side);
  add({high.x, low.y}, {high.x, high.y}, side);
  add({high.x, high.y}, {low.x, high.y}, side);
  add({low.x, high.y}, {low.x, low.y}, side);
}

/// Lines that hold up monsters alone, and the cells near them.
void add_monster_lines(const SectorMap& map, LineGrid& grid, std::size_t cells) {
  for (std::uint32_t i = 0; i < map.lines.size(); ++i) {
    const MapLine& line = map.lines[i];
    constexpr std::uint32_t both = line_flag::blocking | line_flag::block_monsters;
    if ((line.flags & both) != line_flag::block_monsters || line.back == no_index) continue;
    SolidLine l;
    l.a = map.vertices[line.v1], l.along = map.vertices[line.v2] - l.a;
    if (dot(l.along, l.along) < 1e-12) continue;
    l.inverse_length2 = 1 / dot(l.along, l.along);
    l.front = map.front_sector(line), l.back = map.back_sector(line), l.line = i;
    grid.monster_lines.push_back(l);
  }
  if (grid.monster_lines.empty()) return;
  grid.near_monster_lines.assign(cells, 0);
  constexpr DVec2 reach{LineGrid::monster_lines_reach, LineGrid::monster_lines_reach};
  for (const SolidLine& l : grid.monster_lines) {
    const DVec2 b = l.a + l.along;
    const DVec2 low{std::min(l.a.x, b.x), std::min(l.a.y, b.y)};
    const DVec2 high{std::max(l.a.x, b.x), std::max(l.a.y, b.y)};
    const LineGrid::Range r = grid.cells(low - reach, high + reach);
    for (std::int32_t y = r.y0; y <= r.y1; ++y)
      for (std::int32_t x = r.x0; x <= r.x1; ++x)
        grid.near_monster_lines[static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.nx) +
                                static_cast<std::size_t>(x)] = 1;
  }
}

}  // namespace

LineGrid build_line_grid(const SectorMap& map, const BspTree& tree, const MapBounds& footprint) {
  LineGrid grid;
  add_lines(map, tree, footprint, grid.lines);
  const double width = footprint.max.x - footprint.min.x, depth = footprint.max.y - footprint.min.y;
  grid.cell = line_cell_smallest;
  const double cells_max = std::max(cells_min, cells_per_line_max * static_cast<double>(grid.lines.size()));
  ASHLAR_ASSERT(width > 0 && depth > 0);
  while ((width / grid.cell + 1) * (depth / grid.cell + 1) > cells_max) grid.cell *= 2;
  grid.inverse_cell = 1 / grid.cell;
  grid.origin = footprint.min;
  grid.nx = static_cast<std::int32_t>(width * grid.inverse_cell) + 1;
  grid.ny = static_cast<std::int32_t>(depth * grid.inverse_cell) + 1;

  const auto cell_index = [&](std::int32_t x, std::int32_t y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.nx) + static_cast<std::size_t>(x);
  };
  const std::size_t cells = cell_index(0, grid.ny);
  ASHLAR_ASSERT(static_cast<double>(cells) <= cells_max + 1);
  // Two passes: count, then fill.
  grid.first.assign(cells + 1, 0);
  const auto for_each_cell = [&](const SolidLine& l, auto&& use) {
    const DVec2 b = l.a + l.along;
    const LineGrid::Range r = grid.cells({std::min(l.a.x, b.x) - 1, std::min(l.a.y, b.y) - 1},
                                         {std::max(l.a.x, b.x) + 1, std::max(l.a.y, b.y) + 1});
    for (std::int32_t y = r.y0; y <= r.y1; ++y) {
      LineGrid::Range row;
      if (!cells_of_row(grid, l, y, row)) continue;
      for (std::int32_t x = row.x0; x <= row.x1; ++x) use(cell_index(x, y));
    }
  };
  for (const SolidLine& l : grid.lines) for_each_cell(l, [&](std::size_t c) { ++grid.first[c + 1]; });
  for (std::size_t c = 0; c < cells; ++c) grid.first[c + 1] += grid.first[c];
  grid.items.resize(grid.first[cells]);
  std::vector<std::uint32_t> next(grid.first.begin(), grid.first.end() - 1);
  for (std::uint32_t i = 0; i < grid.lines.size(); ++i)
    for_each_cell(grid.lines[i], [&](std::size_t c) { grid.items[next[c]++] = i; });
  for (std::size_t c = 0; c < cells; ++c) ASHLAR_ASSERT(next[c] == grid.first[c + 1]);  // both passes agree

  add_monster_lines(map, grid, cells);
  grid.points = build_leaf_grid(tree, footprint);
  return grid;
}

}  // namespace ashlar
