#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/world/content/wad_writer.h"
#include "world/bsp/tree.h"

namespace ashlar::testing {

enum class NodesKind { xnod, xgln, xgl2, xgl3 };

/// Writes a tree of ours as extended nodes: a subsector a leaf with a sector, its corners as segs, each on
/// the source line that it lies along or on none. Void leaves become the leaf on the other side of their cut,
/// as formats without void have it.
inline std::vector<std::uint8_t> write_extended_nodes(const SectorMap& map, const BspTree& tree,
                                                      NodesKind kind) {
  using W = WadWriter;
  W::Bytes out;
  const bool gl = kind != NodesKind::xnod;
  const bool wide = kind == NodesKind::xgl2 || kind == NodesKind::xgl3;
  const bool fine = kind == NodesKind::xgl3;
  constexpr std::string_view letters[] = {"XNOD", "XGLN", "XGL2", "XGL3"};
  for (const char c : letters[static_cast<int>(kind)]) out.push_back(static_cast<std::uint8_t>(c));
  const auto fixed = [&](double v) {
    W::push_u32(out, static_cast<std::uint32_t>(static_cast<std::int32_t>(std::floor(v * 65536 + 0.5))));
  };

  // Nodes whose one side is void fall away; the rest keep their order, children before parents.
  std::vector<std::uint32_t> leaf_number(tree.leaves.size(), no_index);
  std::vector<std::uint32_t> leaves;
  for (std::uint32_t i = 0; i < tree.leaves.size(); ++i)
    if (tree.leaves[i].sector != no_index)
      leaf_number[i] = static_cast<std::uint32_t>(leaves.size()), leaves.push_back(i);
  std::vector<std::uint32_t> node_order;
  const auto flatten = [&](auto&& self, std::uint32_t at) -> std::uint32_t {
    if ((at & BspTree::leaf_bit) != 0) {
      const std::uint32_t number = leaf_number[at & ~BspTree::leaf_bit];
      return number == no_index ? no_index : number | BspTree::leaf_bit;
    }
    const std::uint32_t front = self(self, tree.nodes[at].child[0]);
    const std::uint32_t back = self(self, tree.nodes[at].child[1]);
    if (front == no_index || back == no_index) return front == no_index ? back : front;
    node_order.insert(node_order.end(), {at, front, back});
    return static_cast<std::uint32_t>(node_order.size() / 3 - 1);
  };
  flatten(flatten, tree.root);

  // Vertices: none of the map's own, all corners.
  W::push_u32(out, 0);
  W::push_u32(out, static_cast<std::uint32_t>(tree.corners.size()));
  for (const DVec2 c : tree.corners) fixed(c.x), fixed(c.y);
  W::push_u32(out, static_cast<std::uint32_t>(leaves.size()));
  std::uint32_t segs = 0;
  for (const std::uint32_t l : leaves)
    W::push_u32(out, tree.leaves[l].corner_count), segs += tree.leaves[l].corner_count;
  W::push_u32(out, segs);
  for (const std::uint32_t l : leaves) {
    const BspTree::Leaf& leaf = tree.leaves[l];
    // Clockwise, as the formats want them: the inside is on the right hand.
    for (std::uint32_t k = leaf.corner_count; k-- > 0;) {
      const std::uint32_t v1 = leaf.first_corner + k;
      const std::uint32_t v2 = leaf.first_corner + (k + leaf.corner_count - 1) % leaf.corner_count;
      const DVec2 a = tree.corners[v1], b = tree.corners[v2];
      std::uint32_t on = no_index, side = 0;
      for (std::uint32_t i = 0; i < map.lines.size(); ++i) {
        const MapLine& line = map.lines[i];
        const DVec2 from = map.vertices[line.v1], along = map.vertices[line.v2] - from;
        const double line_length = length(along);
        const auto off = [&](DVec2 p) { return std::fabs(cross(along, p - from)) / line_length; };
        if (length(b - a) < 1e-3 || off(a) > 1e-3 || off(b) > 1e-3) continue;
        // The edge may be longer or shorter than the line; they have to share some of it.
        const double ta = dot(a - from, along) / line_length, tb = dot(b - from, along) / line_length;
        if (std::min(std::max(ta, tb), line_length) - std::max(std::min(ta, tb), 0.0) < 1e-3) continue;
        const std::uint32_t facing = dot(b - a, along) > 0 ? 0 : 1;
        if ((facing == 0 ? map.front_sector(line) : map.back_sector(line)) != leaf.sector) continue;
        on = i, side = facing;
      }
      W::push_u32(out, v1);
      W::push_u32(out, gl ? no_index : v2);
      if (wide)
        W::push_u32(out, on);
      else
        W::push_u16(out, on & 0xffff);
      out.push_back(static_cast<std::uint8_t>(side));
    }
  }
  W::push_u32(out, static_cast<std::uint32_t>(node_order.size() / 3));
  for (std::size_t i = 0; i < node_order.size(); i += 3) {
    const BspTree::Node& n = tree.nodes[node_order[i]];
    for (const double v : {n.x, n.y, n.dx, n.dy}) {
      if (fine)
        fixed(v);
      else
        W::push_number(out, v);
    }
    for (int box = 0; box < 8; ++box) W::push_u16(out, 0);
    W::push_u32(out, node_order[i + 1]);
    W::push_u32(out, node_order[i + 2]);
  }
  return out;
}

}  // namespace ashlar::testing
