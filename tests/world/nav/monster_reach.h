#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "tests/world/sim/reach.h"
#include "world/bsp/line_grid.h"
#include "world/nav/ground_grid.h"

// What a monster can come to in a map, and how far it is, without any of what it finds its ways by: which
// doors, lifts and teleporters it gets to work says the reach flood, where its disc fits says the explorers'
// grid of quarter metres.

namespace ashlar::testing {

class MonsterReach {
 public:
  MonsterReach(const MapPlan& plan, const Cylinder& shape, double step_m)
      : plan_(plan), grid_(plan.map(), shape), shape_(shape), step_m_(step_m) {
    find_senders();
  }

  /// Metres from one place to another; below 0: it does not get there.
  double way_m(DVec3 from, DVec3 to) {
    ReachRules rules;
    rules.step_m = step_m_, rules.height_m = shape_.height_m, rules.monster = true;
    const Reach reach = Flood(plan_, rules).run(from);
    measure(reach);
    return search(grid_.stand_near(xy(from)), grid_.stand_near(xy(to)));
  }
  /// The last way that was found, from its end to its start, in points about a quarter metre apart.
  std::vector<DVec2> last_way() const {
    std::vector<DVec2> out;
    for (std::uint32_t cell = end_; cell != no_index; cell = from_[cell]) out.push_back(grid_.point(cell));
    return out;
  }

 private:
  struct Range {  // of a set of sectors, as they were seen
    double low_m, high_m, ceiling_m;
  };
  struct Floor {
    double low_m, high_m;
  };
  struct Sender {
    std::uint32_t cell, line, landing;
    bool operator<(const Sender& o) const { return std::pair(cell, line) < std::pair(o.cell, o.line); }
  };

  void find_senders() {
    const PlacedMap& map = plan_.map();
    for (std::uint32_t line = 0; line < map.source().lines.size(); ++line) {
      const LineAction* a = plan_.action(line);
      if (a == nullptr || !a->monsters || a->trigger != LineTrigger::walk) continue;
      if (a->effect != LineEffect::teleport) continue;
      const auto landing = teleport_landing(plan_, map.initial_heights(), line);
      if (!landing) continue;
      const std::uint32_t to = grid_.stand_near(xy(landing->position_m));
      if (to == no_index) continue;
      const DVec2 p = plan_.start_m(line), along = plan_.end_m(line) - p;
      const double size = length(along);
      for (double at = 0; at <= size; at += 0.1)
        for (double off = -0.6; off <= 0.6; off += 0.1) {
          if (!(size > 0)) continue;
          const DVec2 q = p + along * (at / size) + DVec2{along.y, -along.x} * (off / size);
          const std::uint32_t cell = grid_.cell_at(q);
          if (cell != no_index && grid_.set(cell) != no_index) senders_.push_back({cell, line, to});
        }
    }
    std::sort(senders_.begin(), senders_.end());
    const auto same = [](const Sender& a, const Sender& b) { return a.cell == b.cell && a.line == b.line; };
    senders_.erase(std::unique(senders_.begin(), senders_.end(), same), senders_.end());
  }

  void measure(const Reach& reach) {
    const PlacedMap& map = plan_.map();
    ranges_.clear(), floor_.clear();
    for (std::size_t i = 0; i < reach.low.size(); ++i)
      floor_.push_back({reach.low[i].floor_m, reach.high[i].floor_m});
    for (std::uint32_t set = 0; set < grid_.set_count(); ++set) {
      Range r{-1e9, -1e9, 1e9};
      for (const std::uint32_t s : grid_.sectors(set)) {
        r.low_m = std::max(r.low_m, reach.low[s].floor_m);
        r.high_m = std::max(r.high_m, reach.high[s].floor_m);
        if (!map.open_to_sky(s, reach.high[s])) r.ceiling_m = std::min(r.ceiling_m, reach.high[s].ceiling_m);
      }
      ranges_.push_back(r);
    }
  }
  bool passes(std::uint32_t from, std::uint32_t to) const {
    const Range &a = ranges_[grid_.set(from)], &b = ranges_[grid_.set(to)];
    if (b.low_m > a.high_m + step_m_ + 1e-6) return false;
    // From sector to sector it goes as the flood does: not over gaps that its rim bridges.
    if (floor_[grid_.sector(to)].low_m > floor_[grid_.sector(from)].high_m + step_m_ + 1e-6) return false;
    const double stand = std::max(a.low_m, b.low_m - step_m_);
    return std::max(stand, b.low_m) + shape_.height_m <= std::min(a.ceiling_m, b.ceiling_m) + 1e-6;
  }
  /// Where who goes from one cell to the next is sent; no_index: nowhere.
  std::uint32_t sent(std::uint32_t from, std::uint32_t to) const {
    const DVec2 p = grid_.point(from), q = grid_.point(to);
    for (auto s = std::ranges::lower_bound(senders_, from, {}, &Sender::cell);
         s != senders_.end() && s->cell == from; ++s) {
      if (!plan_.in_front(s->line, p) || plan_.in_front(s->line, q)) continue;
      const DVec2 a = plan_.start_m(s->line), along = plan_.end_m(s->line) - a;
      const double t = cross(q - p, p - a) / cross(q - p, along);
      if (t >= 0 && t <= 1) return s->landing;
    }
    return no_index;
  }
  /// By a line that monsters alone do not cross.
  bool kept_back(DVec2 at) const {
    const PlacedMap& map = plan_.map();
    const double radius = shape_.radius_m * map_units_per_m;
    return std::ranges::any_of(map.grid().monster_lines, [&](const SolidLine& l) {
      return distance2(l, map.to_map(at)) < radius * radius;
    });
  }
  double search(std::uint32_t start, std::uint32_t end) {
    end_ = no_index;
    if (start == no_index || end == no_index) return -1;
    using Open = std::pair<float, std::uint32_t>;
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
    std::vector<float> best(grid_.cell_count(), std::numeric_limits<float>::infinity());
    from_.assign(grid_.cell_count(), no_index);
    best[start] = 0;
    open.push({0.0f, start});
    while (!open.empty()) {
      const auto [far, cell] = open.top();
      open.pop();
      if (far > best[cell]) continue;
      if (cell == end) return end_ = end, static_cast<double>(far);
      for (std::int32_t dy = -1; dy <= 1; ++dy)
        for (std::int32_t dx = -1; dx <= 1; ++dx) {
          std::uint32_t to = grid_.beside(cell, dx, dy);
          if (to == cell || grid_.set(to) == no_index || !passes(cell, to)) continue;
          if (kept_back(grid_.point(to)) && !kept_back(grid_.point(start))) continue;
          const float more = far + static_cast<float>(length(grid_.point(to) - grid_.point(cell)));
          const std::uint32_t landing = sent(cell, to);
          if (landing != no_index) to = landing;
          if (more >= best[to]) continue;
          best[to] = more;
          from_[to] = cell;
          open.push({more, to});
        }
    }
    return -1;
  }

  const MapPlan& plan_;
  client_sim::GroundGrid grid_;
  Cylinder shape_;
  double step_m_;
  std::vector<Sender> senders_;
  std::vector<Range> ranges_;  // by set
  std::vector<Floor> floor_;   // by sector
  std::vector<std::uint32_t> from_;
  std::uint32_t end_ = no_index;
};

}  // namespace ashlar::testing
