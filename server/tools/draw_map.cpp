#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "server/tools/map_tools.h"
#include "world/bsp/open_doors.h"
#include "world/bsp/trace.h"
#include "world/bsp/tree.h"
#include "world/content/thing_table.h"
#include "world/math/turn.h"

namespace ashlar::server {
namespace {

constexpr double border = 64;      // map units around the map
constexpr double eye_height = 51;  // 1.6 m over the floor
constexpr unsigned rays = 2048;

class Svg {
 public:
  explicit Svg(const MapBounds& bounds) : top_(bounds.max.y + border), left_(bounds.min.x - border) {
    const double width = bounds.max.x - bounds.min.x + 2 * border;
    const double height = bounds.max.y - bounds.min.y + 2 * border;
    const double scale = 1600 / std::max(width, height);
    print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.1f "
        "%.1f\">\n",
        width * scale, height * scale, width, height);
    // Strokes keep their width on paper however large the map is.
    const double thin = 1 / scale;
    print(
        "<style>.leaf{stroke:#8884;stroke-width:%.2f}.line{stroke-linecap:round}.solid{stroke:#111;"
        "stroke-width:%.2f}.step{stroke:#664;stroke-width:%.2f}.same{stroke:#6668;stroke-width:%.2f}"
        ".fence{stroke:#a40;stroke-width:%.2f}.special{stroke:#a0a;stroke-width:%.2f}"
        ".seen{fill:#fd08;stroke:none}</style>\n",
        thin * 0.3, thin * 1.8, thin, thin * 0.5, thin * 1.4, thin * 1.6);
    print("<rect width=\"%.1f\" height=\"%.1f\" fill=\"#f4f2ec\"/>\n", width, height);
    thing_radius_ = std::max(8.0, 2.5 * thin);
  }

  template <typename... Args>
  void print(const char* format, Args... args) {
    char buffer[640];
    std::snprintf(buffer, sizeof buffer, format, args...);
    out_ += buffer;
  }
  void add(const char* text) { out_ += text; }
  double x(DVec2 p) const { return p.x - left_; }
  double y(DVec2 p) const { return top_ - p.y; }
  double thing_radius() const { return thing_radius_; }
  std::string finish() {
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  std::string out_;
  double top_, left_;
  double thing_radius_ = 8;
};

void draw_polygon(Svg& svg, const char* attributes, const DVec2* corners, std::size_t count) {
  svg.print("<polygon %s points=\"", attributes);
  for (std::size_t i = 0; i < count; ++i) svg.print("%.2f,%.2f ", svg.x(corners[i]), svg.y(corners[i]));
  svg.add("\"/>\n");
}

void draw_leaves(Svg& svg, const SectorMap& map, const BspTree& tree) {
  double low = 1e300, high = -1e300;
  for (const MapSector& s : map.sectors) low = std::min(low, s.floor), high = std::max(high, s.floor);
  for (const BspTree::Leaf& leaf : tree.leaves) {
    if (leaf.sector == no_index) continue;
    const MapSector& s = map.sectors[leaf.sector];
    const double part = high > low ? (s.floor - low) / (high - low) : 0.5;
    char attributes[96];
    // Deep is dark and cold, high is light and warm; under the sky everything turns blue.
    std::snprintf(attributes, sizeof attributes, "class=\"leaf\" fill=\"hsl(%d,%d%%,%d%%)\"",
                  s.sky() ? 205 : static_cast<int>(150 - 110 * part), s.sky() ? 60 : 35,
                  static_cast<int>(45 + 40 * part));
    draw_polygon(svg, attributes, &tree.corners[leaf.first_corner], leaf.corner_count);
  }
}

const char* kind_of(const SectorMap& map, const MapLine& line) {
  if (line.special != 0) return "special";
  if (line.back == no_index) return "solid";
  if ((line.flags & line_flag::blocking) != 0) return "fence";
  const MapSector& a = map.sectors[map.front_sector(line)];
  const MapSector& b = map.sectors[map.back_sector(line)];
  return a.floor != b.floor || a.ceiling != b.ceiling ? "step" : "same";
}

void draw_lines(Svg& svg, const SectorMap& map) {
  for (const MapLine& line : map.lines) {
    const DVec2 a = map.vertices[line.v1], b = map.vertices[line.v2];
    svg.print("<line class=\"line %s\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"/>\n",
              kind_of(map, line), svg.x(a), svg.y(a), svg.x(b), svg.y(b));
  }
}

void draw_things(Svg& svg, const SectorMap& map) {
  for (const MapThing& thing : map.things) {
    const ThingType* type = find_thing_type(thing.type);
    const char* colour = "#999";
    double size = 0.6;
    if (type != nullptr) {
      switch (type->role) {
        case ThingRole::player_start: colour = "#080", size = 1.6; break;
        case ThingRole::deathmatch_start: colour = "#5b5", size = 1; break;
        case ThingRole::teleport_target: colour = "#a0a", size = 1; break;
        case ThingRole::monster: colour = "#c00", size = 1; break;
        case ThingRole::pickup: colour = "#06c", size = 0.7; break;
        case ThingRole::decoration: break;
      }
    }
    svg.print("<circle class=\"thing\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n",
              svg.x({thing.x, thing.y}), svg.y({thing.x, thing.y}), svg.thing_radius() * size, colour);
  }
}

/// How far a level look goes, 0 to 1: until void, a floor above the eye or a ceiling below it.
double seen_until(const SectorMap& map, const std::vector<DrawnHeights>& heights, const BspTree& tree,
                  DVec2 from, DVec2 way) {
  double until = 1;
  bool first = true;
  double bottom = -1e300, top = 1e300;
  trace_leaves(tree, tree.root, from, way, 0, 1,
               [&](std::uint32_t leaf, double in, double, const LeafEntry&) {
                 const std::uint32_t sector = tree.leaves[leaf].sector;
                 until = in;
                 if (sector == no_index) return false;
                 const DrawnHeights& h = heights[sector];
                 // Looks may rise and fall through what has been open so far: a band that only narrows.
                 bottom = std::max(bottom, first ? h.floor + eye_height - 40 : h.floor);
                 if (!map.sectors[sector].sky()) top = std::min(top, h.ceiling);
                 first = false;
                 if (bottom >= top) return false;
                 until = 1;
                 return true;
               });
  return until;
}

void draw_seen(Svg& svg, const SectorMap& map, const BspTree& tree, DVec2 from) {
  const std::vector<DrawnHeights> heights = heights_with_open_doors(map);
  const DVec2 size = tree.bounds.max - tree.bounds.min;
  const double reach = size.x + size.y;
  std::vector<DVec2> fan;
  for (unsigned i = 0; i < rays; ++i) {
    const DVec2 way = heading(Turn16{static_cast<std::uint16_t>(i * (65536 / rays))}) * reach;
    fan.push_back(from + way * seen_until(map, heights, tree, from, way));
  }
  draw_polygon(svg, "class=\"seen\"", fan.data(), fan.size());
  svg.print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#fa0\" stroke=\"#000\"/>\n", svg.x(from),
            svg.y(from), svg.thing_radius() * 1.5);
}

}  // namespace

std::string draw_map_svg(const SectorMap& map, const DrawOptions& options) {
  const BspTree tree = build_bsp(map);
  Svg svg(tree.bounds);
  draw_leaves(svg, map, tree);
  if (options.from && tree.sector_at(*options.from) != no_index) draw_seen(svg, map, tree, *options.from);
  draw_lines(svg, map);
  draw_things(svg, map);
  return svg.finish();
}

}  // namespace ashlar::server
