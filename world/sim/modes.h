#pragma once
#include <memory>

#include "world/sim/game.h"

namespace ashlar {

/// The game of a rule set's mode, written on the seam (game.h) like anybody's:
/// - sandbox: no match; kills of monsters count.
/// - cooperative: players begin at the maps' numbered starts and do not hurt each other; who goes through an
///   exit ends the match.
/// - deathmatch: at the starts for it; who kills another player has a point, who dies otherwise loses one.
/// - teams: two of equal size, and the points are the teams'; friends are safe unless the rule says
/// otherwise.
/// - building: on the ground as in a sandbox; a block that a player placed in the match is his point for as
/// long as it stands. Matches go warm-up, play, intermission, and anew; limits are those of the rules.
std::unique_ptr<Game> make_mode(const Rules& rules);

}  // namespace ashlar
