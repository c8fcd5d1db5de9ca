#include "world/sim/shooting.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/compass.h"
#include "tests/world/sim/moving_rooms.h"
#include "tests/world/voxel_worlds.h"
#include "world/math/turn.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

namespace {

/// Is the point in the part of the target that shots hit?
HitZone zone_at(const ShotTarget& target, DVec3 p) {
  const DVec3 q = p - target.base;
  const DVec3 to_head = q - target.shape.head.centre;
  if (dot(to_head, to_head) <= target.shape.head.radius_m * target.shape.head.radius_m &&
      target.shape.head.radius_m > 0)
    return HitZone::head;
  const StandingCylinder& c = target.shape.trunk;
  const double z = q.z - c.base.z;
  const bool in = z >= 0 && z <= c.shape.height_m && std::hypot(q.x, q.y) <= c.shape.radius_m;
  return in ? HitZone::body : HitZone::none;
}

constexpr double pace_m = 0.004;

/// The twin: small steps along the ray until something contains the point.
struct Marched {
  double t_m = std::numeric_limits<double>::infinity();
  EntityId target{};
};
Marched march(const VoxelVolume& volume, std::span<const ShotTarget> targets, EntityId shooter, DVec3 origin,
              DVec3 direction, double range_m) {
  std::vector<const ShotTarget*> near;  // those whose bodies the ray comes near to
  for (const ShotTarget& target : targets) {
    const DVec3 across = cross(direction, target.base - origin);
    const double size = target.body.height_m + target.body.radius_m;
    if (target.id != shooter && dot(across, across) < size * size) near.push_back(&target);
  }
  for (double t = 0; t <= range_m; t += pace_m) {
    const DVec3 p = origin + direction * t;
    if (volume.solid(block_at(p))) return {t, {}};
    for (const ShotTarget* target : near)
      if (zone_at(*target, p) != HitZone::none) return {t, target->id};
  }
  return {};
}

}  // namespace

TEST_CASE("a shot ends where steps along its ray first meet a block or a mover",
          "[world][sim][shot][property]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return random_block(12, b, 0.004); });
  const Space space{&volume, {}};
  Rng rng{5};
  unsigned movers = 0, blocks = 0, nothing = 0, heads = 0, wrong = 0, grazed = 0;
  std::vector<ShotTarget> targets;
  for (int i = 0; i < cases(2500); ++i) {
    if (i % 50 == 0) {
      targets.clear();
      for (std::uint32_t k = 0; k < 60; ++k) {
        const MonsterTraits& kind = traits(static_cast<MonsterKind>(k % monster_kind_count));
        DVec3 base;
        base.x = rng.between(-12, 12);
        base.y = rng.between(-12, 12);
        base.z = rng.between(-6, 6);
        targets.push_back({make_entity_id(k, 1), kind.shape, base, hit_shape(kind.shape, kind.build)});
      }
    }
    // From a target's middle, which is the shooter, or from anywhere.
    const ShotTarget& shooter = targets[rng.below(60)];
    DVec3 origin = shooter.base + DVec3{0, 0, shooter.body.height_m * 0.85};
    if (volume.solid(block_at(origin))) continue;
    DVec3 d;
    d.x = rng.between(-1, 1);
    d.y = rng.between(-1, 1);
    d.z = rng.between(-0.5, 0.5);
    d = d * (1 / length(d));
    const double range_m = rng.between(2, 20);
    const ShotHit hit = resolve_shot(space, targets, shooter.id, origin, d, range_m);
    const Marched twin = march(volume, targets, shooter.id, origin, d, range_m);
    CAPTURE(i, hit.t_m, twin.t_m);
    if (!hit.hit()) {
      ++nothing;
      wrong += twin.t_m < range_m - pace_m;
      continue;
    }
    heads += hit.zone == HitZone::head;
    hit.zone != HitZone::none ? ++movers : ++blocks;
    // Steps may miss what a ray only grazes, and never meet anything before it.
    wrong += twin.t_m < hit.t_m - 1e-9;
    if (twin.t_m > hit.t_m + pace_m) {
      ++grazed;
      const DVec3 in = origin + d * (hit.t_m + 1e-9) - hit.normal * 1e-7;
      if (hit.zone == HitZone::none)
        wrong += !volume.solid(block_at(in));
      else
        for (const ShotTarget& t : targets) wrong += t.id == hit.target && zone_at(t, in) == HitZone::none;
      continue;
    }
    wrong += hit.target != twin.target;
  }
  // A shape grazed by less than rounding may be told either way: one in 10^5, so none in the normal run.
  const auto tried = static_cast<unsigned>(cases(2500));
  CHECK(wrong * 100000 <= tried);
  CHECK(movers > 100);
  CHECK(heads > 5);
  CHECK(blocks > 100);
  CHECK(nothing > 100);
  CHECK(grazed * 40 < tried);
}

TEST_CASE("the order of movers does not change what a shot hits", "[world][sim][shot]") {
  const VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0; });
  const Space space{&volume, {}};
  const Cylinder man{0.3, 1.75};
  Rng rng{6};
  std::vector<ShotTarget> targets;
  for (std::uint32_t k = 0; k < 40; ++k)  // every second one in the place of the one before: a tie
    targets.push_back({make_entity_id(k + 1, 1), man,
                       k % 2 == 1 ? targets.back().base : DVec3{5 + 0.4 * k, rng.unit() - 0.5, 0},
                       hit_shape(man, HitBuild::upright)});
  for (int i = 0; i < 2000; ++i) {
    const DVec3 d = view_direction(Turn16{static_cast<std::uint16_t>(rng.below(1024))}, Turn16{0});
    const DVec3 origin{-5, rng.unit(), rng.between(0.1, 1.9)};
    const ShotHit a = resolve_shot(space, targets, EntityId{0}, origin, d, 60);
    std::reverse(targets.begin(), targets.end());
    const ShotHit b = resolve_shot(space, targets, EntityId{0}, origin, d, 60);
    REQUIRE(a.target == b.target);
    REQUIRE(a.t_m == b.t_m);
    REQUIRE((a.zone == HitZone::none || slot_of(a.target) % 2 == 1));
  }
}

TEST_CASE("a held trigger fires at the rule set's rate at every tick rate", "[world][sim][shot]") {
  const std::uint16_t rate_hz = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{128});
  CAPTURE(rate_hz);
  MovingWorld w(row_of_rooms({{0, 128}, {0, 128}}, {{}}), rate_hz);
  const std::size_t p = w.add_player(w.at(40, 128, 0), north);
  w.players.command[p].buttons = button::attack;
  w.run(4.001);
  CHECK(w.shooting.shots() == 10);
  w.players.command[p].buttons = 0;
  w.run(1);
  CHECK(w.shooting.shots() == 10);
  CHECK(w.shooting.events().empty());
  w.rules.shot_interval_s = 0;  // one a tick
  w.players.command[p].buttons = button::attack;
  w.run(0.5);
  CHECK(w.shooting.shots() == 10u + rate_hz / 2u);
}

TEST_CASE("a monster in the line of fire takes the shot that would have opened the door",
          "[world][sim][shot]") {
  const auto rooms = [] {
    return row_of_rooms({{0, 128}, {0, 128}, {0, 0, 5}, {0, 128}}, {{}, {46, 5}, {}});
  };
  MovingWorld w(rooms());
  const std::size_t p = w.add_player(w.at(40, 128, 0), east);
  const std::size_t m = w.add_monster(MonsterKind::imp, w.at(140, 128, 0), Turn16{32768});
  w.players.command[p].buttons = button::attack;
  w.step();
  REQUIRE(w.shooting.events().size() == 1);
  const ShotEvent& shot = w.shooting.events()[0];
  CHECK(shot.shooter == w.players.id[p]);
  CHECK(shot.hit.target == w.monsters.id[m]);
  CHECK(shot.hit.zone == HitZone::head);
  CHECK(shot.hit.normal.x < -0.9);
  CHECK(w.movers().movers().empty());
  // It steps aside, and the next shot meets the door.
  w.monsters.body[m].position_m.y += 2;
  w.press(p, button::attack);
  for (int i = 0; i < 24 && w.movers().movers().empty(); ++i) w.press(p, button::attack);
  CHECK(w.movers().movers().size() == 1);
}

TEST_CASE("who flies by no-clip is not hit, and shoots", "[world][sim][shot]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 128}}, {{}}));
  const std::size_t p = w.add_player(w.at(40, 128, 0), east);
  const std::size_t q = w.add_player(w.at(140, 128, 0), Turn16{32768});
  w.players.body[q].noclip = 1;
  w.players.command[p].buttons = w.players.command[q].buttons = button::attack;
  w.step();
  REQUIRE(w.shooting.events().size() == 2);
  CHECK(w.shooting.events()[0].hit.zone == HitZone::none);
  CHECK(w.shooting.events()[0].hit.solid.kind == ContactKind::map_wall);
  CHECK(w.shooting.events()[1].hit.target == w.players.id[p]);
}
