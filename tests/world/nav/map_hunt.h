#pragma once
#include <cmath>
#include <cstddef>

#include "tests/world/sim/moving_rooms.h"
#include "world/sim/monster_rows.h"
#include "world/sim/monster_think.h"
#include "world/sim/navigation.h"
#include "world/sim/player_grid.h"

namespace ashlar::testing {

/// Monsters that hunt a player who stands, through a map that moves, each for itself: they do not meet each
/// other.
struct MapHunt {
  explicit MapHunt(MovingWorld& world) : w(world), near(world.players.rows()) {
    const MapPlan* plan = w.mechanics.maps()[0].plan.get();
    navigation = Navigation(std::span(&plan, 1), w.monsters.rows());
    w.rules.monsters_fight = Switch::off;
  }
  std::size_t add(MonsterKind kind, DVec3 at) {
    const std::size_t row =
        enter_monster(w.monsters, {kind, {at, Turn16{0}}}, 5, static_cast<std::uint32_t>(w.players.rows()));
    monster_takes_up(w.rules, w.monsters, row, w.players.id[0], w.players.body[0].position_m);
    return row;
  }
  void step() {
    MechanicsTick t{w.space(), w.heights, w.rules, w.players, w.monsters, TickId{w.tick}};
    w.mechanics.move(t);
    w.mechanics.act(t);
    near.fill(w.players);
    navigation.advance(w.space(), w.players, w.monsters, w.tick, w.mechanics.maps());
    for (std::size_t i = 0; i < w.monsters.rows(); ++i) {
      if (w.monsters.id[i] == EntityId{0}) continue;
      const MonsterWish wish =
          monster_think(w.space(), w.rules, w.players, near, w.monsters, i, TickId{w.tick}, &navigation);
      monster_move(w.space(), w.rules, w.monsters.traits_at(i), wish, w.monsters.body[i],
                   w.mechanics.floor_velocity(w.heights, w.monsters.body[i]));
    }
    w.mechanics.walk(t);
    ++w.tick;
  }
  bool beside(std::size_t row) const {
    const DVec3 d = w.monsters.body[row].position_m - w.players.body[0].position_m;
    return length(xy(d)) < 1.9 && std::fabs(d.z) < 1.8;
  }
  /// Seconds until it is beside the player; below 0: it is not by then.
  double comes_within(std::size_t row, double seconds) {
    for (int t = 0; t < seconds * 60; ++t) {
      step();
      if (beside(row)) return t / 60.0;
    }
    return -1;
  }

  MovingWorld& w;
  PlayerGrid near;
  Navigation navigation;
};

}  // namespace ashlar::testing
