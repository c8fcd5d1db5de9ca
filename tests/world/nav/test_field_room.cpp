// A hundred players, each hunted by somebody of his own.

#include "tests/catch.h"
#include "tests/world/nav/map_hunt.h"
#include "tests/world/sim/arena.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr std::size_t hunted = 100;

/// Ten by ten of them, so far from each other. Map units.
DVec3 in_square(const MovingWorld& w, std::size_t i, DVec2 first, DVec2 apart) {
  return w.at(first.x + apart.x * static_cast<double>(i % 10),
              first.y + apart.y * static_cast<double>(i / 10), 0);
}

}  // namespace

TEST_CASE("who hunts each of a hundred players in a map has a way to him within three seconds",
          "[world][nav]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 128}, {16, 128}, {0, 128}}, {{}, {}, {}}), 60, hunted, hunted);
  MapHunt hunt(w);
  for (std::size_t i = 0; i < hunted; ++i) w.add_player(in_square(w, i, {20, 20}, {9, 20}));
  for (std::size_t i = 0; i < hunted; ++i) {
    const std::size_t row = hunt.add(MonsterKind::imp, in_square(w, i, {410, 30}, {7, 18}));
    monster_takes_up(w.rules, w.monsters, row, w.players.id[i], w.players.body[i].position_m);
  }
  for (int t = 0; t < 180; ++t)
    hunt.navigation.advance(w.space(), w.players, w.monsters, w.tick++, w.mechanics.maps());
  std::size_t ways = 0;
  for (std::size_t i = 0; i < hunted; ++i)
    ways += hunt.navigation.route(w.space(), w.players, w.monsters, i).way ? 1 : 0;
  CHECK(ways == hunted);
}

TEST_CASE("who hunts each of a hundred players over blocks has a way to him within eight seconds",
          "[world][nav]") {
  // A wall across the world, with a gap at one end of it.
  Arena arena(hunted, hunted, [](IVec3 b) { return b.z < 0 || (b.x == 0 && b.y < 20 && b.z < 8); });
  Navigation navigation(std::span<const MapPlan* const>{}, hunted);
  for (std::size_t i = 0; i < hunted; ++i) {
    const double y = static_cast<double>(i) / 5 - 10;
    arena.add_player({8, y, 0});
    const std::size_t row = arena.add_monster(MonsterKind::imp, {-8, y, 0});
    monster_takes_up(arena.rules, arena.monsters, row, arena.players.id[i], {8, y, 0});
  }
  for (; arena.tick < 8 * 60; ++arena.tick)
    navigation.advance(arena.space(), arena.players, arena.monsters, arena.tick, {});
  std::size_t ways = 0;
  for (std::size_t i = 0; i < hunted; ++i)
    ways += navigation.route(arena.space(), arena.players, arena.monsters, i).way ? 1 : 0;
  CHECK(ways == hunted);
}
