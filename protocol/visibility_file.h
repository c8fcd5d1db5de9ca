#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include "world/bsp/visibility.h"

// The file format of a kept visibility set, little-endian:
//
//   u32  visibility_file_magic
//   u32  visibility_rules
//   u64  key: content_hash() of the compiled map
//   u32  sectors, u32 row words
//   u64  rows, sectors times row words of them; bits past the last sector are 0
//   u8   seen from above, by sector, 0 or 1
//   u64  Hasher over all bytes before

namespace ashlar {

inline constexpr std::uint32_t visibility_file_magic = 0x53495641;  // "AVIS"

enum class VisibilityFileError : std::uint8_t {
  foreign,    ///< does not begin as these files do
  outdated,   ///< made under other visibility_rules
  other_map,  ///< of another map, or of another number of sectors
  wrong_size,
  damaged,  ///< the bytes do not agree with their hash, or mean nothing
};
/// As a line of the log says it.
const char* reason(VisibilityFileError error);

/// Bytes of the file for so many sectors.
std::size_t visibility_file_bytes(std::uint32_t sectors);

/// The whole file, visibility_file_bytes() long. @param key  content_hash() of the compiled map
std::vector<std::uint8_t> encode_visibility(const SectorVisibility& set, std::uint64_t key);

/// Bytes of any origin to a set that is safe to use with a map of so many sectors. The hash finds damage, not
/// malice: who can write the file can hide players from each other, and no more.
std::expected<SectorVisibility, VisibilityFileError> decode_visibility(std::span<const std::uint8_t> bytes,
                                                                       std::uint64_t key,
                                                                       std::uint32_t sectors);

}  // namespace ashlar
