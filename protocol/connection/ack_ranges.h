#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ashlar {

/// Packet sequences from first to last, both included.
struct AckRange {
  std::uint64_t first = 0, last = 0;
  friend bool operator==(const AckRange&, const AckRange&) = default;
};

/// Which packets arrived, as ranges, newest first. 1 KiB; no allocation. When there are more than
/// `ranges_max` the oldest is forgotten and counted: its packets look lost to the peer, which sends their
/// data again.
class AckRanges {
 public:
  static constexpr std::size_t ranges_max = 64;

  /// Notes an arrival; the same one twice changes nothing.
  void insert(std::uint64_t sequence);
  /// Forgets all up to a sequence: the peer is known to have heard of them.
  void forget_until(std::uint64_t sequence);

  /// Newest first; neither overlapping nor touching. Valid until the next change.
  std::span<const AckRange> list() const { return std::span(ranges_).first(count_); }
  bool empty() const { return count_ == 0; }
  /// 0: none.
  std::uint64_t largest() const { return count_ == 0 ? 0 : ranges_[0].last; }
  /// Ranges that had to give way.
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  std::size_t count_ = 0;  // before them: most lists are of one range, and so of one line of memory
  std::uint64_t forgotten_ = 0;
  std::array<AckRange, ranges_max> ranges_{};
};

}  // namespace ashlar
