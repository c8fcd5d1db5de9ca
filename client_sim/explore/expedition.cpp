#include "client_sim/explore/expedition.h"

#include <algorithm>
#include <cmath>

#include "client_sim/explore/route.h"
#include "world/bsp/column.h"
#include "world/math/closest.h"
#include "world/sim/teleport.h"
#include "world/sim/triggers.h"

namespace ashlar::client_sim {
namespace {

constexpr double arms_reach_m = 1.0;
constexpr double give_up_s = 15;
constexpr std::uint16_t failures_max = 5;  // the wait doubles up to here
constexpr double block_s = 3;
constexpr std::uint16_t block_moves_max = 3;  // after that a sector that moves is no news any more
constexpr double measure_every_s = 5;         // of the regions, where something moved
constexpr std::uint32_t dead_end_share = 5;

bool moves_sectors(const LineAction& a) {
  return a.effect != LineEffect::inert && a.effect != LineEffect::teleport &&
         a.effect != LineEffect::teleport_line && a.effect != LineEffect::exit;
}

/// Does it come back by itself, again and again, once it was set off?
bool goes_on(const LineAction& a) {
  return a.effect == LineEffect::lift_perpetual || a.effect == LineEffect::crusher;
}

/// Cells in squares of 2 * reach + 1 around points of a line, so far apart at most; some more than once.
template <class Visit>
void each_cell_by(const GroundGrid& grid, DVec2 from, DVec2 to, double every_m, int reach, Visit visit) {
  const DVec2 along = to - from;
  const int pieces = static_cast<int>(length(along) / every_m) + 1;
  for (int i = 0; i <= pieces; ++i) {
    const std::uint32_t cell = grid.cell_at(from + along * (static_cast<double>(i) / pieces));
    if (cell == no_index) continue;
    for (int dy = -reach; dy <= reach; ++dy)
      for (int dx = -reach; dx <= reach; ++dx)
        if (const std::uint32_t n = grid.neighbour(cell, dx, dy); n != no_index) visit(n);
  }
}

}  // namespace

Expedition::Expedition(std::shared_ptr<const PlacedMap> map, const Rules& rules)
    : map_(std::move(map)), plan_(map_), rules_(rules), grid_(*map_, rules.player) {
  const auto initial = map_->initial_heights();
  heights_.assign(initial.begin(), initial.end());
  low_ = high_ = heights_;
  placed_.push_back({map_.get(), heights_});
  const std::uint32_t sectors = plan_.sector_count();
  moved_s_.assign(sectors, -1e9);
  blocks_.resize(sectors);
  recurs_.assign(sectors, 0);
  roomy_.assign(sectors, 0);
  entered_.assign(sectors, 0);
  const std::size_t lines = map_->source().lines.size();
  fired_.assign(lines, 0);
  fired_s_.assign(lines, -1e9);
  claims_.resize(sectors + lines + plan_.keys().size());
  marks_.assign(grid_.cell_count(), 0);
  // All of the map's box is one open volume: only the map is solid to uses and shots.
  const ChunkCoord low = chunk_of(map_->box().min), high = chunk_of(map_->box().max);
  for (int x = low.x; x <= high.x; ++x)
    for (int y = low.y; y <= high.y; ++y)
      for (int z = low.z; z <= high.z; ++z) air_.insert_chunk({x, y, z}, std::make_unique<Chunk>());
  for (std::uint32_t c = 0; c < grid_.cell_count(); ++c)
    if (grid_.set(c) != no_index) roomy_[grid_.sector(c)] = 1;
  stands_.resize(grid_.set_count());
  find_moving();
  find_stands();
  find_walk_lines();
  find_keys();
  raise_stands();
  find_regions();
  measure_regions();
}

void Expedition::begin_anew() {
  std::ranges::fill(entered_, std::uint8_t{0});
  entered_count_ = 0;
  std::ranges::fill(fired_, 0u);
  std::ranges::fill(fired_s_, -1e9);
  std::ranges::fill(claims_, Claim{});
  std::ranges::fill(blocks_, Claim{});
  std::ranges::fill(dead_ends_, Claim{});
  news_s_ = now_s_;
}

void Expedition::find_moving() {
  const SectorMap& source = map_->source();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t l = 0; l < source.lines.size(); ++l) {
    const LineAction* a = plan_.action(l);
    if (a == nullptr || !a->players || !moves_sectors(*a)) continue;
    const auto add = [&](std::uint32_t sector) {
      pairs.emplace_back(sector, l);
      if (a->repeats || goes_on(*a)) recurs_[sector] = 1;
    };
    if (a->sector_behind) {
      const std::uint32_t behind = source.back_sector(source.lines[l]);
      if (behind != no_index) add(behind);
    } else {
      for (const auto& [tag, sector] : plan_.tagged(a->tag)) add(sector);
    }
  }
  std::ranges::sort(pairs);
  std::size_t at = 0;
  for (std::uint32_t s = 0; s < plan_.sector_count(); ++s) {
    first_moving_.push_back(static_cast<std::uint32_t>(at));
    for (; at < pairs.size() && pairs[at].first == s; ++at) moving_.push_back(pairs[at].second);
  }
  first_moving_.push_back(static_cast<std::uint32_t>(at));
}

void Expedition::find_stands() {
  const SectorMap& source = map_->source();
  for (std::uint32_t l = 0; l < source.lines.size(); ++l) {
    const LineAction* a = plan_.action(l);
    if (a == nullptr || !a->players) continue;
    const DVec2 from = plan_.start_m(l), along = plan_.end_m(l) - from;
    const double long_m = length(along);
    if (long_m <= 0 || a->trigger == LineTrigger::walk) continue;
    const DVec2 out = DVec2{along.y, -along.x} * (1 / long_m);
    const auto add = [&](DVec2 p) {
      const std::uint32_t cell = grid_.cell_at(p);
      if (cell != no_index && grid_.set(cell) != no_index) line_stands_.emplace_back(cell, l);
    };
    const int places = std::clamp(static_cast<int>(long_m / 0.8), 1, 24);
    for (int i = 0; i < places; ++i) {
      const DVec2 at = from + along * ((i + 0.5) / places);
      if (a->trigger == LineTrigger::use) {
        for (const double away : {0.45, 0.75, 1.1, 1.5, 1.8}) add(at + out * away);
      } else {
        for (const double side : {1.0, -1.0})
          for (const double away : {0.6, 1.2, 2.4, 4.8, 9.6, 16.0, 24.0})
            for (const double skew : {0.0, 0.5, -0.5})
              add(at + (out * side + along * (skew / long_m)) * away);
      }
    }
  }
  std::ranges::sort(line_stands_);
  line_stands_.erase(std::ranges::unique(line_stands_).begin(), line_stands_.end());
  for (const auto& [cell, line] : line_stands_) marks_[cell] |= has_stand;
}

void Expedition::find_keys() {
  constexpr int reach_cells = static_cast<int>(key_reach_m / GroundGrid::cell_m) + 1;
  constexpr double sure_m = key_reach_m - 0.1;
  for (std::uint32_t k = 0; k < plan_.keys().size(); ++k) {
    const DVec2 lies = xy(plan_.keys()[k].position_m);
    key_sector_.push_back(map_->tree().sector_at(map_->to_map(lies)));
    const std::uint32_t middle = grid_.cell_at(lies);
    if (middle == no_index) continue;
    for (int dy = -reach_cells; dy <= reach_cells; ++dy)
      for (int dx = -reach_cells; dx <= reach_cells; ++dx) {
        const std::uint32_t cell = grid_.neighbour(middle, dx, dy);
        if (cell == no_index || grid_.set(cell) == no_index) continue;
        const DVec2 d = grid_.point(cell) - lies;
        if (std::fabs(d.x) > sure_m || std::fabs(d.y) > sure_m) continue;
        key_stands_.emplace_back(cell, k);
        marks_[cell] |= has_key;
      }
  }
  std::ranges::sort(key_stands_);
}

void Expedition::find_walk_lines() {
  for (std::uint32_t l = 0; l < map_->source().lines.size(); ++l) {
    const LineAction* a = plan_.action(l);
    if (a == nullptr || a->trigger != LineTrigger::walk) continue;
    const bool exit = a->players && a->effect == LineEffect::exit;
    const bool sends = exit || (a->players && teleports(*a));
    const std::uint8_t mark = sends ? near_walk_line | near_way_out : near_walk_line;
    each_cell_by(grid_, plan_.start_m(l), plan_.end_m(l), GroundGrid::cell_m / 2, 2, [&](std::uint32_t n) {
      marks_[n] |= mark;
      if (exit && line_away_m(l, grid_.point(n)) < rules_.player.radius_m) marks_[n] |= at_exit;
    });
  }
}

double Expedition::line_away_m(std::uint32_t line, DVec2 p) const {
  const DVec2 a = plan_.start_m(line), b = plan_.end_m(line);
  const DVec3 at{p.x, p.y, 0};
  return length(closest_point({{a.x, a.y, 0}, {b.x, b.y, 0}}, at) - at);
}

bool Expedition::exit_ahead(DVec2 from, Turn16 yaw, double within_m) const {
  const DVec2 towards = heading(yaw);
  for (double at_m = 0; at_m <= within_m; at_m += GroundGrid::cell_m / 2) {
    const std::uint32_t cell = grid_.cell_at(from + towards * at_m);
    if (cell != no_index && (marks_[cell] & at_exit) != 0) return true;
  }
  return false;
}

/// Where teleporters send one from: every cell before their lines.
void Expedition::find_regions() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sent;
  for (std::uint32_t l = 0; l < map_->source().lines.size(); ++l) {
    const LineAction* a = plan_.action(l);
    if (a == nullptr || !a->players || a->trigger != LineTrigger::walk || !teleports(*a)) continue;
    const auto landing = teleport_landing(plan_, heights_, l);
    const std::uint32_t there = landing ? grid_.stand_near(xy(landing->position_m)) : no_index;
    if (there == no_index) continue;
    each_cell_by(grid_, plan_.start_m(l), plan_.end_m(l), GroundGrid::cell_m, 1, [&](std::uint32_t n) {
      if (grid_.set(n) != no_index && plan_.in_front(l, grid_.point(n))) sent.emplace_back(n, there);
    });
  }
  regions_ = GroundRegions(grid_, sent);
  dead_ends_.resize(regions_.count());
}

void Expedition::measure_regions() {
  regions_.measure([&](std::uint32_t from, std::uint32_t to) {
    return passage(stands_[from], stands_[to], rules_) != Passage::no;
  });
  regions_stale_ = false;
  regions_measured_s_ = now_s_;
}

bool Expedition::dead_end(std::uint32_t cell, std::uint32_t from) const {
  const std::uint32_t to = regions_.region(cell), here = regions_.region(from);
  return to != no_index && here != no_index && regions_.ahead(to) < regions_.ahead(here) / dead_end_share;
}

bool Expedition::dead_end_taken(std::uint32_t cell, std::uint32_t explorer) const {
  const std::uint32_t region = regions_.region(cell);
  if (region == no_index) return false;
  const Claim& c = dead_ends_[region];
  if (c.until_s > now_s_ && c.by != explorer) return true;
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    const std::uint32_t there = i == explorer ? no_index : grid_.cell_at(xy(places_[i]));
    const std::uint32_t r = there == no_index ? no_index : regions_.region(there);
    if (r != no_index && regions_.hold(r) == regions_.hold(region)) return true;
  }
  return false;
}

void Expedition::take_dead_end(std::uint32_t cell, std::uint32_t explorer, double for_s) {
  const std::uint32_t region = regions_.region(cell);
  if (region == no_index) return;
  dead_ends_[region].by = explorer;
  dead_ends_[region].until_s = now_s_ + for_s;
}

void Expedition::raise_stands() {
  for (std::uint32_t set = 0; set < stands_.size(); ++set) {
    StandHeights h{-1e9, no_ceiling, -1e9, -1e9, no_ceiling};
    for (const std::uint32_t s : grid_.sectors(set)) {
      const Column now = column_of(*map_, heights_, s);
      h.floor_m = std::max(h.floor_m, now.floor_m);
      h.ceiling_m = std::min(h.ceiling_m, now.ceiling_m);
      const bool again = recurs_[s] != 0;
      h.low_floor_m = std::max(h.low_floor_m, again ? low_[s].floor_m : now.floor_m);
      h.high_floor_m = std::max(h.high_floor_m, again ? high_[s].floor_m : now.floor_m);
      h.high_ceiling_m =
          std::min(h.high_ceiling_m, again && !map_->sky(s) ? high_[s].ceiling_m : now.ceiling_m);
    }
    stands_[set] = h;
  }
}

void Expedition::observe(double now_s, HeightsView heights) {
  now_s_ = now_s;
  bool changed = false;
  for (std::size_t s = 0; s < heights_.size() && s < heights.size(); ++s) {
    if (heights_[s] == heights[s]) continue;
    heights_[s] = heights[s];
    low_[s].floor_m = std::min(low_[s].floor_m, heights[s].floor_m);
    low_[s].ceiling_m = std::min(low_[s].ceiling_m, heights[s].ceiling_m);
    high_[s].floor_m = std::max(high_[s].floor_m, heights[s].floor_m);
    high_[s].ceiling_m = std::max(high_[s].ceiling_m, heights[s].ceiling_m);
    moved_s_[s] = now_s;
    if (blocks_[s].failures <= block_moves_max) blocks_[s].until_s = now_s;
    changed = true;
  }
  if (changed) raise_stands();
  regions_stale_ = regions_stale_ || changed;
  if (regions_stale_ && now_s_ >= regions_measured_s_ + measure_every_s) measure_regions();
}

bool Expedition::slit_between(std::uint32_t from, std::uint32_t to) const {
  if (!leans_out(from) && !leans_out(to)) return false;
  const std::uint32_t a = grid_.set(from), b = grid_.set(to);
  const double low_m = std::min(stands_[a].floor_m, stands_[b].floor_m) - rules_.step_height_m_max;
  for (const std::uint32_t s : grid_.sectors(a))
    if (heights_[s].floor_m >= low_m && std::ranges::binary_search(grid_.sectors(b), s)) return false;
  for (const double at : {0.5, 0.25, 0.75}) {
    const DVec2 p = grid_.point(from) + (grid_.point(to) - grid_.point(from)) * at;
    const auto ground = map_floor_ceiling(*map_, heights_, p, rules_.player.radius_m);
    if (!ground || ground->floor_m < low_m) return true;
  }
  return false;
}

void Expedition::block(std::uint32_t sector) {
  Claim& c = blocks_[sector];
  if (c.until_s > now_s_) return;  // another one found the same
  c.until_s = now_s_ + block_s * (1 << std::min(c.failures, failures_max));
  ++c.failures;
}

void Expedition::count(std::uint32_t sector) {
  if (entered_[sector] != 0) return;
  entered_[sector] = 1;
  ++entered_count_;
  news_s_ = now_s_;
}

void Expedition::enter_behind(std::uint32_t line) {
  const std::uint32_t behind = map_->source().back_sector(map_->source().lines[line]);
  if (behind != no_index) count(behind);
}

void Expedition::enter(DVec3 base) {
  const double step_m = rules_.step_height_m_max + 0.01;
  const auto near_floor = [&](std::uint32_t s) { return std::fabs(base.z - heights_[s].floor_m) <= step_m; };
  const DVec2 p = map_->to_map(xy(base));
  const std::uint32_t own = map_->tree().leaves[map_->grid().leaf_at(map_->tree(), p)].sector;
  if (own == no_index || base.z >= map_->roof_m()) return;
  if (near_floor(own)) count(own);
  const std::uint32_t cell = grid_.cell_at(xy(base));
  if (cell == no_index || grid_.set(cell) == no_index) return;
  lines_under_disc(map_->grid(), p, rules_.player.radius_m * map_units_per_m, [&](const SolidLine& l) {
    for (const std::uint32_t s : {l.front, l.back})
      if (s != no_index && roomy_[s] == 0 && near_floor(s)) count(s);
    return true;
  });
}

void Expedition::note_place(std::uint32_t explorer, DVec3 base) {
  if (places_.size() <= explorer) places_.resize(explorer + 1, {1e9, 1e9, 1e9});
  places_[explorer] = base;
}

bool Expedition::meets(std::uint32_t explorer, DVec3 base, bool lower_number_only) const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (i == explorer || (lower_number_only && i > explorer)) continue;
    const DVec3 d = places_[i] - base;
    if (dot(xy(d), xy(d)) < arms_reach_m * arms_reach_m && std::fabs(d.z) < rules_.player.height_m)
      return true;
  }
  return false;
}

void Expedition::note_fired(std::uint32_t line) {
  if (fired_[line]++ == 0) news_s_ = now_s_;
  fired_s_[line] = now_s_;
}

std::span<const std::pair<std::uint32_t, std::uint32_t>> Expedition::stands_at(std::uint32_t cell) const {
  const auto range = std::ranges::equal_range(line_stands_, cell, {}, [](const auto& s) { return s.first; });
  return {range.begin(), range.end()};
}

std::span<const std::pair<std::uint32_t, std::uint32_t>> Expedition::keys_at(std::uint32_t cell) const {
  const auto range = std::ranges::equal_range(key_stands_, cell, {}, [](const auto& s) { return s.first; });
  return {range.begin(), range.end()};
}

bool Expedition::takes_key(std::uint32_t key, DVec3 base) const {
  const MapKey& k = plan_.keys()[key];
  if (!key_in_reach(k, xy(base))) return false;
  const std::uint32_t sector = key_sector_[key];
  const double z = sector == no_index ? k.position_m.z : heights_[sector].floor_m;
  return key_beside(z, base.z, rules_.player.height_m);
}

std::size_t Expedition::claim_index(ExploreGoal goal) const {
  const std::size_t lines_at = plan_.sector_count();
  if (goal.kind == ExploreGoal::Kind::sector) return goal.what;
  if (goal.kind == ExploreGoal::Kind::line) return lines_at + goal.what;
  return lines_at + fired_.size() + goal.what;
}

bool Expedition::taken(ExploreGoal goal, std::uint32_t explorer) const {
  const Claim& c = claims_[claim_index(goal)];
  return c.until_s > now_s_ && c.by != explorer;
}

void Expedition::take(ExploreGoal goal, std::uint32_t explorer, double for_s) {
  Claim& c = claims_[claim_index(goal)];
  c.by = explorer;
  c.until_s = now_s_ + for_s;
}

void Expedition::give_up(ExploreGoal goal) {
  Claim& c = claims_[claim_index(goal)];
  c.by = no_index;
  c.until_s = now_s_ + give_up_s * (1 << std::min(c.failures, failures_max));
  ++c.failures;
}

}  // namespace ashlar::client_sim
