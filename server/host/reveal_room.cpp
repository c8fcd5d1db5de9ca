#include "server/host/reveal_room.h"

#include <algorithm>
#include <cmath>

#include "world/collide/space.h"
#include "world/sim/world.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

/// Of one player in one tick: the view itself, and others about it that fill a field of view in a second.
constexpr std::uint32_t rays_per_tick = 4;
constexpr double field_turns = 100.0 / 360, tilt_turns = 75.0 / 360;

Turn16 turned_by(Turn16 angle, double turns) {
  return angle + Turn16{static_cast<std::uint16_t>(static_cast<std::int32_t>(turns * 65536))};
}

/// The n-th of directions that lie evenly in a field of view (the additive sequence of the plastic number);
/// the first of each tick is the view itself.
DVec3 glance(Turn16 yaw, Turn16 pitch, std::uint32_t n) {
  if (n % rays_per_tick == 0) return view_direction(yaw, pitch);
  const auto share = [n](double step) {
    const double at = static_cast<double>(n % (1u << 20)) * step;
    return at - std::floor(at) - 0.5;
  };
  constexpr std::int32_t quarter = 16384;
  const auto tilt = static_cast<std::int32_t>(static_cast<std::int16_t>(pitch)) +
                    static_cast<std::int32_t>(share(0.56984029099805) * tilt_turns * 65536);
  const auto within = static_cast<std::uint16_t>(std::clamp(tilt, -quarter, quarter));
  return view_direction(turned_by(yaw, share(0.75487766624669) * field_turns), Turn16{within});
}

}  // namespace

void RevealRoom::tell(const World& world, const ChangeLog& told, IVec3 block,
                      std::vector<AppliedEdit>& changes) {
  const VoxelVolume& ground = *world.space().voxels;
  if (!ground.loaded(chunk_of(block))) return;
  const BlockId id = ground.block(block);
  if (!terrain_hides(id) || told.knows(block)) return;
  changes.push_back({block, BlockId::stone, id, EntityId{0}});
  ++revealed_;
}

void RevealRoom::look(const World& world, const ChangeLog& told, std::vector<AppliedEdit>& changes) {
  if (!world.setup().secret) return;
  const BlockRegistry& kinds = *world.setup().blocks;
  const std::size_t changed = changes.size();
  for (std::size_t i = 0; i < changed; ++i) {
    const AppliedEdit edit = changes[i];
    if (!kinds.knows(edit.after) || (kinds.type(edit.after).opaque && kinds.type(edit.after).shape.full()))
      continue;
    for (std::uint8_t face = 0; face < block_face_count; ++face)
      tell(world, told, edit.block + normal_of(static_cast<BlockFace>(face)), changes);
  }
  if (!(seen_m_ > 0)) return;
  const PlayerTable& players = world.players();
  for (std::size_t row = 0; row < players.rows(); ++row) {
    if (!players.alive(row)) continue;
    const DVec3 eye = players.body[row].position_m + DVec3{0, 0, world.setup().rules.player_eye_m};
    for (std::uint32_t k = 0; k < rays_per_tick; ++k) {
      const DVec3 way =
          glance(players.yaw[row], players.pitch[row], number(world.tick()) * rays_per_tick + k);
      const RayHit hit = space_ray(world.space(), eye, way, seen_m_);
      if (hit.kind == ContactKind::voxel) tell(world, told, hit.block, changes);
    }
  }
}

}  // namespace ashlar::server
