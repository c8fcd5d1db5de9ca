#include "server/host/ground_cache.h"

#include <algorithm>

#include "tests/catch.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

WorldSetup flat_setup() {
  WorldSetup setup;
  setup.players_max = 1;
  setup.monsters = setup.monsters_max = 0;
  setup.terrain = TerrainKind::flat;
  return setup;
}

struct Shelf {
  Shelf() : world(flat_setup()) {}
  void ask(ChunkCoord at) { cache.request(world, log, at, requests); }
  /// Packs what was asked for.
  void answer() {
    std::vector<PackedGround> packed;
    for (const PackRequest& request : requests) packed.push_back(packer.pack(request));
    requests.clear();
    cache.take(packed);
  }
  void change(IVec3 block, BlockId id) {
    const std::vector<AppliedEdit> edits{{block, BlockId::air, id, EntityId{0}}};
    log.take(edits);
    cache.note(log.fresh());
  }

  World world;
  ChangeLog log;
  GroundCache cache;
  GroundPacker packer;
  std::vector<PackRequest> requests;
};

constexpr ChunkCoord here{0, 0, 0};

}  // namespace

TEST_CASE("a chunk is packed once for all who ask, and holds what its world's does",
          "[server][ground_cache]") {
  Shelf shelf;
  shelf.ask(here);
  shelf.ask(here);
  REQUIRE(shelf.requests.size() == 1);
  CHECK(shelf.cache.find(here) == nullptr);
  shelf.answer();
  shelf.ask(here);
  CHECK(shelf.requests.empty());
  const GroundCache::Entry* const entry = shelf.cache.find(here);
  REQUIRE(entry != nullptr);
  const Chunk& truth = *shelf.world.space().voxels->find(here);
  CHECK(entry->hash == truth.content_hash());
  const auto back = ChunkCodec().decode(entry->bytes);
  REQUIRE(back.has_value());
  CHECK((*back)->content_hash() == truth.content_hash());
  CHECK(shelf.cache.packed() == 1);
}

TEST_CASE("what changes while a chunk is packed or afterwards stays beside it, up to a bound",
          "[server][ground_cache]") {
  Shelf shelf;
  shelf.ask(here);
  shelf.change({3, 4, 5}, BlockId::brick);
  shelf.answer();
  shelf.change({3, 4, 5}, BlockId::glass);
  shelf.change({1, 1, 1}, BlockId::brick);
  shelf.change({40, 1, 1}, BlockId::brick);  // in another chunk
  const GroundCache::Entry* entry = shelf.cache.find(here);
  REQUIRE(entry != nullptr);
  REQUIRE(entry->changes.size() == 2);
  CHECK(entry->changes[0] == BlockChange{static_cast<std::uint16_t>(1 * 1024 + 1 * 32 + 1), 8});
  CHECK(entry->changes[1].block == static_cast<std::uint16_t>(BlockId::glass));
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(GroundCache::changes_max); ++i)
    shelf.change({i % 32, i / 32, 20}, BlockId::brick);
  CHECK(shelf.cache.find(here) == nullptr);
  shelf.ask(here);
  CHECK(shelf.requests.size() == 1);
}

TEST_CASE("no more than a few chunks are packed at once, and none that is not loaded",
          "[server][ground_cache]") {
  Shelf shelf;
  shelf.ask({1000, 0, 0});
  CHECK(shelf.requests.empty());
  for (std::int32_t x = -3; x < 3; ++x)
    for (std::int32_t y = -3; y < 3; ++y) shelf.ask({x, y, 0});
  CHECK(shelf.requests.size() == pack_requests_max);
  shelf.answer();
  shelf.ask({2, 2, 0});
  CHECK(shelf.requests.size() == 1);
  shelf.cache.begin_world();
  shelf.answer();  // of a world that is gone
  CHECK(shelf.cache.chunks() == 0);
  CHECK(shelf.cache.bytes() == 0);
}

TEST_CASE("what a secret seed hides is stone in what is packed, but for what was told",
          "[server][ground_cache]") {
  Chunk chunk(BlockId::stone);
  chunk.set_block({1, 2, 3}, BlockId::gold_ore);
  chunk.set_block({4, 5, 6}, BlockId::gold_ore);
  PackRequest request;
  request.blocks.assign(chunk);
  request.hash = chunk.content_hash();
  request.hides = true;
  request.kinds = BlockRegistry::builtin_ptr();
  request.shown = {static_cast<std::uint16_t>(index_in_chunk({4, 5, 6}))};
  const PackedGround packed = GroundPacker().pack(request);
  const auto told = ChunkCodec().decode(packed.bytes);
  REQUIRE(told.has_value());
  CHECK((*told)->block({1, 2, 3}) == BlockId::stone);
  CHECK((*told)->block({4, 5, 6}) == BlockId::gold_ore);
  CHECK((*told)->content_hash() == packed.hash);
}

TEST_CASE("treasures that were told of show in what is packed, the others are stone",
          "[server][ground_cache]") {
  WorldSetup setup = flat_setup();
  setup.secret = 5;
  const BlockId treasure = setup.blocks->treasure();
  setup.make_chunk = [treasure](const Terrain&, ChunkCoord) {
    auto chunk = std::make_unique<Chunk>(BlockId::stone);
    chunk->set_block({1, 2, 3}, treasure);
    chunk->set_block({4, 5, 6}, treasure);
    return chunk;
  };
  const World world(setup);
  ChangeLog log;
  const std::vector<AppliedEdit> told_of{{{4, 5, 6}, BlockId::stone, treasure, EntityId{0}}};
  log.take(told_of);
  const PackedGround packed = GroundPacker().pack(pack_request(world, log, here, 1));
  const auto told = ChunkCodec().decode(packed.bytes);
  REQUIRE(told.has_value());
  CHECK((*told)->block({1, 2, 3}) == BlockId::stone);
  CHECK((*told)->block({4, 5, 6}) == treasure);
}

}  // namespace ashlar::server
