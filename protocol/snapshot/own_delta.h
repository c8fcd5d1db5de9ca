#pragma once
#include <cstdint>

#include "protocol/bit_stream.h"
#include "protocol/messages.h"

// The own player in packed snapshots: to the last bit, and few bits of it while it runs or stands.

namespace ashlar {

/// Bytes of a coded own player at most.
inline constexpr std::size_t coded_own_bytes_max = 168;

/// Codes an own player against an older one: each number by how many steps of its last place it is off from
/// where the older one's velocity leads, so what is exactly foretold costs a bit.
/// @param base  as it was `age` ticks ago; for age 0 a fresh OwnPlayer
void encode_own(const OwnPlayer& now, const OwnPlayer& base, std::uint32_t age, std::uint32_t tick_rate_hz,
                BitWriter& out);

/// Reads what encode_own() wrote. False when the reader failed, or a number is not one that a server says
/// (own_sane()).
bool decode_own(BitReader& in, const OwnPlayer& base, std::uint32_t age, std::uint32_t tick_rate_hz,
                OwnPlayer& out);

}  // namespace ashlar
