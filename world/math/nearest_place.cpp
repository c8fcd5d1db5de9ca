#include "world/math/nearest_place.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {
namespace {

/// Keeps the nearest of as many as there is room for; leaves out what is there already.
template <typename Item, std::size_t room, typename Nearer>
void keep_nearest(std::array<Item, room>& list, std::size_t& count, const Item& item, Nearer nearer) {
  for (std::size_t i = 0; i < count; ++i)
    if (!nearer(list[i], item) && !nearer(item, list[i])) return;
  if (count < room) {
    list[count++] = item;
    return;
  }
  const auto farthest = std::max_element(list.begin(), list.end(), nearer);
  if (nearer(item, *farthest)) *farthest = item;
}

bool before(DVec2 a, DVec2 b) { return a.x != b.x ? a.x < b.x : a.y < b.y; }

/// Along x before along y, the lower side first.
bool before_in_tie(DVec2 a, DVec2 b) {
  if ((a.y == 0) != (b.y == 0)) return a.y == 0;
  return before(a, b);
}

}  // namespace

void NearestPlace::add_line(DVec2 at, DVec2 unit) {
  DVec2 normal{-unit.y, unit.x};
  if (normal.x < 0 || (normal.x == 0 && normal.y < 0)) normal = -normal;
  const double offset = dot(normal, at);
  if (!(std::fabs(offset) <= reach_m_)) return;
  keep_nearest(lines_, line_count_, Line{normal, offset, std::fabs(offset)},
               [](const Line& a, const Line& b) {
                 if (a.distance_m != b.distance_m) return a.distance_m < b.distance_m;
                 return a.offset_m != b.offset_m ? a.offset_m < b.offset_m : before(a.normal, b.normal);
               });
}

void NearestPlace::add_circle(DVec2 centre, double radius_m) {
  const double distance = std::fabs(length(centre) - radius_m);
  if (!(distance <= reach_m_)) return;
  keep_nearest(
      circles_, circle_count_, Circle{centre, radius_m, distance}, [](const Circle& a, const Circle& b) {
        return a.distance_m != b.distance_m ? a.distance_m < b.distance_m : before(a.centre, b.centre);
      });
}

void NearestPlace::add_level(double dz_m) {
  if (!(std::fabs(dz_m) <= reach_m_) || dz_m == 0) return;
  // Up before down.
  keep_nearest(levels_, level_count_, dz_m, [](double a, double b) {
    return std::fabs(a) != std::fabs(b) ? std::fabs(a) < std::fabs(b) : a > b;
  });
}

void NearestPlace::add_spot(DVec2 offset) {
  const double distance2 = dot(offset, offset);
  if (!(distance2 <= reach_m_ * reach_m_) || spot_count_ == spots_max) return;
  spots_[spot_count_++] = {offset, distance2};
}

void NearestPlace::cross_lines() {
  for (std::size_t i = 0; i < line_count_; ++i)
    for (std::size_t j = i + 1; j < line_count_; ++j) {
      const Line &a = lines_[i], &b = lines_[j];
      const double det = cross(a.normal, b.normal);
      if (std::fabs(det) < 1e-9) continue;
      add_spot({(a.offset_m * b.normal.y - b.offset_m * a.normal.y) / det,
                (b.offset_m * a.normal.x - a.offset_m * b.normal.x) / det});
    }
}

void NearestPlace::cross_circles() {
  for (std::size_t i = 0; i < circle_count_; ++i) {
    const Circle& c = circles_[i];
    for (std::size_t j = 0; j < line_count_; ++j) {
      const Line& l = lines_[j];
      const double off = l.offset_m - dot(l.normal, c.centre);
      const double half2 = c.radius_m * c.radius_m - off * off;
      if (half2 < 0) continue;
      const DVec2 foot = c.centre + l.normal * off;
      const DVec2 along = DVec2{-l.normal.y, l.normal.x} * std::sqrt(half2);
      add_spot(foot + along);
      add_spot(foot - along);
    }
    for (std::size_t j = i + 1; j < circle_count_; ++j) {
      const Circle& d = circles_[j];
      const DVec2 between = d.centre - c.centre;
      const double l2 = dot(between, between);
      if (l2 == 0) continue;
      // From the first centre towards the second: the foot of the chord that both share.
      const double share = 0.5 + (c.radius_m * c.radius_m - d.radius_m * d.radius_m) / (2 * l2);
      const double half2 = c.radius_m * c.radius_m - share * share * l2;
      if (half2 < 0) continue;
      const DVec2 foot = c.centre + between * share;
      const DVec2 across = DVec2{-between.y, between.x} * std::sqrt(half2 / l2);
      add_spot(foot + across);
      add_spot(foot - across);
    }
  }
}

void NearestPlace::prepare() {
  // In an order of their own, so that crossings have the same bits whatever came first.
  std::sort(lines_.begin(), lines_.begin() + line_count_, [](const Line& a, const Line& b) {
    if (a.distance_m != b.distance_m) return a.distance_m < b.distance_m;
    return a.offset_m != b.offset_m ? a.offset_m < b.offset_m : before(a.normal, b.normal);
  });
  std::sort(circles_.begin(), circles_.begin() + circle_count_, [](const Circle& a, const Circle& b) {
    return a.distance_m != b.distance_m ? a.distance_m < b.distance_m : before(a.centre, b.centre);
  });
  std::sort(levels_.begin(), levels_.begin() + level_count_, [](double a, double b) {
    return std::fabs(a) != std::fabs(b) ? std::fabs(a) < std::fabs(b) : a > b;
  });
  // The body's own height is a level like any other.
  if (level_count_ == levels_max) --level_count_;
  for (std::size_t i = level_count_++; i > 0; --i) levels_[i] = levels_[i - 1];
  levels_[0] = 0;
  ASHLAR_ASSERT(level_count_ <= levels_max);

  add_spot({});
  for (std::size_t i = 0; i < line_count_; ++i) add_spot(lines_[i].normal * lines_[i].offset_m);
  for (std::size_t i = 0; i < circle_count_; ++i) {
    const Circle& c = circles_[i];
    const double l = length(c.centre);
    // Exactly in the middle of a circle every way is as short: along x, to the lower side.
    add_spot(l > 0 ? c.centre * ((l - c.radius_m) / l) : DVec2{-c.radius_m, 0});
  }
  cross_lines();
  cross_circles();
  std::sort(spots_.begin(), spots_.begin() + spot_count_, [](const Spot& a, const Spot& b) {
    return a.distance2 != b.distance2 ? a.distance2 < b.distance2 : before_in_tie(a.offset, b.offset);
  });
  tried_.fill(0);
}

std::optional<DVec3> NearestPlace::next() {
  std::size_t best = level_count_;
  double best2 = reach_m_ * reach_m_;
  bool best_upright = false;
  for (std::size_t i = 0; i < level_count_; ++i) {
    if (tried_[i] == spot_count_) continue;
    const double distance2 = spots_[tried_[i]].distance2 + levels_[i] * levels_[i];
    const bool upright = spots_[tried_[i]].distance2 == 0;
    const bool nearer =
        distance2 < best2 || (distance2 == best2 && (best == level_count_ || (upright && !best_upright)));
    if (!nearer) continue;
    best = i, best2 = distance2, best_upright = upright;
  }
  if (best == level_count_) return std::nullopt;
  ASHLAR_ASSERT(best < level_count_ && tried_[best] < spot_count_);
  ASHLAR_ASSERT(best2 <= reach_m_ * reach_m_);
  const DVec2 offset = spots_[tried_[best]++].offset;
  return DVec3{offset.x, offset.y, levels_[best]};
}

}  // namespace ashlar
