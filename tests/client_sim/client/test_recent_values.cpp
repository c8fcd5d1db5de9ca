// The last values of a row, in order.
#include "client_sim/client/recent_values.h"

#include <algorithm>
#include <vector>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::client_sim;

TEST_CASE("quantiles of the last values are those of a sorted copy",
          "[client_sim][recent_values][property]") {
  Rng rng = rng_for(GENERATE(std::uint64_t{1}, std::uint64_t{2}), 31);
  RecentValues<16> recent;
  std::vector<float> all;
  for (int i = 0; i < 400; ++i) {
    if (i == 250) recent.clear(), all.clear();
    const auto value = static_cast<float>(rng.below(12));  // many alike
    recent.add(value);
    all.push_back(value);
    std::vector<float> last(all.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), 16)),
                            all.end());
    std::ranges::sort(last);
    CAPTURE(i);
    REQUIRE(recent.count() == last.size());
    for (const double share : {0.0, 0.5, 0.94, 1.0})
      REQUIRE(recent.quantile(share) ==
              last[static_cast<std::size_t>(share * static_cast<double>(last.size() - 1))]);
  }
}
