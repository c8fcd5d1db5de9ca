#pragma once
// The seeded voxel world and walk of the collision workloads W1 and W2, to the last cell: y is up there, here
// z is, so (x, y, z) of the workload is (x, z, y) of ours. Check values are asserted by the benchmark.
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/world/voxel_worlds.h"
#include "world/voxel/volume.h"

namespace ashlar::bench {

constexpr std::uint32_t h32(std::uint32_t a) {
  a ^= a >> 16, a *= 0x7feb352du, a ^= a >> 15, a *= 0x846ca68bu, a ^= a >> 16;
  return a;
}
constexpr std::uint32_t hash4(std::uint32_t s, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return h32(h32(h32(h32(s) ^ x) ^ y) ^ z);
}
constexpr double u01(std::uint32_t r) { return (r >> 8) * 0x1.0p-24; }

inline constexpr int world_size = 256, world_tall = 64;

/// Columns of 64 bits, index z * 256 + x in the workload's axes.
struct WorkloadWorld {
  std::vector<std::uint64_t> columns = std::vector<std::uint64_t>(world_size * world_size, 0);
  std::vector<std::int32_t> heights = std::vector<std::int32_t>(world_size * world_size, 0);

  /// x, z in the plane, y up; outside is air.
  bool solid(int x, int y, int z) const {
    if (x < 0 || y < 0 || z < 0 || x >= world_size || y >= world_tall || z >= world_size) return false;
    return ((columns[static_cast<std::size_t>(z * world_size + x)] >> y) & 1u) != 0;
  }
};

inline WorkloadWorld make_workload_world() {
  const auto lattice = [](std::uint32_t s, std::uint32_t i, std::uint32_t j) {
    return hash4(s, i, 0, j) & 255u;
  };
  const auto bilinear = [&](std::uint32_t s, unsigned shift, std::uint32_t x, std::uint32_t z) {
    const std::uint32_t n = 1u << shift, i = x >> shift, j = z >> shift, fx = x & (n - 1), fz = z & (n - 1);
    return (lattice(s, i, j) * (n - fx) * (n - fz) + lattice(s, i + 1, j) * fx * (n - fz) +
            lattice(s, i, j + 1) * (n - fx) * fz + lattice(s, i + 1, j + 1) * fx * fz) >>
           (2 * shift);
  };
  WorkloadWorld w;
  for (std::uint32_t z = 0; z < world_size; ++z)
    for (std::uint32_t x = 0; x < world_size; ++x) {
      const std::uint32_t height = 8 + ((bilinear(1, 5, x, z) * 24) >> 8) + ((bilinear(2, 3, x, z) * 3) >> 8);
      std::uint64_t bits = (std::uint64_t{1} << height) - 1;
      for (std::uint32_t y = height; y < 62; ++y)
        if (hash4(3, x, y, z) % 100 < 3) bits |= std::uint64_t{1} << y;
      w.columns[z * world_size + x] = bits;
      w.heights[z * world_size + x] = static_cast<std::int32_t>(height);
    }
  for (std::uint32_t k = 0; k < 64; ++k) {
    const bool along_z = (hash4(4, k, 0, 0) & 1u) != 0;
    const std::uint32_t cx = hash4(4, k, 1, 0) % 256, cz = hash4(4, k, 2, 0) % 256;
    const std::uint32_t y0 = 8 + hash4(4, k, 3, 0) % 20, len = 32 + hash4(4, k, 4, 0) % 64;
    for (std::uint32_t i = 0; i < len; ++i) {
      const std::uint32_t x = along_z ? cx : cx + i, z = along_z ? cz + i : cz;
      if (x < 1 || x > 254 || z < 1 || z > 254) continue;
      w.columns[z * world_size + x] &= ~(std::uint64_t{3} << y0);
    }
  }
  for (std::uint32_t z = 0; z < world_size; ++z)
    for (std::uint32_t x = 0; x < world_size; ++x)
      if (x == 0 || x == 255 || z == 0 || z == 255) w.columns[z * world_size + x] = ~std::uint64_t{0};
  return w;
}

/// The same blocks as chunks. Beyond the box nothing is loaded: rays end there, and its rim keeps walkers in.
inline VoxelVolume make_workload_volume(const WorkloadWorld& w) {
  return test::make_volume({0, 0, 0}, {8, 8, 2}, [&w](IVec3 b) { return w.solid(b.x, b.z, b.y); });
}

/// Where the character i of W1 starts, in our axes.
inline DVec3 walker_start(const WorkloadWorld& w, std::uint32_t i) {
  const auto cx = static_cast<int>(8 + hash4(10, i, 0, 0) % 240),
             cz = static_cast<int>(8 + hash4(10, i, 1, 0) % 240);
  int y = w.heights[static_cast<std::size_t>(cz * world_size + cx)];
  while (w.solid(cx, y, cz) || w.solid(cx, y + 1, cz)) ++y;
  return {cx + 0.5, cz + 0.5, static_cast<double>(y)};
}

/// A cast of W2, in our axes.
struct Cast {
  DVec3 from, to;
};

inline Cast make_cast(const WorkloadWorld& w, std::uint32_t i) {
  std::array<double, 3> start{};
  for (std::uint32_t k = 0;; k += 1) {
    start = {u01(hash4(20, i, k, 0)) * 256, u01(hash4(20, i, k, 1)) * 64, u01(hash4(20, i, k, 2)) * 256};
    if (!w.solid(static_cast<int>(start[0]), static_cast<int>(start[1]), static_cast<int>(start[2]))) break;
  }
  for (std::uint32_t k = 0;; ++k) {
    std::array<std::int64_t, 3> d{};
    std::int64_t size2 = 0;
    for (std::uint32_t j = 0; j < 3; ++j) {
      d[j] = static_cast<std::int64_t>(hash4(21, i, k, j) >> 11) - (std::int64_t{1} << 20);
      size2 += d[j] * d[j];
    }
    if (size2 < (std::int64_t{1} << 34) || size2 > (std::int64_t{1} << 40)) continue;
    std::array<double, 3> end{};
    for (std::size_t j = 0; j < 3; ++j)
      end[j] = static_cast<double>(static_cast<float>(start[j] + static_cast<double>(d[j] * 64) /
                                                                     std::sqrt(static_cast<double>(size2))));
    return {{start[0], start[2], start[1]}, {end[0], end[2], end[1]}};
  }
}

}  // namespace ashlar::bench
