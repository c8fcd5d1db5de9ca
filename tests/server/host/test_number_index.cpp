#include "server/host/number_index.h"

#include <map>
#include <optional>

#include "tests/catch.h"
#include "world/math/random.h"

namespace ashlar::server {

TEST_CASE("a number is found with its row until it is removed", "[server][number_index]") {
  NumberIndex index(2);
  CHECK(!index.find(0));
  CHECK(!index.find(7));
  CHECK(index.add(7, 1));
  CHECK(index.add(0xffffffffu, 0));
  CHECK(!index.add(7, 0));
  CHECK(index.find(7) == 1u);
  CHECK(index.find(0xffffffffu) == 0u);
  CHECK(!index.find(0));
  CHECK(index.size() == 2);
  CHECK(!index.remove(8));
  CHECK(!index.remove(0));
  CHECK(index.remove(7));
  CHECK(!index.remove(7));
  CHECK(!index.find(7));
  CHECK(index.size() == 1);
}

TEST_CASE("numbers that want the same place come and go as in a map", "[server][number_index]") {
  // Few numbers for few places: each tries those of others, and holes close around the array's end.
  constexpr std::uint32_t rows = 30, numbers = 60;
  NumberIndex index(rows);
  std::map<std::uint32_t, std::uint32_t> expected;
  Rng rng = rng_for(9, 3);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t number = 1 + rng.below(numbers) * 0x10001u;
    const std::uint32_t row = rng.below(rows);
    if (rng.below(2) == 0) {
      if (expected.size() < rows) REQUIRE(index.add(number, row) == expected.emplace(number, row).second);
    } else {
      REQUIRE(index.remove(number) == (expected.erase(number) == 1));
    }
    REQUIRE(index.size() == expected.size());
    for (std::uint32_t n = 0; n < numbers; ++n) {
      const auto known = expected.find(1 + n * 0x10001u);
      const auto found = index.find(1 + n * 0x10001u);
      REQUIRE(found == (known == expected.end() ? std::nullopt : std::optional(known->second)));
    }
  }
}

}  // namespace ashlar::server
