#include "server/host/chunk_loader.h"

#include <algorithm>
#include <cstdlib>

#include "world/math/assert.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

static_assert(ChunkLoader::want_radius < ChunkLoader::keep_radius);

IVec2 column_of(DVec3 position) {
  const ChunkCoord c = chunk_of(block_at(position));
  return {c.x, c.y};
}

int column_distance(IVec2 a, IVec2 b) { return std::max(std::abs(a.x - b.x), std::abs(a.y - b.y)); }

bool is_among(const std::vector<IVec2>& columns, IVec2 column) {
  return std::ranges::find(columns, column) != columns.end();
}

bool is_among(const std::vector<GroundColumn>& columns, IVec2 column) {
  return std::ranges::find(columns, column, &GroundColumn::column) != columns.end();
}

}  // namespace

ChunkLoader::ChunkLoader() {
  in_flight_.reserve(in_flight_max);
  entering_.reserve(in_flight_max);
  arrived_.reserve(in_flight_max);
}

bool ChunkLoader::wanted_by_anyone(const World& world, IVec2 column, int radius) const {
  const PlayerTable& players = world.players();
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.id[i] != EntityId{0} &&
        column_distance(column_of(players.body[i].position_m), column) <= radius)
      return true;
  return false;
}

void ChunkLoader::take(std::span<GroundColumn> columns) {
  for (GroundColumn& made : columns) {
    const auto asked = std::ranges::find(in_flight_, made.column);
    if (asked == in_flight_.end()) {
      ++counters_.unexpected;
      continue;
    }
    in_flight_.erase(asked);
    if (made.closed()) {
      ++counters_.closed;
      closed_.push_back(made.column);
      continue;
    }
    arrived_.push_back(std::move(made));
  }
  ASHLAR_ASSERT(in_flight_.size() + arrived_.size() <= in_flight_max);
}

void ChunkLoader::begin_world() {
  const GroundCounters counters = counters_;
  *this = ChunkLoader{};
  counters_ = counters;
  counters_.in_flight = 0;
}

/// What came goes into the tick's input, or nowhere where nobody is near any more: who comes back asks anew.
/// Where much was built columns wait for another tick, as everybody near is told.
void ChunkLoader::enter(const World& world, std::vector<ReadyChunk>& ready) {
  entering_.clear();
  entering_changes_.clear();
  std::size_t looked = 0;
  for (; looked < arrived_.size(); ++looked) {
    GroundColumn& made = arrived_[looked];
    const IVec2 column = made.column;
    // Nobody else loads columns: an edited one would be overwritten here.
    ASHLAR_ASSERT(!world.column_loaded(column.x, column.y));
    if (!wanted_by_anyone(world, column, keep_radius)) {
      ++counters_.forgotten;
      continue;
    }
    const bool untold = !made.changes.empty() && !told_columns_.contains({column.x, column.y});
    if (untold && !entering_changes_.empty() &&
        entering_changes_.size() + made.changes.size() > entering_changes_max)
      break;
    const ColumnSpan span = world.columns();
    for (std::size_t i = 0; i < span.count(); ++i) {
      ASHLAR_ASSERT(made.chunks[i] != nullptr);
      const ChunkCoord at{column.x, column.y, span.low + static_cast<int>(i)};
      const auto kept = std::ranges::find(made.kept, at, &ChangedChunk::at);
      ready.push_back(
          {at, std::move(made.chunks[i]), kept == made.kept.end() ? nullptr : std::move(kept->bytes)});
    }
    if (untold) {
      told_columns_.insert({column.x, column.y});
      entering_changes_.insert(entering_changes_.end(), made.changes.begin(), made.changes.end());
    }
    entering_.push_back(column);
    extra_.push_back(column);
  }
  arrived_.erase(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(looked));
}

void ChunkLoader::note_candidate(const Candidate& candidate, std::size_t room) {
  ASHLAR_ASSERT(room >= 1 && room <= candidates_.size());
  const auto all = std::span(candidates_).first(candidate_count_);
  if (const auto known = std::ranges::find(all, candidate.column, &Candidate::column); known != all.end()) {
    if (known->distance <= candidate.distance) return;
    // Nearer to this player than to the one who wanted it first: it moves forward.
    std::copy(known + 1, all.end(), known);
    --candidate_count_;
  }
  if (candidate_count_ == room && candidates_[room - 1].distance <= candidate.distance) return;
  if (candidate_count_ < room) ++candidate_count_;
  std::size_t at = candidate_count_ - 1;
  for (; at > 0 && candidates_[at - 1].distance > candidate.distance; --at)
    candidates_[at] = candidates_[at - 1];
  candidates_[at] = candidate;
}

/// Notes what is missing around a column. @return is everything there?
bool ChunkLoader::look_around(const World& world, IVec2 at, std::size_t room) {
  bool complete = true;
  for (int dx = -want_radius; dx <= want_radius; ++dx)
    for (int dy = -want_radius; dy <= want_radius; ++dy) {
      const IVec2 column{at.x + dx, at.y + dy};
      if (world.column_loaded(column.x, column.y) || is_among(closed_, column)) continue;
      complete = false;
      if (is_among(in_flight_, column) || is_among(entering_, column) || is_among(arrived_, column)) continue;
      note_candidate({column_distance(at, column), column}, room);
    }
  return complete;
}

void ChunkLoader::request(const World& world, std::vector<IVec2>& requests) {
  const PlayerTable& players = world.players();
  settled_.resize(players.rows());
  settled_for_.resize(players.rows());
  candidate_count_ = 0;
  const std::size_t rows = players.rows();
  const std::size_t room = in_flight_max - in_flight_.size() - arrived_.size();
  if (room == 0) return;
  if (first_row_ >= rows) first_row_ = 0;
  for (std::size_t visit = 0; visit < rows; ++visit) {
    const std::size_t i = first_row_ + visit < rows ? first_row_ + visit : first_row_ + visit - rows;
    if (players.id[i] == EntityId{0}) continue;
    const IVec2 at = column_of(players.body[i].position_m);
    if (settled_for_[i] == players.id[i] && settled_[i] == at) continue;
    if (look_around(world, at, room)) settled_for_[i] = players.id[i], settled_[i] = at;
  }
  first_row_ = first_row_ + 1 < rows ? first_row_ + 1 : 0;
  for (const Candidate& wanted : std::span(candidates_).first(candidate_count_)) {
    requests.push_back(wanted.column);
    in_flight_.push_back(wanted.column);
    ++counters_.requested;
  }
}

/// The more there is the more is looked at: what comes is never faster than what goes.
void ChunkLoader::drop_some(const World& world, std::vector<ChunkCoord>& dropped) {
  constexpr std::size_t columns_a_look = 256;
  const std::size_t looks = std::min(drops_max, 1 + extra_.size() / columns_a_look);
  for (std::size_t i = 0; i < looks; ++i) drop_one(world, dropped);
}

void ChunkLoader::drop_one(const World& world, std::vector<ChunkCoord>& dropped) {
  if (extra_.empty()) return;
  next_check_ = next_check_ < extra_.size() ? next_check_ : 0;
  const IVec2 column = extra_[next_check_];
  const bool only_here = world.column_edited(column.x, column.y) && !edited_.saved(column, saved_tick_);
  if (only_here || wanted_by_anyone(world, column, keep_radius)) {
    ++next_check_;
    return;
  }
  const ColumnSpan span = world.columns();
  for (int z = span.low; z < span.high; ++z) dropped.push_back({column.x, column.y, z});
  edited_.forget(column);
  extra_[next_check_] = extra_.back();
  extra_.pop_back();
  // Settled means that all around is there: who was settled here and comes back has to ask again.
  for (std::size_t i = 0; i < settled_.size(); ++i)
    if (column_distance(settled_[i], column) <= want_radius) settled_for_[i] = EntityId{0};
}

void ChunkLoader::plan(const World& world, std::vector<ReadyChunk>& ready, std::vector<ChunkCoord>& dropped,
                       std::vector<IVec2>& requests) {
  enter(world, ready);
  request(world, requests);
  drop_some(world, dropped);
  counters_.in_flight = static_cast<std::uint32_t>(in_flight_.size());
  ASHLAR_ASSERT(in_flight_.size() <= in_flight_max);
}

}  // namespace ashlar::server
