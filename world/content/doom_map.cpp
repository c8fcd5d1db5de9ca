#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "world/content/bytes.h"
#include "world/content/map_check.h"
#include "world/content/udmf.h"
#include "world/content/wad.h"
#include "world/math/ascii.h"

// Doom's and Doom II's binary map lumps. Record layouts: Matt Fell, "The Unofficial Doom Specs" 1.666.

namespace ashlar {
namespace {

constexpr std::size_t vertex_bytes = 4;
constexpr std::size_t line_bytes = 14;
constexpr std::size_t side_bytes = 30;
constexpr std::size_t sector_bytes = 26;
constexpr std::size_t thing_bytes = 10;

using Bytes = std::span<const std::uint8_t>;

TextureName name_at(Bytes bytes, std::size_t at) {
  char text[8];
  std::size_t n = 0;
  for (; n < 8 && bytes[at + n] != 0; ++n) text[n] = static_cast<char>(bytes[at + n]);
  return texture_name(std::string_view(text, n));
}

/// A lump's name as a message may show it.
std::string lump_text(const TextureName& name) {
  std::string out;
  for (std::size_t i = 0; i < name.size() && name[i] != 0; ++i)
    out += name[i] > ' ' && name[i] < 127 ? name[i] : '?';
  return out;
}

class DoomMapReader {
 public:
  DoomMapReader(const WadFile& wad, std::string map_name)
      : wad_(wad), source_(wad.name() + " " + std::move(map_name)) {}

  /// The records of a lump, or false with error_ set.
  bool open(std::size_t lump, const char* name, std::size_t record) {
    bytes_ = wad_.bytes(lump);
    if (bytes_.size() % record != 0)
      return fail(name, "",
                  std::to_string(bytes_.size()) + " bytes are no multiple of " + std::to_string(record));
    count_ = bytes_.size() / record;
    return true;
  }
  bool fail(std::string lump, std::string entry, std::string reason) {
    error_ = ContentError{source_, std::move(lump), std::move(entry), std::move(reason)};
    return false;
  }

  /// Names the first lump of a map, in the order of the directory, that is not there, and what is there
  /// instead: it hides those behind it.
  bool fail_missing(const MapLumps& lumps) {
    const std::pair<std::optional<std::size_t>, const char*> order[] = {
        {lumps.things, "THINGS"},     {lumps.linedefs, "LINEDEFS"}, {lumps.sidedefs, "SIDEDEFS"},
        {lumps.vertexes, "VERTEXES"}, {lumps.segs, "SEGS"},         {lumps.ssectors, "SSECTORS"},
        {lumps.nodes, "NODES"},       {lumps.sectors, "SECTORS"}};
    std::size_t at = lumps.marker + 1;
    for (const auto& [lump, name] : order) {
      if (lump) {
        at = std::max(at, *lump + 1);
        continue;
      }
      const auto all = wad_.lumps();
      const auto is = [&](std::size_t index, const char* other) {
        return index < all.size() && all[index].name == texture_name(other);
      };
      const bool known = std::ranges::any_of(order, [&](const auto& one) { return is(at, one.second); });
      const std::string there = at < all.size() && !known ? lump_text(all[at].name) : "";
      // A map may lack these three, together: only what follows tells that the first has another name.
      const bool no_nodes = name == std::string_view("SEGS") && !is(at + 1, "SSECTORS") && !lumps.ssectors;
      return fail(no_nodes ? "SECTORS" : name, "",
                  "is missing from the map" + (there.empty() ? "" : ": " + there + " stands in its place"));
    }
    return false;
  }

  bool read(const MapLumps& lumps, SectorMap& map);
  ContentError error_;

 private:
  const WadFile& wad_;
  std::string source_;
  Bytes bytes_;
  std::size_t count_ = 0;
};

bool DoomMapReader::read(const MapLumps& lumps, SectorMap& map) {
  if (!lumps.things || !lumps.linedefs || !lumps.sidedefs || !lumps.vertexes || !lumps.sectors)
    return fail_missing(lumps);

  if (!open(*lumps.vertexes, "VERTEXES", vertex_bytes)) return false;
  for (std::size_t i = 0; i < count_; ++i)
    map.vertices.push_back({static_cast<double>(read_i16(bytes_, i * vertex_bytes)),
                            static_cast<double>(read_i16(bytes_, i * vertex_bytes + 2))});

  if (!open(*lumps.sectors, "SECTORS", sector_bytes)) return false;
  for (std::size_t i = 0; i < count_; ++i) {
    const Bytes r = bytes_.subspan(i * sector_bytes, sector_bytes);
    MapSector s;
    s.floor = static_cast<double>(read_i16(r, 0));
    s.ceiling = static_cast<double>(read_i16(r, 2));
    s.floor_flat = name_at(r, 4);
    s.ceiling_flat = name_at(r, 12);
    s.light = read_i16(r, 20);
    s.special = read_u16(r, 22);
    s.tag = read_u16(r, 24);
    map.sectors.push_back(s);
  }

  if (!open(*lumps.sidedefs, "SIDEDEFS", side_bytes)) return false;
  for (std::size_t i = 0; i < count_; ++i) {
    const Bytes r = bytes_.subspan(i * side_bytes, side_bytes);
    map.sides.push_back({read_u16(r, 28), name_at(r, 4), name_at(r, 12), name_at(r, 20)});
  }

  if (!open(*lumps.linedefs, "LINEDEFS", line_bytes)) return false;
  const auto side_index = [](std::uint16_t v) { return v == 0xffff ? no_index : std::uint32_t{v}; };
  for (std::size_t i = 0; i < count_; ++i) {
    const Bytes r = bytes_.subspan(i * line_bytes, line_bytes);
    MapLine l;
    l.v1 = read_u16(r, 0);
    l.v2 = read_u16(r, 2);
    l.flags = read_u16(r, 4);
    l.special = read_u16(r, 6);
    l.tag = read_u16(r, 8);
    l.front = side_index(read_u16(r, 10));
    l.back = side_index(read_u16(r, 12));
    map.lines.push_back(l);
  }

  if (!open(*lumps.things, "THINGS", thing_bytes)) return false;
  for (std::size_t i = 0; i < count_; ++i) {
    const Bytes r = bytes_.subspan(i * thing_bytes, thing_bytes);
    map.things.push_back({static_cast<double>(read_i16(r, 0)), static_cast<double>(read_i16(r, 2)),
                          read_i16(r, 4), read_u16(r, 6), read_u16(r, 8)});
  }

  const MapRecordNames names{"VERTEXES", "LINEDEFS", "SIDEDEFS", "SECTORS", "THINGS"};
  if (auto wrong = check_map(map, names)) {
    wrong->source = source_;
    error_ = *wrong;
    return false;
  }
  return true;
}

}  // namespace

std::expected<SectorMap, ContentError> read_map(const WadStack& wads, std::string_view map_name) {
  const auto lumps = find_map(wads, map_name);
  if (!lumps) {
    std::string files;
    for (const WadFile& wad : wads.files) files += (files.empty() ? "" : "+") + wad.name();
    const auto names = map_names(wads);
    std::string there;
    for (std::size_t i = 0; i < names.size() && i < 8; ++i) there += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > 8) there += ", ... " + names.back();
    return std::unexpected(
        ContentError{files, "", "",
                     "has no map " + std::string(map_name.substr(0, 32)) +
                         (names.empty() ? std::string("; it holds no maps at all") : "; it has " + there)});
  }
  const WadFile& wad = wads.files[lumps->file];
  const std::string name = upper_ascii(map_name);

  if (lumps->textmap) {
    const auto bytes = wad.bytes(*lumps->textmap);
    auto map = parse_udmf({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!map) {
      map.error().source = wad.name() + " " + name;
      return std::unexpected(map.error());
    }
    map->name = name;
    return map;
  }
  if (lumps->behavior)
    return std::unexpected(ContentError{wad.name() + " " + name, "BEHAVIOR", "",
                                        "the map is in Hexen's binary format; save it as UDMF"});
  SectorMap map;
  map.name = name;
  DoomMapReader reader(wad, name);
  if (!reader.read(*lumps, map)) return std::unexpected(reader.error_);
  return map;
}

}  // namespace ashlar
