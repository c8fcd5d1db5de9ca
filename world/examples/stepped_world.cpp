// A world of one's own, stepped and asked: two minutes of a player who walks in a circle among monsters.
// Prints where he ends, what lies below him and the hash, which is the same on every machine.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "world/collide/space.h"
#include "world/sim/command.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

using namespace ashlar;

int main() {
  WorldSetup setup;
  setup.seed = 42;
  setup.players_max = 4;
  setup.monsters_max = setup.monsters = 20;
  World world(setup);

  // Whoever joins is named by a token of ours and gets its id in the same step.
  const std::uint32_t token = 1;
  TickInput first;
  first.joins = {&token, 1};
  world.step(first);
  const EntityId player = world.joined()[0].id;

  const int ticks = 120 * setup.rules.tick_rate_hz;
  for (int tick = 0; tick < ticks; ++tick) {
    PlayerInput input{player, {}};
    input.command.forward = 1;
    input.command.yaw = Turn16{static_cast<std::uint16_t>(tick * 16)};  // 65536 is a full turn
    TickInput next;
    next.commands = {&input, 1};
    world.step(next);
  }

  const int row = world.player_row(player);
  if (row < 0) return 1;
  const DVec3 at = world.players().body[static_cast<std::size_t>(row)].position_m;
  const RayHit ground = space_ray(world.space(), {at.x, at.y, at.z + 1}, {0, 0, -1}, 100);
  std::printf("after %u ticks at %.2f %.2f %.2f, ground %.2f m below the chest, hash %016llx\n",
              number(world.tick()), at.x, at.y, at.z, ground.t_m,
              static_cast<unsigned long long>(world.hash()));

  // Who draws the world takes the blocks of its chunks.
  const VoxelVolume& volume = *world.space().voxels;
  std::vector<BlockId> blocks(chunk_blocks);
  std::size_t filled = 0;
  for (const ChunkCoord chunk : volume.loaded_chunks()) {
    volume.find(chunk)->copy_blocks(blocks);
    filled +=
        blocks.size() - static_cast<std::size_t>(std::count(blocks.begin(), blocks.end(), BlockId::air));
  }
  std::printf("%zu blocks are not air\n", filled);
  return ground.hit() && filled > 0 ? 0 : 1;
}
