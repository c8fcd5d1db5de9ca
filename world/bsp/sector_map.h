#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "world/math/ascii.h"
#include "world/math/vec.h"

// Source geometry of a sector map, as an editor wrote it: plain arrays in map units (32 to a metre, x east,
// y north, z up). Readers fill it (world/content), the node builder compiles it, placement puts it in a
// world.

namespace ashlar {

inline constexpr double map_units_per_m = 32.0;
inline constexpr double map_unit_m = 1.0 / map_units_per_m;
inline constexpr double doom_tic_hz =
    35;  ///< steps a second in which the classic game states its speeds and waits
inline constexpr std::uint32_t no_index = 0xffffffffu;

/// Name of a texture or flat: upper case, padded with zeros.
using TextureName = std::array<char, 8>;

/// A name from text; longer text is cut.
constexpr TextureName texture_name(std::string_view text) {
  TextureName out{};
  for (std::size_t i = 0; i < text.size() && i < out.size(); ++i) out[i] = upper_ascii(text[i]);
  return out;
}

inline constexpr TextureName sky_flat = texture_name("F_SKY1");

namespace line_flag {
inline constexpr std::uint32_t blocking = 1;        ///< players and monsters do not cross it
inline constexpr std::uint32_t block_monsters = 2;  ///< monsters do not cross it
inline constexpr std::uint32_t two_sided = 4;       ///< as the editor said; queries look at the sides
inline constexpr std::uint32_t upper_unpegged = 8;
inline constexpr std::uint32_t lower_unpegged = 16;
inline constexpr std::uint32_t secret = 32;
inline constexpr std::uint32_t block_sound = 64;
inline constexpr std::uint32_t hidden = 128;
inline constexpr std::uint32_t mapped = 256;
}  // namespace line_flag

namespace thing_flag {
inline constexpr std::uint16_t easy = 1;
inline constexpr std::uint16_t medium = 2;
inline constexpr std::uint16_t hard = 4;
inline constexpr std::uint16_t deaf = 8;
inline constexpr std::uint16_t multiplayer_only =
    16;                                               ///< not where one plays alone: every server is for more
inline constexpr std::uint16_t not_deathmatch = 32;   ///< Boom's, and teams' too
inline constexpr std::uint16_t not_cooperative = 64;  ///< Boom's, and the sandbox's too
/// Boom's mark for editors that set all bits that they do not know: then those above 16 mean nothing.
inline constexpr std::uint16_t no_boom_bits = 256;
}  // namespace thing_flag

/// A line from v1 to v2. Its front is on the right hand of that direction.
struct MapLine {
  std::uint32_t v1 = 0, v2 = 0;
  std::uint32_t front = no_index;  ///< side index; a checked map always has it
  std::uint32_t back = no_index;   ///< side index, or no_index: void behind
  std::uint32_t flags = 0;
  std::uint16_t special = 0;
  std::uint16_t tag = 0;
  std::array<std::int32_t, 5> args{};  ///< UDMF only
  friend bool operator==(const MapLine&, const MapLine&) = default;
};

/// What borders a line on one side: a sector, and textures, which nothing here depends on.
struct MapSide {
  std::uint32_t sector = 0;
  TextureName upper{}, lower{}, middle{};
  friend bool operator==(const MapSide&, const MapSide&) = default;
};

/// A part of the plane with one floor and one ceiling, as drawn: placement and play move them elsewhere
/// (heights.h).
struct MapSector {
  double floor = 0, ceiling = 0;
  TextureName floor_flat{}, ceiling_flat{};
  std::int16_t light = 160;
  std::uint16_t special = 0;
  std::uint16_t tag = 0;
  friend bool operator==(const MapSector&, const MapSector&) = default;
  /// Open to the roof and above: a court or a pit.
  bool sky() const { return ceiling_flat == sky_flat; }
};

/// A start, monster, pickup or decoration. It has no height: it stands on its sector's floor.
struct MapThing {
  double x = 0, y = 0;
  std::int16_t angle_deg = 0;  ///< counter-clockwise from east
  std::uint16_t type = 0;      ///< editor number
  std::uint16_t flags = 0;     ///< thing_flag
  friend bool operator==(const MapThing&, const MapThing&) = default;
};

/// Whose numbers line specials are: Doom's own, or the later ones with arguments (UDMF namespace "zdoom").
enum class SpecialNumbers : std::uint8_t { doom, zdoom };

/// Checked source geometry: every index is in range, every coordinate is finite and |v| <= 65536.
struct SectorMap {
  std::string name;
  SpecialNumbers specials = SpecialNumbers::doom;
  std::vector<DVec2> vertices;
  std::vector<MapLine> lines;
  std::vector<MapSide> sides;
  std::vector<MapSector> sectors;
  std::vector<MapThing> things;

  /// Sector in front of or behind a line; no_index where there is void.
  std::uint32_t front_sector(const MapLine& line) const {
    return line.front == no_index ? no_index : sides[line.front].sector;
  }
  std::uint32_t back_sector(const MapLine& line) const {
    return line.back == no_index ? no_index : sides[line.back].sector;
  }
};

/// Bounds over the vertices that lines use; {0,0},{0,0} for a map without lines.
struct MapBounds {
  DVec2 min, max;
};
MapBounds bounds_of(const SectorMap& map);

/// A hash over the fields that shape the world: geometry, flags, specials, things. Of textures and flats
/// those that mean something count: sky, and the floors' flats, along which staircases rise. Same map, same
/// value on every build.
std::uint64_t content_hash(const SectorMap& map);

}  // namespace ashlar
