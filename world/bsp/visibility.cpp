#include "world/bsp/visibility.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/widest_heights.h"
#include "world/math/hash.h"

namespace ashlar {
namespace {

/// Openings are widened by this much against rounding, so that what is seen past a corner stays seen.
constexpr double slack = 0.01;
/// Ends of narrowed openings snap outwards to this part of the opening: few enough rounds of widening.
constexpr double snap = 1.0 / 32;

/// An opening crossed in one direction: `left` and `right` as seen by whoever passes.
struct Gate {
  DVec2 left, right;
  std::uint32_t into = 0;    ///< leaf
  std::uint32_t sector = 0;  ///< of that leaf
  std::uint32_t twin = 0;    ///< the same opening the other way
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
  Flow(const SectorMap& map, const BspTree& tree) : tree_(tree) {
    sectors_ = static_cast<std::uint32_t>(map.sectors.size());
    walled_.assign(sectors_, 0);
    for (const MapLine& line : map.lines)
      if (line.back == no_index) walled_[map.front_sector(line)] = 1;
    const std::vector<SectorHeights> widest = widest_heights(map);
    for (const LeafOpening& o : leaf_openings(tree)) {
      const SectorHeights &front = widest[sector(o.front)], &back = widest[sector(o.back)];
      if (std::max(front.floor_m, back.floor_m) > std::min(front.ceiling_m, back.ceiling_m)) continue;
      // From the front (the right hand of a -> b) to the back, a is on the left: the passer faces left of a
      // -> b.
      const auto i = static_cast<std::uint32_t>(gates_.size());
      gates_.push_back({o.a, o.b, o.back, sector(o.back), i + 1});
      gates_.push_back({o.b, o.a, o.front, sector(o.front), i});
    }
    sort_by_leaf();
    open_.resize(gates_.size());
    leaf_stamp_.assign(tree.leaves.size(), 0);
  }

  SectorVisibility run() {
    words_ = (sectors_ + 63) / 64;
    seen_.assign(static_cast<std::size_t>(sectors_) * words_, 0);
    for (std::uint32_t s = 0; s < sectors_; ++s) set(s, s);
    const std::vector<std::uint32_t> host = islands();
    std::vector<std::vector<std::uint32_t>> gates_of(sectors_);
    for (std::uint32_t g = 0; g < gates_.size(); ++g) gates_of[sector(from_leaf(gates_[g]))].push_back(g);
    done_.assign(sectors_, 0);
    closed_.assign(sectors_, 0);
    for (std::uint32_t from = 0; from < sectors_; ++from) {
      find_closed(from);
      for (const std::uint32_t g : gates_of[from]) {
        const std::uint32_t into = gates_[g].sector;
        if (from == into) continue;
        if (host[from] == no_index && host[into] == no_index)
          follow(g, from);
        else
          set(from, into);
      }
      done_[from] = host[from] == no_index ? 1 : 0;
    }
    // Whoever looks out of an island looks from its shore, which is a point of the sector around it.
    for (std::uint32_t a = 0; a < sectors_; ++a) {
      if (host[a] == no_index) continue;
      for (std::uint32_t b = 0; b < sectors_; ++b)
        if (get(host[a], b)) set(a, b);
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
  /// Gates out of a leaf stand side by side: first_[leaf] to first_[leaf + 1].
  void sort_by_leaf() {
    first_.assign(tree_.leaves.size() + 1, 0);
    for (const Gate& g : gates_) ++first_[from_leaf(g) + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1), place(gates_.size());
    for (std::uint32_t g = 0; g < gates_.size(); ++g) place[g] = next[from_leaf(gates_[g])]++;
    std::vector<Gate> sorted(gates_.size());
    for (std::uint32_t g = 0; g < gates_.size(); ++g) {
      sorted[place[g]] = gates_[g];
      sorted[place[g]].twin = place[gates_[g].twin];
    }
    gates_ = std::move(sorted);
  }

  /// Sectors that lines out of `from` need not enter: itself, as they leave it for the last time through a
  /// gate of their own; and those from where nobody sees it, as has been found out: nothing that is looked at
  /// from `from` lies in them or behind them.
  void find_closed(std::uint32_t from) {
    for (std::uint32_t s = 0; s < sectors_; ++s) closed_[s] = done_[s] != 0 && !get(s, from) ? 1 : 0;
    closed_[from] = 1;
  }

  std::uint32_t from_leaf(const Gate& g) const { return gates_[g.twin].into; }
  std::uint32_t sector(std::uint32_t leaf) const { return tree_.leaves[leaf].sector; }
  std::size_t word(std::uint32_t a, std::uint32_t b) const {
    return static_cast<std::size_t>(a) * words_ + (b >> 6);
  }
  static std::uint64_t bit(std::uint32_t b) { return std::uint64_t{1} << (b & 63); }
  void set(std::uint32_t a, std::uint32_t b) { seen_[word(a, b)] |= bit(b); }
  bool get(std::uint32_t a, std::uint32_t b) const { return (seen_[word(a, b)] & bit(b)) != 0; }

  /// By sector: the only other sector it touches, where that one touches others; otherwise no_index. What
  /// goes into an island comes back into its host, so neither direction needs to be followed.
  std::vector<std::uint32_t> islands() const {
    std::vector<std::uint32_t> only(sectors_, no_index);
    std::vector<std::uint8_t> several(sectors_, 0);
    for (const Gate& g : gates_) {
      const std::uint32_t a = sector(from_leaf(g)), b = g.sector;
      if (a == b) continue;
      if (only[a] != no_index && only[a] != b) several[a] = 1;
      only[a] = b;
    }
    for (std::uint32_t a = 0; a < sectors_; ++a)
      if (walled_[a] != 0 || several[a] != 0 || (only[a] != no_index && several[only[a]] == 0))
        only[a] = no_index;
    return only;
  }

  /// Everything that lines through one gate can reach. Lines that come back into the sector they left end
  /// there: they leave it for the last time through a gate of their own.
  void follow(std::uint32_t source, std::uint32_t from) {
    ++round_;
    const Gate& s = gates_[source];
    queue_.clear();
    if (closed_[s.sector] != 0) return;
    enter(from, s);
    for (std::uint32_t g = first_[s.into]; g < first_[s.into + 1]; ++g) {
      // The leaf is convex and the source one of its sides: every other side is seen whole.
      if (g != s.twin && closed_[gates_[g].sector] == 0) widen(g, 0, 1);
    }
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const std::uint32_t g = queue_[head];
      open_[g].queued = false;
      pass(s, g, from);
    }
  }

  void enter(std::uint32_t from, const Gate& through) {
    if (leaf_stamp_[through.into] == round_) return;
    leaf_stamp_[through.into] = round_;
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
    if (o.queued) return;
    o.queued = true;
    queue_.push_back(g);
  }

  /// Lines through the source and the open part of gate g, on into the leaf behind it.
  void pass(const Gate& s, std::uint32_t g, std::uint32_t from) {
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

  const BspTree& tree_;
  std::uint32_t sectors_ = 0, words_ = 0;
  std::vector<Gate> gates_;
  std::vector<std::uint32_t> first_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> leaf_stamp_;
  std::vector<std::uint8_t> walled_, done_, closed_;
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

std::uint64_t visibility_key(const SectorMap& compiled) {
  Hasher h;
  h.add(content_hash(compiled));
  for (const MapSector& s : compiled.sectors) {
    std::uint64_t name = 0;
    for (const char c : s.floor_flat) name = name << 8 | static_cast<std::uint8_t>(c);
    h.add(name);
  }
  return h.value();
}

}  // namespace ashlar
