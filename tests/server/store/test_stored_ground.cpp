#include "server/store/stored_ground.h"

#include "server/store/sqlite.h"
#include "server/store/sqlite_store.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/terrain.h"

namespace ashlar::server {
namespace {

using testing::TemporaryFolder;

constexpr ChunkCoord kept_at{3, 4, 0};

/// A store with one changed chunk, and what a test does to its row.
struct SavedGround {
  explicit SavedGround(DamagedChunks policy) {
    auto opened = SqliteStore::open(folder.path("world.db"), {.seed = 1});
    REQUIRE(opened.has_value());
    store = std::move(*opened);
    store->keep();
    auto chunk = generate_chunk(terrain, kept_at);
    chunk->set_block({1, 1, 1}, BlockId::glass);
    save(ChunkCodec().encode(*chunk));
    ground = std::make_unique<StoredGround>(store, policy);
  }
  void save(std::vector<std::uint8_t> bytes) {
    const StoredChunk chunks[] = {{kept_at, std::move(bytes)}};
    REQUIRE(store->save({1, chunks, {}}).has_value());
  }
  void damage() {
    const auto database = Database::open(folder.path("world.db"), OpenMode::write, 1000);
    REQUIRE(database->run("UPDATE chunks SET hash = hash + 1").has_value());
  }
  std::int64_t count(const char* sql) const {
    return Database::open(folder.path("world.db"), OpenMode::read, 1000)->number(sql).value_or(-1);
  }

  TemporaryFolder folder;
  Terrain terrain{1, {}};
  std::shared_ptr<SqliteStore> store;
  std::unique_ptr<StoredGround> ground;
};

}  // namespace

TEST_CASE("changed chunks come from the store, all others are generated", "[server][stored_ground]") {
  SavedGround kept(DamagedChunks::regenerate);
  CHECK(kept.ground->make_chunk(kept.terrain, kept_at)->block({1, 1, 1}) == BlockId::glass);
  const ChunkCoord other{3, 4, -1};
  CHECK(kept.ground->make_chunk(kept.terrain, other)->content_hash() ==
        generate_chunk(kept.terrain, other)->content_hash());
  CHECK(kept.ground->take_lost().empty());
  const auto whole = kept.ground->take_kept();
  REQUIRE(whole.size() == 1);
  CHECK((whole[0].at == kept_at && *whole[0].bytes == kept.store->load_chunk(kept_at).bytes));
  const auto changes = kept.ground->take_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].block == IVec3{3 * 32 + 1, 4 * 32 + 1, 1});
  CHECK(changes[0].after == BlockId::glass);
  CHECK(changes[0].before == generate_chunk(kept.terrain, kept_at)->block({1, 1, 1}));
  CHECK(kept.ground->take_changes().empty());
  CHECK_FALSE(kept.ground->closed({3, 4}));
}

TEST_CASE("a chunk with a kind of block that the world does not have is damaged", "[server][stored_ground]") {
  SavedGround kept(DamagedChunks::regenerate);
  const auto kinds = BlockRegistry::builtin_ptr();
  Chunk chunk(BlockId::stone);
  chunk.set_block({1, 2, 3}, static_cast<BlockId>(kinds->size()));
  kept.save(ChunkCodec().encode(chunk));
  const auto policy = GENERATE(DamagedChunks::regenerate, DamagedChunks::refuse);
  StoredGround ground(kept.store, policy, {}, kinds);
  REQUIRE(ground.begin().has_value());
  CHECK(ground.make_chunk(kept.terrain, kept_at)->content_hash() ==
        generate_chunk(kept.terrain, kept_at)->content_hash());
  const auto lost = ground.take_lost();
  REQUIRE(lost.size() == 1);
  CHECK_THAT(lost[0].reason, ContainsSubstring("kind of block"));
  CHECK(ground.closed({kept_at.x, kept_at.y}) == (policy == DamagedChunks::refuse));
  CHECK(kept.count("SELECT count(*) FROM damaged WHERE kind = 'chunk'") == 1);
}

TEST_CASE("a column brings along how it differs from generated ground", "[server][stored_ground]") {
  SavedGround kept(DamagedChunks::regenerate);
  GroundColumn column{{3, 4}, {}, {}}, other{{4, 4}, {}, {}};
  column.chunks[0] = kept.ground->make_chunk(kept.terrain, kept_at);
  other.chunks[0] = kept.ground->make_chunk(kept.terrain, {4, 4, 0});
  kept.ground->finish(other);
  kept.ground->finish(column);
  CHECK((other.changes.empty() && other.kept.empty()));
  REQUIRE(column.changes.size() == 1);
  CHECK(chunk_of(column.changes[0].block) == kept_at);
  REQUIRE(column.kept.size() == 1);
  CHECK((column.kept[0].at == kept_at && *column.kept[0].bytes == kept.store->load_chunk(kept_at).bytes));
  CHECK(kept.ground->take_kept().empty());
  CHECK_FALSE(column.closed());
  CHECK(kept.ground->take_changes().empty());
}

TEST_CASE("a damaged chunk is generated anew and kept aside", "[server][stored_ground]") {
  SavedGround kept(DamagedChunks::regenerate);
  kept.damage();
  const bool begun = GENERATE(true, false);
  if (begun) REQUIRE(kept.ground->begin().has_value());
  CHECK(kept.ground->make_chunk(kept.terrain, kept_at)->content_hash() ==
        generate_chunk(kept.terrain, kept_at)->content_hash());
  const auto lost = kept.ground->take_lost();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].at == kept_at);
  CHECK(lost[0].regenerated);
  CHECK_FALSE(kept.ground->closed({3, 4}));
  // A start that may yet be undone changes nothing.
  CHECK(kept.count("SELECT count(*) FROM damaged") == (begun ? 1 : 0));
  REQUIRE(kept.ground->begin().has_value());
  CHECK(kept.count("SELECT count(*) FROM damaged") == 1);
  CHECK(kept.count("SELECT count(*) FROM chunks") == 0);
}

TEST_CASE("a damaged chunk closes its column where the operator refuses it", "[server][stored_ground]") {
  SavedGround kept(DamagedChunks::refuse);
  kept.damage();
  REQUIRE(kept.ground->begin().has_value());
  kept.ground->make_chunk(kept.terrain, kept_at);
  CHECK(kept.ground->closed({3, 4}));
  CHECK_FALSE(kept.ground->closed({4, 3}));
  GroundColumn column{{3, 4}, {}, {}}, other{{4, 3}, {}, {}};
  column.chunks[0] = std::make_unique<Chunk>();
  other.chunks[0] = std::make_unique<Chunk>();
  kept.ground->finish(column);
  kept.ground->finish(other);
  CHECK(column.closed());
  CHECK_FALSE(other.closed());
  const auto lost = kept.ground->take_lost();
  REQUIRE(lost.size() == 1);
  CHECK_FALSE(lost[0].regenerated);
  CHECK(kept.count("SELECT count(*) FROM damaged") == 1);
  CHECK(kept.count("SELECT count(*) FROM chunks") == 1);
}

TEST_CASE("a chunk that makes no sense though its hash is right is damaged, one of a newer build is not",
          "[server][stored_ground]") {
  SavedGround kept(DamagedChunks::regenerate);
  REQUIRE(kept.ground->begin().has_value());
  const bool newer = GENERATE(true, false);
  kept.save({static_cast<std::uint8_t>(newer ? chunk_bytes_version + 1 : chunk_bytes_version), 1, 2, 3});
  kept.ground->make_chunk(kept.terrain, kept_at);
  CHECK(kept.ground->closed({3, 4}) == newer);
  CHECK(kept.count("SELECT count(*) FROM chunks") == (newer ? 1 : 0));
  CHECK(kept.count("SELECT count(*) FROM damaged") == (newer ? 0 : 1));
}

}  // namespace ashlar::server
