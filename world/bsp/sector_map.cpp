#include "world/bsp/sector_map.h"

#include <algorithm>

#include "world/math/hash.h"

namespace ashlar {

MapBounds bounds_of(const SectorMap& map) {
  MapBounds b{};
  bool any = false;
  for (const MapLine& line : map.lines) {
    for (const std::uint32_t v : {line.v1, line.v2}) {
      const DVec2 p = map.vertices[v];
      if (!any) b = {p, p};
      any = true;
      b.min = {std::min(b.min.x, p.x), std::min(b.min.y, p.y)};
      b.max = {std::max(b.max.x, p.x), std::max(b.max.y, p.y)};
    }
  }
  return b;
}

std::uint64_t content_hash(const SectorMap& map) {
  Hasher h;
  const auto add = [&h](auto v) { h.add(static_cast<std::uint64_t>(v)); };
  add(map.specials);
  add(map.vertices.size());
  for (const DVec2 v : map.vertices) h.add(v.x), h.add(v.y);
  add(map.sectors.size());
  for (const MapSector& s : map.sectors) {
    h.add(s.floor), h.add(s.ceiling);
    add(s.sky() ? 1 : 0), add(s.special), add(s.tag);
    std::uint64_t flat = 0;
    for (const char c : s.floor_flat) flat = flat << 8 | static_cast<std::uint8_t>(c);
    add(flat);
  }
  add(map.sides.size());
  for (const MapSide& s : map.sides) add(s.sector);
  add(map.lines.size());
  for (const MapLine& l : map.lines) {
    add(l.v1), add(l.v2), add(l.front), add(l.back), add(l.flags), add(l.special), add(l.tag);
    for (const std::int32_t a : l.args) add(a);
  }
  add(map.things.size());
  for (const MapThing& t : map.things) {
    h.add(t.x), h.add(t.y);
    add(t.angle_deg), add(t.type), add(t.flags);
  }
  return h.value();
}

}  // namespace ashlar
