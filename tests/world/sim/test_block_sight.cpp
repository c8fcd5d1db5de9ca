#include "world/sim/block_sight.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/world/cases.h"
#include "tests/world/sim/builders.h"
#include "tests/world/voxel_worlds.h"
#include "world/sim/body_grid.h"
#include "world/voxel/ray.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

namespace {

constexpr double pace_m = 0.004;

/// The twin of a ray: is every point on the way free, but for the last two centimetres?
bool way_is_free(const VoxelVolume& volume, DVec3 from, DVec3 to) {
  const DVec3 way = to - from;
  const double distance = length(way);
  for (double t = 0; t < distance - 0.02; t += pace_m)
    if (volume.solid(block_at(from + way * (t / distance)))) return false;
  return true;
}

/// Points all over a block's face, u and v in steps.
template <typename Visit>
void visit_face(IVec3 block, BlockFace face, int steps, Visit&& visit) {
  const IVec3 n = normal_of(face);
  for (int i = 0; i <= steps; ++i)
    for (int j = 0; j <= steps; ++j) {
      const double u = static_cast<double>(i) / steps, v = static_cast<double>(j) / steps;
      DVec3 p = to_dvec3(block);
      if (n.x != 0) p += DVec3{n.x > 0 ? 1.0 : 0.0, u, v};
      if (n.y != 0) p += DVec3{u, n.y > 0 ? 1.0 : 0.0, v};
      if (n.z != 0) p += DVec3{u, v, n.z > 0 ? 1.0 : 0.0};
      visit(p);
    }
}

DVec3 random_unit(Rng& rng) {
  for (;;) {
    DVec3 d;
    d.x = rng.between(-1, 1);
    d.y = rng.between(-1, 1);
    d.z = rng.between(-1, 1);
    const double size = length(d);
    if (size > 0.1 && size < 1) return d * (1 / size);
  }
}

}  // namespace

TEST_CASE("the distance to a block is that of its nearest point", "[world][sim][block_sight][property]") {
  Rng rng{3};
  for (int i = 0; i < cases(300); ++i) {
    DVec3 from;
    from.x = rng.between(-4, 4);
    from.y = rng.between(-4, 4);
    from.z = rng.between(-4, 4);
    const IVec3 block{static_cast<std::int32_t>(rng.below(4)) - 2, 0, 1};
    double nearest = block_at(from) == block ? 0 : 1e9;
    for (std::uint8_t f = 0; f < block_face_count; ++f)
      visit_face(block, static_cast<BlockFace>(f), 20,
                 [&](DVec3 p) { nearest = std::min(nearest, length(p - from)); });
    const double distance = distance_to_block_m(from, block);
    CHECK((distance <= nearest + 1e-12 && distance >= nearest - 0.04));
  }
}

TEST_CASE("who looks at a face sees it, and nobody sees one that is covered",
          "[world][sim][block_sight][property]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return random_block(4, b, 0.12); });
  const Space space{&volume, {}, {}};
  Rng rng{8};
  int looked = 0, seen = 0, hidden = 0;
  for (int i = 0; i < cases(test::slowness > 1 ? 700 : 1500); ++i) {
    DVec3 eye;
    eye.x = rng.between(-10, 10);
    eye.y = rng.between(-10, 10);
    eye.z = rng.between(-10, 10);
    if (volume.solid(block_at(eye))) continue;
    const DVec3 view = random_unit(rng);
    // What the view meets first is always seen.
    const RayHit hit = voxel_ray(volume, eye, view, 6);
    if (hit.kind == ContactKind::voxel) {
      ++looked;
      const auto face = face_of(hit.normal);
      REQUIRE(face.has_value());
      CAPTURE(eye.x, eye.y, eye.z, view.x, view.y, view.z);
      CHECK(sees_face(space, eye, view, hit.block, *face));
      CHECK(view_meets(space, eye, view, hit.block, 6));
      CHECK(looks_towards(eye, view, hit.block, 0));
    }
    // Any face of any block near.
    IVec3 block = block_at(eye);
    block.x += static_cast<std::int32_t>(rng.below(9)) - 4;
    block.y += static_cast<std::int32_t>(rng.below(9)) - 4;
    block.z += static_cast<std::int32_t>(rng.below(9)) - 4;
    const auto face = static_cast<BlockFace>(rng.below(block_face_count));
    const bool sees = sees_face(space, eye, view, block, face);
    bool some = false, all = true;
    const DVec3 out = to_dvec3(normal_of(face));
    visit_face(block, face, 16, [&](DVec3 p) {
      // A hair before the face, so that the block itself is not in the way.
      const DVec3 before = p + out * 1e-4;
      const bool free = dot(eye - p, out) > 0 && way_is_free(volume, eye, before);
      some = some || free;
      all = all && free;
    });
    CAPTURE(i, block.x, block.y, block.z, static_cast<int>(face));
    if (sees) CHECK(some);
    if (all) CHECK(sees);
    ++(sees ? seen : hidden);
  }
  CHECK(looked > 100);
  CHECK(seen > 100);
  CHECK(hidden > 100);
}

TEST_CASE("a view that passes a block is told by how far", "[world][sim][block_sight]") {
  const IVec3 block{3, 0, 0};
  const DVec3 eye{0, 0.5, 0.5};
  CHECK(looks_towards(eye, {1, 0, 0}, block, 0));
  CHECK_FALSE(looks_towards(eye, {-1, 0, 0}, block, 0.5));
  CHECK_FALSE(looks_towards(eye, {0, 1, 0}, block, 0.5));
  CHECK(looks_towards({3.5, 0.5, 0.5}, {0, 0, 1}, block, 0));       // from inside
  const DVec3 beside{3 / std::sqrt(10.0), 1 / std::sqrt(10.0), 0};  // a metre to the left at x = 3
  CHECK_FALSE(looks_towards(eye, beside, block, 0.3));
  CHECK(looks_towards(eye, beside, block, 0.6));
}

TEST_CASE("a body is in a block where points of it are, and the grid finds every one",
          "[world][sim][block_sight][property]") {
  PlayerTable players;
  players.resize(40);
  MonsterTable monsters;
  monsters.resize(40);
  Rng rng{21};
  const Rules rules;
  BodyGrid grid(80);
  int met = 0, free = 0;
  for (int round = 0; round < cases(40); ++round) {
    const bool far = rng.below(2) == 0;
    const auto somewhere = [&] {
      DVec3 p;
      p.x = rng.between(-9, 9) + (far ? 1048560 : 0);
      p.y = rng.between(-9, 9) - (far ? 1048560 : 0);
      p.z = rng.between(-3, 3);
      return p;
    };
    for (std::size_t i = 0; i < 40; ++i) {
      players.id[i] = rng.below(4) != 0 ? make_entity_id(static_cast<std::uint32_t>(i), 1) : EntityId{0};
      players.health[i] = static_cast<std::uint16_t>(rng.below(5));
      players.body[i] = Body{};
      players.body[i].noclip = rng.below(6) == 0 ? 1 : 0;
      players.body[i].position_m = somewhere();
      monsters.id[i] =
          rng.below(3) == 0 ? make_entity_id(static_cast<std::uint32_t>(40 + i), 1) : EntityId{0};
      monsters.kind[i] = static_cast<MonsterKind>(rng.below(monster_kind_count));
      monsters.body[i].position_m = somewhere();
    }
    grid.fill(rules, players, monsters);
    for (int k = 0; k < 60; ++k) {
      const IVec3 block = block_at(somewhere());
      bool any = false;
      for (std::size_t i = 0; i < 40; ++i) {
        if (players.alive(i) && players.body[i].noclip == 0)
          any = any || body_meets_block(rules.player, players.body[i].position_m, block);
        if (monsters.id[i] != EntityId{0})
          any = any || body_meets_block(traits(monsters.kind[i]).shape, monsters.body[i].position_m, block);
      }
      CHECK(grid.any_in(block) == any);
      ++(any ? met : free);
    }
    // One body and one block, point by point.
    const Cylinder& shape = traits(static_cast<MonsterKind>(rng.below(monster_kind_count))).shape;
    const DVec3 base = somewhere();
    IVec3 block = block_at(base);
    block.x += static_cast<std::int32_t>(rng.below(3)) - 1;
    block.z += static_cast<std::int32_t>(rng.below(4)) - 1;
    bool inside = false;
    for (int x = 0; x <= 20; ++x)
      for (int y = 0; y <= 20; ++y)
        for (int z = 0; z <= 20; ++z) {
          const DVec3 off = to_dvec3(block) + DVec3{x / 20.0, y / 20.0, z / 20.0} - base;
          inside =
              inside || (off.x * off.x + off.y * off.y < (shape.radius_m - 0.01) * (shape.radius_m - 0.01) &&
                         off.z > 0.01 && off.z < shape.height_m - 0.01);
        }
    if (inside) CHECK(body_meets_block(shape, base, block));
  }
  CHECK(met > 100);
  CHECK(free > 100);
}

TEST_CASE("a body that only touches a block leaves it free", "[world][sim][block_sight]") {
  const Cylinder shape{0.3, 1.75};
  CHECK_FALSE(body_meets_block(shape, {0.5, 0.5, 4}, {0, 0, 3}));
  CHECK(body_meets_block(shape, {0.5, 0.5, 3.99}, {0, 0, 3}));
  CHECK_FALSE(body_meets_block(shape, {0.5, 0.5, 2.25}, {0, 0, 4}));
  CHECK(body_meets_block(shape, {0.5, 0.5, 2.26}, {0, 0, 4}));
  CHECK_FALSE(body_meets_block(shape, {-0.3, 0.5, 4}, {0, 0, 4}));
  CHECK(body_meets_block(shape, {-0.29, 0.5, 4}, {0, 0, 4}));
  CHECK_FALSE(body_meets_block(shape, {-0.22, -0.22, 4}, {0, 0, 4}));  // beside the edge
}
