// What lies under the hills: caves, the water in them, ores.
#include <algorithm>
#include <array>

#include "world/voxel/hills_noise.h"
#include "world/voxel/hills_parts.h"

namespace ashlar::ground {
namespace {

constexpr std::int32_t cave_cover_m = 4;      // ground over a cave, but where it has a mouth
constexpr std::int32_t cave_sea_cover_m = 8;  // ground between a cave and the sea, whatever the slope
constexpr double wet_height_m = 5;            // lower ground has water near

/// Three noises on a lattice of 4 m: two sheets whose crossings are tunnels, and caverns.
class HollowField {
 public:
  HollowField(std::uint64_t seed, IVec3 low) {
    const std::uint64_t a = noise_key(seed, HillsNoise::tunnel_a), b = noise_key(seed, HillsNoise::tunnel_b);
    const std::uint64_t c = noise_key(seed, HillsNoise::cavern);
    std::size_t next = 0;
    for (std::int32_t j = 0; j < corners; ++j)
      for (std::int32_t i = 0; i < corners; ++i)
        for (std::int32_t k = 0; k < corners; ++k) {
          const double x = low.x + i * hills_step, y = low.y + j * hills_step, z = low.z + k * hills_step;
          Sample& s = samples_[next++];
          s.a = noise_at(a, x / 50, y / 50, z / 17);
          s.b = noise_at(b, x / 42, y / 42, z / 22);
          s.cavern = noise_at(c, x / 64, y / 64, z / 22);
        }
  }

  /// Could any block of the cell be hollow? A quick no for most of them.
  bool perhaps(std::int32_t i, std::int32_t j, std::int32_t k) const {
    double a_low = 9, a_high = -9, b_low = 9, b_high = -9, cavern = -9;
    for (int n = 0; n < 8; ++n) {
      const Sample& s = at(i + (n & 1), j + ((n >> 1) & 1), k + (n >> 2));
      a_low = std::min(a_low, s.a), a_high = std::max(a_high, s.a);
      b_low = std::min(b_low, s.b), b_high = std::max(b_high, s.b);
      cavern = std::max(cavern, s.cavern);
    }
    const bool tunnel = a_low < width && a_high > -width && b_low < width && b_high > -width;
    return tunnel || cavern > cavern_least;
  }

  /// @param depth  blocks of ground above
  bool hollow(std::int32_t i, std::int32_t j, std::int32_t k, IVec3 in_cell, std::int32_t depth) const {
    const double u = in_cell.x * 0.25, v = in_cell.y * 0.25, w = in_cell.z * 0.25;
    const auto of = [&](double Sample::* field) {
      const auto line = [&](int b, int c) {
        return mix(at(i, j + b, k + c).*field, at(i + 1, j + b, k + c).*field, u);
      };
      return mix(mix(line(0, 0), line(1, 0), v), mix(line(0, 1), line(1, 1), v), w);
    };
    const double a = of(&Sample::a);
    if (a > -width && a < width) {
      const double b = of(&Sample::b);
      if (b > -width && b < width) return true;
    }
    // Wide halls lie deep.
    return depth > 12 && of(&Sample::cavern) > (depth > 40 ? cavern_least : cavern_least + 0.1);
  }

 private:
  static constexpr double width = 0.1, cavern_least = 0.42;
  static constexpr std::int32_t corners = chunk_size / hills_step + 1;
  struct Sample {
    double a = 0, b = 0, cavern = 0;
  };
  const Sample& at(std::int32_t i, std::int32_t j, std::int32_t k) const {
    return samples_[static_cast<std::size_t>((j * corners + i) * corners + k)];
  }
  std::array<Sample, corners * corners * corners> samples_;
};

/// The first height of a column that no cave may reach.
std::int32_t cave_end(const Terrain& terrain, const HillsArea& area, std::int32_t x, std::int32_t y) {
  if (distance_to_footprints(terrain.footprints, x, y) <= terrain_whole_m) return cave_floor_m;
  const HillsPoint point = area.at(x, y);
  const double lowest = std::min(area.lowest_around(x, y), point.height_m);
  if (lowest < wet_height_m) return top_of(lowest) - cave_sea_cover_m;
  const std::int32_t top = top_of(point.height_m - point.crag_m);
  return cave_mouths(terrain.seed, point, x, y) ? top_of(point.height_m + point.crag_m) : top - cave_cover_m;
}

void carve_cell(ChunkDraft& draft, const HollowField& field, const std::array<std::int32_t, 16>& ends,
                IVec3 cell) {
  const IVec3 corner = draft.min() + IVec3{cell.x * hills_step, cell.y * hills_step, cell.z * hills_step};
  for (std::int32_t n = 0; n < 16; ++n) {
    const std::int32_t dx = n & 3, dy = n >> 2;
    const std::int32_t end = ends[static_cast<std::size_t>(n)];
    for (std::int32_t dz = 0; dz < hills_step; ++dz) {
      const IVec3 block = corner + IVec3{dx, dy, dz};
      if (block.z >= end || block.z <= cave_floor_m) continue;
      BlockId& there = draft.at(block);
      if (!is_solid(there) || !field.hollow(cell.x, cell.y, cell.z, {dx, dy, dz}, end - block.z)) continue;
      there = block.z < cave_water_m ? BlockId::water : BlockId::air;
    }
  }
}

struct OreKind {
  BlockId block;
  std::int32_t z_max;    // none above
  std::uint32_t of_100;  // cells of 16 m that hold a vein
  double radius_m;
};
constexpr std::array<OreKind, 4> ores{{{BlockId::coal_ore, 130, 62, 2.0},
                                       {BlockId::iron_ore, 56, 50, 1.7},
                                       {BlockId::gold_ore, -14, 26, 1.5},
                                       {BlockId::crystal_ore, -52, 14, 1.2}}};
constexpr std::int32_t vein_reach = 3;

/// A ragged ball of ore.
void strew_vein(ChunkDraft& draft, const OreKind& ore, IVec3 centre, std::uint64_t key) {
  for (std::int32_t dy = -vein_reach; dy <= vein_reach; ++dy)
    for (std::int32_t dx = -vein_reach; dx <= vein_reach; ++dx)
      for (std::int32_t dz = -vein_reach; dz <= vein_reach; ++dz) {
        const IVec3 block = centre + IVec3{dx, dy, dz};
        if (!draft.holds(block) || draft.at(block) != BlockId::stone) continue;
        const double ragged = static_cast<double>(cell_bits(key, block.x, block.y, block.z) >> 56) / 256;
        const double reach = ore.radius_m * (0.55 + 0.75 * ragged);
        if (dx * dx + dy * dy + dz * dz < reach * reach) draft.at(block) = ore.block;
      }
}

}  // namespace

void carve_caves(ChunkDraft& draft, const Terrain& terrain, const HillsArea& area) {
  if (draft.end().z <= cave_floor_m) return;
  if (terrain.footprints.empty() && draft.min().z >= area.highest_m()) return;
  const HollowField field(terrain.seed, draft.min());
  constexpr std::int32_t cells = chunk_size / hills_step;
  for (std::int32_t j = 0; j < cells; ++j)
    for (std::int32_t i = 0; i < cells; ++i) {
      std::array<std::int32_t, 16> ends;
      for (std::int32_t n = 0; n < 16; ++n)
        ends[static_cast<std::size_t>(n)] = cave_end(terrain, area, draft.min().x + i * hills_step + (n & 3),
                                                     draft.min().y + j * hills_step + (n >> 2));
      const std::int32_t end = *std::ranges::max_element(ends);
      for (std::int32_t k = 0; k < cells; ++k)
        if (draft.min().z + k * hills_step < end && field.perhaps(i, j, k))
          carve_cell(draft, field, ends, {i, j, k});
    }
}

void strew_ores(ChunkDraft& draft, std::uint64_t secret) {
  const IVec3 low = draft.min(), high = draft.end();
  for (std::size_t n = 0; n < ores.size(); ++n) {
    const OreKind& ore = ores[n];
    if (low.z - vein_reach > ore.z_max) continue;
    const std::uint64_t key = mix64(noise_key(secret, HillsNoise::ore) + n);
    for (std::int32_t j = (low.y - vein_reach) >> 4; j <= (high.y - 1 + vein_reach) >> 4; ++j)
      for (std::int32_t i = (low.x - vein_reach) >> 4; i <= (high.x - 1 + vein_reach) >> 4; ++i)
        for (std::int32_t k = (low.z - vein_reach) >> 4; k <= (high.z - 1 + vein_reach) >> 4; ++k) {
          const std::uint64_t bits = cell_bits(key, i, j, k);
          if ((bits >> 32) % 100 >= ore.of_100) continue;
          const auto pick = [&](unsigned shift) { return static_cast<std::int32_t>((bits >> shift) & 15); };
          const IVec3 centre{i * 16 + pick(0), j * 16 + pick(4), k * 16 + pick(8)};
          if (centre.z <= ore.z_max) strew_vein(draft, ore, centre, key);
        }
  }
}

void hide_treasure(ChunkDraft& draft, const Terrain& terrain, const HillsArea& area) {
  constexpr std::uint32_t tries = 12;    // some one in thirty blocks of a chunk with caves is such a floor
  constexpr std::int32_t buried_m = 10;  // below the surface, so that none lies open on a hillside
  const IVec3 low = draft.min();
  if (!terrain.secret || terrain.bare || draft.end().z <= cave_floor_m) return;
  const std::uint64_t key = noise_key(*terrain.secret, HillsNoise::treasure);
  for (std::uint32_t n = 0; n < tries; ++n) {
    const std::uint64_t bits = cell_bits(key + n, low.x, low.y, low.z);
    const auto pick = [&](unsigned shift, std::uint64_t below) {
      return static_cast<std::int32_t>((bits >> shift & 0xffff) % below);
    };
    const IVec3 block = low + IVec3{pick(0, chunk_size), pick(16, chunk_size), pick(32, chunk_size - 1)};
    const HillsPoint point = area.at(block.x, block.y);
    if (block.z + buried_m >= top_of(point.height_m - point.crag_m)) continue;
    if (draft.at(block) != BlockId::stone || draft.at(block + IVec3{0, 0, 1}) != BlockId::air) continue;
    draft.at(block) = terrain.treasure;
    return;
  }
}

}  // namespace ashlar::ground
