#include "server/host/score_room.h"

#include <algorithm>
#include <span>

#include "protocol/score_board.h"
#include "server/host/host.h"
#include "world/sim/match.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

/// So many are told in a tick, and all within so many ticks.
constexpr std::size_t tellings_least = 64, tellings_ticks = 16;

bool same(const Score& a, const Score& b) {
  return a.match == b.match && a.phase == b.phase && a.teams == b.teams && a.rows == b.rows;
}

/// Written once for all who are in the same world.
struct Written {
  MessageWriter& writer;
  std::span<const std::uint8_t> bytes = {};

  std::span<const std::uint8_t> of(Score& score, std::uint8_t world) {
    if (bytes.empty() || score.world != world) {
      score.world = world;
      bytes = writer.write(score);
    }
    return bytes;
  }
};

}  // namespace

void ScoreRoom::gather(const World& world) {
  const Match& match = world.match();
  now_.tick = number(world.tick());
  now_.match = match.number;
  now_.phase = match.phase;
  now_.left_ticks = match.left_ticks;
  now_.teams = match.team_score;
  now_.rows.clear();
  for (const std::uint32_t row : sessions_->seated()) {
    const Session& session = (*sessions_)[row];
    if (session.state != SessionState::playing || world.player_row(session.player) < 0) continue;
    const MatchPlayer& p = match.players[slot_of(session.player)];
    if (p.id == EntityId{0}) continue;  // it only watches
    now_.rows.push_back({p.id, session.name, p.score, p.kills, p.deaths, p.team});
  }
  std::ranges::sort(now_.rows, ranks_before);
  status_->match = match.number;
  status_->match_phase = match.phase;
  status_->match_left_s = match.left_ticks / world.setup().rules.tick_rate_hz;
  status_->best_score = now_.rows.empty() ? 0 : now_.rows.front().score;
  status_->best_player = now_.rows.empty() ? std::string_view() : now_.rows.front().name;
  status_->team_score = match.team_score;
  if (now_.rows.size() > score_rows_max) now_.rows.resize(score_rows_max);
}

void ScoreRoom::publish(const World& world) {
  if (wait_ticks_ > 0) --wait_ticks_;
  // A phase is told at once, all else in its turn.
  const bool phase = fresh_ || world.match().phase != told_.phase || world.match().number != told_.match;
  if (wait_ticks_ == 0 || phase) {
    wait_ticks_ = world.setup().rules.tick_rate_hz;
    gather(world);
    if (fresh_ || !same(now_, told_)) {
      const bool goes_on = !fresh_ && now_.match == told_.match;
      fresh_ = false;
      changes_ = goes_on ? score_changes(told_, now_) : Score{};
      told_ = now_;
      ++version_;
      if (phase) urgent_ = version_;
    }
  }
  // A thousand of them in one tick would be late.
  std::size_t room = std::max(tellings_least, sessions_->seated().size() / tellings_ticks + 1);
  Written whole{writer_}, changes{changes_writer_};
  for (const std::uint32_t row : sessions_->seated()) {
    Session& session = (*sessions_)[row];
    if (session.state != SessionState::playing || session.fight.score_told == version_) continue;
    if (session.fight.world != session.world) continue;  // its desk is still that of the world before
    const bool waits = session.fight.score_told != 0 && session.fight.score_told >= urgent_;
    if (waits && room == 0) continue;
    // Who was told the version before needs no more than what changed.
    const bool knows =
        changes_.changes && session.fight.score_told != 0 && session.fight.score_told + 1 == version_;
    const auto bytes = knows ? changes.of(changes_, session.world) : whole.of(told_, session.world);
    if (session.connection->send(StreamId::events, bytes) != SendResult::sent) continue;
    session.fight.score_told = version_;
    if (waits) --room;
  }
}

}  // namespace ashlar::server
