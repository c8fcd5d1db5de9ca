#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "world/nav/block_ground.h"

// What a walker can come from over voxel ground to one place, and how far it is, without any of what it finds
// its ways by: single points of the volume are asked, in half blocks, in a box of the world.

namespace ashlar::testing {

class VoxelReach {
 public:
  /// @param low, high  blocks of the box, [low, high)
  VoxelReach(const VoxelVolume& volume, IVec3 low, IVec3 high, BlockWalker walker)
      : volume_(volume), low_(low), size_(high - low), walker_(walker) {
    const auto halves = static_cast<std::size_t>(2 * size_.z);
    solid_.resize(static_cast<std::size_t>(size_.x) * static_cast<std::size_t>(size_.y) * halves);
    water_.resize(solid_.size());
    for (std::int32_t y = 0; y < size_.y; ++y)
      for (std::int32_t x = 0; x < size_.x; ++x)
        for (std::int32_t h = 0; h < 2 * size_.z; ++h) read(x, y, h);
  }

  /// From now on way_m() is to that place.
  void flood_to(GroundPlace to) {
    best_.assign(solid_.size(), far);
    using Open = std::pair<std::uint32_t, std::size_t>;
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
    const auto reach = [&](std::size_t place, std::uint32_t d) {
      if (d < best_[place]) best_[place] = d, open.push({d, place});
    };
    const std::int32_t x = to.x - low_.x, y = to.y - low_.y, h = to.half - 2 * low_.z;
    if (inner(x, y, h) && stands(x, y, h)) reach(at(x, y, h), 0);
    while (!open.empty()) {
      const auto [d, place] = open.top();
      open.pop();
      if (d > best_[place]) continue;
      const auto n = static_cast<std::int32_t>(place);
      const std::int32_t ph = n % (2 * size_.z), px = n / (2 * size_.z) % size_.x,
                         py = n / (2 * size_.z) / size_.x;
      for (std::int32_t dy = -1; dy <= 1; ++dy)
        for (std::int32_t dx = -1; dx <= 1; ++dx)
          for (std::int32_t fh = ph - 2; (dx != 0 || dy != 0) && fh <= ph + 2 * walker_.drop; ++fh)
            if (inner(px + dx, py + dy, fh) && leads(px + dx, py + dy, fh, px, py, ph))
              reach(at(px + dx, py + dy, fh), d + (dx != 0 && dy != 0 ? 14u : 10u));
    }
  }
  /// Below 0: it does not get there.
  double way_m(GroundPlace from) const {
    const std::int32_t x = from.x - low_.x, y = from.y - low_.y, h = from.half - 2 * low_.z;
    if (!inner(x, y, h) || best_[at(x, y, h)] == far) return -1;
    return best_[at(x, y, h)] * 0.1;
  }
  /// All from which there is a way.
  std::vector<GroundPlace> reached() const {
    std::vector<GroundPlace> out;
    for (std::size_t place = 0; place < best_.size(); ++place) {
      const auto n = static_cast<std::int32_t>(place);
      if (best_[place] != far)
        out.push_back({low_.x + n / (2 * size_.z) % size_.x, low_.y + n / (2 * size_.z) / size_.x,
                       2 * low_.z + n % (2 * size_.z)});
    }
    return out;
  }
  bool stands_at(GroundPlace p) const {
    const std::int32_t x = p.x - low_.x, y = p.y - low_.y, h = p.half - 2 * low_.z;
    return inner(x, y, h) && stands(x, y, h);
  }

 private:
  static constexpr std::uint32_t far = std::numeric_limits<std::uint32_t>::max();

  void read(std::int32_t x, std::int32_t y, std::int32_t h) {
    bool wet = true;
    for (std::int32_t i = 0; i < 4; ++i) {
      const DVec3 p{low_.x + x - 0.5 + (i & 1), low_.y + y - 0.5 + (i >> 1), low_.z + h * 0.5 + 0.25};
      if (volume_.solid_at(p)) solid_[at(x, y, h)] = 1;
      const IVec3 block{low_.x + x - 1 + (i & 1), low_.y + y - 1 + (i >> 1), low_.z + h / 2};
      wet = wet && volume_.kinds().type(volume_.block(block)).liquid;
    }
    water_[at(x, y, h)] = wet && walker_.swims ? 1 : 0;
  }
  std::size_t at(std::int32_t x, std::int32_t y, std::int32_t h) const {
    return static_cast<std::size_t>((y * size_.x + x) * 2 * size_.z + h);
  }
  bool inner(std::int32_t x, std::int32_t y, std::int32_t h) const {
    return x >= 0 && y >= 0 && h >= 1 && x < size_.x && y < size_.y && h + 20 < 2 * size_.z;
  }
  bool free(std::int32_t x, std::int32_t y, std::int32_t from, std::int32_t to) const {
    for (std::int32_t h = from; h < to; ++h)
      if (solid_[at(x, y, h)] != 0) return false;
    return true;
  }
  bool floats(std::int32_t x, std::int32_t y, std::int32_t h) const {
    return h % 2 == 0 && water_[at(x, y, h)] != 0 && water_[at(x, y, h + 2)] == 0;
  }
  bool stands(std::int32_t x, std::int32_t y, std::int32_t h) const {
    if (!free(x, y, h, h + 4)) return false;
    if (floats(x, y, h)) return true;
    const bool under_water = water_[at(x, y, h)] != 0 && water_[at(x, y, h + 2)] != 0;
    return solid_[at(x, y, h - 1)] != 0 && !under_water;
  }
  bool leads(std::int32_t ax, std::int32_t ay, std::int32_t a, std::int32_t bx, std::int32_t by,
             std::int32_t b) const {
    if (!stands(ax, ay, a)) return false;
    const std::int32_t rise = walker_.climbs || floats(ax, ay, a) ? 2 : 1;
    if (b - a > rise || a - b > 2 * walker_.drop) return false;
    if (ax != bx && ay != by && (a != b || !stands(ax, by, a) || !stands(bx, ay, a))) return false;
    const std::int32_t passes = std::max(a, b);
    return free(ax, ay, a, passes + 4) && free(bx, by, b, passes + 4);
  }

  const VoxelVolume& volume_;
  IVec3 low_, size_;
  BlockWalker walker_;
  std::vector<std::uint8_t> solid_, water_;  // by corner and half block
  std::vector<std::uint32_t> best_;
};

}  // namespace ashlar::testing
