#include "client_sim/client/view.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ashlar::client_sim {
namespace {

// As many as a server has entities at most, and as many again that were left: interest of 1 024 m sends no
// more. A server that does is met with forgetting the oldest.
constexpr std::size_t cells_max = 16384;

/// Where the entities of a tick go that replace all that is known of a block: what was is what was before, in
/// the memory of what was before that. Null: what is known is newer.
std::vector<EntityRecord>* begin_state(ViewCell& known, std::uint32_t tick) {
  if (known.now.tick != 0) {
    if (known.now.tick >= tick) return nullptr;
    std::swap(known.before, known.now);
  }
  known.now.tick = tick;
  return &known.now.entities;
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
  *this = View{};
  second_ticks_ = tick_rate_hz;
}

const EntityRecord* ViewCell::find(EntityId id) const {
  const auto it = std::ranges::lower_bound(now.entities, id, {}, &EntityRecord::id);
  return it == now.entities.end() || it->id != id ? nullptr : &*it;
}

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
    at = find(coord, block);
  }
  at = cells_.emplace(at);
  at->cell = coord;
  at->block = block;
  return *at;
}

void View::take_block(std::uint16_t number, CellCoord coord, std::span<const EntityRecord> entities,
                      std::uint32_t tick) {
  if (std::vector<EntityRecord>* const now = begin_state(cell(coord, number), tick))
    now->assign(entities.begin(), entities.end());
}

void View::take_block(std::uint16_t number, CellCoord coord, std::span<const MovingRecord> entities,
                      std::uint32_t tick) {
  std::vector<EntityRecord>* const now = begin_state(cell(coord, number), tick);
  if (now == nullptr) return;
  now->resize(entities.size());
  std::ranges::transform(entities, now->begin(), &MovingRecord::record);
}

void View::confirm_block(CellCoord coord, std::uint16_t number, std::uint32_t base_tick, std::uint32_t tick) {
  const auto at = find(coord, number);
  if (at == cells_.end() || at->cell != coord || at->block != number) return;
  if (at->now.tick >= base_tick) at->now.tick = std::max(at->now.tick, tick);
}

void View::forget_block(CellCoord coord, std::uint16_t number) {
  const auto at = find(coord, number);
  if (at != cells_.end() && at->cell == coord && at->block == number) cells_.erase(at);
}

void View::forget_blocks() { cells_.clear(); }

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
  return count;
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
  // Of each entity the newest state comes first, then the one before it, which may be of another cell.
  std::sort(out.begin(), out.end(), [](const ViewEntity& a, const ViewEntity& b) {
    return a.record.id != b.record.id ? a.record.id < b.record.id : a.tick > b.tick;
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
