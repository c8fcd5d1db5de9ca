#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "protocol/datagram.h"
#include "world/math/assert.h"

// TCP carries the same packets as UDP, each behind its length: u16, little endian, 1 to 1200.

namespace ashlar {

inline constexpr std::size_t frame_prefix_bytes = 2;

/// The prefix of a packet of `size` bytes. Precondition: 1 <= size <= datagram_bytes_max.
inline std::array<std::uint8_t, frame_prefix_bytes> frame_prefix(std::size_t size) {
  ASHLAR_ASSERT(size >= 1 && size <= datagram_bytes_max);
  return {static_cast<std::uint8_t>(size & 0xff), static_cast<std::uint8_t>(size >> 8)};
}

/// Cuts a byte stream back into packets. Holds at most one unfinished packet; never allocates.
class StreamDeframer {
 public:
  /// Takes the next bytes of the stream and calls sink(std::span<const std::uint8_t> packet) for each packet
  /// they complete. The packet lies in 8-byte aligned memory that the next packet overwrites.
  /// @return false when the stream is broken (a length of 0 or above datagram_bytes_max): the connection must
  ///         be closed; everything after it is ignored.
  template <class Sink>
  bool feed(std::span<const std::uint8_t> bytes, Sink&& sink) {
    while (!broken_ && !bytes.empty()) {
      if (prefix_have_ < frame_prefix_bytes) {
        prefix_[prefix_have_++] = bytes.front();
        bytes = bytes.subspan(1);
        if (prefix_have_ == frame_prefix_bytes) {
          size_ = static_cast<std::size_t>(prefix_[0]) | static_cast<std::size_t>(prefix_[1]) << 8;
          have_ = 0;
          broken_ = size_ == 0 || size_ > datagram_bytes_max;
        }
        continue;
      }
      const std::size_t take = bytes.size() < size_ - have_ ? bytes.size() : size_ - have_;
      std::memcpy(packet_.data() + have_, bytes.data(), take);
      have_ += take;
      bytes = bytes.subspan(take);
      if (have_ == size_) {
        prefix_have_ = 0;
        sink(std::span<const std::uint8_t>(packet_.data(), size_));
      }
    }
    return !broken_;
  }

  bool broken() const { return broken_; }  ///< a length was out of range; for good
  /// Bytes of an unfinished packet or prefix that are being held.
  std::size_t pending_bytes() const {
    return prefix_have_ < frame_prefix_bytes ? prefix_have_ : frame_prefix_bytes + have_;
  }

 private:
  alignas(8) std::array<std::uint8_t, datagram_bytes_max> packet_{};
  std::array<std::uint8_t, frame_prefix_bytes> prefix_{};
  std::size_t prefix_have_ = 0;
  std::size_t size_ = 0;
  std::size_t have_ = 0;
  bool broken_ = false;
};

}  // namespace ashlar
