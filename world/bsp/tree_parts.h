#pragma once
#include <span>

#include "world/bsp/polygon.h"
#include "world/bsp/tree.h"

// What our builder puts a tree together from.

namespace ashlar {

/// Map units by which a tree's square of space goes beyond the map's lines.
inline constexpr double bsp_bounds_margin = 64;

/// The partition along a line with its front side in front, or its back side.
BspTree::Node partition_along(const SectorMap& map, std::uint32_t line, bool back_in_front);

/// Appends a leaf. @return a reference for Node::child
std::uint32_t add_leaf(BspTree& tree, std::uint32_t sector, const Polygon& polygon);

/// Appends a convex cell of one sector: behind each wall that the cell reaches behind it cuts off a leaf of
/// void, in this order, and what is left is the sector's leaf. Walls that would make the tree too deep are
/// left out. @param walls  partitions with the cell in front @param by  see reaches_behind @param depth  of
/// the cell @return a reference for Node::child
std::uint32_t add_cell(BspTree& tree, std::uint32_t sector, Polygon polygon,
                       std::span<const BspTree::Node> walls, double by, std::uint32_t depth);

}  // namespace ashlar
