#include "protocol/content/effort.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "world/bsp/line_specials.h"

namespace ashlar {
namespace {

/// A line by its ends, the western one first.
struct Span {
  DVec2 a, b;
  double low_y, high_y;
};

/// Which side of a line through a and b: its sign.
double side(DVec2 a, DVec2 b, DVec2 p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

/// Do they cross within both, not at an end?
bool cross_within(const Span& s, const Span& t) {
  return side(s.a, s.b, t.a) * side(s.a, s.b, t.b) < 0 && side(t.a, t.b, s.a) * side(t.a, t.b, s.b) < 0;
}

/// Do lines cross each other more often than is allowed, or lie so close that counting takes too long?
bool tangled(const SectorMap& map, std::uint64_t pairs_max) {
  std::vector<Span> spans;
  spans.reserve(map.lines.size());
  for (const MapLine& line : map.lines) {
    DVec2 a = map.vertices[line.v1], b = map.vertices[line.v2];
    if (a.x > b.x) std::swap(a, b);
    spans.push_back({a, b, std::min(a.y, b.y), std::max(a.y, b.y)});
  }
  std::sort(spans.begin(), spans.end(), [](const Span& s, const Span& t) { return s.a.x < t.a.x; });
  std::uint64_t pairs = 0;
  std::size_t crossings = 0;
  for (std::size_t i = 0; i < spans.size(); ++i)
    for (std::size_t j = i + 1; j < spans.size() && spans[j].a.x < spans[i].b.x; ++j) {
      if (++pairs > pairs_max) return true;
      if (spans[j].high_y <= spans[i].low_y || spans[j].low_y >= spans[i].high_y) continue;
      if (!cross_within(spans[i], spans[j])) continue;
      if (++crossings > map.lines.size() + content_crossings_max) return true;
    }
  return false;
}

/// Counts what sector_actions and widest_heights have to go through in one round.
class ActionSteps {
 public:
  explicit ActionSteps(const SectorMap& map) : map_(map) {
    const std::size_t sectors = map.sectors.size();
    std::vector<std::uint64_t> beside(sectors, 0);
    const auto each_border = [&](auto&& visit) {
      for (const MapLine& line : map.lines) {
        const std::uint32_t a = map.front_sector(line), b = map.back_sector(line);
        if (a == no_index || b == no_index || a == b) continue;
        visit(a, b), visit(b, a);
      }
    };
    each_border([&](std::uint32_t a, std::uint32_t) { ++beside[a]; });
    plain_.assign(sectors, 1), twice_.assign(sectors, 1);
    each_border([&](std::uint32_t a, std::uint32_t b) {
      ++plain_[a];
      twice_[a] += 1 + beside[b];
    });
    all_ = sectors + 2 * map.lines.size();
    by_tag_.resize(65536);
    for (std::size_t s = 0; s < sectors; ++s) {
      Sum& sum = by_tag_[map.sectors[s].tag];
      ++sum.sectors, sum.plain += plain_[s], sum.twice += twice_[s];
    }
  }

  /// Stops counting beyond content_action_steps_max.
  std::uint64_t count() const {
    std::uint64_t steps = 0;
    for (const MapLine& line : map_.lines) {
      if (steps > content_action_steps_max) return steps;
      const auto action = line_action(map_, line);
      if (!action) continue;
      Sum on;
      if (!action->sector_behind) {
        if (action->tag != 0) on = by_tag_[action->tag];
      } else if (line.back != no_index) {
        const std::uint32_t s = map_.back_sector(line);
        on = {1, plain_[s], twice_[s]};
      }
      // A staircase goes over all that hangs together, a donut over the neighbours of neighbours.
      steps += action->effect == LineEffect::stairs  ? on.sectors * all_
               : action->effect == LineEffect::donut ? on.twice
                                                     : on.plain;
    }
    return steps;
  }

 private:
  struct Sum {
    std::uint64_t sectors = 0, plain = 0, twice = 0;
  };
  const SectorMap& map_;
  std::vector<std::uint64_t> plain_, twice_;  // by sector: steps of an action on it
  std::vector<Sum> by_tag_;
  std::uint64_t all_ = 0;
};

}  // namespace

std::optional<std::string> too_laborious(const SectorMap& map, const MapEffort& effort) {
  if (map.lines.size() > effort.lines_max)
    return "it has " + std::to_string(map.lines.size()) + " lines, more than the limit of " +
           std::to_string(effort.lines_max);
  double units = 0;
  for (const MapLine& line : map.lines) units += length(map.vertices[line.v2] - map.vertices[line.v1]);
  if (!(units <= effort.line_units_max)) return "its lines are too long, all of them together";
  if (ActionSteps(map).count() > content_action_steps_max)
    return "its lines act on too many sectors, all of them together";
  if (tangled(map, effort.pairs_max)) return "its lines cross each other too often";
  return std::nullopt;
}

std::optional<std::string> too_laborious(const PropModel& in_world) {
  double cells = 0;
  for (const auto& triangle : in_world.triangles) {
    const DVec3 a = in_world.vertices[triangle[0]], b = in_world.vertices[triangle[1]],
                c = in_world.vertices[triangle[2]];
    const auto span = [](double u, double v, double w) {
      return (std::max({u, v, w}) - std::min({u, v, w})) / Prop::cell_m + 2;
    };
    cells += span(a.x, b.x, c.x) * span(a.y, b.y, c.y) * span(a.z, b.z, c.z);
  }
  if (!(cells <= content_prop_cells_max)) return "its triangles span too much, all of them together";
  return std::nullopt;
}

}  // namespace ashlar
