#include "protocol/connection/byte_ring.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "world/math/assert.h"

namespace ashlar {

void ByteRing::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  ASHLAR_ASSERT(offset >= base_);
  if (bytes.empty()) return;
  const std::uint64_t end = offset + bytes.size();
  if (end - base_ > bytes_.size()) grow(end - base_);
  const std::size_t at = static_cast<std::size_t>(offset) & (bytes_.size() - 1);
  const std::size_t first = std::min(bytes.size(), bytes_.size() - at);
  std::memcpy(bytes_.data() + at, bytes.data(), first);
  if (first < bytes.size()) std::memcpy(bytes_.data(), bytes.data() + first, bytes.size() - first);
  top_ = std::max(top_, end);
}

void ByteRing::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  ASHLAR_ASSERT(offset >= base_);
  ASHLAR_ASSERT(offset + out.size() <= top_);
  if (out.empty()) return;
  const std::size_t at = static_cast<std::size_t>(offset) & (bytes_.size() - 1);
  const std::size_t first = std::min(out.size(), bytes_.size() - at);
  std::memcpy(out.data(), bytes_.data() + at, first);
  if (first < out.size()) std::memcpy(out.data() + first, bytes_.data(), out.size() - first);
}

void ByteRing::advance(std::uint64_t offset) {
  ASHLAR_ASSERT(offset >= base_);
  base_ = offset;
  top_ = std::max(top_, base_);
  if (base_ == top_ && bytes_.size() > kept_bytes) std::vector<std::uint8_t>().swap(bytes_);
}

void ByteRing::truncate(std::uint64_t offset) {
  ASHLAR_ASSERT(offset >= base_);
  ASHLAR_ASSERT(offset <= top_);
  top_ = offset;
  if (base_ == top_ && bytes_.size() > kept_bytes) std::vector<std::uint8_t>().swap(bytes_);
}

void ByteRing::grow(std::uint64_t needed) {
  std::vector<std::uint8_t> larger(
      std::max<std::size_t>(64, std::bit_ceil(static_cast<std::size_t>(needed))));
  // What is held moves to where the new size puts it, in at most two pieces a side.
  for (std::uint64_t offset = base_; offset < top_;) {
    const std::size_t from = static_cast<std::size_t>(offset) & (bytes_.size() - 1);
    const std::size_t to = static_cast<std::size_t>(offset) & (larger.size() - 1);
    const std::size_t count =
        std::min({static_cast<std::size_t>(top_ - offset), bytes_.size() - from, larger.size() - to});
    std::memcpy(larger.data() + to, bytes_.data() + from, count);
    offset += count;
  }
  bytes_.swap(larger);
}

}  // namespace ashlar
