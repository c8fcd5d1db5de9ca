#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ashlar {

/// A stretch of a long stream of bytes, from `base` on, held in memory that grows by doubling as it is
/// written and is given back when nothing is held. Which of its bytes were written is the caller's to know.
class ByteRing {
 public:
  /// Memory below this is kept when nothing is held, so that short messages allocate nothing.
  static constexpr std::size_t kept_bytes = 256;

  /// Offset of the oldest byte held.
  std::uint64_t base() const { return base_; }
  /// Behind the highest byte ever written.
  std::uint64_t top() const { return top_; }

  /// Precondition: offset >= base().
  void write(std::uint64_t offset, std::span<const std::uint8_t> bytes);
  /// Precondition: [offset, offset + out.size()) lies within [base(), top()).
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const;
  /// Forgets what lies below an offset. Precondition: offset >= base(). It may lie above top().
  void advance(std::uint64_t offset);
  /// Forgets what lies at an offset and above it. Precondition: base() <= offset <= top().
  void truncate(std::uint64_t offset);
  std::size_t memory_bytes() const { return bytes_.capacity(); }

 private:
  void grow(std::uint64_t needed);
  std::vector<std::uint8_t> bytes_;  // a power of two of them, or none
  std::uint64_t base_ = 0, top_ = 0;
};

}  // namespace ashlar
