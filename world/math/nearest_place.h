#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "world/math/vec.h"

namespace ashlar {

/// The nearest free place for an upright round body among obstacles of straight sides, sharp corners and
/// level tops and bottoms: the core of every correction.
///
/// All that is free is bounded by few surfaces. In the plane the body's axis can come up to a line beside
/// each side and a circle around each corner; upright it can stand on a top or under a bottom. So the nearest
/// free place is where it is now, the nearest place of one of those curves, or one where two of them cross,
/// at its own height or at one of the levels. They are tried from near to far. Curves that are no border
/// anywhere only cost time.
///
/// Everything is relative to where the body is, in metres. Ties: up, down, along x before along y, the lower
/// side first. The answer does not depend on the order in which obstacles are added. No allocation.
class NearestPlace {
 public:
  static constexpr std::size_t lines_max = 24, circles_max = 48, levels_max = 12, spots_max = 768;
  /// Places tried in one search; when none of them is free there is none.
  static constexpr std::uint32_t tries_max = 256;

  /// @param reach_m  how far a place may be
  explicit NearestPlace(double reach_m) : reach_m_(reach_m) {}

  double reach_m() const { return reach_m_; }  ///< as given: what lies farther need not be added

  /// A line of places through `at` along `unit`. Of too many the farthest are left out.
  void add_line(DVec2 at, DVec2 unit);
  /// A circle of places. Of too many the farthest are left out.
  void add_circle(DVec2 centre, double radius_m);
  /// A height, relative to the body's own. Of too many the farthest are left out.
  void add_level(double dz_m);

  /// The nearest place that is_free(DVec3 offset) likes; nullopt: none within reach.
  template <typename IsFree>
  std::optional<DVec3> find(IsFree&& is_free) {
    prepare();
    for (std::uint32_t tried = 0; tried < tries_max; ++tried) {
      const std::optional<DVec3> place = next();
      if (!place) return std::nullopt;
      if (is_free(*place)) return place;
    }
    return std::nullopt;
  }

 private:
  struct Line {
    DVec2 normal;  ///< unit, its first part that is not zero positive
    double offset_m;
    double distance_m;
  };
  struct Circle {
    DVec2 centre;
    double radius_m;
    double distance_m;
  };
  struct Spot {
    DVec2 offset;
    double distance2;
  };

  void prepare();
  void cross_lines();
  void cross_circles();
  void add_spot(DVec2 offset);
  std::optional<DVec3> next();

  double reach_m_;
  std::size_t line_count_ = 0, circle_count_ = 0, level_count_ = 0, spot_count_ = 0;
  // Not initialised: a search is made for every correction, and most use a few of each.
  union {
    std::array<Line, lines_max> lines_;
  };
  union {
    std::array<Circle, circles_max> circles_;
  };
  union {
    std::array<Spot, spots_max> spots_;
  };
  std::array<double, levels_max> levels_;
  std::array<std::size_t, levels_max> tried_;
};

}  // namespace ashlar
