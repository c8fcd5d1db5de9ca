#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <vector>

#include "world/voxel/block_registry.h"

// A world's kinds of blocks as bytes: to clients, in recordings and in a world's database. Little endian:
//
//   u8   format, 4: servers send no other; older ones are read from recordings and kept worlds
//   u16  kinds
//   each u8 bytes of its name, the name
//        u8   1 opaque, 2 liquid, 4 climbable, 8 falls, 16 holds a text
//        u8   slots that it holds items in (not in format 1)
//        u8   light
//        u16  damage, points a second
//        u16  what it drops
//        f64  hardness in seconds by hand, pick, axe, shovel; then friction, jump
//        f64  seconds of its timer (this and the next two not in formats 1 and 2)
//        u16  what it becomes then
//        f64  how far it explodes then, metres
//        u8   the tool that it is (not in formats 1 to 3)
//        u8   boxes, 0 to 4; each six u8: west, south, bottom, east, north, top in sixteenths

namespace ashlar {

/// Of 256 kinds with the longest names and four boxes each, and a little.
inline constexpr std::size_t block_kinds_bytes_max = 36 * 1024;

/// Why bytes are none of kinds that a world can have.
enum class BlockKindsError : std::uint8_t {
  format,  ///< another format than this build's
  cut,     ///< they end early, or go on behind the last kind
  kinds,   ///< BlockRegistry::check() refuses them
};

/// At most block_kinds_bytes_max. The same kinds give the same bytes. Allocates.
std::vector<std::uint8_t> encode_block_kinds(const BlockRegistry& kinds);

/// Foreign bytes: every value is checked. The built-in kinds come back as the built-in registry itself.
std::expected<std::shared_ptr<const BlockRegistry>, BlockKindsError> decode_block_kinds(
    std::span<const std::uint8_t> bytes);

}  // namespace ashlar
