#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/messages.h"
#include "protocol/snapshot/packed_part.h"
#include "world/bsp/heights.h"

// Heights of a slice of a map's sectors in packed snapshots: those that changed since a tick that the
// receiver holds, as they are now.

namespace ashlar {

/// WireHeights of a sector. Heights beyond +-32767 m are clamped.
WireHeights quantise_heights(const SectorHeights& heights);

/// Bytes of a coded slice at most.
inline constexpr std::size_t coded_slice_bytes_max = 640;

/// Codes the heights of some of a slice's sectors, by ascending sector.
/// @param out  at least coded_slice_bytes_max bytes; @return how many were written
std::size_t encode_heights(std::span<const SliceHeight> changed, std::span<std::uint8_t> out);

/// Reads what encode_heights() wrote, or foreign bytes. False: they are no slice.
bool decode_heights(std::span<const std::uint8_t> bytes, std::vector<SliceHeight>& out);

}  // namespace ashlar
