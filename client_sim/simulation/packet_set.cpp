#include "client_sim/simulation/packet_set.h"

#include "world/math/random.h"

namespace ashlar::simulation {

std::uint64_t PacketSet::hash_of(std::span<const std::uint8_t> packet) {
  std::uint64_t hash = packet.size();
  for (const std::uint8_t byte : packet) hash = (hash ^ byte) * 0x100000001b3;
  hash = mix64(hash) & ~std::uint64_t{1};
  return hash == 0 ? 2 : hash;
}

/// Its row, or the free one where it would be. Precondition: not all rows are taken.
std::size_t PacketSet::find(std::uint64_t hash) const {
  const std::size_t mask = rows_.size() - 1;
  std::size_t at = (hash >> 1) & mask;
  while (rows_[at] != 0 && (rows_[at] & ~std::uint64_t{1}) != hash) at = (at + 1) & mask;
  return at;
}

void PacketSet::say(std::span<const std::uint8_t> packet) {
  if (said_ == packets_max) return;
  if (3 * said_ >= 2 * rows_.size()) {
    std::vector<std::uint64_t> before(rows_.empty() ? 1024 : 2 * rows_.size());
    before.swap(rows_);
    for (const std::uint64_t row : before)
      if (row != 0) rows_[find(row & ~std::uint64_t{1})] = row;
  }
  const std::uint64_t hash = hash_of(packet);
  std::uint64_t& row = rows_[find(hash)];
  if (row != 0) return;
  row = hash;
  ++said_;
}

bool PacketSet::deliver(std::span<const std::uint8_t> packet) {
  if (rows_.empty()) return false;
  std::uint64_t& row = rows_[find(hash_of(packet))];
  if (row == 0 || (row & 1) != 0) return false;
  row |= 1;
  ++delivered_;
  return true;
}

void PacketSet::clear() {
  rows_ = std::vector<std::uint64_t>{};
  said_ = delivered_ = 0;
}

}  // namespace ashlar::simulation
