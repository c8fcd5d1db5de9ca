#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/snapshot/height_delta.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Heights of all maps' sectors in slices, and when each changed last. Slices are few and mostly rest: each
/// is coded for each client. The Host's thread. No allocation once it has seen its world.
class HeightSlices {
 public:
  /// Call once per published tick, after the step. Cost: 1 ns a sector.
  void gather(const World& world);

  /// A slice: of which map, which of its own, and when something in it changed last.
  struct Slice {
    std::uint8_t map = 0;
    std::uint16_t number = 0;
    std::uint32_t changed = 0;
    std::size_t first = 0, count = 0;  ///< in all sectors of all maps
  };
  std::span<const Slice> slices() const { return slices_; }

  /// Codes what of a slice changed after a tick; 0: all of it. Valid until the next call.
  std::span<const std::uint8_t> coded(std::size_t slice, std::uint32_t base_tick,
                                      SnapshotEncoding encoding = SnapshotEncoding::packed);

 private:
  struct Sector {
    WireHeights heights;
    std::uint32_t changed = 0;
  };
  void begin_world(const World& world, std::uint32_t tick);

  std::vector<Sector> sectors_;
  std::vector<Slice> slices_;
  std::vector<SliceHeight> changed_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace ashlar::server
