#pragma once
#include <cstdint>
#include <vector>

#include "tests/world/voxel_worlds.h"
#include "world/sim/combat.h"
#include "world/sim/monster_move.h"
#include "world/sim/monster_rows.h"
#include "world/sim/monster_think.h"
#include "world/sim/player_grid.h"

// A few players and monsters on a floor of blocks at z = 0, who fight: a tick of World's order, without maps.

namespace ashlar::testing {

struct Arena {
  /// @param block  what stands where; the floor below z = 0 is stone in most tests
  template <typename Block>
  Arena(std::size_t players_max, std::size_t monsters_max, const Block& block)
      : volume(test::make_volume({-2, -2, -1}, {4, 4, 2}, block)),
        near(players_max),
        combat(7, players_max, monsters_max, 64) {
    players.resize(players_max), monsters.resize(monsters_max);
    wishes.resize(monsters_max);
  }
  Arena(std::size_t players_max, std::size_t monsters_max)
      : Arena(players_max, monsters_max, [](IVec3 b) { return b.z < 0; }) {}

  EntityId add_player(DVec3 at) {
    for (std::size_t i = 0; i < players.rows(); ++i) {
      if (players.id[i] != EntityId{0}) continue;
      players.id[i] = make_entity_id(static_cast<std::uint32_t>(i), 1);
      players.body[i].position_m = players.body[i].last_free_m = at;
      players.body[i].grounded = 1;
      players.health[i] = rules.player_health;
      return players.id[i];
    }
    return EntityId{0};
  }
  std::size_t add_monster(MonsterKind kind, DVec3 at, bool asleep = false, Turn16 yaw = Turn16{0}) {
    return enter_monster(monsters, {kind, {at, yaw}, false, asleep}, 3,
                         static_cast<std::uint32_t>(players.rows()));
  }
  Space space() const { return {&volume, {}}; }
  CombatTick fighting() { return {space(), rules, players, monsters}; }

  void step() {
    combat.begin_tick();
    near.fill(players);
    fires.clear();
    for (std::size_t i = 0; i < monsters.rows(); ++i) {
      if (monsters.id[i] == EntityId{0}) continue;
      wishes[i] = monster_think(space(), rules, players, near, monsters, i, TickId{tick});
      if (wishes[i].fires) fires.push_back(static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = 0; i < monsters.rows(); ++i)
      if (monsters.id[i] != EntityId{0} && moves)
        monster_move(space(), rules, monsters.traits_at(i), wishes[i], monsters.body[i]);
    CombatTick all = fighting();
    combat.fight(all, fires);
    ++tick;
  }

  Rules rules;
  VoxelVolume volume;
  PlayerTable players;
  MonsterTable monsters;
  PlayerGrid near;
  Combat combat;
  std::vector<MonsterWish> wishes;
  std::vector<std::uint32_t> fires;
  std::uint32_t tick = 0;
  bool moves = true;
};

}  // namespace ashlar::testing
