#pragma once
#include <cstddef>
#include <cstdint>

namespace ashlar {

/// Parts that a snapshot may have.
inline constexpr std::size_t snapshot_parts_max = 32;
/// And for how many an operator's setting has to leave room: with fewer, moving floors would leave little for
/// entities.
inline constexpr std::size_t snapshot_parts_least = 4;

/// How a client's snapshots are coded: both tell the same, by blocks and bases.
enum class SnapshotEncoding : std::uint8_t {
  plain,  ///< FlatBuffers: what changed, whole
  packed  ///< bits: what is other than foretold
};

inline constexpr std::int8_t input_ahead_none = -128;

/// Ticks that a command may be ahead of the snapshot that says that it was applied: more than any server
/// takes.
inline constexpr std::uint32_t applied_ahead_max = 256;

/// What each part of a snapshot says of all of it.
struct PartHead {
  std::uint32_t tick = 0;
  std::uint32_t applied_tick =
      0;  ///< newest command the simulation applied, less than 256 above tick; 0: none
  std::int8_t input_ahead = input_ahead_none;  ///< newest command's tick minus tick, clamped
  std::uint8_t world = 0;                      ///< the welcome's
  /// Counts how often the server has forgotten what this client holds, from 1 and over 255 to 1. What was
  /// told in another epoch is gone.
  std::uint8_t epoch = 1;
  std::uint8_t part = 0, part_count = 1;
};

}  // namespace ashlar
