#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include "protocol/bytes.h"
#include "protocol/recording.h"

namespace ashlar {

class ChunkCodec;

/// The payload of a recording's first block, in the layout of the header's own version.
std::vector<std::uint8_t> encode_recording_header(const RecordingHeader& header);

/// Reads what encode_recording_header() wrote, of any version from recording_version_min on; what a version
/// did not have yet is as it was then. Errors: wrong_version; damaged_header for values out of their range,
/// kinds of blocks that are none, and bytes left over. Allocates what the header names, bounded by `payload`.
std::expected<RecordingHeader, RecordingError> decode_recording_header(std::span<const std::uint8_t> payload);

/// A chunk that is not as it was generated: coordinates, and its bytes behind their number.
void put_recorded_chunk(ByteWriter& w, const ChangedChunk& chunk);
/// False, and `out` undefined, for what put_recorded_chunk() does not write, and for bytes that are no chunk.
/// Cost: of decoding it, some 0.1 ms.
bool get_recorded_chunk(ByteReader& r, ChunkCodec& codec, ChangedChunk& out);

/// A signed number of 32 bits; `sane` becomes false, and stays it, where it is out of range.
inline std::int32_t get_i32(ByteReader& r, bool& sane) {
  const std::int64_t v = r.svarint();
  if (v < INT32_MIN || v > INT32_MAX) sane = false;
  return static_cast<std::int32_t>(v);
}

}  // namespace ashlar
