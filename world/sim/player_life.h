#pragma once
#include <cstdint>

#include "world/sim/arsenal.h"

namespace ashlar {

struct KindSet;
struct Match;
struct MatchPlayer;
struct PlayerTable;

/// What a player has beside its inventory, as it outlives its stay.
struct PlayerLife {
  std::uint16_t health = 0;  ///< points; 0: it is dead, and the rest means nothing
  std::uint16_t armour = 0;
  std::uint8_t armour_half = 0;  ///< 0 or 1, as PlayerTable has it
  Arsenal arsenal = {};
  std::uint64_t kinds_of = 0;  ///< hash_of_kinds(): with other kinds an arsenal means other weapons
  friend bool operator==(const PlayerLife&, const PlayerLife&) = default;
};

/// What a player has in a match, likewise.
struct KeptScore {
  std::uint32_t match = 0;  ///< Match::number; 0: in none
  std::int32_t score = 0;
  std::uint16_t kills = 0, deaths = 0;
  std::uint8_t team = 0;
  std::uint32_t builder = 0;  ///< MatchPlayer::builder
  friend bool operator==(const KeptScore&, const KeptScore&) = default;
};

/// Of a set of kinds: which weapons and projectiles its numbers mean.
std::uint64_t hash_of_kinds(const KindSet& kinds);

/// Takes out. Precondition: somebody is in the row.
PlayerLife keep_life(const PlayerTable& players, std::size_t row, std::uint64_t kinds_of);
/// Who watches has the score with which it left the match.
KeptScore keep_score(const Match& match, std::size_t row);
KeptScore kept(const MatchPlayer& player, const Match& match);

/// Puts back, behind the start of a new life: what cannot be of this world stays as that has it.
/// @param kinds_of  hash_of_kinds(kinds)
void restore_life(const PlayerLife& kept, const KindSet& kinds, std::uint64_t kinds_of, PlayerTable& players,
                  std::size_t row);
/// In the same match only; a team where the game has teams.
void restore_score(const KeptScore& kept, const Match& match, MatchPlayer& player);

}  // namespace ashlar
