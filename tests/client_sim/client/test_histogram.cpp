#include "client_sim/client/histogram.h"

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::client_sim;

TEST_CASE("quantiles are within a twentieth of the sorted samples", "[client_sim][histogram]") {
  Rng rng{3};
  Histogram histogram;
  Histogram halves[2];
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t us = 1 + static_cast<std::int64_t>(rng.unit() * rng.unit() * 200'000);
    samples.push_back(us);
    histogram.add(Micros{us});
    halves[i % 2].add(Micros{us});
  }
  halves[0].merge(halves[1]);
  std::sort(samples.begin(), samples.end());
  CHECK(histogram.count() == 20000);
  CHECK(histogram.max() == Micros{samples.back()});
  for (const double share : {0.01, 0.5, 0.95, 0.99}) {
    const auto exact = static_cast<double>(samples[static_cast<std::size_t>(share * 20000) - 1]);
    const auto told = static_cast<double>(histogram.quantile(share).count());
    CHECK(told >= exact);
    CHECK(told <= exact * 1.06 + 1);
    CHECK(halves[0].quantile(share) == histogram.quantile(share));
  }
  CHECK(histogram.quantile(1) == histogram.max());
  CHECK(Histogram{}.quantile(0.5) == Micros{0});
}
