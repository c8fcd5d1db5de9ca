#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include "world/sim/kept_state.h"

// What of a running world is kept beside its blocks, as bytes for disks (little endian):
//
//   state    = version u8 (3) | falling | maps | monsters of u64 | monsters | kinds of u64 | projectiles |
//              match | built
//   falling  = count varint | count times: x, y, z svarint
//   maps     = count varint | count times: hash u64 | heights | movers | spent
//   heights  = sectors varint | each: floor f64, ceiling f64
//   movers   = count varint | each: sector varint, plane, motion, phase, resume u8, flags u8 (1 crushes,
//              2 slows, 4 pressed, 8 fresh), low, high, speed, wait, left, hurt in f64
//   spent    = lines varint | a bit each, the lowest first
//   monsters = count varint | each: row varint, kind u8, flags u8 (1 deaf, 2 asleep), health u16,
//              respawn ticks u32, position and home 3 f64 each, yaw and yaw at home u16
//   projectiles = count varint | each: kind u8, bounces left u8, life ticks u16, owner's row + 1 varint
//              (0: nobody), position and velocity 3 f64 each
//   match    = mode u8, phase u8, number varint, ticks left varint, scores of 4 teams svarint
//   built    = builders varint | count varint | each: x, y, z svarint, builder varint
//
// Version 1, of stores of format 5, ends with the monsters; version 2, of format 6, with the match.

namespace ashlar {

/// Appends nothing to what `out` held: it is replaced, and its memory used again.
void encode_kept_state(const KeptState& state, std::vector<std::uint8_t>& out);

/// Why bytes are no state.
enum class KeptStateError : std::uint8_t { wrong_version, damaged };
/// Half a sentence for people; a literal.
const char* describe(KeptStateError error);

/// What encode_kept_state() made these bytes of; any bytes are allowed. Places are within the world, numbers
/// finite and movers sane; whether it is this world's is for it to say (kept_state.h).
std::expected<KeptState, KeptStateError> decode_kept_state(std::span<const std::uint8_t> bytes);

}  // namespace ashlar
