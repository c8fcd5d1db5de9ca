#include "client_sim/client/view.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ashlar::client_sim {
namespace {

// As many as a server has entities at most, and as many again that were left: interest of 1 024 m sends no
// more. A server that does is met with forgetting the oldest.
constexpr std::size_t cells_max = 16384;
// Ranges of one cell: ours cut at the ends of a snapshot's parts. More make it forget the oldest.
constexpr std::size_t ranges_max = 256;

EntityId before(EntityId id) { return EntityId{static_cast<std::uint32_t>(id) - 1}; }
EntityId after(EntityId id) { return EntityId{static_cast<std::uint32_t>(id) + 1}; }

std::uint32_t newest(const ViewCell& cell) {
  std::uint32_t tick = 0;
  for (const ViewRange& range : cell.ranges) tick = std::max(tick, range.tick);
  return tick;
}

bool whole(EntityId first, EntityId last) { return first == EntityId{0} && last == entity_id_max; }

/// Where the entities of a tick go that replace all that is known of a cell: what was is what was before, in
/// the memory of what was before that. Null: what is known is newer.
std::vector<EntityRecord>* begin_whole(ViewCell& known, std::uint32_t tick) {
  if (known.ranges.empty()) {
    known.ranges.emplace_back().tick = tick;
    return &known.ranges.front().entities;
  }
  ViewRange& now = known.ranges.front();
  if (now.tick >= tick) return nullptr;
  known.before.resize(1);
  std::swap(known.before.front(), now);
  now.first = EntityId{0}, now.last = entity_id_max, now.tick = tick;
  return &now.entities;
}

/// Is all that is known of a cell of one tick, or nothing?
bool is_whole(const ViewCell& known) {
  return known.ranges.empty() ||
         (known.ranges.size() == 1 && whole(known.ranges.front().first, known.ranges.front().last));
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

const ViewRange* ViewCell::range_of(EntityId id) const {
  const auto it = std::ranges::lower_bound(ranges, id, {}, &ViewRange::last);
  return it == ranges.end() || it->first > id ? nullptr : &*it;
}

std::vector<ViewCell>::iterator View::find(CellCoord coord, std::uint32_t block) {
  return std::lower_bound(cells_.begin(), cells_.end(), std::pair(coord, block),
                          [](const ViewCell& c, const std::pair<CellCoord, std::uint32_t>& key) {
                            return std::tie(c.cell, c.block) < std::tie(key.first, key.second);
                          });
}

ViewCell& View::cell(CellCoord coord, std::uint32_t block) {
  auto at = find(coord, block);
  if (at != cells_.end() && at->cell == coord && at->block == block) return *at;
  if (cells_.size() == cells_max) {
    cells_.erase(std::ranges::min_element(cells_, {}, newest));
    at = find(coord, block);
  }
  at = cells_.emplace(at);
  at->cell = coord;
  at->block = block;
  return *at;
}

void View::take_block(std::uint16_t number, CellCoord coord, std::span<const EntityRecord> entities,
                      std::uint32_t tick) {
  take_block(cell(coord, number), {coord, entities}, tick);
}

void View::take_block(std::uint16_t number, CellCoord coord, std::span<const MovingRecord> entities,
                      std::uint32_t tick) {
  // What has a number comes whole.
  std::vector<EntityRecord>* const now = begin_whole(cell(coord, number), tick);
  if (now == nullptr) return;
  now->resize(entities.size());
  std::ranges::transform(entities, now->begin(), &MovingRecord::record);
}

void View::confirm_block(CellCoord coord, std::uint16_t number, std::uint32_t base_tick, std::uint32_t tick) {
  const auto at = find(coord, number);
  if (at == cells_.end() || at->cell != coord || at->block != number) return;
  for (ViewRange& range : at->ranges)
    if (range.tick >= base_tick) range.tick = std::max(range.tick, tick);
}

void View::forget_block(CellCoord coord, std::uint16_t number) {
  const auto at = find(coord, number);
  if (at != cells_.end() && at->cell == coord && at->block == number) cells_.erase(at);
}

void View::forget_blocks() {
  std::erase_if(cells_, [](const ViewCell& c) { return c.block != no_block; });
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

void View::take_block(ViewCell& known, const CellBlock& block, std::uint32_t tick) {
  if (!whole(block.first, block.last) || !is_whole(known)) return take_ranges(known, block, tick);
  std::vector<EntityRecord>* const now = begin_whole(known, tick);
  if (now != nullptr) now->assign(block.entities.begin(), block.entities.end());
}

void View::take_ranges(ViewCell& known, const CellBlock& block, std::uint32_t tick) {
  const auto overlaps = [&](const ViewRange& r) { return r.first <= block.last && r.last >= block.first; };
  // Of a snapshot that a newer one has overtaken, or a double.
  for (const ViewRange& range : known.ranges)
    if (overlaps(range) && range.tick >= tick) return;

  const auto inside = [&](EntityId id) { return id >= block.first && id <= block.last; };
  std::erase_if(known.before, [&](ViewRange& b) {
    std::erase_if(b.entities, [&](const EntityRecord& e) { return inside(e.id); });
    return b.entities.empty();
  });
  ranges_.clear();
  ViewRange now;
  for (ViewRange& range : known.ranges) {
    if (!overlaps(range)) {
      ranges_.push_back(std::move(range));
      continue;
    }
    // What sticks out on either side stays as it is.
    const auto from = std::ranges::lower_bound(range.entities, block.first, {}, &EntityRecord::id);
    const auto to = std::ranges::upper_bound(range.entities, block.last, {}, &EntityRecord::id);
    if (from != to) known.before.push_back({range.first, range.last, range.tick, {from, to}});
    if (range.first < block.first)
      ranges_.push_back({range.first, before(block.first), range.tick, {range.entities.begin(), from}});
    if (range.last > block.last)
      ranges_.push_back({after(block.last), range.last, range.tick, {to, range.entities.end()}});
    now.entities = std::move(range.entities);  // its memory
  }
  now.first = block.first, now.last = block.last, now.tick = tick;
  now.entities.assign(block.entities.begin(), block.entities.end());
  ranges_.push_back(std::move(now));
  if (ranges_.size() > ranges_max) ranges_.erase(std::ranges::min_element(ranges_, {}, &ViewRange::tick));
  std::ranges::sort(ranges_, {}, &ViewRange::first);
  std::swap(known.ranges, ranges_);
}

void View::take(const SnapshotPart& part) {
  if (part.tick >= newest_tick_) refresh_ticks_ = part.refresh_ticks;
  newest_tick_ = std::max(newest_tick_, part.tick);
  for (const CellBlock& block : part.blocks) take_block(cell(block.cell), block, part.tick);
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

void View::forget_old() {
  forgot_tick_ = newest_tick_;
  const auto old = [this](const auto& known) {
    return newest_tick_ - known.tick > second_ticks_ + 2 * refresh_ticks_;
  };
  for (ViewCell& c : cells_) {
    if (c.block == no_block) std::erase_if(c.ranges, old);
    std::erase_if(c.before, old);
  }
  std::erase_if(cells_, [](const ViewCell& c) { return c.ranges.empty(); });
}

std::size_t View::entity_count() const {
  std::size_t count = 0;
  for (const ViewCell& c : cells_)
    for (const ViewRange& range : c.ranges) count += range.entities.size();
  return count;
}

std::span<const ViewSector> View::sectors(std::size_t map) const {
  if (map >= sectors_.size()) return {};
  return sectors_[map];
}

void View::entities(std::vector<ViewEntity>& out) const {
  out.clear();
  for (const ViewCell& c : cells_) {
    for (const ViewRange& range : c.ranges)
      for (const EntityRecord& e : range.entities) {
        const DVec3 p = position_of(e, c.cell);
        out.push_back({e, range.tick, p, range.tick, p, true});
      }
    for (const ViewRange& b : c.before)
      for (const EntityRecord& e : b.entities) {
        const DVec3 p = position_of(e, c.cell);
        out.push_back({e, b.tick, p, b.tick, p, false});
      }
  }
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
