#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "world/bsp/sector_map.h"
#include "world/content/content_error.h"

// Doom WAD files: a directory of named lumps. Every offset, size and count is checked before use.

namespace ashlar {

/// One WAD, whole in memory. Immutable once opened.
class WadFile {
 public:
  struct Lump {
    TextureName name{};
    std::uint32_t offset = 0, bytes = 0;
  };

  const std::string& name() const { return name_; }       ///< what errors call the file
  std::span<const Lump> lumps() const { return lumps_; }  ///< in the directory's order
  /// Bytes of a lump. Precondition: index < lumps().size().
  std::span<const std::uint8_t> bytes(std::size_t index) const {
    return std::span(bytes_).subspan(lumps_[index].offset, lumps_[index].bytes);
  }

 private:
  friend std::expected<WadFile, ContentError> open_wad(std::vector<std::uint8_t> bytes, std::string name);
  std::string name_;
  std::vector<std::uint8_t> bytes_;
  std::vector<Lump> lumps_;
};

/// Checks header and directory and takes the bytes over. `name` is what errors call the file.
/// Refused: no WAD header, more than 4 GiB, a directory or a lump that leaves the file.
std::expected<WadFile, ContentError> open_wad(std::vector<std::uint8_t> bytes, std::string name);

/// Files in the order of loading: a map in a later one replaces that of an earlier one.
struct WadStack {
  std::vector<WadFile> files;
};

/// Where a map's lumps are: its marker and what follows it, in one file. Trees and tables that node builders
/// made (segs, ssectors, nodes, reject, blockmap) are found, but nothing but a benchmark reads them: we build
/// our own.
struct MapLumps {
  std::size_t file = 0;
  std::size_t marker = 0;  ///< lump index of the marker
  std::optional<std::size_t> things, linedefs, sidedefs, vertexes, segs, ssectors, nodes, sectors, reject,
      blockmap, behavior;
  std::optional<std::size_t> textmap;  ///< UDMF
};

/// Finds a map by its marker ("MAP01", "E1M1"; case does not matter), the last file first.
std::optional<MapLumps> find_map(const WadStack& wads, std::string_view map_name);

/// Names of all maps in the stack, sorted, each once.
std::vector<std::string> map_names(const WadStack& wads);

/// Reads and checks a map: binary Doom and Doom II, or UDMF text.
/// Refused: missing lumps (the error lists the maps there are), Hexen's binary format, bad sizes and indices.
std::expected<SectorMap, ContentError> read_map(const WadStack& wads, std::string_view map_name);

}  // namespace ashlar
