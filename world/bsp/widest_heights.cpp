#include "world/bsp/widest_heights.h"

#include <algorithm>
#include <limits>

#include "world/bsp/open_doors.h"

namespace ashlar {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr std::uint16_t closes_after_30_s = 10, opens_after_5_min = 14;

bool moves_sectors(LineEffect effect) {
  switch (effect) {
    case LineEffect::inert:
    case LineEffect::teleport:
    case LineEffect::teleport_line:
    case LineEffect::exit: return false;
    default: return true;
  }
}

/// How far what a line starts spreads from its own sectors.
enum class Spread : std::uint8_t { none, two_rings, same_flat };

class Movable {
 public:
  explicit Movable(const SectorMap& map) : map_(map), beside_(map.sectors.size()) {
    for (const MapLine& line : map.lines) {
      const std::uint32_t a = map.front_sector(line), b = map.back_sector(line);
      if (a == no_index || b == no_index || a == b) continue;
      beside_[a].push_back(b);
      beside_[b].push_back(a);
    }
  }

  std::vector<std::uint8_t> run() {
    movable_.assign(map_.sectors.size(), 0);
    for (std::uint32_t s = 0; s < map_.sectors.size(); ++s)
      if (map_.sectors[s].special == closes_after_30_s || map_.sectors[s].special == opens_after_5_min)
        movable_[s] = 1;
    for (const MapLine& line : map_.lines) {
      const auto action = line_action(map_, line);
      if (!action || !moves_sectors(action->effect)) continue;
      const Spread spread = action->effect == LineEffect::stairs  ? Spread::same_flat
                            : action->effect == LineEffect::donut ? Spread::two_rings
                                                                  : Spread::none;
      if (action->sector_behind && line.back != no_index) mark(map_.back_sector(line), spread);
      if (action->sector_behind || action->tag == 0) continue;
      for (std::uint32_t s = 0; s < map_.sectors.size(); ++s)
        if (map_.sectors[s].tag == action->tag) mark(s, spread);
    }
    return std::move(movable_);
  }

 private:
  void mark(std::uint32_t sector, Spread spread) {
    movable_[sector] = 1;
    if (spread == Spread::two_rings) {
      for (const std::uint32_t ring : beside_[sector]) {
        movable_[ring] = 1;
        for (const std::uint32_t next : beside_[ring]) movable_[next] = 1;
      }
    }
    if (spread != Spread::same_flat) return;
    // A staircase goes on over neighbours with the same flat, which way decides the lines' order.
    std::vector<std::uint32_t> open{sector};
    std::vector<std::uint8_t> seen(map_.sectors.size(), 0);
    seen[sector] = 1;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      movable_[at] = 1;
      for (const std::uint32_t next : beside_[at]) {
        if (seen[next] != 0 || map_.sectors[next].floor_flat != map_.sectors[at].floor_flat) continue;
        seen[next] = 1;
        open.push_back(next);
      }
    }
  }

  const SectorMap& map_;
  std::vector<std::vector<std::uint32_t>> beside_;
  std::vector<std::uint8_t> movable_;
};

}  // namespace

std::vector<SectorHeights> widest_heights(const SectorMap& map) {
  const std::vector<std::uint8_t> movable = Movable(map).run();
  std::vector<SectorHeights> out = heights_as_drawn(map);
  const std::vector<SectorHeights> open = heights_with_open_doors(map);
  for (std::size_t s = 0; s < out.size(); ++s) {
    out[s].floor_m = std::min(out[s].floor_m, open[s].floor_m);
    out[s].ceiling_m = std::max(out[s].ceiling_m, open[s].ceiling_m);
    if (map.sectors[s].sky()) out[s].ceiling_m = unbounded;
    if (movable[s] != 0) out[s] = {-unbounded, unbounded};
  }
  return out;
}

}  // namespace ashlar
