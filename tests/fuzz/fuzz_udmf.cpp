#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "world/bsp/tree.h"
#include "world/content/udmf.h"

// Any bytes as UDMF text. What reads is compiled when it is small: every point has a leaf, and no leaf is
// lost.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  const auto map = parse_udmf({reinterpret_cast<const char*>(data), size});
  if (!map) {
    if (map.error().line().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (map->lines.size() > 300) return 0;
  const BspTree tree = build_bsp(*map);
  if (tree.depth > BspTree::depth_max) std::abort();
  for (const DVec2 vertex : map->vertices)
    if (tree.leaf_at(vertex) >= tree.leaves.size()) std::abort();
  return 0;
}
