#include "world/sim/kept_state.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/placement.h"
#include "world/bsp/widest_heights.h"
#include "world/math/assert.h"
#include "world/math/hash.h"
#include "world/sim/mechanics.h"
#include "world/sim/monster_rows.h"
#include "world/sim/projectiles.h"
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

bool may_be(const KeptProjectile& kept, const MonsterTable& monsters) {
  constexpr double fastest_mps = 1000;  // none flies or falls as fast
  const KindSet& kinds = monsters.kind_set();
  if (kept.kind >= kinds.projectiles.size() || kept.life_ticks == 0 || !in_bounds(kept.position_m))
    return false;
  if (kept.bounces_left > kinds.projectiles[kept.kind].bounces) return false;
  const bool owned = kept.owner_row != KeptProjectile::nobody;
  return (!owned || kept.owner_row < monsters.rows()) && length(kept.velocity_mps) <= fastest_mps;
}

/// How long a phase lasts by the rules; 0: without end.
double phase_s(const Rules& rules, MatchPhase phase) {
  switch (phase) {
    case MatchPhase::warmup: return rules.warmup_s;
    case MatchPhase::playing: return rules.time_limit_s;
    case MatchPhase::intermission: return std::max<double>(1, rules.intermission_s);
    case MatchPhase::open: break;
  }
  return 0;
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

void keep_projectiles(const ProjectileTable& p, const MonsterTable& monsters,
                      std::vector<KeptProjectile>& out) {
  out.clear();
  if (p.count == 0) return;
  for (std::size_t i = 0; i < p.rows(); ++i) {
    if (p.id[i] == EntityId{0}) continue;
    KeptProjectile& kept = out.emplace_back();
    kept.kind = p.kind[i], kept.bounces_left = p.bounces_left[i], kept.life_ticks = p.life_ticks[i];
    kept.position_m = p.position_m[i], kept.velocity_mps = p.velocity_mps[i];
    const std::size_t slot = slot_of(p.owner[i]), first = p.first_slot - monsters.rows();
    const bool monsters_own = p.owner[i] != EntityId{0} && slot >= first && slot < p.first_slot;
    if (monsters_own && monsters.id[slot - first] == p.owner[i])
      kept.owner_row = static_cast<std::uint32_t>(slot - first);
  }
}

KeptMatch keep_match(const Match& match, GameMode mode) {
  return {mode, match.phase, match.number, match.left_ticks, match.team_score};
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

bool restore_projectiles(std::span<const KeptProjectile> kept, const MonsterTable& monsters,
                         bool same_monsters, ProjectileTable& p) {
  ASHLAR_ASSERT(p.count == 0);
  if (kept.size() > p.rows()) return false;
  if (!std::ranges::all_of(kept, [&](const KeptProjectile& one) { return may_be(one, monsters); }))
    return false;
  for (const KeptProjectile& one : kept) {
    const std::size_t row = p.take();
    p.kind[row] = one.kind, p.bounces_left[row] = one.bounces_left, p.life_ticks[row] = one.life_ticks;
    p.position_m[row] = one.position_m, p.velocity_mps[row] = one.velocity_mps;
    p.target[row] = EntityId{0};
    const bool owned = same_monsters && one.owner_row != KeptProjectile::nobody;
    p.owner[row] = owned ? monsters.id[one.owner_row] : EntityId{0};
  }
  return true;
}

bool restore_match(const KeptMatch& kept, const Rules& rules, bool resumes, Match& match) {
  if (kept.number == 0) return false;
  const double most_s = phase_s(rules, kept.phase);
  const bool ends = kept.phase == MatchPhase::warmup || kept.phase == MatchPhase::intermission;
  const bool known = resumes && kept.mode == rules.mode &&
                     (kept.phase == MatchPhase::open) == (match.phase == MatchPhase::open) &&
                     (!ends || (kept.left_ticks > 0 && most_s > 0));
  if (!known) {
    match.number = std::max(1u, kept.number + 1);
    return false;
  }
  match.number = kept.number;
  match.phase = kept.phase;
  match.team_score = kept.team_score;
  const auto most = static_cast<std::uint32_t>(most_s * rules.tick_rate_hz);
  match.left_ticks = kept.left_ticks == 0 ? most : std::min(kept.left_ticks, most);
  return true;
}

}  // namespace ashlar
