#include "world/bsp/tree_parts.h"

#include <algorithm>
#include <utility>

namespace ashlar {

BspTree::Node partition_along(const SectorMap& map, std::uint32_t line, bool back_in_front) {
  const MapLine& l = map.lines[line];
  const DVec2 from = map.vertices[l.v1];
  DVec2 along = map.vertices[l.v2] - from;
  if (back_in_front) along = -along;
  BspTree::Node node;
  node.x = from.x, node.y = from.y, node.dx = along.x, node.dy = along.y;
  node.line = line;
  return node;
}

std::uint32_t add_leaf(BspTree& tree, std::uint32_t sector, const Polygon& polygon) {
  const auto index = static_cast<std::uint32_t>(tree.leaves.size());
  BspTree::Leaf l;
  l.sector = sector;
  l.first_corner = static_cast<std::uint32_t>(tree.corners.size());
  l.corner_count = static_cast<std::uint32_t>(polygon.size());
  tree.corners.insert(tree.corners.end(), polygon.begin(), polygon.end());
  tree.leaves.push_back(l);
  return index | BspTree::leaf_bit;
}

std::uint32_t add_cell(BspTree& tree, std::uint32_t sector, Polygon polygon,
                       std::span<const BspTree::Node> walls, double by, std::uint32_t depth) {
  std::uint32_t first = no_index, parent = 0;
  for (const BspTree::Node& wall : walls) {
    if ((wall.dx == 0 && wall.dy == 0) || !reaches_behind(polygon, wall, by)) continue;
    if (depth + 2 >= BspTree::depth_max) continue;
    CutPolygon parts = cut(polygon, wall);
    const auto node = static_cast<std::uint32_t>(tree.nodes.size());
    tree.nodes.push_back(wall);
    if (first == no_index)
      first = node;
    else
      tree.nodes[parent].child[0] = node;
    parent = node;
    tree.nodes[node].child[1] = add_leaf(tree, no_index, parts.back);
    polygon = std::move(parts.front);
    tree.depth = std::max(tree.depth, ++depth);
  }
  const std::uint32_t inside = add_leaf(tree, sector, polygon);
  if (first == no_index) return inside;
  tree.nodes[parent].child[0] = inside;
  return first;
}

}  // namespace ashlar
