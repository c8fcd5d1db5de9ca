#include "server/store/store_check.h"

#include "protocol/chunk_codec.h"
#include "protocol/kept_state_codec.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_store.h"
#include "server/store/stored_blocks.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace ashlar::server {
namespace {

using testing::TemporaryFolder;

/// A store with three chunks and a player.
void make_store(const std::string& file) {
  auto store = SqliteStore::open(file, {.seed = 7, .terrain = "hills", .generator = 1});
  REQUIRE(store.has_value());
  (*store)->keep();
  std::vector<StoredChunk> chunks;
  for (int x = 0; x < 3; ++x) chunks.push_back({{x, -1, 0}, ChunkCodec().encode(Chunk(BlockId::stone))});
  const StoredPlayer players[] = {{.identity = {1, 2, 3}, .position_m = {1, 2, 3}, .life = {.health = 9}}};
  std::vector<std::uint8_t> state;
  encode_kept_state({.falling = {{1, 2, 3}}}, state);
  SaveGroup group{90, chunks, players};
  group.state = state;
  REQUIRE((*store)->save(group).has_value());
}

}  // namespace

TEST_CASE("a whole store is found whole, also while it is written to", "[server][store_check]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  make_store(file);
  const auto writer = Database::open(file, OpenMode::write, 0);
  REQUIRE(writer->run("BEGIN IMMEDIATE; DELETE FROM chunks").has_value());
  const auto check = check_store(file);
  REQUIRE(check.has_value());
  CHECK(check->faults == 0);
  CHECK(check->chunks == 3);
  CHECK(check->players == 1);
  const auto report = report_store(file);
  REQUIRE(report.has_value());
  CHECK(report->format == store_format);
  CHECK(report->world.seed == 7);
  CHECK(report->world.terrain == "hills");
  CHECK(report->world.tick == 90);
  CHECK(report->world.chunks == 3);
  CHECK(report->players == 1);
  CHECK(report->bytes > 4096);
  REQUIRE(copy_store(file, folder.path("copy.db")).has_value());
  CHECK(check_store(folder.path("copy.db"))->chunks == 3);
}

TEST_CASE("each damage is named", "[server][store_check]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  make_store(file);
  const auto [change, named] = GENERATE(table<std::string, std::string>(
      {{"UPDATE chunks SET hash = 1 WHERE place = (SELECT max(place) FROM chunks)", "chunk 2,-1,0"},
       {"UPDATE chunks SET place = -place WHERE place = (SELECT max(place) FROM chunks)", "nowhere"},
       {"DELETE FROM chunks WHERE place = (SELECT max(place) FROM chunks)", "counts 3 chunks, there are 2"},
       {"UPDATE players SET x = x + 1", "player 010203"},
       {"UPDATE state SET hash = hash + 1", "doors"},
       {"INSERT INTO meta VALUES('blocks', '00112233445566778899')", "kinds of blocks"},
       {"INSERT INTO meta VALUES('footprints', 'boxes 1')", "footprints"},
       {"INSERT INTO authors VALUES(1, x'0102', 'Ada')", "author 1"},
       {"INSERT INTO edits(time, author, place, block, before, after) VALUES(1, 9, 4611688217451692032, 0, "
        "0, 0)",
        "edit 1: its author"},
       {"INSERT INTO authors VALUES(1, x'', ''); INSERT INTO edits(time, author, place, block, before, "
        "after) "
        "VALUES(1, 1, 5, 0, 0, 0)",
        "edit 1: its place"},
       {"INSERT INTO authors VALUES(1, x'', ''); INSERT INTO edits(time, author, place, block, before, "
        "after) "
        "VALUES(1, 1, 4611688217451692032, 0, 0, 300)",
        "edit 1: of a kind"},
       {"INSERT INTO authors VALUES(1, x'', ''); INSERT INTO edits(time, author, place, block, before, "
        "after, "
        "held) VALUES(1, 1, 4611688217451692032, 0, 0, 0, x'ff')",
        "edit 1: what the block held"},
       {"DROP TABLE players", "players"}}));
  CAPTURE(change);
  {
    const auto writer = Database::open(file, OpenMode::write, 0);
    REQUIRE(writer->run(change.c_str()).has_value());
  }
  const auto check = check_store(file);
  REQUIRE(check.has_value());
  CHECK(check->faults >= 1);
  REQUIRE_FALSE(check->lines.empty());
  CHECK_THAT(check->lines.front(), ContainsSubstring(named));
}

TEST_CASE("a chunk with a kind of block that the world does not have is named", "[server][store_check]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  make_store(file);
  const auto& kinds = BlockRegistry::builtin();
  {
    const auto store = SqliteStore::open(file, {.seed = 7});
    REQUIRE(store.has_value());
    REQUIRE((*store)->save_blocks(stored_blocks_text(kinds)).has_value());
    CHECK(check_store(file)->faults == 0);
    const StoredChunk chunk{{5, 5, 0}, ChunkCodec().encode(Chunk(static_cast<BlockId>(kinds.size())))};
    REQUIRE((*store)->save({91, {&chunk, 1}, {}}).has_value());
  }
  const auto check = check_store(file);
  REQUIRE(check->faults == 1);
  CHECK_THAT(check->lines.front(), ContainsSubstring("chunk 5,5,0: it has a kind of block"));
}

TEST_CASE("a torn page is found", "[server][store_check]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  make_store(file);
  std::string bytes = folder.read("world.db");
  REQUIRE(bytes.size() >= 4 * 4096);
  for (std::size_t i = 2 * 4096; i < 4 * 4096; ++i) bytes[i] = static_cast<char>(i * 7);
  folder.write("world.db", bytes);
  const auto check = check_store(file);
  REQUIRE(check.has_value());
  CHECK(check->faults >= 1);
  // And no look-up takes more than its answer.
  const auto store = SqliteStore::open(file, {.seed = 7, .terrain = "hills", .generator = 1});
  if (store) static_cast<void>((*store)->load_chunk({0, -1, 0}));
}

TEST_CASE("what is not there or no store is said in one line", "[server][store_check]") {
  const TemporaryFolder folder;
  CHECK_THAT(check_store(folder.path("none.db")).error().line, ContainsSubstring("not there"));
  folder.write("text.db", std::string(9000, 'x'));
  CHECK_THAT(report_store(folder.path("text.db")).error().line, ContainsSubstring("text.db"));
  folder.write("empty.db", "");
  CHECK_THAT(report_store(folder.path("empty.db")).error().line, ContainsSubstring("empty"));
}

}  // namespace ashlar::server
