#include "client_sim/client/view.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "world/math/prefetch.h"

namespace ashlar::client_sim {
namespace {

// As many as a server has entities at most, and as many again that were left: interest of 1 024 m sends no
// more. A server that does is met with forgetting the oldest.
constexpr std::size_t cells_max = 16384;

const EntityRecord* find_in(const ViewState& state, EntityId id) {
  if (state.tick == 0) return nullptr;
  const auto it = std::ranges::lower_bound(state.entities, id, {}, &EntityRecord::id);
  return it == state.entities.end() || it->id != id ? nullptr : &*it;
}

DVec3 position_of(const EntityRecord& e, CellCoord cell) { return dequantise({cell, e.x, e.y, e.z}); }

}  // namespace

DVec3 ViewEntity::position_at(double tick_now) const {
  if (before_tick >= tick || tick_now >= static_cast<double>(tick)) return position_m;
  if (tick_now <= static_cast<double>(before_tick)) return before_m;
  const double share =
      (tick_now - static_cast<double>(before_tick)) / static_cast<double>(tick - before_tick);
  return before_m + (position_m - before_m) * share;
}

void View::reset(std::uint16_t tick_rate_hz) {
  const std::uint64_t changes = changes_, losses = losses_;
  *this = View{};
  changes_ = changes, losses_ = losses + 1;
  second_ticks_ = tick_rate_hz;
}

void View::prefetch() const {
  for (const ViewCell& c : cells_)
    for (const ViewState* state : {&c.now, &c.before})
      ashlar::prefetch(state->entities.data(), state->entities.size() * sizeof(EntityRecord));
}

const EntityRecord* ViewCell::find(EntityId id) const { return find_in(now, id); }

std::vector<ViewCell>::iterator View::find(CellCoord coord, std::uint16_t block) {
  return std::lower_bound(cells_.begin(), cells_.end(), std::pair(coord, block),
                          [](const ViewCell& c, const std::pair<CellCoord, std::uint16_t>& key) {
                            return std::tie(c.cell, c.block) < std::tie(key.first, key.second);
                          });
}

ViewCell& View::cell(CellCoord coord, std::uint16_t block) {
  auto at = find(coord, block);
  if (at != cells_.end() && at->cell == coord && at->block == block) return *at;
  if (cells_.size() == cells_max) {
    cells_.erase(std::ranges::min_element(cells_, {}, [](const ViewCell& c) { return c.now.tick; }));
    ++losses_;
    at = find(coord, block);
  }
  at = cells_.emplace(at);
  at->cell = coord;
  at->block = block;
  return *at;
}

/// Where the entities of a tick go that replace all that is known of a block: what was is what was before, in
/// the memory of what was before that. Null: what is known is newer.
std::vector<EntityRecord>* View::begin_state(ViewCell& known, std::uint32_t tick) {
  if (known.now.tick != 0) {
    if (known.now.tick >= tick) return nullptr;
    std::swap(known.before, known.now);
  }
  known.now.tick = tick;
  known.changed = ++changes_;
  return &known.now.entities;
}

/// Is everybody still in the block who was?
void View::end_state(ViewCell& known, std::uint64_t members) {
  const auto& now = known.now.entities;
  const auto& before = known.before.entities;
  const auto id = &EntityRecord::id;
  // Nearly always all are who they were.
  const std::uint64_t told = std::exchange(known.told_members, members);
  const bool same = (members != 0 && members == told) || std::ranges::equal(now, before, {}, id, id);
  if (!same) known.members = known.changed;
  if (!same && !std::ranges::includes(now, before, {}, id, id)) ++losses_;
  settle_moved(known);
}

/// Who moved is where it is told now, or was not there any more.
void View::settle_moved(const ViewCell& known) {
  if (moved_.empty()) return;
  std::erase_if(moved_, [&](const Moved& m) {
    return m.since <= known.now.tick && known.find(m.record.id) != nullptr;
  });
  drop_moved([&](const Moved& m) { return m.since <= known.now.tick && m.block == known.block; });
}

/// With those it may be known no more.
template <typename Predicate>
void View::drop_moved(Predicate&& over) {
  if (std::erase_if(moved_, over) > 0) ++losses_;
}

void View::take_moved(const MovedEntity& moved, std::uint32_t tick) {
  const EntityRecord* newest = nullptr;
  Moved found{{}, {}, 0, tick, moved.block};
  for (const ViewCell& c : cells_) {
    if (c.block == moved.block && c.now.tick >= tick) return;
    for (const ViewState* state : {&c.now, &c.before}) {
      const EntityRecord* const e = find_in(*state, moved.id);
      if (e == nullptr) continue;
      if (state->tick >= tick) return;
      if (newest == nullptr || state->tick > found.tick)
        newest = e, found.tick = state->tick, found.cell = c.cell;
    }
  }
  const auto known = std::ranges::find(moved_, moved.id, [](const Moved& m) { return m.record.id; });
  if (known != moved_.end()) {
    if (known->since < tick) known->since = tick, known->block = moved.block;
    return;
  }
  if (newest == nullptr || moved_.size() == moved_max) return;
  found.record = *newest;
  moved_.push_back(found);
  ++losses_;  // it may have been taken for gone already
}

void View::take_block(std::uint16_t number, CellCoord coord, std::span<const EntityRecord> entities,
                      std::uint32_t tick) {
  ViewCell& known = cell(coord, number);
  std::vector<EntityRecord>* const now = begin_state(known, tick);
  if (now == nullptr) return;
  now->assign(entities.begin(), entities.end());
  end_state(known);
}

void View::take_block(std::uint16_t number, CellCoord coord, std::span<const MovingRecord> entities,
                      std::uint32_t tick, std::uint64_t members) {
  ViewCell& known = cell(coord, number);
  std::vector<EntityRecord>* const now = begin_state(known, tick);
  if (now == nullptr) return;
  now->resize(entities.size());
  std::ranges::transform(entities, now->begin(), &MovingRecord::record);
  end_state(known, members);
}

void View::confirm_block(CellCoord coord, std::uint16_t number, std::uint32_t base_tick, std::uint32_t tick) {
  const auto at = find(coord, number);
  if (at == cells_.end() || at->cell != coord || at->block != number) return;
  if (at->now.tick < base_tick) return;
  if (at->now.tick < tick) at->now.tick = tick, at->changed = ++changes_;
  settle_moved(*at);
}

void View::forget_block(CellCoord coord, std::uint16_t number) {
  const auto at = find(coord, number);
  if (at != cells_.end() && at->cell == coord && at->block == number) cells_.erase(at), ++losses_;
  drop_moved([number](const Moved& m) { return m.block == number; });
}

void View::forget_blocks() {
  cells_.clear();
  moved_.clear();
  ++losses_;
}

bool View::take_slice(std::size_t map, std::size_t first, std::span<const SliceHeight> heights,
                      std::uint32_t tick, std::uint32_t base_tick) {
  auto& list = sectors_[map];
  const std::size_t end = std::min(list.size(), first + height_slice_sectors);
  if (base_tick != 0 && end <= first) return false;
  for (std::size_t i = first; base_tick != 0 && i < end; ++i)
    if (list[i].tick < base_tick) return false;
  for (std::size_t i = first; base_tick != 0 && i < end; ++i) list[i].tick = std::max(list[i].tick, tick);
  for (const SliceHeight& s : heights) {
    const std::size_t at = first + s.sector;
    if (list.size() <= at) list.resize(at + 1);
    // At its own tick when it was confirmed just now.
    if (list[at].tick <= tick) list[at] = {s.heights, tick};
  }
  return true;
}

void View::take(const SnapshotPart& part) {
  newest_tick_ = std::max(newest_tick_, part.tick);
  std::size_t at = 0;
  for (const SectorRun& run : part.sector_runs) {
    auto& list = sectors_[run.map];
    const std::size_t end = static_cast<std::size_t>(run.first) + run.count;
    if (list.size() < end) list.resize(end);
    for (std::size_t i = run.first; i < end; ++i, ++at)
      if (list[i].tick <= part.tick) list[i] = {part.sector_heights[at], part.tick};
  }
  drop_moved([this](const Moved& m) { return newest_tick_ - m.since > second_ticks_; });
  if (newest_tick_ - forgot_tick_ > second_ticks_ / 4) forget_old();
}

/// What a block was more than a second ago no picture asks for.
void View::forget_old() {
  forgot_tick_ = newest_tick_;
  for (ViewCell& c : cells_)
    if (newest_tick_ - c.before.tick > second_ticks_) c.before.tick = 0, c.before.entities.clear();
}

std::size_t View::entity_count() const {
  std::size_t count = 0;
  for (const ViewCell& c : cells_) count += c.now.entities.size();
  return count + moved_.size();
}

std::span<const ViewSector> View::sectors(std::size_t map) const {
  if (map >= sectors_.size()) return {};
  return sectors_[map];
}

void View::entities(std::vector<ViewEntity>& out) const {
  out.clear();
  const auto add = [&out](const ViewCell& c, const ViewState& state, bool current) {
    for (const EntityRecord& e : state.entities) {
      const DVec3 p = position_of(e, c.cell);
      out.push_back({e, state.tick, p, state.tick, p, current});
    }
  };
  for (const ViewCell& c : cells_) add(c, c.now, true), add(c, c.before, false);
  for (const Moved& m : moved_) {
    const DVec3 p = position_of(m.record, m.cell);
    out.push_back({m.record, m.tick, p, m.tick, p, true});
  }
  // Of each entity the newest state comes first, then the one before it, which may be of another cell.
  std::sort(out.begin(), out.end(), [](const ViewEntity& a, const ViewEntity& b) {
    if (a.record.id != b.record.id) return a.record.id < b.record.id;
    return a.tick != b.tick ? a.tick > b.tick : a.current && !b.current;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size();) {
    std::size_t next = i + 1;
    ViewEntity entity = out[i];
    while (next < out.size() && out[next].record.id == entity.record.id) {
      if (entity.before_tick == entity.tick && out[next].tick < entity.tick) {
        entity.before_tick = out[next].tick;
        entity.before_m = out[next].position_m;
      }
      ++next;
    }
    i = next;
    // Only in a picture before, of a cell that has been told anew since: it is gone.
    if (entity.current) out[kept++] = entity;
  }
  out.resize(kept);
}

}  // namespace ashlar::client_sim
