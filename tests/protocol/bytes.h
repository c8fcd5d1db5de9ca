#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "protocol/snapshot/plain_codec.h"
#include "protocol/snapshot/plain_part.h"

namespace ashlar::test {

/// Bytes at an 8-byte boundary in memory of exactly their size (so that the sanitizers see any overrun).
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::span<const std::uint8_t> bytes) : bytes_(bytes.begin(), bytes.end()) {}

  // operator new aligns to 16 bytes.
  std::span<const std::uint8_t> span() const { return bytes_; }
  std::span<std::uint8_t> span() { return bytes_; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// A block of a plain part, whole.
inline std::vector<std::uint8_t> whole_block(CellCoord cell, std::span<const EntityRecord> entities) {
  std::vector<MovingRecord> moving;
  for (const EntityRecord& e : entities) moving.push_back({e, {}});
  std::vector<std::uint8_t> bytes(plain_block_bytes_max);
  bytes.resize(encode_plain_block({cell, moving}, {}, bytes).bytes);
  return bytes;
}

/// "01 02 0a" to bytes.
inline std::vector<std::uint8_t> from_hex(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size();) {
    if (text[i] == ' ' || text[i] == '\n') {
      ++i;
      continue;
    }
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    i += 2;
  }
  return bytes;
}

}  // namespace ashlar::test
