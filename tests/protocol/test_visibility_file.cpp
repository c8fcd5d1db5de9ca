#include "protocol/visibility_file.h"

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "world/bsp/tree.h"
#include "world/math/hash.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

constexpr std::uint64_t some_key = 0x1234567890abcdefu;

SectorVisibility random_set(std::uint32_t sectors, std::uint64_t seed) {
  Rng rng(seed);
  SectorVisibility set;
  set.sectors = sectors;
  set.row_words = (sectors + 63) / 64;
  set.bits.resize(std::size_t{sectors} * set.row_words);
  set.from_above.resize(sectors);
  for (std::uint32_t a = 0; a < sectors; ++a) {
    set.from_above[a] = static_cast<std::uint8_t>(rng.below(2));
    for (std::uint32_t b = 0; b < sectors; ++b)
      if (rng.below(3) == 0)
        set.bits[std::size_t{a} * set.row_words + b / 64] |= std::uint64_t{1} << (b % 64);
  }
  return set;
}

bool same(const SectorVisibility& a, const SectorVisibility& b) {
  return a.sectors == b.sectors && a.row_words == b.row_words && a.bits == b.bits &&
         a.from_above == b.from_above;
}

/// The bytes with the hash that belongs to them, as somebody would write it who knows the format.
std::vector<std::uint8_t> sealed(std::vector<std::uint8_t> bytes) {
  Hasher h;
  h.add_bytes(std::span(bytes).first(bytes.size() - 8));
  for (std::size_t i = 0; i < 8; ++i)
    bytes[bytes.size() - 8 + i] = static_cast<std::uint8_t>(h.value() >> (8 * i));
  return bytes;
}

VisibilityFileError error_of(std::span<const std::uint8_t> bytes, std::uint32_t sectors,
                             std::uint64_t key = some_key) {
  const auto set = decode_visibility(bytes, key, sectors);
  REQUIRE_FALSE(set.has_value());
  return set.error();
}

}  // namespace

TEST_CASE("a visibility set comes back from its file bit by bit", "[protocol][visibility_file]") {
  for (const std::uint32_t sectors : {1u, 63u, 64u, 65u, 130u}) {
    CAPTURE(sectors);
    const SectorVisibility set = random_set(sectors, sectors);
    const auto bytes = encode_visibility(set, some_key);
    CHECK(bytes.size() == visibility_file_bytes(sectors));
    const auto back = decode_visibility(bytes, some_key, sectors);
    REQUIRE(back.has_value());
    CHECK(same(*back, set));
  }
}

TEST_CASE("a visibility file that was cut anywhere or goes on is refused", "[protocol][visibility_file]") {
  const auto bytes = encode_visibility(random_set(70, 1), some_key);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    REQUIRE(error_of(std::span(bytes).first(size), 70) == VisibilityFileError::wrong_size);
  }
  auto longer = bytes;
  longer.push_back(0);
  CHECK(error_of(longer, 70) == VisibilityFileError::wrong_size);
}

TEST_CASE("a visibility file with any bit changed is refused", "[protocol][visibility_file]") {
  auto bytes = encode_visibility(random_set(70, 2), some_key);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    CAPTURE(bit);
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    REQUIRE_FALSE(decode_visibility(bytes, some_key, 70).has_value());
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
  }
  CHECK(decode_visibility(bytes, some_key, 70).has_value());
}

TEST_CASE("a visibility file of another map, of other rules or of another kind is told apart",
          "[protocol][visibility_file]") {
  const auto bytes = encode_visibility(random_set(70, 3), some_key);
  CHECK(error_of(bytes, 70, some_key + 1) == VisibilityFileError::other_map);
  CHECK(error_of(bytes, 71) == VisibilityFileError::other_map);
  auto outdated = bytes;
  ++outdated[4];
  CHECK(error_of(sealed(outdated), 70) == VisibilityFileError::outdated);
  auto foreign = bytes;
  ++foreign[0];
  CHECK(error_of(sealed(foreign), 70) == VisibilityFileError::foreign);
}

TEST_CASE("a visibility file that tells of sectors beyond the last is refused, its hash right or not",
          "[protocol][visibility_file]") {
  const auto bytes = encode_visibility(random_set(70, 4), some_key);
  REQUIRE(sealed(bytes) == bytes);
  constexpr std::size_t rows = 24, row_bytes = 16;
  for (std::size_t row = 0; row < 70; row += 23) {
    auto wrong = bytes;
    wrong[rows + row * row_bytes + 8] |= 0x40;  // sector 70 of 0 to 69
    CHECK(error_of(sealed(wrong), 70) == VisibilityFileError::damaged);
  }
  auto two = bytes;
  two[rows + 70 * row_bytes] = 2;
  CHECK(error_of(sealed(two), 70) == VisibilityFileError::damaged);
  auto words = bytes;
  words[20] = 1;
  CHECK(error_of(sealed(words), 70) == VisibilityFileError::damaged);
}

TEST_CASE("other sets of the same map come with another number of their rules",
          "[protocol][visibility_file]") {
  const SectorMap map = testing::builtin_map();
  const SectorVisibility set = compute_visibility(map, build_bsp(map));
  Hasher h;
  h.add_bytes(encode_visibility(set, 1));
  // Where this changes and the built-in map did not, take the next visibility_rules: kept sets are wrong now.
  CHECK(visibility_rules == 4);
  CHECK(h.value() == 0x460d222f13067f46u);
}
