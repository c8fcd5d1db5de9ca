#include "world/sim/hearing.h"

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/compass.h"
#include "tests/world/sim/moving_rooms.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

std::vector<bool> heard_from(MovingWorld& w, std::uint32_t room) {
  const MapPlan& plan = *w.mechanics.maps()[0].plan;
  NoiseFlood noise(plan.sector_count());
  noise.spread(plan, w.heights[0], room);
  std::vector<bool> out;
  for (std::uint32_t s = 0; s < plan.sector_count(); ++s) out.push_back(noise.heard(s));
  return out;
}

}  // namespace

TEST_CASE("a noise goes through openings and a closed door stops it", "[world][hearing]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 0}, {0, 128}, {96, 128}, {120, 256}}, {{}, {}, {}, {}}));
  CHECK(heard_from(w, 0) == std::vector{true, false, false, false, false});
  CHECK(heard_from(w, 2) == std::vector{false, false, true, true, true});
  w.sector(1).ceiling_m = w.z(8);  // a crack
  CHECK(heard_from(w, 0) == std::vector{true, true, true, true, true});
  w.sector(3).ceiling_m = w.z(120);  // level with the next floor: shut
  CHECK(heard_from(w, 0) == std::vector{true, true, true, true, false});
}

TEST_CASE("a noise passes one line that blocks sound and stops at the second", "[world][hearing]") {
  SectorMap map = row_of_rooms({{0, 128}, {0, 128}, {0, 128}, {0, 128}}, {{}, {}, {}});
  map.lines[0].flags |= line_flag::block_sound;
  map.lines[2].flags |= line_flag::block_sound;
  MovingWorld w(map);
  CHECK(heard_from(w, 0) == std::vector{true, true, true, false});
  CHECK(heard_from(w, 1) == std::vector{true, true, true, true});
  CHECK(heard_from(w, 3) == std::vector{false, true, true, true});
}

TEST_CASE("what is heard is what a search over all ways finds, on real maps", "[world][hearing]") {
  std::size_t heard = 0, silent = 0;
  const auto listen = [&](const SectorMap& map, const std::string&, std::uint64_t number) {
    MovingWorld w(map, 60, 1, 1);
    const MapPlan& plan = *w.mechanics.maps()[0].plan;
    const SectorMap& source = w.map->source();
    Rng rng = rng_for(9, number);
    for (int round = 0; round < 4; ++round) {
      const std::uint32_t from = rng.below(plan.sector_count());
      const std::vector<bool> got = heard_from(w, from);
      // Fewest blocking lines to each sector, by passing over all lines until nothing changes.
      std::vector<int> blocks(plan.sector_count(), 99);
      blocks[from] = 0;
      for (bool changed = true; changed;) {
        changed = false;
        for (const MapLine& l : source.lines) {
          const std::uint32_t a = source.front_sector(l), b = source.back_sector(l);
          if (a == no_index || b == no_index || a == b) continue;
          const auto top = [&](std::uint32_t s) {
            return source.sectors[s].sky() ? w.map->roof_m() : w.sector(s).ceiling_m;
          };
          if (std::min(top(a), top(b)) <= std::max(w.sector(a).floor_m, w.sector(b).floor_m)) continue;
          const int cost = (l.flags & line_flag::block_sound) != 0 ? 1 : 0;
          for (const auto& [s, t] : {std::pair{a, b}, std::pair{b, a}})
            if (blocks[s] + cost < blocks[t]) blocks[t] = blocks[s] + cost, changed = true;
        }
      }
      for (std::uint32_t s = 0; s < plan.sector_count(); ++s) {
        CAPTURE(from, s);
        REQUIRE(got[s] == (blocks[s] <= 1));
        (got[s] ? heard : silent) += 1;
      }
    }
  };
  if (each_freedoom_map(listen, 17) == 0) return;
  CHECK(heard > 0);
  CHECK(silent > 0);
}

TEST_CASE("a shot wakes the monsters that hear it, and they come", "[world][hearing]") {
  const SectorMap map = row_of_rooms({{0, 128}, {0, 0, 5}, {0, 128}}, {{}, {}});
  MovingWorld w(map);
  const std::size_t p = w.add_player(w.at(40, 128, 0), west);
  const std::size_t near = w.add_monster(MonsterKind::imp, w.at(90, 200, 0), west);
  const std::size_t far = w.add_monster(MonsterKind::imp, w.at(300, 128, 0), west);
  const std::size_t deaf = w.add_monster(MonsterKind::imp, w.at(90, 50, 0), west);
  w.monsters.deaf[deaf] = 1;
  w.press(p, button::attack);
  CHECK(w.mechanics.counters().noises == 1);
  CHECK(w.monsters.mood[near] == MonsterMood::chase);
  CHECK(w.monsters.target[near] == w.players.id[p]);
  CHECK(w.monsters.forget_ticks[near] > 0);
  CHECK(w.monsters.mood[far] == MonsterMood::wander);
  CHECK(w.monsters.mood[deaf] == MonsterMood::wander);
  w.sector(1).ceiling_m = w.z(128);
  w.run(w.rules.shot_interval_s);
  w.press(p, button::attack);
  CHECK(w.monsters.mood[far] == MonsterMood::chase);
  CHECK(w.monsters.goal_m[far] == w.players.body[p].position_m);
  // A held trigger makes a noise for each shot.
  w.run(w.rules.shot_interval_s);
  w.players.command[p].buttons = button::attack;
  w.run(2.5 * w.rules.shot_interval_s);
  CHECK(w.mechanics.counters().noises == 5);
}

TEST_CASE("a shot on the surface is heard around it on the surface alone", "[world][hearing]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 128}}, {{}}));
  const DVec3 above = w.at(60, 128, 0) + DVec3{0, 0, w.map->roof_m() - w.z(0)};
  const std::size_t p = w.add_player(above, west);
  const std::size_t below = w.add_monster(MonsterKind::imp, w.at(60, 128, 0), west);
  const std::size_t beside = w.add_monster(MonsterKind::imp, above + DVec3{2, 0, 0}, west);
  const std::size_t beyond =
      w.add_monster(MonsterKind::floater, above + DVec3{0, Mechanics::noise_reach_m + 5, 0}, west);
  w.press(p, button::attack);
  CHECK(w.monsters.mood[below] == MonsterMood::wander);
  CHECK(w.monsters.mood[beside] == MonsterMood::chase);
  CHECK(w.monsters.mood[beyond] == MonsterMood::wander);
}

TEST_CASE("more shots than one tick may spread are drowned and counted", "[world][hearing]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 128}}, {{}}), 60, 32);
  for (int i = 0; i < 32; ++i) w.add_player(w.at(20 + 28 * (i % 8), 30 + 40 * (i / 8), 0), west);
  for (std::size_t i = 0; i < 32; ++i) w.players.command[i].buttons = button::attack;
  w.step();
  CHECK(w.mechanics.counters().noises == Mechanics::noises_max);
  CHECK(w.mechanics.counters().drowned == 32 - Mechanics::noises_max);
}
