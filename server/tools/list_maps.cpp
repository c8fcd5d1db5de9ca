#include <charconv>
#include <cstdio>

#include "server/tools/map_tools.h"
#include "world/bsp/tree.h"

namespace ashlar::server {

MapList list_maps(const WadStack& wads) {
  MapList out;
  for (const std::string& name : map_names(wads)) {
    const auto map = read_map(wads, name);
    if (!map) {
      out.damaged += map.error().line() + "\n";
      continue;
    }
    const BspTree tree = build_bsp(*map);
    std::size_t leaves = 0;
    for (const BspTree::Leaf& leaf : tree.leaves) leaves += leaf.sector != no_index ? 1 : 0;
    char line[160];
    std::snprintf(line, sizeof line, "%-8s lines %6zu  sectors %5zu  leaves %6zu  things %5zu\n",
                  name.c_str(), map->lines.size(), map->sectors.size(), leaves, map->things.size());
    out.text += line;
  }
  if (out.text.empty() && out.damaged.empty()) out.text = "no maps\n";
  return out;
}

std::optional<DVec2> parse_point(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto number = [](std::string_view part, double& out) {
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), out);
    return code == std::errc{} && end == part.data() + part.size() && out >= -65536 && out <= 65536;
  };
  DVec2 p;
  if (!number(text.substr(0, comma), p.x) || !number(text.substr(comma + 1), p.y)) return std::nullopt;
  return p;
}

}  // namespace ashlar::server
