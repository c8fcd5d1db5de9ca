#include "server/host/connection_ids.h"

#include "world/math/assert.h"

namespace ashlar::server {
namespace {

constexpr std::uint32_t drawn_bits = 24;
constexpr std::uint32_t drawn_mask = (1u << drawn_bits) - 1;

/// Purposes of the secret, far from those of the gate's tables: what is told of one tells nothing of another.
enum class Purpose : std::uint64_t { mask = 0x6d61736b, draw = 0x64726177 };

SecretKey derived(const SecretKey& secret, Purpose purpose, std::uint8_t room) {
  const std::uint64_t number = static_cast<std::uint64_t>(purpose) << 16 | std::uint64_t{room} << 1;
  return {keyed_hash(secret, number), keyed_hash(secret, number | 1)};
}

std::uint8_t mask_of(const SecretKey& secret, std::uint32_t drawn) {
  return static_cast<std::uint8_t>(
      keyed_hash(secret, static_cast<std::uint64_t>(Purpose::mask) << 32 | drawn));
}

}  // namespace

ConnectionIds::ConnectionIds(const SecretKey& secret, std::uint8_t room)
    : secret_(secret), own_(derived(secret, Purpose::draw, room)), room_(room) {}

std::uint32_t ConnectionIds::draw() {
  std::uint32_t id = 0;
  while (id == 0) {
    const auto drawn = static_cast<std::uint32_t>(keyed_hash(own_, ++drawn_)) & drawn_mask;
    id = static_cast<std::uint32_t>(room_ ^ mask_of(secret_, drawn)) << drawn_bits | drawn;
  }
  ASHLAR_ASSERT(room_of(secret_, id) == room_);
  return id;
}

std::uint8_t ConnectionIds::room_of(const SecretKey& secret, std::uint32_t id) {
  return static_cast<std::uint8_t>(id >> drawn_bits) ^ mask_of(secret, id & drawn_mask);
}

}  // namespace ashlar::server
