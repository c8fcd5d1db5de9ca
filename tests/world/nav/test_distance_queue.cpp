#include <algorithm>
#include <map>
#include <vector>

#include "tests/catch.h"
#include "world/math/random.h"
#include "world/nav/distance_queue.h"

using namespace ashlar;

namespace {

/// The same by looking at all: of the nearest places the one that was put there last.
class AllPlaces {
 public:
  void put(std::uint16_t place, std::uint32_t distance) { all_[place] = {distance, ++puts_}; }
  bool empty() const { return all_.empty(); }
  bool holds(std::uint16_t place) const { return all_.contains(place); }
  std::uint32_t distance(std::uint16_t place) const { return all_.at(place).distance; }
  std::uint16_t take_nearest() {
    const auto nearest = std::ranges::min_element(all_, [](const auto& a, const auto& b) {
      return a.second.distance != b.second.distance ? a.second.distance < b.second.distance
                                                    : a.second.put > b.second.put;
    });
    const std::uint16_t place = nearest->first;
    all_.erase(nearest);
    return place;
  }

 private:
  struct At {
    std::uint32_t distance = 0, put = 0;
  };
  std::map<std::uint16_t, At> all_;
  std::uint32_t puts_ = 0;
};

}  // namespace

TEST_CASE("a distance queue gives the nearest, as looking at all of it does", "[world][nav]") {
  constexpr std::uint32_t places = 200;
  Rng rng{GENERATE(range(1u, 30u))};
  DistanceQueue queue(places);
  for (int again = 0; again < 3; ++again) {
    AllPlaces all;
    queue.clear();
    REQUIRE(queue.empty());
    std::uint32_t nearest = 0;
    // Within a search's few costs, or over the whole ring.
    const std::uint32_t spread = rng.below(2) == 0 ? 30 : DistanceQueue::spread_max;
    for (int i = 0; i < 2000; ++i) {
      const auto place = static_cast<std::uint16_t>(rng.below(places));
      if (!all.holds(place)) {
        const std::uint32_t distance = nearest + rng.below(spread);
        queue.put(place, distance), all.put(place, distance);
      } else if (rng.below(2) == 0) {
        const std::uint32_t before = all.distance(place);
        const std::uint32_t now = nearest + rng.below(before - nearest + 1);
        queue.bring(place, before, now), all.put(place, now);
      } else {
        const std::uint16_t took = queue.take_nearest();
        REQUIRE(all.holds(took));
        nearest = all.distance(took);
        REQUIRE(took == all.take_nearest());
      }
      REQUIRE(queue.empty() == all.empty());
    }
    while (!all.empty()) REQUIRE(queue.take_nearest() == all.take_nearest());
    REQUIRE(queue.empty());
  }
}
