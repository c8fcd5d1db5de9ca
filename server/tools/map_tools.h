#pragma once
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "world/bsp/sector_map.h"
#include "world/content/content_error.h"
#include "world/content/wad.h"

// What --list-maps and --draw-map show: text out of maps, no files of their own.

namespace ashlar::server {

/// What --list-maps prints: `text` on stdout, `damaged` on stderr.
struct MapList {
  std::string text;     ///< a line per map that reads, or that there are none; ends with a newline
  std::string damaged;  ///< a line per map that does not: lump, entry and reason; empty when all do
};

/// Name, lines, sectors, leaves and things of every map. Cost: compiles them.
MapList list_maps(const WadStack& wads);

/// What a picture of a map shows beside the map.
struct DrawOptions {
  std::optional<DVec2> from;  ///< map units: shows what is seen from here, doors open
};

/// A picture of a map as SVG: every leaf filled by its floor's height (courts bluish), every line by its
/// kind, every thing by its role, the eye where it looks from; below a legend and a scale. One polygon of
/// class "leaf" a leaf, one line of class "line" a source line.
std::string draw_map_svg(const SectorMap& map, const DrawOptions& options = {});

/// Why nothing would be seen from there: void, or beyond the map, whose bounds and start it tells. Empty: it
/// is in a sector. Cost: compiles the map.
std::string nothing_to_see_from(const SectorMap& map, DVec2 from);

/// "x,y" in map units, as --from takes it; nullopt: not two numbers.
std::optional<DVec2> parse_point(std::string_view text);

}  // namespace ashlar::server
