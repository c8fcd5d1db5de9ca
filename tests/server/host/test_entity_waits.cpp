// Since when those have waited whom a client is to be told of, against the plain words of it.
#include "server/host/entity_waits.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

/// The same, remembered snapshot by snapshot.
class PlainWaits {
 public:
  void begin(std::uint32_t tick) {
    before_ = std::exchange(now_, tick);
    seen_before_ = std::exchange(seen_, {});
  }
  std::uint32_t since(std::uint32_t slot) {
    const auto it = seen_before_.find(slot);
    return seen_[slot] = it == seen_before_.end() ? now_ : it->second;
  }
  void told(std::uint32_t slot) { seen_[slot] = now_; }
  void wait(std::uint32_t slot) { seen_[slot] = before_; }

 private:
  std::map<std::uint32_t, std::uint32_t> seen_, seen_before_;  // by slot: as of when it was told
  std::uint32_t before_ = 0, now_ = 0;
};

EntitySlots of(const std::vector<std::uint32_t>& slots) {
  std::uint32_t end = 0;
  for (const std::uint32_t slot : slots) end = std::max(end, slot + 1);
  return {slots, end};
}

}  // namespace

TEST_CASE("who waits is told of in turn, whatever block he is in and however often he comes and goes",
          "[server][packed][entity_waits]") {
  const std::uint32_t every = GENERATE(1u, 3u, 200u);
  Rng rng{every};
  EntityWaits waits;
  PlainWaits plain;
  std::uint32_t tick = 5;
  CHECK_FALSE(waits.any());
  waits.begin(tick), plain.begin(tick);
  // So many that their numbers begin anew, and so do ticks' lower bits where they are far apart.
  for (int snapshot = 0; snapshot < 1200; ++snapshot) {
    tick += every;
    waits.begin(tick), plain.begin(tick);
    // Blocks of some; others of the 700 are not in interest now, some of them for long.
    std::vector<std::vector<std::uint32_t>> blocks(6);
    for (std::uint32_t slot = 0; slot < 700; ++slot)
      if (rng.below(slot % 7 + 1) == 0) blocks[rng.below(6)].push_back(slot * 5 + slot % 5);
    for (const std::vector<std::uint32_t>& block : blocks) {
      std::uint32_t longest = tick;
      for (const std::uint32_t slot : block) longest = std::min(longest, plain.since(slot));
      CAPTURE(snapshot, tick);
      REQUIRE(waits.since(of(block)) == longest);
      const std::uint32_t what = rng.below(4);
      if (what == 0) waits.told(of(block));
      if (what == 1) waits.wait(of(block));
      for (const std::uint32_t slot : block) {
        if (what == 0) plain.told(slot);
        if (what == 1) plain.wait(slot);
      }
    }
    waits.end(snapshot % 2 == 0);
    CHECK(waits.any() == (snapshot % 2 == 0));
  }
  CHECK(waits.memory_bytes() <= 3 * (700 * 5 + 256));
}
