// Hunts out of a map over its stairs, over the ground between, and down the stairs of another map.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/cases.h"
#include "tests/world/nav/voxel_reach.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/bsp/column.h"
#include "world/bsp/placed_map.h"
#include "world/nav/map_rock.h"
#include "world/sim/block_navigation.h"
#include "world/sim/ground_generator.h"
#include "world/sim/home.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

namespace {

SectorMap rooms_of_imp() {
  return row_of_rooms({{0, 128}, {0, 128}, {0, 128}}, {{}, {}},
                      {thing_at(64, 128, 1), thing_at(320, 128, 3001)});
}

std::shared_ptr<const PlacedMap> three_rooms(const Terrain& bare, IVec2 origin) {
  PlaceOptions options;
  options.origin_block = origin;
  options.surface_z = surface_height(bare, origin.x + 6, origin.y + 4);
  return must_place(rooms_of_imp(), options);
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

/// Two maps of three rooms each; a monster of the first one's last room is after a player in that of the
/// other.
struct TwoMaps {
  TwoMaps(TerrainKind ground, std::uint64_t seed, IVec2 first_at, IVec2 second_at, double step_m) {
    bare.kind = ground, bare.seed = seed;
    KindSet kinds = default_kinds();
    kinds.monsters[static_cast<std::size_t>(MonsterKind::imp)].step_height_m_max = step_m;
    setup.seed = seed;
    setup.players_max = 1;
    setup.monsters = setup.monsters_max = 1;  // that of the first map
    setup.terrain = ground;
    setup.kinds = std::make_shared<const KindSet>(std::move(kinds));
    setup.maps = {three_rooms(bare, first_at), three_rooms(bare, second_at)};
    setup.rules.monsters_fight = Switch::off;
    REQUIRE_FALSE(first().doorways().empty());
    REQUIRE_FALSE(second().doorways().empty());
  }
  const PlacedMap& first() const { return *setup.maps[0]; }
  const PlacedMap& second() const { return *setup.maps[1]; }

  struct Came {
    bool outside = false, came = false;
    double way_m = 0, s = 0;
    DVec3 at{};
  };
  /// It hears him beside it; then he is in the last room of the other map.
  Came hunt(double seconds) const {
    World world(setup);
    const std::uint32_t token = 7;
    TickInput joining;
    joining.joins = std::span(&token, 1);
    world.step(joining);
    const EntityId player = world.joined()[0].id;
    const MonsterTable& m = world.monsters();
    REQUIRE(m.id[0] != EntityId{0});
    REQUIRE(in_box(first(), m.body[0].position_m));
    AdminCommand there{AdminAction::teleport, player, m.body[0].position_m + DVec3{-2, 0, 0}};
    step_with(world, player, 0, &there);
    for (int t = 0; t < 120 && m.mood[0] != MonsterMood::chase; ++t)
      step_with(world, player, t % 2 == 0 ? button::attack : std::uint16_t{0});
    REQUIRE(m.mood[0] == MonsterMood::chase);
    there.position_m = in_map(second(), 320, 200);
    step_with(world, player, 0, &there);
    Came out;
    out.at = m.body[0].position_m;
    for (int t = 0; t < seconds * 60 && !out.came; ++t) {
      step_with(world, player, 0);
      const DVec3 at = m.body[0].position_m;
      out.way_m += length(xy(at - out.at));
      out.at = at, out.s = t / 60.0;
      out.outside = out.outside || (!in_box(first(), at) && !in_box(second(), at));
      const DVec3 off = at - world.players().body[0].position_m;
      out.came = length(xy(off)) < 1.9 && std::fabs(off.z) < 1.8;
    }
    return out;
  }

  /// Metres over the ground from the one map's stairs to the other's, by a flood over single points; below 0:
  /// there is no way.
  double way_over_ground_m() const {
    const GroundGenerator ground(setup);
    const HomeRegion home = home_region(setup.maps);
    const ColumnSpan span = column_span(setup.terrain);
    VoxelVolume volume;
    for (std::int32_t x = home.min.x; x < home.max.x; ++x)
      for (std::int32_t y = home.min.y; y < home.max.y; ++y)
        for (std::int32_t z = span.low; z < span.high; ++z)
          volume.insert_chunk({x, y, z}, ground.make_chunk({x, y, z}));
    // Maps are rock, and nobody walks over what is open to the sky.
    for (const auto& map : setup.maps) {
      const MapRock rock(map->box(), open_columns(*map));
      for (std::int32_t x = rock.box.min.x; x < rock.box.max.x; ++x)
        for (std::int32_t y = rock.box.min.y; y < rock.box.max.y; ++y)
          for (std::int32_t z = rock.box.min.z; z < rock.box.max.z + (rock.open_at(x, y) ? 4 : 0); ++z)
            volume.set_block({x, y, z}, BlockId::stone);
    }
    const BlockBox &a = first().box(), &b = second().box();
    const std::int32_t low = std::min(a.max.z, b.max.z), high = std::max(a.max.z, b.max.z);
    const KindSet& kinds = *setup.kinds;
    VoxelReach reach(
        volume,
        {std::min(a.min.x, b.min.x) - flood_around, std::min(a.min.y, b.min.y) - flood_around, low - 40},
        {std::max(a.max.x, b.max.x) + flood_around, std::max(a.max.y, b.max.y) + flood_around, high + 50},
        *block_walker_of(kinds.monsters[static_cast<std::size_t>(MonsterKind::imp)]));
    const auto from = before_stairs(reach, first()), to = before_stairs(reach, second());
    if (!from || !to) return -1;
    reach.flood_to(*to);
    return reach.way_m(*from);
  }
  static std::optional<GroundPlace> before_stairs(const VoxelReach& reach, const PlacedMap& map) {
    const Doorway& stairs = map.doorways().front();
    const DVec2 out = xy(stairs.top_m - stairs.foot_m);
    const DVec2 clear = xy(stairs.top_m) + out * (clear_of_stairs_m / length(out));
    const auto x = static_cast<std::int32_t>(std::lround(clear.x)),
               y = static_cast<std::int32_t>(std::lround(clear.y));
    for (const IVec2 off : {IVec2{0, 0}, IVec2{1, 0}, IVec2{-1, 0}, IVec2{0, 1}, IVec2{0, -1}}) {
      const GroundPlace place{x + off.x, y + off.y, 2 * map.box().max.z};
      if (reach.stands_at(place)) return place;
    }
    return std::nullopt;
  }
  /// By the doors and stairs of both maps: no more than this.
  double way_inside_m() const {
    double out = 0;
    for (const auto& map : setup.maps) {
      const Doorway& d = map->doorways().front();
      out +=
          length(xy(d.foot_m) - xy(in_map(*map, 320, 128))) + length(d.top_m - d.foot_m) + clear_of_stairs_m;
    }
    return out;
  }
  double speed_mps() const {
    return setup.kinds->monsters[static_cast<std::size_t>(MonsterKind::imp)].speed_mps;
  }

  double way_m() const { return way_over_ground_m() + way_inside_m(); }
  /// Three times a way's length over its speed, and ten seconds.
  double in_time_s(double metres) const { return 3 * metres / speed_mps() + 10; }

  static constexpr std::int32_t flood_around = 48;
  static constexpr double clear_of_stairs_m = 3;
  Terrain bare;
  WorldSetup setup;
};

/// Somewhere in hills, by seed.
TwoMaps between_hills(std::uint64_t seed, bool long_legs) {
  Rng rng{seed};
  const auto between = [&](std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(rng.below(static_cast<std::uint32_t>(high - low)));
  };
  const std::int32_t x = between(-60, 60), y = between(-60, 60), east = between(40, 90),
                     north = between(-50, 50);
  return {TerrainKind::hills,
          seed,
          {x, y},
          {x + east, y + north},
          long_legs ? 1.0 : traits(MonsterKind::imp).step_height_m_max};
}

}  // namespace

TEST_CASE("a monster hunts out of its map, over the ground and into another map",
          "[world][nav][hunt_between_maps]") {
  TwoMaps maps(TerrainKind::flat, 1, {0, 0}, {48, 8}, traits(MonsterKind::imp).step_height_m_max);
  const TwoMaps::Came hunt = maps.hunt(90);
  CAPTURE(hunt.at.x, hunt.at.y, hunt.at.z, hunt.way_m);
  CHECK(hunt.outside);
  CHECK(hunt.came);
  CHECK(in_box(maps.second(), hunt.at));
  CHECK(hunt.way_m > length(xy(maps.first().doorways()[0].top_m - maps.second().doorways()[0].top_m)));
}

TEST_CASE("a monster that comes over the top of a map's stairs goes on down them",
          "[world][nav][hunt_between_maps][statistics]") {
  // These turned back on the first steps, where they are neither in the map nor on the ground, for ever.
  const auto [seed, long_legs] = GENERATE(std::pair{1014u, false}, std::pair{1002u, true});
  CAPTURE(seed);
  const TwoMaps maps = between_hills(seed, long_legs);
  const TwoMaps::Came hunt = maps.hunt(maps.in_time_s(maps.way_m()));
  CAPTURE(hunt.at.x, hunt.at.y, hunt.at.z, hunt.way_m);
  CHECK(hunt.came);
}

TEST_CASE("monsters come from map to map over natural ground wherever they can, in time",
          "[world][nav][hunt_between_maps][statistics]") {
  const bool every = cases(1) > 1;
  int tried = 0, came = 0;
  for (const bool long_legs : {false, true}) {
    int here = 0, came_here = 0;
    for (std::uint64_t seed = every ? 1001 : 1; here < (every ? 20 : 2); ++seed) {
      REQUIRE(seed < 1100);
      const TwoMaps maps = between_hills(seed, long_legs);
      const double ground_m = maps.way_over_ground_m();
      if (ground_m < 0) continue;
      const double way_m = ground_m + maps.way_inside_m();
      const TwoMaps::Came hunt = maps.hunt(maps.in_time_s(way_m));
      ++here, came_here += hunt.came ? 1 : 0;
      if (!hunt.came)
        std::printf("  seed %llu: a way of %.0f m, it got to (%.1f, %.1f, %.1f) on %.0f m, %s\n",
                    static_cast<unsigned long long>(seed), way_m, hunt.at.x, hunt.at.y, hunt.at.z, hunt.way_m,
                    in_box(maps.first(), hunt.at)    ? "in the first map"
                    : in_box(maps.second(), hunt.at) ? "in the second map"
                                                     : "outside");
    }
    tried += here;
    std::printf("from map to map%s: %d of %d came\n", long_legs ? " by steps of a block" : "", came_here,
                here);
    came += came_here;
  }
  CHECK(came >= 0.95 * tried);
}
