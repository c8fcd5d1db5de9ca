#include "world/sim/ground_generator.h"

#include "world/bsp/placement.h"
#include "world/math/assert.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"

namespace ashlar {

GroundGenerator::GroundGenerator(const WorldSetup& setup) : source_(setup.make_chunk) {
  terrain_.seed = setup.seed;
  terrain_.kind = setup.terrain;
  terrain_.secret = setup.secret;
  terrain_.bare = setup.bare;
  if (setup.secret && !setup.bare) terrain_.treasure = setup.blocks->treasure();
  terrain_.footprints.reserve(setup.maps.size());
  for (const auto& map : setup.maps) {
    ASHLAR_ASSERT(map != nullptr);
    terrain_.footprints.push_back(map->box());
  }
}

std::unique_ptr<Chunk> GroundGenerator::make_chunk(ChunkCoord at) const {
  std::unique_ptr<Chunk> chunk = source_ ? source_(terrain_, at) : generate_chunk(terrain_, at);
  ASHLAR_ASSERT(chunk != nullptr);
  return chunk;
}

}  // namespace ashlar
