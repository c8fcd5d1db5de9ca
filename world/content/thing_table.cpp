#include "world/content/thing_table.h"

#include <algorithm>
#include <array>

namespace ashlar {
namespace {

constexpr std::array<ThingInfo, 60> table{{
    {1, ThingRole::player_start, "player_1_start", MonsterKind{}, 1},
    {2, ThingRole::player_start, "player_2_start", MonsterKind{}, 2},
    {3, ThingRole::player_start, "player_3_start", MonsterKind{}, 3},
    {4, ThingRole::player_start, "player_4_start", MonsterKind{}, 4},
    {5, ThingRole::key, "blue_card", MonsterKind{}, 0},
    {6, ThingRole::key, "yellow_card", MonsterKind{}, 1},
    {7, ThingRole::monster, "mastermind", MonsterKind::mastermind, 0},
    {8, ThingRole::ammo, "backpack", MonsterKind{}, 1},
    {9, ThingRole::monster, "shotgunner", MonsterKind::shotgunner, 0},
    {11, ThingRole::deathmatch_start, "deathmatch_start", MonsterKind{}, 0},
    {13, ThingRole::key, "red_card", MonsterKind{}, 2},
    {14, ThingRole::teleport_target, "teleport_target", MonsterKind{}, 0},
    {16, ThingRole::monster, "colossus", MonsterKind::colossus, 0},
    {17, ThingRole::ammo, "cell_pack", MonsterKind{}, 100},
    {38, ThingRole::key, "red_skull", MonsterKind{}, 2},
    {39, ThingRole::key, "yellow_skull", MonsterKind{}, 1},
    {40, ThingRole::key, "blue_skull", MonsterKind{}, 0},
    {58, ThingRole::monster, "shade", MonsterKind::shade, 0},
    {64, ThingRole::monster, "healer", MonsterKind::healer, 0},
    {65, ThingRole::monster, "gunner", MonsterKind::gunner, 0},
    {66, ThingRole::monster, "skeleton", MonsterKind::skeleton, 0},
    {67, ThingRole::monster, "fatso", MonsterKind::fatso, 0},
    {68, ThingRole::monster, "crawler", MonsterKind::crawler, 0},
    {69, ThingRole::monster, "knight", MonsterKind::knight, 0},
    {71, ThingRole::monster, "hive", MonsterKind::hive, 0},
    {82, ThingRole::weapon, "double_shotgun", MonsterKind{}, 0},
    {83, ThingRole::health, "mega_sphere", MonsterKind{}, 200},
    {84, ThingRole::monster, "guard", MonsterKind::guard, 0},
    {2001, ThingRole::weapon, "shotgun", MonsterKind{}, 0},
    {2002, ThingRole::weapon, "chaingun", MonsterKind{}, 0},
    {2003, ThingRole::weapon, "rocket_launcher", MonsterKind{}, 0},
    {2004, ThingRole::weapon, "plasma_rifle", MonsterKind{}, 0},
    {2005, ThingRole::weapon, "saw", MonsterKind{}, 0},
    {2006, ThingRole::weapon, "big_gun", MonsterKind{}, 0},
    {2007, ThingRole::ammo, "clip", MonsterKind{}, 10},
    {2008, ThingRole::ammo, "shells", MonsterKind{}, 4},
    {2010, ThingRole::ammo, "rocket", MonsterKind{}, 1},
    {2011, ThingRole::health, "stimulant", MonsterKind{}, 10},
    {2012, ThingRole::health, "medical_kit", MonsterKind{}, 25},
    {2013, ThingRole::health, "soul_sphere", MonsterKind{}, 100},
    {2014, ThingRole::health, "health_bonus", MonsterKind{}, 1},
    {2015, ThingRole::armour, "armour_bonus", MonsterKind{}, 1},
    {2018, ThingRole::armour, "green_armour", MonsterKind{}, 100},
    {2019, ThingRole::armour, "blue_armour", MonsterKind{}, 200},
    {2022, ThingRole::powerup, "invulnerability", MonsterKind{}, 0},
    {2023, ThingRole::powerup, "strength", MonsterKind{}, 0},
    {2024, ThingRole::powerup, "part_invisibility", MonsterKind{}, 0},
    {2025, ThingRole::powerup, "protection_suit", MonsterKind{}, 0},
    {2026, ThingRole::powerup, "area_map", MonsterKind{}, 0},
    {2045, ThingRole::powerup, "light_goggles", MonsterKind{}, 0},
    {2046, ThingRole::ammo, "rocket_box", MonsterKind{}, 5},
    {2047, ThingRole::ammo, "cell", MonsterKind{}, 20},
    {2048, ThingRole::ammo, "bullet_box", MonsterKind{}, 50},
    {2049, ThingRole::ammo, "shell_box", MonsterKind{}, 20},
    {3001, ThingRole::monster, "imp", MonsterKind::imp, 0},
    {3002, ThingRole::monster, "brute", MonsterKind::brute, 0},
    {3003, ThingRole::monster, "baron", MonsterKind::baron, 0},
    {3004, ThingRole::monster, "rifleman", MonsterKind::rifleman, 0},
    {3005, ThingRole::monster, "floater", MonsterKind::floater, 0},
    {3006, ThingRole::monster, "wisp", MonsterKind::wisp, 0},
}};
static_assert(std::ranges::is_sorted(table, {}, &ThingInfo::type));

}  // namespace

const ThingInfo* thing_info(std::uint16_t type) {
  const auto it = std::ranges::lower_bound(table, type, {}, &ThingInfo::type);
  return it != table.end() && it->type == type ? &*it : nullptr;
}

std::span<const ThingInfo> thing_table() { return table; }

}  // namespace ashlar
