// Chunks of ground a second and core, of each kind of terrain, over whole columns and by their height; what a
// chunk takes in memory; one surface_height(). CPU time of the thread, three runs, min / median / max.
// Exit code 1 where hills give fewer than 400 chunks a second.
#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/bench/timing.h"
#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"

using namespace ashlar;
using namespace ashlar::bench;

namespace {

constexpr double chunks_per_s_asked = 400;

struct Country {
  const char* what;
  IVec2 column;  ///< of seed 1, where 4 x 4 columns of it begin
};
constexpr Country countries[] = {{"where players begin", {-2, -2}},
                                 {"mountains", {28, 24}},
                                 {"crags and rivers", {4, -62}},
                                 {"the sea", {52, -20}}};
constexpr std::int32_t across = 4;

Terrain terrain_of(TerrainKind kind) {
  Terrain terrain;
  terrain.kind = kind;
  return terrain;
}

template <typename Use>
void each_chunk(const Terrain& terrain, const Country& country, ColumnSpan span, Use&& use) {
  for (std::int32_t x = 0; x < across; ++x)
    for (std::int32_t y = 0; y < across; ++y)
      for (std::int32_t z = span.low; z < span.high; ++z)
        use(*generate_chunk(terrain, {country.column.x + x, country.column.y + y, z}));
}

/// @return chunks a second, of the slowest of three runs
double measure_columns(const Terrain& terrain, const Country& country) {
  const ColumnSpan span = column_span(terrain.kind);
  const double chunks = static_cast<double>(span.count()) * across * across;
  std::uint64_t hash = 0;
  std::size_t bytes = 0;
  const Spread s = measure(
      [&] {
        bytes = 0;
        each_chunk(terrain, country, span, [&](const Chunk& chunk) {
          hash ^= chunk.content_hash();
          bytes += chunk.bytes();
        });
      },
      chunks);
  std::printf(
      "  %-7s %-20s %6.0f / %6.0f / %6.0f chunks/s   %5.2f ms a column   %6.0f bytes a chunk   %016llx\n",
      std::string(name(terrain.kind)).c_str(), country.what, 1 / s.high, 1 / s.median, 1 / s.low,
      1e3 * s.median * static_cast<double>(span.count()), static_cast<double>(bytes) / chunks,
      static_cast<unsigned long long>(hash));
  return 1 / s.high;
}

void measure_heights(const Terrain& terrain) {
  const ColumnSpan span = column_span(terrain.kind);
  for (std::int32_t z = span.low; z < span.high; ++z) {
    std::size_t bytes = 0;
    const double chunks = across * across * static_cast<double>(std::size(countries));
    const Spread s = measure(
        [&] {
          bytes = 0;
          for (const Country& country : countries)
            each_chunk(terrain, country, {z, z + 1}, [&](const Chunk& chunk) { bytes += chunk.bytes(); });
        },
        chunks);
    std::printf("  from %5d m  %6.3f ms a chunk   %6.0f bytes\n", z * chunk_size, 1e3 * s.median,
                static_cast<double>(bytes) / chunks);
  }
}

void measure_surface(const Terrain& terrain) {
  constexpr std::int32_t places = 200;
  std::int64_t sum = 0;
  const Spread s = measure(
      [&] {
        for (std::int32_t y = 0; y < places; ++y)
          for (std::int32_t x = 0; x < places; ++x)
            sum += surface_height(terrain, 37 * x - 3000, 37 * y - 3000);
      },
      places * places);
  std::printf("  %-7s surface_height %6.0f / %6.0f / %6.0f ns   %lld\n",
              std::string(name(terrain.kind)).c_str(), 1e9 * s.low, 1e9 * s.median, 1e9 * s.high,
              static_cast<long long>(sum));
}

}  // namespace

int main() {
  bool good = true;
  std::printf("terrain: whole columns\n");
  for (const Country& country : countries)
    good = measure_columns(terrain_of(TerrainKind::hills), country) >= chunks_per_s_asked && good;
  for (const TerrainKind kind : {TerrainKind::plains, TerrainKind::flat, TerrainKind::empty})
    measure_columns(terrain_of(kind), countries[0]);
  std::printf("hills by height, all of the above\n");
  measure_heights(terrain_of(TerrainKind::hills));
  measure_surface(terrain_of(TerrainKind::plains));
  measure_surface(terrain_of(TerrainKind::hills));
  if (!good) std::printf("WRONG: fewer than %.0f chunks a second\n", chunks_per_s_asked);
  return good ? 0 : 1;
}
