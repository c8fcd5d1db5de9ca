#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/cases.h"
#include "tests/world/nav/map_hunt.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

namespace {

struct Hunts {
  int tried = 0, reached = 0, no_way = 0;
};

Hunts hunt_in(const SectorMap& source, std::size_t places, std::uint64_t seed, bool doors_open, bool tell) {
  Hunts out;
  MovingWorld world(source, 60, 1, places, doors_open);
  MapHunt hunt(world);
  std::vector<DVec3> homes;
  std::optional<DVec3> start;
  for (const PlacedThing& thing : hunt.w.map->things()) {
    if (thing.sector == no_index) continue;
    if (thing.type == 1 && !start) start = thing.position_m;
    if (!space_overlaps(hunt.w.space(), traits(MonsterKind::imp).shape, thing.position_m))
      homes.push_back(thing.position_m);
  }
  if (!start || homes.empty()) return out;
  hunt.w.add_player(*start);
  Rng rng{seed};
  for (std::size_t i = 0; i < places; ++i)
    hunt.add(MonsterKind::imp, homes[rng.below(static_cast<std::uint32_t>(homes.size()))]);
  const double speed = traits(MonsterKind::imp).speed_mps;
  std::vector<double> until_s(places, -1);
  std::vector<char> there(places, 0);
  double last_s = 2;
  for (int t = 0; t < last_s * 60; ++t) {
    hunt.step();
    for (std::size_t i = 0; i < places; ++i) {
      if (hunt.w.monsters.id[i] == EntityId{0}) continue;
      if (until_s[i] < 0 && t < 60) {
        const auto way = hunt.navigation.way(hunt.w.space(), hunt.w.players, hunt.w.monsters, i);
        if (way)
          until_s[i] = t / 60.0 + 3 * (way->distance_m + 2) / speed + 10,
          last_s = std::max(last_s, until_s[i]);
      }
      if (t <= until_s[i] * 60 && hunt.beside(i)) there[i] = 1;
    }
  }
  for (std::size_t i = 0; i < places; ++i) {
    if (until_s[i] < 0) {
      ++out.no_way;
      continue;
    }
    ++out.tried;
    out.reached += there[i];
    if (tell && there[i] == 0) {
      const DVec3 at = hunt.w.monsters.body[i].position_m, home = hunt.w.monsters.home_m[i];
      const DVec2 units = hunt.w.map->to_map(xy(at)), from = hunt.w.map->to_map(xy(home));
      std::printf("  from (%.0f, %.0f) it got to (%.0f, %.0f)\n", from.x, from.y, units.x, units.y);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("monsters with a way to a player who stands come to him in time, in Freedoom's maps",
          "[world][nav][freedoom]") {
  Hunts all;
  const bool every = cases(1) > 1;
  const int maps = each_freedoom_map(
      [&](const SectorMap& map, const std::string& name, std::uint64_t number) {
        for (const bool doors_open : {false, true}) {
          const Hunts one = hunt_in(map, 20, number, doors_open, every);
          std::printf("%-5s doors %s: %2d of %2d came, %2d had no way\n", name.c_str(),
                      doors_open ? "open" : "shut", one.reached, one.tried, one.no_way);
          all.tried += one.tried, all.reached += one.reached, all.no_way += one.no_way;
        }
      },
      every ? 1 : 9);
  if (maps == 0) return;
  std::printf("%d of %d came (%.1f %%), %d had no way\n", all.reached, all.tried,
              100.0 * all.reached / std::max(1, all.tried), all.no_way);
  // The short run has the worst maps among its eight.
  CHECK(all.reached >= (every ? 0.95 : 0.85) * all.tried);
}
