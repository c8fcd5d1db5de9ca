#include "world/collide/recover.h"

#include <cmath>
#include <set>

#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/world/cases.h"
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

TEST_CASE("a block set into a standing body sends nobody through a gap between two posts",
          "[world][collide][recover]") {
  // Corridors two high that meet in a corner whose outer post is missing, with the open behind it.
  VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) {
    const bool corridor = b.z >= 0 && b.z < 2 && ((b.x == 0 && b.y <= 0) || (b.y == 0 && b.x <= 0));
    const bool open = b.z >= 0 && b.x >= 1 && b.y >= 1;
    return !corridor && !open;
  });
  const Space space{&volume, {}};
  const DVec3 place{0.69, 0.69, 0};
  REQUIRE_FALSE(space_overlaps(space, Cylinder{}, place));
  volume.set_block({0, 0, 0}, BlockId::stone);
  const auto target = recovery_target(space, Cylinder{}, place, place);
  REQUIRE(target);
  CHECK(std::min(target->x, target->y) < 0);
  Body body = at(place, place);
  for (int i = 0; i < 60; ++i) player_move(space, Rules{}, {}, body);
  CHECK(std::min(body.position_m.x, body.position_m.y) < 0.3);
  CHECK(std::max(body.position_m.x, body.position_m.y) < 1);
}

TEST_CASE("a small body in a sealed cell does not come out on its roof", "[world][collide][recover]") {
  VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) {
    const bool shell = std::abs(b.x) <= 1 && std::abs(b.y) <= 1 && b.z <= 1;
    return b.z < 0 || (shell && b != IVec3{0, 0, 0});
  });
  const Space space{&volume, {}};
  const Cylinder small{0.3, 0.9};
  const DVec3 place{0.5, 0.5, 0};
  REQUIRE_FALSE(space_overlaps(space, small, place));
  volume.set_block({0, 0, 0}, BlockId::stone);
  CHECK_FALSE(recovery_target(space, small, place, place));
}

TEST_CASE("ground two cells up is no place of the 3x3x3", "[world][collide][recover]") {
  // A pit two deep with one way out sideways at its bottom: nearer than that is the rim over it.
  VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) {
    const bool pit = b.x == 0 && b.y == 0, tunnel = b.y == 0 && b.x <= 0 && b.z < 2;
    return b.z < 0 || (b.z < 2 && !pit && !tunnel);
  });
  const Space space{&volume, {}};
  const DVec3 place{0.69, 0.69, 0};
  volume.set_block({0, 0, 0}, BlockId::stone);
  const auto target = recovery_target(space, Cylinder{}, place, place);
  REQUIRE(target);
  CHECK(target->z < 2);
}

TEST_CASE("recovery ends on the side of a slab that the body came from, not in the room on the way",
          "[world][collide][recover]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 1 || b.z == 3; });
  const Space space{&volume, {}};
  Rules rules;
  rules.tick_rate_hz = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{128});
  const DVec3 home{0.5, 0.5, 4};
  Body body = at({0.5, 0.5, 0.5}, home);
  for (int i = 0; i < 2 * rules.tick_rate_hz; ++i) {
    CHECK_FALSE(player_move(space, rules, {}, body).lost);
    CHECK(body.velocity_mps.z <= 0);
  }
  CHECK(body.position_m.z == 4);
  CHECK(body.stuck_ticks == 0);
}

namespace {

/// Where a body of less than a block's width and `tall` blocks' height can go among blocks, by the definition
/// of blocks: cells with room for it, from face to face. Searched up to `far` cells from the start.
class CellWays {
 public:
  CellWays(const VoxelVolume& volume, int tall, IVec3 start, int far) : start_(start), far_(far) {
    std::vector<IVec3> open{start};
    seen_.insert(key(start));
    while (!open.empty()) {
      const IVec3 at = open.back();
      open.pop_back();
      for (const IVec3 way : {IVec3{1, 0, 0}, IVec3{-1, 0, 0}, IVec3{0, 1, 0}, IVec3{0, -1, 0},
                              IVec3{0, 0, 1}, IVec3{0, 0, -1}}) {
        const IVec3 next = at + way;
        bool room = inside(next);
        for (int z = 0; z < tall && room; ++z) room = !volume.solid(next + IVec3{0, 0, z});
        if (room && seen_.insert(key(next)).second) open.push_back(next);
      }
    }
  }
  bool reach(IVec3 cell) const { return !inside(cell) || seen_.contains(key(cell)); }

 private:
  bool inside(IVec3 c) const {
    const IVec3 d = c - start_;
    return std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)}) <= far_;
  }
  int key(IVec3 c) const {
    const IVec3 d = c - start_ + IVec3{far_, far_, far_};
    return (d.z * (2 * far_ + 1) + d.y) * (2 * far_ + 1) + d.x;
  }
  IVec3 start_;
  int far_;
  std::set<int> seen_;
};

/// Somewhere in the cells that a body of this size stands in: its middle in `cell`, free of blocks.
bool place_in_cell(const Space& space, const Cylinder& shape, IVec3 cell, Rng& rng, DVec3& out) {
  for (int i = 0; i < 6; ++i) {
    out = to_dvec3(cell);
    out.x += i == 0 ? 0.5 : rng.unit();
    out.y += i == 0 ? 0.5 : rng.unit();
    if (!space_overlaps(space, shape, out)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("nobody recovers through a wall or roof when a block is set into him",
          "[world][collide][recover][property]") {
  const double density = GENERATE(0.1, 0.3, 0.5);
  const double offset = GENERATE(0.0, 1000000.0);
  if (test::slowness > 1 && (density != 0.3 || offset == 0)) return;
  CAPTURE(density, offset);
  const auto chunk = static_cast<std::int32_t>(offset / 32);
  VoxelVolume volume = make_volume({chunk, 0, 0}, {1, 1, 1}, [&](IVec3 b) {
    return random_block(41, {b.x - chunk * 32, b.y, b.z}, density);
  });
  const Space space{&volume, {}};
  Rng rng{static_cast<std::uint64_t>(42 + density * 10)};
  unsigned through = 0, missed = 0, freed = 0, lost = 0, still = 0;
  for (int i = 0; i < cases(2500); ++i) {
    Cylinder shape;
    if (rng.below(3) == 0) shape = {0.45, 0.9};
    const int tall = shape.height_m > 1 ? 2 : 1;
    IVec3 cell{chunk * 32, 0, 0};
    cell.x += 6 + static_cast<int>(rng.below(20));
    cell.y += 6 + static_cast<int>(rng.below(20));
    cell.z += 6 + static_cast<int>(rng.below(18));
    bool room = true;
    for (int z = 0; z < tall; ++z) room = room && !volume.solid(cell + IVec3{0, 0, z});
    DVec3 place;
    if (!room || !place_in_cell(space, shape, cell, rng, place)) continue;
    const CellWays before(volume, tall, cell, 6), near(volume, tall, cell, 1);
    // Into one of the cells that it stands in, now and then into two.
    std::vector<IVec3> set;
    for (unsigned n = 0; n <= rng.below(2); ++n) {
      const double r = shape.radius_m * 0.99;
      DVec3 part = place;
      part.x += rng.between(-r, r), part.y += rng.between(-r, r);
      part.z += rng.between(0, shape.height_m);
      const IVec3 b = block_at(part);
      if (volume.solid(b)) continue;
      set.push_back(b);
      volume.set_block(b, BlockId::stone);
    }
    if (space_overlaps(space, shape, place)) {
      Body body = at(place, place);
      Rules rules;
      rules.player = shape;
      bool gone = false;
      for (int tick = 0; tick < 120 && !gone && (tick == 0 || body.stuck_ticks != 0); ++tick)
        gone = player_move(space, rules, {}, body).lost;
      if (gone) {
        ++lost;
        // No cell of the 3x3x3 around it had room for it and a way to it from cell to cell.
        for (int n = 0; n < 27; ++n) {
          const IVec3 c = cell + IVec3{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
          const DVec3 middle = to_dvec3(c) + DVec3{0.5, 0.5, 0};
          missed += near.reach(c) && !space_overlaps(space, shape, middle);
        }
      } else {
        freed += body.stuck_ticks == 0;
        still += body.stuck_ticks != 0;
        through += !before.reach(block_at(body.position_m + DVec3{0, 0, contact_slop_m}));
      }
    }
    for (const IVec3 b : set) volume.set_block(b, BlockId::air);
  }
  CHECK(through == 0);
  CHECK(missed == 0);
  CHECK(still == 0);
  CHECK(freed > 100);
  if (density > 0.2) CHECK(lost > 0);
}

TEST_CASE("nobody recovers to another side of walls and roofs than where he was last free",
          "[world][collide][recover][property]") {
  const double density = GENERATE(0.1, 0.3, 0.5);
  if (test::slowness > 1 && density != 0.3) return;
  CAPTURE(density);
  const VoxelVolume volume =
      make_volume({0, 0, 0}, {1, 1, 1}, [&](IVec3 b) { return random_block(43, b, density); });
  const Space space{&volume, {}};
  Rng rng{static_cast<std::uint64_t>(44 + density * 10)};
  unsigned through = 0, freed = 0, lost = 0, still = 0;
  for (int i = 0; i < cases(2500); ++i) {
    IVec3 cell{6, 6, 6};
    cell.x += static_cast<int>(rng.below(20));
    cell.y += static_cast<int>(rng.below(20));
    cell.z += static_cast<int>(rng.below(18));
    DVec3 home;
    if (volume.solid(cell) || volume.solid(cell + IVec3{0, 0, 1})) continue;
    if (!place_in_cell(space, Cylinder{}, cell, rng, home)) continue;
    DVec3 place = home;
    place.x += rng.between(-2, 2), place.y += rng.between(-2, 2), place.z += rng.between(-3, 3);
    if (!space_overlaps(space, Cylinder{}, place)) continue;
    const CellWays ways(volume, 2, cell, 8);
    Body body = at(place, home);
    Rules rules;
    rules.gravity_mps2 = 0;
    bool gone = false;
    for (int tick = 0; tick < 120 && !gone && (tick == 0 || body.stuck_ticks != 0); ++tick)
      gone = player_move(space, rules, {}, body).lost;
    lost += gone;
    if (gone) continue;
    freed += body.stuck_ticks == 0;
    still += body.stuck_ticks != 0;
    const DVec3 p = body.position_m;
    // A body between two layers stands in three cells: it is where both of its places are.
    through += !ways.reach(block_at(p + DVec3{0, 0, contact_slop_m})) ||
               !ways.reach(block_at(p + DVec3{0, 0, Cylinder{}.height_m - 1 - contact_slop_m}));
  }
  CHECK(through == 0);
  CHECK(still == 0);
  CHECK(freed > 100);
  CHECK(lost == 0);
}

TEST_CASE("a sealed cell and unknown ground ask for a spawn", "[world][collide][recover]") {
  const VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3) { return true; });
  const Space space{&volume, {}};
  Body body = at({0.5, 0.5, 0.5}, {0.5, 0.5, 0.5});
  CHECK(player_move(space, Rules{}, {}, body).lost);
  CHECK(body.position_m == DVec3{0.5, 0.5, 0.5});
}

TEST_CASE("a place that only touches a wall is as good as any, however it is rounded",
          "[world][collide][recover]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 || (b.x == 4 && b.z < 12); });
  const Space space{&volume, {}};
  Rng rng{3};
  unsigned farther = 0;
  for (int i = 0; i < 1000; ++i) {
    const double last_x = rng.between(0.6, 3.4);
    const auto target = recovery_target(space, Cylinder{0.5, 1.75}, {3.8, 2.5, 0}, {last_x, 2.5, 0});
    farther += !target || *target != DVec3{3.5, 2.5, 0};
  }
  CHECK(farther == 0);
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
