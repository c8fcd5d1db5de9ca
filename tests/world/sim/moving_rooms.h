#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "world/bsp/placement.h"
#include "world/sim/mechanics.h"
#include "world/sim/monster_move.h"
#include "world/sim/mover_start.h"
#include "world/sim/player_move.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

// A row of rooms from west to east with a line between each two, and a small world around it that runs its
// moving parts: what movers and triggers are tested on.

namespace ashlar::testing {

struct Room {
  double floor = 0, ceiling = 128;
  std::uint16_t tag = 0;
  std::uint16_t special = 0;
  bool sky = false;
};

/// The line between two rooms; its front looks west unless turned.
struct Divider {
  std::uint16_t special = 0;
  std::uint16_t tag = 0;
  bool front_east = false;
};

inline constexpr double room_units = 128;  // 4 m wide
inline constexpr double room_depth_units = 256;

/// Rooms of 4 m by 8 m in a row; dividers.size() + 1 == rooms.size().
inline SectorMap row_of_rooms(const std::vector<Room>& rooms, const std::vector<Divider>& dividers,
                              const std::vector<MapThing>& things = {}) {
  REQUIRE(dividers.size() + 1 == rooms.size());
  SectorMap map;
  map.name = "ROOMS";
  const auto n = static_cast<std::uint32_t>(rooms.size());
  for (std::uint32_t i = 0; i <= n; ++i) {
    map.vertices.push_back({i * room_units, 0});                 // 2 i
    map.vertices.push_back({i * room_units, room_depth_units});  // 2 i + 1
  }
  for (const Room& room : rooms) {
    MapSector s;
    s.floor = room.floor, s.ceiling = room.ceiling, s.tag = room.tag, s.special = room.special;
    s.floor_flat = texture_name("FLOOR"), s.ceiling_flat = room.sky ? sky_flat : texture_name("CEIL");
    map.sectors.push_back(s);
  }
  const auto side = [&](std::uint32_t sector) {
    MapSide s;
    s.sector = sector;
    map.sides.push_back(s);
    return static_cast<std::uint32_t>(map.sides.size() - 1);
  };
  const auto wall = [&](std::uint32_t a, std::uint32_t b, std::uint32_t sector) {
    MapLine l;
    l.v1 = a, l.v2 = b, l.flags = line_flag::blocking;
    l.front = side(sector);
    map.lines.push_back(l);
  };
  // Dividers first, so that divider i is line i. South to north looks east on its right hand.
  for (std::uint32_t i = 0; i + 1 < n; ++i) {
    MapLine l;
    l.v1 = 2 * i + 3, l.v2 = 2 * i + 2;
    if (dividers[i].front_east) std::swap(l.v1, l.v2);
    l.flags = line_flag::two_sided;
    l.front = side(dividers[i].front_east ? i + 1 : i);
    l.back = side(dividers[i].front_east ? i : i + 1);
    l.special = dividers[i].special, l.tag = dividers[i].tag;
    map.lines.push_back(l);
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    wall(2 * i + 2, 2 * i, i);      // south wall: west-going, its right hand is north
    wall(2 * i + 1, 2 * i + 3, i);  // north wall
  }
  wall(0, 1, 0);                  // west end
  wall(2 * n + 1, 2 * n, n - 1);  // east end
  map.things = things;
  return map;
}

inline MapThing thing_at(double x, double y, std::uint16_t type, std::int16_t angle_deg = 0) {
  MapThing t;
  t.x = x, t.y = y, t.type = type, t.angle_deg = angle_deg;
  t.flags = thing_flag::easy | thing_flag::medium | thing_flag::hard;
  return t;
}

/// A world of one map with its moving parts, players and monsters; step() is one tick of World's order.
class MovingWorld {
 public:
  explicit MovingWorld(const SectorMap& source, std::uint16_t rate_hz = 60, std::size_t players_max = 32,
                       std::size_t monsters_max = 8, bool doors_open = false, bool doorway = false) {
    PlaceOptions options;
    options.surface_z = 32;
    options.doors_open = doors_open;
    options.doorway = doorway;
    auto result = place_map(source, options);
    if (!result) FAIL(result.error().line());
    map = *result;
    rules.tick_rate_hz = rate_hz;
    heights.emplace_back(map->initial_heights().begin(), map->initial_heights().end());
    placed.push_back({map.get(), heights[0]});
    Terrain terrain;
    terrain.footprints.push_back(map->box());
    const ChunkCoord low = chunk_of(map->box().min), high = chunk_of(map->box().max);
    for (int x = low.x - 1; x <= high.x + 1; ++x)
      for (int y = low.y - 1; y <= high.y + 1; ++y)
        for (int z = low.z - 1; z <= high.z + 1; ++z)
          volume.insert_chunk({x, y, z}, generate_chunk(terrain, {x, y, z}));
    players.resize(players_max), monsters.resize(monsters_max);
    const std::shared_ptr<const PlacedMap> maps[] = {map};
    mechanics = Mechanics(maps, heights, players_max, monsters_max);
    shooting = Shooting(players_max, monsters_max, 1, true);
  }
  MovingWorld(const MovingWorld&) = delete;
  MovingWorld& operator=(const MovingWorld&) = delete;

  Space space() const { return {&volume, placed}; }
  SectorHeights& sector(std::size_t i) { return heights[0][i]; }
  double z(double map_z) const { return map->z_to_world(map_z); }
  DVec3 at(double map_x, double map_y, double map_z) const {
    const DVec2 p = map->to_world({map_x, map_y});
    return {p.x, p.y, z(map_z)};
  }

  std::size_t add_player(DVec3 base, Turn16 yaw = Turn16{0}) {
    for (std::size_t i = 0; i < players.rows(); ++i) {
      if (players.id[i] != EntityId{0}) continue;
      players.id[i] = make_entity_id(static_cast<std::uint32_t>(i), 1);
      players.body[i] = Body{};
      players.body[i].position_m = players.body[i].last_free_m = base;
      players.body[i].grounded = 1;
      players.command[i].yaw = yaw;
      players.health[i] = rules.player_health;
      mechanics.player_joined(i);
      return i;
    }
    FAIL("no room for a player");
    return 0;
  }
  std::size_t add_monster(MonsterKind kind, DVec3 base, Turn16 yaw) {
    for (std::size_t i = 0; i < monsters.rows(); ++i) {
      if (monsters.id[i] != EntityId{0}) continue;
      monsters.id[i] = make_entity_id(static_cast<std::uint32_t>(players.rows() + i), 1);
      monsters.kind[i] = kind;
      monsters.body[i] = Body{};
      monsters.body[i].position_m = monsters.body[i].last_free_m = base;
      monsters.body[i].grounded = 1;
      monsters.yaw[i] = yaw;
      monsters.health[i] = traits(kind).health;
      return i;
    }
    FAIL("no room for a monster");
    return 0;
  }

  /// One tick in World's order. Monsters walk along their yaw; `after` sees the bodies before the next tick.
  void step() {
    MechanicsTick t{space(), heights, rules, players, monsters, TickId{tick}};
    for (std::size_t i = 0; i < players.rows(); ++i) players.take(i, players.command[i]);
    mechanics.move(t);
    if (after_move) after_move();
    mechanics.act(t);
    shooting.shoot({space(), volume, rules, players, monsters, {}, TickId{0}});
    for (const ShotEvent& shot : shooting.events()) mechanics.shot(t, shot);
    for (std::size_t i = 0; i < players.rows(); ++i)
      if (players.alive(i))
        players.report[i] = player_move(space(), rules, players.turned_command(i), players.body[i],
                                        mechanics.floor_velocity(heights, players.body[i]));
    for (std::size_t i = 0; i < monsters.rows(); ++i) {
      if (monsters.id[i] == EntityId{0}) continue;
      MonsterWish wish;
      wish.direction = heading(monsters.yaw[i]);
      wish.speed_share = monsters_stand ? 0 : 1;
      monster_move(space(), rules, traits(monsters.kind[i]), wish, monsters.body[i],
                   mechanics.floor_velocity(heights, monsters.body[i]));
    }
    mechanics.walk(t);
    // Commands that turn along with the view, as the server's do.
    for (std::size_t i = 0; i < players.rows(); ++i) players.command[i].yaw = players.yaw[i];
    ++tick;
  }
  void run(double seconds) {
    const auto ticks = static_cast<std::uint32_t>(std::lround(seconds * rules.tick_rate_hz));
    for (std::uint32_t i = 0; i < ticks; ++i) step();
  }
  /// Lets go of all buttons for a tick, then presses these for one.
  void press(std::size_t player, std::uint16_t buttons) {
    players.command[player].buttons = 0;
    step();
    players.command[player].buttons = buttons;
    step();
    players.command[player].buttons = 0;
  }
  const SectorMovers& movers() const { return mechanics.maps()[0].movers; }
  std::uint64_t hash() const {
    StripeHasher h;
    mechanics.add_to_hash(h);
    for (const SectorHeights& s : heights[0]) h.add(s.floor_m), h.add(s.ceiling_m);
    for (const Body& b : players.body) h.add(b.position_m), h.add(b.velocity_mps);
    return h.value();
  }
  std::size_t count(MoverEventKind kind) const {
    std::size_t n = 0;
    for (const MoverEvent& e : mechanics.events()) n += e.kind == kind ? 1 : 0;
    return n;
  }

  std::shared_ptr<const PlacedMap> map;
  Rules rules;
  VoxelVolume volume;
  std::vector<std::vector<SectorHeights>> heights;
  std::vector<MapInSpace> placed;
  PlayerTable players;
  MonsterTable monsters;
  Mechanics mechanics;
  Shooting shooting;
  std::uint32_t tick = 0;
  bool monsters_stand = false;  // instead of walking along their yaw
  std::function<void()> after_move;
};

/// Starts what a special does to the sectors with its tag, without anybody near.
inline bool start(MovingWorld& w, std::uint16_t special, std::uint16_t tag) {
  MapLine line;
  line.special = special, line.tag = tag;
  const auto action = line_action(w.map->source(), line);
  REQUIRE(action.has_value());
  const MapMechanics& m = w.mechanics.maps()[0];
  return start_effect({*m.plan, const_cast<SectorMovers&>(m.movers), w.heights[0]}, *action, 0, true);
}

}  // namespace ashlar::testing
