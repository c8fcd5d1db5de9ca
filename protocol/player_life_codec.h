#pragma once
#include "protocol/bytes.h"
#include "world/sim/player_life.h"

// What players have beside their inventories, as bytes for recordings and disks (little endian):
//
//   life     = score | health u16 | where that is not 0: armour u16, half u8, kinds u64, arsenal
//   score    = match varint, score svarint, kills u16, deaths u16, team u8 (128 added where a number of it as
//   a
//              builder follows), builder varint
//   arsenal  = weapons u32 | ammunition 4 u16 | powers 6 u16 | wait, windup, switch, reload, charge u16 |
//              shots of each of 24 weapons u8 | held, wanted, firing, backpack u8

namespace ashlar {

/// Behind what `out` holds already. Of the dead their life is left out.
void put_life(ByteWriter& out, const KeptScore& score, const PlayerLife& life);
/// False, and both undefined, for what put_life() does not write. Numbers are within the bounds of all
/// worlds; whether they fit this one's kinds is for it to say (player_life.h).
bool get_life(ByteReader& in, KeptScore& score, PlayerLife& life);

}  // namespace ashlar
