// What a client makes of motions and heights whose parts come in another order than they were sent.
#include "client_sim/client/sector_forecast.h"

#include <algorithm>
#include <cmath>

#include "protocol/sector_motion.h"
#include "tests/catch.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

std::shared_ptr<const PlacedMap> forecast_rooms() {
  PlaceOptions options;
  options.surface_z = 32;
  options.doors_open = options.doorway = false;
  const auto placed = place_map(
      testing::row_of_rooms({{0, 256}, {0, 256, 1}, {0, 256, 2}, {0, 256, 3}, {0, 256}},
                            {{90, 2}, {88, 3, true}, {73, 1}, {87, 1}}, {testing::thing_at(40, 128, 1)}),
      options);
  REQUIRE(placed.has_value());
  return *placed;
}

/// A server's map, and what it tells of it.
struct ToldPart {
  SnapshotPart part;
  std::vector<WireMotion> motions;
  std::vector<SectorRun> runs;
  std::vector<WireHeights> heights;
};

class MovingSource {
 public:
  MovingSource(std::shared_ptr<const PlacedMap> map, std::uint64_t seed)
      : map_(std::move(map)),
        heights_(map_->initial_heights().begin(), map_->initial_heights().end()),
        movers_(static_cast<std::uint32_t>(heights_.size())),
        rng_(rng_for(seed, 1)) {}

  ToldPart step(std::uint32_t tick) {
    movers_.advance_alone(*map_, heights_, 1.0 / 60);
    ToldPart out;
    const auto sector = rng_.below(static_cast<std::uint32_t>(heights_.size()));
    const Plane plane =
        sector % 2 == 0 ? Plane::floor : Plane::ceiling;  // one of a sector: neither stops the other
    const double now_m = plane == Plane::floor ? heights_[sector].floor_m : heights_[sector].ceiling_m;
    if (rng_.below(8) == 0) {
      Mover mover;
      mover.sector = sector, mover.plane = plane;
      mover.motion = rng_.below(2) == 0 ? Motion::once : Motion::perpetual;
      mover.phase = rng_.below(2) == 0 ? MotionPhase::up : MotionPhase::down;
      mover.resume = mover.phase;
      mover.low_m = now_m - rng_.between(0.2, 0.6), mover.high_m = now_m + rng_.between(0.2, 0.6);
      mover.speed_mps = rng_.between(0.5, 3), mover.wait_s = rng_.between(0.05, 0.3);
      if (movers_.put(mover)) out.motions.push_back(to_wire(*movers_.find(sector, plane), 0, now_m));
    } else if (rng_.below(40) == 0) {
      movers_.remove(sector, plane);  // somebody stopped it: heights alone say so
    }
    const auto named = static_cast<std::uint16_t>(rng_.below(static_cast<std::uint32_t>(heights_.size())));
    out.runs.push_back({0, named, 1});
    const auto wire = [](double m) {
      return static_cast<std::int32_t>(std::floor(m * height_steps_per_m + 0.5));
    };
    out.heights.push_back({wire(heights_[named].floor_m), wire(heights_[named].ceiling_m)});
    out.part.tick = tick;
    return out;
  }

 private:
  std::shared_ptr<const PlacedMap> map_;
  std::vector<SectorHeights> heights_;
  SectorMovers movers_;
  Rng rng_;
};

void give_part(SectorForecast& forecast, ToldPart& told) {
  told.part.sector_motions = told.motions;
  told.part.sector_runs = told.runs;
  told.part.sector_heights = told.heights;
  forecast.take(told.part);
}

}  // namespace

TEST_CASE("parts that come late tell a forecast the same as in their order", "[client][sector_forecast]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  const auto map = forecast_rooms();
  MovingSource source(map, seed);
  Rng rng = rng_for(seed, 2);
  SectorForecast ordered({map}, 60), late({map}, 60);
  std::uint32_t tick = 0, moving = 0, swapped = 0;
  for (int round = 0; round < 600; ++round) {
    std::vector<ToldPart> window;
    for (int i = 0; i < 6; ++i) window.push_back(source.step(++tick));
    for (ToldPart& told : window) give_part(ordered, told);
    for (std::size_t i = window.size() - 1; i > 0; --i) {
      const std::size_t with = rng.below(static_cast<std::uint32_t>(i + 1));
      swapped += with != i ? 1 : 0;
      std::swap(window[i], window[with]);
    }
    for (ToldPart& told : window) give_part(late, told);
    REQUIRE(ordered.tick() == late.tick());
    moving += ordered.movers(0).empty() ? 0 : 1;
    for (std::size_t s = 0; s < ordered.heights(0).size(); ++s) {
      CAPTURE(round, s);
      CHECK(late.heights(0)[s].floor_m == Approx(ordered.heights(0)[s].floor_m).margin(1.5 / 65536));
      CHECK(late.heights(0)[s].ceiling_m == Approx(ordered.heights(0)[s].ceiling_m).margin(1.5 / 65536));
    }
  }
  CHECK(moving > 100);
  CHECK(swapped > 600);
}

TEST_CASE("what is late beyond all use changes no forecast", "[client][sector_forecast]") {
  const auto map = forecast_rooms();
  SectorForecast forecast({map}, 60);
  ToldPart news;
  news.part.tick = 1000;
  give_part(forecast, news);
  ToldPart old;
  old.part.tick = 1000 - 5 * 60 - 1;
  old.runs.push_back({0, 1, 1});
  old.heights.push_back({65536 * 7, 65536 * 9});
  const std::uint64_t before = forecast.changes();
  give_part(forecast, old);
  CHECK(forecast.changes() == before);
  old.part.tick = 999;
  give_part(forecast, old);
  CHECK(forecast.heights(0)[1].floor_m == 7);
  CHECK(forecast.tick() == 1000);
}

TEST_CASE("a forecast names the sectors that changed, and says where it knows them no more",
          "[client][sector_forecast]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  const auto map = forecast_rooms();
  MovingSource source(map, seed);
  Rng rng = rng_for(seed, 3);
  SectorForecast forecast({map}, 60, 7);
  const auto nobody = [](std::size_t, std::uint32_t) { FAIL("a sector is named"); };
  CHECK(forecast.visit_changed(7, nobody));
  CHECK_FALSE(forecast.visit_changed(6, nobody));
  CHECK_FALSE(forecast.visit_changed(8, nobody));
  std::uint32_t tick = 0, known = 0, unknown = 0, changed = 0;
  for (int round = 0; round < 400; ++round) {
    const std::vector<SectorHeights> before(forecast.heights(0).begin(), forecast.heights(0).end());
    const std::uint64_t since = forecast.changes();
    const std::uint32_t parts = rng.below(20) == 0 ? 300 : 1 + rng.below(8);
    for (std::uint32_t i = 0; i < parts; ++i) {
      ToldPart told = source.step(++tick);
      if (rng.below(4) != 0) give_part(forecast, told);
    }
    std::vector<bool> named(before.size(), false);
    const bool all = forecast.visit_changed(since, [&](std::size_t at, std::uint32_t sector) {
      REQUIRE(at == 0);
      named.at(sector) = true;
    });
    (all ? known : unknown) += 1;
    for (std::size_t s = 0; all && s < before.size(); ++s) {
      const SectorHeights &was = before[s], &is = forecast.heights(0)[s];
      if (was.floor_m == is.floor_m && was.ceiling_m == is.ceiling_m) continue;
      ++changed;
      CAPTURE(round, s);
      CHECK(named[s]);
    }
  }
  CHECK(known > 300);
  CHECK(unknown > 5);
  CHECK(changed > 300);
}
