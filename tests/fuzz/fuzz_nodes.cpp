#include <cstdint>
#include <cstdlib>

#include "world/content/builtin_map.h"
#include "world/content/read_nodes.h"
#include "world/content/udmf.h"

// Any bytes as the nodes of the built-in map, in the format that the first byte picks: 0 one extended lump,
// 1 Doom's three lumps, 2 the four GL lumps; lengths of the first lumps follow as two bytes each.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  static const SectorMap map = *parse_udmf(builtin_map_text());
  if (size < 7) return 0;
  std::span<const std::uint8_t> rest(data + 7, size - 7);
  std::span<const std::uint8_t> lump[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const auto wanted = static_cast<std::size_t>(data[1 + 2 * i] | data[2 + 2 * i] << 8);
    lump[i] = rest.first(wanted < rest.size() ? wanted : rest.size());
    if (data[0] % 3 != 0) rest = rest.subspan(lump[i].size());
  }
  std::expected<MapNodes, ContentError> nodes;
  switch (data[0] % 3) {
    case 0: nodes = parse_extended_nodes(rest, map); break;
    case 1: nodes = parse_classic_nodes(lump[0], lump[1], rest, map); break;
    default: nodes = parse_gl_nodes(lump[0], lump[1], lump[2], rest, map); break;
  }
  if (!nodes) {
    if (nodes.error().line().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const auto tree = tree_of_nodes(map, *nodes);
  if (!tree) return 0;
  for (const DVec2 vertex : map.vertices)
    if (tree->leaf_at(vertex) >= tree->leaves.size()) std::abort();
  return 0;
}
