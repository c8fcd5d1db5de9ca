#include "server/host/velocity_tracks.h"

#include <algorithm>
#include <cmath>

#include "protocol/snapshot/moving_record.h"
#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

/// A player that moves as its velocity says.
struct Runner {
  PlacedEntity is{};
  VelocityTracks tracks;
  double dt_s;
  explicit Runner(std::uint32_t tick_rate_hz = 60) : dt_s(1.0 / tick_rate_hz) {
    is.record.id = make_entity_id(4, 1);
    is.record.flags = entity_flag::grounded;
    tracks.begin(tick_rate_hz, 60, usual_pace_steps);
  }
  Velocity moves(DVec3 velocity, std::uint8_t yaw) {
    is.velocity_mps = velocity;
    is.base = is.base + velocity * dt_s;
    const QuantisedPosition q = quantise(is.base);
    is.cell = q.cell, is.record.x = q.x, is.record.y = q.y, is.record.z = q.z;
    is.record.yaw = yaw;
    return tracks.told(is, 1);
  }
};

DVec3 along(double turns, double speed_mps) {
  const double angle = turns * 2 * 3.14159265358979;
  return {speed_mps * std::cos(angle), speed_mps * std::sin(angle), 0};
}

Velocity course(std::uint8_t yaw, unsigned which) {
  const LevelVelocity v = on_course(usual_pace_steps, yaw, which);
  return {v[0], v[1], 0};
}

}  // namespace

TEST_CASE("a player who runs somewhere off where it looks is told to be on that course while it turns",
          "[host][velocity_tracks]") {
  Runner r;
  for (int tick = 0; tick < 120; ++tick) {
    const double turns = 0.004 * tick;
    const auto yaw = static_cast<std::uint8_t>(std::lround(256 * turns));
    const Velocity told = r.moves(along(turns + 3.0 / 8, 6), yaw);
    CAPTURE(tick);
    REQUIRE(told == course(yaw, 3));
  }
}

TEST_CASE("a player who takes another course is told to be on it as soon as it accelerates",
          "[host][velocity_tracks]") {
  Runner r;
  for (int tick = 0; tick < 10; ++tick) r.moves({6, 0, 0}, 0);
  const DVec3 to = along(0.25, 6);
  DVec3 v{6, 0, 0};
  for (int tick = 0; tick < 12; ++tick) {
    const DVec3 left = to - v;
    const double size = std::sqrt(dot(left, left));
    v = size <= 1 ? to : v + left * (1 / size);  // 60 m/s2
    CAPTURE(tick);
    REQUIRE(r.moves(v, 0) == course(0, 2));
  }
}

TEST_CASE("a knock of one tick is not told, and who stops or flies is told as it moves",
          "[host][velocity_tracks]") {
  Runner r;
  for (int tick = 0; tick < 10; ++tick) r.moves({6, 0, 0}, 0);
  CHECK(r.moves({6.4, 0.9, 0}, 0) == course(0, 0));
  CHECK(r.moves({6, 0, 0}, 0) == course(0, 0));
  CHECK(r.moves({2, 0, 0}, 0) == Velocity{32, 0, 0});
  CHECK(r.moves({0, 0, 0}, 0) == Velocity{});
  r.is.record.flags = 0;
  CHECK(r.moves({3, 1, 5}, 0) == Velocity{48, 16, 80});
  CHECK(r.moves({3.1, 1, 4.6}, 0) == Velocity{50, 16, 74});
}

TEST_CASE("on the ground a velocity that hardly changes is told as before, and who is blocked as it moved",
          "[host][velocity_tracks]") {
  Runner r;
  const Velocity told = r.moves({2, 1, 0}, 7);
  CHECK(told == Velocity{32, 16, 0});
  CHECK(r.moves({2.1, 0.95, 0}, 7) == told);
  CHECK(r.moves({2.3, 0.95, 0}, 7) == Velocity{37, 15, 0});
  r.is.velocity_mps = {6, 0, 0};  // and does not move
  CHECK(r.tracks.told(r.is, 1) == Velocity{});
  // Another one in its place begins anew.
  r.is.record.id = make_entity_id(4, 2);
  CHECK(r.tracks.told(r.is, 1) == Velocity{96, 0, 0});
}

TEST_CASE("who is jostled is told to stand until it walks again, and falls as it falls",
          "[host][velocity_tracks]") {
  Runner r;
  Rng rng(7);
  int stood = 0;
  for (int tick = 0; tick < 120; ++tick) {
    const bool flies = tick % 40 >= 30;
    r.is.record.flags = flies ? std::uint8_t{0} : entity_flag::grounded;
    const double up_mps = flies ? 5 - 20 * r.dt_s * (tick % 40 - 30) : 0;
    const Velocity told = r.moves({rng.between(-4, 4), rng.between(-4, 4), up_mps}, 0);
    CAPTURE(tick);
    CHECK(told[2] == quantise_speed(up_mps));
    if (tick >= 60) stood += told[0] == 0 && told[1] == 0;
  }
  CHECK(stood == 60);
  r.is.record.flags = entity_flag::grounded;
  // From the way it takes it is told at once what it accelerates to, as soon as enough of it was free.
  int walks_at = -1;
  for (int tick = 0; tick < 60 && walks_at < 0; ++tick)
    if (r.moves({6, 0, 0}, 0) == course(0, 0)) walks_at = tick;
  CHECK(walks_at >= 0);
  CHECK(walks_at <= 8);
}

TEST_CASE("who was jostled and then stood for a while is told its way as soon as it walks",
          "[host][velocity_tracks]") {
  Runner r;
  Rng rng(9);
  for (int tick = 0; tick < 120; ++tick) r.moves({rng.between(-4, 4), rng.between(-4, 4), 0}, 0);
  REQUIRE(r.moves({3, 2, 0}, 0) == Velocity{});
  for (int tick = 0; tick < 120; ++tick) r.moves({}, 0);
  CHECK(r.moves({1, 0, 0}, 0) != Velocity{});
  CHECK(r.moves({2, 0, 0}, 0) == course(0, 0));
}

TEST_CASE("who has just come is told to move as it moves, however far snapshots are apart",
          "[host][velocity_tracks]") {
  Runner r(10);
  r.is.record.flags = 0;
  r.is.base = {5, 5, 5};
  r.is.velocity_mps = {19, 17, 3};
  CHECK(r.tracks.told(r.is, 1) == Velocity{304, 272, 48});
  CHECK(r.moves({19, 17, 3}, 0) == Velocity{304, 272, 48});
}

TEST_CASE("who walks about, turns, jumps and stops is never told to stand, at any rate",
          "[host][velocity_tracks]") {
  const auto rate = GENERATE(std::uint32_t{10}, std::uint32_t{30}, std::uint32_t{60}, std::uint32_t{128});
  CAPTURE(rate);
  Runner r(rate);
  Rng rng(11);
  double turns = 0, up_mps = 0;
  DVec3 v;
  for (std::uint32_t tick = 0; tick < 60 * rate; ++tick) {
    if (rng.below(rate) == 0) turns = rng.unit();
    if (up_mps == 0 && rng.below(rate) == 0) up_mps = 7;
    const DVec3 left = along(turns, 6) - v;
    const double size = std::sqrt(dot(left, left)), most = 60 * r.dt_s;
    v = size <= most ? along(turns, 6) : v + left * (most / size);
    r.is.record.flags = up_mps == 0 ? entity_flag::grounded : std::uint8_t{0};
    const auto yaw = static_cast<std::uint8_t>(std::lround(256 * turns));
    const Velocity told = r.moves({v.x, v.y, up_mps}, yaw);
    CAPTURE(tick, told[0], told[1], v.x, v.y);
    REQUIRE((told[0] != 0 || told[1] != 0 || (std::abs(v.x) < 1 && std::abs(v.y) < 1)));
    if (r.is.base.z > 0)
      up_mps -= 20 * r.dt_s;
    else
      up_mps = 0, r.is.base.z = 0;
  }
}

TEST_CASE(
    "who keeps its velocity is told where that leads, a step beside where it is at most, who rests is where "
    "it is",
    "[host][velocity_tracks][property]") {
  Rng rng = rng_for(31, 0);
  int ticks = 0, foretold = 0, exact = 0;
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t rate_hz = round % 2 == 0 ? 60 : 20 + rng.below(109);
    Runner r(rate_hz);
    r.is.base = {rng.between(-500, 500), rng.between(-500, 500), 8};
    DVec3 v = along(rng.unit(), rng.between(0.5, 20));
    MovingRecord before;
    CellCoord cell_before{};
    for (std::uint32_t tick = 1000 + rng.below(1000), end = tick + 400; tick < end; ++tick) {
      if (tick % 150 == 0) v = rng.below(3) == 0 ? DVec3{} : along(rng.unit(), rng.between(0.5, 20));
      MovingRecord told{{}, r.moves(v, 0)};
      told.record = r.is.record;
      r.tracks.keep_way(told, r.is.cell, tick);
      CAPTURE(round, tick, rate_hz);
      REQUIRE(tells(told.record, r.is.record));
      if (told.velocity == Velocity{}) REQUIRE(told.record == r.is.record);
      if (r.is.cell == cell_before && told.velocity == before.velocity && told.velocity != Velocity{}) {
        const Foretelling by(1, rate_hz, tick);
        ++ticks;
        foretold += before.record.x + by.steady_way(told.velocity[0]) == told.record.x &&
                    before.record.y + by.steady_way(told.velocity[1]) == told.record.y;
        exact += told.record == r.is.record;
      }
      before = told, cell_before = r.is.cell;
    }
  }
  CAPTURE(ticks, foretold, exact);
  CHECK(ticks > 10000);
  CHECK(foretold > ticks * 9 / 10);
  CHECK(exact > ticks / 4);
}
