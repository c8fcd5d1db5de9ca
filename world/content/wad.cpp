#include "world/content/wad.h"

#include <algorithm>

#include "world/content/bytes.h"
#include "world/math/ascii.h"

namespace ashlar {
namespace {

constexpr std::size_t header_bytes = 12;
constexpr std::size_t directory_entry_bytes = 16;

TextureName lump_name(std::span<const std::uint8_t> at) {
  TextureName out{};
  for (std::size_t i = 0; i < out.size() && at[i] != 0; ++i) out[i] = upper_ascii(static_cast<char>(at[i]));
  return out;
}

std::string printable(const TextureName& name) {
  std::string out;
  for (const char c : name) {
    if (c == 0) break;
    out += c > ' ' && c < 127 ? c : '?';
  }
  return out;
}

bool is_marker(const WadFile& wad, std::size_t index) {
  const auto lumps = wad.lumps();
  if (index + 1 >= lumps.size()) return false;
  const TextureName& next = lumps[index + 1].name;
  return next == texture_name("THINGS") || next == texture_name("TEXTMAP");
}

/// The lumps that may follow a binary map's marker; the first other name ends the map.
std::optional<std::size_t>* slot_of(MapLumps& map, const TextureName& name) {
  if (name == texture_name("THINGS")) return &map.things;
  if (name == texture_name("LINEDEFS")) return &map.linedefs;
  if (name == texture_name("SIDEDEFS")) return &map.sidedefs;
  if (name == texture_name("VERTEXES")) return &map.vertexes;
  if (name == texture_name("SEGS")) return &map.segs;
  if (name == texture_name("SSECTORS")) return &map.ssectors;
  if (name == texture_name("NODES")) return &map.nodes;
  if (name == texture_name("SECTORS")) return &map.sectors;
  if (name == texture_name("REJECT")) return &map.reject;
  if (name == texture_name("BLOCKMAP")) return &map.blockmap;
  if (name == texture_name("BEHAVIOR")) return &map.behavior;
  return nullptr;
}

void collect_binary(const WadFile& wad, MapLumps& map) {
  const auto lumps = wad.lumps();
  for (std::size_t i = map.marker + 1; i < lumps.size(); ++i) {
    std::optional<std::size_t>* slot = slot_of(map, lumps[i].name);
    if (slot == nullptr || slot->has_value()) break;
    *slot = i;
  }
}

void collect_text(const WadFile& wad, MapLumps& map) {
  const auto lumps = wad.lumps();
  for (std::size_t i = map.marker + 1; i < lumps.size(); ++i) {
    if (lumps[i].name == texture_name("ENDMAP")) return;
    if (lumps[i].name == texture_name("TEXTMAP")) map.textmap = i;
  }
}

}  // namespace

std::expected<WadFile, ContentError> open_wad(std::vector<std::uint8_t> bytes, std::string name) {
  const auto refuse = [&](std::string lump, std::string entry, std::string reason) {
    return std::unexpected(ContentError{name, std::move(lump), std::move(entry), std::move(reason)});
  };
  const std::span<const std::uint8_t> all(bytes);
  if (all.size() < header_bytes) return refuse("", "", "not a WAD: shorter than its 12 byte header");
  if ((all[0] != 'I' && all[0] != 'P') || all[1] != 'W' || all[2] != 'A' || all[3] != 'D')
    return refuse("", "", "not a WAD: it begins neither with IWAD nor with PWAD");
  if (all.size() > 0xffffffffu) return refuse("", "", "larger than 4 GiB");
  const std::uint64_t count = read_u32(all, 4);
  const std::uint64_t directory = read_u32(all, 8);
  if (directory > all.size() || count * directory_entry_bytes > all.size() - directory)
    return refuse("directory", "",
                  std::to_string(count) + " entries at byte " + std::to_string(directory) +
                      " do not fit into the file's " + std::to_string(all.size()) + " bytes; is it cut off?");

  WadFile wad;
  wad.lumps_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto entry = all.subspan(directory + i * directory_entry_bytes, directory_entry_bytes);
    WadFile::Lump lump;
    lump.offset = read_u32(entry, 0);
    lump.bytes = read_u32(entry, 4);
    lump.name = lump_name(entry.subspan(8, 8));
    if (lump.bytes == 0) lump.offset = 0;  // markers often carry any offset
    if (lump.offset > all.size() || lump.bytes > all.size() - lump.offset)
      return refuse("directory", "entry " + std::to_string(i) + " (" + printable(lump.name) + ")",
                    std::to_string(lump.bytes) + " bytes at " + std::to_string(lump.offset) +
                        " do not fit into the file's " + std::to_string(all.size()) + " bytes");
    wad.lumps_.push_back(lump);
  }
  wad.bytes_ = std::move(bytes);
  wad.name_ = std::move(name);
  return wad;
}

std::optional<MapLumps> find_map(const WadStack& wads, std::string_view map_name) {
  if (map_name.empty() || map_name.size() > 8) return std::nullopt;
  const TextureName wanted = texture_name(map_name);
  for (std::size_t f = wads.files.size(); f-- > 0;) {
    const WadFile& wad = wads.files[f];
    // The last of a name wins within a file too.
    for (std::size_t i = wad.lumps().size(); i-- > 0;) {
      if (wad.lumps()[i].name != wanted || !is_marker(wad, i)) continue;
      MapLumps map;
      map.file = f;
      map.marker = i;
      if (wad.lumps()[i + 1].name == texture_name("TEXTMAP"))
        collect_text(wad, map);
      else
        collect_binary(wad, map);
      return map;
    }
  }
  return std::nullopt;
}

std::vector<std::string> map_names(const WadStack& wads) {
  std::vector<std::string> names;
  for (const WadFile& wad : wads.files)
    for (std::size_t i = 0; i < wad.lumps().size(); ++i)
      if (is_marker(wad, i)) names.push_back(printable(wad.lumps()[i].name));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace ashlar
