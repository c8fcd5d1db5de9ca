#pragma once
#include <expected>

#include "world/bsp/map_nodes.h"
#include "world/content/content_error.h"
#include "world/content/wad.h"

namespace ashlar {

/// The tree of a map's own nodes: GL nodes (versions 2 and 5), extended nodes (XNOD, XGLN, XGL2, XGL3 and
/// their zlib-packed Z forms, also in a UDMF map's ZNODES lump), or Doom's classic ones, in this order.
/// Source of the layouts: "The Unofficial Doom Specs" 1.666; ZDoom wiki "Node"; glBSP's GL-Nodes specs 2
/// and 5. Refused in one line: no nodes, damage of any kind. Every count, offset and index is checked before
/// use.
std::expected<BspTree, ContentError> read_map_tree(const WadStack& wads, std::string_view map_name,
                                                   const SectorMap& map);

/// One lump of extended nodes on its own, from its four letters on.
std::expected<MapNodes, ContentError> parse_extended_nodes(std::span<const std::uint8_t> lump,
                                                           const SectorMap& map);

/// Doom's three lumps.
std::expected<MapNodes, ContentError> parse_classic_nodes(std::span<const std::uint8_t> segs,
                                                          std::span<const std::uint8_t> ssectors,
                                                          std::span<const std::uint8_t> nodes,
                                                          const SectorMap& map);

/// The four lumps behind a GL_ marker.
std::expected<MapNodes, ContentError> parse_gl_nodes(std::span<const std::uint8_t> vert,
                                                     std::span<const std::uint8_t> segs,
                                                     std::span<const std::uint8_t> ssect,
                                                     std::span<const std::uint8_t> nodes,
                                                     const SectorMap& map);

}  // namespace ashlar
