#pragma once
#include <array>
#include <cstdint>
#include <expected>

#include "protocol/drop_reason.h"

namespace ashlar {

/// Which of the peer's packets were opened. A sliding window of bits behind the highest sequence. A packet is
/// asked about before it is opened, and marked when it did open, so a forged one moves nothing. 144 bytes.
/// Source: RFC 6479 (blocks of bits cleared as the window moves on).
class ReplayWindow {
 public:
  static constexpr std::uint64_t width = 1024;

  /// Reasons: bad_header (0 is no sequence), duplicate, too_old (`width` or more behind the highest).
  std::expected<void, DropReason> check(std::uint64_t sequence) const {
    if (sequence == 0) return std::unexpected{DropReason::bad_header};
    if (sequence > highest_) return {};
    if (highest_ - sequence >= width) return std::unexpected{DropReason::too_old};
    if ((word(sequence) >> (sequence % 64) & 1) != 0) return std::unexpected{DropReason::duplicate};
    return {};
  }

  /// Precondition: check() lets it pass.
  void mark(std::uint64_t sequence) {
    if (sequence > highest_) {
      const std::uint64_t jump = sequence / 64 - highest_ / 64;
      for (std::uint64_t i = 1; i <= jump && i <= bits_.size(); ++i)
        bits_[static_cast<std::size_t>((highest_ / 64 + i) % bits_.size())] = 0;
      highest_ = sequence;
    }
    bits_[index(sequence)] |= std::uint64_t{1} << (sequence % 64);
  }

  /// 0: none.
  std::uint64_t highest() const { return highest_; }

 private:
  // One word more than the window, as its ends may lie in one word's two halves.
  std::array<std::uint64_t, width / 64 + 1> bits_{};
  static std::size_t index(std::uint64_t sequence) {
    return static_cast<std::size_t>(sequence / 64 % (width / 64 + 1));
  }
  std::uint64_t word(std::uint64_t sequence) const { return bits_[index(sequence)]; }
  std::uint64_t highest_ = 0;
};

}  // namespace ashlar
