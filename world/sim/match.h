#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "world/math/hash.h"
#include "world/sim/kinds.h"

namespace ashlar {

/// Where a match stands. Values travel: append only.
enum class MatchPhase : std::uint8_t {
  open,          ///< none is played: there is no end
  warmup,        ///< nothing counts yet
  playing,       ///< until a limit is reached
  intermission,  ///< the score stands; the next one begins behind it
};
inline constexpr std::uint8_t match_phase_count = 4;
/// As the enumerator is spelled.
std::string_view name(MatchPhase phase);

inline constexpr std::size_t teams_max = 4;

/// What one player has in the present match.
struct MatchPlayer {
  EntityId id{};  ///< 0: the row is nobody's
  std::int32_t score = 0;
  std::uint16_t kills = 0, deaths = 0;
  std::uint8_t team = 0;      ///< from 1; 0: none
  std::uint32_t builder = 0;  ///< by which a game knows what it placed, beyond its stay too; 0: nothing
};

/// A match: part of the world's state and hash.
struct Match {
  MatchPhase phase = MatchPhase::open;
  std::uint32_t left_ticks = 0;                      ///< of the phase; 0: it has no end by time
  std::uint32_t number = 1;                          ///< counts the matches of a world
  std::array<std::int32_t, teams_max> team_score{};  ///< of teams 1 to 4
  std::vector<MatchPlayer> players;                  ///< by player row
  /// Likewise, of who was in this match and watches now: what it has again when it plays.
  std::vector<MatchPlayer> aside;

  void add_to_hash(StripeHasher& hash) const {
    hash.add(static_cast<std::uint64_t>(phase) << 32 | left_ticks);
    hash.add(static_cast<std::uint64_t>(number));
    for (const std::int32_t score : team_score)
      hash.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(score)));
    for (const MatchPlayer& p : players) add_to_hash(hash, p);
    hash.add(std::uint64_t{0});
    for (const MatchPlayer& p : aside) add_to_hash(hash, p);
  }

 private:
  static void add_to_hash(StripeHasher& hash, const MatchPlayer& p) {
    if (p.id == EntityId{0}) return;
    hash.add(static_cast<std::uint64_t>(p.id) << 32 | static_cast<std::uint32_t>(p.score));
    hash.add(static_cast<std::uint64_t>(p.kills) << 32 | static_cast<std::uint64_t>(p.deaths) << 8 | p.team);
    if (p.builder != 0) hash.add(static_cast<std::uint64_t>(p.builder));
  }
};

}  // namespace ashlar
