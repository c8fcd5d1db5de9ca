#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "world/bsp/heights.h"
#include "world/bsp/trace.h"
#include "world/bsp/tree.h"
#include "world/math/random.h"

// Straight lines through a map, to find out which sectors see each other: not by what computes the visibility
// set, but by walking along lines that are chosen to graze corners, sills and lintels.

namespace ashlar::testing {

/// Pairs of sectors that some line in free space joins. Heights and places are map units.
class SightLines {
 public:
  /// @param heights  by sector, all finite, sky at the roof; must outlive this
  SightLines(const BspTree& tree, const std::vector<DrawnHeights>& heights)
      : tree_(tree), heights_(heights), sectors_(heights.size()), words_((sectors_ + 63) / 64) {
    joined_.assign(sectors_ * words_, 0);
    run_.assign(words_, 0);
    leaves_.resize(sectors_);
    for (std::uint32_t i = 0; i < tree.leaves.size(); ++i) {
      const BspTree::Leaf& l = tree.leaves[i];
      if (l.sector != no_index && l.corner_count > 2) leaves_[l.sector].push_back(i);
    }
  }

  bool joined(std::uint32_t a, std::uint32_t b) const {
    return (joined_[a * words_ + (b >> 6)] >> (b & 63) & 1) != 0;
  }
  /// Has the sector any leaf to stand in?
  bool anywhere(std::uint32_t sector) const { return !leaves_[sector].empty(); }

  /// A line through a place in each of two sectors: near a corner mostly, and often near floor or ceiling.
  /// It goes on both ways as far as it comes; every two sectors on one free stretch of it see each other.
  void shoot(Rng& rng, std::uint32_t a, std::uint32_t b) {
    const DVec2 p = place(rng, a), q = place(rng, b);
    const double zp = height(rng, a), zq = height(rng, b);
    const DVec2 way = q - p;
    const double units = length(way);
    if (units < 1e-3) return;
    const double before = std::max(1.0, 65536 / units);
    const double z = zp - (zq - zp) * before, dz = zq - zp;
    trace_leaves(tree_, tree_.root, p - way * before, way, 0, 2 * before,
                 [&](std::uint32_t leaf, double in, double out, const LeafEntry&) {
                   pass(tree_.leaves[leaf].sector, z + dz * in, z + dz * out, (out - in) * units);
                   return true;
                 });
    end_stretch();
  }

 private:
  void pass(std::uint32_t sector, double z_in, double z_out, double units) {
    if (sector == no_index) return end_stretch();
    const DrawnHeights& h = heights_[sector];
    const auto free = [&](double z) { return z >= h.floor && z <= h.ceiling; };
    if (!free(z_in)) end_stretch();
    // Touched corners are no sight: leaves that the line is in for less than rounding are left out.
    if ((free(z_in) || free(z_out)) && units > 1e-7 && (run_[sector >> 6] >> (sector & 63) & 1) == 0) {
      run_[sector >> 6] |= std::uint64_t{1} << (sector & 63);
      members_.push_back(sector);
    }
    if (!free(z_out)) end_stretch();
  }

  void end_stretch() {
    for (const std::uint32_t m : members_)
      for (std::size_t w = 0; w < words_; ++w) joined_[m * words_ + w] |= run_[w];
    for (const std::uint32_t m : members_) run_[m >> 6] = 0;
    members_.clear();
  }

  DVec2 place(Rng& rng, std::uint32_t sector) const {
    const auto& own = leaves_[sector];
    const BspTree::Leaf& leaf = tree_.leaves[own[rng.below(static_cast<std::uint32_t>(own.size()))]];
    DVec2 inside{};
    double weights = 0;
    for (std::uint32_t i = 0; i < leaf.corner_count; ++i) {
      const double w = rng.unit() + 0.01;
      inside = inside + tree_.corners[leaf.first_corner + i] * w;
      weights += w;
    }
    inside = inside * (1 / weights);
    if (rng.below(3) == 0) return inside;
    const DVec2 corner = tree_.corners[leaf.first_corner + rng.below(leaf.corner_count)];
    const double units = length(inside - corner);
    return units < 1e-9 ? corner : corner + (inside - corner) * std::min(0.5, graze / units);
  }

  double height(Rng& rng, std::uint32_t sector) const {
    const DrawnHeights& h = heights_[sector];
    const double room = std::max(0.0, h.ceiling - h.floor), near = std::min(graze, room / 2);
    switch (rng.below(4)) {
      case 0: return h.floor + near;
      case 1: return h.ceiling - near;
      default: return h.floor + rng.unit() * room;
    }
  }

  static constexpr double graze = 0.05;
  const BspTree& tree_;
  const std::vector<DrawnHeights>& heights_;
  std::size_t sectors_, words_;
  std::vector<std::uint64_t> joined_, run_;
  std::vector<std::uint32_t> members_;
  std::vector<std::vector<std::uint32_t>> leaves_;  ///< by sector
};

}  // namespace ashlar::testing
