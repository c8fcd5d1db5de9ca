#include "world/bsp/doorway.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double rise_max = 24;
constexpr double tread = 32;
constexpr double stairs_width = 80;
constexpr double clearance = 8;   ///< rock left between the stairs and any other line
constexpr double head_room = 80;  ///< a body of 56 on the first step of 24, under the room's ceiling
constexpr double opening_min = 56;
constexpr double passage_min = 40;  ///< a body of 16 units radius with a little air

struct Site {
  std::uint32_t line = no_index;
  DVec2 centre;          ///< of the opening in the wall
  DVec2 along, outward;  ///< unit
  double floor = 0;
  int steps = 0;  ///< rises; one fewer treads
  double cost = 0;
  double depth() const { return (steps - 1) * tread; }
};

/// Does a segment pass through a rectangle given by its centre line: from `base` over `depth` along
/// `outward`, `half` to both sides? Clips the segment in the rectangle's own axes.
bool meets(DVec2 a, DVec2 b, DVec2 base, DVec2 along, DVec2 outward, double half, double low, double high) {
  const double u0 = dot(a - base, along), v0 = dot(a - base, outward);
  const double du = dot(b - a, along), dv = dot(b - a, outward);
  double t0 = 0, t1 = 1;
  const auto clip = [&](double at, double speed, double from, double to) {
    if (speed == 0) return at >= from && at <= to;
    const double x = (from - at) / speed, y = (to - at) / speed;
    t0 = std::max(t0, std::min(x, y));
    t1 = std::min(t1, std::max(x, y));
    return t0 <= t1;
  };
  return clip(u0, du, -half, half) && clip(v0, dv, low, high);
}

class Cutter {
 public:
  Cutter(SectorMap& map, std::vector<DrawnHeights>& heights, double roof_z, DVec2 start)
      : map_(map), heights_(heights), roof_(roof_z), start_(start) {}

  std::expected<CutDoorway, NoDoorway> run(std::uint32_t start_sector) {
    const std::vector<std::uint8_t> all(map_.sectors.size(), 1);
    std::optional<Site> site;
    if (start_sector != no_index) site = best(reachable_on_foot(map_, heights_, start_sector));
    if (!site) site = best(all);
    if (!site) return std::unexpected(too_deep_ ? NoDoorway::too_deep : NoDoorway::no_room);
    return cut(*site);
  }

 private:
  std::optional<Site> best(const std::vector<std::uint8_t>& allowed) {
    std::optional<Site> found;
    for (std::uint32_t i = 0; i < map_.lines.size(); ++i) {
      const MapLine& line = map_.lines[i];
      if (line.back != no_index || line.special != 0) continue;
      const std::uint32_t sector = map_.front_sector(line);
      if (allowed[sector] == 0 || map_.sectors[sector].tag != 0) continue;
      const DrawnHeights& h = heights_[sector];
      if (!map_.sectors[sector].sky() && h.ceiling - h.floor < head_room) continue;
      const DVec2 a = map_.vertices[line.v1], b = map_.vertices[line.v2];
      const double l = length(b - a);
      if (l < stairs_width + 2 * clearance) continue;
      Site s;
      s.line = i;
      s.along = (b - a) * (1 / l);
      s.outward = {-s.along.y, s.along.x};
      s.floor = h.floor;
      s.steps = static_cast<int>(std::ceil((roof_ - s.floor) / rise_max));
      if (s.steps < 2) continue;
      if (s.steps > doorway_steps_max) {
        too_deep_ = true;
        continue;
      }
      // Short stairs near the start; slanted walls only where nothing else serves, their corners are inexact.
      const double slanted = s.along.x != 0 && s.along.y != 0 ? 512 : 0;
      const double span = l / 2 - stairs_width / 2 - clearance;
      for (const double part : {0.0, -1.0, 1.0, -0.5, 0.5}) {
        // Whole units keep the new corners exact on upright walls.
        s.centre = a + s.along * std::floor(l / 2 + part * span);
        s.cost = s.depth() + slanted + length(s.centre - start_) * 0.5;
        if (found && s.cost >= found->cost) continue;
        if (clear(s)) found = s;
      }
    }
    return found;
  }

  /// Nothing but void behind the wall: no line meets the stairs' ground and what is left around it.
  bool clear(const Site& s) const {
    const double half = stairs_width / 2 + clearance;
    for (std::uint32_t i = 0; i < map_.lines.size(); ++i) {
      const DVec2 a = map_.vertices[map_.lines[i].v1], b = map_.vertices[map_.lines[i].v2];
      // The wall itself lies at depth 0; whatever else comes near it there is in the way.
      const double low = i == s.line ? 1 : -1;
      if (meets(a, b, s.centre, s.along, s.outward, half, low, s.depth() + 2 * tread)) return false;
    }
    // In front of the wall a body must be able to stand.
    for (std::uint32_t i = 0; i < map_.lines.size(); ++i) {
      if (i == s.line) continue;
      const DVec2 a = map_.vertices[map_.lines[i].v1], b = map_.vertices[map_.lines[i].v2];
      if (meets(a, b, s.centre, s.along, s.outward, stairs_width / 2, -48, -1)) return false;
    }
    return true;
  }

  std::uint32_t vertex(DVec2 p) {
    map_.vertices.push_back(p);
    return static_cast<std::uint32_t>(map_.vertices.size() - 1);
  }
  std::uint32_t side(std::uint32_t sector, const MapSide& like) {
    MapSide s = like;
    s.sector = sector;
    map_.sides.push_back(s);
    return static_cast<std::uint32_t>(map_.sides.size() - 1);
  }
  void line(std::uint32_t v1, std::uint32_t v2, std::uint32_t front, std::uint32_t back,
            const MapSide& like) {
    MapLine l;
    l.v1 = v1, l.v2 = v2;
    l.front = side(front, like);
    l.flags = line_flag::blocking;
    if (back != no_index) l.back = side(back, like), l.flags = line_flag::two_sided;
    map_.lines.push_back(l);
  }

  CutDoorway cut(const Site& s) {
    const MapLine wall = map_.lines[s.line];
    const MapSide like = map_.sides[wall.front];
    const std::uint32_t room = like.sector;
    const DVec2 half = s.along * (stairs_width / 2);
    const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    const DoorwaySeam seam{
        count(map_.vertices), count(map_.lines), count(map_.sides), count(map_.sectors), s.line, wall.v2};
    std::uint32_t a = vertex(s.centre - half), b = vertex(s.centre + half);

    // The wall keeps its index up to the opening; the rest of it is a new line.
    map_.lines[s.line].v2 = a;
    MapLine rest = wall;
    rest.v1 = b;
    rest.front = side(room, like);
    map_.lines.push_back(rest);

    std::uint32_t below = room;
    for (int k = 1; k < s.steps; ++k) {
      MapSector step = map_.sectors[room];
      step.floor = s.floor + (roof_ - s.floor) * k / s.steps;
      step.ceiling = roof_;
      step.ceiling_flat = sky_flat;
      step.special = 0;
      const auto sector = static_cast<std::uint32_t>(map_.sectors.size());
      map_.sectors.push_back(step);
      heights_.push_back({step.floor, step.ceiling});
      const DVec2 out = s.outward * (k * tread);
      const std::uint32_t next_a = vertex(s.centre - half + out), next_b = vertex(s.centre + half + out);
      line(a, b, below, sector, like);
      line(a, next_a, sector, no_index, like);
      line(next_b, b, sector, no_index, like);
      a = next_a, b = next_b, below = sector;
    }
    line(a, b, below, no_index, like);
    return {s.centre - s.outward * tread, s.floor, s.centre + s.outward * (s.depth() + tread), seam};
  }

  SectorMap& map_;
  std::vector<DrawnHeights>& heights_;
  double roof_;
  DVec2 start_;
  bool too_deep_ = false;  ///< a wall was passed over for its depth alone, as far as was looked
};

}  // namespace

std::vector<std::uint8_t> reachable_on_foot(const SectorMap& map, const std::vector<DrawnHeights>& heights,
                                            std::uint32_t from_sector) {
  struct Border {
    std::uint32_t from, to;
    double width;
  };
  std::vector<Border> borders;
  for (const MapLine& line : map.lines) {
    const std::uint32_t a = map.front_sector(line), b = map.back_sector(line);
    if (a == no_index || b == no_index || a == b || (line.flags & line_flag::blocking) != 0) continue;
    const double floor = std::max(heights[a].floor, heights[b].floor);
    const auto ceiling = [&](std::uint32_t s) { return map.sectors[s].sky() ? 1e9 : heights[s].ceiling; };
    if (std::min(ceiling(a), ceiling(b)) - floor < opening_min) continue;
    const double width = length(map.vertices[line.v2] - map.vertices[line.v1]);
    if (heights[b].floor - heights[a].floor <= rise_max) borders.push_back({a, b, width});
    if (heights[a].floor - heights[b].floor <= rise_max) borders.push_back({b, a, width});
  }
  // Round rooms border in many short lines: their sum has to let a body through, not each.
  std::sort(borders.begin(), borders.end(), [](const Border& a, const Border& b) {
    if (a.from != b.from) return a.from < b.from;
    return a.to != b.to ? a.to < b.to : a.width < b.width;
  });
  std::vector<std::vector<std::uint32_t>> next(map.sectors.size());
  for (std::size_t i = 0; i < borders.size();) {
    double width = 0;
    std::size_t j = i;
    for (; j < borders.size() && borders[j].from == borders[i].from && borders[j].to == borders[i].to; ++j)
      width += borders[j].width;
    if (width >= passage_min) next[borders[i].from].push_back(borders[i].to);
    i = j;
  }
  std::vector<std::uint8_t> reached(map.sectors.size(), 0);
  std::vector<std::uint32_t> open{from_sector};
  reached[from_sector] = 1;
  while (!open.empty()) {
    const std::uint32_t s = open.back();
    open.pop_back();
    for (const std::uint32_t n : next[s])
      if (reached[n] == 0) reached[n] = 1, open.push_back(n);
  }
  return reached;
}

std::expected<CutDoorway, NoDoorway> cut_doorway(SectorMap& map, std::vector<DrawnHeights>& heights,
                                                 double roof_z, DVec2 start, std::uint32_t start_sector) {
  return Cutter(map, heights, roof_z, start).run(start_sector);
}

void close_doorway(SectorMap& map, const DoorwaySeam& seam) {
  ASHLAR_ASSERT(seam.vertices <= map.vertices.size() && seam.sides <= map.sides.size());
  ASHLAR_ASSERT(seam.lines <= map.lines.size() && seam.sectors <= map.sectors.size());
  ASHLAR_ASSERT(seam.wall < seam.lines);
  map.vertices.resize(seam.vertices);
  map.lines.resize(seam.lines);
  map.sides.resize(seam.sides);
  map.sectors.resize(seam.sectors);
  map.lines[seam.wall].v2 = seam.wall_v2;
}

}  // namespace ashlar
