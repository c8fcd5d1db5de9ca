#include "server/host/reveal_room.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "world/collide/space.h"
#include "world/math/assert.h"
#include "world/math/prefetch.h"
#include "world/sim/world.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

constexpr std::uint32_t looks_per_s = 10;
/// Of one look, beside the one along the view.
constexpr std::uint32_t rays_per_look = 8;
/// Of the half of a field of view: 100 degrees wide, 75 high, and some more in its corners.
constexpr double field_cosine = 0.5;

/// Somewhere in a block, at another place each time (the additive sequence of the plastic number): not all of
/// a block that is seen can be seen from everywhere.
DVec3 spot_in(IVec3 block, std::uint32_t n) {
  const auto share = [n](double step) {
    const double at = static_cast<double>(n % (1u << 20)) * step;
    return at - std::floor(at);
  };
  return to_dvec3(block) + DVec3{share(0.81917251339616), share(0.67104360670379), share(0.54970047790197)};
}

double outside(double v, std::int32_t low) { return std::max({low - v, v - (low + chunk_size), 0.0}); }

/// Is all of that chunk out of view, because it lies behind the viewer or beside the field? Asking for one
/// costs more than this does, and nearly half of those within reach are.
/// @param away2  of its nearest point
bool out_of_view(DVec3 eye, DVec3 way, ChunkCoord at, double away2) {
  const auto most = [](double from, double to, double share) { return std::max(from * share, to * share); };
  const DVec3 low = to_dvec3(IVec3{at.x * chunk_size, at.y * chunk_size, at.z * chunk_size}) - eye;
  const double along = most(low.x, low.x + chunk_size, way.x) + most(low.y, low.y + chunk_size, way.y) +
                       most(low.z, low.z + chunk_size, way.z);
  return along <= 0 || along * along < field_cosine * field_cosine * away2;
}

/// May something hidden be in a chunk or beside it?
bool may_reveal(const World& world, ChunkCoord at) {
  const VoxelVolume& ground = *world.space().voxels;
  const auto holds = [&](ChunkCoord chunk) {
    const Chunk* const found = ground.find(chunk);
    return found != nullptr && may_hold_hidden(ground.kinds(), *found);
  };
  return holds(at) || holds({at.x - 1, at.y, at.z}) || holds({at.x + 1, at.y, at.z}) ||
         holds({at.x, at.y - 1, at.z}) || holds({at.x, at.y + 1, at.z}) || holds({at.x, at.y, at.z - 1}) ||
         holds({at.x, at.y, at.z + 1});
}

}  // namespace

void RevealRoom::tell(const World& world, const ChangeLog& told, IVec3 block,
                      std::vector<AppliedEdit>& changes) {
  const VoxelVolume& ground = *world.space().voxels;
  if (!ground.loaded(chunk_of(block))) return;
  const BlockId id = ground.block(block);
  if (!ground.kinds().hidden(id) || told.knows(block)) return;
  changes.push_back({block, BlockId::stone, id, EntityId{0}});
  ++revealed_;
}

void RevealRoom::look(const World& world, const ChangeLog& told, std::vector<AppliedEdit>& changes) {
  if (!world.setup().secret) return;
  const BlockRegistry& kinds = *world.setup().blocks;
  const std::size_t changed = changes.size();
  constexpr std::size_t few = 256;
  std::optional<ChunkCoord> asked;
  bool hides = true;
  for (std::size_t i = 0; i < changed; ++i) {
    const AppliedEdit edit = changes[i];
    // Ground that was much built on comes a chunk after the other, and most have nothing to reveal; for a few
    // blocks looking is cheaper than asking.
    if (const ChunkCoord at = chunk_of(edit.block); changed > few && asked != at)
      asked = at, hides = may_reveal(world, at);
    if (!hides) continue;
    if (!kinds.knows(edit.after) || (kinds.type(edit.after).opaque && kinds.type(edit.after).shape.full()))
      continue;
    for (std::uint8_t face = 0; face < block_face_count; ++face)
      tell(world, told, edit.block + normal_of(static_cast<BlockFace>(face)), changes);
  }
  if (!(seen_m_ > 0)) return;
  const PlayerTable& players = world.players();
  const std::uint32_t tick = number(world.tick());
  const std::uint32_t every = std::max<std::uint32_t>(1, world.setup().rules.tick_rate_hz / looks_per_s);
  exposed_.begin_tick(tick);
  around_.resize(players.rows());
  for (std::size_t row = (every - tick % every) % every; row < players.rows(); row += every) {
    if (row + every < players.rows()) prefetch(&around_[row + every], sizeof(Around));
    if (!players.takes_part(row)) continue;  // who watches flies through rock
    Glance glance{players.body[row].position_m + DVec3{0, 0, world.setup().rules.player_eye_m},
                  view_direction(players.yaw[row], players.pitch[row]), tick / every};
    const RayHit hit = space_ray(world.space(), glance.eye, glance.way, seen_m_);
    if (hit.kind == ContactKind::voxel) tell(world, told, hit.block, changes);
    look_about(world, told, glance, around_[row], changes);
  }
}

void RevealRoom::begin_world() {
  exposed_.clear();
  around_.clear();
}

/// A ray to it, where it is in view and within reach. @return false: it was told before
bool RevealRoom::look_at(const World& world, const ChangeLog& told, Glance& glance, IVec3 block,
                         std::vector<AppliedEdit>& changes) {
  const DVec3 to = spot_in(block, glance.turn) - glance.eye;
  const double away2 = dot(to, to), along = dot(to, glance.way);
  if (away2 > seen_m_ * seen_m_ || along <= 0 || along * along < field_cosine * field_cosine * away2)
    return true;
  if (told.knows(block)) return false;
  if (glance.skipped > 0) {
    --glance.skipped;
    return true;
  }
  ++glance.rays;
  const RayHit hit = space_ray(world.space(), glance.eye, to * (1 / std::sqrt(away2)), seen_m_);
  if (hit.kind == ContactKind::voxel) tell(world, told, hit.block, changes);
  return true;
}

/// From anywhere in a chunk.
void RevealRoom::list_around(const World& world, ChunkCoord of, Around& around) {
  const VoxelVolume& ground = *world.space().voxels;
  const auto reach = static_cast<std::int32_t>(std::ceil(seen_m_ / chunk_size));
  const auto between = [](std::int32_t a, std::int32_t b) {
    return (std::max(std::abs(a - b), 1) - 1) * static_cast<double>(chunk_size);
  };
  around.of = of;
  around.listed_tick = number(world.tick());
  around.times_cleared = exposed_.times_cleared();
  around.chunks.clear();
  around.whole = around.loaded = true;
  for (std::int32_t z = of.z - reach; z <= of.z + reach; ++z)
    for (std::int32_t y = of.y - reach; y <= of.y + reach; ++y)
      for (std::int32_t x = of.x - reach; x <= of.x + reach; ++x) {
        const DVec3 off{between(x, of.x), between(y, of.y), between(z, of.z)};
        if (dot(off, off) > seen_m_ * seen_m_) continue;
        const std::uint64_t before = exposed_.put_off();
        ExposedOres::Known* const known = exposed_.in(ground, {x, y, z});
        if (known == nullptr)
          (exposed_.put_off() == before ? around.loaded : around.whole) = false;
        else if (!known->blocks.empty())
          around.chunks.push_back({{x, y, z}, known});
      }
}

/// At the next few of the exposed blocks in view: all of them have their turn.
void RevealRoom::look_about(const World& world, const ChangeLog& told, Glance& glance, Around& around,
                            std::vector<AppliedEdit>& changes) {
  const VoxelVolume& ground = *world.space().voxels;
  const ChunkCoord here = chunk_of(block_at(glance.eye));
  const std::uint32_t age = number(world.tick()) - around.listed_tick;
  const std::uint32_t age_max = around.loaded ? list_every_ticks : ExposedOres::check_every_ticks;
  const bool grows = !around.whole && exposed_.has_room();
  if (grows || here != around.of || age >= age_max || around.times_cleared != exposed_.times_cleared())
    list_around(world, here, around);
  // Listing may itself have had all forgotten, in the middle of it.
  if (around.times_cleared != exposed_.times_cleared()) return;
  glance.skipped = around.skips;
  constexpr std::size_t known_ahead = 6, blocks_ahead = 3;
  const auto listed = [&](std::size_t i) {
    return i < around.chunks.size() ? around.chunks[i].known : nullptr;
  };
  for (std::size_t i = 0; i < std::min(known_ahead, around.chunks.size()); ++i)
    ExposedOres::prefetch(around.chunks[i].known);
  for (std::size_t n = 0; n < around.chunks.size(); ++n) {
    if (const auto* const later = listed(n + known_ahead)) ExposedOres::prefetch(later);
    if (const auto* const soon = listed(n + blocks_ahead)) ExposedOres::prefetch_blocks(soon);
    const auto& [at, known] = around.chunks[n];
    const DVec3 off{outside(glance.eye.x, at.x * chunk_size), outside(glance.eye.y, at.y * chunk_size),
                    outside(glance.eye.z, at.z * chunk_size)};
    const double away2 = dot(off, off);
    if (away2 > seen_m_ * seen_m_ || out_of_view(glance.eye, glance.way, at, away2)) continue;
    // Null where its chunk is gone, or has to wait until it is looked through again.
    ExposedOres::Known* const now = exposed_.again(ground, at, known);
    if (now == nullptr) continue;
    ASHLAR_ASSERT(now == known);
    std::vector<IVec3>& blocks = now->blocks;
    for (std::size_t i = 0; i < blocks.size();) {
      if (look_at(world, told, glance, blocks[i], changes))
        ++i;
      else
        blocks[i] = blocks.back(), blocks.pop_back();
      if (glance.rays < rays_per_look) continue;
      around.skips += rays_per_look;
      return;
    }
  }
  around.skips = 0;
}

}  // namespace ashlar::server
