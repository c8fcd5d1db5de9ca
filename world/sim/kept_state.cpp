#include "world/sim/kept_state.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/placement.h"
#include "world/bsp/widest_heights.h"
#include "world/math/assert.h"
#include "world/math/hash.h"
#include "world/sim/mechanics.h"
#include "world/sim/monster_rows.h"
#include "world/sim/rules.h"

namespace ashlar {
namespace {

/// May a plane of a sector ever be there? Motions add up steps, so not to the last bit.
struct PlaneWays {
  explicit PlaneWays(const PlacedMap& given) : map(given), widest(widest_heights(given.source())) {}

  bool within(std::size_t sector, double height_m) const {
    constexpr double slack_m = 1e-3;
    const double low = std::max(map.z_to_world(widest[sector].floor), -world_height_m);
    const double high = std::min(map.z_to_world(widest[sector].ceiling), world_height_m);
    return height_m >= low - slack_m && height_m <= high + slack_m;  // false for NaN
  }

  const PlacedMap& map;
  std::vector<DrawnHeights> widest;
};

bool fits(const KeptSectors& kept, const PlacedMap& map, const MapMechanics& mechanics) {
  const std::size_t sectors = map.initial_heights().size();
  if (kept.heights.size() != sectors || kept.spent.size() != mechanics.spent.size()) return false;
  if (std::ranges::any_of(kept.spent, [](std::uint8_t v) { return v > 1; })) return false;
  const PlaneWays ways(map);
  if (ways.widest.size() != sectors) return false;
  const HeightsView at_start = map.initial_heights();
  for (std::size_t i = 0; i < sectors; ++i) {
    const SectorHeights& h = kept.heights[i];
    // Those that never move may stand anywhere, as the map draws them.
    if (h.floor_m != at_start[i].floor_m && !ways.within(i, h.floor_m)) return false;
    if (h.ceiling_m != at_start[i].ceiling_m && !ways.within(i, h.ceiling_m)) return false;
  }
  return std::ranges::all_of(kept.movers, [&](const Mover& m) {
    return m.sector < sectors && mover_sane(m) && ways.within(m.sector, m.low_m) &&
           ways.within(m.sector, m.high_m);
  });
}

bool may_be(const KeptMonster& kept, const MonsterTable& monsters) {
  const KindSet& kinds = monsters.kind_set();
  if (kept.row >= monsters.rows() || static_cast<std::size_t>(kept.kind) >= kinds.monsters.size())
    return false;
  if (!in_bounds(kept.position_m) || !in_bounds(kept.home_m)) return false;
  if (kept.health == 0) return kept.respawn_ticks > 0;
  return kept.respawn_ticks == 0 && kept.health <= monsters.traits_of(kept.kind).health;
}

}  // namespace

std::uint64_t hash_of_first_monsters(std::span<const std::shared_ptr<const PlacedMap>> maps,
                                     const MonsterTable& monsters, std::uint64_t seed, std::uint32_t at_start,
                                     std::uint8_t skill) {
  Hasher h;
  h.add(seed);
  for (const auto& map : maps) h.add(map->content_hash());
  h.add(static_cast<std::uint64_t>(monsters.rows()));
  h.add(static_cast<std::uint64_t>(at_start) << 8 | skill);
  for (const MonsterTraits& kind : monsters.kind_set().monsters) {
    h.add(kind.shape.radius_m), h.add(kind.shape.height_m);
    h.add(static_cast<std::uint64_t>(kind.health));
  }
  return h.value();
}

void keep_sectors(std::span<const std::shared_ptr<const PlacedMap>> maps,
                  std::span<const std::vector<SectorHeights>> heights, const Mechanics& mechanics,
                  std::vector<KeptSectors>& out) {
  out.resize(maps.size());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const MapMechanics& from = mechanics.maps()[i];
    const auto movers = from.movers.movers();
    out[i].map_hash = maps[i]->content_hash();
    out[i].heights = heights[i];
    out[i].movers.assign(movers.begin(), movers.end());
    out[i].spent = from.spent;
  }
}

void keep_monsters(const MonsterTable& m, std::vector<KeptMonster>& out) {
  out.clear();
  for (std::size_t row = 0; row < m.rows(); ++row) {
    const bool lives = m.id[row] != EntityId{0};
    if (!lives && m.respawn_ticks[row] == 0) continue;
    KeptMonster& kept = out.emplace_back();
    kept.row = static_cast<std::uint32_t>(row);
    kept.kind = m.kind[row];
    kept.health = lives ? m.health[row] : std::uint16_t{0};
    kept.respawn_ticks = lives ? 0 : m.respawn_ticks[row];
    kept.deaf = m.deaf[row] != 0;
    kept.asleep = m.mood[row] == MonsterMood::asleep;
    kept.position_m = lives ? m.body[row].position_m : m.home_m[row];
    kept.yaw = m.yaw[row];
    kept.home_m = m.home_m[row];
    kept.home_yaw = m.home_yaw[row];
  }
}

std::size_t restore_sectors(std::span<const KeptSectors> kept,
                            std::span<const std::shared_ptr<const PlacedMap>> maps,
                            std::span<std::vector<SectorHeights>> heights, Mechanics& mechanics) {
  std::size_t anew = 0;
  MechanicsState state;
  mechanics.save_sectors(state);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const bool here = i < kept.size() && kept[i].map_hash == maps[i]->content_hash() &&
                      fits(kept[i], *maps[i], mechanics.maps()[i]) &&
                      state.maps[i].movers.assign(kept[i].movers);
    if (!here) {
      ++anew;
      continue;
    }
    state.maps[i].spent = kept[i].spent;
    std::ranges::copy(kept[i].heights, heights[i].begin());
  }
  mechanics.restore_sectors(state);
  return anew;
}

bool restore_monsters(std::span<const KeptMonster> kept, MonsterTable& m, std::uint64_t seed,
                      std::uint32_t first_slot) {
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (!may_be(kept[i], m) || (i > 0 && kept[i].row <= kept[i - 1].row)) return false;
  for (std::size_t row = 0; row < m.rows(); ++row) m.id[row] = EntityId{0}, m.respawn_ticks[row] = 0;
  for (const KeptMonster& one : kept) {
    const std::size_t row = one.row;
    enter_monster_at(m, row, {one.kind, {one.home_m, one.home_yaw}, one.deaf, one.asleep}, seed, first_slot);
    if (one.health == 0) {
      m.id[row] = EntityId{0};
      m.respawn_ticks[row] = one.respawn_ticks;
      continue;
    }
    m.body[row].position_m = m.body[row].last_free_m = m.goal_m[row] = one.position_m;
    m.yaw[row] = one.yaw;
    m.health[row] = one.health;
  }
  return true;
}

}  // namespace ashlar
