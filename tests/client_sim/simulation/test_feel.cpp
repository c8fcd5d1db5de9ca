// How a match feels whose clients predict: exact and repeatable, as all of it is simulated.
#include "client_sim/simulation/feel.h"

#include <cmath>

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
  UNSCOPED_INFO("others behind beyond what is asked " << r.excess_max() << " snapshots at most");
  UNSCOPED_INFO("hits agreed " << r.hits_agreed << " denied " << r.hits_denied << " lost " << r.hits_lost
                               << " beyond " << r.hits_beyond << " displaced " << r.hits_displaced
                               << " unforeseen " << r.hits_unforeseen << " unseen " << r.hits_unseen
                               << ", rewound p99 " << r.rewound.quantile(0.99).count() / 1000 << " ms");
  UNSCOPED_INFO("behind cover p99 " << r.behind_cover.quantile(0.99).count() / 1000 << " ms, liars "
                                    << r.liars_behind_cover.quantile(0.99).count() / 1000
                                    << " ms, liars rewound " << r.liars_rewound.max().count() / 1000
                                    << " ms");
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
  CHECK(r.lead(0.01) >= 1);
  CHECK(r.lead(0.99) <= 3);
  // Five ticks there and back, commands that wait two or three, and the next snapshot.
  CHECK(r.others_age.quantile(0.5) <= Micros{150'000});
}

TEST_CASE("a crowd on a bad line is corrected seldom and little", "[client_sim][feel][statistics]") {
  // The network's corrections are so few that how large they are is asked of all games together.
  client_sim::Histogram network_um;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    FeelConfig config;
    config.seed = seed;
    config.players = 16;
    config.seconds = 60;
    config.loss = 0.01;
    config.jitter = Micros{10'000};
    CAPTURE(config.seed);
    const FeelReport r = run_feel(config);
    tell(r);
    REQUIRE(r.player_minutes == Approx(16));
    // What is laid to bodies is not hidden there: they touched, but for one tick in fifty.
    REQUIRE(r.crowd_ticks > 100);
    CHECK(static_cast<double>(r.crowd_apart_ticks) <= 0.02 * static_cast<double>(r.crowd_ticks));
    CHECK(static_cast<double>(r.network_visible + r.unknown_visible) <= r.player_minutes);
    CHECK(r.unknown_um.max() <= Micros{20'000});
    CHECK(r.hit_share() >= 0.99);
    CHECK(r.in_walls == 0);
    CHECK(r.lead(0.01) >= 1);
    CHECK(r.lead(0.99) <= 3);
    network_um.merge(r.network_um);
  }
  CHECK(network_um.quantile(0.5) <= Micros{20'000});
  CHECK(network_um.quantile(0.99) <= Micros{250'000});
}

TEST_CASE("where far more is lost the network's corrections are as seldom, and small",
          "[client_sim][feel][statistics]") {
  FeelConfig config;
  config.seed = GENERATE(std::uint64_t{1}, std::uint64_t{2});
  config.players = 8;
  config.seconds = 120;
  config.loss = 0.07;
  config.jitter = Micros{30'000};
  config.round_trip = Micros{150'000};
  const FeelReport r = run_feel(config);
  tell(r);
  CHECK(r.extrapolated > r.shown / 10);  // it is that bad
  CHECK(static_cast<double>(r.network_visible + r.unknown_visible) <= r.player_minutes);
  CHECK(r.network_um.quantile(0.5) <= Micros{20'000});
  CHECK(r.network_um.quantile(0.99) <= Micros{500'000});  // the largest of a handful
  CHECK(r.lead(0.01) >= 1);
  CHECK(r.lead(0.99) <= 4);
}

namespace {

/// @param off_max  of where a frame shows somebody from where that one was, of 99 in 100
void check_delay(FeelConfig config, double excess_max, Micros off_um_max) {
  config.players = 3;
  config.seconds = 10;
  CAPTURE(config.tick_rate_hz, config.snapshot_every_ticks, config.round_trip.count(), config.jitter.count());
  CAPTURE(config.loss);
  const FeelReport r = run_feel(config);
  tell(r);
  REQUIRE(r.excess_snapshots.size() == 3);
  CHECK(r.excess_max() <= excess_max);
  CHECK(r.excess_max() > 0);  // less would be no picture between two states
  CHECK(r.frame_off_um.quantile(0.99) <= off_um_max);
  CHECK(r.in_walls == 0);
}
// Its mean is of a lag that takes some seconds to go down when the way has become shorter.
constexpr double one_snapshot = 1.1;

}  // namespace

TEST_CASE("the others' picture is as old as way, waiting and jitter ask for, and one snapshot",
          "[client_sim][feel][statistics]") {
  FeelConfig config;
  config.round_trip = Micros{GENERATE(20'000, 150'000)};
  config.jitter = Micros{GENERATE(0, 10'000, 30'000)};
  config.loss = GENERATE(0.0, 0.05);
  check_delay(config, one_snapshot, Micros{60'000});
}

TEST_CASE("the others' picture is one snapshot older at most at other rates, and where they come seldom",
          "[client_sim][feel][statistics]") {
  FeelConfig config;
  config.jitter = Micros{GENERATE(0, 10'000)};
  SECTION("rates") {
    config.tick_rate_hz = GENERATE(std::uint16_t{20}, std::uint16_t{30}, std::uint16_t{128});
    check_delay(config, one_snapshot, Micros{400'000});
  }
  SECTION("seldom") {
    config.snapshot_every_ticks = GENERATE(std::uint16_t{2}, std::uint16_t{3}, std::uint16_t{6});
    check_delay(config, one_snapshot, Micros{400'000});
  }
}

TEST_CASE("shots at those who are far from an overloaded server's clients are judged as they were shown",
          "[client_sim][feel][statistics]") {
  FeelConfig config;
  config.seed = GENERATE(std::uint64_t{1}, std::uint64_t{2});
  config.seconds = 120;
  config.place_radius_m = 45;
  config.aim_beyond_m = 32;
  config.spread_deg = 1;
  config.overload = true;
  config.loss = GENERATE(0.0, 0.05);
  CAPTURE(config.seed, config.loss);
  const FeelReport r = run_feel(config);
  tell(r);
  // They are told of in every fourth snapshot, and far: one shot in twenty hits.
  CHECK(r.hits_agreed > 40);
  // One in a hundred of those; of so few as these by chance some more.
  const auto hits = static_cast<double>(r.hits_agreed + r.hits_denied);
  CHECK(static_cast<double>(r.hits_denied) <= 0.01 * hits + 2 * std::sqrt(0.01 * hits));
  CHECK(r.extrapolated > r.shown / 20);
}

TEST_CASE("shots at those who are told of ten to twenty times a second are judged as they were shown",
          "[client_sim][feel][statistics]") {
  FeelConfig config;
  config.seed = GENERATE(std::uint64_t{1}, std::uint64_t{2});
  config.players = 6;
  config.seconds = 60;
  config.place_radius_m = 30;
  const bool lossy = GENERATE(false, true);
  config.snapshot_every_ticks = GENERATE(std::uint16_t{1}, std::uint16_t{3}, std::uint16_t{6});
  config.loss = lossy ? 0.05 : 0;
  CAPTURE(config.seed, config.snapshot_every_ticks, config.loss);
  const FeelReport r = run_feel(config);
  tell(r);
  // It is judged between the very states that it was shown between.
  CHECK(r.hits_agreed > 150);
  // Where a tenth of a second's states are lost one in a hundred and ten is not.
  CHECK(r.hit_share() >= (lossy && config.snapshot_every_ticks == 6 ? 0.985 : 0.99));
  // Where it was shown, between two states, and where it was at that tick: some millimetres apart, but where
  // it turned or came down from a jump between the two.
  CHECK(r.seen_off_um.quantile(0.5) <= Micros{25'000});
  CHECK(r.seen_off_um.quantile(0.99) <= (lossy ? Micros{600'000} : Micros{150'000}));
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

TEST_CASE("who lies about what it saw hits nothing that is older than the bound",
          "[client_sim][feel][statistics]") {
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
  // A tick there and one back, and commands that wait two or three.
  CHECK(r.rewound.quantile(0.99) <= Micros{105'000});
  // As the line has no jitter, hardly more is believed.
  CHECK(r.liars_rewound.quantile(0.99) <= Micros{140'000});
  CHECK(r.liars_rewound.max() <= Micros{210'000});  // as long as little was acknowledged
}

TEST_CASE("who lies about what it saw hits nobody behind cover more often than honest ones",
          "[client_sim][feel][statistics]") {
  FeelConfig config;
  config.players = 6;
  config.seconds = 60;
  config.cover = true;
  config.lie = Micros{GENERATE(50'000, 100'000, 150'000)};
  config.round_trip = Micros{GENERATE(20'000, 80'000)};
  CAPTURE(config.lie.count(), config.round_trip.count());
  const FeelReport r = run_feel(config);
  tell(r);
  REQUIRE(r.liars_shots > 400);
  REQUIRE(r.liars_behind_cover.count() > 50);
  // Of 450 shots some go to where somebody was a moment ago, whoever fires them.
  CHECK(r.liars_covered_hits <= r.covered_hits + 9);
  CHECK(r.liars_hits <= r.honest_hits + 20);
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
  CHECK(r.behind_cover.quantile(0.99) <= r.others_age.quantile(0.5) + Micros{50'000});
  CHECK(r.hit_share() >= 0.98);
  CHECK(r.in_walls == 0);
}
