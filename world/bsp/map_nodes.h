#pragma once
#include <cstdint>
#include <expected>
#include <vector>

#include "world/bsp/sector_map.h"
#include "world/bsp/tree.h"

namespace ashlar {

/// The nodes that came with a map, as plain arrays out of one of the formats; indices are not yet checked.
struct MapNodes {
  struct Seg {
    DVec2 a, b;
    std::uint32_t line = no_index;  ///< no_index: a seg of the builder's own, on no line
    std::uint8_t side = 0;          ///< 0 front, 1 back
  };
  struct Subsector {
    std::uint32_t first = 0, count = 0;
  };
  struct Node {
    double x = 0, y = 0, dx = 0, dy = 0;
    std::uint32_t child[2] = {0, 0};  ///< right (front), left; subsectors carry BspTree::leaf_bit
  };
  std::vector<Seg> segs;
  std::vector<Subsector> subsectors;
  std::vector<Node> nodes;  ///< the root is the last
};

/// What is wrong with a map's nodes.
struct NodesError {
  enum class Part : std::uint8_t { node, subsector, seg } part{};
  std::uint32_t index = 0;
  const char* reason = "";
};

/// The tree of a map's own nodes, with void cut off behind one-sided lines as in ours. Leaves keep the number
/// of their subsector, also the void ones. Classic nodes round their vertices to whole units, so leaves next
/// to slanted cuts are right to within a unit only.
/// Refused: an index out of range, a node reached twice, a subsector without a line, a tree deeper than ours
/// may be. Precondition: map is checked.
std::expected<BspTree, NodesError> tree_of_nodes(const SectorMap& map, const MapNodes& nodes);

}  // namespace ashlar
