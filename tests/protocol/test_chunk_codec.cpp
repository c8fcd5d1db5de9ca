#include "protocol/chunk_codec.h"

#include "tests/catch.h"
#include "world/math/random.h"
#include "world/voxel/terrain.h"

namespace ashlar {
namespace {

std::vector<BlockId> blocks_of(const Chunk& chunk) {
  std::vector<BlockId> blocks(chunk_blocks);
  chunk.copy_blocks(blocks);
  return blocks;
}

BlockId block_id(std::uint64_t number) { return static_cast<BlockId>(number % block_id_count); }

IVec3 random_block(Rng& rng) {
  const std::uint64_t bits = rng.next_u64();
  return {static_cast<int>(bits & 31), static_cast<int>(bits >> 5 & 31), static_cast<int>(bits >> 10 & 31)};
}

}  // namespace

TEST_CASE("a chunk of any number of kinds comes back from its bytes", "[protocol][chunk_codec]") {
  ChunkCodec codec;
  Rng rng = rng_for(7, 1);
  for (std::uint64_t kinds = 1; kinds <= block_id_count; ++kinds) {
    CAPTURE(kinds);
    std::vector<BlockId> blocks(chunk_blocks);
    for (BlockId& block : blocks) block = block_id((rng.next_u64() >> 33) % kinds + kinds);
    const Chunk chunk(blocks);
    const auto bytes = codec.encode(chunk);
    CHECK(bytes.size() <= chunk_bytes_max);
    const auto back = codec.decode(bytes);
    REQUIRE(back.has_value());
    CHECK(blocks_of(**back) == blocks);
    CHECK((*back)->content_hash() == chunk.content_hash());
    CHECK((*back)->solid() == chunk.solid());
  }
}

TEST_CASE("a chunk that was edited at random comes back from its bytes", "[protocol][chunk_codec]") {
  ChunkCodec codec;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Rng rng = rng_for(seed, 2);
    const auto chunk = generate_chunk(Terrain{seed, {}}, {0, 0, static_cast<int>(seed % 7) - 3});
    for (std::uint64_t edits = rng.next_u64() % 3000; edits > 0; --edits) {
      const IVec3 place = random_block(rng);
      chunk->set_block(place, block_id(rng.next_u64() >> 33));
    }
    const auto back = codec.decode(codec.encode(*chunk));
    REQUIRE(back.has_value());
    CHECK(blocks_of(**back) == blocks_of(*chunk));
  }
}

TEST_CASE("what was dug and put back leaves no trace in a chunk's bytes", "[protocol][chunk_codec]") {
  ChunkCodec codec;
  Chunk chunk(BlockId::stone);
  const auto before = codec.encode(chunk);
  chunk.set_block({1, 2, 3}, BlockId::glass);
  chunk.set_block({4, 2, 3}, BlockId::brick);
  CHECK(codec.encode(chunk) != before);
  chunk.set_block({1, 2, 3}, BlockId::stone);
  chunk.set_block({4, 2, 3}, BlockId::stone);
  CHECK(codec.encode(chunk) == before);
  CHECK(before.size() < 40);
}

TEST_CASE("a packed copy stays as it was when the chunk goes on changing", "[protocol][chunk_codec]") {
  ChunkCodec codec;
  Chunk chunk(BlockId::dirt);
  chunk.set_block({9, 9, 9}, BlockId::sand);
  PackedChunk copy;
  copy.assign(chunk);
  const auto expected = blocks_of(chunk);
  for (int z = 0; z < chunk_size; ++z) chunk.set_block({0, 0, z}, block_id(static_cast<std::uint64_t>(z)));
  std::vector<std::uint8_t> bytes;
  codec.encode(copy, bytes);
  const auto back = codec.decode(bytes);
  REQUIRE(back.has_value());
  CHECK(blocks_of(**back) == expected);
}

TEST_CASE("every cut and every flipped bit of a chunk's bytes is refused or a chunk",
          "[protocol][chunk_codec]") {
  ChunkCodec codec;
  const auto chunk = generate_chunk(Terrain{3, {}}, {0, 0, 0});
  const auto bytes = codec.encode(*chunk);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(codec.decode(std::span(bytes).first(size)).has_value());
  for (std::size_t i = 0; i < 8 * bytes.size(); i += 3) {
    auto flipped = bytes;
    flipped[i / 8] = static_cast<std::uint8_t>(flipped[i / 8] ^ (1u << i % 8));
    static_cast<void>(codec.decode(flipped));
  }
}

TEST_CASE("bytes that are no chunk are told apart", "[protocol][chunk_codec]") {
  ChunkCodec codec;
  CHECK(codec.decode({}).error() == ChunkError::empty);
  auto bytes = codec.encode(Chunk(BlockId::stone));
  CHECK(codec.decode(std::vector<std::uint8_t>(chunk_bytes_max + 1, chunk_bytes_version)).error() ==
        ChunkError::too_long);
  bytes[0] = chunk_bytes_version + 1;
  CHECK(codec.decode(bytes).error() == ChunkError::newer);
  CHECK(codec.decode(std::vector<std::uint8_t>(100, chunk_bytes_version)).error() == ChunkError::packing);
  for (const ChunkError error : {ChunkError::empty, ChunkError::packing, ChunkError::bad_index})
    CHECK(std::string(describe(error)).size() > 5);
}

}  // namespace ashlar
