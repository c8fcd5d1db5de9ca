#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "world/math/assert.h"

// Bits one behind the other, lowest first: bit n of a stream is bit n % 8 of byte n / 8.

namespace ashlar {

/// Appends bits to memory that somebody else owns. One thread.
class BitWriter {
 public:
  /// @param out  room for all that will be put (asserted)
  explicit BitWriter(std::span<std::uint8_t> out) : out_(out) {}

  /// The low `count` bits of a value, 0 to 32; what is above them must be zero (asserted).
  void put(std::uint32_t value, unsigned count) {
    ASHLAR_ASSERT(count == 32 || value >> count == 0);
    held_ |= std::uint64_t{value} << held_count_;
    held_count_ += count;
    while (held_count_ >= 8) flush_byte();
  }
  void put_bit(bool value) { put(value ? 1 : 0, 1); }
  /// A signed value in two's complement. Precondition: it fits (asserted).
  void put_signed(std::int32_t value, unsigned count) {
    ASHLAR_ASSERT(value >= -(1 << (count - 1)) && value < 1 << (count - 1));
    put(static_cast<std::uint32_t>(value) & ((1u << count) - 1), count);
  }
  /// Elias gamma of value + 1: 1 bit for 0, 3 for 1 and 2, 5 up to 6, ... Precondition: below 2^31 - 1
  /// (asserted).
  void put_gamma(std::uint32_t value) {
    ASHLAR_ASSERT(value < (1u << 31) - 1);
    const auto width = static_cast<unsigned>(std::bit_width(value + 1));
    ASHLAR_ASSERT(width > 0);
    put(0, width - 1);
    put(1, 1);
    put((value + 1) & ((1u << (width - 1)) - 1), width - 1);
  }

  /// Fills the last byte up with zeros. @return bytes written so far
  std::size_t finish() {
    if (held_count_ > 0) {
      held_count_ = 8;
      flush_byte();
    }
    return used_;
  }

 private:
  void flush_byte() {
    ASHLAR_ASSERT(used_ < out_.size());
    out_[used_++] = static_cast<std::uint8_t>(held_);
    held_ >>= 8;
    held_count_ -= 8;
  }

  std::span<std::uint8_t> out_;
  std::size_t used_ = 0;
  std::uint64_t held_ = 0;
  unsigned held_count_ = 0;
};

/// Reads what a BitWriter wrote, or foreign bytes: behind their end are zeros, and failed() says that it was
/// read. One thread.
class BitReader {
 public:
  explicit BitReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  /// @param count  0 to 32
  std::uint32_t get(unsigned count) {
    if (held_count_ < count) {
      if (bytes_.size() - next_ >= 4)
        fetch_word();
      else
        *this = at_the_end(*this, count);
    }
    const auto value = static_cast<std::uint32_t>(held_ & ((std::uint64_t{1} << count) - 1));
    held_ >>= count;
    held_count_ -= count;
    return value;
  }
  bool get_bit() { return get(1) != 0; }
  std::int32_t get_signed(unsigned count) {
    const std::uint32_t value = get(count);
    const std::uint32_t sign = 1u << (count - 1);
    return static_cast<std::int32_t>(value ^ sign) - static_cast<std::int32_t>(sign);
  }
  /// What put_gamma() wrote. More than 30 leading zeros fail.
  std::uint32_t get_gamma() {
    unsigned zeros = 0;
    if (held_ != 0) {  // the one that ends the zeros is there
      zeros = static_cast<unsigned>(std::countr_zero(held_));
      held_ >>= zeros + 1;
      held_count_ -= zeros + 1;
    } else {
      while (!failed_ && !get_bit()) ++zeros;
    }
    if (zeros > 30) failed_ = true;
    return failed_ ? 0 : ((1u << zeros) | get(zeros)) - 1;
  }

  bool failed() const { return failed_; }
  /// Bits that were read so far, of bytes that are there.
  std::size_t bits_read() const { return 8 * next_ - (held_count_ < 8 * next_ ? held_count_ : 8 * next_); }
  /// All was read but zeros that fill up the last byte.
  bool at_end() const { return !failed_ && next_ == bytes_.size() && held_count_ < 8 && held_ == 0; }

 private:
  /// Four bytes at once, to at most 31 bits that are held.
  void fetch_word() {
    const std::uint8_t* const b = bytes_.data() + next_;
    const std::uint32_t word =
        b[0] | std::uint32_t{b[1]} << 8 | std::uint32_t{b[2]} << 16 | std::uint32_t{b[3]} << 24;
    held_ |= std::uint64_t{word} << held_count_;
    held_count_ += 32;
    next_ += 4;
  }
  /// With `count` bits held at least, the last bytes one by one and zeros behind them. By value, so that who
  /// reads many keeps the reader in registers.
  [[gnu::noinline]] static BitReader at_the_end(BitReader in, unsigned count) {
    while (in.held_count_ < count) {
      if (in.next_ < in.bytes_.size())
        in.held_ |= std::uint64_t{in.bytes_[in.next_++]} << in.held_count_;
      else
        in.failed_ = true;
      in.held_count_ += 8;
    }
    return in;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
  std::uint64_t held_ = 0;  // zeros above held_count_
  unsigned held_count_ = 0;
  bool failed_ = false;
};

}  // namespace ashlar
