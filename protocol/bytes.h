#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

// Little-endian bytes for formats outside FlatBuffers (recordings, visibility files). The reader never runs
// past its end: it turns false for good and every later read gives zero, so a decoder checks once at the end
// of a record.

namespace ashlar {

/// What a varint takes (ByteWriter::varint).
constexpr std::size_t varint_bytes(std::uint64_t value) {
  std::size_t count = 1;
  for (; value >= 0x80; value >>= 7) ++count;
  return count;
}

/// Appends to bytes that someone else owns and that must outlive it. Allocates as the vector does.
class ByteWriter {
 public:
  /// What `out` holds already stays.
  explicit ByteWriter(std::vector<std::uint8_t>& out) : out_(out) {}
  /// As many bytes as the name says, lowest first; a double by its bits, so NaN and -0 survive.
  void u8(std::uint8_t v) { out_.push_back(v); }
  void u16(std::uint16_t v) { fixed(v, 2); }
  void u32(std::uint32_t v) { fixed(v, 4); }
  void u64(std::uint64_t v) { fixed(v, 8); }
  void f64(double v) { fixed(std::bit_cast<std::uint64_t>(v), 8); }
  /// LEB128: seven bits a byte, lowest first, the top bit says that more follow.
  void varint(std::uint64_t v) {
    for (; v >= 0x80; v >>= 7) u8(static_cast<std::uint8_t>(v | 0x80));
    u8(static_cast<std::uint8_t>(v));
  }
  /// Zigzag: small magnitudes of either sign are short.
  void svarint(std::int64_t v) {
    varint((static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63));
  }
  /// The length in bytes as a varint, then the bytes; any are allowed.
  void text(std::string_view v) {
    varint(v.size());
    out_.insert(out_.end(), v.begin(), v.end());
  }

 private:
  void fixed(std::uint64_t v, int count) {
    for (int i = 0; i < count; ++i) u8(static_cast<std::uint8_t>(v >> (8 * i)));
  }
  std::vector<std::uint8_t>& out_;
};

/// Reads bytes that someone else owns and that must outlive it. Safe with any bytes; never allocates.
class ByteReader {
 public:
  /// Begins at the first byte.
  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }  ///< no read has failed so far
  /// Nothing is left; after a failure, too, as a read that ran out takes what was there.
  bool at_end() const { return position_ == bytes_.size(); }
  std::size_t position() const { return position_; }              ///< bytes read so far
  std::size_t left() const { return bytes_.size() - position_; }  ///< bytes not read yet

  /// What ByteWriter wrote. A read that runs out makes ok() false; its value means nothing (the bytes that
  /// were there, filled up with zeros), and it takes what was left. Doubles come unchecked, NaN among them.
  std::uint8_t u8() {
    if (position_ >= bytes_.size()) return ok_ = false, std::uint8_t{0};
    return ok_ ? bytes_[position_++] : std::uint8_t{0};
  }
  std::uint16_t u16() { return static_cast<std::uint16_t>(fixed(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(fixed(4)); }
  std::uint64_t u64() { return fixed(8); }
  double f64() { return std::bit_cast<double>(fixed(8)); }
  /// In its shortest form only, so that every number has one form; any other makes ok() false, and so does
  /// one that 64 bits do not hold.
  std::uint64_t varint() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t b = u8();
      const std::uint64_t part = b & 0x7f;
      v |= part << shift;
      if ((b & 0x80) != 0) continue;
      if ((b == 0 && shift > 0) || (part << shift) >> shift != part) break;
      return v;
    }
    ok_ = false;
    return 0;
  }
  /// Any value of the 64 bits: callers check their own ranges.
  std::int64_t svarint() {
    const std::uint64_t v = varint();
    return static_cast<std::int64_t>((v >> 1) ^ (0 - (v & 1)));
  }
  /// A view into the bytes; empty when longer than `max` or than what is left.
  std::string_view text(std::size_t max) {
    const std::uint64_t size = varint();
    if (size > max || size > left()) return ok_ = false, std::string_view{};
    const std::string_view v(reinterpret_cast<const char*>(bytes_.data()) + position_,
                             static_cast<std::size_t>(size));
    position_ += static_cast<std::size_t>(size);
    return v;
  }

 private:
  std::uint64_t fixed(int count) {
    std::uint64_t v = 0;
    for (int i = 0; i < count; ++i) v |= static_cast<std::uint64_t>(u8()) << (8 * i);
    return v;
  }
  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace ashlar
