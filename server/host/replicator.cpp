#include "server/host/replicator.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "world/sim/dropped_items.h"
#include "world/sim/game_replication.h"
#include "world/sim/health.h"
#include "world/sim/mechanics.h"
#include "world/sim/pickups.h"
#include "world/sim/projectiles.h"

namespace ashlar::server {
namespace {

/// A cell whose entities a viewer cannot see is told to be empty once in so many snapshots: those it saw last
/// are soon forgotten, also when a datagram is lost, at a byte a snapshot.
constexpr std::uint32_t empty_every_rounds = 8;

auto key(CellCoord c) { return std::tuple(c.x, c.y, c.z); }

/// Squared distance from a point to a cell's cube.
double distance2(DVec3 p, CellCoord c) {
  const auto axis = [](double v, int cell) {
    const double low = static_cast<double>(cell) * cell_m;
    const double high = low + cell_m;
    return v < low ? low - v : v > high ? v - high : 0.0;
  };
  const double dx = axis(p.x, c.x), dy = axis(p.y, c.y), dz = axis(p.z, c.z);
  return dx * dx + dy * dy + dz * dz;
}

EntityRecord record_of(EntityId id, EntityKind kind, Turn16 yaw, Turn16 pitch, const Body& body,
                       std::uint8_t health) {
  EntityRecord r;
  r.id = id;
  r.kind = kind;
  r.yaw = quantise_turn(yaw);
  r.pitch = quantise_pitch(pitch);
  r.health = health;
  r.flags = static_cast<std::uint8_t>((body.grounded != 0 ? entity_flag::grounded : 0) |
                                      (health == 0 ? entity_flag::dead : 0) |
                                      (body.stuck_ticks != 0 ? entity_flag::recovering : 0));
  return r;
}

/// It looks where it flies.
EntityRecord record_of(const ProjectileTable& flying, std::size_t row) {
  EntityRecord r;
  r.id = flying.id[row];
  r.kind = projectile_entity_kind(flying.kind[row]);
  r.yaw = quantise_turn(turn_towards(xy(flying.velocity_mps[row])));
  r.health = 255;
  return r;
}

EntityRecord record_of(const ItemTable& items, std::size_t row) {
  static_assert(stack_items_max <= UINT8_MAX && block_kinds_max <= UINT8_MAX + 1);
  EntityRecord r;
  r.id = items.id[row];
  r.kind = EntityKind::item;
  r.state = static_cast<std::uint8_t>(items.stack[row].kind);
  r.health = static_cast<std::uint8_t>(items.stack[row].count);
  r.flags = items.rests[row] != 0 ? entity_flag::grounded : std::uint8_t{0};
  return r;
}

}  // namespace

void Replicator::add(DVec3 position, DVec3 velocity, const Cylinder& shape, EntityRecord record) {
  const QuantisedPosition q = quantise(position);
  record.x = q.x, record.y = q.y, record.z = q.z;
  placed_.push_back({q.cell, record, position, velocity, shape});
}

void Replicator::gather(const World& world, bool blocks) {
  placed_.clear();
  const PlayerTable& players = world.players();
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0} || players.spectates(i)) continue;
    add(players.body[i].position_m, players.body[i].velocity_mps, world.setup().rules.player,
        record_of(players.id[i], EntityKind::player, players.yaw[i], players.pitch[i], players.body[i],
                  health_share(players.health[i], world.setup().rules.player_health)));
  }
  const MonsterTable& monsters = world.monsters();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    EntityRecord r =
        record_of(monsters.id[i], entity_kind(monsters.kind[i]), monsters.yaw[i], Turn16{0}, monsters.body[i],
                  health_share(monsters.health[i], monsters.traits_at(i).health));
    r.state = static_cast<std::uint8_t>(monsters.mood[i]);
    const Body& body = monsters.body[i];
    add(body.position_m, body.velocity_mps, monsters.traits_at(i).shape, r);
  }
  const ProjectileTable& flying = world.projectiles();
  for (std::size_t i = 0; flying.count > 0 && i < flying.rows(); ++i) {
    if (flying.id[i] == EntityId{0}) continue;
    add(flying.position_m[i], flying.velocity_mps[i], monsters.projectile_traits(flying.kind[i]).shape,
        record_of(flying, i));
  }
  const ItemTable& items = world.items().table();
  for (std::size_t i = 0; items.count > 0 && i < items.rows(); ++i)
    if (items.id[i] != EntityId{0})
      add(items.position_m[i], items.velocity_mps[i], DroppedItems::shape, record_of(items, i));
  const PickupTable& pickups = world.pickups().table();
  for (std::size_t i = 0; world.pickups().lying() > 0 && i < pickups.rows(); ++i) {
    if (pickups.id[i] == EntityId{0}) continue;
    EntityRecord r;
    r.id = pickups.id[i];
    r.kind = item_entity_kind(pickups.item[i]);
    r.health = 255;
    add(pickups.position_m[i], {}, item_shape, r);
  }

  for (const OwnThing& thing : world.replication().things()) {
    if (thing.id == EntityId{0}) continue;
    EntityRecord r;
    r.id = thing.id;
    r.kind = thing.kind;
    r.yaw = quantise_turn(thing.yaw);
    r.state = thing.state;
    r.health = 255;
    add(thing.position_m, thing.velocity_mps, own_thing_shape, r);
  }

  maps_ = world.maps();
  rooms_.resize(maps_.size());
  for (std::size_t i = 0; i < maps_.size(); ++i) rooms_[i].update(*maps_[i].map, maps_[i].heights);
  if (blocks) {
    std::ranges::sort(placed_, [](const PlacedEntity& a, const PlacedEntity& b) {
      return std::tuple(key(a.cell), static_cast<std::uint32_t>(a.record.id)) <
             std::tuple(key(b.cell), static_cast<std::uint32_t>(b.record.id));
    });
    code_blocks();
    find_places();
    gather_heights(world);
  }
  motions_ = mover_replication_.gather(world);
}

void Replicator::code_blocks() {
  std::swap(cells_, cells_before_);
  cells_.clear();
  blocks_.clear();
  coded_.clear();
  coded_.reserve(placed_.size() * block_bytes(1) + cells_before_.size() * block_bytes(0));
  for (std::size_t i = 0; i < placed_.size();) {
    const CellCoord coord = placed_[i].cell;
    const std::size_t first = i;
    coded_.open(coord);
    for (; i < placed_.size() && placed_[i].cell == coord; ++i) coded_.add(placed_[i].record);
    cells_.push_back({coord, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(i - first)});
    blocks_.push_back(coded_.close());
  }
  for (const Cell& cell : cells_before_) {
    // cells_ is sorted, as it was made from sorted entities.
    const auto now =
        std::ranges::lower_bound(cells_, key(cell.coord), {}, [](const Cell& c) { return key(c.coord); });
    if (now != cells_.end() && now->coord == cell.coord) continue;
    coded_.open(cell.coord);
    blocks_.push_back(coded_.close());
  }
}

void Replicator::find_places() {
  places_.clear();
  touched_.clear();
  first_touched_.clear();
  ++round_;
  if (maps_.empty()) return;
  for (Cell& cell : cells_) {
    const std::size_t first = places_.size(), first_record = first_touched_.size();
    found_.clear();
    for (std::uint32_t i = cell.first; i < cell.first + cell.count; ++i) {
      first_touched_.push_back(static_cast<std::uint32_t>(found_.size()));
      sight_places(maps_, placed_[i].base, placed_[i].shape.radius_m, placed_[i].shape.height_m, found_);
    }
    places_.insert(places_.end(), found_.begin(), found_.end());
    const auto own = places_.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(own, places_.end());
    places_.erase(std::unique(own, places_.end()), places_.end());
    const auto base = static_cast<std::uint32_t>(touched_.size());
    for (std::size_t i = first_record; i < first_touched_.size(); ++i) first_touched_[i] += base;
    for (const SightPlace place : found_)
      touched_.push_back(static_cast<std::uint32_t>(
          std::lower_bound(places_.begin() + static_cast<std::ptrdiff_t>(first), places_.end(), place) -
          (places_.begin() + static_cast<std::ptrdiff_t>(first))));
    cell.first_place = static_cast<std::uint32_t>(first);
    cell.place_count = static_cast<std::uint32_t>(places_.size() - first);
  }
  first_touched_.push_back(static_cast<std::uint32_t>(touched_.size()));
}

std::optional<CellBlock> Replicator::visible_part(std::size_t block, bool all_empty,
                                                  const SightReach* reach) {
  const CellBlock& all = blocks_[block];
  if ((maps_.empty() && reach == nullptr) || block >= cells_.size()) return all;
  const Cell& cell = cells_[block];
  in_sight_.clear();
  std::size_t seen = 0;
  for (const SightPlace place : std::span(places_).subspan(cell.first_place, cell.place_count)) {
    in_sight_.push_back(visibility_query_.may_see(place) ? 1 : 0);
    seen += in_sight_.back();
  }
  if (seen == in_sight_.size() && reach == nullptr) return all;
  const auto in_sight = [this](std::size_t entity) {
    if (maps_.empty()) return true;
    const auto touched = std::span(touched_).subspan(first_touched_[entity],
                                                     first_touched_[entity + 1] - first_touched_[entity]);
    return std::ranges::any_of(touched, [this](std::uint32_t place) { return in_sight_[place] != 0; });
  };
  private_.open(all.cell);
  std::size_t visible = 0;
  for (std::uint32_t i = 0; (seen != 0 || maps_.empty()) && i < cell.count; ++i) {
    const std::size_t entity = cell.first + i;
    if (!in_sight(entity) || (reach != nullptr && !reach->may_see(placed_[entity]))) continue;
    private_.add(all.entities[i]);
    ++visible;
  }
  if (visible == cell.count) {
    private_.discard();
    return all;
  }
  if (visible == 0 && !all_empty && (round_ + block) % empty_every_rounds != 0) {
    private_.discard();
    return std::nullopt;
  }
  return private_.close();
}

std::span<const CellBlock> Replicator::blocks_near(DVec3 eye_m, double radius_m, double margin_m,
                                                   bool all_empty, const SightReach* reach) {
  near_.clear();
  private_.clear();
  // Every cell has one block in it at most, and every record is copied at most once.
  private_.reserve(cells_.size() * block_bytes(0) + placed_.size() * sizeof(EntityRecord));
  if (!maps_.empty()) visibility_query_.look_from(maps_, rooms_, eye_m, margin_m);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const double d2 = distance2(eye_m, blocks_[i].cell);
    if (d2 > radius_m * radius_m) continue;
    if (const auto block = visible_part(i, all_empty, reach)) near_.emplace_back(d2, *block);
  }
  std::ranges::sort(near_, [](const auto& a, const auto& b) {
    return std::tuple(a.first, key(a.second.cell)) < std::tuple(b.first, key(b.second.cell));
  });
  picked_.clear();
  for (const auto& [d2, block] : near_) picked_.push_back(block);
  return picked_;
}

/// Snapshots of a round over all sectors, its rest included, are one more than a multiple of this.
constexpr std::uint32_t round_stride = 6;

void Replicator::gather_heights(const World& world) {
  wire_heights_.clear();
  height_blocks_.clear();
  std::size_t total = 0;
  for (const MapInSpace& map : world.maps()) total += map.heights.size();
  if (total == 0) return;

  const std::uint32_t second = world.setup().rules.tick_rate_hz;
  const std::uint32_t tick = number(world.tick());
  const std::size_t ticks = std::min(tick - told_tick_, second);
  told_tick_ = tick;
  wire_heights_.reserve(snapshot_sector_heights_max);  // spans below point into it
  gather_moving(world);
  const std::size_t room = snapshot_sector_heights_max - wire_heights_.size();
  const std::size_t share = std::min({(total * ticks + second - 1) / second, total, room});
  if (resting_ > 0) {
    --resting_;
    return;
  }
  ++round_snapshots_;
  for (std::size_t sent = 0;
       sent < share && next_sector_ < total && height_blocks_.size() < snapshot_sector_runs_max;) {
    // The map and sector that the running number falls on.
    std::size_t map = 0, sector = next_sector_;
    while (sector >= world.maps()[map].heights.size()) sector -= world.maps()[map++].heights.size();
    const HeightsView heights = world.maps()[map].heights;
    const std::size_t count = std::min(share - sent, heights.size() - sector);
    const std::size_t start = wire_heights_.size();
    for (std::size_t i = 0; i < count; ++i) wire_heights_.push_back(quantise_heights(heights[sector + i]));
    height_blocks_.push_back({static_cast<std::uint16_t>(map), static_cast<std::uint16_t>(sector),
                              std::span(wire_heights_).subspan(start, count)});
    sent += count;
    next_sector_ += count;
  }
  if (next_sector_ < total) return;
  next_sector_ = 0;
  // Whose path takes every second, third or fourth snapshot would hear of the same sectors in each round: the
  // next one begins so late that it falls on others.
  resting_ = (round_stride + 1 - std::exchange(round_snapshots_, 0) % round_stride) % round_stride;
}

void Replicator::gather_moving(const World& world) {
  const auto add = [&](std::size_t map, std::uint32_t sector) {
    wire_heights_.push_back(quantise_heights(world.maps()[map].heights[sector]));
    height_blocks_.push_back({static_cast<std::uint16_t>(map), static_cast<std::uint16_t>(sector),
                              std::span(wire_heights_).last(1)});
  };
  // Some room stays for the round over all sectors, which also brings what is left out here.
  const std::size_t runs_max = std::min(snapshot_sector_runs_max, snapshot_sector_heights_max) * 3 / 4;
  for (const MoverEvent& e : world.mechanics().events())
    if (e.kind == MoverEventKind::arrived && height_blocks_.size() < runs_max) add(e.map, e.where);
  // More in motion than there is room take turns.
  const auto maps = world.mechanics().maps();
  const auto each = [&](auto&& visit) {
    for (std::size_t map = 0; map < maps.size(); ++map)
      for (const Mover& m : maps[map].movers.movers())
        if (m.moving()) visit(map, m.sector);
  };
  std::size_t moving = 0;
  each([&](std::size_t, std::uint32_t) { ++moving; });
  if (moving == 0) return;
  const std::size_t first = next_moving_ % moving;
  for (const bool before : {false, true}) {
    std::size_t i = 0;
    each([&](std::size_t map, std::uint32_t sector) {
      if ((i++ < first) != before || height_blocks_.size() >= runs_max) return;
      add(map, sector);
      ++next_moving_;
    });
  }
}

}  // namespace ashlar::server
