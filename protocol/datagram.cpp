#include "protocol/datagram.h"

#include <cstring>

namespace ashlar {

bool DatagramBatch::add(const PeerAddress& peer, std::span<const std::uint8_t> bytes) {
  if (bytes.size() > datagram_bytes_max) return false;
  const std::size_t first_word = words_.size();
  words_.resize(first_word + (bytes.size() + 7) / 8);
  if (!bytes.empty()) std::memcpy(words_.data() + first_word, bytes.data(), bytes.size());
  entries_.push_back(
      {peer, static_cast<std::uint32_t>(first_word * 8), static_cast<std::uint32_t>(bytes.size())});
  return true;
}

std::span<const std::uint8_t> DatagramBatch::bytes(const Entry& entry) const {
  return {reinterpret_cast<const std::uint8_t*>(words_.data()) + entry.offset, entry.size};
}

}  // namespace ashlar
