#include "world/collide/recover.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/world/voxel_worlds.h"
#include "world/sim/player_move.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

Body at(DVec3 p, DVec3 last_free) {
  Body body;
  body.position_m = p;
  body.last_free_m = last_free;
  return body;
}

}  // namespace

TEST_CASE("a block set around a body lets it go within 8 ticks at 60 Hz and half a second at any rate",
          "[world][collide][recover]") {
  VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0; });
  Rules rules;
  rules.tick_rate_hz = GENERATE(std::uint16_t{10}, std::uint16_t{20}, std::uint16_t{60}, std::uint16_t{128});
  const int layer = GENERATE(0, 1);
  CAPTURE(rules.tick_rate_hz, layer);
  const DVec3 place{3.5, 3.5, 0};
  volume.set_block({3, 3, layer}, BlockId::stone);
  const Space space{&volume, {}};
  Body body = at(place, place);
  body.velocity_mps = {3, 0, 0};
  int ticks = 0;
  DVec3 before = body.position_m;
  while (space_overlaps(space, rules.player, body.position_m) && ticks < 200) {
    const MoveReport report = player_move(space, rules, {}, body);
    ++ticks;
    CHECK(report.recovered);
    CHECK(length(body.velocity_mps) == 0);
    CHECK(length(body.position_m - before) <= recovery_step_m_max + 1e-9);
    before = body.position_m;
  }
  CHECK(body.recovery_velocity_mps == DVec3{});
  CHECK(ticks * rules.tick_s() <= 0.5);
  if (rules.tick_rate_hz == 60) CHECK(ticks <= 8);
  // And stays out, with no speed of its own from it.
  for (int i = 0; i < 30; ++i) CHECK_FALSE(player_move(space, rules, {}, body).recovered);
}

TEST_CASE("no-clip ended in deep rock takes the body back to where it entered", "[world][collide][recover]") {
  const VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0; });
  const Space space{&volume, {}};
  Rules rules;
  Body body = at({0.5, 0.5, 2}, {0.5, 0.5, 2});
  body.noclip = 1;
  PlayerCommand sink;
  sink.buttons = button::down;
  for (int i = 0; i < 60; ++i) player_move(space, rules, sink, body);
  REQUIRE(body.position_m.z < -10);
  REQUIRE(space_overlaps(space, rules.player, body.position_m));
  body.noclip = 0;
  int ticks = 0;
  while (space_overlaps(space, rules.player, body.position_m) && ++ticks < 200)
    player_move(space, rules, {}, body);
  CHECK(ticks * rules.tick_s() <= recovery_s_max + 0.1);
  CHECK(body.position_m.z >= 0);
  CHECK(xy(body.position_m) == DVec2{0.5, 0.5});
}

TEST_CASE("a body in a wall goes back to its own side", "[world][collide][recover]") {
  // A wall of one block; the body came from the west and was put east of the wall's middle.
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 || (b.x == 4 && b.z < 8); });
  const Space space{&volume, {}};
  const double depth = GENERATE(4.1, 4.5, 4.7, 4.95);
  CAPTURE(depth);
  Body body = at({depth, 2.5, 0}, {3.6, 2.5, 0});
  for (int i = 0; i < 60; ++i) player_move(space, Rules{}, {}, body);
  CHECK_FALSE(space_overlaps(space, Cylinder{}, body.position_m));
  CHECK(body.position_m.x < 4);
}

TEST_CASE("a sealed cell and unknown ground ask for a spawn", "[world][collide][recover]") {
  const VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3) { return true; });
  const Space space{&volume, {}};
  Body body = at({0.5, 0.5, 0.5}, {0.5, 0.5, 0.5});
  CHECK(player_move(space, Rules{}, {}, body).lost);
  CHECK(body.position_m == DVec3{0.5, 0.5, 0.5});
}

TEST_CASE("embedded bodies in random worlds get free, or are told to be lost", "[world][collide][recover]") {
  const int density = GENERATE(10, 40);
  CAPTURE(density);
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [&](IVec3 b) { return random_block(2, b, density / 100.0); });
  const Space space{&volume, {}};
  Rng rng{5};
  unsigned embedded = 0, stuck = 0, far = 0, freed = 0;
  for (int i = 0; i < 400; ++i) {
    DVec3 p;
    p.x = rng.between(-24, 24);
    p.y = rng.between(-24, 24);
    p.z = rng.between(-24, 24);
    Body body = at(p, p);
    if (!space_overlaps(space, Cylinder{}, p)) continue;
    ++embedded;
    bool lost = false, free = false;
    for (int tick = 0; tick < 60 && !lost && !free; ++tick) {
      lost = player_move(space, Rules{}, {}, body).lost;
      free = !space_overlaps(space, Cylinder{}, body.position_m);
    }
    stuck += !lost && !free;
    freed += free;
    far += length(body.position_m - p) > 6;
    if (lost) stuck += recovery_target(space, Cylinder{}, body.position_m, p).has_value();
  }
  CHECK(embedded > 50);
  CHECK(freed > 20);
  CHECK(stuck == 0);
  CHECK(far == 0);
}
