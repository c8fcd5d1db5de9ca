#include "world/content/map_check.h"

#include <cmath>

namespace ashlar {
namespace {

bool within(double v) { return std::fabs(v) <= map_coordinate_max; }  // false for NaN too

ContentError out_of_range(const char* lump, std::size_t i, const char* what, std::uint32_t index,
                          std::size_t count) {
  return {"", lump, entry(i),
          std::string(what) + " " + std::to_string(index) + " is not there, the map has " +
              std::to_string(count)};
}

}  // namespace

std::optional<ContentError> check_map(const SectorMap& map, const MapRecordNames& names) {
  const auto too_many = [](const char* lump, std::size_t count) {
    return ContentError{
        "", lump, "",
        std::to_string(count) + " entries, more than the limit of " + std::to_string(map_records_max)};
  };
  if (map.vertices.size() > map_records_max) return too_many(names.vertices, map.vertices.size());
  if (map.lines.size() > map_records_max) return too_many(names.lines, map.lines.size());
  if (map.sides.size() > map_records_max) return too_many(names.sides, map.sides.size());
  if (map.sectors.size() > map_records_max) return too_many(names.sectors, map.sectors.size());
  if (map.things.size() > map_records_max) return too_many(names.things, map.things.size());
  if (map.lines.empty()) return ContentError{"", names.lines, "", "the map has no lines"};
  if (map.sectors.empty()) return ContentError{"", names.sectors, "", "the map has no sectors"};

  for (std::size_t i = 0; i < map.vertices.size(); ++i)
    if (!within(map.vertices[i].x) || !within(map.vertices[i].y))
      return ContentError{"", names.vertices, entry(i), "a coordinate beyond 65536 units"};
  for (std::size_t i = 0; i < map.sectors.size(); ++i)
    if (!within(map.sectors[i].floor) || !within(map.sectors[i].ceiling))
      return ContentError{"", names.sectors, entry(i), "a height beyond 65536 units"};
  for (std::size_t i = 0; i < map.sides.size(); ++i)
    if (map.sides[i].sector >= map.sectors.size())
      return out_of_range(names.sides, i, "sector", map.sides[i].sector, map.sectors.size());
  for (std::size_t i = 0; i < map.lines.size(); ++i) {
    const MapLine& line = map.lines[i];
    for (const std::uint32_t v : {line.v1, line.v2})
      if (v >= map.vertices.size()) return out_of_range(names.lines, i, "vertex", v, map.vertices.size());
    if (line.front == no_index) return ContentError{"", names.lines, entry(i), "has no front side"};
    if (line.front >= map.sides.size())
      return out_of_range(names.lines, i, "side", line.front, map.sides.size());
    if (line.back != no_index && line.back >= map.sides.size())
      return out_of_range(names.lines, i, "side", line.back, map.sides.size());
  }
  for (std::size_t i = 0; i < map.things.size(); ++i)
    if (!within(map.things[i].x) || !within(map.things[i].y))
      return ContentError{"", names.things, entry(i), "a coordinate beyond 65536 units"};
  return std::nullopt;
}

}  // namespace ashlar
