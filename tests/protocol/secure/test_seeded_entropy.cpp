#include "protocol/secure/seeded_entropy.h"

#include <set>
#include <vector>

#include "tests/catch.h"

using namespace ashlar;

TEST_CASE("a seeded entropy gives the same bytes again, and never one block twice", "[protocol][secure]") {
  secure::SeededEntropy a(7), b(7), other(8);
  std::set<secure::Bytes32> seen;
  for (int i = 0; i < 1000; ++i) {
    const secure::Bytes32 block = a.secret().bytes();
    REQUIRE(block == b.secret().bytes());
    REQUIRE(seen.insert(block).second);
    REQUIRE(seen.insert(other.secret().bytes()).second);
  }
  // How the bytes are asked for counts: each call begins with a key of its own.
  secure::SeededEntropy whole(9), halves(9);
  std::vector<std::uint8_t> sixteen(16), eight(8);
  whole.fill(sixteen);
  halves.fill(eight);
  CHECK(std::equal(eight.begin(), eight.end(), sixteen.begin()));
  halves.fill(eight);
  CHECK_FALSE(std::equal(eight.begin(), eight.end(), sixteen.begin() + 8));
}
