// A match that was recorded once, played again: by every build, that for Windows among them.

#include <cstdint>
#include <vector>

#include "client_sim/simulation/replay.h"
#include "tests/catch.h"
#include "tests/world/bsp/maps.h"

using namespace ashlar;
using namespace ashlar::simulation;

TEST_CASE("a match recorded once has the same hashes on every build", "[integration][match][determinism]") {
  // Every compiler, build type and sanitizer plays these ticks. When the simulation was changed on purpose:
  //   ashlar-sim simulate --seed 5 --clients 8 --monsters 30 --minutes 0.5 --without restart
  //       --record tests/integration/match.ashrec
  const std::vector<std::uint8_t> bytes = testing::read_bytes(ASHLAR_TESTS_DIR "/integration/match.ashrec");
  REQUIRE(!bytes.empty());
  const auto result = replay(
      bytes, [](const RecordedMap& wanted) -> std::expected<std::shared_ptr<const PlacedMap>, std::string> {
        return testing::must_place(testing::builtin_map(), place_of(wanted));
      });
  INFO((result ? "" : result.error()));
  REQUIRE(result.has_value());
  const std::uint32_t differs_at = result->mismatch ? result->mismatch->tick : 0;
  CAPTURE(differs_at);
  CHECK_FALSE(result->mismatch.has_value());
  CHECK_FALSE(result->torn);
  CHECK(result->ticks >= 29 * 60);
}
