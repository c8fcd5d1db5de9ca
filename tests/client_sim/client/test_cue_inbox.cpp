#include "client_sim/client/cue_inbox.h"

#include <map>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using client_sim::CueInbox;
using client_sim::HeardCue;

namespace {

Cue cue_of(std::uint32_t who, std::uint8_t age = 0) {
  return {CueKind::shot, 0, age, EntityId{who}, false, {}};
}

}  // namespace

TEST_CASE("what is lost, late and doubled is heard at most once, and what came in time is",
          "[client][cues]") {
  Rng rng = rng_for(77, 3);
  CueInbox inbox;
  struct Packet {
    std::uint32_t due = 0, tick = 0;
    std::uint8_t part = 0;
    std::uint32_t who = 0;
  };
  std::vector<Packet> under_way;
  std::map<std::uint32_t, int> heard;
  std::uint32_t sent = 0, in_time = 0;
  for (std::uint32_t tick = 100; tick < 3000; ++tick) {
    for (std::uint8_t part = 0; part < 1 + rng.below(3); ++part) {
      ++sent;
      if (rng.below(4) == 0) continue;
      ++in_time;
      under_way.push_back({tick + rng.below(30), tick, part, sent});
      if (rng.below(3) == 0) under_way.push_back({tick + rng.below(30), tick, part, sent});
      // Far too late, and behind the first: a replay.
      if (rng.below(20) == 0) under_way.push_back({tick + 200, tick, part, sent});
    }
    for (std::size_t i = 0; i < under_way.size();) {
      const Packet packet = under_way[i];
      if (packet.due > tick) {
        ++i;
        continue;
      }
      under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(i));
      const Cue list[] = {cue_of(packet.who, 3)};
      inbox.take_in(packet.tick, packet.part, list);
      for (const HeardCue& cue : inbox.take()) {
        CHECK(cue.tick == packet.tick - 3);
        ++heard[static_cast<std::uint32_t>(cue.cue.who)];
      }
    }
  }
  for (const auto& [who, times] : heard) REQUIRE(times == 1);
  CHECK(heard.size() + 40 > in_time);  // but for those that are on their way at the end
}

TEST_CASE("who does not take what came keeps the newest, and takes it bit by bit", "[client][cues]") {
  CueInbox inbox;
  for (std::uint32_t tick = 1; tick <= 300; ++tick) {
    const Cue list[] = {cue_of(tick)};
    CHECK(inbox.take_in(tick, 0, list));
  }
  const auto first = inbox.take(10);
  REQUIRE(first.size() == 10);
  CHECK(first[0].cue.who == EntityId{300 - CueInbox::kept_max + 1});
  CHECK(inbox.take().size() == CueInbox::kept_max - 10);
  CHECK(inbox.take().empty());
  inbox.reset();
  const Cue list[] = {cue_of(1), cue_of(2, 9)};  // the second would be of before the world
  CHECK(inbox.take_in(5, 0, list));
  CHECK(inbox.take().size() == 1);
}
