#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "world/voxel/terrain.h"

// What --draw-terrain shows: the ground from above, and a cut through it.

namespace ashlar::server {

inline constexpr std::int32_t draw_radius_min = 16, draw_radius_max = 16'384;

/// A square of ground.
struct TerrainView {
  std::int32_t x = 0, y = 0;  ///< its middle, blocks
  std::int32_t radius = 256;  ///< draw_radius_min to draw_radius_max
  bool ores = false;          ///< show them in the cut
};

/// "x,y,r" as --draw-terrain takes it. @return or one line that says what is wrong with it
std::expected<TerrainView, std::string> parse_terrain_view(std::string_view text);

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
};

/// What a kind of block looks like from afar; grey where nobody has said so.
Colour block_colour(BlockId id);

/// Pixels row by row from the top left.
struct Picture {
  std::int32_t width = 0, height = 0;
  std::vector<Colour> pixels;
  Colour& at(std::int32_t x, std::int32_t y) { return pixels[static_cast<std::size_t>(y * width + x)]; }
};

/// The ground from above, north up, light from the north-west, waters deeper the darker; a yellow line marks
/// the cut, which lies below it: through the middle from west to east, as high as the columns are. At most
/// 512 blocks around the middle it shows every block, trees included, else the surface at each pixel. Cost:
/// up to some ten seconds.
Picture draw_terrain(const Terrain& terrain, const TerrainView& view);

/// As a PNG file.
std::vector<std::uint8_t> png_of(const Picture& picture);
/// As an SVG file that holds the PNG, with a scale, heights along the cut and what it shows beside it.
std::string svg_of(const Picture& picture, const Terrain& terrain, const TerrainView& view);

}  // namespace ashlar::server
