#include "protocol/content/map_layout.h"

#include <algorithm>
#include <limits>

#include "protocol/content/columns.h"
#include "protocol/messages.h"
#include "protocol/text.h"
#include "world/content/map_check.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

namespace place_flag {
constexpr std::uint8_t doors_open = 1, doorway = 2, zdoom = 4, known = 7;
}

constexpr std::int64_t u16_max = 0xffff, u32_max = 0xffffffff;
constexpr std::size_t line_args = std::tuple_size_v<decltype(MapLine::args)>;

void write_sectors(ByteWriter& w, const SectorMap& map) {
  std::vector<TextureName> flats;
  flats.reserve(map.sectors.size());
  for (const MapSector& s : map.sectors) flats.push_back(s.floor_flat);
  std::sort(flats.begin(), flats.end());
  flats.erase(std::unique(flats.begin(), flats.end()), flats.end());
  w.varint(flats.size());
  for (const TextureName& flat : flats)
    for (const char c : flat) w.u8(static_cast<std::uint8_t>(c));
  w.varint(map.sectors.size());
  write_numbers(w, map.sectors, [](const MapSector& s) { return s.floor; });
  write_numbers(w, map.sectors, [](const MapSector& s) { return s.ceiling; });
  write_column(w, map.sectors, [&](const MapSector& s) {
    return std::lower_bound(flats.begin(), flats.end(), s.floor_flat) - flats.begin();
  });
  write_column(w, map.sectors, [](const MapSector& s) { return s.sky() ? 1 : 0; });
  write_column(w, map.sectors, [](const MapSector& s) { return s.special; });
  write_column(w, map.sectors, [](const MapSector& s) { return s.tag; });
}

void write_lines(ByteWriter& w, const SectorMap& map) {
  const auto difference = [](std::uint32_t a, std::uint32_t b) { return std::int64_t{a} - std::int64_t{b}; };
  w.varint(map.lines.size());
  write_column(w, map.lines, [](const MapLine& l) { return l.v1; });
  write_column(w, map.lines, [&](const MapLine& l) { return difference(l.v2, l.v1); });
  write_column(w, map.lines, [](const MapLine& l) { return l.front; });
  write_column(w, map.lines, [](const MapLine& l) { return l.back != no_index ? 1 : 0; });
  write_column(w, map.lines,
               [&](const MapLine& l) { return l.back != no_index ? difference(l.back, l.front) : 0; });
  write_column(w, map.lines, [](const MapLine& l) { return l.flags; });
  write_column(w, map.lines, [](const MapLine& l) { return l.special; });
  write_column(w, map.lines, [](const MapLine& l) { return l.tag; });
  for (const MapLine& l : map.lines) {
    std::uint8_t bits = 0;
    for (std::size_t i = 0; i < line_args; ++i)
      if (l.args[i] != 0) bits = static_cast<std::uint8_t>(bits | 1u << i);
    w.u8(bits);
  }
  for (const MapLine& l : map.lines)
    for (const std::int32_t arg : l.args)
      if (arg != 0) w.svarint(arg);
}

bool read_sectors(ByteReader& r, SectorMap& map) {
  std::size_t count = 0;
  if (!read_count(r, 8, map_records_max, count)) return false;
  std::vector<TextureName> flats(count);
  for (TextureName& flat : flats)
    for (char& c : flat) c = static_cast<char>(r.u8());
  if (!read_count(r, 6, map_records_max, count)) return false;
  map.sectors.resize(count);
  if (count > 0 && flats.empty()) return false;
  const auto last_flat = static_cast<std::int64_t>(flats.size()) - 1;
  return read_numbers(r, map.sectors, [](MapSector& s, double v) { s.floor = v; }) &&
         read_numbers(r, map.sectors, [](MapSector& s, double v) { s.ceiling = v; }) &&
         read_column(
             r, map.sectors, 0, std::max<std::int64_t>(last_flat, 0),
             [&](MapSector& s, std::int64_t v) { s.floor_flat = flats[static_cast<std::size_t>(v)]; }) &&
         read_column(
             r, map.sectors, 0, 1,
             [](MapSector& s, std::int64_t v) { s.ceiling_flat = v != 0 ? sky_flat : TextureName{}; }) &&
         read_column(r, map.sectors, 0, u16_max,
                     [](MapSector& s, std::int64_t v) { s.special = static_cast<std::uint16_t>(v); }) &&
         read_column(r, map.sectors, 0, u16_max,
                     [](MapSector& s, std::int64_t v) { s.tag = static_cast<std::uint16_t>(v); });
}

bool read_args(ByteReader& r, std::vector<MapLine>& lines) {
  std::vector<std::uint8_t> bits(lines.size());
  for (std::uint8_t& b : bits)
    if ((b = r.u8()) >= 1u << line_args) return false;
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (std::size_t a = 0; a < line_args; ++a) {
      if ((bits[i] >> a & 1) == 0) continue;
      const std::int64_t v = r.svarint();
      using Arg = std::numeric_limits<std::int32_t>;
      if (v < Arg::min() || v > Arg::max()) return false;
      lines[i].args[a] = static_cast<std::int32_t>(v);
    }
  return r.ok();
}

bool read_lines(ByteReader& r, SectorMap& map) {
  std::size_t count = 0;
  if (!read_count(r, 9, map_records_max, count)) return false;
  map.lines.resize(count);
  // Below no_index: sums of two cannot leave 64 bits, and check_map holds them against the lists.
  constexpr std::int64_t most = u32_max - 1;
  bool in_range = true;
  const auto index = [&](std::int64_t v) {
    in_range = in_range && v >= 0 && v <= most;
    return static_cast<std::uint32_t>(v);
  };
  const bool read =
      read_column(r, map.lines, 0, most, [&](MapLine& l, std::int64_t v) { l.v1 = index(v); }) &&
      read_column(r, map.lines, -most, most, [&](MapLine& l, std::int64_t v) { l.v2 = index(l.v1 + v); }) &&
      read_column(r, map.lines, 0, most, [&](MapLine& l, std::int64_t v) { l.front = index(v); }) &&
      read_column(r, map.lines, 0, 1, [](MapLine& l, std::int64_t v) { l.back = v != 0 ? 0 : no_index; }) &&
      read_column(r, map.lines, -most, most,
                  [&](MapLine& l, std::int64_t v) {
                    if (l.back != no_index) l.back = index(l.front + v);
                  }) &&
      read_column(r, map.lines, 0, u32_max,
                  [](MapLine& l, std::int64_t v) { l.flags = static_cast<std::uint32_t>(v); }) &&
      read_column(r, map.lines, 0, u16_max,
                  [](MapLine& l, std::int64_t v) { l.special = static_cast<std::uint16_t>(v); }) &&
      read_column(r, map.lines, 0, u16_max,
                  [](MapLine& l, std::int64_t v) { l.tag = static_cast<std::uint16_t>(v); });
  return read && in_range && read_args(r, map.lines);
}

bool read_things(ByteReader& r, SectorMap& map) {
  std::size_t count = 0;
  if (!read_count(r, 5, map_records_max, count)) return false;
  map.things.resize(count);
  using Angle = std::numeric_limits<std::int16_t>;
  return read_numbers(r, map.things, [](MapThing& t, double v) { t.x = v; }) &&
         read_numbers(r, map.things, [](MapThing& t, double v) { t.y = v; }) &&
         read_column(r, map.things, Angle::min(), Angle::max(),
                     [](MapThing& t, std::int64_t v) { t.angle_deg = static_cast<std::int16_t>(v); }) &&
         read_column(r, map.things, 0, u16_max,
                     [](MapThing& t, std::int64_t v) { t.type = static_cast<std::uint16_t>(v); }) &&
         read_column(r, map.things, 0, u16_max,
                     [](MapThing& t, std::int64_t v) { t.flags = static_cast<std::uint16_t>(v); });
}

bool read_head(ByteReader& r, MapContent& out) {
  out.options.name = r.text(map_name_bytes_max);
  if (!valid_text(out.options.name, 1, map_name_bytes_max)) return false;
  out.map.name = out.options.name;
  const std::uint8_t flags = r.u8();
  if ((flags & ~place_flag::known) != 0) return false;
  out.options.doors_open = (flags & place_flag::doors_open) != 0;
  out.options.doorway = (flags & place_flag::doorway) != 0;
  out.map.specials = (flags & place_flag::zdoom) != 0 ? SpecialNumbers::zdoom : SpecialNumbers::doom;
  for (std::int32_t* number :
       {&out.options.origin_block.x, &out.options.origin_block.y, &out.options.surface_z}) {
    const std::int64_t v = r.svarint();
    if (v < std::numeric_limits<std::int32_t>::min() || v > std::numeric_limits<std::int32_t>::max())
      return false;
    *number = static_cast<std::int32_t>(v);
  }
  return r.ok();
}

bool read_vertices(ByteReader& r, SectorMap& map) {
  std::size_t count = 0;
  if (!read_count(r, 2, map_records_max, count)) return false;
  map.vertices.resize(count);
  return read_numbers(r, map.vertices, [](DVec2& p, double v) { p.x = v; }) &&
         read_numbers(r, map.vertices, [](DVec2& p, double v) { p.y = v; });
}

bool read_sides(ByteReader& r, SectorMap& map) {
  std::size_t count = 0;
  if (!read_count(r, 1, map_records_max, count)) return false;
  map.sides.resize(count);
  return read_column(r, map.sides, 0, u32_max,
                     [](MapSide& s, std::int64_t v) { s.sector = static_cast<std::uint32_t>(v); });
}

}  // namespace

std::expected<std::vector<std::uint8_t>, std::string> lay_out(const PlacedMap& placed) {
  const SectorMap map = placed.drawn();
  const PlaceOptions& options = placed.options();
  if (!valid_text(placed.name(), 1, map_name_bytes_max))
    return std::unexpected("its name is not one of 1 to " + std::to_string(map_name_bytes_max) + " bytes");
  std::vector<std::uint8_t> out;
  ByteWriter w(out);
  w.text(placed.name());
  w.u8(static_cast<std::uint8_t>((options.doors_open ? place_flag::doors_open : 0) |
                                 (options.doorway ? place_flag::doorway : 0) |
                                 (map.specials == SpecialNumbers::zdoom ? place_flag::zdoom : 0)));
  w.svarint(options.origin_block.x), w.svarint(options.origin_block.y), w.svarint(options.surface_z);
  w.varint(map.vertices.size());
  write_numbers(w, map.vertices, [](const DVec2& v) { return v.x; });
  write_numbers(w, map.vertices, [](const DVec2& v) { return v.y; });
  write_sectors(w, map);
  w.varint(map.sides.size());
  write_column(w, map.sides, [](const MapSide& s) { return s.sector; });
  write_lines(w, map);
  w.varint(map.things.size());
  write_numbers(w, map.things, [](const MapThing& t) { return t.x; });
  write_numbers(w, map.things, [](const MapThing& t) { return t.y; });
  write_column(w, map.things, [](const MapThing& t) { return t.angle_deg; });
  write_column(w, map.things, [](const MapThing& t) { return t.type; });
  write_column(w, map.things, [](const MapThing& t) { return t.flags; });
  return out;
}

std::expected<MapContent, std::string> read_map_layout(std::span<const std::uint8_t> layout) {
  ByteReader r(layout);
  MapContent out;
  const bool read = read_head(r, out) && read_vertices(r, out.map) && read_sectors(r, out.map) &&
                    read_sides(r, out.map) && read_lines(r, out.map) && read_things(r, out.map);
  if (!read || !r.ok()) return std::unexpected("its map ends early, or holds what no map may");
  if (!r.at_end()) return std::unexpected("something is behind its map");
  if (auto wrong = check_map(out.map, {"vertices", "lines", "sides", "sectors", "things"}))
    return std::unexpected("its map is wrong: " + wrong->line());
  return out;
}

}  // namespace ashlar
