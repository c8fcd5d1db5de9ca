// Keys of distances, sorted by counting against sorted by comparing.
#include "server/host/magnitude_sort.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::server;

TEST_CASE("keys of any distances are sorted as a sort by comparing does it", "[server][magnitude_sort]") {
  Rng rng{7};
  MagnitudeSort sorter;
  const auto distance = [&](int kind) -> float {
    const auto share = static_cast<float>(rng.below(1'000'000)) / 1'000'000;
    switch (kind) {
      case 0: return 4096 * share * share;
      case 1: return rng.below(3) == 0 ? 0.0f : 5 + share / 1000;                    // all alike
      case 2: return std::ldexp(1 + share, static_cast<int>(rng.below(250)) - 125);  // of any size
      case 3: return rng.below(2) == 0 ? 0.0f : std::numeric_limits<float>::infinity();
      default: return std::ldexp(share, -140);  // no normal numbers
    }
  };
  for (int round = 0; round < 3000; ++round) {
    const int kind = round % 5;
    std::vector<std::uint64_t> keys(rng.below(round % 100 == 0 ? 600 : 140));
    for (std::uint64_t& key : keys) {
      key = std::uint64_t{std::bit_cast<std::uint32_t>(distance(kind))} << 32;
      key |= rng.below(1000);
    }
    std::vector<std::uint64_t> compared = keys;
    std::ranges::sort(compared);
    sorter.sort(keys);
    CAPTURE(round, keys.size());
    REQUIRE(keys == compared);
  }
}
