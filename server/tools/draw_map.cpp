#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "server/tools/map_tools.h"
#include "world/bsp/open_doors.h"
#include "world/bsp/trace.h"
#include "world/bsp/tree.h"
#include "world/math/turn.h"
#include "world/sim/thing_table.h"

namespace ashlar::server {
namespace {

constexpr double border = 64;      // map units around the map
constexpr double eye_height = 51;  // 1.6 m over the floor
constexpr unsigned rays = 2048;

/// One sort of line or thing, as it is drawn and as the legend names it.
struct LineMark {
  const char* name;
  const char* text;
};
constexpr LineMark line_marks[] = {{"solid", "wall"},
                                   {"step", "floor or ceiling changes"},
                                   {"same", "same heights"},
                                   {"fence", "blocks though open"},
                                   {"special", "does something: door, lift, exit"}};

struct ThingMark {
  const char* text;
  const char* colour;
  double size;  ///< of the radius that things have
};
constexpr ThingMark thing_marks[] = {{"player start", "#080", 1.6},  {"deathmatch start", "#5b5", 1},
                                     {"teleport target", "#a0a", 1}, {"monster", "#c00", 1},
                                     {"to pick up", "#06c", 0.7},    {"decoration, others", "#999", 0.6}};

// The legend, in pixels of the picture.
constexpr double column_px = 260, row_px = 24, text_px = 14;
constexpr std::size_t legend_entries_max = std::size(line_marks) + std::size(thing_marks) + 4;

class Svg {
 public:
  explicit Svg(const MapBounds& bounds) : top_(bounds.max.y + border), left_(bounds.min.x - border) {
    const double width = bounds.max.x - bounds.min.x + 2 * border;
    map_height_ = bounds.max.y - bounds.min.y + 2 * border;
    const double scale = 1600 / std::max(width, map_height_);
    px_ = 1 / scale;
    columns_ = std::max<std::size_t>(1, static_cast<std::size_t>(width * scale / column_px));
    const double paper_width = std::max(width, column_px * px_);
    const std::size_t rows = (legend_entries_max + columns_ - 1) / columns_;
    const double height = map_height_ + (static_cast<double>(rows) + 1) * row_px * px_;
    print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.1f "
        "%.1f\">\n",
        paper_width * scale, height * scale, paper_width, height);
    // Strokes keep their width on paper however large the map is.
    print(
        "<style>.leaf{stroke:#8884;stroke-width:%.2f}.line,.key{stroke-linecap:round}.solid{stroke:#111;"
        "stroke-width:%.2f}.step{stroke:#664;stroke-width:%.2f}.same{stroke:#6668;stroke-width:%.2f}"
        ".fence{stroke:#a40;stroke-width:%.2f}.special{stroke:#a0a;stroke-width:%.2f}"
        ".seen{fill:#fd08;stroke:none}text{font:%.1fpx sans-serif;fill:#222}</style>\n",
        px_ * 0.3, px_ * 1.8, px_, px_ * 0.5, px_ * 1.4, px_ * 1.6, px_ * text_px);
    print("<rect width=\"%.1f\" height=\"%.1f\" fill=\"#f4f2ec\"/>\n", paper_width, height);
    thing_radius_ = std::max(8.0, 2.5 * px_);
  }

  template <typename... Args>
  void print(const char* format, Args... args) {
    char buffer[768];
    std::snprintf(buffer, sizeof buffer, format, args...);
    out_ += buffer;
  }
  void add(const char* text) { out_ += text; }
  double x(DVec2 p) const { return p.x - left_; }
  double y(DVec2 p) const { return top_ - p.y; }
  double thing_radius() const { return thing_radius_; }
  double px() const { return px_; }

  /// The place of the next entry of the legend: its swatch's left end, at half the height of its row.
  DVec2 next_entry() {
    const auto column = static_cast<double>(entries_ % columns_);
    const auto row = static_cast<double>(entries_ / columns_);
    ++entries_;
    return {(12 + column * column_px) * px_, map_height_ + (0.5 + row) * row_px * px_};
  }
  void label(DVec2 entry, double swatch_px, const std::string& text) {
    print("<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", entry.x + (swatch_px + 8) * px_,
          entry.y + 0.35 * text_px * px_, text.c_str());
  }
  std::string finish() {
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  std::string out_;
  double top_, left_;
  double px_ = 1;  // map units a pixel
  double map_height_ = 0;
  std::size_t columns_ = 1, entries_ = 0;
  double thing_radius_ = 8;
};

void draw_polygon(Svg& svg, const char* attributes, const DVec2* corners, std::size_t count) {
  svg.print("<polygon %s points=\"", attributes);
  for (std::size_t i = 0; i < count; ++i) svg.print("%.2f,%.2f ", svg.x(corners[i]), svg.y(corners[i]));
  svg.add("\"/>\n");
}

struct Floors {
  double low = 0, high = 0;
};

Floors floors_of(const SectorMap& map) {
  Floors floors{1e300, -1e300};
  for (const MapSector& s : map.sectors)
    floors = {std::min(floors.low, s.floor), std::max(floors.high, s.floor)};
  return floors;
}

/// Deep is dark and cold, high is light and warm; under the sky everything turns blue.
std::string floor_colour(const Floors& floors, double floor, bool sky) {
  const double part = floors.high > floors.low ? (floor - floors.low) / (floors.high - floors.low) : 0.5;
  char colour[48];
  std::snprintf(colour, sizeof colour, "hsl(%d,%d%%,%d%%)", sky ? 205 : static_cast<int>(150 - 110 * part),
                sky ? 60 : 35, static_cast<int>(45 + 40 * part));
  return colour;
}

void draw_leaves(Svg& svg, const SectorMap& map, const BspTree& tree) {
  const Floors floors = floors_of(map);
  for (const BspTree::Leaf& leaf : tree.leaves) {
    if (leaf.sector == no_index) continue;
    const MapSector& s = map.sectors[leaf.sector];
    const std::string attributes = "class=\"leaf\" fill=\"" + floor_colour(floors, s.floor, s.sky()) + "\"";
    draw_polygon(svg, attributes.c_str(), &tree.corners[leaf.first_corner], leaf.corner_count);
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

const ThingMark& mark_of(const MapThing& thing) {
  const ThingType* type = find_thing_type(thing.type);
  if (type != nullptr) {
    switch (type->role) {
      case ThingRole::player_start: return thing_marks[0];
      case ThingRole::deathmatch_start: return thing_marks[1];
      case ThingRole::teleport_target: return thing_marks[2];
      case ThingRole::monster: return thing_marks[3];
      case ThingRole::pickup: return thing_marks[4];
      case ThingRole::decoration: break;
    }
  }
  return thing_marks[5];
}

void draw_things(Svg& svg, const SectorMap& map) {
  for (const MapThing& thing : map.things) {
    const ThingMark& mark = mark_of(thing);
    svg.print("<circle class=\"thing\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n",
              svg.x({thing.x, thing.y}), svg.y({thing.x, thing.y}), svg.thing_radius() * mark.size,
              mark.colour);
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
}

/// An eye around a place of the picture.
void draw_eye(Svg& svg, double x, double y, double half) {
  svg.print(
      "<path class=\"eye\" d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1fQ%.1f %.1f %.1f %.1fZ\" fill=\"#fff\" "
      "stroke=\"#000\" stroke-width=\"%.2f\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#06c\"/>\n",
      x - half, y, x, y - half * 1.2, x + half, y, x, y + half * 1.2, x - half, y, half * 0.14, x, y,
      half * 0.4);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

/// The longest of 1, 2, 5, 10, ... metres that is at most so many map units.
double scale_bar_m(double units_max) {
  double metres = 1;
  for (const double step : {2.0, 2.5, 2.0, 2.0, 2.5, 2.0, 2.0, 2.5, 2.0}) {
    if (metres * step * map_units_per_m > units_max) break;
    metres *= step;
  }
  return metres;
}

void draw_scale(Svg& svg) {
  const double px = svg.px();
  const double bar_m = scale_bar_m(100 * px);
  const double units = bar_m * map_units_per_m;
  const DVec2 at = svg.next_entry();
  svg.print(
      "<path class=\"scale\" d=\"M%.1f %.1fv%.1fm0 %.1fh%.1fm0 %.1fv%.1f\" fill=\"none\" stroke=\"#000\" "
      "stroke-width=\"%.2f\"/>",
      at.x, at.y - 5 * px, 10 * px, -5 * px, units, -5 * px, 10 * px, 1.5 * px);
  svg.label(at, units / px, number(bar_m) + " m = " + number(units) + " units");
}

void draw_legend(Svg& svg, const SectorMap& map, const std::optional<DVec2>& from) {
  const double px = svg.px();
  constexpr double swatch_px = 30;
  draw_scale(svg);
  for (const LineMark& mark : line_marks) {
    const DVec2 at = svg.next_entry();
    svg.print("<line class=\"key %s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", mark.name, at.x,
              at.y, at.x + swatch_px * px, at.y);
    svg.label(at, swatch_px, mark.text);
  }
  for (const ThingMark& mark : thing_marks) {
    const DVec2 at = svg.next_entry();
    svg.print("<circle class=\"key\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>", at.x + 15 * px, at.y,
              std::min(svg.thing_radius() * mark.size, 9 * px), mark.colour);
    svg.label(at, swatch_px, mark.text);
  }
  const auto swatch = [&](DVec2 at, double left_px, double width_px, const std::string& paint) {
    svg.print("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s/>", at.x + left_px * px,
              at.y - 7 * px, width_px * px, 14 * px, paint.c_str());
  };
  const Floors floors = floors_of(map);
  const DVec2 heights = svg.next_entry();
  for (int i = 0; i < 6; ++i)
    swatch(heights, 5 * i, 5,
           "fill=\"" + floor_colour(floors, floors.low + (floors.high - floors.low) * i / 5, false) + "\"");
  svg.label(heights, swatch_px, "floors from " + number(floors.low) + " to " + number(floors.high));
  const DVec2 sky = svg.next_entry();
  swatch(sky, 0, swatch_px, "fill=\"" + floor_colour(floors, floors.high, true) + "\"");
  svg.label(sky, swatch_px, "under the sky");
  if (!from) return;
  const DVec2 eye = svg.next_entry();
  swatch(eye, 0, swatch_px, "class=\"key seen\"");
  draw_eye(svg, eye.x + 15 * px, eye.y, 9 * px);
  svg.label(eye, swatch_px, "seen from " + number(from->x) + "," + number(from->y));
}

}  // namespace

std::string draw_map_svg(const SectorMap& map, const DrawOptions& options) {
  const BspTree tree = build_bsp(map);
  Svg svg(tree.bounds);
  draw_leaves(svg, map, tree);
  const bool sees = options.from && tree.sector_at(*options.from) != no_index;
  if (sees) draw_seen(svg, map, tree, *options.from);
  draw_lines(svg, map);
  draw_things(svg, map);
  // Over all the rest, and wide enough to be found on the largest map.
  if (sees) draw_eye(svg, svg.x(*options.from), svg.y(*options.from), std::max(20.0, 12 * svg.px()));
  draw_legend(svg, map, sees ? options.from : std::nullopt);
  return svg.finish();
}

std::string nothing_to_see_from(const SectorMap& map, DVec2 from) {
  const BspTree tree = build_bsp(map);
  if (tree.sector_at(from) != no_index) return {};
  const MapBounds& b = tree.bounds;
  const bool beyond = from.x < b.min.x || from.x > b.max.x || from.y < b.min.y || from.y > b.max.y;
  const std::string why = beyond ? "lies beyond the map, which reaches from " + number(b.min.x) + "," +
                                       number(b.min.y) + " to " + number(b.max.x) + "," + number(b.max.y)
                                 : "lies in the void between rooms, where nothing is seen";
  for (const MapThing& thing : map.things)
    if (&mark_of(thing) == &thing_marks[0])
      return why + ": give a place in a room, such as the start " + number(thing.x) + "," + number(thing.y);
  return why + ": give a place in a room";
}

}  // namespace ashlar::server
