#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "world/math/vec.h"
#include "world/sim/block_contents.h"

namespace ashlar::server {

/// What one session was told of what blocks hold.
struct ContentsDesk {
  struct Less {
    bool operator()(const IVec3& a, const IVec3& b) const {
      return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
    }
  };
  std::uint8_t world = 0;
  std::optional<IVec3> open;  ///< the chest that it was told of, and the items that were in it
  Inventory held;
  /// What of a block is told to all near it.
  struct Shown {
    SignText text;
    std::uint64_t due = 0;
    friend bool operator==(const Shown&, const Shown&) = default;
  };
  /// Signs and timers near its player. Its client knows these and no others: each that leaves is told gone.
  std::map<IVec3, Shown, Less> shown;
  DVec3 looked_from;         ///< where its player was when all near it was looked through
  double all_within_m2 = 0;  ///< square of how far from there all is told: less than interest if it is full
  bool behind = true;        ///< something near it may not have been told
};

}  // namespace ashlar::server
