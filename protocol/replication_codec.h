#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <vector>

#include "world/sim/replication.h"

// What clients are told of, by kind, as bytes behind a welcome. Little endian:
//
//   u8   format, 1
//   u8   fields that every entity has
//   each u8 bytes of its name, the name
//        u8   bits
//        u8   1 signed, 2 interpolated
//        f64  step
//   u8   kinds, by their numbers
//   each u8   first number, u8 last
//        u8 bytes of its name, the name
//        u8   1: its motion is foretold by its velocity
//        u8   added fields
//        each u8 bytes of its name, the name
//             u8   bits
//             u8   whom to: 0 all, 1 its owner, 2 its team; and 4: interpolated
//             f64  value of 0 steps, f64 step
//   u8   kinds of messages
//   each u8 bytes of its name, the name
//        u16  bytes of one at most

namespace ashlar {

/// Of 64 kinds with eight fields and the longest names, as many messages, and a little.
inline constexpr std::size_t replication_bytes_max = 40960;

/// Why bytes are no registry.
enum class ReplicationError : std::uint8_t {
  format,    ///< another format than this build's
  cut,       ///< they end early, or go on behind the last message
  standard,  ///< the fields of every entity are others than this build's
  kinds,     ///< ReplicationRegistry::checked() refuses them
};

/// At most replication_bytes_max. The same registry gives the same bytes. Allocates.
std::vector<std::uint8_t> encode_replication(const ReplicationRegistry& registry);

/// Foreign bytes: every value is checked. Ours comes back as the built-in registry itself.
std::expected<std::shared_ptr<const ReplicationRegistry>, ReplicationError> decode_replication(
    std::span<const std::uint8_t> bytes);

/// Over those bytes: who has a registry of a welcome's hash need not wait for it. Allocates.
std::uint64_t replication_hash(const ReplicationRegistry& registry);

}  // namespace ashlar
