#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/cue.h"

// Cues in packed snapshots. Each is told once, in one part: nobody acknowledges them, and nothing is coded
// against them but the ones behind them in the same list. WIRE.md draws their bits.

namespace ashlar {

/// Bytes of a coded list at most.
inline constexpr std::size_t cue_bytes_max = 255;

/// How a list of cues was coded.
struct CodedCues {
  std::size_t count = 0;  ///< that had room
  std::size_t bytes = 0;  ///< 0: none had
};

/// Codes as many as fit, from the first on, at most cues_max. Alike ones behind each other (rays of one shot)
/// are cheap. Precondition: each is cue_sane() (asserted).
/// @param out  is filled to at most its size or cue_bytes_max, whichever is less
CodedCues encode_cues(std::span<const Cue> cues, std::span<std::uint8_t> out);
/// Appends what encode_cues() wrote, or foreign bytes. False: they are no list, and `out` is not to be used.
bool decode_cues(std::span<const std::uint8_t> bytes, std::vector<Cue>& out);

}  // namespace ashlar
