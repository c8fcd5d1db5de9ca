#include "world/voxel/volume.h"

#include <map>
#include <tuple>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

TEST_CASE("the volume's table holds what a map holds through inserts and drops", "[world][voxel][volume]") {
  VoxelVolume volume(8);
  std::map<std::tuple<int, int, int>, const Chunk*> twin;
  Rng rng{7};
  unsigned wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto x = static_cast<std::int32_t>(rng.below(9)) - 4;
    const auto y = static_cast<std::int32_t>(rng.below(9)) - 4;
    const auto z = static_cast<std::int32_t>(rng.below(9)) - 4;
    const ChunkCoord at{x * 1000, y, z};
    const auto key = std::make_tuple(at.x, at.y, at.z);
    if (rng.below(100) < 45) {
      auto chunk = std::make_unique<Chunk>();
      twin[key] = chunk.get();
      volume.insert_chunk(at, std::move(chunk));
    } else {
      const bool was_there = volume.drop_chunk(at) != nullptr;
      wrong += was_there != (twin.erase(key) == 1);
    }
    const auto probe = static_cast<std::int32_t>(rng.below(9)) - 4;
    const ChunkCoord other{probe * 1000, y, z};
    const auto found = twin.find(std::make_tuple(other.x, other.y, other.z));
    wrong += volume.find(other) != (found == twin.end() ? nullptr : found->second);
  }
  CHECK(wrong == 0);
  CHECK(volume.chunk_count() == twin.size());
  CHECK(volume.loaded_chunks().size() == twin.size());
}

TEST_CASE("unloaded space is solid and cannot be edited", "[world][voxel][volume]") {
  VoxelVolume volume;
  CHECK(volume.solid({5, 5, 5}));
  CHECK(volume.block({5, 5, 5}) == BlockId::stone);
  CHECK_FALSE(volume.set_block({5, 5, 5}, BlockId::air));
  CHECK_FALSE(volume.set_block({2000000000, 0, 0}, BlockId::air));
  volume.insert_chunk({0, 0, 0}, std::make_unique<Chunk>());
  CHECK_FALSE(volume.solid({5, 5, 5}));
  CHECK(volume.solid({-1, 5, 5}));
  CHECK(volume.set_block({5, 5, 5}, BlockId::brick));
  CHECK(volume.block({5, 5, 5}) == BlockId::brick);
}

TEST_CASE("the volume's hash depends on blocks and places, not on their order", "[world][voxel][volume]") {
  VoxelVolume a, b;
  a.insert_chunk({0, 0, 0}, std::make_unique<Chunk>(BlockId::stone));
  a.insert_chunk({1, 0, 0}, std::make_unique<Chunk>(BlockId::dirt));
  b.insert_chunk({1, 0, 0}, std::make_unique<Chunk>(BlockId::dirt));
  b.insert_chunk({0, 0, 0}, std::make_unique<Chunk>(BlockId::stone));
  CHECK(a.hash() == b.hash());
  const std::uint64_t before = a.hash();
  a.set_block({40, 1, 1}, BlockId::sand);
  CHECK(a.hash() != before);
  a.set_block({40, 1, 1}, BlockId::dirt);
  CHECK(a.hash() == before);
  b.drop_chunk({1, 0, 0});
  CHECK(b.hash() != before);
  b.insert_chunk({0, 0, 1}, std::make_unique<Chunk>(BlockId::dirt));
  CHECK(b.hash() != before);
}
