#pragma once
#include <bit>
#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/protocol/bytes.h"

// What protocol/WIRE.md shows, and how its numbers are read: bytes and offsets, nothing of ours.

namespace ashlar::wire_page {

using Bytes = std::vector<std::uint8_t>;

/// All of the page.
inline const std::string& page_text() {
  static const std::string text = [] {
    std::ifstream file(ASHLAR_WIRE_MD);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }();
  return text;
}

/// The hex block below a heading of the page.
inline Bytes example(const std::string& heading) {
  CAPTURE(heading);
  const std::string& text = page_text();
  const std::size_t at = text.find("\n### " + heading + "\n");
  REQUIRE(at != std::string::npos);
  const std::size_t begin = text.find("```\n", at) + 4;
  const std::size_t end = text.find("```", begin);
  REQUIRE(end != std::string::npos);
  return test::from_hex(text.substr(begin, end - begin));
}

/// Little-endian numbers at places in bytes.
struct Reader {
  std::span<const std::uint8_t> bytes;

  std::uint64_t number(std::size_t at, std::size_t size) const {
    REQUIRE(at + size <= bytes.size());
    std::uint64_t v = 0;
    for (std::size_t i = 0; i < size; ++i) v |= std::uint64_t{bytes[at + i]} << (8 * i);
    return v;
  }
  std::uint64_t u64(std::size_t at) const { return number(at, 8); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint8_t u8(std::size_t at) const { return static_cast<std::uint8_t>(number(at, 1)); }
  std::int32_t i32(std::size_t at) const { return static_cast<std::int32_t>(u32(at)); }
  std::int16_t i16(std::size_t at) const { return static_cast<std::int16_t>(u16(at)); }
  std::int8_t i8(std::size_t at) const { return static_cast<std::int8_t>(u8(at)); }
  float f32(std::size_t at) const { return std::bit_cast<float>(u32(at)); }
  double f64(std::size_t at) const { return std::bit_cast<double>(u64(at)); }
  Bytes part(std::size_t at, std::size_t size) const {
    REQUIRE(at + size <= bytes.size());
    return {bytes.begin() + static_cast<std::ptrdiff_t>(at),
            bytes.begin() + static_cast<std::ptrdiff_t>(at + size)};
  }
  bool zeros(std::size_t from, std::size_t to) const {
    for (std::size_t i = from; i < to; ++i)
      if (u8(i) != 0) return false;
    return true;
  }

  // FlatBuffers, as its own format page describes it: a table starts with the distance back to its virtual
  // table, which lists where in the table each field is; 0 is absent. Offsets count from where they stand.
  std::size_t follow(std::size_t at) const { return at + u32(at); }
  std::size_t field(std::size_t table, std::size_t index) const {
    const auto vtable = static_cast<std::size_t>(static_cast<std::int64_t>(table) - i32(table));
    const std::size_t slot = 4 + 2 * index;
    if (slot >= u16(vtable)) return 0;
    const std::size_t offset = u16(vtable + slot);
    return offset == 0 ? 0 : table + offset;
  }
  /// A list's first element; its length lies before it.
  std::size_t list(std::size_t table, std::size_t index) const { return follow(field(table, index)) + 4; }
  std::uint32_t length(std::size_t list_begin) const { return u32(list_begin - 4); }
  std::string text(std::size_t table, std::size_t index) const {
    const std::size_t begin = list(table, index);
    const Bytes said = part(begin, length(begin));
    return {said.begin(), said.end()};
  }
};

/// The body of a message of that identifier and type.
inline std::size_t body_of(const Reader& r, const std::string& identifier, std::uint8_t type) {
  REQUIRE(std::string(r.bytes.begin() + 4, r.bytes.begin() + 8) == identifier);
  const std::size_t message = r.follow(0);
  REQUIRE(r.u8(r.field(message, 0)) == type);
  return r.follow(r.field(message, 1));
}

/// Bits by the page: the lowest of a byte first.
struct PageBits {
  Bytes bytes;
  std::size_t at = 0;

  std::uint64_t get(unsigned count) {
    std::uint64_t v = 0;
    for (unsigned i = 0; i < count; ++i, ++at) {
      REQUIRE(at / 8 < bytes.size());
      v |= (std::uint64_t{bytes[at / 8]} >> (at % 8) & 1) << i;
    }
    return v;
  }
  std::int64_t sign(unsigned count) {
    const std::uint64_t v = get(count);
    return v >> (count - 1) ? static_cast<std::int64_t>(v) - (std::int64_t{1} << count)
                            : static_cast<std::int64_t>(v);
  }
  std::uint64_t gamma() {
    unsigned zeros = 0;
    while (get(1) == 0) ++zeros;
    return (std::uint64_t{1} << zeros | get(zeros)) - 1;
  }
  void check_end() {
    while (at % 8 != 0) CHECK(get(1) == 0);
    CHECK(at / 8 == bytes.size());
  }
};

}  // namespace ashlar::wire_page
