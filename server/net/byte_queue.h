#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ashlar::server {

/// Bytes waiting for a connection, bounded. Appending past the bound is refused whole, so that a stream
/// never holds half a packet. The memory grows to what was needed and stays.
class ByteQueue {
 public:
  explicit ByteQueue(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// @return false, and nothing queued, when both parts together do not fit
  bool push(std::span<const std::uint8_t> head, std::span<const std::uint8_t> body) {
    const std::size_t add = head.size() + body.size();
    if (size() + add > bytes_max_) return false;
    // What was read is given back only when it is the larger part, so each byte moves at most twice.
    if (read_ > 0 && read_ >= size()) {
      std::memmove(bytes_.data(), bytes_.data() + read_, size());
      bytes_.resize(size());
      read_ = 0;
    }
    bytes_.insert(bytes_.end(), head.begin(), head.end());
    bytes_.insert(bytes_.end(), body.begin(), body.end());
    return true;
  }

  std::span<const std::uint8_t> front() const { return {bytes_.data() + read_, size()}; }

  void pop(std::size_t count) {
    read_ += count;
    if (read_ == bytes_.size()) bytes_.clear(), read_ = 0;
  }

  std::size_t size() const { return bytes_.size() - read_; }
  bool empty() const { return size() == 0; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t read_ = 0;
  std::size_t bytes_max_;
};

}  // namespace ashlar::server
