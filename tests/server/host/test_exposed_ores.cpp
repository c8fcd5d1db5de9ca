// Which hidden blocks of a chunk anything lets one see, and when that is found out anew.
#include "server/host/exposed_ores.h"

#include <algorithm>

#include "tests/catch.h"
#include "world/sim/block_act.h"
#include "world/voxel/chunk_place.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

/// Two chunks of rock side by side with ore strewn in, and holes.
VoxelVolume rock() {
  VoxelVolume ground;
  for (std::int32_t x = 0; x < 2; ++x) {
    std::vector<BlockId> blocks(chunk_blocks, BlockId::stone);
    for (std::size_t i = 0; i < chunk_blocks; ++i) {
      if (i % 37 == 5) blocks[i] = BlockId::iron_ore;
      if (i % 101 == 7) blocks[i] = BlockId::air;
      if (i % 307 == 11) blocks[i] = BlockId::glass;
    }
    ground.insert_chunk({x, 0, 0}, std::make_unique<Chunk>(std::span<const BlockId>(blocks)));
  }
  return ground;
}

bool lets_see(const VoxelVolume& ground, IVec3 block) {
  const BlockId id = ground.block(block);
  return id == BlockId::air || id == BlockId::glass;
}

std::vector<IVec3> by_hand(const VoxelVolume& ground, ChunkCoord at) {
  std::vector<IVec3> out;
  for (std::size_t i = 0; i < chunk_blocks; ++i) {
    const IVec3 block = block_of_index(at, i);
    if (!terrain_hides(ground.block(block))) continue;
    for (std::uint8_t face = 0; face < block_face_count; ++face)
      if (lets_see(ground, block + normal_of(static_cast<BlockFace>(face)))) {
        out.push_back(block);
        break;
      }
  }
  return out;
}

}  // namespace

TEST_CASE("ore is exposed where something beside it lets one see, in the next chunk, too",
          "[server][exposed_ores]") {
  const VoxelVolume ground = rock();
  ExposedOres exposed;
  exposed.begin_tick(1);
  for (std::int32_t x = 0; x < 2; ++x) {
    const ExposedOres::Known* const found = exposed.in(ground, {x, 0, 0});
    REQUIRE(found != nullptr);
    CHECK(found->blocks.size() > 10);
    CHECK(found->blocks == by_hand(ground, {x, 0, 0}));
  }
  CHECK(exposed.in(ground, {2, 0, 0}) == nullptr);  // not loaded
}

TEST_CASE("of chunks with ore a few are looked through in a tick", "[server][exposed_ores]") {
  VoxelVolume ground;
  for (std::int32_t x = 0; x < 5; ++x) {
    std::vector<BlockId> blocks(chunk_blocks, BlockId::air);
    blocks[100] = BlockId::coal_ore;
    ground.insert_chunk({x, 0, 0}, std::make_unique<Chunk>(std::span<const BlockId>(blocks)));
  }
  ExposedOres exposed;
  const auto known = [&] {
    int count = 0;
    for (std::int32_t x = 0; x < 5; ++x) count += exposed.in(ground, {x, 0, 0}) != nullptr ? 1 : 0;
    return count;
  };
  std::vector<int> counts;
  for (std::uint32_t tick = 1; tick <= 4; ++tick) {
    exposed.begin_tick(tick);
    counts.push_back(known());
  }
  CHECK(counts == std::vector<int>{2, 4, 5, 5});
}

TEST_CASE("what changes in a chunk or beside it shows within a second, what was taken out stays out",
          "[server][exposed_ores]") {
  VoxelVolume ground = rock();
  ExposedOres exposed;
  exposed.begin_tick(1);
  exposed.in(ground, {0, 0, 0})->blocks.clear();  // all of them were told
  exposed.begin_tick(1 + ExposedOres::check_every_ticks);
  CHECK(exposed.in(ground, {0, 0, 0})->blocks.empty());
  // An opening in the next chunk, beside ore at this one's border.
  std::optional<IVec3> border;
  for (std::int32_t z = 1; z < chunk_size - 1 && !border; ++z)
    for (std::int32_t y = 1; y < chunk_size - 1 && !border; ++y)
      if (terrain_hides(ground.block({chunk_size - 1, y, z}))) border = IVec3{chunk_size - 1, y, z};
  REQUIRE(border);
  ground.set_block(*border + IVec3{1, 0, 0}, BlockId::air);
  exposed.begin_tick(2 + 2 * ExposedOres::check_every_ticks);
  const ExposedOres::Known* const found = exposed.in(ground, {0, 0, 0});
  REQUIRE(found != nullptr);
  CHECK(std::ranges::find(found->blocks, *border) != found->blocks.end());
  CHECK(found->blocks == by_hand(ground, {0, 0, 0}));
}
