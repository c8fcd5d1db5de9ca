#include "client_sim/load/seen_hits.h"

#include "tests/catch.h"

using namespace ashlar;
using client_sim::SeenHit;
using client_sim::SeenHitLedger;

namespace {

constexpr EntityId imp{7}, demon{8};
constexpr std::uint32_t patience = 60;

/// Pellets at somebody in a tick, from a place that the server says it was.
SeenHitLedger ledger_of(std::uint32_t tick, EntityId target, int pellets) {
  SeenHitLedger ledger;
  for (int i = 0; i < pellets; ++i) ledger.saw({tick, target, {1, 2, 3}, false});
  ledger.stood(tick - 1, {1, 2, 3});
  return ledger;
}

}  // namespace

TEST_CASE("hits that the server gave are agreed, each once, the others denied", "[client_sim][seen_hits]") {
  SeenHitLedger ledger = ledger_of(100, imp, 3);
  ledger.given(101, imp);
  ledger.given(101, imp);
  ledger.given(101, demon);  // another one's
  ledger.given(99, imp);     // an earlier shot's
  ledger.settle(100 + patience - 1, patience);
  CHECK(ledger.counts().agreed + ledger.counts().denied == 0);
  ledger.settle(100 + patience, patience);
  CHECK(ledger.counts().agreed == 2);
  CHECK(ledger.counts().denied == 1);
  CHECK(ledger.empty());
}

TEST_CASE("pellets behind the one that killed are nobody's mistake", "[client_sim][seen_hits]") {
  SeenHitLedger ledger = ledger_of(100, imp, 7);
  for (int i = 0; i < 3; ++i) ledger.given(100, imp);
  ledger.died(100, imp);
  ledger.settle(100 + patience, patience);
  CHECK(ledger.counts().agreed == 3);
  CHECK(ledger.counts().denied == 0);
}

TEST_CASE("a death long after a shot excuses nothing", "[client_sim][seen_hits]") {
  SeenHitLedger ledger = ledger_of(100, imp, 1);
  ledger.died(120, imp);
  ledger.died(100, demon);
  ledger.settle(100 + patience, patience);
  CHECK(ledger.counts().denied == 1);
}

TEST_CASE("who had died by then is nobody's mistake, whichever is known first", "[client_sim][seen_hits]") {
  const std::uint32_t died = GENERATE(99u, 90u);
  const bool told_first = GENERATE(true, false);
  SeenHitLedger ledger;
  if (told_first) ledger.died(died, imp);
  ledger.saw({100, imp, {1, 2, 3}, false});
  ledger.saw({100, demon, {1, 2, 3}, false});
  ledger.stood(99, {1, 2, 3});
  if (!told_first) ledger.died(died, imp);
  ledger.settle(100 + patience, patience);
  CHECK(ledger.counts().denied == 1);
  // By now it may live again.
  ledger.saw({200, imp, {1, 2, 3}, false});
  ledger.stood(199, {1, 2, 3});
  ledger.settle(200 + patience, patience);
  CHECK(ledger.counts().denied == 2);
}

TEST_CASE("hits of who stood elsewhere, of whom nothing is known and from too long ago are apart",
          "[client_sim][seen_hits]") {
  SeenHitLedger ledger;
  ledger.saw({100, imp, {1, 2, 3}, false});
  ledger.stood(99, {1, 2, 3.5});
  ledger.saw({101, imp, {1, 2, 3}, false});
  ledger.saw({102, imp, {1, 2, 3}, true});
  ledger.settle(102 + patience, patience);
  CHECK(ledger.counts().displaced == 1);
  CHECK(ledger.counts().untold == 1);
  CHECK(ledger.counts().beyond == 1);
  CHECK(ledger.counts().agreed + ledger.counts().denied == 0);
}
