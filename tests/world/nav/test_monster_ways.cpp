#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/cases.h"
#include "tests/world/nav/map_hunt.h"
#include "tests/world/nav/monster_reach.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

namespace {

struct Hunts {
  int tried = 0, reached = 0;
  int no_way = 0;  ///< of tried: navigation never found one
  void add(const Hunts& o) { tried += o.tried, reached += o.reached, no_way += o.no_way; }
};

/// Monsters at seeded places of a map's things after a player at its start. Who can come says the reach flood
/// (monster_reach.h), not what they find their ways by; each has three times the time of its way and 10 s.
struct SeededHunt {
  SeededHunt(const SectorMap& from, MonsterKind what, std::size_t places, std::uint64_t seed, bool doors_open)
      : source(from),
        kind(what),
        open(doors_open),
        world(source, 60, 1, places, open),
        hunt(world),
        rng{seed} {
    for (const PlacedThing& thing : world.map->things()) {
      if (thing.sector == no_index) continue;
      if (thing.type == 1 && !start) start = thing.position_m;
      if (!space_overlaps(world.space(), traits(kind).shape, thing.position_m))
        homes.push_back(thing.position_m);
    }
  }

  Hunts run(std::size_t places, bool tell) {
    if (!start || homes.empty()) return {};
    world.add_player(*start);
    MonsterReach reach(*world.mechanics.maps()[0].plan, traits(kind).shape, traits(kind).step_height_m_max);
    double last_s = 0;
    for (std::size_t i = 0; i < places; ++i) {
      const DVec3 home = homes[rng.below(static_cast<std::uint32_t>(homes.size()))];
      hunt.add(kind, home);
      ways_m.push_back(reach.way_m(home, *start));
      until_s.push_back(ways_m[i] < 0 ? -1 : 3 * ways_m[i] / traits(kind).speed_mps + 10);
      last_s = std::max(last_s, until_s[i]);
      on_way.push_back(reach.last_way());
    }
    there.assign(places, 0), found.assign(places, 0);
    for (int t = 0; t < last_s * 60; ++t) {
      hunt.step();
      bool all = true;
      for (std::size_t i = 0; i < places; ++i) {
        if (world.monsters.id[i] == EntityId{0} || there[i] != 0 || t > until_s[i] * 60) continue;
        all = false;
        there[i] = hunt.beside(i) ? 1 : 0;
        if (found[i] == 0 && t % 16 == 0)
          found[i] = hunt.navigation.route(world.space(), world.players, world.monsters, i).way ? 1 : 0;
      }
      if (all) break;
    }
    for (std::size_t i = 0; i < places; ++i)
      if (until_s[i] >= 0 && there[i] == 0) there[i] = comes_alone(i) ? 1 : 0;
    return count(tell);
  }

  /// Where all hunt at once, one may use up what another needs, and stand in its way.
  bool comes_alone(std::size_t i) const {
    SeededHunt alone(source, kind, 1, 0, open);
    alone.world.add_player(*start);
    const std::size_t row = alone.hunt.add(kind, world.monsters.home_m[i]);
    return alone.hunt.comes_within(row, until_s[i]) >= 0;
  }

  /// Where on a way that there is, from its end on, navigation knows of none any more. Map units.
  DVec2 breaks_off(std::size_t i) {
    DVec2 last = on_way[i].front();
    // It has given up long since.
    monster_takes_up(world.rules, world.monsters, i, world.players.id[0], *start);
    for (int t = 0; t < 20; ++t) hunt.step();
    for (const DVec2 p : on_way[i]) {
      Body& body = world.monsters.body[i];
      body.position_m.x = p.x, body.position_m.y = p.y;
      if (!hunt.navigation.route(world.space(), world.players, world.monsters, i).way) break;
      last = p;
    }
    return world.map->to_map(last);
  }

  Hunts count(bool tell) {
    Hunts out;
    for (std::size_t i = 0; i < until_s.size(); ++i) {
      if (until_s[i] < 0) continue;
      ++out.tried;
      out.reached += there[i];
      out.no_way += there[i] == 0 && found[i] == 0 ? 1 : 0;
      if (!tell || there[i] != 0) continue;
      const DVec2 at = world.map->to_map(xy(world.monsters.body[i].position_m));
      const DVec2 from = world.map->to_map(xy(world.monsters.home_m[i]));
      std::printf("  from (%.0f, %.0f), a way of %.0f m, it got to (%.0f, %.0f)", from.x, from.y, ways_m[i],
                  at.x, at.y);
      const DVec2 off = found[i] == 0 ? breaks_off(i) : at;
      if (found[i] == 0) std::printf(", no way found before (%.0f, %.0f)", off.x, off.y);
      std::printf("\n");
    }
    return out;
  }

  const SectorMap& source;
  MonsterKind kind;
  bool open;
  MovingWorld world;
  MapHunt hunt;
  Rng rng;
  std::optional<DVec3> start;
  std::vector<DVec3> homes;
  std::vector<double> ways_m, until_s;
  std::vector<std::vector<DVec2>> on_way;
  std::vector<char> there, found;
};

}  // namespace

TEST_CASE("monsters come in time to a player who stands, wherever they can, in Freedoom's maps",
          "[world][nav][freedoom][statistics]") {
  const MonsterKind kind = GENERATE(MonsterKind::imp, MonsterKind::brute);
  Hunts all;
  const bool every = cases(1) > 1;
  const int maps = each_freedoom_map(
      [&](const SectorMap& map, const std::string& name, std::uint64_t number) {
        for (const bool doors_open : {false, true}) {
          SeededHunt hunt(map, kind, 20, number, doors_open);
          const Hunts one = hunt.run(20, every);
          std::printf("%s in %-5s doors %s: %2d of %2d came, for %2d no way was found\n",
                      traits(kind).name.c_str(), name.c_str(), doors_open ? "open" : "shut", one.reached,
                      one.tried, one.no_way);
          all.add(one);
        }
      },
      every ? 1 : 9);
  if (maps == 0) return;
  std::printf("%s: %d of %d came (%.1f %%), for %d no way was found\n", traits(kind).name.c_str(),
              all.reached, all.tried, 100.0 * all.reached / std::max(1, all.tried), all.no_way);
  // The short run has the worst maps among its eight.
  CHECK(all.reached >= (every ? 0.95 : 0.85) * all.tried);
}
