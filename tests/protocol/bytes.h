#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "protocol/block.h"
#include "protocol/snapshot_writer.h"

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

/// A part of the snapshot begun.
inline AlignedBytes part_of(const SnapshotWriter& writer, std::size_t part) {
  AlignedBytes message(std::vector<std::uint8_t>(writer.part_bytes(part), 0xee));
  writer.write(part, message.span());
  return message;
}

/// Adds a block, in as much more room as it takes: what the arena gave out before is good no longer.
inline CellBlock add_block(BlockArena& arena, const CellHeader& header,
                           std::span<const EntityRecord> entities) {
  arena.reserve(block_bytes(entities.size()));
  arena.open(header.cell, header.first, header.last);
  for (const EntityRecord& e : entities) arena.add(e);
  return arena.close();
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
