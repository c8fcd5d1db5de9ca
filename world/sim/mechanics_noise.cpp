// What monsters hear of players.
#include <algorithm>
#include <array>

#include "world/bsp/column.h"
#include "world/math/assert.h"
#include "world/sim/map_plan.h"
#include "world/sim/mechanics.h"
#include "world/sim/monster_think.h"

namespace ashlar {
namespace {

/// Calls hears(row) for each monster of `rows` candidates that a noise reaches in the maps it is made in.
/// @return false: it is made in none
template <typename Maps, typename Near, typename Hears>
bool spread_in_maps(Maps& maps, const MechanicsTick& tick, DVec3 from_m, Near&& near, Hears&& hears) {
  bool within = false;
  const MonsterTable& m = tick.monsters;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const MapPlan& plan = *maps[i].plan;
    if (!in_box(plan.map(), from_m)) continue;
    within = true;
    const std::uint32_t sector = plan.sector_at(xy(from_m));
    if (sector == no_index) continue;
    NoiseFlood& noise = maps[i].noise;
    noise.spread(plan, tick.heights[i], sector);
    for (std::size_t k = 0; k < m.rows(); ++k) {
      if (m.id[k] == EntityId{0} || !near(k) || !in_box(plan.map(), m.body[k].position_m)) continue;
      const std::uint32_t its = plan.sector_at(xy(m.body[k].position_m));
      if (its != no_index && noise.heard(its)) hears(k);
    }
  }
  return within;
}

template <typename Maps>
bool under_a_map(const Maps& maps, DVec3 at_m) {
  return std::ranges::any_of(maps, [&](const auto& map) { return in_box(map.plan->map(), at_m); });
}

}  // namespace

bool Mechanics::may_sound() {
  if (noises_now_ == noises_max) {
    ++counters_.drowned;
    return false;
  }
  ++noises_now_;
  ++counters_.noises;
  return true;
}

void Mechanics::make_noise(MechanicsTick& tick, std::size_t row) {
  if (!may_sound()) return;
  ASHLAR_ASSERT(row < tick.players.rows());
  MonsterTable& m = tick.monsters;
  const DVec3 from = tick.players.body[row].position_m;
  const EntityId who = tick.players.id[row];
  const auto hears = [&](std::size_t k) { monster_hears(tick.rules, m, k, who, from); };
  if (spread_in_maps(maps_, tick, from, [](std::size_t) { return true; }, hears)) return;
  for (std::size_t k = 0; k < m.rows(); ++k) {
    const DVec3 away = m.body[k].position_m - from;
    if (m.id[k] == EntityId{0} || dot(away, away) > noise_reach_m * noise_reach_m) continue;
    if (!under_a_map(maps_, m.body[k].position_m)) hears(k);
  }
}

void Mechanics::noise(MechanicsTick& tick, EntityId who, DVec3 from_m, double share) {
  if (!tick.players.has(who)) return;
  MonsterTable& m = tick.monsters;
  const auto near = [&](std::size_t k) {
    const bool listens = m.mood[k] == MonsterMood::asleep || m.mood[k] == MonsterMood::wander;
    if (!listens || m.deaf[k] != 0) return false;
    const DVec3 away = m.body[k].position_m - from_m;
    const double reach_m = m.traits_at(k).hearing_m * share;
    return dot(away, away) <= reach_m * reach_m;
  };
  bool any = false;
  for (std::size_t k = 0; k < m.rows() && !any; ++k) any = m.id[k] != EntityId{0} && near(k);
  if (!any || !may_sound()) return;
  const auto hears = [&](std::size_t k) { monster_hears(tick.rules, m, k, who, from_m); };
  if (spread_in_maps(maps_, tick, from_m, near, hears)) return;
  for (std::size_t k = 0; k < m.rows(); ++k)
    if (m.id[k] != EntityId{0} && near(k) && !under_a_map(maps_, m.body[k].position_m)) hears(k);
}

void Mechanics::line_noise(MechanicsTick& tick, const MoverEvent& event) {
  ASHLAR_ASSERT(event.kind == MoverEventKind::switched && event.map < maps_.size());
  if (!tick.players.has(event.entity)) return;
  constexpr std::size_t places_max = 4;
  constexpr double off_line_m = 0.1;
  const MapPlan& plan = *maps_[event.map].plan;
  const double z = tick.players.body[slot_of(event.entity)].position_m.z;
  /// Beside a line's middle, on the side of a sector.
  const auto beside = [&](std::uint32_t line, std::uint32_t sector) {
    const DVec2 a = plan.start_m(line), b = plan.end_m(line), along = b - a;
    const double size = length(along);
    const DVec2 front = size > 0 ? DVec2{along.y, -along.x} * (off_line_m / size) : DVec2{};
    const SectorMap& source = plan.map().source();
    const DVec2 at = (a + b) * 0.5;
    return source.front_sector(source.lines[line]) == sector ? at + front : at - front;
  };
  std::array<std::uint32_t, places_max> heard{};
  std::size_t count = 0;
  const auto sound = [&](std::uint32_t line, std::uint32_t sector) {
    const bool again = std::find(heard.begin(), heard.begin() + count, sector) != heard.begin() + count;
    if (sector == no_index || again || count == places_max) return;
    heard[count++] = sector;
    const DVec2 at = beside(line, sector);
    noise(tick, event.entity, {at.x, at.y, z}, 1);
  };
  const DVec2 by = xy(tick.players.body[slot_of(event.entity)].position_m);
  const SectorMap& source = plan.map().source();
  const MapLine& line = source.lines[event.where];
  sound(event.where, plan.in_front(event.where, by) ? source.front_sector(line) : source.back_sector(line));
  const LineAction* action = plan.action(event.where);
  ASHLAR_ASSERT(action != nullptr);
  const auto moves = [&](std::uint32_t sector) {
    for (const std::uint32_t l : plan.lines_of(sector)) sound(l, plan.beside(sector, l));
  };
  const std::uint32_t behind = source.back_sector(line);
  if (action->sector_behind && behind != no_index) moves(behind);
  for (const auto& [tag, sector] : plan.tagged(action->tag)) moves(sector);
}

}  // namespace ashlar
