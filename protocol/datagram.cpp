#include "protocol/datagram.h"

#include <cstring>

#include "world/math/assert.h"

namespace ashlar {

bool DatagramBatch::add(const PeerAddress& peer, std::span<const std::uint8_t> bytes) {
  if (bytes.size() > datagram_bytes_max) return false;
  const std::span<std::uint8_t> out = append(peer, bytes.size());
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return true;
}

std::span<std::uint8_t> DatagramBatch::append(const PeerAddress& peer, std::size_t size) {
  ASHLAR_ASSERT(size <= datagram_bytes_max);
  const std::size_t first_word = words_used_;
  words_used_ += (size + 7) / 8;
  // Twice what is needed, and never less again: what is there is not filled with zeros a second time.
  if (words_.size() < words_used_) words_.resize(2 * words_used_);
  entries_.push_back({peer, static_cast<std::uint32_t>(first_word * 8), static_cast<std::uint32_t>(size)});
  return {reinterpret_cast<std::uint8_t*>(words_.data() + first_word), size};
}

std::span<const std::uint8_t> DatagramBatch::bytes(const Entry& entry) const {
  return {reinterpret_cast<const std::uint8_t*>(words_.data()) + entry.offset, entry.size};
}

}  // namespace ashlar
