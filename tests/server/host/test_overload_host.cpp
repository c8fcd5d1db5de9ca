#include "server/host/overload.h"
#include "tests/server/host/host_table.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

TEST_CASE("a host that does not keep up leaves snapshots out, and none once it does again",
          "[server][host][overload]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  const HostStatus& status = t.host->status();
  t.run(120);
  REQUIRE(status.overload_rung == 0);
  // Every turn takes a tick and a quarter, whatever is left out.
  std::uint8_t rung = 0;
  for (int i = 0; i < 600; ++i) {
    t.turn(tick * 5 / 4);
    CHECK(status.overload_rung >= rung);
    rung = status.overload_rung;
  }
  CHECK(status.overload_rung == static_cast<std::uint8_t>(OverloadRung::slow_tick));
  CHECK(status.overload_climbs == 4);
  const std::uint64_t spared = status.snapshots_spared;
  CHECK(spared > 50);
  CHECK(status.ticks_skipped > 20);
  // Every fourth tick told, three spared.
  const std::uint32_t before = status.tick;
  for (int i = 0; i < 40; ++i) {
    t.turn(tick * 5 / 4);
    CHECK(status.tick - ann.snapshot_tick <= 4);
  }
  CHECK(status.snapshots_spared - spared == 3 * (status.tick - before) / 4);

  // As a loop does it: what is due is played at once.
  const auto keep_up = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      while (t.host->next_tick_at() <= t.now) t.turn(Micros{0});
      t.now = t.host->next_tick_at();
    }
  };
  keep_up(60 * 12);
  CHECK(status.overload_rung == 0);
  CHECK(status.overload_climbs == 4);
  const std::uint64_t spared_then = status.snapshots_spared;
  keep_up(30);
  CHECK(status.snapshots_spared == spared_then);
  CHECK(ann.snapshot_tick == status.tick);
}
