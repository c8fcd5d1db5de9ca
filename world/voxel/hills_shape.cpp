#include "world/voxel/hills_shape.h"

#include <algorithm>
#include <cmath>

#include "world/voxel/hills_noise.h"
#include "world/voxel/terrain_parts.h"

namespace ashlar::ground {
namespace {

static_assert(hills_height_min - 1 >= hills_low_m);
static_assert(hills_height_max + crag_m_max + 1 <= hills_high_m);

/// Noise of one place.
struct Place {
  std::uint64_t seed;
  double x, y;
  double of(HillsNoise what, double wave_m, int count) const {
    return octaves(noise_key(seed, what), x, y, wave_m, count);
  }
};

struct Knot {
  double at, value;
};

/// Straight lines between knots, level beyond.
template <std::size_t n>
double along(const std::array<Knot, n>& knots, double v) {
  if (v <= knots.front().at) return knots.front().value;
  for (std::size_t i = 1; i < n; ++i)
    if (v < knots[i].at)
      return mix(knots[i - 1].value, knots[i].value, (v - knots[i - 1].at) / (knots[i].at - knots[i - 1].at));
  return knots.back().value;
}

/// From how far out at sea or inland to the height of the ground: an abyss, a shelf, a beach, plains,
/// uplands.
constexpr std::array<Knot, 9> continent_heights{{{-0.75, -94},
                                                 {-0.48, -64},
                                                 {-0.30, -34},
                                                 {-0.12, -12},
                                                 {-0.02, -2},
                                                 {0.02, 2.5},
                                                 {0.16, 9},
                                                 {0.45, 20},
                                                 {0.90, 40}}};

/// 1 around the origin, 0 far from it: where players begin, the land is dry and gentle.
double calm_at(double x, double y) { return 1 - smooth_step(140, 420, std::sqrt(x * x + y * y)); }

/// Steps of a staircase with steep risers and wide treads.
double terraced(double height, double step_m) {
  const double t = height / step_m;
  const double whole = floor_cell(t);
  return (whole + smooth_step(0.55, 0.85, t - whole)) * step_m;
}

/// Valleys with water at their bottom; none through high mountains.
double with_river(const Place& place, double height, double calm) {
  const double winding = place.of(HillsNoise::river, 760, 3);
  const double off = (winding < 0 ? -winding : winding) + 0.25 * calm;
  constexpr double bed_m = -3.4, bed_width = 0.012, valley_width = 0.15;
  if (off >= valley_width || height <= bed_m) return height;
  const double strength = 1 - smooth_step(50, 85, height);
  const double valley = mix(bed_m, height, smooth_step(bed_width, valley_width, off));
  return mix(height, valley, strength);
}

}  // namespace

HillsPoint hills_point(std::uint64_t seed, std::int32_t block_x, std::int32_t block_y) {
  const Place straight{seed, static_cast<double>(block_x), static_cast<double>(block_y)};
  const double calm = calm_at(straight.x, straight.y);
  const Place place{seed, straight.x + 28 * straight.of(HillsNoise::warp_x, 190, 2),
                    straight.y + 28 * straight.of(HillsNoise::warp_y, 190, 2)};

  double inland = place.of(HillsNoise::continent, 1500, 5) * 1.25 + 0.16;
  inland = mix(inland, inland < 0.3 ? 0.3 : inland, calm);
  const double base = along(continent_heights, inland);
  const double land = smooth_step(0.0, 0.2, inland);

  const double hilly = smooth_step(-0.35, 0.5, place.of(HillsNoise::hilly, 640, 2));
  const double hill = place.of(HillsNoise::hill, 170, 3) * (4 + 17 * hilly) * (1 - 0.65 * calm);
  const double range = smooth_step(0.0, 0.5, place.of(HillsNoise::range, 1000, 2)) *
                       smooth_step(0.05, 0.35, inland) * (1 - calm);
  const double fold = place.of(HillsNoise::ridge, 360, 4);
  const double ridge = 1 - (fold < 0 ? -fold : fold);
  const double detail = place.of(HillsNoise::detail, 38, 2) * (1.1 + 2.2 * range);
  double height = base + hill * mix(0.35, 1, land) + range * (18 + 112 * ridge * ridge) + detail;

  // Cliffs: the slopes of such country become steps. Not at the shore, and not where players begin.
  const double rough = (1 - calm) * smooth_step(8, 20, height);
  const double terrace = smooth_step(0.08, 0.38, place.of(HillsNoise::terrace, 420, 2)) * rough;
  height = mix(height, terraced(height, 13), terrace);
  height = with_river(place, height, calm);

  HillsPoint point;
  point.height_m = std::clamp(height, hills_height_min, hills_height_max);
  const double bulge = smooth_step(0.14, 0.42, place.of(HillsNoise::crag, 310, 2));
  point.crag_m = crag_m_max * bulge * (1 - calm) * smooth_step(9, 24, height);
  point.warm = place.of(HillsNoise::warm, 1300, 2) - (height > 24 ? (height - 24) / 165 : 0);
  point.wet = place.of(HillsNoise::wet, 900, 2);
  const double wood = place.of(HillsNoise::forest, 150, 2) + 0.35 * point.wet;
  point.forest = mix(0.035, 0.78, smooth_step(0.02, 0.5, wood)) * (1 - 0.6 * calm);
  point.patch = straight.of(HillsNoise::patch, 34, 2);
  return point;
}

HillsPoint between(const HillsPoint& a, const HillsPoint& b, const HillsPoint& c, const HillsPoint& d,
                   std::int32_t fx, std::int32_t fy) {
  const double u = fx * (1.0 / hills_step), v = fy * (1.0 / hills_step);
  const auto of = [&](double HillsPoint::* field) {
    return mix(mix(a.*field, b.*field, u), mix(c.*field, d.*field, u), v);
  };
  return {of(&HillsPoint::height_m), of(&HillsPoint::crag_m), of(&HillsPoint::warm),
          of(&HillsPoint::wet),      of(&HillsPoint::forest), of(&HillsPoint::patch)};
}

void level(std::span<const BlockBox> footprints, std::int32_t x, std::int32_t y, HillsPoint& point) {
  if (footprints.empty()) return;
  point.height_m = levelled(footprints, x, y, point.height_m);
  const std::int32_t beyond = distance_to_footprints(footprints, x, y) - terrain_whole_m;
  point.crag_m *= clamp01(beyond / 16.0);
}

double crag_noise(std::uint64_t seed, IVec3 corner) {
  const std::uint64_t key = noise_key(seed, HillsNoise::crag_body);
  const double wide = noise_at(key, corner.x / 24.0, corner.y / 24.0, corner.z / 12.0);
  const double fine = noise_at(key + 1, corner.x / 11.0, corner.y / 11.0, corner.z / 8.0);
  return std::clamp(1.35 * wide + 0.45 * fine, -1.0, 1.0);
}

bool cave_mouths(std::uint64_t seed, const HillsPoint& point, std::int32_t x, std::int32_t y) {
  if (x > -64 && x < 64 && y > -64 && y < 64) return false;  // nobody begins in one
  return point.forest < 0.08 && cell_bits(noise_key(seed, HillsNoise::mouth), x >> 5, y >> 5) % 5 == 0;
}

std::int32_t top_of(double height_m) { return -floor_cell(0.5 - height_m); }

HillsArea::HillsArea(std::uint64_t seed, std::span<const BlockBox> footprints, IVec3 chunk_min)
    : footprints_(footprints), min_{chunk_min.x - margin, chunk_min.y - margin} {
  constexpr std::int32_t first = margin / hills_step, last = corners - 1 - first;
  for (std::int32_t j = 0; j < corners; ++j)
    for (std::int32_t i = 0; i < corners; ++i) {
      const HillsPoint point = hills_point(seed, min_.x + i * hills_step, min_.y + j * hills_step);
      points_[static_cast<std::size_t>(j * corners + i)] = point;
      // A cell more than the chunk's columns: trees of there reach into it.
      if (i < first - 1 || i > last + 1 || j < first - 1 || j > last + 1) continue;
      highest_ = std::max(highest_, point.height_m + point.crag_m);
      lowest_ = std::min(lowest_, point.height_m - point.crag_m);
      crags_ = crags_ || point.crag_m > 0;
    }
}

HillsPoint HillsArea::at(std::int32_t x, std::int32_t y) const {
  const std::int32_t dx = x - min_.x, dy = y - min_.y;
  const std::int32_t i = dx / hills_step, j = dy / hills_step;
  HillsPoint point = between(corner(i, j), corner(i + 1, j), corner(i, j + 1), corner(i + 1, j + 1),
                             dx % hills_step, dy % hills_step);
  level(footprints_, x, y, point);
  return point;
}

double HillsArea::slope(std::int32_t x, std::int32_t y) const {
  const std::int32_t i = (x - min_.x) / hills_step, j = (y - min_.y) / hills_step;
  const double a = corner(i, j).height_m, b = corner(i + 1, j).height_m;
  const double c = corner(i, j + 1).height_m, d = corner(i + 1, j + 1).height_m;
  return (std::max({a, b, c, d}) - std::min({a, b, c, d})) / hills_step;
}

double HillsArea::lowest_around(std::int32_t x, std::int32_t y) const {
  const std::int32_t i = (x - min_.x) / hills_step, j = (y - min_.y) / hills_step;
  double low = 1e9;
  for (std::int32_t dj = -1; dj <= 2; ++dj)
    for (std::int32_t di = -1; di <= 2; ++di) low = std::min(low, corner(i + di, j + dj).height_m);
  return low;
}

}  // namespace ashlar::ground
