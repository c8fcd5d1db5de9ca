#include "world/collide/prop.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/world/voxel_worlds.h"
#include "world/content/obj.h"
#include "world/sim/player_move.h"
#include "world/sim/shot.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// A box as OBJ text, y up, its faces outwards.
std::string box_obj(double x, double y, double z) {
  std::string s;
  for (int i = 0; i < 8; ++i)
    s += "v " + std::to_string((i & 1) != 0 ? x : 0) + " " + std::to_string((i & 2) != 0 ? y : 0) + " " +
         std::to_string((i & 4) != 0 ? z : 0) + "\n";
  return s + "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
}

std::shared_ptr<const Prop> place_box(DVec3 size, DVec3 at) {
  const auto model = read_obj(bytes_of(box_obj(size.x, size.z, size.y)), "box.obj");
  REQUIRE(model);
  // y up, so the file's z runs south: the box lies beyond its place towards -y.
  const auto prop = Prop::place(*model, {{at.x, at.y + size.y, at.z}, Turn16{0}, 1});
  REQUIRE(prop);
  return *prop;
}

}  // namespace

TEST_CASE("an OBJ box reads as twelve triangles and stands as its cells", "[world][mesh][prop]") {
  const auto prop = place_box({1, 2, 0.5}, {3, 4, 0});
  CHECK(prop->mesh().size() == 12);
  CHECK(prop->bounds().min == DVec3{3, 4, 0});
  CHECK(prop->bounds().max == DVec3{4, 6, 0.5});
  unsigned wrong = 0;
  Rng rng{3};
  for (int i = 0; i < 20000; ++i) {
    DVec3 p;
    p.x = rng.between(2.5, 4.5);
    p.y = rng.between(3.5, 6.5);
    p.z = rng.between(-0.5, 1);
    const bool in = p.x > 3 && p.x < 4 && p.y > 4 && p.y < 6 && p.z > 0 && p.z < 0.5;
    wrong += prop->solid(p) != in;
    const Cylinder c{0.3, 1.75};
    const double dx = std::max({3 - p.x, p.x - 4, 0.0}), dy = std::max({4 - p.y, p.y - 6, 0.0});
    const bool meets = p.z < 0.5 - 1e-6 && p.z + 1.75 > 1e-6 && std::hypot(dx, dy) < 0.3 - 1e-6;
    wrong += prop->overlaps(c, p) != meets;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a player steps onto a low prop, stops at a high one and stands on it", "[world][mesh][prop]") {
  const VoxelVolume volume = make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0; });
  const Solver solver = GENERATE(Solver::sweep, Solver::correct);
  const double height = GENERATE(0.5, 0.75, 1.0);
  CAPTURE(solver == Solver::sweep, height);
  const auto prop = place_box({4, 4, height}, {2, -2, 0});
  const std::array<const Prop*, 1> props{prop.get()};
  const Space space{&volume, {}, props};
  Rules rules;
  rules.player_solver = solver;
  Body body;
  body.grounded = 1;
  PlayerCommand ahead;
  ahead.forward = 1;
  for (int tick = 0; tick < 45; ++tick) {
    player_move(space, rules, ahead, body);
    REQUIRE_FALSE(space_overlaps(space, {0.299, 1.74}, body.position_m + DVec3{0, 0, 0.001}));
  }
  if (height <= rules.step_height_m_max) {
    CHECK(body.position_m.z == height);
    CHECK(body.position_m.x > 3);
    CHECK(body.grounded == 1);
  } else {
    CHECK(body.position_m.z == 0);
    CHECK(body.position_m.x == Approx(1.7).margin(1e-5));
  }
}

TEST_CASE("ground on a prop is found under discs of any width and at any depth, and never from within it",
          "[world][mesh][prop]") {
  // A tower on a plate: wider than one window of cells, and taller.
  const std::string tower = box_obj(3, 24, 3);
  std::string plate = box_obj(30, 1, 30);
  std::string both = tower + plate.substr(0, plate.find('f'));
  both += "f 9 11 12 10\nf 13 14 16 15\nf 9 10 14 13\nf 11 15 16 12\nf 9 13 15 11\nf 10 12 16 14\n";
  const auto model = read_obj(bytes_of(both), "tower.obj");
  REQUIRE(model);
  const auto placed = Prop::place(*model, {{-15, 15, 0}, Turn16{0}, 1});
  REQUIRE(placed);
  const Prop& prop = **placed;
  // The tower is over [-15, -12] x [12, 15], the plate over [-15, 15] x [-15, 15] and 1 m high.
  Rng rng{12};
  unsigned inside = 0, on_tower = 0, on_plate = 0, nothing = 0;
  for (int i = 0; i < 20000; ++i) {
    DVec2 at;
    at.x = rng.between(-18, 18);
    at.y = rng.between(-18, 18);
    const double radius = rng.between(0.1, 4.5), z = rng.between(-2, 30), depth = rng.between(0, 32);
    const auto reaches = [&](double x0, double x1, double y0, double y1) {
      const DVec2 off = at - DVec2{std::clamp(at.x, x0, x1), std::clamp(at.y, y0, y1)};
      return length(off) - radius;
    };
    const double tower_m = reaches(-15, -12, 12, 15), plate_m = reaches(-15, 15, -15, 15);
    // Too near to an edge, or to a height, for one answer.
    if (std::fabs(tower_m) < 1e-3 || std::fabs(plate_m) < 1e-3 || std::fabs(z - 24) < 1e-3 ||
        std::fabs(z - 1) < 1e-3 || std::fabs(z) < 1e-3 || std::fabs(z - depth - 24) < 1e-3 ||
        std::fabs(z - depth - 1) < 1e-3)
      continue;
    std::optional<double> truth;
    const bool within = (tower_m < 0 && z > 0 && z < 24) || (plate_m < 0 && z > 0 && z < 1);
    if (within)
      ++inside;
    else if (tower_m < 0 && z > 24 && z - depth < 24)
      truth = 24, ++on_tower;
    else if (plate_m < 0 && z > 1 && z - depth < 1)
      truth = 1, ++on_plate;
    else
      ++nothing;
    CAPTURE(at.x, at.y, radius, z, depth);
    REQUIRE(prop.ground_below(at, radius, z, depth) == truth);
  }
  CHECK(std::min({inside, on_tower, on_plate, nothing}) > 100);
}

TEST_CASE("a shot is stopped by voxel, prop and mover alike, the nearest first", "[world][collide][shot]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 || b.x >= 20; });
  const auto prop = place_box({1, 1, 1}, {10, 5, 0});
  const std::array<const Prop*, 1> props{prop.get()};
  const Space space{&volume, {}, props};
  const Cylinder man{0.3, 1.75};
  const HitShape shape = hit_shape(man, HitBuild::upright);
  const std::array<ShotTarget, 2> targets{ShotTarget{make_entity_id(1, 1), man, {5, 0, 0}, shape},
                                          ShotTarget{make_entity_id(2, 1), man, {0, 0, 0}, shape}};
  const EntityId shooter = make_entity_id(2, 1);
  const ShotHit body = resolve_shot(space, targets, shooter, {0, 0, 1}, {1, 0, 0}, 100);
  CHECK(body.target == make_entity_id(1, 1));
  CHECK(body.zone == HitZone::body);
  CHECK(body.t_m == Approx(5 - 0.24));
  CHECK(resolve_shot(space, targets, shooter, {0, 0, 1.6}, {1, 0, 0}, 100).zone == HitZone::head);
  const ShotHit over = resolve_shot(space, targets, shooter, {0, 0, 2}, {1, 0, 0}, 100);
  CHECK(over.zone == HitZone::none);
  CHECK(over.solid.kind == ContactKind::voxel);
  CHECK(over.t_m == Approx(20));
  const ShotHit crate = resolve_shot(space, targets, shooter, {0, 5.5, 0.5}, {1, 0, 0}, 100);
  CHECK(crate.solid.kind == ContactKind::prop);
  CHECK(crate.t_m == Approx(10));
  CHECK_FALSE(resolve_shot(space, targets, shooter, {0, 0, 2}, {1, 0, 0}, 3).hit());
}

TEST_CASE("damaged OBJ files are refused by name", "[world][content][obj]") {
  const auto why = [](const std::string& text) {
    const auto model = read_obj(bytes_of(text), "thing.obj");
    return model ? std::string("taken") : model.error().line();
  };
  CHECK_THAT(why(""), ContainsSubstring("thing.obj") && ContainsSubstring("empty"));
  CHECK_THAT(why("hello world\n"), ContainsSubstring("not a model: it has no vertices"));
  CHECK_THAT(why("v 0 0 0\n"), ContainsSubstring("not a model: it has no faces"));
  for (const char* corner :
       {"nan 0 0", "0 inf 0", "0 0 -inf", "1e999 0 0", "0 0", "", "a b c", "0 0 1x", "0 0 100001"}) {
    CAPTURE(corner);
    CHECK_THAT(why("v " + std::string(corner) + "\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
               ContainsSubstring("thing.obj line 1: ") && ContainsSubstring("coordinate"));
  }
  for (const char* face : {"1 2 12345678901234567890", "1 2 0", "a b c", "1 2 3x", "1 2 /3", "1 2 \\"}) {
    CAPTURE(face);
    CHECK_THAT(why("v 0 0 0\nv 1 0 0\nv 0 1 0\nf " + std::string(face) + "\n"),
               ContainsSubstring("thing.obj line 4: ") && ContainsSubstring("no vertex's number"));
  }
  CHECK(why("v +0 1e-999 .0 1.0 # w\nv\t1 0 0\nv 0 1E0 0\nf 1 2 3 # face\n") == "taken");
  CHECK_THAT(why("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"), ContainsSubstring("thing.obj"));
  CHECK_THAT(why("v 0 0 0\nv 1 0 0\nv 0 1e300 0\nf 1 2 3\n"), ContainsSubstring("line 3"));
  CHECK(why("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n") == "taken");
  // What would keep the reader busy for hours, or fill the memory, is told before it is read.
  std::string wheel = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf";
  for (int i = 0; i < 1000000; ++i) wheel += " 1";
  // Lines count as editors count them, whatever ends them.
  CHECK_THAT(why("v 0 0 0\r\nv 1 0 0\rv 0 1 0\n" + wheel.substr(wheel.rfind('f')) + "\n"),
             ContainsSubstring("line 4"));
  // What nobody here asks for is not read: weights beyond every number, tags without end.
  CHECK(
      why("vw 0 55555555555555\nt x 99999999/99999999/99999999\nmtllib none.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n"
          "usemtl none\nf 1/1/1 2//2 3\n") == "taken");
  CHECK_THAT(why(wheel + "\n"), ContainsSubstring("line 4") && ContainsSubstring("more than 256 corners"));
  std::string many = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  for (std::size_t i = 0; i <= TriangleMesh::triangles_max; ++i) many += "f 1 2 3\n";
  CHECK_THAT(why(many), ContainsSubstring("more than 2097152 triangles"));
  const auto big = read_obj(bytes_of("v 0 0 0\nv 100 0 0\nv 0 1 0\nf 1 2 3\n"), "big.obj");
  REQUIRE(big);
  CHECK_THAT(Prop::place(*big, {}).error(), ContainsSubstring("larger than 64 m"));
  CHECK_THAT(Prop::place(*big, {{}, Turn16{0}, 0}).error(), ContainsSubstring("scale"));
  // No number is no place and no size.
  const double none = std::nan(""), endless = std::numeric_limits<double>::infinity();
  for (const double bad : {none, endless, -1.0, 1e-9})
    CHECK_THAT(Prop::place(*big, {{}, Turn16{0}, bad}).error(), ContainsSubstring("scale"));
  for (const double bad : {none, endless, 2e6})
    for (const DVec3 at : {DVec3{bad, 0, 0}, DVec3{0, bad, 0}, DVec3{0, 0, bad}})
      CHECK_FALSE(Prop::place(*big, {at, Turn16{0}, 0.1}));
}

TEST_CASE("a slanted triangle fills the cells that it passes through and no others", "[world][mesh][prop]") {
  Rng rng{77};
  for (int n = 0; n < 120; ++n) {
    // Of any size and tilt; some upright, some thinner than a hair.
    const double size = n % 3 == 0 ? 1 : n % 3 == 1 ? 4 : 9;
    PropModel model;
    model.name = "slab";
    for (int corner = 0; corner < 3; ++corner) {
      DVec3 p;
      p.x = rng.between(0, size);
      p.y = n % 5 == 0 ? 1.5 * p.x : rng.between(0, size);
      p.z = rng.between(0, size);
      if (corner == 2 && n % 7 == 0) p = (model.vertices[0] + model.vertices[1]) * 0.5 + DVec3{1e-8, 0, 1e-8};
      model.vertices.push_back(p);
    }
    model.triangles = {{0, 1, 2}};
    const double far = n % 2 == 0 ? 0 : 900'000;
    const auto prop = Prop::place(model, {{far, -far, 12}, Turn16{0}, 1});
    REQUIRE(prop);
    const Triangle& t = (*prop)->mesh().triangle(0);
    const DVec3 area = cross(t.b - t.a, t.c - t.a), in = area * (-1e-4 / length(area));
    const Triangle inner{t.a + in, t.b + in, t.c + in};
    const Aabb& all = (*prop)->bounds();
    const IVec3 low = block_at(all.min * 4), high = block_at(all.max * 4);
    unsigned solid = 0, wrong = 0;
    for (std::int32_t z = low.z; z < high.z; ++z)
      for (std::int32_t y = low.y; y < high.y; ++y)
        for (std::int32_t x = low.x; x < high.x; ++x) {
          const DVec3 corner = to_dvec3(IVec3{x, y, z}) * 0.25,
                      slack{contact_slop_m, contact_slop_m, contact_slop_m};
          const bool meets =
              box_meets_triangle({corner + slack, corner + DVec3{0.25, 0.25, 0.25} - slack}, inner);
          solid += meets;
          wrong += (*prop)->cell_solid({x, y, z}) != meets;
        }
    CAPTURE(n, solid);
    CHECK(solid > 0);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a prop of many triangles as large as it may be is refused before its cells are filled",
          "[world][mesh][prop]") {
  PropModel model;
  model.name = "hedge";
  model.vertices = {{0, 0, 0}, {60, 0, 60}, {0, 60, 60}};
  model.triangles.assign(60, {0, 1, 2});
  CHECK(Prop::place(model, {}));
  model.triangles.assign(1000, {0, 1, 2});
  CHECK_THAT(Prop::place(model, {}).error(), ContainsSubstring("hedge: ") &&
                                                 ContainsSubstring("span too much") &&
                                                 ContainsSubstring("split it"));
  // Thin ones, whose planes say nothing.
  model.vertices[2] = {30, 1e-9, 30};
  model.triangles.assign(100, {0, 1, 2});
  CHECK(Prop::place(model, {}));
  model.vertices = {{0, 0, 0}, {60, 60, 60}, {30, 30, 30 + 1e-9}};
  CHECK_THAT(Prop::place(model, {}).error(), ContainsSubstring("span too much"));
}

TEST_CASE("a prop stands again where its triangles stood, those without area among them", "[world][prop]") {
  auto model = read_obj(bytes_of(box_obj(2, 1, 3)), "box.obj");
  REQUIRE(model);
  model->triangles.insert(model->triangles.begin() + 5, {2, 2, 3});
  model->triangles.push_back({1, 1, 1});
  const PropPlace at{{103.1, -7.7, 12.3}, Turn16{9000}, 1.37};
  const auto prop = Prop::place(*model, at);
  REQUIRE(prop);
  PropModel standing;
  standing.name = "box.obj", standing.up = ModelUp::z;
  for (const Triangle& t : (*prop)->mesh().triangles_as_given()) {
    const auto first = static_cast<std::uint32_t>(standing.vertices.size());
    standing.vertices.insert(standing.vertices.end(), {t.a, t.b, t.c});
    standing.triangles.push_back({first, first + 1, first + 2});
  }
  REQUIRE(standing.triangles.size() == model->triangles.size());
  const auto again = Prop::stand(standing, at);
  REQUIRE(again);
  CHECK((*again)->content_hash() == (*prop)->content_hash());
  CHECK((*again)->at() == at);
  CHECK((*again)->up() == ModelUp::z);
  CHECK((*again)->bounds().min == (*prop)->bounds().min);
  CHECK((*again)->bounds().max == (*prop)->bounds().max);
  CHECK_FALSE(Prop::stand(standing, {{0, 0, 5000}, {}, 1}));
  CHECK_FALSE(Prop::stand(standing, {{0, 0, 0}, {}, 0}));
}
