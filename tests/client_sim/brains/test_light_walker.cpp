#include "client_sim/brains/light_walker.h"

#include <algorithm>

#include "tests/catch.h"
#include "world/math/vec.h"

using namespace ashlar;
using client_sim::LightWalker;

namespace {

/// Metres from its start at most, within ten minutes at a run of 5 m/s.
double strays_m(LightWalker feet) {
  constexpr int think_ms = 15;
  DVec2 at;
  double most = 0;
  for (int ms = 0; ms < 600'000; ms += think_ms) {
    const PlayerCommand command = feet.think(std::chrono::milliseconds(ms));
    at = at + heading(command.yaw) * (5.0 * command.forward * think_ms / 1000);
    most = std::max(most, length(at));
  }
  return most;
}

}  // namespace

TEST_CASE("feet without eyes that stay are still in their crowd minutes later, others are not",
          "[client_sim][light_walker]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CHECK(strays_m(LightWalker(seed, true)) < 5);
  CHECK(strays_m(LightWalker(seed)) > 40);
}
