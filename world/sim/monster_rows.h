#pragma once
#include <cstdint>

#include "world/sim/tables.h"
#include "world/sim/world.h"

namespace ashlar {

struct MonsterWish;

/// Puts a monster into the first row that is free and that nobody is to come back to. Its id has the slot
/// first_slot + row.
/// @return the row; rows(): none was free
std::size_t enter_monster(MonsterTable& monsters, const MonsterSpawn& spawn, std::uint64_t seed,
                          std::uint32_t first_slot);

/// The same in a given row, which must be free.
void enter_monster_at(MonsterTable& monsters, std::size_t row, const MonsterSpawn& spawn, std::uint64_t seed,
                      std::uint32_t first_slot);

/// Its life is over. By the rule it comes back into its row, which until then is nobody else's.
void end_monster(MonsterTable& monsters, std::size_t row, const Rules& rules);

/// It is gone, and comes back no more.
void remove_monster_at(MonsterTable& monsters, std::size_t row);

/// Something puts it there, at rest: what it was at is broken off, and it looks and asks for its way anew.
void put_monster(MonsterTable& monsters, std::size_t row, const SpawnPoint& to);

/// Does it stand still with nothing to do: asleep or far from everybody, on its feet, not in anybody's way?
bool monster_rests(const MonsterTable& monsters, std::size_t row);

/// Is it on its feet and still, and wants to be? What carries it away gives it a speed or lifts it itself.
bool monster_stands(const MonsterTable& monsters, std::size_t row, const MonsterWish& wish);

/// Of all rows that live, and of what decides those to come. Cost: about 25 ns a monster.
std::uint64_t hash_of(const MonsterTable& monsters);

}  // namespace ashlar
