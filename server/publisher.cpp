#include "server/publisher.h"

#include <algorithm>
#include <tuple>

#include "world/sim/mechanics.h"

namespace ashlar::server {
namespace {

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

EntityRecord record_of(EntityId id, EntityKind kind, Turn16 yaw, Turn16 pitch, const Body& body) {
  EntityRecord r;
  r.id = id;
  r.kind = kind;
  r.yaw = quantise_turn(yaw);
  r.pitch = quantise_pitch(pitch);
  r.health = 255;
  r.flags = static_cast<std::uint8_t>((body.grounded != 0 ? entity_flag::grounded : 0) |
                                      (body.stuck_ticks != 0 ? entity_flag::recovering : 0));
  return r;
}

}  // namespace

void Publisher::add(DVec3 position, EntityRecord record) {
  const QuantisedPosition q = quantise(position);
  record.x = q.x, record.y = q.y, record.z = q.z;
  placed_.push_back({q.cell, record});
}

void Publisher::gather(const World& world) {
  placed_.clear();
  const PlayerTable& players = world.players();
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0}) continue;
    const PlayerCommand& c = players.command[i];
    add(players.body[i].position_m,
        record_of(players.id[i], EntityKind::player, c.yaw, c.pitch, players.body[i]));
  }
  const MonsterTable& monsters = world.monsters();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    EntityRecord r = record_of(monsters.id[i], entity_kind(monsters.kind[i]), monsters.yaw[i], Turn16{0},
                               monsters.body[i]);
    r.state = static_cast<std::uint8_t>(monsters.mood[i]);
    add(monsters.body[i].position_m, r);
  }
  std::ranges::sort(placed_, [](const Placed& a, const Placed& b) {
    return std::tuple(key(a.cell), static_cast<std::uint32_t>(a.record.id)) <
           std::tuple(key(b.cell), static_cast<std::uint32_t>(b.record.id));
  });

  std::swap(cells_, cells_before_);
  cells_.clear();
  records_.clear();
  for (const Placed& p : placed_) {
    if (cells_.empty() || cells_.back().coord != p.cell)
      cells_.push_back({p.cell, static_cast<std::uint32_t>(records_.size()), 0});
    ++cells_.back().count;
    records_.push_back(p.record);
  }

  blocks_.clear();
  for (const Cell& cell : cells_)
    blocks_.push_back({cell.coord, std::span(records_).subspan(cell.first, cell.count)});
  for (const Cell& cell : cells_before_) {
    // cells_ is sorted, as it was made from sorted entities.
    const auto now =
        std::ranges::lower_bound(cells_, key(cell.coord), {}, [](const Cell& c) { return key(c.coord); });
    if (cell.count != 0 && (now == cells_.end() || now->coord != cell.coord))
      blocks_.push_back({cell.coord, {}});
  }
  gather_heights(world);
  motions_ = news_.gather(world);
}

std::span<const CellBlock> Publisher::blocks_near(DVec3 eye_m, double radius_m) {
  near_.clear();
  for (const CellBlock& block : blocks_) {
    const double d2 = distance2(eye_m, block.cell);
    if (d2 <= radius_m * radius_m) near_.emplace_back(d2, block);
  }
  std::ranges::sort(near_, [](const auto& a, const auto& b) {
    return std::tuple(a.first, key(a.second.cell)) < std::tuple(b.first, key(b.second.cell));
  });
  picked_.clear();
  for (const auto& [d2, block] : near_) picked_.push_back(block);
  return picked_;
}

void Publisher::gather_heights(const World& world) {
  wire_heights_.clear();
  height_blocks_.clear();
  std::size_t total = 0;
  for (const MapInSpace& map : world.maps()) total += map.heights.size();
  if (total == 0) return;

  const std::size_t per_second = world.setup().rules.tick_rate_hz;
  wire_heights_.reserve(snapshot_sector_heights_max);  // spans below point into it
  gather_moving(world);
  const std::size_t room = snapshot_sector_heights_max - wire_heights_.size();
  const std::size_t share = std::min({(total + per_second - 1) / per_second, total, room});
  for (std::size_t sent = 0; sent < share && height_blocks_.size() < snapshot_sector_runs_max;) {
    next_sector_ %= total;
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
}

void Publisher::gather_moving(const World& world) {
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
