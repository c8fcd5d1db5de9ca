// How a match feels whose clients predict: exact and repeatable, as all of it is simulated.
#include "client_sim/simulation/feel.h"

#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::simulation;

namespace {

void tell(const FeelReport& r) {
  UNSCOPED_INFO("mispredicted " << r.mispredicted << " of " << r.confirmed << ", late " << r.late
                                << ", leads " << r.lead(0.01) << " " << r.lead(0.5) << " " << r.lead(0.99));
  UNSCOPED_INFO("network " << r.network_um.count() << " (" << r.network_visible << " visible) p50 "
                           << r.network_um.quantile(0.5).count() / 10000 << " cm p99 "
                           << r.network_um.quantile(0.99).count() / 10000 << " cm; crowd "
                           << r.crowd_um.count() << " (" << r.crowd_visible << " visible) p50 "
                           << r.crowd_um.quantile(0.5).count() / 1000 << " mm p99 "
                           << r.crowd_um.quantile(0.99).count() / 1000 << " mm; unknown "
                           << r.unknown_um.count() << " (" << r.unknown_visible << " visible)");
  UNSCOPED_INFO("seen off p50 " << r.seen_off_um.quantile(0.5).count() / 1000 << " mm p99 "
                                << r.seen_off_um.quantile(0.99).count() / 1000 << " mm");
  UNSCOPED_INFO("crowd ticks " << r.crowd_ticks << ", of them apart " << r.crowd_apart_ticks);
  UNSCOPED_INFO("others " << r.others_age.quantile(0.5).count() / 1000 << " ms, shown " << r.shown
                          << ", extrapolated " << r.extrapolated << ", in walls " << r.in_walls);
  UNSCOPED_INFO("hits agreed " << r.hits_agreed << " denied " << r.hits_denied << " lost " << r.hits_lost
                               << " limited " << r.rewind_limited << " displaced " << r.hits_displaced
                               << ", rewound p99 " << r.rewound.quantile(0.99).count() / 1000 << " ms");
  UNSCOPED_INFO("behind cover p99 " << r.behind_cover.quantile(0.99).count() / 1000 << " ms, liars rewound "
                                    << r.liars_rewound.max().count() / 1000 << " ms");
  UNSCOPED_INFO("honest " << r.honest_hits << "/" << r.honest_shots << ", liars " << r.liars_hits << "/"
                          << r.liars_shots);
}

}  // namespace

TEST_CASE("on a clean link shots are judged as their players saw them", "[client_sim][feel]") {
  FeelConfig config;
  config.players = 4;
  config.seconds = 20;
  const FeelReport r = run_feel(config);
  tell(r);
  CHECK(r.hits_agreed > 50);
  CHECK(r.hit_share() >= 0.99);
  CHECK(r.late == 0);
  CHECK(r.unknown_visible == 0);
  CHECK(r.network_visible == 0);
  CHECK(r.in_walls == 0);
  CHECK(r.lead(0.01) >= 0);
  CHECK(r.lead(0.5) <= 4);
  // Six ticks there and back, commands that wait two or three, and the next snapshot.
  CHECK(r.others_age.quantile(0.5) <= Micros{180'000});
}

TEST_CASE("a crowd on a bad line is corrected seldom and little", "[client_sim][feel]") {
  FeelConfig config;
  config.players = 16;
  config.seconds = 20;
  config.loss = 0.01;
  config.jitter = Micros{10'000};
  const FeelReport r = run_feel(config);
  tell(r);
  CHECK(static_cast<double>(r.network_visible + r.unknown_visible) <= r.player_minutes);
  CHECK(r.hit_share() >= 0.99);
  CHECK(r.in_walls == 0);
}

TEST_CASE("the others' picture is as old as the way and its jitter ask for, and one snapshot",
          "[client_sim][feel]") {
  FeelConfig config;
  config.players = 3;
  config.seconds = 10;
  config.round_trip = Micros{GENERATE(20'000, 150'000)};
  config.jitter = Micros{GENERATE(0, 10'000, 30'000)};
  const FeelReport r = run_feel(config);
  tell(r);
  // Commands wait three ticks for their turn, a tick is told at its end and shown until the next one's, and
  // whole ticks are rounded up.
  CHECK(r.others_age.quantile(0.5) <= config.round_trip + config.jitter + Micros{6'000'000 / 60});
  CHECK(static_cast<double>(r.extrapolated) <= 0.05 * static_cast<double>(r.shown));
  CHECK(r.in_walls == 0);
}

TEST_CASE("shots at those who are told of ten to twenty times a second are judged as they were shown",
          "[client_sim][feel]") {
  FeelConfig config;
  config.players = 6;
  config.seconds = 10;
  config.place_radius_m = 30;
  const bool lossy = GENERATE(false, true);
  config.snapshot_every_ticks = lossy ? 6 : 3;
  config.loss = lossy ? 0.05 : 0;
  const FeelReport r = run_feel(config);
  tell(r);
  CHECK(r.hits_agreed > 30);
  CHECK(r.hits_denied <= 1 + r.hits_agreed / 100);  // of so few one is no share
  // Where it was shown, between two states, and where it was at that tick: some millimetres apart.
  CHECK(r.seen_off_um.quantile(0.5) <= Micros{20'000});
  if (!lossy) CHECK(r.seen_off_um.quantile(0.99) <= Micros{50'000});
}

TEST_CASE("the same match twice feels the same", "[client_sim][feel]") {
  FeelConfig config;
  config.players = 3;
  config.seconds = 5;
  config.loss = 0.05;
  config.jitter = Micros{30'000};
  const FeelReport a = run_feel(config), b = run_feel(config);
  CHECK(a.mispredicted == b.mispredicted);
  CHECK(a.hits_agreed == b.hits_agreed);
  CHECK(a.leads == b.leads);
  CHECK(a.network_um.quantile(0.5) == b.network_um.quantile(0.5));
}

TEST_CASE("who lies about what it saw hits nothing that is older than the bound", "[client_sim][feel]") {
  FeelConfig config;
  config.players = 6;
  config.seconds = 20;
  config.lie = Micros{600'000};
  const FeelReport r = run_feel(config);
  tell(r);
  REQUIRE(r.liars_shots > 100);
  const double honest = static_cast<double>(r.honest_hits) / static_cast<double>(r.honest_shots);
  const double liars = static_cast<double>(r.liars_hits) / static_cast<double>(r.liars_shots);
  // Who was lied about has moved on by the third of a second that the rewind does not reach.
  CHECK(liars < 0.25 * honest);
  CHECK(r.liars_rewound.max() <= Micros{263'000});  // of buckets that are 5 % wide
}

TEST_CASE("on a short line a lie reaches no further back than what was acknowledged, and its slack",
          "[client_sim][feel]") {
  FeelConfig config;
  config.players = 4;
  config.seconds = 10;
  config.round_trip = Micros{20'000};
  config.lie = Micros{100'000};
  const FeelReport r = run_feel(config);
  tell(r);
  REQUIRE(r.liars_shots >= 50);
  // A tick there and one back, commands that wait three, and a tenth of a second that is believed of jitter.
  CHECK(r.liars_rewound.max() <= Micros{210'000});
  CHECK(r.rewound.max() <= Micros{130'000});
}

TEST_CASE("who runs behind cover is hit there no longer than his shooter's picture is old",
          "[client_sim][feel]") {
  FeelConfig config;
  config.players = 6;
  config.seconds = 15;
  config.cover = true;
  const FeelReport r = run_feel(config);
  tell(r);
  CHECK(r.behind_cover.count() > 50);
  CHECK(r.behind_cover.quantile(0.5) <= Micros{1});  // the lowest of buckets
  CHECK(r.behind_cover.max() <= Micros{263'000});
  CHECK(r.hit_share() >= 0.98);
  CHECK(r.in_walls == 0);
}
