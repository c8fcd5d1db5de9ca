// Little-endian bytes as recordings and stores have them: a number has one form, and only that is read.
#include "protocol/bytes.h"

#include "protocol/inventory_codec.h"
#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

std::vector<std::uint8_t> bytes_of_varint(std::uint64_t value) {
  std::vector<std::uint8_t> bytes;
  ByteWriter(bytes).varint(value);
  return bytes;
}

std::optional<std::uint64_t> read_varint(const std::vector<std::uint8_t>& bytes) {
  ByteReader in(bytes);
  const std::uint64_t value = in.varint();
  return in.ok() && in.at_end() ? std::optional(value) : std::nullopt;
}

}  // namespace

TEST_CASE("a varint comes back, of every length", "[protocol][bytes]") {
  Rng rng{11};
  for (int bits = 0; bits <= 64; ++bits) {
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t value = bits == 0 ? 0 : (rng.next_u64() | std::uint64_t{1} << 63) >> (64 - bits);
      CHECK(bytes_of_varint(value).size() == varint_bytes(value));
      CHECK(read_varint(bytes_of_varint(value)) == value);
    }
  }
  CHECK(bytes_of_varint(~std::uint64_t{0}).size() == 10);
}

TEST_CASE("a varint is refused with needless zeros, and beyond 64 bits", "[protocol][bytes]") {
  CHECK_FALSE(read_varint({0x80, 0x00}));
  CHECK_FALSE(read_varint({0xfc, 0xc0, 0x00}));
  CHECK_FALSE(read_varint({0x80}));
  const std::vector<std::uint8_t> nine(9, 0xff);
  const auto with_tenth = [&](std::uint8_t tenth) {
    auto bytes = nine;
    bytes.push_back(tenth);
    return bytes;
  };
  CHECK(read_varint(with_tenth(0x01)) == ~std::uint64_t{0});
  CHECK_FALSE(read_varint(with_tenth(0x00)));
  CHECK_FALSE(read_varint(with_tenth(0x02)));
  CHECK_FALSE(read_varint(with_tenth(0x81)));
}

// Any two bytes, and any three that begin like a long one: what is read is what would be written.
TEST_CASE("of all short bytes only those are read as a varint that a writer makes", "[protocol][bytes]") {
  for (unsigned bits = 0; bits < 1U << 16; ++bits) {
    const std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(bits),
                                          static_cast<std::uint8_t>(bits >> 8)};
    const auto value = read_varint(bytes);
    if (value && bytes_of_varint(*value) != bytes)
      FAIL("bytes " << bits << " are a second form of " << *value);
  }
}

TEST_CASE("a block's timer in a longer form than needed is refused", "[protocol][bytes]") {
  CHECK(decode_block_data(std::vector<std::uint8_t>{2, 0, 0, 0xfc, 0x40}));
  CHECK_FALSE(decode_block_data(std::vector<std::uint8_t>{2, 0, 0, 0xfc, 0xc0, 0}));
}
