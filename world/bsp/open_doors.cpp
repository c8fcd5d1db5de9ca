#include "world/bsp/open_doors.h"

#include <algorithm>

namespace ashlar {
namespace {

struct Neighbours {
  double lowest_ceiling, lowest_floor;
  bool any = false;
};

std::vector<Neighbours> neighbours_of(const SectorMap& map) {
  std::vector<Neighbours> out(map.sectors.size());
  const auto add = [&](std::uint32_t to, std::uint32_t from) {
    const MapSector& s = map.sectors[from];
    Neighbours& n = out[to];
    n.lowest_ceiling = n.any ? std::min(n.lowest_ceiling, s.ceiling) : s.ceiling;
    n.lowest_floor = n.any ? std::min(n.lowest_floor, s.floor) : s.floor;
    n.any = true;
  };
  for (const MapLine& line : map.lines) {
    const std::uint32_t a = map.front_sector(line), b = map.back_sector(line);
    if (a == no_index || b == no_index || a == b) continue;
    // A shut neighbour tells nothing about how far a door goes up.
    if (map.sectors[b].ceiling > map.sectors[b].floor) add(a, b);
    if (map.sectors[a].ceiling > map.sectors[a].floor) add(b, a);
  }
  return out;
}

bool moves_ceiling(LineEffect effect) {
  switch (effect) {
    case LineEffect::door_raise:
    case LineEffect::door_open:
    case LineEffect::door_close:
    case LineEffect::door_close_wait_open:
    case LineEffect::ceiling:
    case LineEffect::floor_and_ceiling:
    case LineEffect::crusher: return true;
    default: return false;
  }
}

bool moves_floor(LineEffect effect) {
  switch (effect) {
    case LineEffect::lift:
    case LineEffect::lift_up:
    case LineEffect::lift_perpetual:
    case LineEffect::floor:
    case LineEffect::floor_and_ceiling:
    case LineEffect::stairs:
    case LineEffect::donut: return true;
    default: return false;
  }
}

/// Stairs go on over neighbours of one floor flat, a donut moves the ring around its pillar.
void spread_floors(const SectorMap& map, std::vector<std::uint8_t>& chain, std::vector<std::uint8_t>& ring) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const MapLine& line : map.lines) {
      const std::uint32_t a = map.front_sector(line), b = map.back_sector(line);
      if (a == no_index || b == no_index || a == b) continue;
      if (ring[a] == 1 && ring[b] == 0) ring[b] = 2;
      if (ring[b] == 1 && ring[a] == 0) ring[a] = 2;
      if (chain[a] == chain[b] || map.sectors[a].floor_flat != map.sectors[b].floor_flat) continue;
      chain[a] = chain[b] = 1;
      changed = true;
    }
  }
}

}  // namespace

MovingPlanes moving_planes(const SectorMap& map) {
  const std::size_t count = map.sectors.size();
  MovingPlanes out{std::vector<std::uint8_t>(count, 0), moving_ceilings(map)};
  std::vector<std::uint8_t> chain(count, 0), ring(count, 0);
  for (const SectorAction& act : sector_actions(map)) {
    if (moves_floor(act.action.effect)) out.floor_moves[act.sector] = 1;
    if (act.action.effect == LineEffect::stairs) chain[act.sector] = 1;
    if (act.action.effect == LineEffect::donut) ring[act.sector] = 1;
  }
  spread_floors(map, chain, ring);
  constexpr std::uint16_t boss_tags[] = {666, 667};
  for (std::size_t i = 0; i < count; ++i) {
    const bool boss = std::ranges::find(boss_tags, map.sectors[i].tag) != std::end(boss_tags);
    if (chain[i] != 0 || ring[i] != 0 || boss) out.floor_moves[i] = 1;
    if (boss) out.ceiling_moves[i] = 1;
  }
  return out;
}

std::vector<SectorAction> sector_actions(const SectorMap& map) {
  std::vector<std::vector<std::uint32_t>> tagged;
  for (std::uint32_t i = 0; i < map.sectors.size(); ++i) {
    const std::uint16_t tag = map.sectors[i].tag;
    if (tag >= tagged.size()) tagged.resize(tag + 1u);
    if (tag != 0) tagged[tag].push_back(i);
  }
  std::vector<SectorAction> out;
  for (const MapLine& line : map.lines) {
    const auto action = line_action(map, line);
    if (!action) continue;
    if (action->sector_behind) {
      if (line.back != no_index) out.push_back({map.back_sector(line), *action});
    } else if (action->tag != 0 && action->tag < tagged.size()) {
      for (const std::uint32_t s : tagged[action->tag]) out.push_back({s, *action});
    }
  }
  return out;
}

std::vector<std::uint8_t> moving_ceilings(const SectorMap& map) {
  std::vector<std::uint8_t> out(map.sectors.size(), 0);
  for (const SectorAction& act : sector_actions(map))
    if (moves_ceiling(act.action.effect)) out[act.sector] = 1;
  return out;
}

OpenEffect open_effect(const LineAction& action) {
  switch (action.effect) {
    case LineEffect::door_raise:
    case LineEffect::door_open:
    case LineEffect::door_close_wait_open: return OpenEffect::raise_ceiling;
    case LineEffect::ceiling:
      return action.target == HeightTarget::highest_ceiling ? OpenEffect::raise_ceiling : OpenEffect::none;
    case LineEffect::lift:
    case LineEffect::lift_perpetual: return OpenEffect::lower_floor;
    case LineEffect::floor:
      // Walls and pedestals that give way, whichever neighbour they stop at.
      return action.target == HeightTarget::lowest_floor || action.target == HeightTarget::highest_floor ||
                     action.target == HeightTarget::next_lower_floor
                 ? OpenEffect::lower_floor
                 : OpenEffect::none;
    default: return OpenEffect::none;
  }
}

std::vector<DrawnHeights> heights_as_drawn(const SectorMap& map) {
  std::vector<DrawnHeights> out;
  out.reserve(map.sectors.size());
  for (const MapSector& s : map.sectors) out.push_back({s.floor, s.ceiling});
  return out;
}

std::vector<DrawnHeights> heights_with_open_doors(const SectorMap& map) {
  std::vector<DrawnHeights> out = heights_as_drawn(map);
  std::vector<OpenEffect> effect(map.sectors.size(), OpenEffect::none);
  // A door stays a door when something else lowers it too.
  const auto mark = [&](std::uint32_t sector, OpenEffect e) {
    if (effect[sector] != OpenEffect::raise_ceiling) effect[sector] = e;
  };
  for (std::uint32_t i = 0; i < map.sectors.size(); ++i)
    if (map.sectors[i].ceiling <= map.sectors[i].floor) mark(i, OpenEffect::raise_ceiling);
  for (const SectorAction& act : sector_actions(map)) {
    const OpenEffect e = open_effect(act.action);
    if (e != OpenEffect::none) mark(act.sector, e);
  }
  const auto around = neighbours_of(map);
  for (std::uint32_t i = 0; i < map.sectors.size(); ++i) {
    if (!around[i].any) continue;
    if (effect[i] == OpenEffect::raise_ceiling)
      out[i].ceiling = std::max(out[i].ceiling, around[i].lowest_ceiling - door_lip);
    if (effect[i] == OpenEffect::lower_floor) out[i].floor = std::min(out[i].floor, around[i].lowest_floor);
  }
  return out;
}

}  // namespace ashlar
