#include "world/voxel/block_sections.h"

#include "tests/catch.h"
#include "world/math/random.h"
#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"

using namespace ashlar;

TEST_CASE("sections give back every block that was set, of however many kinds",
          "[world][voxel][block_sections]") {
  const std::uint32_t seed = GENERATE(range(1u, 13u));
  CAPTURE(seed);
  Rng rng{seed};
  const std::uint32_t kinds = seed % 3 == 0 ? 256 : seed % 3 == 1 ? 5 : 18;
  std::vector<BlockId> expected(chunk_blocks, static_cast<BlockId>(rng.below(256))), found(chunk_blocks);
  if (seed % 2 == 1)
    for (BlockId& id : expected)
      if (rng.below(50) == 0) id = static_cast<BlockId>(rng.below(kinds));
  BlockSections sections =
      seed % 2 == 1 ? BlockSections(std::span<const BlockId>(expected)) : BlockSections(expected.front());
  const std::uint32_t side = seed % 4 == 0 ? 8 : 32;  // all in one section, or spread
  for (int i = 0; i < 20'000; ++i) {
    const IVec3 at{static_cast<int>(rng.below(side)), static_cast<int>(rng.below(side)),
                   static_cast<int>(rng.below(side))};
    const auto id = static_cast<BlockId>(rng.below(kinds));
    sections.set(at, id);
    expected[index_in_chunk(at)] = id;
    REQUIRE(sections.get(at) == id);
  }
  sections.copy_to(found);
  CHECK(found == expected);
  const BlockSections anew{std::span<const BlockId>(expected)};
  anew.copy_to(found);
  CHECK(found == expected);
  for (std::size_t i = 0; i < chunk_blocks; ++i)
    REQUIRE((sections.get(local_of_index(i)) == expected[i] && anew.get(local_of_index(i)) == expected[i]));
  // What widening left behind is no more than a quarter, and what is kept for growth an eighth.
  CHECK(sections.heap_bytes() <= anew.heap_bytes() * 2 + 1024);
}

TEST_CASE("untouched ground takes at most 6 KiB a chunk, mean, and 24 when players have changed it",
          "[world][voxel][block_sections]") {
  for (const TerrainKind kind : {TerrainKind::plains, TerrainKind::hills}) {
    Terrain terrain;
    terrain.kind = kind;
    terrain.seed = 7;
    const ColumnSpan span = column_span(kind);
    std::size_t untouched = 0, changed = 0, count = 0;
    Rng rng{3};
    for (std::int32_t x = -1; x < 1; ++x)
      for (std::int32_t y = -1; y < 1; ++y)
        for (std::int32_t z = span.low; z < span.high; ++z, ++count) {
          const auto chunk = generate_chunk(terrain, {x * 5, y * 5, z});
          untouched += chunk->bytes();
          for (int box = 0; box < 8; ++box) {  // a house, a shaft, a wall
            const auto edge = [&rng] { return static_cast<std::int32_t>(rng.below(26)); };
            const IVec3 low{edge(), edge(), edge()};
            const auto id = static_cast<BlockId>(rng.below(12));
            for (std::int32_t i = 0; i < 6 * 6 * 6; ++i)
              chunk->set_block(low + IVec3{i % 6, i / 6 % 6, i / 36}, id);
          }
          changed += chunk->bytes();
        }
    CHECK(untouched <= count * 6 * 1024);
    CHECK(changed <= count * 24 * 1024);
  }
}
