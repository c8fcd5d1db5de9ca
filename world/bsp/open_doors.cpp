#include "world/bsp/open_doors.h"

#include <algorithm>

namespace ashlar {
namespace {

constexpr double door_lip = 4;  // Doom leaves this much of a door in sight

struct Special {
  std::uint16_t number;
  OpenEffect effect;
};

constexpr OpenEffect door = OpenEffect::raise_ceiling;
constexpr OpenEffect lift = OpenEffect::lower_floor;

/// Doom's specials that open something (linedef types of the published Doom source, p_spec.c and p_switch.c).
constexpr Special doom_specials[] = {
    // Doors: manual, by switch, by walking and by shooting, the locked ones and the fast ones.
    {1, door},
    {2, door},
    {4, door},
    {26, door},
    {27, door},
    {28, door},
    {29, door},
    {31, door},
    {32, door},
    {33, door},
    {34, door},
    {46, door},
    {61, door},
    {63, door},
    {86, door},
    {90, door},
    {99, door},
    {103, door},
    {105, door},
    {106, door},
    {108, door},
    {109, door},
    {111, door},
    {112, door},
    {114, door},
    {115, door},
    {117, door},
    {118, door},
    {133, door},
    {134, door},
    {135, door},
    {136, door},
    {137, door},
    // Ceilings that rise for good.
    {40, door},
    // Lifts: down, wait, up.
    {10, lift},
    {21, lift},
    {62, lift},
    {88, lift},
    {120, lift},
    {121, lift},
    {122, lift},
    {123, lift},
    // Perpetual platforms stand low as well.
    {53, lift},
    {87, lift},
    // Floors that sink for good: walls and pedestals that give way.
    {19, lift},
    {23, lift},
    {36, lift},
    {38, lift},
    {45, lift},
    {60, lift},
    {70, lift},
    {71, lift},
    {82, lift},
    {83, lift},
    {98, lift},
    {102, lift},
    {37, lift},
    {84, lift},
};
/// The same in the numbering with arguments.
constexpr Special zdoom_specials[] = {{11, door}, {12, door}, {13, door}, {20, lift},
                                      {21, lift}, {22, lift}, {40, door}, {60, lift},
                                      {62, lift}, {63, lift}, {64, lift}, {206, lift}};

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

}  // namespace

OpenEffect open_effect(std::uint16_t special, SpecialNumbers numbers) {
  const auto find = [special](const auto& table) {
    for (const Special& s : table)
      if (s.number == special) return s.effect;
    return OpenEffect::none;
  };
  return numbers == SpecialNumbers::doom ? find(doom_specials) : find(zdoom_specials);
}

std::vector<SectorHeights> heights_as_drawn(const SectorMap& map) {
  std::vector<SectorHeights> out;
  out.reserve(map.sectors.size());
  for (const MapSector& s : map.sectors) out.push_back({s.floor, s.ceiling});
  return out;
}

std::vector<SectorHeights> heights_with_open_doors(const SectorMap& map) {
  std::vector<SectorHeights> out = heights_as_drawn(map);
  std::vector<OpenEffect> effect(map.sectors.size(), OpenEffect::none);
  // A door stays a door when something else lowers it too.
  const auto mark = [&](std::uint32_t sector, OpenEffect e) {
    if (effect[sector] != OpenEffect::raise_ceiling) effect[sector] = e;
  };
  for (std::uint32_t i = 0; i < map.sectors.size(); ++i)
    if (map.sectors[i].ceiling <= map.sectors[i].floor) mark(i, OpenEffect::raise_ceiling);
  std::vector<std::vector<std::uint32_t>> tagged;
  for (std::uint32_t i = 0; i < map.sectors.size(); ++i) {
    const std::uint16_t tag = map.sectors[i].tag;
    if (tag >= tagged.size()) tagged.resize(tag + 1u);
    if (tag != 0) tagged[tag].push_back(i);
  }
  for (const MapLine& line : map.lines) {
    const OpenEffect e = open_effect(line.special, map.specials);
    if (e == OpenEffect::none) continue;
    const std::uint32_t tag = map.specials == SpecialNumbers::doom
                                  ? line.tag
                                  : static_cast<std::uint32_t>(std::max(line.args[0], 0));
    if (tag != 0) {
      if (tag < tagged.size())
        for (const std::uint32_t s : tagged[tag]) mark(s, e);
    } else if (line.back != no_index && e == OpenEffect::raise_ceiling) {
      mark(map.back_sector(line), e);  // opened by hand: the sector behind the line
    }
  }
  const auto around = neighbours_of(map);
  for (std::uint32_t i = 0; i < map.sectors.size(); ++i) {
    if (!around[i].any) continue;
    if (effect[i] == OpenEffect::raise_ceiling)
      out[i].ceiling_m = std::max(out[i].ceiling_m, around[i].lowest_ceiling - door_lip);
    if (effect[i] == OpenEffect::lower_floor)
      out[i].floor_m = std::min(out[i].floor_m, around[i].lowest_floor);
  }
  return out;
}

}  // namespace ashlar
