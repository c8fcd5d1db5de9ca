#pragma once
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>

#include "tests/world/sim/arena.h"
#include "world/sim/navigation.h"

namespace ashlar::testing {

/// Monsters of one kind in an arena, by the ways of the world's navigation; they do not meet each other.
struct BlockHunt {
  explicit BlockHunt(std::size_t monsters, const std::function<bool(IVec3)>& block)
      : arena(1, monsters, block), navigation(std::span<const MapPlan* const>{}, monsters) {
    arena.rules.monsters_fight = Switch::off;
  }
  void player(DVec3 at) { arena.add_player(at); }
  std::size_t add(MonsterKind kind, DVec3 at) {
    const std::size_t row = arena.add_monster(kind, at);
    monster_takes_up(arena.rules, arena.monsters, row, arena.players.id[0], arena.players.body[0].position_m);
    return row;
  }
  void step() {
    arena.near.fill(arena.players);
    navigation.advance(arena.space(), arena.players, arena.monsters, arena.tick, {});
    for (std::size_t i = 0; i < arena.monsters.rows(); ++i) {
      if (arena.monsters.id[i] == EntityId{0}) continue;
      const MonsterWish wish = monster_think(arena.space(), arena.rules, arena.players, arena.near,
                                             arena.monsters, i, TickId{arena.tick}, &navigation);
      monster_move(arena.space(), arena.rules, arena.monsters.traits_at(i), wish, arena.monsters.body[i]);
    }
    ++arena.tick;
  }
  bool beside(std::size_t row) const {
    const DVec3 d = arena.monsters.body[row].position_m - arena.players.body[0].position_m;
    return length(xy(d)) < 2.2 && std::fabs(d.z) < 1.8;
  }
  /// Seconds until it is there; below 0: it is not by then.
  double comes_within(std::size_t row, double seconds) {
    for (int t = 0; t < seconds * 60; ++t) {
      step();
      if (beside(row)) return t / 60.0;
    }
    return -1;
  }

  Arena arena;
  Navigation navigation;
};

}  // namespace ashlar::testing
