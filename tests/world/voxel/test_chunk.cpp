#include "world/voxel/chunk.h"

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

TEST_CASE("a chunk gives back every block that was set, whatever the palette's width",
          "[world][voxel][chunk]") {
  const unsigned kinds = GENERATE(1u, 2u, 3u, 5u, 10u);
  CAPTURE(kinds);
  Rng rng{kinds};
  Chunk chunk;
  std::vector<BlockId> expected(chunk_blocks, BlockId::air);
  for (int i = 0; i < 20000; ++i) {
    const auto x = static_cast<std::int32_t>(rng.below(32));
    const auto y = static_cast<std::int32_t>(rng.below(32));
    const auto z = static_cast<std::int32_t>(rng.below(32));
    const auto id = static_cast<BlockId>(rng.below(kinds));
    chunk.set_block({x, y, z}, id);
    expected[index_in_chunk({x, y, z})] = id;
  }
  std::vector<BlockId> found(chunk_blocks);
  chunk.copy_blocks(found);
  CHECK(found == expected);
  CHECK(chunk.kind_count() == kinds);

  unsigned wrong_bits = 0;
  for (std::size_t i = 0; i < chunk_blocks; ++i)
    wrong_bits += ((chunk.solid()[i / 32] >> (i % 32)) & 1u) != (expected[i] != BlockId::air ? 1u : 0u);
  CHECK(wrong_bits == 0);

  const Chunk again{std::span<const BlockId>(expected)};
  CHECK(again.content_hash() == chunk.content_hash());
}

TEST_CASE("a chunk's hash tells any single block apart", "[world][voxel][chunk]") {
  Chunk a{BlockId::stone};
  const std::uint64_t before = a.content_hash();
  CHECK(before != Chunk{BlockId::dirt}.content_hash());
  CHECK(Chunk{BlockId::air}.content_hash() != before);
  a.set_block({3, 4, 5}, BlockId::dirt);
  const std::uint64_t here = a.content_hash();
  CHECK(here != before);
  a.set_block({3, 4, 5}, BlockId::stone);
  CHECK(a.content_hash() == before);
  a.set_block({3, 4, 6}, BlockId::dirt);
  CHECK(a.content_hash() != here);
}

TEST_CASE("a chunk of one kind needs no palettes", "[world][voxel][chunk]") {
  const Chunk chunk{std::vector<BlockId>(chunk_blocks, BlockId::sand)};
  CHECK(chunk.kind_count() == 1);
  CHECK(chunk.blocks().heap_bytes() == 0);
  CHECK(chunk.bytes() < 512);
  CHECK(chunk.block({31, 31, 31}) == BlockId::sand);
  CHECK(chunk.content_hash() == Chunk{BlockId::sand}.content_hash());
}

TEST_CASE("water stops nobody, and chunks of one kind share their bits until one differs",
          "[world][voxel][chunk]") {
  Chunk chunk{BlockId::water};
  CHECK(&chunk.solid() == &Chunk{BlockId::air}.solid());
  chunk.set_block({1, 2, 3}, BlockId::stone);
  CHECK(chunk.solid()[2 * 32 + 1] == 1u << 3);
  CHECK(&chunk.solid() != &Chunk{BlockId::air}.solid());
  CHECK(Chunk{BlockId::air}.solid()[2 * 32 + 1] == 0);

  const Chunk copy{chunk};
  chunk.set_block({1, 2, 3}, BlockId::air);
  CHECK(chunk.solid()[2 * 32 + 1] == 0);
  CHECK(copy.solid()[2 * 32 + 1] == 1u << 3);
  CHECK(copy.content_hash() != chunk.content_hash());

  Chunk rock{BlockId::stone};
  rock.set_block({0, 0, 0}, BlockId::dirt);
  CHECK(&rock.solid() == &Chunk{BlockId::brick}.solid());
  rock.set_block({0, 0, 0}, BlockId::water);
  CHECK(rock.solid()[0] == ~1u);
}
