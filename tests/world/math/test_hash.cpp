#include "world/math/hash.h"

#include <array>
#include <bit>
#include <set>

#include "tests/catch.h"

using namespace ashlar;

namespace {

std::uint64_t of(std::span<const std::uint64_t> words) {
  StripeHasher h;
  for (const std::uint64_t w : words) h.add(w);
  return h.value();
}

}  // namespace

TEST_CASE("a stripe hash tells apart what differs in a bit, in order or in number", "[world][math][hash]") {
  std::array<std::uint64_t, 11> words{};
  Rng rng{3};
  for (std::uint64_t& w : words) w = rng.next_u64();
  std::set<std::uint64_t> seen{of(words)};
  std::size_t made = 1;
  int fewest = 64;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (unsigned bit = 0; bit < 64; ++bit) {
      auto other = words;
      other[i] ^= std::uint64_t{1} << bit;
      const std::uint64_t hash = of(other);
      fewest = std::min(fewest, std::popcount(hash ^ of(words)));
      seen.insert(hash);
      ++made;
    }
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::size_t k = i + 1; k < words.size(); ++k) {
      auto other = words;
      std::swap(other[i], other[k]);
      seen.insert(of(other));
      ++made;
    }
  for (std::size_t n = 0; n < words.size(); ++n) {
    seen.insert(of(std::span(words).first(n)));
    ++made;
  }
  CHECK(seen.size() == made);
  CHECK(fewest >= 10);  // every bit moves about half of the hash
}

TEST_CASE("a list of numbers is hashed with its size, however it fills the words", "[world][math][hash]") {
  const auto hash = [](const auto& list) {
    StripeHasher h;
    h.add_list(list);
    return h.value();
  };
  std::set<std::uint64_t> seen;
  for (std::size_t size = 0; size < 20; ++size) {
    seen.insert(hash(std::vector<std::uint16_t>(size, 0)));
    CHECK(hash(std::vector<std::uint8_t>(size, 7)) == hash(std::vector<std::uint8_t>(size, 7)));
  }
  CHECK(seen.size() == 20);
}
