#include "world/sim/ground_spawner.h"

#include <algorithm>
#include <cmath>

#include "world/sim/monster_rows.h"
#include "world/sim/spawn.h"
#include "world/voxel/volume.h"

namespace ashlar {
namespace {

constexpr std::uint64_t ground_spawn_draws = 9;  // purpose of rng_for
constexpr double above_m = 16;                   // of a player: where the search for ground begins, and ends
constexpr double group_spread_m = 4;

double beside2(DVec3 a, DVec3 b) {
  const DVec2 d = xy(a) - xy(b);
  return dot(d, d);
}

bool under_sky(const VoxelVolume& voxels, const BlockRegistry& blocks, IVec3 at) {
  ChunkCursor cursor(voxels);
  for (std::int32_t up = 1; up <= GroundSpawner::sky_blocks; ++up) {
    const IVec3 above{at.x, at.y, at.z + up};
    const Chunk* const chunk = cursor.at(chunk_of(above));
    if (chunk == nullptr) return true;
    const BlockId id = chunk->block(local_in_chunk(above));
    if (!blocks.knows(id) || blocks.type(id).opaque) return false;
  }
  return true;
}

bool may_shine(const Chunk& chunk, const BlockRegistry& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks.types()[i].light > 0 && chunk.may_hold(static_cast<BlockId>(i))) return true;
  return false;
}

/// How bright a place is by the lamps of a chunk, if that is more than it is already.
int lit_by(const Chunk& chunk, ChunkCoord where, const BlockRegistry& blocks, IVec3 at, int brightest) {
  const IVec3 corner{where.x * chunk_size, where.y * chunk_size, where.z * chunk_size};
  const IVec3 here = at - corner;
  const auto low = [](std::int32_t v) { return std::max(v - GroundSpawner::lamp_blocks, 0); };
  const auto high = [](std::int32_t v) { return std::min(v + GroundSpawner::lamp_blocks, chunk_size - 1); };
  for (std::int32_t z = low(here.z); z <= high(here.z); ++z)
    for (std::int32_t y = low(here.y); y <= high(here.y); ++y)
      for (std::int32_t x = low(here.x); x <= high(here.x); ++x) {
        const std::int32_t away = std::abs(x - here.x) + std::abs(y - here.y) + std::abs(z - here.z);
        if (block_light_max - away <= brightest) continue;
        const BlockId id = chunk.block({x, y, z});
        if (blocks.knows(id)) brightest = std::max(brightest, static_cast<int>(blocks.type(id).light) - away);
      }
  return brightest;
}

}  // namespace

int GroundSpawner::light_at(const VoxelVolume& voxels, const BlockRegistry& blocks, IVec3 at, int sky) {
  int brightest = under_sky(voxels, blocks, at) ? sky : 0;
  if (brightest == block_light_max) return brightest;
  constexpr IVec3 reach{lamp_blocks, lamp_blocks, lamp_blocks};
  const ChunkCoord low = chunk_of(at - reach), high = chunk_of(at + reach);
  for (std::int32_t z = low.z; z <= high.z; ++z)
    for (std::int32_t y = low.y; y <= high.y; ++y)
      for (std::int32_t x = low.x; x <= high.x; ++x) {
        const Chunk* const chunk = voxels.find({x, y, z});
        if (chunk == nullptr || !may_shine(*chunk, blocks)) continue;
        brightest = lit_by(*chunk, {x, y, z}, blocks, at, brightest);
      }
  return brightest;
}

GroundSpawner::GroundSpawner(const KindSet& kinds, const BlockRegistry& blocks, std::uint64_t seed,
                             std::size_t monsters_max)
    : blocks_(&blocks), rng_(rng_for(seed, ground_spawn_draws)) {
  for (const SpawnRule& rule : kinds.spawns) {
    const auto ground = rule.ground.empty() ? std::optional(BlockId::air) : blocks.find(rule.ground);
    if (ground) rules_.push_back({rule, *ground});
  }
  if (!rules_.empty()) spawned_.resize(monsters_max);
}

std::uint32_t GroundSpawner::near(const GroundSpawnerTick& tick, std::size_t rule, DVec3 player) const {
  const double within = rules_[rule].rule.within_m;
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < spawned_.size(); ++i)
    if (owns(tick.monsters, i) && spawned_[i].rule == rule && tick.monsters.id[i] != EntityId{0} &&
        beside2(tick.monsters.body[i].position_m, player) <= within * within)
      ++count;
  return count;
}

bool GroundSpawner::fits(const GroundSpawnerTick& tick, const Rule& rule, DVec3 at) const {
  const VoxelVolume& voxels = *tick.space.voxels;
  const IVec3 feet{floor_to_int(at.x), floor_to_int(at.y), floor_to_int(at.z)};
  constexpr double into_ground_m = 0.01;
  const IVec3 ground{feet.x, feet.y, floor_to_int(at.z - into_ground_m)};
  if (!voxels.loaded(chunk_of(feet)) || !voxels.loaded(chunk_of(ground))) return false;
  if (at.z < rule.rule.lowest_m || at.z > rule.rule.highest_m) return false;
  const BlockId on = voxels.block(ground), in = voxels.block(feet);
  // On blocks alone: a map has its own monsters.
  if (!blocks_->knows(on) || !blocks_->type(on).solid() || !blocks_->knows(in) || blocks_->type(in).liquid)
    return false;
  if (rule.ground != BlockId::air && on != rule.ground) return false;
  const double away = rule.rule.away_m;
  for (std::size_t i = 0; i < tick.players.rows(); ++i)
    if (tick.players.id[i] != EntityId{0} && beside2(tick.players.body[i].position_m, at) < away * away)
      return false;
  const Cylinder& shape = tick.monsters.traits_of(rule.rule.kind).shape;
  if (space_overlaps(tick.space, shape, at) ||
      SpawnPlanner::taken(shape, at, tick.rules, tick.players, tick.monsters))
    return false;
  if (rule.rule.light_least == 0 && rule.rule.light_most == block_light_max) return true;
  const int light = light_at(voxels, *blocks_, feet, tick.sky);
  return light >= rule.rule.light_least && light <= rule.rule.light_most;
}

bool GroundSpawner::put(GroundSpawnerTick& tick, std::size_t rule, DVec3 at) {
  const auto slot = static_cast<std::uint32_t>(tick.players.rows());
  const Turn16 yaw{static_cast<std::uint16_t>(rng_.next_u32())};
  const std::size_t row =
      enter_monster(tick.monsters, {rules_[rule].rule.kind, {at, yaw}, false, false}, tick.seed, slot);
  if (row >= spawned_.size()) return false;
  spawned_[row] = {tick.monsters.generation[row], static_cast<std::uint8_t>(rule)};
  ++tick.monster_count;
  ++spawns_;
  return true;
}

void GroundSpawner::try_for(GroundSpawnerTick& tick, std::size_t which, DVec3 player) {
  const Rule& rule = rules_[which];
  // Drawn whatever comes of it, so that a try takes as many draws whoever stands where.
  const double x = rng_.between(-rule.rule.within_m, rule.rule.within_m);
  const double y = rng_.between(-rule.rule.within_m, rule.rule.within_m);
  const double from_z = player.z + rng_.between(0, above_m);
  const double away2 = x * x + y * y;
  if (away2 < rule.rule.away_m * rule.rule.away_m || away2 > rule.rule.within_m * rule.rule.within_m) return;
  const std::uint32_t there = near(tick, which, player);
  if (there >= rule.rule.number) return;
  const std::uint32_t wanted = std::min<std::uint32_t>(rule.rule.group, rule.rule.number - there);
  const double radius = tick.monsters.traits_of(rule.rule.kind).shape.radius_m;
  for (std::uint32_t i = 0; i < wanted; ++i) {
    const double spread = i == 0 ? 0 : group_spread_m;
    const double aside = rng_.between(-spread, spread);
    const DVec2 at{std::floor(player.x + x + aside) + 0.5,
                   std::floor(player.y + y + rng_.between(-spread, spread)) + 0.5};
    if (!in_bounds({at.x, at.y, from_z})) continue;
    const auto ground = space_ground_below(tick.space, at, radius, from_z, 2 * above_m);
    if (!ground) continue;
    const DVec3 place{at.x, at.y, *ground};
    if (fits(tick, rule, place) && !put(tick, which, place)) return;  // all rows are taken
  }
}

/// Who is far from every player goes, some rows a tick.
void GroundSpawner::sweep(GroundSpawnerTick& tick) {
  MonsterTable& m = tick.monsters;
  for (std::size_t n = 0; n < std::min(sweep_rows, spawned_.size()); ++n) {
    const std::size_t row = next_;
    next_ = (next_ + 1) % spawned_.size();
    if (!owns(m, row)) continue;
    if (m.id[row] == EntityId{0}) {
      spawned_[row] = {};
      m.respawn_ticks[row] = 0;
      continue;
    }
    const double reach = rules_[spawned_[row].rule].rule.within_m + forget_m;
    bool wanted = false;
    for (std::size_t i = 0; i < tick.players.rows() && !wanted; ++i)
      wanted = tick.players.id[i] != EntityId{0} &&
               beside2(tick.players.body[i].position_m, m.body[row].position_m) <= reach * reach;
    if (wanted) continue;
    m.id[row] = EntityId{0};
    m.respawn_ticks[row] = 0;
    spawned_[row] = {};
    --tick.monster_count;
    ++removals_;
  }
}

void GroundSpawner::advance(GroundSpawnerTick& tick) {
  if (rules_.empty() || spawned_.empty()) return;
  sweep(tick);
  int left = tries_per_tick;
  const std::size_t players = tick.players.rows();
  for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
    const std::uint32_t every = tick.rules.ticks_within(rules_[rule].rule.every_s, 1);
    // The players whose turn it is: every one once in that time, each at another tick.
    for (std::size_t row = (every - (tick.tick + rule) % every) % every; row < players; row += every) {
      if (tick.players.id[row] == EntityId{0} || !tick.players.takes_part(row)) continue;
      if (left-- == 0) return;
      try_for(tick, rule, tick.players.body[row].position_m);
    }
  }
}

void GroundSpawner::add_to_hash(StripeHasher& hash) const {
  if (rules_.empty()) return;
  hash.add(rng_.state);
  hash.add(static_cast<std::uint64_t>(next_));
  for (const Spawned& s : spawned_) hash.add(static_cast<std::uint64_t>(s.generation) << 8 | s.rule);
}

}  // namespace ashlar
