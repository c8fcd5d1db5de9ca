#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "world/math/block_box.h"
#include "world/math/vec.h"

// The lie of the land: what hills are like over a place, without blocks.

namespace ashlar::ground {

/// What is computed on a lattice of 4 m and interpolated between.
struct HillsPoint {
  double height_m = 0;  ///< of the ground, before crags
  double crag_m = 0;    ///< how far crags bulge above and below it; 0 in most places
  double warm = 0, wet = 0;
  double forest = 0;  ///< chance of a tree in a tree's cell
  double patch = 0;   ///< for patches of clay, gravel and snow
};

inline constexpr std::int32_t hills_step = 4;
inline constexpr double crag_m_max = 16;
/// Natural heights before crags.
inline constexpr double hills_height_min = -94, hills_height_max = 143;

/// At any place; cost about 1 us.
HillsPoint hills_point(std::uint64_t seed, std::int32_t x, std::int32_t y);

/// Between the corners of a lattice cell; fx, fy in [0, 4).
HillsPoint between(const HillsPoint& a, const HillsPoint& b, const HillsPoint& c, const HillsPoint& d,
                   std::int32_t fx, std::int32_t fy);

/// As the footprints let it be.
void level(std::span<const BlockBox> footprints, std::int32_t x, std::int32_t y, HillsPoint& point);

/// Shape of crags at a corner of the lattice (multiples of 4), -1 to 1.
double crag_noise(std::uint64_t seed, IVec3 corner);

/// May caves open to the sky there? One area of five, where hardly a tree grows.
bool cave_mouths(std::uint64_t seed, const HillsPoint& point, std::int32_t x, std::int32_t y);

/// First block above the highest ground of a column without crags.
std::int32_t top_of(double height_m);

/// The points of a square of columns with some margin, one table a chunk.
class HillsArea {
 public:
  static constexpr std::int32_t margin = 12;  ///< columns around the chunk that can be asked for
  static constexpr std::int32_t corners = (32 + 2 * margin) / hills_step + 1;

  HillsArea(std::uint64_t seed, std::span<const BlockBox> footprints, IVec3 chunk_min);

  IVec3 chunk_min() const { return {min_.x + margin, min_.y + margin, 0}; }  ///< but for z
  /// Of a column within the margin.
  HillsPoint at(std::int32_t x, std::int32_t y) const;
  /// Rise over a metre, about. Columns within the margin but for a cell.
  double slope(std::int32_t x, std::int32_t y) const;
  /// The least height of the 4 x 4 corners around. Likewise.
  double lowest_around(std::int32_t x, std::int32_t y) const;
  double highest_m() const {
    return highest_;
  }  ///< of the chunk's columns and 4 around it, with crags, footprints aside
  double lowest_m() const { return lowest_; }
  bool crags() const { return crags_; }  ///< any in the chunk's columns

 private:
  const HillsPoint& corner(std::int32_t i, std::int32_t j) const {
    return points_[static_cast<std::size_t>(j * corners + i)];
  }
  std::span<const BlockBox> footprints_;
  IVec2 min_;
  std::array<HillsPoint, corners * corners> points_;
  double highest_ = -1e9, lowest_ = 1e9;
  bool crags_ = false;
};

}  // namespace ashlar::ground
