#include "tests/catch.h"
#include "tests/walk_worlds.h"
#include "tests/world/cases.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

void check_walk(WalkWorld& world, Solver solver, std::uint32_t ticks) {
  Rules rules;
  rules.player_solver = rules.monster_solver = solver;
  REQUIRE(world.starts.size() >= 100);
  const WalkResult r = run_walk(world.space(), rules, world.bounds, world.starts, 60, ticks, 4);
  CAPTURE(r.example.x, r.example.y, r.example.z, r.example_tick, r.example_mover);
  CHECK(r.out == 0);
  CHECK(r.overlapping == 0);
  CHECK(r.stuck == 0);
  CHECK(r.hanging == 0);
  CHECK(r.frozen == 0);
  // They did walk, jump and meet: at least a tenth of full speed, whatever is in the way.
  CHECK(r.metres > 0.1 * 6 * static_cast<double>(r.player_ticks) / 60);
  CHECK(r.jumps > 20);
  CHECK(r.monster_ticks > r.player_ticks / 10);
}

}  // namespace

TEST_CASE("a crowd walks through random voxels without getting out, in or stuck", "[world][sim][walk]") {
  const Solver solver = GENERATE(Solver::sweep, Solver::correct);
  const double density = GENERATE(0.1, 0.35);
  const double offset = GENERATE(0.0, 1000000.0);
  CAPTURE(solver == Solver::sweep, density, offset);
  WalkWorld world;
  make_random_voxels(world, 3, density, 2, {offset, -offset, 0});
  check_walk(world, solver, 300);
}

TEST_CASE("nobody hangs in the air among boulders, at any tick rate", "[world][sim][walk]") {
  const Solver solver = GENERATE(Solver::sweep, Solver::correct);
  const std::uint16_t rate = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{128});
  const double offset = GENERATE(0.0, 1000000.0);
  CAPTURE(solver == Solver::sweep, rate, offset);
  WalkWorld world;
  make_random_voxels(world, 5, 0.06, 2, {offset, -offset, 0});
  Rules rules;
  rules.player_solver = rules.monster_solver = solver;
  rules.tick_rate_hz = rate;
  const auto ticks = static_cast<std::uint32_t>(cases(60)) * rate / 10;
  const WalkResult r = run_walk(world.space(), rules, world.bounds, world.starts, 40, ticks, 9);
  CAPTURE(r.example.x, r.example.y, r.example.z, r.example_tick, r.example_mover);
  CHECK(r.hanging == 0);
  CHECK(r.out == 0);
  CHECK(r.overlapping == 0);
  CHECK(r.stuck == 0);
}

TEST_CASE("a crowd walks through the first map of a WAD without getting out, in or stuck",
          "[world][sim][walk]") {
  const Solver solver = GENERATE(Solver::sweep, Solver::correct);
  const auto wads = testing::find_wad("freedoom2.wad");
  if (!wads) {
    WARN("freedoom2.wad is not there: nothing was tested (Debian package freedoom)");
    return;
  }
  const auto source = read_map(*wads, "MAP01");
  REQUIRE(source);
  const auto placed = place_map(*source, {"MAP01", {}, 20, true, true});
  REQUIRE(placed);
  WalkWorld world;
  make_map_world(world, *placed, 1);
  check_walk(world, solver, 200);
}
