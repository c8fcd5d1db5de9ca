#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "protocol/drop_reason.h"
#include "protocol/messages.h"

// An Input in few bytes: each command told by what differs from the one after it, as a player who runs on
// gives the same again and again. WIRE.md draws its bits.

namespace ashlar {

/// What a packed input begins with. FlatBuffers begin with an even byte: their root lies at a multiple of 4.
inline constexpr std::uint8_t packed_input_mark = 0x01;
/// Is a message of a client a packed input?
inline bool is_packed_input(std::span<const std::uint8_t> message) {
  return !message.empty() && message[0] == packed_input_mark;
}

/// Bytes of a packed input at most: seven of its head, and commands that have nothing in common.
inline constexpr std::size_t packed_input_bytes_max = 7 + (3 + input_commands_max * 108 + 33 + 7) / 8;

/// The same meaning as MessageWriter::write(Input), in a fifth of the bytes for a player who runs on. The
/// newest snapshot seen does not travel: acknowledgements say more. Values beyond the bounds of an Input are
/// asserted.
/// @return the part of `out` that was written
std::span<const std::uint8_t> write_packed_input(const Input& input,
                                                 std::array<std::uint8_t, packed_input_bytes_max>& out);

/// Foreign bytes to a checked input: malformed (cut short, bytes or bits left over) or out_of_range. What
/// comes out is within the bounds of an Input. Allocates nothing.
std::expected<Input, DropReason> decode_packed_input(std::span<const std::uint8_t> message);

}  // namespace ashlar
