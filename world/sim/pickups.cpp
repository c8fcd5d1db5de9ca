#include "world/sim/pickups.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "world/bsp/column.h"
#include "world/bsp/placement.h"
#include "world/collide/recover.h"
#include "world/math/assert.h"
#include "world/sim/combat.h"
#include "world/sim/map_plan.h"
#include "world/sim/projectiles.h"
#include "world/sim/spawn.h"
#include "world/sim/world.h"

namespace ashlar {
namespace {

constexpr std::uint8_t no_map = 255;
constexpr double under_feet_m = 1;  // ground that is looked for below what drops

bool is_key(std::uint8_t item) { return item_type(item).pickup == PickupKind::key; }

/// P_RemoveMobj: these do not come back.
bool comes_back(std::uint8_t item) {
  const ThingType& type = item_type(item);
  const auto power = static_cast<Power>(type.value - 1);
  return type.pickup != PickupKind::power ||
         (power != Power::invulnerability && power != Power::invisibility);
}

DVec3 on_floor(const Space& space, std::uint8_t map, DVec3 at) {
  if (map == no_map || map >= space.maps.size()) return at;
  const MapInSpace& in = space.maps[map];
  const auto ground = map_floor_ceiling(*in.map, in.heights, xy(at), 0.01);
  return ground ? DVec3{at.x, at.y, ground->floor_m} : at;
}

/// On which map's floor something lies; no_map: on blocks, or on nothing.
std::uint8_t map_under(const Space& space, DVec3 at) {
  constexpr double near_m = 0.1;
  for (std::size_t map = 0; map < space.maps.size() && map < no_map; ++map) {
    if (!in_box(*space.maps[map].map, at)) continue;
    const auto index = static_cast<std::uint8_t>(map);
    if (std::fabs(on_floor(space, index, at).z - at.z) < near_m) return index;
  }
  return no_map;
}

/// What a monster left.
struct Drop {
  double x = 0;
  std::size_t row = 0;
  bool operator<(const Drop& other) const { return x < other.x; }
};

/// All that lie, by x. @return behind the last one
std::array<Drop, drops_max>::iterator lying_drops(const PickupTable& items,
                                                  std::array<Drop, drops_max>& out) {
  auto end = out.begin();
  for (std::size_t row = items.dropped_from; row < items.rows(); ++row)
    if (items.id[row] != EntityId{0}) *end++ = {items.position_m[row].x, row};
  std::sort(out.begin(), end);
  return end;
}

/// Where an item of a map lies: nearest to its thing, out of all solids.
std::optional<DVec3> free_place(const Space& space, DVec3 at) {
  if (!space_overlaps(space, item_shape, at)) return at;
  return recovery_target(space, item_shape, at, at);
}

}  // namespace

Pickups::Pickups(const WorldSetup& setup, const Space& space) {
  items_.first_slot = setup.players_max + setup.monsters_max + projectiles_max + items_max;
  for (std::size_t map = 0; map < setup.maps.size() && setup.rules.items == Switch::on; ++map)
    for (const PlacedThing& thing : setup.maps[map]->things()) {
      const std::uint8_t item = item_of_thing(thing.type);
      if (thing.sector == no_index || item == item_none || !thing_in_game(thing.flags, setup.rules)) continue;
      // Keys are taken where their thing is (Mechanics).
      const auto at = is_key(item) ? std::optional(thing.position_m) : free_place(space, thing.position_m);
      if (!at) continue;
      items_.item.push_back(item);
      items_.position_m.push_back(*at);
      items_.map.push_back(static_cast<std::uint8_t>(map));
    }
  items_.dropped_from = items_.item.size();
  const std::size_t rows = items_.dropped_from + drops_max;
  ASHLAR_ASSERT(items_.first_slot + rows < (1u << entity_slot_bits));
  items_.id.resize(rows), items_.generation.resize(rows), items_.item.resize(rows);
  items_.position_m.resize(rows), items_.map.resize(rows, no_map), items_.left_ticks.resize(rows);
  events_.reserve(setup.players_max);

  first_.assign(cells_across * cells_across + 1, 0);
  for (std::size_t i = 0; i < items_.dropped_from; ++i) ++first_[cell_of(items_.position_m[i]) + 1];
  for (std::size_t c = 1; c < first_.size(); ++c) first_[c] += first_[c - 1];
  by_cell_.resize(items_.dropped_from);
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < items_.dropped_from; ++i)
    by_cell_[next[cell_of(items_.position_m[i])]++] = static_cast<std::uint32_t>(i);
  for (std::size_t i = 0; i < items_.dropped_from; ++i) put(i);
}

std::size_t Pickups::cell_at(std::int32_t x, std::int32_t y) {
  return static_cast<std::uint32_t>(y) % cells_across * cells_across +
         static_cast<std::uint32_t>(x) % cells_across;
}

void Pickups::put(std::size_t row) {
  ASHLAR_ASSERT(items_.id[row] == EntityId{0});
  items_.generation[row] = next_generation(items_.generation[row]);
  items_.id[row] =
      make_entity_id(items_.first_slot + static_cast<std::uint32_t>(row), items_.generation[row]);
  items_.left_ticks[row] = 0;
  ++lying_;
}

void Pickups::take_away(std::size_t row) {
  ASHLAR_ASSERT(items_.id[row] != EntityId{0} && lying_ > 0);
  items_.id[row] = EntityId{0};
  items_.left_ticks[row] = 0;
  --lying_;
  if (row < items_.dropped_from) return;
  ASHLAR_ASSERT(dropped_ > 0);
  --dropped_;
}

void Pickups::try_take(PickupsTick& tick, std::size_t row, std::size_t player_row) {
  if (items_.id[row] == EntityId{0} || is_key(items_.item[row])) return;
  const DVec3 at = items_.position_m[row];
  const DVec3 who = tick.players.body[player_row].position_m;
  if (std::fabs(at.x - who.x) >= key_reach_m || std::fabs(at.y - who.y) >= key_reach_m ||
      !key_beside(at.z, who.z, tick.rules.player.height_m))
    return;
  const bool dropped = row >= items_.dropped_from;
  if (!give_item(tick.kinds, tick.rules, items_.item[row], dropped, tick.players, player_row)) return;
  ++taken_;
  // One a player that is told of; what more it takes in a tick it has all the same.
  if (events_.size() < events_.capacity())
    events_.push_back({tick.players.id[player_row], items_.item[row], at});
  take_away(row);
  if (!dropped && tick.rules.item_respawn_s > 0 && comes_back(items_.item[row]))
    items_.left_ticks[row] = std::uint32_t{tick.rules.item_respawn_s} * tick.rules.tick_rate_hz;
}

void Pickups::follow_floors(const PickupsTick& tick) {
  if (follow_left_ == 0) return;
  --follow_left_;
  const std::uint32_t every = follow_ticks(tick.rules);
  for (std::size_t i = 0; i < items_.rows(); ++i)
    if (items_.map[i] != no_map && (tick.tick + i) % every == 0)
      items_.position_m[i] = on_floor(tick.space, items_.map[i], items_.position_m[i]);
}

void Pickups::advance(PickupsTick& tick) {
  events_.clear();
  if (items_.dropped_from == 0 && dropped_ == 0) return;
  follow_floors(tick);
  for (std::size_t i = 0; i < items_.rows(); ++i) {
    if (items_.left_ticks[i] == 0) continue;
    --items_.left_ticks[i];
    if (items_.left_ticks[i] > 0) continue;
    i < items_.dropped_from ? put(i) : take_away(i);
  }
  // What the dead left, from west to east: a player looks at a strip of it.
  std::array<Drop, drops_max> drops;
  const auto drops_end = lying_drops(items_, drops);
  PlayerTable& p = tick.players;
  for (std::size_t row = 0; row < p.rows(); ++row) {
    if (!p.alive(row) || p.body[row].noclip != 0) continue;
    const DVec3 at = p.body[row].position_m;
    const auto first_x = floor_to_int((at.x - key_reach_m) / cell_m),
               last_x = floor_to_int((at.x + key_reach_m) / cell_m);
    const auto first_y = floor_to_int((at.y - key_reach_m) / cell_m),
               last_y = floor_to_int((at.y + key_reach_m) / cell_m);
    for (auto y = first_y; y <= last_y; ++y)
      for (auto x = first_x; x <= last_x; ++x) {
        const std::size_t cell = cell_at(x, y);
        for (std::uint32_t k = first_[cell]; k < first_[cell + 1]; ++k) try_take(tick, by_cell_[k], row);
      }
    // Taken in the order of rows, wherever they lie.
    std::array<std::size_t, drops_max> near;
    std::size_t near_count = 0;
    constexpr double reach_m = key_reach_m + 0.01;  // try_take() is exact
    for (auto drop = std::lower_bound(drops.begin(), drops_end, Drop{at.x - reach_m, 0});
         drop != drops_end && drop->x <= at.x + reach_m; ++drop)
      near[near_count++] = drop->row;
    std::sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(near_count));
    for (std::size_t i = 0; i < near_count; ++i) try_take(tick, near[i], row);
  }
}

void Pickups::drop(PickupsTick& tick, std::span<const FallenMonster> dead) {
  if (tick.rules.items == Switch::off) return;
  for (const FallenMonster& who : dead) {
    const std::uint8_t item = item_of_thing(who.drop);
    if (item == item_none) continue;
    std::size_t row = items_.dropped_from;
    while (row < items_.rows() && items_.id[row] != EntityId{0}) ++row;
    if (row == items_.rows()) return;
    DVec3 at = who.base_m;
    const auto ground = space_ground_below(tick.space, xy(at), item_shape.radius_m, at.z + 0.1, 64);
    if (ground && at.z - *ground > under_feet_m) at.z = *ground;
    items_.item[row] = item;
    items_.position_m[row] = at;
    items_.map[row] = map_under(tick.space, at);
    put(row);
    ++dropped_;
    items_.left_ticks[row] = tick.rules.ticks_within(drop_life_s, 1);
  }
}

bool Pickups::take(std::size_t row, std::uint32_t back_ticks) {
  if (row >= items_.rows() || items_.id[row] == EntityId{0} || is_key(items_.item[row])) return false;
  take_away(row);
  if (row < items_.dropped_from) items_.left_ticks[row] = back_ticks;
  return true;
}

bool Pickups::put_back(std::size_t row) {
  if (row >= items_.dropped_from || items_.id[row] != EntityId{0}) return false;
  put(row);
  return true;
}

void Pickups::reset(const Space& space) {
  events_.clear();
  for (std::size_t i = 0; i < items_.rows(); ++i) {
    if (items_.map[i] != no_map) items_.position_m[i] = on_floor(space, items_.map[i], items_.position_m[i]);
    if (i >= items_.dropped_from && items_.id[i] != EntityId{0}) take_away(i);
    if (i < items_.dropped_from && items_.id[i] == EntityId{0}) put(i);
  }
}

void Pickups::add_to_hash(StripeHasher& hash) const {
  hash.add(static_cast<std::uint64_t>(lying_) << 32 | dropped_);
  hash.add(static_cast<std::uint64_t>(follow_left_));
  hash.add_list(items_.generation);
  hash.add_list(items_.left_ticks);
  // Which of the maps' lie there, and how high: the plane is the map's.
  for (std::size_t i = 0; i < items_.dropped_from; ++i)
    hash.add(static_cast<std::uint64_t>(items_.id[i])), hash.add(items_.position_m[i].z);
  for (std::size_t i = items_.dropped_from; dropped_ > 0 && i < items_.rows(); ++i) {
    if (items_.id[i] == EntityId{0}) continue;
    hash.add(static_cast<std::uint64_t>(items_.map[i]) << 8 | items_.item[i]);
    hash.add(items_.position_m[i]);
  }
}

}  // namespace ashlar
