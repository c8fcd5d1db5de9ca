#include "world/bsp/visibility.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "world/bsp/sight_cells.h"
#include "world/bsp/widest_heights.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

/// Openings are widened by this much against rounding, so that what is seen past a corner stays seen.
constexpr double slack = 0.01;
/// Ends of narrowed openings snap outwards to this part of the opening: few enough rounds of widening.
constexpr double snap = 1.0 / 32;
/// Openings on one line form one source when they are this near to each other, and as straight: what is past
/// the far one's end is off by thousands of times as much.
constexpr double sight_near = 64, straight_tolerance = 1e-7;

/// An opening crossed in one direction: `left` and `right` as seen by whoever passes.
struct Gate {
  DVec2 left, right;
  std::uint32_t into = 0;    ///< cell
  std::uint32_t sector = 0;  ///< of that cell
  std::uint32_t twin = 0;    ///< the same opening the other way
};

/// What lines leave a sector through: gates that stand side by side on one line.
struct Source {
  DVec2 left, right;
  std::uint32_t first = 0, last = 0;  ///< of source_gates_
};

/// How far a gate is open to lines through the present source: a part of it, 0 at its left end, 1 at its
/// right.
struct Open {
  double low = 2, high = -1;
  std::uint32_t stamp = 0;  ///< the round that this is of
  bool queued = false;
};

class Flow {
 public:
  Flow(const SectorMap& map, const BspTree& tree) : cells_(sight_cells(tree)) {
    sectors_ = static_cast<std::uint32_t>(map.sectors.size());
    const std::vector<DrawnHeights> widest = widest_heights(map);
    for (const SightCells::Opening& o : cells_.openings) {
      const DrawnHeights &front = widest[sector(o.front)], &back = widest[sector(o.back)];
      if (std::max(front.floor, back.floor) > std::min(front.ceiling, back.ceiling)) continue;
      // From the front (the right hand of a -> b) to the back, a is on the left: the passer faces left of a
      // -> b.
      const auto i = static_cast<std::uint32_t>(gates_.size());
      gates_.push_back({o.a, o.b, o.back, sector(o.back), i + 1});
      gates_.push_back({o.b, o.a, o.front, sector(o.front), i});
    }
    sort_by_cell();
    open_.resize(gates_.size());
    cell_stamp_.assign(cells_.sector.size(), 0);
  }

  SectorVisibility run() {
    words_ = (sectors_ + 63) / 64;
    seen_.assign(static_cast<std::size_t>(sectors_) * words_, 0);
    for (std::uint32_t s = 0; s < sectors_; ++s) set(s, s);
    find_sources();
    done_.assign(sectors_, 0);
    closed_.assign(sectors_, 0);
    for (std::uint32_t from = 0; from < sectors_; ++from) {
      find_closed(from);
      for (std::size_t i = first_source_[from]; i < first_source_[from + 1]; ++i) follow(sources_[i], from);
      done_[from] = 1;
    }
    SectorVisibility out;
    out.sectors = sectors_;
    out.row_words = words_;
    out.bits = seen_;
    for (std::uint32_t a = 0; a < sectors_; ++a)
      for (std::uint32_t b = 0; b < sectors_; ++b)
        if (get(a, b) && !get(b, a)) out.bits[word(a, b)] &= ~bit(b);
    return out;
  }

 private:
  /// Lists all sources, those of a sector one after the other: first_source_[sector] to [sector + 1].
  void find_sources() {
    struct Place {
      std::uint32_t from;
      double turn, offset, along;  // of the gate's line, and of the gate on it
    };
    std::vector<Place> place(gates_.size());
    for (std::uint32_t i = 0; i < gates_.size(); ++i) {
      const Gate& g = gates_[i];
      const std::uint32_t from = sector(from_cell(g));
      if (from == g.sector) continue;
      const DVec2 way = (g.right - g.left) * (1 / length(g.right - g.left));
      // It grows with the angle, like an arc tangent, and rounded it is the same for all gates of a line.
      const double turn = way.y >= 0 ? 1 - way.x : 3 + way.x;
      place[i] = {from, std::round(turn * 1e5), std::round(cross(way, g.left) * 16), dot(way, g.left)};
      source_gates_.push_back(i);
    }
    std::ranges::sort(source_gates_, {}, [&](std::uint32_t g) {
      const Place& p = place[g];
      return std::tuple(p.from, p.turn, p.offset, p.along, g);
    });
    first_source_.assign(sectors_ + 1, 0);
    for (std::uint32_t i = 0; i < source_gates_.size(); ++i) {
      const Gate& g = gates_[source_gates_[i]];
      const std::uint32_t from = place[source_gates_[i]].from;
      if (i > 0 && place[source_gates_[i - 1]].from == from && goes_on(sources_.back(), g)) {
        sources_.back().right = g.right;
        sources_.back().last = i + 1;
      } else {
        sources_.push_back({g.left, g.right, i, i + 1});
        ++first_source_[from + 1];
      }
    }
    for (std::uint32_t i = 0; i < sectors_; ++i) first_source_[i + 1] += first_source_[i];
    ASHLAR_ASSERT(first_source_.back() == sources_.size());
  }

  /// Does a gate stand next on a source's line?
  bool goes_on(const Source& s, const Gate& g) const {
    const Gate& first = gates_[source_gates_[s.first]];
    const DVec2 way = first.right - first.left;
    const double off = straight_tolerance * length(way);
    return dot(way, g.right - g.left) > 0 && length(g.left - s.right) < sight_near &&
           std::fabs(cross(way, g.left - first.left)) < off &&
           std::fabs(cross(way, g.right - first.left)) < off;
  }

  /// Gates out of a cell stand side by side: first_[cell] to first_[cell + 1].
  void sort_by_cell() {
    first_.assign(cells_.sector.size() + 1, 0);
    for (const Gate& g : gates_) ++first_[from_cell(g) + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1), place(gates_.size());
    for (std::uint32_t g = 0; g < gates_.size(); ++g) place[g] = next[from_cell(gates_[g])]++;
    std::vector<Gate> sorted(gates_.size());
    for (std::uint32_t g = 0; g < gates_.size(); ++g) {
      sorted[place[g]] = gates_[g];
      sorted[place[g]].twin = place[gates_[g].twin];
    }
    gates_ = std::move(sorted);
    for (std::uint32_t g = 0; g < gates_.size(); ++g) ASHLAR_ASSERT(gates_[gates_[g].twin].twin == g);
  }

  /// Sectors that lines out of `from` need not enter: itself, as they leave it for the last time through a
  /// gate of their own; and those from where nobody sees it, as has been found out: nothing that is looked at
  /// from `from` lies in them or behind them.
  void find_closed(std::uint32_t from) {
    for (std::uint32_t s = 0; s < sectors_; ++s) closed_[s] = done_[s] != 0 && !get(s, from) ? 1 : 0;
    closed_[from] = 1;
  }

  std::uint32_t from_cell(const Gate& g) const { return gates_[g.twin].into; }
  std::uint32_t sector(std::uint32_t cell) const { return cells_.sector[cell]; }
  std::size_t word(std::uint32_t a, std::uint32_t b) const {
    return static_cast<std::size_t>(a) * words_ + (b >> 6);
  }
  static std::uint64_t bit(std::uint32_t b) { return std::uint64_t{1} << (b & 63); }
  void set(std::uint32_t a, std::uint32_t b) { seen_[word(a, b)] |= bit(b); }
  bool get(std::uint32_t a, std::uint32_t b) const { return (seen_[word(a, b)] & bit(b)) != 0; }

  /// Everything that lines through one source can reach. Lines that come back into the sector they left end
  /// there: they leave it for the last time through a gate of their own.
  void follow(const Source& s, std::uint32_t from) {
    ++round_;
    queue_.clear();
    for (std::uint32_t i = s.first; i < s.last; ++i) {
      const std::uint32_t own = source_gates_[i];
      const Gate& through = gates_[own];
      if (closed_[through.sector] != 0) continue;
      enter(from, through);
      for (std::uint32_t g = first_[through.into]; g < first_[through.into + 1]; ++g) {
        // The cell is convex and the gate one of its sides: every other side is seen whole.
        if (g != through.twin && closed_[gates_[g].sector] == 0) widen(g, 0, 1);
      }
    }
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const std::uint32_t g = queue_[head];
      open_[g].queued = false;
      pass(s, g, from);
    }
  }

  void enter(std::uint32_t from, const Gate& through) {
    if (cell_stamp_[through.into] == round_) return;
    cell_stamp_[through.into] = round_;
    set(from, through.sector);
  }

  /// The open part of a gate grows to hold [low, high].
  void widen(std::uint32_t g, double low, double high) {
    Open& o = open_[g];
    if (o.stamp != round_) o = {2, -1, round_, false};
    if (low >= o.low && high <= o.high) return;
    // Outwards to the next mark, so that a gate grows a bounded number of times.
    low = std::max(0.0, std::min(low, o.low)), high = std::min(1.0, std::max(high, o.high));
    o.low = static_cast<double>(static_cast<int>(low / snap)) * snap;
    o.high = std::min(1.0, static_cast<double>(static_cast<int>(high / snap) + 1) * snap);
    ASHLAR_ASSERT(o.low >= 0 && o.low <= o.high);
    if (o.queued) return;
    o.queued = true;
    queue_.push_back(g);
  }

  /// Lines through the source and the open part of gate g, on into the cell behind it.
  void pass(const Source& s, std::uint32_t g, std::uint32_t from) {
    const Gate& gate = gates_[g];
    const DVec2 span = gate.right - gate.left;
    const DVec2 left = gate.left + span * open_[g].low, right = gate.left + span * open_[g].high;
    // Only what of the source lies before the gate's line can look through the gate.
    DVec2 source_left = s.left, source_right = s.right;
    const double beyond_left = cross(span, s.left - gate.left),
                 beyond_right = cross(span, s.right - gate.left);
    if (beyond_left > 0 && beyond_right > 0) {
      // By rounding alone: a source that shares the gate's line sees along it.
      const double most = std::max(beyond_left, beyond_right);
      if (most > slack * length(span)) return;
    } else if (beyond_left > 0) {
      source_left = s.left + (s.right - s.left) * (beyond_left / (beyond_left - beyond_right));
    } else if (beyond_right > 0) {
      source_right = s.right + (s.left - s.right) * (beyond_right / (beyond_right - beyond_left));
    }
    enter(from, gate);
    // Beyond the gate a line stays left of source.left -> right and right of source.right -> left, and before
    // the source's own line.
    const Side sides[3] = {left_of(source_left, right - source_left),
                           left_of(source_right, source_right - left), left_of(s.left, s.right - s.left)};
    for (std::uint32_t next = first_[gate.into]; next < first_[gate.into + 1]; ++next) {
      const Gate& n = gates_[next];
      if (closed_[n.sector] != 0 || next == gate.twin) continue;
      double low = 0, high = 1;
      if (sides[0].clip(n, low, high) && sides[1].clip(n, low, high) && sides[2].clip(n, low, high))
        widen(next, low, high);
    }
  }

  /// A side of a line, with some slack: x * p.x + y * p.y >= least.
  struct Side {
    double x, y, least;

    /// Keeps the part of a gate on this side. False: there is none.
    bool clip(const Gate& n, double& low, double& high) const {
      const double a = x * n.left.x + y * n.left.y - least, b = x * n.right.x + y * n.right.y - least;
      if (a < 0) {
        if (b < 0) return false;
        low = std::max(low, a / (a - b));
      } else if (b < 0) {
        high = std::min(high, a / (a - b));
      }
      return low <= high;
    }
  };
  static Side left_of(DVec2 at, DVec2 along) {
    if (dot(along, along) < 1e-6) return {0, 0, -1};  // the corner is shared: no line to speak of
    const double margin = slack * std::max(std::fabs(along.x), std::fabs(along.y)) * 1.5;
    return {-along.y, along.x, cross(along, at) - margin};
  }

  const SightCells cells_;
  std::uint32_t sectors_ = 0, words_ = 0;
  std::vector<Gate> gates_;
  std::vector<std::uint32_t> first_, source_gates_, first_source_;
  std::vector<Source> sources_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> cell_stamp_;
  std::vector<std::uint8_t> done_, closed_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint64_t> seen_;
  std::uint32_t round_ = 0;
};

}  // namespace

SectorVisibility compute_visibility(const SectorMap& map, const BspTree& tree) {
  SectorVisibility out = Flow(map, tree).run();
  out.from_above.assign(map.sectors.size(), 0);
  for (std::uint32_t a = 0; a < out.sectors; ++a) {
    if (!map.sectors[a].sky()) continue;
    for (std::uint32_t b = 0; b < out.sectors; ++b)
      if (out.sees(a, b)) out.from_above[b] = 1;
  }
  return out;
}

}  // namespace ashlar
