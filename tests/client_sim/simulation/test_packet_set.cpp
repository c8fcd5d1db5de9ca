#include "client_sim/simulation/packet_set.h"

#include <array>
#include <set>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using simulation::PacketSet;

TEST_CASE("packets are counted once, when they were said and when they arrived", "[simulation][packet_set]") {
  PacketSet set;
  Rng rng{7};
  std::set<std::uint32_t> said, delivered;  // the twin
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t number = rng.below(6000);
    const std::array<std::uint8_t, 3> packet{static_cast<std::uint8_t>(number), 9,
                                             static_cast<std::uint8_t>(number >> 8)};
    if (rng.below(2) == 0) {
      set.say(packet);
      said.insert(number);
    } else {
      // Of nobody, unless it was said.
      const bool first = said.contains(number) && delivered.insert(number).second;
      REQUIRE(set.deliver(packet) == first);
    }
  }
  CHECK(set.said() == said.size());
  CHECK(set.delivered() == delivered.size());
  CHECK(delivered.size() > 1000);
  CHECK(set.bytes() <= 64 * 1024 * 2);
  set.clear();
  CHECK(set.said() + set.delivered() + set.bytes() == 0);
}
