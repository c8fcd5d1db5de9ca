#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ashlar::simulation {

/// Which packets were said, and which of them arrived, by a hash of their bytes: two sealed ones are never
/// alike, so an equal one is the same one again. 16 bytes a packet, at most.
class PacketSet {
 public:
  /// What is beyond is not counted: some ten hours of play.
  static constexpr std::size_t packets_max = 4'000'000;

  /// Adds one packet that was sent.
  void say(std::span<const std::uint8_t> packet);
  /// Counts one that was said, once. @return false: it was not said, or had arrived before
  bool deliver(std::span<const std::uint8_t> packet);
  std::size_t said() const { return said_; }
  std::size_t delivered() const { return delivered_; }
  void clear();
  std::size_t bytes() const { return rows_.capacity() * sizeof rows_[0]; }

 private:
  static std::uint64_t hash_of(std::span<const std::uint8_t> packet);
  std::size_t find(std::uint64_t hash) const;

  // Open addressing, a power of two of them; 0: free. The lowest bit tells that it arrived.
  std::vector<std::uint64_t> rows_;
  std::size_t said_ = 0, delivered_ = 0;
};

}  // namespace ashlar::simulation
