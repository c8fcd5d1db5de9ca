#include "server/tools/draw_terrain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "world/math/assert.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

constexpr std::int32_t map_px_max = 1024;
constexpr std::int32_t gap_px = 4;
constexpr Colour sky{196, 220, 240}, hollow_air{30, 28, 34}, cut_line{250, 220, 60}, paper{255, 255, 255};
constexpr Colour shallow{82, 150, 196}, deep{20, 52, 104};

constexpr std::array<Colour, block_id_count> block_colours{{
    {0, 0, 0},        // air
    {128, 126, 122},  // stone
    {122, 92, 62},    // dirt
    {104, 158, 70},   // grass
    {222, 206, 150},  // sand
    {150, 144, 138},  // gravel
    {98, 72, 42},     // wood
    {52, 112, 42},    // leaves
    {160, 80, 64},    // brick
    {200, 230, 236},  // glass
    {50, 104, 166},   // water
    {240, 244, 250},  // snow
    {164, 160, 172},  // clay
    {204, 176, 112},  // sandstone
    {76, 54, 36},     // pine_wood
    {34, 82, 56},     // pine_needles
    {214, 210, 198},  // birch_wood
    {124, 166, 66},   // birch_leaves
    {34, 34, 36},     // coal_ore
    {206, 140, 100},  // iron_ore
    {244, 206, 56},   // gold_ore
    {96, 226, 232},   // crystal_ore
}};

Colour colour_of(BlockId id) { return block_colours[static_cast<std::size_t>(id)]; }

std::uint8_t to_byte(double v) { return static_cast<std::uint8_t>(std::clamp(v, 0.0, 255.0)); }

Colour lit(Colour c, double light) {
  return {to_byte(c.red * light), to_byte(c.green * light), to_byte(c.blue * light)};
}

Colour blend(Colour a, Colour b, double t) {
  const auto of = [t](std::uint8_t p, std::uint8_t q) { return to_byte(p + (q - p) * t); };
  return {of(a.red, b.red), of(a.green, b.green), of(a.blue, b.blue)};
}

bool is_ore(BlockId id) { return id >= BlockId::coal_ore && id <= BlockId::crystal_ore; }

/// What one sees of a column from above.
struct Sight {
  BlockId block = BlockId::air;
  std::int32_t height = 0;  ///< of the ground's or the tree's top
  std::int32_t water = 0;   ///< blocks of it above
};

/// Every block of the square, a column of chunks at a time.
void look_at_blocks(const Terrain& terrain, IVec2 low, std::int32_t size, std::vector<Sight>& sights) {
  const ColumnSpan span = column_span(terrain.kind);
  const ChunkCoord first = chunk_of({low.x, low.y, 0}),
                   last = chunk_of({low.x + size - 1, low.y + size - 1, 0});
  for (std::int32_t cy = first.y; cy <= last.y; ++cy)
    for (std::int32_t cx = first.x; cx <= last.x; ++cx)
      for (std::int32_t cz = span.high - 1; cz >= span.low; --cz) {
        const auto chunk = generate_chunk(terrain, {cx, cy, cz});
        bool all_found = true;
        for (std::int32_t y = 0; y < chunk_size; ++y)
          for (std::int32_t x = 0; x < chunk_size; ++x) {
            const std::int32_t px = cx * chunk_size + x - low.x, py = cy * chunk_size + y - low.y;
            if (px < 0 || py < 0 || px >= size || py >= size) continue;
            Sight& sight = sights[static_cast<std::size_t>(py * size + px)];
            for (std::int32_t z = chunk_size - 1; z >= 0 && sight.block == BlockId::air; --z) {
              const BlockId id = chunk->block({x, y, z});
              if (id == BlockId::water) ++sight.water;
              if (is_solid(id)) sight.block = id, sight.height = cz * chunk_size + z + 1;
            }
            all_found = all_found && sight.block != BlockId::air;
          }
        if (all_found) break;
      }
}

void look_at_surface(const Terrain& terrain, IVec2 low, std::int32_t size, std::int32_t step,
                     std::vector<Sight>& sights) {
  for (std::int32_t py = 0; py < size; ++py)
    for (std::int32_t px = 0; px < size; ++px) {
      const std::int32_t x = low.x + px * step, y = low.y + py * step;
      Sight& sight = sights[static_cast<std::size_t>(py * size + px)];
      sight.height = surface_height(terrain, x, y);
      sight.block = surface_block(terrain, x, y);
      if (!dry_ground(terrain, x, y)) sight.water = sea_level_m - sight.height;
    }
}

Colour shade(const std::vector<Sight>& sights, std::int32_t size, std::int32_t step, std::int32_t px,
             std::int32_t py) {
  const auto at = [&](std::int32_t x, std::int32_t y) -> const Sight& {
    return sights[static_cast<std::size_t>(std::clamp(y, 0, size - 1) * size + std::clamp(x, 0, size - 1))];
  };
  const Sight& here = at(px, py);
  if (here.block == BlockId::air) return sky;
  // Light from the north-west: what rises towards the south-east is bright.
  const double rise =
      (at(px + 1, py).height - at(px - 1, py).height + at(px, py - 1).height - at(px, py + 1).height) /
      (2.0 * step);
  const double light = std::clamp(1.0 + 0.32 * rise / (0.6 + std::abs(rise)) * 1.6, 0.45, 1.4);
  const Colour ground = lit(colour_of(here.block), light * (0.86 + here.height * 0.0018));
  if (here.water <= 0) return ground;
  const double murk = std::min(1.0, 0.55 + here.water / 30.0);
  return blend(ground, blend(shallow, deep, std::min(1.0, here.water / 45.0)), murk);
}

/// The column at pixel px of the cut, from its top. Air under ground is dark.
void cut_column(const Terrain& terrain, const TerrainView& view, std::int32_t x, std::int32_t px,
                std::int32_t top_px, VoxelVolume& volume, Picture& out) {
  const ColumnSpan span = column_span(terrain.kind);
  const ChunkCoord at = chunk_of({x, view.y, 0});
  if (!volume.loaded({at.x, at.y, span.low}))
    for (std::int32_t z = span.low; z < span.high; ++z)
      volume.insert_chunk({at.x, at.y, z}, generate_chunk(terrain, {at.x, at.y, z}));
  bool under_ground = false;
  std::int32_t row = top_px;
  const std::int32_t surface = surface_height(terrain, x, view.y);
  for (std::int32_t z = span.high * chunk_size - 1; z >= span.low * chunk_size; --z, ++row) {
    BlockId id = volume.block({x, view.y, z});
    if (!view.ores && is_ore(id)) id = BlockId::stone;
    under_ground = under_ground || z < surface;
    out.at(px, row) = id == BlockId::air ? (under_ground ? hollow_air : sky) : colour_of(id);
  }
}

}  // namespace

Colour block_colour(BlockId id) {
  return static_cast<std::size_t>(id) < block_colours.size() ? colour_of(id) : Colour{150, 150, 160};
}

std::expected<TerrainView, std::string> parse_terrain_view(std::string_view text) {
  std::array<std::int32_t, 3> values{};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  bool good = true;
  while (good && count < values.size()) {
    const auto [next, error] = std::from_chars(at, end, values[count]);
    good = error == std::errc{};
    at = next;
    ++count;
    if (count == values.size()) break;
    good = good && at != end && *at == ',';
    if (good) ++at;
  }
  constexpr std::int32_t far = (1 << 20) - draw_radius_max;
  const bool sane = good && at == end && std::abs(values[0]) <= far && std::abs(values[1]) <= far &&
                    values[2] >= draw_radius_min && values[2] <= draw_radius_max;
  if (sane) return TerrainView{values[0], values[1], values[2]};
  return std::unexpected(
      "\"" + std::string(text) + "\" is no place with a radius: give X,Y,R in metres, X and Y from -" +
      std::to_string(far) + " to " + std::to_string(far) + ", R from " + std::to_string(draw_radius_min) +
      " to " + std::to_string(draw_radius_max) + ", such as 0,0,256");
}

Picture draw_terrain(const Terrain& terrain, const TerrainView& view) {
  ASHLAR_ASSERT(view.radius >= draw_radius_min && view.radius <= draw_radius_max);
  const std::int32_t across = 2 * view.radius;
  const std::int32_t step = (across + map_px_max - 1) / map_px_max, size = across / step;
  const IVec2 low{view.x - view.radius, view.y - view.radius};
  const ColumnSpan span = column_span(terrain.kind);
  const auto cut_height = static_cast<std::int32_t>(span.count()) * chunk_size;

  std::vector<Sight> sights(static_cast<std::size_t>(size * size));
  if (step == 1)
    look_at_blocks(terrain, low, size, sights);
  else
    look_at_surface(terrain, low, size, step, sights);
  Picture picture{size, size + gap_px + cut_height, {}};
  picture.pixels.assign(static_cast<std::size_t>(picture.width * picture.height), paper);
  for (std::int32_t y = 0; y < size; ++y)  // north is up
    for (std::int32_t x = 0; x < size; ++x) picture.at(x, size - 1 - y) = shade(sights, size, step, x, y);

  VoxelVolume volume;
  const std::int32_t line = size - 1 - view.radius / step;
  for (std::int32_t x = 0; x < size; ++x) {
    cut_column(terrain, view, low.x + x * step, x, size + gap_px, volume, picture);
    if (x % 8 < 5) picture.at(x, line) = blend(picture.at(x, line), cut_line, 0.75);
  }
  return picture;
}

}  // namespace ashlar::server
