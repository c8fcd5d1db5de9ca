// What holds for every mover and every way to carry it: properties of seeded random worlds.
#include <cmath>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/voxel_worlds.h"
#include "world/collide/block_queries.h"
#include "world/collide/correct.h"
#include "world/collide/recover.h"
#include "world/collide/shape_pairs.h"
#include "world/collide/step.h"
#include "world/collide/stepped.h"
#include "world/sim/crowd.h"
#include "world/sim/monster_move.h"
#include "world/sim/player_move.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

/// A change of coordinates that the laws do not see: mirrored along x, x and y swapped, shifted by blocks.
struct Change {
  bool mirror_x = false, swap_xy = false;
  IVec3 shift{};

  DVec3 way(DVec3 v) const {
    if (mirror_x) v.x = -v.x;
    if (swap_xy) std::swap(v.x, v.y);
    return v;
  }
  DVec3 place(DVec3 p) const { return way(p) + to_dvec3(shift); }
  /// The block whose contents the block b of the changed world has.
  IVec3 source(IVec3 b) const {
    b = b - shift;
    if (swap_xy) std::swap(b.x, b.y);
    if (mirror_x) b.x = -1 - b.x;
    return b;
  }
};

constexpr Change changes[] = {{true, false, {}},
                              {false, true, {}},
                              {false, false, {32 * 31250, -32 * 31250, 64}},
                              {true, true, {-32 * 31000, 32 * 3, -32}}};

VoxelVolume changed_volume(const Change& change, std::uint64_t seed, double density) {
  const ChunkCoord at = chunk_of(change.shift);
  return make_volume({at.x - 1, at.y - 1, at.z - 1}, {2, 2, 2},
                     [&](IVec3 b) { return random_block(seed, change.source(b), density); });
}

DVec3 random_point(Rng& rng, double size) {
  DVec3 p;
  p.x = rng.between(-size, size);
  p.y = rng.between(-size, size);
  p.z = rng.between(-size, size);
  return p;
}

bool near(DVec3 a, DVec3 b, double tolerance) { return length(a - b) <= tolerance; }

Aabb reach_of(const Cylinder& shape, DVec3 base, DVec3 way, double margin) {
  Aabb box = swept(bounds_of(shape, base), way);
  box.min -= DVec3{margin, margin, margin};
  box.max += DVec3{margin, margin, margin};
  return box;
}

/// What correct_point goes by: the longest axis, and a handicap for edges and corners.
double point_cost(DVec3 way) {
  const double x = std::fabs(way.x), y = std::fabs(way.y), z = std::fabs(way.z);
  return std::max({x, y, z}) + 0.01 * ((x > 1e-8) + (y > 1e-8) + (z > 1e-8));
}

double speed2(DVec3 v) { return dot(v, v); }

}  // namespace

TEST_CASE("mirrored, swapped and shifted worlds give mirrored, swapped and shifted answers",
          "[world][collide][property]") {
  const Change change = changes[GENERATE(0, 1, 2, 3)];
  const double density = GENERATE(0.05, 0.3, 0.6);
  CAPTURE(change.mirror_x, change.swap_xy, change.shift.x, density);
  const VoxelVolume volume = changed_volume({}, 21, density), other = changed_volume(change, 21, density);
  const Space space{&volume, {}}, other_space{&other, {}};
  Rng rng{static_cast<std::uint64_t>(density * 100)};
  unsigned sweeps = 0, overlaps = 0, grounds = 0, corrects = 0, points = 0, ties = 0, corrected = 0;
  const int count = cases(2500);
  for (int i = 0; i < count; ++i) {
    const Cylinder shape{rng.between(0.1, 0.8), rng.between(0.2, 2.2)};
    const DVec3 p = random_point(rng, 12), d = random_point(rng, 3);
    const DVec3 q = change.place(p), e = change.way(d);
    overlaps += space_overlaps(space, shape, p) != space_overlaps(other_space, shape, q);
    const SweepHit a = space_sweep(space, shape, p, d), b = space_sweep(other_space, shape, q, e);
    sweeps += a.started_inside != b.started_inside || std::fabs(a.t - b.t) > 1e-7 ||
              (a.hit() == b.hit() && !near(change.way(a.normal), b.normal, 1e-5));
    const auto g = space_ground_below(space, xy(p), shape.radius_m, p.z, 4);
    const auto h = space_ground_below(other_space, xy(q), shape.radius_m, q.z, 4);
    grounds += g.has_value() != h.has_value() || (g && *g + change.shift.z != *h);

    BlockWindow window, other_window;
    const BlockRange r = blocks_of(reach_of(shape, p, {}, 0.6)), s = blocks_of(reach_of(shape, q, {}, 0.6));
    fill_window(volume, r.low, r.high, window);
    fill_window(other, s.low, s.high, other_window);
    const auto out = window_correct(window, shape, p, 0.5),
               other_out = window_correct(other_window, shape, q, 0.5);
    const bool same =
        out.has_value() == other_out.has_value() && (!out || near(change.way(*out), *other_out, 1e-7));
    corrected += out && *out != DVec3{};
    corrects += !same;
    const PointCorrection c = correct_point(volume, p, 1e-4), f = correct_point(other, q, 1e-4);
    // Of two ways of one length either may be taken.
    const bool point_same = near(change.place(c.point), f.point, 1e-7);
    const bool point_tie = std::fabs(point_cost(c.point - p) - point_cost(f.point - q)) < 1e-7;
    ties += !point_same && point_tie;
    points += c.free != f.free || (!point_same && !point_tie);
  }
  CHECK(overlaps == 0);
  // Rims that are only grazed, and two blocks met at once, are told either way within rounding.
  CHECK(sweeps * 10000 <= static_cast<unsigned>(count));
  CHECK(grounds == 0);
  CHECK(points == 0);
  CHECK(corrected > 50);
  // Deepest first: where two blocks are equally deep the first in order is left first.
  CHECK(corrects * 50 <= corrected);
  CHECK(ties * 100 <= static_cast<unsigned>(count));
}

TEST_CASE("no way of carrying a body makes it faster or ends in solid or in no number",
          "[world][collide][property]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const double density = GENERATE(0.02, 0.2, 0.6);
  CAPTURE(offset, density);
  const auto chunk = static_cast<std::int32_t>(offset / 32);
  const VoxelVolume volume = make_volume({chunk - 1, -1, -1}, {2, 2, 2}, [&](IVec3 b) {
    return random_block(22, {b.x - chunk * 32, b.y, b.z}, density);
  });
  const Space space{&volume, {}};
  Rng rng{23};
  struct Carried {
    CarryWay way;
    Cylinder shape;
    const char* name;
    std::uint32_t queries_max;
  };
  const Carried ways[] = {{slide, {}, "slide", slide_queries_max},
                          {stepped_motion, {}, "stepped_motion", stepped_queries_max},
                          {stepped_point_motion, point_body, "stepped_point_motion", stepped_queries_max}};
  const double dt_s = 1.0 / 60;
  for (const Carried& carried : ways) {
    CAPTURE(carried.name);
    unsigned faster = 0, in_solid = 0, bad = 0, met = 0, too_many = 0, further = 0;
    for (int i = 0; i < cases(4000); ++i) {
      DVec3 p = random_point(rng, 14);
      p.x += offset;
      if (rng.below(2) == 0) p.z = std::floor(p.z);
      if (space_overlaps(space, carried.shape, p)) continue;
      // Every tenth is far beyond what is sane: it must be swept, and work stays bounded.
      const DVec3 v = random_point(rng, i % 10 == 0 ? 2000 : 20);
      const DVec3 way = v * dt_s;
      const Surroundings around(space, carried.shape, reach_of(carried.shape, p, way, 0.4));
      ContactList contacts;
      const SlideEnd end = carried.way(around, p, v, way, dt_s, contacts);
      bad += !is_finite(end.position_m) || !is_finite(end.velocity_mps);
      faster += speed2(end.velocity_mps) > speed2(v) * (1 + 1e-12);
      // A point is in a solid when its middle is: its body is only there to be seen by queries.
      in_solid += carried.shape.radius_m == point_body.radius_m
                      ? volume.solid(block_at(end.position_m + DVec3{0, 0, point_half_m}))
                      : space_overlaps(space, carried.shape, end.position_m);
      further += length(end.position_m - p) > length(way) + 1.5;
      met += end.met_wall || end.met_floor || end.met_ceiling;
      too_many += around.queries() > carried.queries_max;
    }
    CHECK(bad == 0);
    CHECK(faster == 0);
    CHECK(in_solid == 0);
    CHECK(further == 0);
    CHECK(too_many == 0);
    CHECK(met > 50);
  }
}

TEST_CASE("a player's tick keeps its energy but for what gravity and jumping give",
          "[world][sim][property]") {
  const Solver solver = GENERATE(Solver::sweep, Solver::correct);
  const double offset = GENERATE(0.0, 1000000.0);
  const double density = GENERATE(0.1, 0.5);
  CAPTURE(solver == Solver::sweep, offset, density);
  const auto chunk = static_cast<std::int32_t>(offset / 32);
  const VoxelVolume volume = make_volume({chunk - 1, -1, -1}, {2, 2, 2}, [&](IVec3 b) {
    return random_block(24, {b.x - chunk * 32, b.y, b.z}, density);
  });
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = rules.monster_solver = solver;
  Rng rng{25};
  unsigned bad = 0, faster = 0, jumps = 0, recovered = 0, landed = 0, kept = 0;
  const double fall_mps = rules.gravity_mps2 * rules.tick_s();
  for (int i = 0; i < cases(2500); ++i) {
    Body body;
    body.position_m = random_point(rng, 14);
    body.position_m.x += offset;
    if (rng.below(2) == 0) body.position_m.z = std::floor(body.position_m.z);
    body.velocity_mps = random_point(rng, 30);
    body.last_free_m = rng.below(2) == 0 ? body.position_m : body.position_m + random_point(rng, 2);
    body.grounded = static_cast<std::uint8_t>(rng.below(2));
    PlayerCommand command;
    command.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
    command.buttons = rng.below(4) == 0 ? button::jump : 0;
    for (int tick = 0; tick < 4; ++tick) {
      const Body before = body;
      const MoveReport report = player_move(space, rules, command, body);
      bad += !is_finite(body.position_m) || !is_finite(body.velocity_mps) ||
             !is_finite(body.recovery_velocity_mps) || !is_finite(body.last_free_m) ||
             !std::isfinite(body.eye_offset_m) || !in_bounds(body.position_m);
      jumps += report.jumped, recovered += report.recovered, landed += report.landed;
      if (report.lost) break;
      // Nothing is pressed: all there is to gain is a jump and what a tick falls.
      const double falling = std::min(before.velocity_mps.z - fall_mps, 0.0);
      const double up = std::max(before.velocity_mps.z, report.jumped ? rules.jump_speed_mps : 0.0);
      const double level2 = dot(xy(before.velocity_mps), xy(before.velocity_mps));
      const double most2 =
          level2 + std::max({up * up, falling * falling, before.velocity_mps.z * before.velocity_mps.z});
      faster += speed2(body.velocity_mps) > most2 * (1 + 1e-9) + 1e-9;
      // A correction is a way of its own and may turn a body upwards; a sweep's planes never do.
      faster += solver == Solver::sweep && body.velocity_mps.z > std::max(up, 0.0) + 1e-9;
      // Recovery's own velocity never becomes ordinary.
      kept += report.recovered && body.velocity_mps != DVec3{};
    }
  }
  CHECK(bad == 0);
  CHECK(faster == 0);
  CHECK(kept == 0);
  CHECK(jumps > 20);
  CHECK(recovered > 200);
  CHECK(landed > 20);
}

TEST_CASE("the order in which chunks come and movers are listed changes no bit",
          "[world][collide][property]") {
  const auto solid = [](IVec3 b) { return b.z < 0 || random_block(26, b, 0.08); };
  const VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, solid);
  // The same chunks, last first, with a foreign one in between that goes away again.
  VoxelVolume other;
  for (int n = 7; n >= 0; --n) {
    const ChunkCoord at{n % 2 - 1, n / 2 % 2 - 1, n / 4 - 1};
    VoxelVolume one = make_volume(at, {1, 1, 1}, solid);
    other.insert_chunk({5 + n, 5, 5}, std::make_unique<Chunk>());
    other.insert_chunk(at, std::make_unique<Chunk>(*one.find(at)));
    other.drop_chunk({5 + n, 5, 5});
  }
  REQUIRE(volume.hash() == other.hash());
  const Space a{&volume, {}}, b{&other, {}};
  Rng rng{27};
  unsigned differ = 0;
  constexpr std::size_t count = 60;
  for (int round = 0; round < cases(20); ++round) {
    Rules rules;
    rules.player_solver = round % 2 == 0 ? Solver::sweep : Solver::correct;
    std::vector<Body> bodies(count), others(count);
    for (std::size_t i = 0; i < count; ++i) {
      do {
        bodies[i].position_m = random_point(rng, 6);
        bodies[i].position_m.z = std::floor(std::fabs(bodies[i].position_m.z));
      } while (space_overlaps(a, rules.player, bodies[i].position_m));
      bodies[i].last_free_m = bodies[i].position_m;
      others[i] = bodies[i];
    }
    Crowd crowd, shuffled;
    crowd.reserve(count), shuffled.reserve(count);
    for (int tick = 0; tick < 20; ++tick) {
      crowd.clear(), shuffled.clear();
      for (std::size_t i = 0; i < count; ++i) {
        PlayerCommand command;
        command.forward = 1;
        command.yaw = Turn16{static_cast<std::uint16_t>(i * 1000 + static_cast<std::size_t>(round) * 77)};
        player_move(a, rules, command, bodies[i]);
        const std::size_t k = (i * 17 + 5) % count;  // every one once, in another order
        command.yaw = Turn16{static_cast<std::uint16_t>(k * 1000 + static_cast<std::size_t>(round) * 77)};
        player_move(b, rules, command, others[k]);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t k = (i * 23 + 1) % count;
        crowd.add(rules.player, bodies[i], make_entity_id(static_cast<std::uint32_t>(i), 1));
        shuffled.add(rules.player, others[k], make_entity_id(static_cast<std::uint32_t>(k), 1));
      }
      crowd.push_apart(a, rules);
      shuffled.push_apart(b, rules);
      for (std::size_t i = 0; i < count; ++i)
        differ +=
            bodies[i].position_m != others[i].position_m || bodies[i].velocity_mps != others[i].velocity_mps;
    }
  }
  CHECK(differ == 0);
}

TEST_CASE("shapes of any finite size and place give finite answers", "[world][collide][property]") {
  Rng rng{28};
  unsigned bad = 0, met = 0;
  const auto size = [&rng] {
    return rng.below(6) == 0 ? 1e-9 : rng.below(6) == 0 ? 1e5 : rng.between(0.01, 5);
  };
  for (int i = 0; i < cases(20000); ++i) {
    const double spread = rng.below(3) == 0 ? 1e-7 : rng.below(5) == 0 ? 1e6 : 5;
    const DVec3 p = random_point(rng, spread), q = rng.below(8) == 0 ? p : random_point(rng, spread);
    const double ra = size(), rb = size(), ha = size(), hb = size();
    const auto check = [&](const std::optional<Separation>& s) {
      if (!s) return;
      ++met;
      bad += !is_finite(s->normal) || !std::isfinite(s->depth_m) || std::fabs(length(s->normal) - 1) > 1e-6 ||
             s->depth_m < 0;
    };
    const Sphere sa{p, ra}, sb{q, rb};
    const Capsule ca{{p, p + random_point(rng, ha)}, ra}, cb{{q, q + random_point(rng, hb)}, rb};
    const StandingCylinder ya{{ra, ha}, p}, yb{{rb, hb}, q};
    const Aabb xa{p, p + DVec3{ra, ra, ha}}, xb{q, q + DVec3{rb, hb, rb}};
    check(separate(sa, sb)), check(separate(ca, cb)), check(separate(ya, yb));
    check(separate(xa, xb)), check(separate(xa, sb)), check(separate(ya, xb));
  }
  CHECK(bad == 0);
  CHECK(met > 1000);
}
