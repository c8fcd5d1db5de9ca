#include "world/sim/kinds.h"

#include "world/bsp/sector_map.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr Cylinder doom(double radius, double height) { return {radius * map_unit_m, height * map_unit_m}; }
/// `distance` units every `tics` of 1/35 s.
constexpr double pace(double distance, double tics) { return distance * map_unit_m * 35 / tics; }
constexpr double doom_step_m = 24 * map_unit_m;
constexpr double block_step_m = 1.0;
using enum HitBuild;

constexpr std::array<MonsterTraits, monster_kind_count> monster_table{{
    {"rifleman", doom(20, 56), pace(8, 4), doom_step_m, 32, 0, 1, upright, 20},
    {"shotgunner", doom(20, 56), pace(8, 3), doom_step_m, 32, 0, 1, upright, 30},
    {"gunner", doom(20, 56), pace(8, 3), doom_step_m, 32, 0, 1, upright, 70},
    {"imp", doom(20, 56), pace(8, 3), doom_step_m, 32, 0, 1, upright, 60},
    {"brute", doom(30, 56), pace(10, 2), doom_step_m, 24, 0, 1, upright, 150},
    {"shade", doom(30, 56), pace(10, 2), doom_step_m, 24, 0, 0, upright, 150},
    {"wisp", doom(16, 56), pace(8, 2), doom_step_m, 32, 1, 0, round, 100},
    {"floater", doom(31, 56), pace(8, 3), doom_step_m, 32, 1, 1, round, 400},
    {"knight", doom(24, 64), pace(8, 3), doom_step_m, 32, 0, 1, upright, 500},
    {"baron", doom(24, 64), pace(8, 3), doom_step_m, 32, 0, 1, upright, 1000},
    {"crawler", doom(64, 64), pace(12, 3), block_step_m, 40, 0, 1, legged, 500},
    {"hive", doom(31, 56), pace(8, 3), doom_step_m, 32, 1, 1, round, 400},
    {"skeleton", doom(20, 56), pace(10, 2), doom_step_m, 32, 0, 1, upright, 300},
    {"fatso", doom(48, 64), pace(8, 4), doom_step_m, 32, 0, 1, upright, 600},
    {"healer", doom(20, 56), pace(15, 2), doom_step_m, 40, 0, 1, upright, 700},
    {"mastermind", doom(128, 100), pace(12, 3), block_step_m, 48, 0, 1, legged, 3000},
    {"colossus", doom(40, 110), pace(16, 3), block_step_m, 48, 0, 1, upright, 4000},
    {"guard", doom(20, 56), pace(8, 3), doom_step_m, 32, 0, 1, upright, 50},
}};

}  // namespace

const MonsterTraits& traits(MonsterKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  ASHLAR_ASSERT(index < monster_table.size());
  return monster_table[index];
}

}  // namespace ashlar
