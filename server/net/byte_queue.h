#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ashlar::server {

/// Bytes waiting for a connection, bounded. Appending past the bound is refused whole, so that a stream
/// never holds half a packet. The memory grows to what was needed, never beyond the bound, and stays.
class ByteQueue {
 public:
  /// @param reserve  of bytes_max, for last words alone
  explicit ByteQueue(std::size_t bytes_max, std::size_t reserve = 0)
      : bytes_max_(bytes_max), reserve_(reserve < bytes_max ? reserve : 0) {}

  /// @param last  may use the reserve
  /// @return false, and nothing queued, when both parts together do not fit
  bool push(std::span<const std::uint8_t> head, std::span<const std::uint8_t> body, bool last = false) {
    const std::size_t add = head.size() + body.size();
    if (size() + add > bytes_max_ - (last ? 0 : reserve_)) return false;
    // What was read is given back when it is the larger part, so each byte moves at most twice, or when the
    // memory would grow otherwise.
    if (read_ > 0 && (read_ >= size() || bytes_.size() + add > bytes_.capacity())) {
      std::memmove(bytes_.data(), bytes_.data() + read_, size());
      bytes_.resize(size());
      read_ = 0;
    }
    if (const std::size_t wanted = bytes_.size() + add; wanted > bytes_.capacity())
      bytes_.reserve(std::min(bytes_max_, std::max(wanted, 2 * bytes_.capacity())));
    bytes_.insert(bytes_.end(), head.begin(), head.end());
    bytes_.insert(bytes_.end(), body.begin(), body.end());
    return true;
  }

  /// All that waits, oldest first. Valid until the next push() or pop().
  std::span<const std::uint8_t> front() const { return {bytes_.data() + read_, size()}; }

  /// Takes the oldest bytes away. Precondition: count <= size(); not checked.
  void pop(std::size_t count) {
    read_ += count;
    if (read_ == bytes_.size()) bytes_.clear(), read_ = 0;
  }

  std::size_t size() const { return bytes_.size() - read_; }      ///< bytes waiting
  bool empty() const { return size() == 0; }                      ///< nothing waits
  std::size_t memory_bytes() const { return bytes_.capacity(); }  ///< held, waiting or not

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t read_ = 0;
  std::size_t bytes_max_, reserve_;
};

}  // namespace ashlar::server
