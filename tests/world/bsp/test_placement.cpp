#include <algorithm>
#include <numeric>

#include "tests/world/bsp/maps.h"
#include "world/bsp/doorway.h"
#include "world/bsp/open_doors.h"
#include "world/bsp/placed_map.h"
#include "world/bsp/visibility.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Walks in steps of 5 cm from one doorway end to the other, up or down at most a step at a time.
void walk_stairs(const PlacedMap& map, const Doorway& doorway) {
  const Cylinder player{};
  const HeightsView heights = map.initial_heights();
  const DVec2 way = xy(doorway.foot_m) - xy(doorway.top_m);
  const int steps = static_cast<int>(length(way) / 0.05) + 1;
  DVec3 at = doorway.top_m;
  REQUIRE_FALSE(map_overlaps(map, heights, player, at));
  for (int i = 1; i <= steps; ++i) {
    const DVec2 p = xy(doorway.top_m) + way * (static_cast<double>(i) / steps);
    const auto ground = map_ground_below(map, heights, p, player.radius_m, at.z);
    CAPTURE(map.name(), i, p.x, p.y, at.z);
    REQUIRE(ground.has_value());
    // What went down in one step can be gone up again.
    REQUIRE(at.z - *ground <= 0.75 + 1e-9);
    at = {p.x, p.y, *ground};
    REQUIRE_FALSE(map_overlaps(map, heights, player, at));
  }
  REQUIRE(std::fabs(at.z - doorway.foot_m.z) < 1e-9);
}

}  // namespace

TEST_CASE("a placed map fills whole blocks with its roof at the surface", "[world][bsp][placement]") {
  PlaceOptions options;
  options.origin_block = {100, -200};
  options.surface_z = 37;
  const auto placed = must_place(builtin_map(), options);
  const BlockBox& box = map_box(*placed);
  CHECK(box.min.x == 100);
  CHECK(box.min.y == -200);
  CHECK(box.max.z == 37);
  CHECK(placed->roof_m() == 37);
  const HeightsView heights = placed->initial_heights();
  for (const SectorHeights& h : heights) {
    CHECK(h.floor_m > box.min.z + 0.99);
    CHECK(h.floor_m < 37);
  }
  // The map's lower corner is a whole block in, so map units and blocks share their grid.
  const DVec2 corner = placed->to_world(placed->tree().bounds.min);
  CHECK(corner.x == 101);
  CHECK(corner.y == -199);
  CHECK(placed->to_map({101 + 1 / 32.0, -199}).x == placed->tree().bounds.min.x + 1);
  // All four rims are rock, and nothing is solid above the roof.
  for (int x = box.min.x; x < box.max.x; ++x) {
    CHECK(map_solid(*placed, heights, {x + 0.5, box.min.y + 0.5, 36.5}));
    CHECK(map_solid(*placed, heights, {x + 0.5, box.max.y - 0.5, box.min.z + 0.5}));
    CHECK_FALSE(map_solid(*placed, heights, {x + 0.5, box.min.y + 0.5, 37.0}));
    CHECK_FALSE(map_solid(*placed, heights, {x + 0.5, box.min.y - 0.5, 36.5}));
  }
}

TEST_CASE("the roof lies over wherever a door's ceiling goes, shut doors included",
          "[world][bsp][placement]") {
  // A door between two courts opens to four under their sky, far above every room.
  MapWriter w;
  const auto west = w.sector(0, 512, true), door = w.sector(0, 0), east = w.sector(0, 512, true);
  w.line({0, 128}, {128, 128}, west), w.line({128, 0}, {0, 0}, west), w.line({0, 0}, {0, 128}, west);
  w.line({128, 128}, {128, 0}, west, door).special = 1;
  w.line({128, 128}, {160, 128}, door), w.line({160, 0}, {128, 0}, door);
  w.line({160, 0}, {160, 128}, east, door).special = 1;
  w.line({160, 128}, {288, 128}, east), w.line({288, 128}, {288, 0}, east), w.line({288, 0}, {160, 0}, east);
  for (const bool open : {false, true}) {
    PlaceOptions options;
    options.doorway = false;
    options.doors_open = open;
    const auto placed = must_place(w.map, options);
    CHECK(placed->highest_ceiling_m() == placed->z_to_world(508));
    CHECK(placed->lowest_floor_m() <= placed->z_to_world(0));
  }
}

TEST_CASE("placing is a function of map and options", "[world][bsp][placement]") {
  PlaceOptions options;
  const auto a = must_place(builtin_map(), options), b = must_place(builtin_map(), options);
  CHECK(a->content_hash() == b->content_hash());
  options.surface_z = 1;
  CHECK(must_place(builtin_map(), options)->content_hash() != a->content_hash());
  options.surface_z = 0;
  options.doors_open = false;
  CHECK(must_place(builtin_map(), options)->content_hash() != a->content_hash());
}

TEST_CASE("a map as it was before its stairs were cut places again as it stands", "[world][bsp][placement]") {
  const auto check = [](const SectorMap& map) {
    PlaceOptions options;
    options.origin_block = {-30, 12};
    options.surface_z = 9;
    const auto placed = must_place(map, options);
    const SectorMap drawn = placed->drawn();
    CHECK(content_hash(drawn) == content_hash(map));
    CHECK((placed->source().sectors.size() > map.sectors.size()) == placed->no_doorway().empty());
    CHECK(drawn.sectors == map.sectors);
    CHECK(drawn.lines == map.lines);
    CHECK(drawn.sides == map.sides);
    CHECK(must_place(drawn, placed->options())->content_hash() == placed->content_hash());
  };
  check(builtin_map());
  each_freedoom_map([&](const SectorMap& map, const std::string&, std::uint64_t) { check(map); }, 9);
}

TEST_CASE("maps that differ in what their world does differ in their content", "[world][bsp][placement]") {
  const auto with = [](auto&& change) {
    SectorMap map = builtin_map();
    change(map);
    return content_hash(map);
  };
  const std::uint64_t same = content_hash(builtin_map());
  CHECK(with([](SectorMap&) {}) == same);
  // Stairs rise along sectors of one flat.
  CHECK(with([](SectorMap& m) { m.sectors[1].floor_flat = texture_name("OTHER"); }) != same);
  CHECK(with([](SectorMap& m) { m.sectors[1].ceiling_flat = sky_flat; }) != same);
  CHECK(with([](SectorMap& m) { m.sectors[1].tag = 77; }) != same);
  CHECK(with([](SectorMap& m) { m.lines[1].special = 11; }) != same);
  CHECK(with([](SectorMap& m) { m.things[0].flags ^= 1; }) != same);
  // What is only looked at does not count.
  CHECK(with([](SectorMap& m) { m.sectors[1].light = 12; }) == same);
  CHECK(with([](SectorMap& m) { m.sides[0].middle = texture_name("OTHER"); }) == same);
}

TEST_CASE("doors that stand open let a player through and shut ones do not", "[world][bsp][placement]") {
  PlaceOptions options;
  const auto open = must_place(builtin_map(), options);
  options.doors_open = false;
  const auto shut = must_place(builtin_map(), options);
  for (const auto& map : {open, shut}) {
    const DVec2 from = map->to_world({740, 256}), to = map->to_world({860, 256});
    const double z = map->z_to_world(0);
    const SweepHit hit =
        map_sweep(*map, map->initial_heights(), Cylinder{}, {from.x, from.y, z}, {to.x - from.x, 0, 0});
    CHECK(hit.hit() == (map == shut));
  }
}

TEST_CASE("a doorway's stairs are walked from the roof to the room", "[world][bsp][placement]") {
  const auto placed = must_place(builtin_map());
  REQUIRE(placed->doorways().size() == 1);
  walk_stairs(*placed, placed->doorways()[0]);
}

TEST_CASE("every Freedoom map gets a doorway that can be walked, and its starts are free to stand in",
          "[world][bsp][placement][freedoom]") {
  int starts = 0;
  const int maps = each_freedoom_map([&](const SectorMap& map, const std::string&, std::uint64_t) {
    const auto placed = must_place(map);
    REQUIRE(placed->doorways().size() == 1);
    walk_stairs(*placed, placed->doorways()[0]);
    for (const PlacedThing& thing : placed->things()) {
      if (thing.type == 0 || thing.type > 4) continue;
      CAPTURE(thing.type, thing.position_m.x, thing.position_m.y);
      CHECK(thing.sector != no_index);
      // A start may be on the rim of a step (three of MAP11's are in Freedoom 0.13): one stands on the
      // step.
      DVec3 feet = thing.position_m;
      const auto around =
          map_floor_ceiling(*placed, placed->initial_heights(), xy(feet), Cylinder{}.radius_m);
      if (around && around->floor_m - feet.z <= 0.75) feet.z = std::max(feet.z, around->floor_m);
      CHECK_FALSE(map_overlaps(*placed, placed->initial_heights(), Cylinder{}, feet));
      ++starts;
    }
  });
  if (maps != 0) CHECK(starts >= maps / static_cast<int>(test::slowness));
}

TEST_CASE("stairs of more steps than a doorway may have are not cut, and a line says why",
          "[world][bsp][placement][doorway]") {
  MapWriter w;
  const auto room = w.sector(0, 128);
  w.ring({{0, 0}, {0, 256}, {256, 256}, {256, 0}}, room);
  const auto cut = [&w](double roof) {
    SectorMap map = w.map;
    auto heights = heights_as_drawn(map);
    const auto stairs = cut_doorway(map, heights, roof, {128, 128}, 0);
    CHECK(heights.size() == map.sectors.size());
    if (!stairs) CHECK(map.lines == w.map.lines);
    CHECK(map.sectors.size() == (stairs ? std::size_t{doorway_steps_max} : 1));
    return stairs;
  };
  CHECK(cut(24 * doorway_steps_max).has_value());
  const auto deeper = cut(24 * doorway_steps_max + 1);
  REQUIRE_FALSE(deeper.has_value());
  CHECK(deeper.error() == NoDoorway::too_deep);

  w.map.name = "PIT";
  w.map.sectors[room].floor = -20000;
  const auto pit = must_place(w.map);
  CHECK(pit->doorways().empty());
  CHECK(pit->source().lines.size() == 4);
  CHECK_THAT(pit->no_doorway(), ContainsSubstring(std::to_string(doorway_steps_max) + " steps"));

  // Another room that is nearer to the surface has them instead.
  const auto shallow = w.sector(0, 128);
  w.ring({{2000, 0}, {2000, 256}, {2256, 256}, {2256, 0}}, shallow);
  const auto both = must_place(w.map);
  CHECK(both->doorways().size() == 1);
  CHECK(both->no_doorway().empty());

  PlaceOptions closed;
  closed.doorway = false;
  CHECK(must_place(w.map, closed)->no_doorway().empty());
  w.map.sectors[room].floor = w.map.sectors[room].ceiling - 40;  // nobody stands in there
  w.map.sectors[shallow].floor = w.map.sectors[shallow].ceiling - 40;
  CHECK_THAT(must_place(w.map)->no_doorway(), ContainsSubstring("no wall"));
}

TEST_CASE("a visibility set is asked for once, for the map with its doorway cut", "[world][bsp][placement]") {
  int asked = 0;
  std::shared_ptr<const SectorVisibility> given;
  const VisibilitySource source = [&](const SectorMap& compiled, const BspTree& tree) {
    ++asked;
    CHECK(compiled.sectors.size() > builtin_map().sectors.size());
    given = std::make_shared<const SectorVisibility>(compute_visibility(compiled, tree));
    return given;
  };
  PlaceOptions options;
  REQUIRE(place_map(builtin_map(), options, source).has_value());
  CHECK(asked == 0);
  options.visibility = true;
  const auto placed = place_map(builtin_map(), options, source);
  REQUIRE(placed.has_value());
  CHECK(asked == 1);
  CHECK((*placed)->visibility() == given.get());
  CHECK(given->sectors == (*placed)->source().sectors.size());
}

TEST_CASE("a map that does not fit into the world is refused in one line", "[world][bsp][placement]") {
  PlaceOptions options;
  options.name = "far";
  options.origin_block = {(1 << 20) - 10, 0};
  const auto far = place_map(builtin_map(), options);
  REQUIRE_FALSE(far);
  CHECK(far.error().line() ==
        "far: does not fit into the world at block 1048566,0; place it nearer to the origin");
  const auto empty = place_map(SectorMap{}, {});
  REQUIRE_FALSE(empty);
}
