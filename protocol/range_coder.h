#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "world/math/assert.h"

// Decisions whose odds are known, in few bits: a binary range coder with odds that learn. Writer and reader
// have the same interface, so that one piece of code says what is written and how it is read: each call names
// a value, the writer writes it and gives it back, the reader gives back the one that it reads.
//
// Decisions are inlined into who codes: a reader that nobody else is given then lies in registers. In memory
// each decision waits for the one before to be stored: half as long again to read a block, up to twice as
// long, but for processors that rename the stack (4 % on a Zen 4).

namespace ashlar {

/// How likely a decision is to be 1, in 1/65536. Never 0 nor 1: learning stops short of them.
template <unsigned shift>  ///< each decision moves the odds 2^-shift of the way
struct OddsBy {
  std::uint16_t one = 32768;

  constexpr void learn(bool was) {
    one = static_cast<std::uint16_t>(was ? one + ((65536u - one) >> shift) : one - (one >> shift));
  }
};

using Odds = OddsBy<4>;
/// Of what many have in common: it is seen at the first few.
using QuickOdds = OddsBy<2>;

/// Odds of a number below 16, its highest bit first: each bit's depend on those above it.
template <class Each>
struct TreeOf {
  std::array<Each, 16> node{};  // 0 is not used
};
using OddsTree = TreeOf<Odds>;
using QuickTree = TreeOf<QuickOdds>;

/// Writes decisions to memory that somebody else owns. What finds no room is dropped, and overflowed() says
/// so. One thread.
class RangeWriter {
 public:
  static constexpr bool writing = true;
  explicit RangeWriter(std::span<std::uint8_t> out) : out_(out) {}

  template <class AnyOdds>
  [[gnu::always_inline]] bool bit(AnyOdds& odds, bool value) {
    const std::uint32_t bound = (range_ >> 16) * odds.one;
    if (value) {
      range_ = bound;
    } else {
      low_ += bound;
      range_ -= bound;
    }
    odds.learn(value);
    normalise();
    return value;
  }
  /// The low `count` bits of a value, 0 to 32, each as likely as any; what is above must be zero.
  std::uint32_t raw(unsigned count, std::uint32_t value) {
    if (count > 16) {
      raw(count - 16, value >> 16);
      raw(16, value & 0xffffu);
      return value;
    }
    range_ >>= count;
    low_ += std::uint64_t{range_} * value;
    normalise();
    return value;
  }
  bool overflowed() const { return overflowed_; }

  /// Ends with the fewest bytes that say all. @return how many, without zeros at the end
  std::size_t finish();

 private:
  [[gnu::always_inline]] void normalise() {
    while (range_ < 1u << 24) {
      put_byte();
      range_ <<= 8;
    }
  }
  void put_byte() {
    if (low_ >> 32 != 0) carry();
    if (used_ < out_.size())
      out_[used_++] = static_cast<std::uint8_t>(low_ >> 24);
    else
      overflowed_ = true;
    low_ = (low_ & 0xffffffu) << 8;
  }
  void carry() {
    for (std::size_t i = used_; i > 0; --i) {
      out_[i - 1] = static_cast<std::uint8_t>(out_[i - 1] + 1);
      if (out_[i - 1] != 0) break;
    }
    low_ &= 0xffffffffu;
  }

  std::span<std::uint8_t> out_;
  std::size_t used_ = 0;
  std::uint64_t low_ = 0;  // bit 32 is a carry
  std::uint32_t range_ = 0xffffffffu;
  bool overflowed_ = false;
};

/// The number with the fewest bytes in low to low + range - 1, of which 32 bits count.
constexpr std::uint64_t shortest_in(std::uint32_t low, std::uint32_t range) {
  for (unsigned zeros = 32; zeros > 0; zeros -= 8) {
    const std::uint64_t mask = (std::uint64_t{1} << zeros) - 1;
    const std::uint64_t value = (low + mask) & ~mask;
    if (value <= std::uint64_t{low} + range - 1) return value;
  }
  return low;
}

inline std::size_t RangeWriter::finish() {
  if (low_ >> 32 != 0) carry();
  low_ = shortest_in(static_cast<std::uint32_t>(low_), range_);
  for (int i = 0; i < 4; ++i) {
    if (low_ == 0 && !overflowed_) break;
    put_byte();
  }
  if (low_ >> 32 != 0) carry();
  while (used_ > 0 && out_[used_ - 1] == 0) --used_;
  return used_;
}

/// Reads what a RangeWriter wrote, or foreign bytes: behind their end are zeros. Whether they were the ones
/// that a writer writes is known at the end. One thread.
class RangeReader {
 public:
  static constexpr bool writing = false;
  explicit RangeReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    for (int i = 0; i < 4; ++i) fetch();
    failed_ = code_ >= range_;
  }

  template <class AnyOdds>
  [[gnu::always_inline]] bool bit(AnyOdds& odds, bool = false) {
    const std::uint32_t bound = (range_ >> 16) * odds.one;
    // Two ways apart to their ends, as most decisions are guessed right: the processor goes on with the next
    // one, where a choice of operands would wait for this.
    if (code_ < bound) {
      range_ = bound;
      odds.learn(true);
      normalise();
      return true;
    }
    code_ -= bound;
    range_ -= bound;
    odds.learn(false);
    normalise();
    return false;
  }
  [[gnu::always_inline]] std::uint32_t raw(unsigned count, std::uint32_t = 0) {
    if (count <= 16) return raw_few(count);
    const std::uint32_t high = raw_few(count - 16);
    return high << 16 | raw_few(16);
  }

  /// Decisions in bits so far, rounded.
  std::size_t bits_read() const {
    return 8 * (next_ - 4) + 32 - static_cast<unsigned>(std::bit_width(range_));
  }
  /// All was read, and the bytes are those that a writer of the same decisions writes.
  bool at_end() const {
    if (failed_ || bytes_.size() > next_ || (!bytes_.empty() && bytes_.back() == 0)) return false;
    std::uint32_t window = 0;  // the four bytes that the next decisions are in
    for (std::size_t i = next_ - 4; i < next_; ++i) window = window << 8 | byte_at(i);
    const std::uint32_t low = window - code_;
    return static_cast<std::uint32_t>(shortest_in(low, range_) - low) == code_;
  }

 private:
  [[gnu::always_inline]] std::uint32_t raw_few(unsigned count) {
    range_ >>= count;
    const std::uint32_t most = (1u << count) - 1;
    const std::uint32_t value = std::min(code_ / range_, most);  // foreign bytes may be above
    code_ -= value * range_;
    if (code_ >= range_) failed_ = true, code_ = 0;
    normalise();
    return value;
  }
  [[gnu::always_inline]] std::uint8_t byte_at(std::size_t i) const {
    return i < bytes_.size() ? bytes_[i] : std::uint8_t{0};
  }
  [[gnu::always_inline]] void fetch() { code_ = code_ << 8 | byte_at(next_++); }
  [[gnu::always_inline]] void normalise() {
    while (range_ < 1u << 24) {
      fetch();
      range_ <<= 8;
    }
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
  std::uint32_t code_ = 0, range_ = 0xffffffffu;
  bool failed_ = false;
};

/// A number below 16.
template <class Coder, class Tree>
[[gnu::always_inline]] inline unsigned code_tree(Coder& coder, Tree& odds, unsigned value) {
  unsigned at = 1;
  for (int i = 3; i >= 0; --i) at = at << 1 | (coder.bit(odds.node[at], (value >> i & 1) != 0) ? 1u : 0u);
  return at & 15;
}

/// A signed number: how many bits its size has, then these. Sizes of 15 bits or more take `wide` bits in
/// all; the value fits them in two's complement.
/// @param wide  17 to 32
template <class Coder, class Tree>
[[gnu::always_inline]] inline std::int32_t code_number(Coder& coder, Tree& odds, std::int32_t value,
                                                       unsigned wide = 17) {
  const std::uint32_t size =
      value < 0 ? 0u - static_cast<std::uint32_t>(value) : static_cast<std::uint32_t>(value);
  const unsigned width = code_tree(coder, odds, std::min(static_cast<unsigned>(std::bit_width(size)), 15u));
  if (width == 0) return 0;
  if (width == 15) {
    const std::uint32_t mask = wide == 32 ? 0xffffffffu : (1u << wide) - 1;
    const std::uint32_t told = coder.raw(wide, static_cast<std::uint32_t>(value) & mask);
    const std::uint32_t sign = 1u << (wide - 1);
    return static_cast<std::int32_t>((told ^ sign) - sign);
  }
  const std::uint32_t top = 1u << (width - 1);
  const std::uint32_t told = coder.raw(width, Coder::writing ? (size - top) << 1 | (value < 0 ? 1u : 0u) : 0);
  const auto is = static_cast<std::int32_t>(top + (told >> 1));
  return (told & 1) != 0 ? -is : is;
}

}  // namespace ashlar
