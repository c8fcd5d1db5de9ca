#include "protocol/score_board.h"

#include <algorithm>
#include <utility>

#include "world/math/assert.h"

namespace ashlar {

bool ranks_before(const ScoreRow& a, const ScoreRow& b) {
  return a.score != b.score ? a.score > b.score : a.id < b.id;
}

Score score_changes(const Score& from, const Score& to) {
  ASHLAR_ASSERT(!from.changes && !to.changes && from.match == to.match);
  ASHLAR_ASSERT(std::ranges::is_sorted(to.rows, ranks_before));
  Score out = to;
  out.changes = true;
  out.rows.clear();
  for (const ScoreRow& row : to.rows) {
    const auto was = std::ranges::find(from.rows, row.id, &ScoreRow::id);
    if (was != from.rows.end() && *was == row) continue;
    out.rows.push_back(row);
    if (was != from.rows.end() && was->name == row.name) out.rows.back().name.clear();
  }
  for (const ScoreRow& row : from.rows)
    if (std::ranges::find(to.rows, row.id, &ScoreRow::id) == to.rows.end()) out.gone.push_back(row.id);
  return out;
}

bool take_score(Score& known, const Score& told) {
  if (!told.changes) {
    known = told;
    return true;
  }
  if (known.match != told.match || known.world != told.world) return false;
  std::vector<ScoreRow> rows = known.rows;
  std::erase_if(rows,
                [&](const ScoreRow& row) { return std::ranges::find(told.gone, row.id) != told.gone.end(); });
  for (const ScoreRow& row : told.rows) {
    const auto was = std::ranges::find(rows, row.id, &ScoreRow::id);
    if (was == rows.end()) {
      if (row.name.empty()) return false;
      rows.push_back(row);
      continue;
    }
    std::string name = row.name;
    if (name.empty()) name = std::move(was->name);
    *was = row;
    was->name = std::move(name);
  }
  if (rows.size() > score_rows_max) return false;
  std::ranges::sort(rows, ranks_before);
  known = told;
  known.changes = false;
  known.gone.clear();
  known.rows = std::move(rows);
  return true;
}

}  // namespace ashlar
