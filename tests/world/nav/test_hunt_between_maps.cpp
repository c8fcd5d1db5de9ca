// One hunt out of a map over its stairs, over the ground between, and down the stairs of another map.

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/bsp/column.h"
#include "world/bsp/placed_map.h"
#include "world/sim/world.h"
#include "world/voxel/terrain.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Over level ground: natural ground rises by whole blocks, and an imp steps half of one.
constexpr TerrainKind between = TerrainKind::flat;

std::shared_ptr<const PlacedMap> three_rooms(IVec2 origin) {
  const SectorMap source = row_of_rooms({{0, 128}, {0, 128}, {0, 128}}, {{}, {}},
                                        {thing_at(64, 128, 1), thing_at(320, 128, 3001)});
  Terrain bare;
  bare.kind = between;
  PlaceOptions options;
  options.origin_block = origin;
  options.surface_z = surface_height(bare, 0, 0);
  return must_place(source, options);
}

DVec3 in_map(const PlacedMap& map, double x, double y) {
  const DVec2 p = map.to_world({x, y});
  return {p.x, p.y, map.z_to_world(0)};
}

void step_with(World& world, EntityId player, std::uint16_t buttons, const AdminCommand* admin = nullptr) {
  PlayerInput in{player, {}};
  in.command.buttons = buttons;
  TickInput input;
  input.commands = std::span(&in, 1);
  if (admin != nullptr) input.admin = std::span(admin, 1);
  world.step(input);
}

}  // namespace

TEST_CASE("a monster hunts out of its map, over the ground and into another map",
          "[world][nav][hunt_between_maps]") {
  WorldSetup setup;
  setup.players_max = 1;
  setup.monsters = setup.monsters_max = 1;  // that of the first map
  setup.terrain = between;
  setup.maps = {three_rooms({0, 0}), three_rooms({48, 8})};
  setup.rules.monsters_fight = Switch::off;
  World world(setup);
  const PlacedMap &first = *setup.maps[0], &second = *setup.maps[1];
  REQUIRE_FALSE(first.doorways().empty());
  REQUIRE_FALSE(second.doorways().empty());
  const std::uint32_t token = 7;
  TickInput joining;
  joining.joins = std::span(&token, 1);
  world.step(joining);
  const EntityId player = world.joined()[0].id;
  const MonsterTable& m = world.monsters();
  REQUIRE(m.id[0] != EntityId{0});
  REQUIRE(in_box(first, m.body[0].position_m));

  // It hears him beside it; then he is in the last room of the other map.
  AdminCommand there{AdminAction::teleport, player, m.body[0].position_m + DVec3{-2, 0, 0}};
  step_with(world, player, 0, &there);
  for (int t = 0; t < 120 && m.mood[0] != MonsterMood::chase; ++t)
    step_with(world, player, t % 2 == 0 ? button::attack : std::uint16_t{0});
  REQUIRE(m.mood[0] == MonsterMood::chase);
  there.position_m = in_map(second, 320, 200);
  step_with(world, player, 0, &there);

  bool outside = false, came = false;
  double way_m = 0;
  DVec3 before = m.body[0].position_m;
  for (int t = 0; t < 90 * 60 && !came; ++t) {
    step_with(world, player, 0);
    const DVec3 at = m.body[0].position_m;
    way_m += length(xy(at - before));
    before = at;
    outside = outside || (!in_box(first, at) && !in_box(second, at));
    const DVec3 off = at - world.players().body[0].position_m;
    came = length(xy(off)) < 1.9 && std::fabs(off.z) < 1.8;
  }
  CAPTURE(before.x, before.y, before.z, m.mood[0], second.doorways()[0].top_m.x, second.doorways()[0].top_m.y,
          second.doorways()[0].top_m.z, first.roof_m());
  CHECK(outside);
  CHECK(came);
  CHECK(in_box(second, before));
  CHECK(way_m > length(xy(first.doorways()[0].top_m - second.doorways()[0].top_m)));
}
