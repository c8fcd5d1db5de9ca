#include "client_sim/view.h"

#include <algorithm>

namespace ashlar::client_sim {
namespace {

// More cells than any server's interest picks; a server that sends more is met with forgetting the oldest.
constexpr std::size_t cells_max = 512;
constexpr std::size_t pieces_max = 32;

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

ViewCell& View::cell(CellCoord coord) {
  for (ViewCell& c : cells_)
    if (c.cell == coord) return c;
  if (cells_.size() == cells_max) {
    const auto oldest = std::min_element(
        cells_.begin(), cells_.end(), [](const ViewCell& a, const ViewCell& b) { return a.tick < b.tick; });
    *oldest = ViewCell{};
    oldest->cell = coord;
    return *oldest;
  }
  cells_.emplace_back().cell = coord;
  return cells_.back();
}

void View::complete(CellCoord coord, std::uint32_t tick, std::span<const EntityRecord> entities) {
  ViewCell& known = cell(coord);
  if (known.tick >= tick) return;
  std::swap(known.before, known.entities);
  known.before_tick = known.tick;
  known.entities.assign(entities.begin(), entities.end());
  known.tick = tick;
}

void View::take_piece(const CellHeader& header, std::uint32_t tick, std::span<const EntityRecord> entities) {
  Pieces* found = nullptr;
  for (Pieces& p : pieces_)
    if (p.cell == header.cell) found = &p;
  if (found == nullptr) {
    if (pieces_.size() == pieces_max) {
      const auto oldest = std::min_element(pieces_.begin(), pieces_.end(),
                                           [](const Pieces& a, const Pieces& b) { return a.tick < b.tick; });
      pieces_.erase(oldest);
    }
    found = &pieces_.emplace_back();
    found->cell = header.cell;
  }
  if (found->tick > tick) return;  // of a snapshot that a newer one has overtaken
  if (found->tick < tick) {
    found->tick = tick;
    found->have = 0;
    found->entities.clear();
  }
  const std::uint32_t bit = std::uint32_t{1} << header.part;
  if ((found->have & bit) != 0) return;
  found->have |= bit;
  found->entities.insert(found->entities.end(), entities.begin(), entities.end());
  const std::uint32_t all =
      header.part_count >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << header.part_count) - 1;
  if ((found->have & all) == all) complete(header.cell, tick, found->entities);
}

void View::take(const SnapshotPart& part) {
  newest_tick_ = std::max(newest_tick_, part.tick);
  std::size_t at = 0;
  for (const CellHeader& header : part.cells) {
    const auto entities = part.entities.subspan(at, header.entity_count);
    at += header.entity_count;
    if (header.part_count == 1)
      complete(header.cell, part.tick, entities);
    else
      take_piece(header, part.tick, entities);
  }
  at = 0;
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
  std::erase_if(cells_, [this](const ViewCell& c) { return newest_tick_ - c.tick > second_ticks_; });
  std::erase_if(pieces_, [this](const Pieces& p) { return newest_tick_ - p.tick > second_ticks_; });
}

std::size_t View::entity_count() const {
  std::size_t count = 0;
  for (const ViewCell& c : cells_) count += c.entities.size();
  return count;
}

std::span<const ViewSector> View::sectors(std::size_t map) const {
  if (map >= sectors_.size()) return {};
  return sectors_[map];
}

void View::entities(std::vector<ViewEntity>& out) const {
  out.clear();
  for (const ViewCell& c : cells_) {
    for (const EntityRecord& e : c.entities) {
      const DVec3 p = position_of(e, c.cell);
      out.push_back({e, c.tick, p, c.tick, p, true});
    }
    for (const EntityRecord& e : c.before) {
      const DVec3 p = position_of(e, c.cell);
      out.push_back({e, c.before_tick, p, c.before_tick, p, false});
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
