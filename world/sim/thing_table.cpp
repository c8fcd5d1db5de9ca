#include "world/sim/thing_table.h"

#include <algorithm>

namespace ashlar {
namespace {

constexpr ThingType start(std::uint16_t number, std::int16_t player, std::string_view name) {
  return {number, ThingRole::player_start, name, {}, PickupKind::none, player};
}
constexpr ThingType monster(std::uint16_t number, MonsterKind kind, std::string_view name) {
  return {number, ThingRole::monster, name, kind, PickupKind::none, 0};
}
constexpr ThingType pickup(std::uint16_t number, PickupKind kind, std::int16_t value, std::string_view name) {
  return {number, ThingRole::pickup, name, {}, kind, value};
}
constexpr ThingType decoration(std::uint16_t number, std::string_view name) {
  return {number, ThingRole::decoration, name, {}, PickupKind::none, 0};
}

/// Editor numbers of Doom and Doom II (mobj info of the published Doom source), sorted.
constexpr ThingType thing_rows[] = {
    start(1, 1, "player 1 start"),
    start(2, 2, "player 2 start"),
    start(3, 3, "player 3 start"),
    start(4, 4, "player 4 start"),
    pickup(5, PickupKind::key, 2, "blue card"),
    pickup(6, PickupKind::key, 3, "yellow card"),
    monster(7, MonsterKind::mastermind, "mastermind"),
    pickup(8, PickupKind::backpack, 1, "backpack"),
    monster(9, MonsterKind::shotgunner, "shotgunner"),
    decoration(10, "remains"),
    {11, ThingRole::deathmatch_start, "deathmatch start", {}, PickupKind::none, 0},
    decoration(12, "remains"),
    pickup(13, PickupKind::key, 1, "red card"),
    {14, ThingRole::teleport_target, "teleport target", {}, PickupKind::none, 0},
    decoration(15, "dead player"),
    monster(16, MonsterKind::colossus, "colossus"),
    pickup(17, PickupKind::cells, 100, "cell pack"),
    decoration(18, "dead rifleman"),
    decoration(19, "dead shotgunner"),
    decoration(20, "dead imp"),
    decoration(21, "dead brute"),
    decoration(22, "dead floater"),
    decoration(23, "dead wisp"),
    decoration(24, "remains"),
    decoration(25, "impaled body"),
    decoration(26, "twitching body"),
    decoration(27, "skull on a pole"),
    decoration(28, "skulls on a pole"),
    decoration(29, "skulls and candles"),
    decoration(30, "tall column"),
    decoration(31, "short column"),
    decoration(32, "tall red column"),
    decoration(33, "short red column"),
    decoration(34, "candle"),
    decoration(35, "candelabra"),
    decoration(36, "column with heart"),
    decoration(37, "column with skull"),
    pickup(38, PickupKind::key, 4, "red skull"),
    pickup(39, PickupKind::key, 6, "yellow skull"),
    pickup(40, PickupKind::key, 5, "blue skull"),
    decoration(41, "eye"),
    decoration(42, "floating rock"),
    decoration(43, "grey tree"),
    decoration(44, "tall blue torch"),
    decoration(45, "tall green torch"),
    decoration(46, "tall red torch"),
    decoration(47, "stalagmite"),
    decoration(48, "tall pillar"),
    decoration(49, "hanging body"),
    decoration(50, "hanging body"),
    decoration(51, "hanging body"),
    decoration(52, "hanging body"),
    decoration(53, "hanging body"),
    decoration(54, "brown tree"),
    decoration(55, "short blue torch"),
    decoration(56, "short green torch"),
    decoration(57, "short red torch"),
    monster(58, MonsterKind::shade, "shade"),
    decoration(59, "hanging body"),
    decoration(60, "hanging body"),
    decoration(61, "hanging body"),
    decoration(62, "hanging body"),
    decoration(63, "hanging body"),
    monster(64, MonsterKind::healer, "healer"),
    monster(65, MonsterKind::gunner, "gunner"),
    monster(66, MonsterKind::skeleton, "skeleton"),
    monster(67, MonsterKind::fatso, "fatso"),
    monster(68, MonsterKind::crawler, "crawler"),
    monster(69, MonsterKind::knight, "knight"),
    decoration(70, "burning barrel"),
    monster(71, MonsterKind::hive, "hive"),
    decoration(72, "hanging doll"),
    decoration(73, "hanging body"),
    decoration(74, "hanging body"),
    decoration(75, "hanging body"),
    decoration(76, "hanging body"),
    decoration(77, "hanging body"),
    decoration(78, "hanging body"),
    decoration(79, "pool of blood"),
    decoration(80, "pool of blood"),
    decoration(81, "pool of brains"),
    pickup(82, PickupKind::weapon, 9, "double shotgun"),
    pickup(83, PickupKind::health_bonus, 200, "megasphere"),
    monster(84, MonsterKind::guard, "guard"),
    decoration(85, "tall lamp"),
    decoration(86, "short lamp"),
    decoration(87, "spawn target"),
    decoration(88, "boss brain"),
    decoration(89, "monster spawner"),
    pickup(2001, PickupKind::weapon, 3, "shotgun"),
    pickup(2002, PickupKind::weapon, 4, "chaingun"),
    pickup(2003, PickupKind::weapon, 5, "rocket launcher"),
    pickup(2004, PickupKind::weapon, 6, "plasma rifle"),
    pickup(2005, PickupKind::weapon, 8, "saw"),
    pickup(2006, PickupKind::weapon, 7, "big gun"),
    pickup(2007, PickupKind::bullets, 10, "clip"),
    pickup(2008, PickupKind::shells, 4, "shells"),
    pickup(2010, PickupKind::rockets, 1, "rocket"),
    pickup(2011, PickupKind::health, 10, "stimpack"),
    pickup(2012, PickupKind::health, 25, "medikit"),
    pickup(2013, PickupKind::health_bonus, 100, "soulsphere"),
    pickup(2014, PickupKind::health_bonus, 1, "health bonus"),
    pickup(2015, PickupKind::armour_bonus, 1, "armour bonus"),
    pickup(2018, PickupKind::armour, 100, "green armour"),
    pickup(2019, PickupKind::armour, 200, "blue armour"),
    pickup(2022, PickupKind::power, 1, "invulnerability"),
    pickup(2023, PickupKind::power, 2, "strength"),
    pickup(2024, PickupKind::power, 3, "invisibility"),
    pickup(2025, PickupKind::power, 4, "radiation suit"),
    pickup(2026, PickupKind::power, 5, "computer map"),
    decoration(2028, "floor lamp"),
    decoration(2035, "barrel"),
    pickup(2045, PickupKind::power, 6, "light visor"),
    pickup(2046, PickupKind::rockets, 5, "rocket box"),
    pickup(2047, PickupKind::cells, 20, "cell"),
    pickup(2048, PickupKind::bullets, 50, "bullet box"),
    pickup(2049, PickupKind::shells, 20, "shell box"),
    monster(3001, MonsterKind::imp, "imp"),
    monster(3002, MonsterKind::brute, "brute"),
    monster(3003, MonsterKind::baron, "baron"),
    monster(3004, MonsterKind::rifleman, "rifleman"),
    monster(3005, MonsterKind::floater, "floater"),
    monster(3006, MonsterKind::wisp, "wisp"),
    decoration(32000, "editor camera"),
};

static_assert(std::is_sorted(std::begin(thing_rows), std::end(thing_rows),
                             [](const ThingType& a, const ThingType& b) { return a.number < b.number; }));

}  // namespace

const ThingType* find_thing_type(std::uint16_t number) {
  const auto* it = std::lower_bound(std::begin(thing_rows), std::end(thing_rows), number,
                                    [](const ThingType& row, std::uint16_t n) { return row.number < n; });
  return it != std::end(thing_rows) && it->number == number ? it : nullptr;
}

std::span<const ThingType> thing_types() { return thing_rows; }

}  // namespace ashlar
