#include "world/sim/map_plan.h"

#include <algorithm>
#include <tuple>

#include "world/bsp/line_grid.h"
#include "world/math/assert.h"

namespace ashlar {

MapPlan::MapPlan(std::shared_ptr<const PlacedMap> map) : map_(std::move(map)) {
  ASHLAR_ASSERT(map_ != nullptr);
  const SectorMap& source = map_->source();
  ends_.reserve(source.lines.size());
  for (const MapLine& line : source.lines)
    ends_.emplace_back(map_->to_world(source.vertices[line.v1]), map_->to_world(source.vertices[line.v2]));
  for (std::uint32_t s = 0; s < source.sectors.size(); ++s) {
    if (source.sectors[s].tag != 0) tags_.emplace_back(source.sectors[s].tag, s);
    if (source.sectors[s].special == 10 || source.sectors[s].special == 14) timed_sectors_.push_back(s);
  }
  std::ranges::sort(tags_);
  action_of_line_.assign(source.lines.size(), no_index);
  for (std::uint32_t l = 0; l < source.lines.size(); ++l) {
    const auto action = line_action(source, source.lines[l]);
    if (!action || action->effect == LineEffect::inert || action->trigger == LineTrigger::none) continue;
    action_of_line_[l] = static_cast<std::uint32_t>(actions_.size());
    actions_.push_back(*action);
  }
  find_conveyors();
  unknown_ = unknown_specials(source);
  sort_lines();
  find_bounds();
  sort_triggers();
  find_places();
}

void MapPlan::find_conveyors() {
  const SectorMap& source = map_->source();
  for (std::uint32_t l = 0; l < source.lines.size(); ++l) {
    const auto action = line_action(source, source.lines[l]);
    if (!action || action->effect != LineEffect::carry) continue;
    // A unit a tic for each 32 units of the line: 35/32 m/s for each metre of it.
    const DVec2 velocity = (end_m(l) - start_m(l)) * (35.0 / 32);
    for (const auto& [tag, sector] : tagged(action->tag)) conveyors_.push_back({sector, velocity});
  }
  // Where two lines carry one sector both do; a whole order, as sums depend on theirs.
  std::ranges::sort(conveyors_, {}, [](const Conveyor& c) {
    return std::tuple(c.sector, c.velocity_mps.x, c.velocity_mps.y);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < conveyors_.size(); ++i) {
    if (kept > 0 && conveyors_[kept - 1].sector == conveyors_[i].sector)
      conveyors_[kept - 1].velocity_mps = conveyors_[kept - 1].velocity_mps + conveyors_[i].velocity_mps;
    else
      conveyors_[kept++] = conveyors_[i];
  }
  conveyors_.resize(kept);
}

void MapPlan::sort_lines() {
  const SectorMap& source = map_->source();
  first_line_.assign(source.sectors.size() + 1, 0);
  const auto each = [&](auto&& visit) {
    for (std::uint32_t l = 0; l < source.lines.size(); ++l) {
      const std::uint32_t front = source.front_sector(source.lines[l]);
      const std::uint32_t back = source.back_sector(source.lines[l]);
      if (front != no_index) visit(front, l);
      if (back != no_index && back != front) visit(back, l);
    }
  };
  each([&](std::uint32_t sector, std::uint32_t) { ++first_line_[sector + 1]; });
  for (std::size_t i = 1; i < first_line_.size(); ++i) first_line_[i] += first_line_[i - 1];
  sector_lines_.resize(first_line_.back());
  std::vector<std::uint32_t> at(first_line_.begin(), first_line_.end() - 1);
  each([&](std::uint32_t sector, std::uint32_t l) { sector_lines_[at[sector]++] = l; });
}

void MapPlan::find_bounds() {
  bounds_.resize(sector_count());
  for (std::uint32_t s = 0; s < sector_count(); ++s) {
    bool first = true;
    SectorBounds& b = bounds_[s];
    for (const std::uint32_t line : lines_of(s))
      for (const DVec2 p : {ends_[line].first, ends_[line].second}) {
        b.low = first ? p : DVec2{std::min(b.low.x, p.x), std::min(b.low.y, p.y)};
        b.high = first ? p : DVec2{std::max(b.high.x, p.x), std::max(b.high.y, p.y)};
        first = false;
      }
  }
}

/// Cells that a line touches, grown a little against rounding; not all of its box, which for long slanted
/// lines would be the whole map.
template <typename Visit>
void MapPlan::visit_cells(std::uint32_t line, Visit&& visit) const {
  const DVec2 a = ends_[line].first - origin_, along = ends_[line].second - ends_[line].first;
  const std::int32_t last = cell_of(std::max(a.y, a.y + along.y) + rows_grown, ny_);
  for (std::int32_t y = cell_of(std::min(a.y, a.y + along.y) - rows_grown, ny_); y <= last; ++y) {
    const auto within = within_row(a, along, y * cell_m, (y + 1) * cell_m);
    if (!within) continue;
    const std::int32_t east = cell_of(within->east, nx_);
    for (std::int32_t x = cell_of(within->west, nx_); x <= east; ++x) visit(cell_index(x, y));
  }
}

void MapPlan::sort_triggers() {
  const BlockBox& box = map_->box();
  origin_ = {static_cast<double>(box.min.x), static_cast<double>(box.min.y)};
  nx_ = std::max(1, static_cast<std::int32_t>((box.max.x - box.min.x) / cell_m) + 1);
  ny_ = std::max(1, static_cast<std::int32_t>((box.max.y - box.min.y) / cell_m) + 1);
  first_trigger_.assign(cell_index(0, ny_) + 1, 0);
  const auto each = [&](auto&& visit) {
    for (std::uint32_t l = 0; l < ends_.size(); ++l) {
      const LineAction* a = action(l);
      if (a == nullptr || a->trigger == LineTrigger::shoot) continue;
      visit_cells(l, [&](std::size_t cell) { visit(cell, l); });
    }
  };
  each([&](std::size_t cell, std::uint32_t) { ++first_trigger_[cell + 1]; });
  for (std::size_t i = 1; i < first_trigger_.size(); ++i) first_trigger_[i] += first_trigger_[i - 1];
  triggers_.resize(first_trigger_.back());
  std::vector<std::size_t> at(first_trigger_.begin(), first_trigger_.end() - 1);
  each([&](std::size_t cell, std::uint32_t l) { triggers_[at[cell]++] = l; });
  for (std::uint32_t l = 0; l < ends_.size(); ++l) {
    const LineAction* a = action(l);
    if (a != nullptr && a->trigger == LineTrigger::shoot) shoot_lines_.push_back(l);
  }
}

void MapPlan::find_places() {
  const auto things = map_->things();
  for (std::uint32_t i = 0; i < things.size(); ++i) {
    const PlacedThing& thing = things[i];
    if (thing.sector == no_index) continue;
    if (thing.type == teleport_landing_thing)
      landings_.push_back({thing.position_m, thing.yaw, thing.sector, i});
    const std::uint8_t key = key_of_thing(thing.type);
    if (key != 0) keys_.push_back({thing.position_m, key, thing.flags});
  }
  std::ranges::sort(landings_, {}, [](const Landing& l) { return std::pair(l.sector, l.thing); });

  // Two metres from the edge of the box, where the ground is levelled to the roof.
  const BlockBox& box = map_->box();
  surface_.position_m = {box.min.x - 2.0, (box.min.y + box.max.y) / 2.0, map_->roof_m()};
  surface_.yaw = Turn16{32768};
  if (!map_->doorways().empty()) {
    const Doorway& doorway = map_->doorways().front();
    surface_.position_m = doorway.top_m;
    surface_.yaw = turn_towards(xy(doorway.top_m - doorway.foot_m));
  }
}

std::uint32_t MapPlan::beside(std::uint32_t sector, std::uint32_t line) const {
  const SectorMap& source = map_->source();
  const std::uint32_t front = source.front_sector(source.lines[line]);
  const std::uint32_t back = source.back_sector(source.lines[line]);
  if (front == back) return no_index;
  return front == sector ? back : front;
}

bool MapPlan::closed(HeightsView heights, std::uint32_t a, std::uint32_t b) const {
  if (a == no_index || b == no_index) return true;
  const auto ceiling = [&](std::uint32_t s) {
    return map_->open_to_sky(s, heights[s]) ? map_->roof_m() : heights[s].ceiling_m;
  };
  return std::min(ceiling(a), ceiling(b)) <= std::max(heights[a].floor_m, heights[b].floor_m);
}

std::uint32_t MapPlan::sector_at(DVec2 at_m) const {
  const BspTree& tree = map_->tree();
  return tree.leaves[map_->grid().leaf_at(tree, map_->to_map(at_m))].sector;
}

std::span<const std::pair<std::uint16_t, std::uint32_t>> MapPlan::tagged(std::uint16_t tag) const {
  if (tag == 0) return {};
  const auto range =
      std::ranges::equal_range(tags_, tag, {}, &std::pair<std::uint16_t, std::uint32_t>::first);
  return {range.begin(), range.end()};
}

}  // namespace ashlar
