#pragma once
#include "protocol/messages.h"

namespace ashlar {

/// The order of rows: the best first, and of those who are alike the one with the lower id.
bool ranks_before(const ScoreRow& a, const ScoreRow& b);

/// What takes a receiver from one Score of a match to a later one: rows that changed, without the names that
/// it knows, and who is in it no more. A few dozen bytes, where all of it is some 50 a player. Preconditions:
/// both whole, of the same match and world, with rows in order; asserted.
Score score_changes(const Score& from, const Score& to);

/// Takes a Score that came: whole, or as changes of the one that is known.
/// @return false: it is of another match, or names nobody who is not known; nothing was changed
bool take_score(Score& known, const Score& told);

}  // namespace ashlar
