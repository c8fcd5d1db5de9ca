#include "protocol/score_board.h"

#include <algorithm>
#include <string>

#include "tests/catch.h"
#include "world/math/random.h"

namespace ashlar {
namespace {

Score board_of(std::vector<ScoreRow> rows) {
  Score out;
  out.tick = 10, out.world = 1, out.match = 3, out.phase = MatchPhase::playing;
  out.rows = std::move(rows);
  std::ranges::sort(out.rows, ranks_before);
  return out;
}

bool same(const Score& a, const Score& b) {
  return a.tick == b.tick && a.world == b.world && a.match == b.match && a.phase == b.phase &&
         a.left_ticks == b.left_ticks && a.teams == b.teams && a.rows == b.rows && a.changes == b.changes &&
         a.gone == b.gone;
}

}  // namespace

TEST_CASE("changes of a score hold what changed alone", "[protocol][score]") {
  const Score before = board_of(
      {{EntityId{1}, "ann", 5, 5, 0, 0}, {EntityId{2}, "bob", 3, 3, 1, 0}, {EntityId{4}, "eve", 1, 1, 1, 0}});
  Score after = board_of(
      {{EntityId{1}, "ann", 5, 5, 0, 0}, {EntityId{2}, "bob", 6, 6, 1, 0}, {EntityId{9}, "dan", 0, 0, 0, 0}});
  after.tick = 70;
  const Score told = score_changes(before, after);
  CHECK(told.changes);
  REQUIRE(told.rows.size() == 2);
  CHECK((told.rows[0] == ScoreRow{EntityId{2}, "", 6, 6, 1, 0}));
  CHECK((told.rows[1] == ScoreRow{EntityId{9}, "dan", 0, 0, 0, 0}));
  CHECK(told.gone == std::vector<EntityId>{EntityId{4}});
  Score known = before;
  REQUIRE(take_score(known, told));
  CHECK(same(known, after));
  CHECK(known.rows[0].name == "bob");  // is the best now
}

TEST_CASE("changes that do not fit what is known change nothing", "[protocol][score]") {
  const Score before = board_of({{EntityId{1}, "ann", 5, 5, 0, 0}});
  Score known = before;
  Score told = score_changes(before, before);
  told.rows.push_back({EntityId{2}, "", 1, 1, 0, 0});  // nobody knows whose that is
  CHECK_FALSE(take_score(known, told));
  CHECK(same(known, before));
  told = score_changes(before, before);
  told.match = 4;
  CHECK_FALSE(take_score(known, told));
  told = score_changes(before, before);
  told.world = 2;
  CHECK_FALSE(take_score(known, told));
  told = score_changes(before, before);
  for (std::uint32_t i = 0; i < score_rows_max; ++i)
    told.rows.push_back({EntityId{100 + i}, "x", 0, 0, 0, 0});
  CHECK_FALSE(take_score(known, told));
  CHECK(same(known, before));
}

TEST_CASE("whatever changes, who follows a score knows it as it is", "[protocol][score]") {
  Rng rng = rng_for(12, 4);
  std::vector<ScoreRow> rows;
  Score known, before;
  for (int step = 0; step < 3000; ++step) {
    if (rows.size() < score_rows_max && rng.below(4) == 0) {
      const EntityId id{1 + rng.below(100)};
      if (std::ranges::find(rows, id, &ScoreRow::id) == rows.end())
        rows.push_back(
            {id, "p" + std::to_string(rng.below(3)), 0, 0, 0, static_cast<std::uint8_t>(rng.below(3))});
    }
    for (ScoreRow& row : rows)
      if (rng.below(8) == 0) row.score = static_cast<std::int32_t>(rng.below(9)) - 4;
    if (!rows.empty() && rng.below(6) == 0) rows[rng.below(static_cast<std::uint32_t>(rows.size()))].deaths++;
    if (!rows.empty() && rng.below(9) == 0)
      rows.erase(rows.begin() + rng.below(static_cast<std::uint32_t>(rows.size())));
    // The same id may be another player by now.
    if (!rows.empty() && rng.below(9) == 0) rows[0].name = "q" + std::to_string(step);
    Score now = board_of(rows);
    now.tick = static_cast<std::uint32_t>(step);
    if (step == 0) {
      REQUIRE(take_score(known, now));
    } else {
      REQUIRE(take_score(known, score_changes(before, now)));
    }
    REQUIRE(same(known, now));
    before = now;
  }
}

}  // namespace ashlar
