#include "world/bsp/map_nodes.h"

#include <algorithm>
#include <optional>

#include "world/bsp/polygon.h"
#include "world/bsp/tree_parts.h"

namespace ashlar {
namespace {

/// Classic nodes round corners to whole units: a sliver thinner than this behind a wall's line is no void but
/// a neighbour's ground, and walls of it would stand in the open.
constexpr double rounding = 1.0;
/// Void is cut off behind this many walls of a subsector at most; more would not be convex.
constexpr std::uint32_t chain_max = 64;

class Converter {
 public:
  Converter(const SectorMap& map, const MapNodes& nodes) : map_(map), nodes_(nodes) {}

  std::expected<BspTree, NodesError> run() {
    tree_.bounds = bounds_of(map_);
    seen_.assign(nodes_.nodes.size(), 0);
    seen_leaf_.assign(nodes_.subsectors.size(), 0);
    find_sector_bounds();
    std::uint32_t root = BspTree::leaf_bit;
    if (!nodes_.nodes.empty()) root = static_cast<std::uint32_t>(nodes_.nodes.size() - 1);
    tree_.root = convert(root, rectangle(tree_.bounds, bsp_bounds_margin), 1);
    if (error_) return std::unexpected(*error_);
    return std::move(tree_);
  }

 private:
  std::uint32_t fail(NodesError::Part part, std::uint32_t index, const char* reason) {
    if (!error_) error_ = NodesError{part, index, reason};
    return BspTree::leaf_bit;
  }

  // Recursion is bounded: the depth is checked, and no node is entered twice.
  std::uint32_t convert(std::uint32_t at, Polygon polygon, std::uint32_t depth) {
    if (error_) return BspTree::leaf_bit;
    tree_.depth = std::max(tree_.depth, depth);
    const std::uint32_t index = at & ~BspTree::leaf_bit;
    if ((at & BspTree::leaf_bit) != 0) return subsector(index, std::move(polygon), depth);
    if (index >= nodes_.nodes.size()) return fail(NodesError::Part::node, index, "is not there");
    if (seen_[index] != 0) return fail(NodesError::Part::node, index, "is reached twice");
    if (depth + chain_max + 6 >= BspTree::depth_max)
      return fail(NodesError::Part::node, index, "lies deeper than 442 levels");
    seen_[index] = 1;
    const MapNodes::Node& from = nodes_.nodes[index];
    if (from.dx == 0 && from.dy == 0) return fail(NodesError::Part::node, index, "has no direction");
    BspTree::Node node;
    node.x = from.x, node.y = from.y, node.dx = from.dx, node.dy = from.dy;
    CutPolygon parts = cut(polygon, node);
    const auto out = static_cast<std::uint32_t>(tree_.nodes.size());
    tree_.nodes.push_back(node);
    const std::uint32_t front = convert(from.child[0], std::move(parts.front), depth + 1);
    const std::uint32_t back = convert(from.child[1], std::move(parts.back), depth + 1);
    tree_.nodes[out].child[0] = front;
    tree_.nodes[out].child[1] = back;
    return out;
  }

  std::uint32_t subsector(std::uint32_t index, Polygon polygon, std::uint32_t depth) {
    if (index >= nodes_.subsectors.size()) return fail(NodesError::Part::subsector, index, "is not there");
    if (seen_leaf_[index] != 0) return fail(NodesError::Part::subsector, index, "is reached twice");
    seen_leaf_[index] = 1;
    const MapNodes::Subsector& s = nodes_.subsectors[index];
    if (s.first > nodes_.segs.size() || s.count > nodes_.segs.size() - s.first)
      return fail(NodesError::Part::subsector, index, "has segs that are not there");

    std::uint32_t sector = no_index;
    std::vector<BspTree::Node> walls;
    for (std::uint32_t i = s.first; i < s.first + s.count; ++i) {
      const MapNodes::Seg& seg = nodes_.segs[i];
      if (seg.line == no_index) continue;
      if (seg.line >= map_.lines.size())
        return fail(NodesError::Part::seg, i, "names a line that is not there");
      const MapLine& line = map_.lines[seg.line];
      const std::uint32_t facing = seg.side == 0 ? map_.front_sector(line) : map_.back_sector(line);
      const std::uint32_t behind = seg.side == 0 ? map_.back_sector(line) : map_.front_sector(line);
      if (facing == no_index) return fail(NodesError::Part::seg, i, "is on a side that its line has not");
      if (sector == no_index) sector = facing;
      if (behind == no_index && walls.size() < chain_max)
        walls.push_back(partition_along(map_, seg.line, seg.side != 0));
    }
    if (sector == no_index) return fail(NodesError::Part::subsector, index, "has no seg on a line");
    add_sector_bounds(sector, walls);
    return add_cell(tree_, sector, index, std::move(polygon), walls, rounding, depth);
  }

  void find_sector_bounds() {
    sector_bounds_.resize(map_.sectors.size());
    std::vector<std::uint8_t> any(map_.sectors.size(), 0);
    for (const MapLine& line : map_.lines) {
      for (const std::uint32_t sector : {map_.front_sector(line), map_.back_sector(line)}) {
        if (sector == no_index) continue;
        for (const std::uint32_t v : {line.v1, line.v2}) {
          MapBounds& b = sector_bounds_[sector];
          const DVec2 p = map_.vertices[v];
          if (any[sector] == 0) b = {p, p};
          any[sector] = 1;
          b.min = {std::min(b.min.x, p.x), std::min(b.min.y, p.y)};
          b.max = {std::max(b.max.x, p.x), std::max(b.max.y, p.y)};
        }
      }
    }
  }

  /// Rounded partitions leave wedges between them and the walls, which run on into the void for ever: no leaf
  /// reaches beyond its sector's lines.
  void add_sector_bounds(std::uint32_t sector, std::vector<BspTree::Node>& walls) const {
    const MapBounds& b = sector_bounds_[sector];
    const auto add = [&](double x, double y, double dx, double dy) {
      BspTree::Node n;
      n.x = x, n.y = y, n.dx = dx, n.dy = dy;
      walls.push_back(n);
    };
    add(b.min.x - 1, 0, 0, 1);  // in front is the right hand: east of a line to the north
    add(b.max.x + 1, 0, 0, -1);
    add(0, b.min.y - 1, -1, 0);
    add(0, b.max.y + 1, 1, 0);
  }

  const SectorMap& map_;
  const MapNodes& nodes_;
  BspTree tree_;
  std::vector<std::uint8_t> seen_, seen_leaf_;
  std::vector<MapBounds> sector_bounds_;
  std::optional<NodesError> error_;
};

}  // namespace

std::expected<BspTree, NodesError> tree_of_nodes(const SectorMap& map, const MapNodes& nodes) {
  if (nodes.subsectors.empty())
    return std::unexpected(NodesError{NodesError::Part::subsector, 0, "is not there: the map has no nodes"});
  return Converter(map, nodes).run();
}

}  // namespace ashlar
