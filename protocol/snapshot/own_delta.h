#pragma once
#include <cstdint>

#include "protocol/bit_stream.h"
#include "protocol/messages.h"

// The own player in packed snapshots: to the last bit, and few bits of it while it runs or stands. Who runs
// ahead of the server says with each command what it foresees of its tick, by a hash. Where the server finds
// the same, to the bit, that state is a base at once, and telling it takes three bytes.

namespace ashlar {

/// Bytes of a coded own player at most.
inline constexpr std::size_t coded_own_bytes_max = 168;
/// So many ticks back a state that was foreseen may be a base; who says what it foresees keeps as many more
/// as its commands are ahead.
inline constexpr std::uint32_t foreseen_age_max = 16;

/// Of all that an OwnPlayer holds, bit for bit; never 0. WIRE.md says how it is made. About 20 ns.
std::uint32_t own_hash(const OwnPlayer& own);

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
