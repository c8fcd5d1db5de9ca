// Many at once through what only one of them fits through.

#include <algorithm>
#include <cstdio>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/nav/map_hunt.h"
#include "world/sim/crowd.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Two halls with a gate of two metres between them, open or with a door. Map units.
SectorMap two_halls(bool door) {
  MapWriter m;
  m.map.name = "HALLS";
  const auto west = m.sector(0, 128), east = m.sector(0, 128), gate = m.sector(0, door ? 0 : 128);
  m.line({0, 0}, {0, 512}, west), m.line({0, 512}, {512, 512}, west), m.line({512, 512}, {512, 288}, west);
  MapLine& in = m.line({512, 288}, {512, 224}, west, gate);
  in.special = door ? 1 : 0;
  m.line({512, 224}, {512, 0}, west), m.line({512, 0}, {0, 0}, west);
  m.line({512, 288}, {528, 288}, gate), m.line({528, 224}, {512, 224}, gate);
  MapLine& out = m.line({528, 224}, {528, 288}, east, gate);
  out.special = door ? 1 : 0;
  m.line({528, 0}, {528, 224}, east), m.line({528, 288}, {528, 768}, east);
  m.line({528, 768}, {1296, 768}, east), m.line({1296, 768}, {1296, 0}, east);
  m.line({1296, 0}, {528, 0}, east);
  return m.map;
}

}  // namespace

TEST_CASE("a crowd of fifty comes through a gate, and nobody is stuck for good", "[world][nav][crowd]") {
  const bool door = GENERATE(false, true);
  CAPTURE(door);
  constexpr std::size_t count = 50;
  MovingWorld w(two_halls(door), 60, 1, count);
  MapHunt hunt(w);
  w.add_player(w.at(1200, 384, 0));
  for (std::size_t i = 0; i < count; ++i)
    hunt.add(MonsterKind::imp,
             w.at(40 + 48.0 * static_cast<double>(i % 10), 80 + 64.0 * static_cast<double>(i / 10), 0));
  Crowd crowd;
  crowd.reserve(count);
  const double behind_m = w.at(560, 0, 0).x;
  const auto through = [&] {
    std::size_t n = 0;
    for (std::size_t i = 0; i < count; ++i) n += w.monsters.body[i].position_m.x > behind_m ? 1 : 0;
    return n;
  };
  // One after the other they take 22 s at the gate, and 8 s to the first one's coming there.
  int t = 0;
  for (; t < 90 * 60 && through() < count; ++t) {
    hunt.step();
    crowd.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const MonsterTraits& kind = w.monsters.traits_at(i);
      crowd.add(kind.shape, wall_shape(w.rules, kind), w.monsters.body[i], w.monsters.id[i]);
    }
    crowd.push_apart(w.space(), w.rules);
  }
  std::printf("through a gate%s came %zu in %.1f s\n", door ? " with a door" : "", through(), t / 60.0);
  CHECK(through() == count);
}
