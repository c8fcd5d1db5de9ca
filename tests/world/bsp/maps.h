#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/wads.h"
#include "world/bsp/placement.h"
#include "world/content/builtin_map.h"
#include "world/content/udmf.h"

// Maps for tests: Freedoom's where it is installed, and a small one of our own.

namespace ashlar::testing {

/// Both of Freedoom's WADs; empty (with a warning in the output) where there are none.
inline std::vector<WadStack> freedoom() {
  std::vector<WadStack> out;
  for (const char* name : {"freedoom2.wad", "freedoom1.wad"})
    if (auto wad = find_wad(name)) out.push_back(std::move(*wad));
  if (out.empty())
    WARN("no Freedoom WAD in DOOMWADDIR or /usr/share/games/doom: install the package freedoom");
  return out;
}

inline SectorMap must_read(const WadStack& wads, const std::string& name) {
  auto map = read_map(wads, name);
  if (!map) FAIL(map.error().line());
  return std::move(*map);
}

/// Calls visit(map, its name, its number from 1 on) for each of Freedoom's maps (slow builds: some), or for
/// every stride-th of them. @return how many there are; 0 without Freedoom
template <typename Visit>
int each_freedoom_map(Visit&& visit, int stride = static_cast<int>(test::slowness)) {
  int number = 0;
  for (const WadStack& wads : freedoom())
    for (const std::string& name : map_names(wads)) {
      if (number++ % stride != 0) continue;
      CAPTURE(name);
      visit(must_read(wads, name), name, static_cast<std::uint64_t>(number));
    }
  return number;
}

/// The map that is built in.
inline SectorMap builtin_map() {
  auto map = parse_udmf(builtin_map_text());
  if (!map) FAIL(map.error().line());
  map->name = std::string(builtin_map_name);
  return std::move(*map);
}

inline std::shared_ptr<const PlacedMap> must_place(const SectorMap& map, const PlaceOptions& options = {}) {
  auto placed = place_map(map, options);
  if (!placed) FAIL(placed.error().line());
  return *placed;
}

/// Writes maps line by line; every line is a wall of the sector on its right.
struct MapWriter {
  SectorMap map;

  std::uint32_t sector(double floor, double ceiling, bool sky = false) {
    MapSector s;
    s.floor = floor, s.ceiling = ceiling;
    s.floor_flat = texture_name("FLAT1");
    s.ceiling_flat = sky ? sky_flat : texture_name("CEIL1");
    map.sectors.push_back(s);
    return static_cast<std::uint32_t>(map.sectors.size() - 1);
  }
  std::uint32_t vertex(DVec2 p) {
    for (std::uint32_t i = 0; i < map.vertices.size(); ++i)
      if (map.vertices[i] == p) return i;
    map.vertices.push_back(p);
    return static_cast<std::uint32_t>(map.vertices.size() - 1);
  }
  std::uint32_t side(std::uint32_t sector) {
    map.sides.push_back({sector, {}, {}, {}});
    return static_cast<std::uint32_t>(map.sides.size() - 1);
  }
  MapLine& line(DVec2 a, DVec2 b, std::uint32_t front, std::uint32_t back = no_index) {
    MapLine l;
    l.v1 = vertex(a), l.v2 = vertex(b);
    l.front = side(front);
    if (back != no_index) l.back = side(back), l.flags = line_flag::two_sided;
    map.lines.push_back(l);
    return map.lines.back();
  }
  /// A closed clockwise ring of walls around a sector (the inside is on the right hand).
  void ring(std::vector<DVec2> corners, std::uint32_t front, std::uint32_t back = no_index) {
    for (std::size_t i = 0; i < corners.size(); ++i)
      line(corners[i], corners[(i + 1) % corners.size()], front, back);
  }
};

/// A room of 512 x 384 units, floor 0, ceiling 128, with a step of 24, a block of 64, a low gate, a court, a
/// pillar and a fence: something of each kind of obstacle.
inline SectorMap obstacle_map() {
  MapWriter w;
  const auto room = w.sector(0, 128), step = w.sector(24, 128), block = w.sector(64, 128);
  const auto gate = w.sector(0, 40), court = w.sector(-32, 256, true);
  w.map.name = "OBSTACLES";
  // The room's outer walls; the right one opens into the court between y 128 and 256.
  w.line({0, 384}, {512, 384}, room);
  w.line({512, 384}, {512, 256}, room);
  w.line({512, 256}, {512, 128}, room, court);
  w.line({512, 128}, {512, 0}, room);
  w.line({512, 0}, {0, 0}, room);
  w.line({0, 0}, {0, 384}, room);
  w.line({512, 256}, {800, 320}, court);
  w.line({800, 320}, {800, 64}, court);
  w.line({800, 64}, {512, 128}, court);
  w.ring({{64, 64}, {64, 128}, {128, 128}, {128, 64}}, step, room);
  w.ring({{192, 64}, {192, 128}, {256, 160}, {256, 64}}, block, room);
  w.ring({{320, 64}, {320, 96}, {448, 96}, {448, 64}}, gate, room);
  w.ring({{240, 280}, {240, 240}, {260, 230}, {280, 240}, {280, 280}}, room);  // a pillar: void inside
  w.line({64, 300}, {160, 320}, room, room).flags |= line_flag::blocking;
  w.map.things.push_back({400, 300, 90, 1, 7});
  return w.map;
}

}  // namespace ashlar::testing
