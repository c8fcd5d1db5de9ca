#include <cmath>

#include "tests/catch.h"
#include "tests/walk.h"
#include "tests/world/voxel_worlds.h"
#include "world/sim/crowd.h"
#include "world/sim/monster_move.h"
#include "world/sim/mover.h"
#include "world/sim/player_move.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

Body at_rest(DVec3 at) {
  Body body;
  body.position_m = body.last_free_m = at;
  body.grounded = 1;
  return body;
}

PlayerCommand forward_along(std::uint16_t yaw = 0) {
  PlayerCommand command;
  command.forward = 1;
  command.yaw = Turn16{yaw};
  return command;
}

}  // namespace

TEST_CASE("a player reaches walking speed in a tenth of a second and stops when nothing is pressed",
          "[world][sim][feel]") {
  const VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0; });
  const Space space{&volume, {}};
  Rules rules;
  rules.tick_rate_hz = GENERATE(std::uint16_t{30}, std::uint16_t{60}, std::uint16_t{120});
  Body body = at_rest({-20, 0.5, 0});
  for (int i = 0; i < rules.tick_rate_hz / 10; ++i) player_move(space, rules, forward_along(), body);
  CHECK(length(body.velocity_mps) == Approx(6));
  for (int i = 0; i < rules.tick_rate_hz; ++i) player_move(space, rules, {}, body);
  CHECK(body.velocity_mps == DVec3{});
  // A diagonal is no faster.
  PlayerCommand diagonal = forward_along();
  diagonal.left = 1;
  for (int i = 0; i < rules.tick_rate_hz; ++i) player_move(space, rules, diagonal, body);
  CHECK(length(body.velocity_mps) == Approx(6));
}

TEST_CASE("steering in the air is weaker than on the ground and never above walking speed",
          "[world][sim][feel]") {
  const VoxelVolume volume = make_volume({-1, -1, 0}, {2, 2, 2}, [](IVec3) { return false; });
  const Space space{&volume, {}};
  Body body = at_rest({0.5, 0.5, 50});
  body.grounded = 0;
  player_move(space, Rules{}, forward_along(), body);
  CHECK(length(xy(body.velocity_mps)) == Approx(12.0 / 60));
  body.velocity_mps = {6, 0, 0};
  double fastest = 0;
  for (int i = 0; i < 60; ++i) {
    player_move(space, Rules{}, forward_along(static_cast<std::uint16_t>(i * 700)), body);
    fastest = std::max(fastest, length(xy(body.velocity_mps)));
  }
  CHECK(fastest <= 6 + 1e-9);
}

TEST_CASE("a cliff carries a body as long as any part of its disc is over it", "[world][sim][feel]") {
  const VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 && b.x < 0; });
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = GENERATE(Solver::sweep, Solver::correct);
  Body body = at_rest({0.299, 0.5, 0});
  for (int i = 0; i < 60; ++i) player_move(space, rules, {}, body);
  CHECK(body.grounded == 1);
  CHECK(body.position_m.z == 0);
  body = at_rest({0.301, 0.5, 0});
  for (int i = 0; i < 10; ++i) player_move(space, rules, {}, body);
  CHECK(body.grounded == 0);
  CHECK(body.position_m.z < 0);
}

TEST_CASE("a body in a cell as high as itself can walk, and a lower one stops it", "[world][sim][feel]") {
  // Blocks leave openings of whole metres; the body is made as high as one.
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 || b.z >= 2; });
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = GENERATE(Solver::sweep, Solver::correct);
  rules.player.height_m = 2;
  Body body = at_rest({-20, 0.5, 0});
  for (int i = 0; i < 120; ++i) player_move(space, rules, forward_along(), body);
  CHECK(body.position_m.x > -20 + 11);
  CHECK(body.stuck_ticks == 0);
}

TEST_CASE("a wall holds a runner for 100 ticks without jitter", "[world][sim][feel]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 || b.x >= 4; });
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = GENERATE(Solver::sweep, Solver::correct);
  const std::uint16_t yaw = GENERATE(std::uint16_t{0}, std::uint16_t{3000}, std::uint16_t{62000});
  Body body = at_rest({3, 0.5, 0});
  for (int i = 0; i < 30; ++i) player_move(space, rules, forward_along(yaw), body);
  const double x = body.position_m.x;
  double y = body.position_m.y;
  unsigned wrong = 0;
  for (int i = 0; i < 100; ++i) {
    player_move(space, rules, forward_along(yaw), body);
    wrong += std::fabs(body.position_m.x - x) > 1e-6;
    if (yaw == 3000) wrong += body.position_m.y < y;
    if (yaw == 62000) wrong += body.position_m.y > y;
    y = body.position_m.y;
    wrong += space_overlaps(space, {0.3 - 1e-4, 1.7}, body.position_m + DVec3{0, 0, 0.01});
  }
  CHECK(wrong == 0);
  CHECK(x == Approx(3.7).margin(1e-5));
}

TEST_CASE("kinetic energy never grows by collision", "[world][sim][feel]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return random_block(12, b, 0.25); });
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = GENERATE(Solver::sweep, Solver::correct);
  Rng rng{8};
  unsigned grew = 0, moves = 0, bad = 0;
  for (int i = 0; i < 6000; ++i) {
    Body body;
    body.position_m.x = rng.between(-25, 25);
    body.position_m.y = rng.between(-25, 25);
    body.position_m.z = rng.between(-25, 25);
    if (space_overlaps(space, rules.player, body.position_m)) continue;
    body.velocity_mps.x = rng.between(-20, 20);
    body.velocity_mps.y = rng.between(-20, 20);
    body.velocity_mps.z = rng.between(-20, 20);
    body.grounded = static_cast<std::uint8_t>(rng.below(2));
    const DVec3 before = body.velocity_mps;
    const double height = body.position_m.z;
    const MoveReport report = player_move(space, rules, {}, body);
    ++moves;
    bad += !is_finite(body.position_m) || !is_finite(body.velocity_mps);
    // What gravity gives is paid for in height; a step up or down on the ground is the legs' work.
    const bool legs = report.stepped || body.grounded != 0;
    const double gained = 0.5 * (dot(body.velocity_mps, body.velocity_mps) - dot(before, before)) +
                          (legs ? 0 : rules.gravity_mps2 * (body.position_m.z - height));
    grew += gained > 1e-6;
  }
  CHECK(moves > 1000);
  CHECK(bad == 0);
  CHECK(grew == 0);
}

TEST_CASE("the eye follows steps at a bounded speed", "[world][sim][feel]") {
  // Half-height steps do not exist in blocks: a rule set that steps a whole block climbs these.
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < std::max(0, std::min(b.x, 12)) / 2; });
  const Space space{&volume, {}};
  Rules rules;
  rules.step_height_m_max = 1;
  rules.player_solver = GENERATE(Solver::sweep, Solver::correct);
  Body body = at_rest({-3, 0.5, 0});
  double eye = body.position_m.z, fastest = 0;
  unsigned steps = 0, airborne = 0;
  for (int i = 0; i < 180; ++i) {
    steps += player_move(space, rules, forward_along(i < 150 ? 0 : 32768), body).stepped;
    airborne += body.grounded == 0;
    const double now = body.position_m.z + body.eye_offset_m;
    fastest = std::max(fastest, std::fabs(now - eye) / rules.tick_s());
    eye = now;
  }
  CHECK(steps == 6);
  CHECK(airborne == 0);  // down the stairs the feet keep contact
  CHECK(fastest <= eye_speed_mps_max + 1e-9);
}

TEST_CASE("crowds push apart, never into walls, in any order", "[world][collide][crowd]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 || b.x >= 6 || b.x < -6; });
  const Space space{&volume, {}};
  const Rules rules;
  constexpr std::size_t count = 60;
  std::vector<Body> forward(count), backward;
  Rng rng{1};
  for (Body& b : forward) {
    b.position_m.x = rng.between(4, 5.7);
    b.position_m.y = rng.between(-1, 1);
    b.velocity_mps.x = rng.between(-3, 3);
  }
  forward[1].position_m = forward[0].position_m;  // one and the same place
  backward = forward;
  Crowd crowd;
  crowd.reserve(count);
  std::size_t pairs = 0;
  for (int tick = 0; tick < 240; ++tick) {
    crowd.clear();
    for (std::uint32_t i = 0; i < count; ++i) crowd.add(rules.player, forward[i], make_entity_id(i, 1));
    crowd.push_apart(space, rules);
    crowd.clear();
    for (std::uint32_t i = count; i-- > 0;) crowd.add(rules.player, backward[i], make_entity_id(i, 1));
    crowd.push_apart(space, rules);
    pairs = crowd.pairs_met();
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(forward[i].position_m == backward[i].position_m);
      REQUIRE(forward[i].velocity_mps == backward[i].velocity_mps);
      REQUIRE_FALSE(space_overlaps(space, rules.player, forward[i].position_m));
    }
  }
  CHECK(pairs < 200);  // of 1770: a heap of sixty has spread out, neighbours still touch
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < i; ++k)
      CHECK(length(xy(forward[i].position_m - forward[k].position_m)) > 0.5);
}

TEST_CASE("monsters of every kind walk or fly without ending in solids", "[world][sim][monster_move]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {3, 3, 2}, [](IVec3 b) { return b.z < 0 || random_block(6, b, 0.002); });
  const Space space{&volume, {}};
  Rules rules;
  rules.monster_solver = GENERATE(Solver::sweep, Solver::correct);
  Rng rng{3};
  unsigned in_solid = 0;
  for (std::size_t k = 0; k < monster_kind_count; ++k) {
    const MonsterTraits& kind = traits(static_cast<MonsterKind>(k));
    Body body;
    do {
      body.position_m.x = rng.between(-10, 40);
      body.position_m.y = rng.between(-10, 40);
    } while (space_overlaps(space, kind.shape, body.position_m));
    body.last_free_m = body.position_m;
    MonsterWish wish;
    double walked = 0;
    for (int tick = 0; tick < 300; ++tick) {
      if (tick % 40 == 0) wish.direction = heading(Turn16{static_cast<std::uint16_t>(rng.next_u32())});
      const DVec3 before = body.position_m;
      monster_move(space, rules, kind, wish, body);
      walked += length(body.position_m - before);
      in_solid +=
          deeper_than(space, wall_shape(rules, kind), body.position_m, tolerance_m(rules.monster_solver));
    }
    CAPTURE(k);
    CHECK(walked > 1);
  }
  CHECK(in_solid == 0);
}
