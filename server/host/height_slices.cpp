#include "server/host/height_slices.h"

#include <algorithm>

#include "protocol/snapshot/plain_codec.h"
#include "world/sim/world.h"

namespace ashlar::server {

void HeightSlices::begin_world(const World& world, std::uint32_t tick) {
  bytes_.resize(std::max(coded_slice_bytes_max, plain_slice_bytes_max));
  changed_.reserve(height_slice_sectors);
  std::size_t map = 0;
  for (const MapInSpace& placed : world.maps()) {
    for (std::size_t at = 0; at < placed.heights.size(); at += height_slice_sectors) {
      const std::size_t count = std::min(height_slice_sectors, placed.heights.size() - at);
      slices_.push_back({static_cast<std::uint8_t>(map),
                         static_cast<std::uint16_t>(at / height_slice_sectors), tick, sectors_.size(),
                         count});
      for (std::size_t i = 0; i < count; ++i)
        sectors_.push_back({quantise_heights(placed.heights[at + i]), tick});
    }
    ++map;
  }
}

void HeightSlices::gather(const World& world) {
  if (world.maps().empty()) return;
  const std::uint32_t tick = number(world.tick());
  if (sectors_.empty()) return begin_world(world, tick);
  for (Slice& slice : slices_) {
    const HeightsView heights = world.maps()[slice.map].heights;
    const std::size_t first = slice.number * height_slice_sectors;
    for (std::size_t i = 0; i < slice.count; ++i) {
      const WireHeights now = quantise_heights(heights[first + i]);
      Sector& sector = sectors_[slice.first + i];
      if (now.floor == sector.heights.floor && now.ceiling == sector.heights.ceiling) continue;
      sector = {now, tick};
      slice.changed = tick;
    }
  }
}

std::span<const std::uint8_t> HeightSlices::coded(std::size_t slice, std::uint32_t base_tick,
                                                  SnapshotEncoding encoding) {
  const Slice& s = slices_[slice];
  changed_.clear();
  for (std::size_t i = 0; i < s.count; ++i)
    if (sectors_[s.first + i].changed > base_tick)
      changed_.push_back({static_cast<std::uint8_t>(i), sectors_[s.first + i].heights});
  return std::span(bytes_).first(encoding == SnapshotEncoding::packed
                                     ? encode_heights(changed_, bytes_)
                                     : encode_plain_heights(changed_, bytes_));
}

}  // namespace ashlar::server
