#pragma once
#include <array>
#include <cstdint>

#include "world/math/random.h"

// Smooth noise out of additions and multiplications alone, so it has the same bits on every machine.
// Source: gradient noise as in Perlin's "Improving Noise" (2002), with a hash in place of his table.

namespace ashlar::ground {

/// What noise is for; each has a lattice of its own. Part of what worlds are: append only.
enum class HillsNoise : std::uint64_t {
  warp_x = 101,
  warp_y,
  continent,
  range,
  ridge,
  hilly,
  hill,
  detail,
  terrace,
  crag,
  crag_body,
  river,
  warm,
  wet,
  forest,
  patch,
  tunnel_a,
  tunnel_b,
  cavern,
  mouth,
  tree,
  ore,
  treasure,
};

constexpr std::uint64_t noise_key(std::uint64_t seed, HillsNoise what) {
  return mix64(seed + static_cast<std::uint64_t>(what) * 0x9e3779b97f4a7c15u);
}

/// 64 random bits of a cell.
constexpr std::uint64_t cell_bits(std::uint64_t key, std::int32_t x, std::int32_t y, std::int32_t z = 0) {
  const std::uint64_t plane = static_cast<std::uint64_t>(static_cast<std::uint32_t>(x)) |
                              static_cast<std::uint64_t>(static_cast<std::uint32_t>(y)) << 32;
  return mix64((key ^ plane * 0x9e3779b97f4a7c15u) +
               static_cast<std::uint64_t>(static_cast<std::uint32_t>(z)) * 0xc2b2ae3d27d4eb4fu);
}

constexpr std::int32_t floor_cell(double v) {
  const auto whole = static_cast<std::int32_t>(v);
  return v < whole ? whole - 1 : whole;
}

constexpr double clamp01(double v) { return v < 0 ? 0 : v > 1 ? 1 : v; }
/// 0 up to `low`, 1 from `high` on, smooth between.
constexpr double smooth_step(double low, double high, double v) {
  const double t = clamp01((v - low) / (high - low));
  return t * t * (3 - 2 * t);
}
constexpr double mix(double a, double b, double t) { return a + (b - a) * t; }

namespace noise_detail {
constexpr double fade(double t) { return t * t * t * (t * (t * 6 - 15) + 10); }

constexpr double half_root = 0.70710678118654752;
inline constexpr std::array<double, 8> gradient_x{1, -1, 0, 0, half_root, -half_root, half_root, -half_root};
inline constexpr std::array<double, 8> gradient_y{0, 0, 1, -1, half_root, half_root, -half_root, -half_root};
/// The middles of a cube's edges, four of them twice.
inline constexpr std::array<double, 16> edge_x{1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0, 1, -1, 0, 0};
inline constexpr std::array<double, 16> edge_y{1, 1, -1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, 1, -1, -1};
inline constexpr std::array<double, 16> edge_z{0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 0, 1, -1};

constexpr double slope(std::uint64_t key, std::int32_t i, std::int32_t j, double x, double y) {
  const auto way = static_cast<std::size_t>(cell_bits(key, i, j) >> 61);
  return gradient_x[way] * x + gradient_y[way] * y;
}
constexpr double slope(std::uint64_t key, std::int32_t i, std::int32_t j, std::int32_t k, double x, double y,
                       double z) {
  const auto way = static_cast<std::size_t>(cell_bits(key, i, j, k) >> 60);
  return edge_x[way] * x + edge_y[way] * y + edge_z[way] * z;
}
}  // namespace noise_detail

/// About -1 to 1, 0 at every corner of the unit lattice.
constexpr double noise_at(std::uint64_t key, double x, double y) {
  using namespace noise_detail;
  const std::int32_t i = floor_cell(x), j = floor_cell(y);
  const double u = x - i, v = y - j;
  const double fu = fade(u);
  const double low = mix(slope(key, i, j, u, v), slope(key, i + 1, j, u - 1, v), fu);
  const double high = mix(slope(key, i, j + 1, u, v - 1), slope(key, i + 1, j + 1, u - 1, v - 1), fu);
  return mix(low, high, fade(v)) * 1.41;
}

constexpr double noise_at(std::uint64_t key, double x, double y, double z) {
  using namespace noise_detail;
  const std::int32_t i = floor_cell(x), j = floor_cell(y), k = floor_cell(z);
  const double u = x - i, v = y - j, w = z - k;
  const double fu = fade(u), fv = fade(v);
  const auto sheet = [&](std::int32_t dk) {
    const double d = w - dk;
    const double low = mix(slope(key, i, j, k + dk, u, v, d), slope(key, i + 1, j, k + dk, u - 1, v, d), fu);
    const double high =
        mix(slope(key, i, j + 1, k + dk, u, v - 1, d), slope(key, i + 1, j + 1, k + dk, u - 1, v - 1, d), fu);
    return mix(low, high, fv);
  };
  return mix(sheet(0), sheet(1), fade(w));
}

/// Sum of octaves, each half as wide and half as strong as the one before; about -1 to 1.
/// @param wave_m  width of the widest
constexpr double octaves(std::uint64_t key, double x, double y, double wave_m, int count) {
  double sum = 0, strength = 1, total = 0, scale = 1 / wave_m;
  for (int n = 0; n < count; ++n) {
    sum += strength * noise_at(key + static_cast<std::uint64_t>(n), x * scale, y * scale);
    total += strength;
    strength *= 0.5;
    scale *= 2;
  }
  return sum / total * 1.3;
}

}  // namespace ashlar::ground
