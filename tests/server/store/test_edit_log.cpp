#include <chrono>

#include "protocol/chunk_codec.h"
#include "protocol/inventory_codec.h"
#include "server/store/edit_log.h"
#include "server/store/rollback.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_check.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "world/math/random.h"
#include "world/voxel/chunk.h"

namespace ashlar::server {
namespace {

using testing::TemporaryFolder;

EditAuthor author(std::uint8_t number, const std::string& name) {
  EditAuthor made{EditAuthor::Kind::player, {}, name};
  made.identity.fill(number);
  return made;
}

std::unique_ptr<SqliteStore> open_at(const std::string& file) {
  auto store = SqliteStore::open(file, {.seed = 7});
  REQUIRE(store.has_value());
  (*store)->keep();
  return std::move(*store);
}

void log_edits(SqliteStore& store, std::span<const EditAuthor> authors, std::span<const LoggedEdit> edits,
               std::int64_t now_s = 1000, const EditLogLimits& limits = {}) {
  SaveGroup group{store.world().tick + 1, {}, {}};
  group.authors = authors;
  group.edits = edits;
  group.now_s = now_s;
  group.limits = limits;
  REQUIRE(store.save(group).has_value());
}

std::vector<FoundEdit> found_in(const std::string& file, const EditQuery& query) {
  const auto log = open_log(file);
  REQUIRE(log.has_value());
  auto found = find_edits(*log, query);
  REQUIRE(found.has_value());
  return found->edits;
}

EditQuery by(const std::string& player) { return {.player = player}; }
EditQuery within(const std::string& area) { return {.area = *parse_edit_area(area)}; }

/// A chunk, and what Ada (1), Bob (2) and an operator did to it.
struct Quarrel {
  Quarrel() {
    const auto store = open_at(file);
    Chunk chunk(BlockId::stone);
    for (const LoggedEdit& edit : edits) chunk.set_block(local_in_chunk(edit.block), edit.after);
    const StoredChunk chunks[] = {{{0, 0, 0}, codec.encode(chunk)}};
    const EditAuthor authors[] = {author(1, "Ada"), author(2, "Bob"), {EditAuthor::Kind::operators, {}, {}}};
    SaveGroup group{5, chunks, {}};
    group.authors = authors;
    group.edits = edits;
    REQUIRE(store->save(group).has_value());
  }
  BlockId block(IVec3 local) const {
    return (*codec.decode(open_at(file)->load_chunk({0, 0, 0}).bytes))->block(local);
  }

  TemporaryFolder folder;
  std::string file = folder.path("world.db");
  mutable ChunkCodec codec;
  std::vector<LoggedEdit> edits{{100, 0, {1, 1, 1}, BlockId::stone, BlockId::air},  // Ada twice
                                {110, 0, {1, 1, 1}, BlockId::air, BlockId::brick},
                                {120, 0, {2, 1, 1}, BlockId::stone, BlockId::air},  // then Bob
                                {130, 1, {2, 1, 1}, BlockId::air, BlockId::glass},
                                {140, 1, {3, 1, 1}, BlockId::stone, BlockId::air},  // Bob alone
                                {150, 0, {4, 1, 1}, BlockId::stone, BlockId::air},  // Ada, Bob, Ada
                                {160, 1, {4, 1, 1}, BlockId::air, BlockId::glass},
                                {170, 0, {4, 1, 1}, BlockId::glass, BlockId::air},
                                {180, 2, {5, 1, 1}, BlockId::stone, BlockId::sand}};
};

}  // namespace

TEST_CASE("a rollback puts back a chest with what was in it, and takes back who took", "[server][rollback]") {
  TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  ChunkCodec codec;
  BlockData full, half;
  full.items.add({BlockId::clay, 60});
  half.items.add({BlockId::clay, 30});
  const BlockId chest = *BlockRegistry::builtin().find("chest");
  {
    const auto store = open_at(file);
    Chunk chunk(BlockId::stone);
    chunk.set_block({1, 1, 1}, BlockId::air);
    chunk.set_block({2, 1, 1}, chest);
    const StoredChunk chunks[] = {{{0, 0, 0}, codec.encode(chunk)}};
    const EditAuthor authors[] = {author(1, "Ada")};
    // Of one she took half, then broke it; of the other she took all.
    const LoggedEdit edits[] = {{100, 0, {1, 1, 1}, chest, chest, encode_block_data(full)},
                                {110, 0, {1, 1, 1}, chest, chest, encode_block_data(half)},
                                {110, 0, {1, 1, 1}, chest, BlockId::air},
                                {120, 0, {2, 1, 1}, chest, chest, encode_block_data(full)}};
    SaveGroup group{5, chunks, {}};
    group.authors = authors;
    group.edits = edits;
    REQUIRE(store->save(group).has_value());
  }
  const auto found = found_in(file, by("Ada"));
  REQUIRE(found.size() == 4);
  CHECK(found[0].contents);
  CHECK_FALSE(found[1].contents);
  const auto report = roll_back(file, by("Ada"), {}, 1000);
  REQUIRE(report.has_value());
  CHECK(report->blocks == 2);
  CHECK(report->left == 0);
  const auto store = open_at(file);
  CHECK((*codec.decode(store->load_chunk({0, 0, 0}).bytes))->block({1, 1, 1}) == chest);
  const auto contents = store->load_contents();
  REQUIRE(contents->contents.size() == 2);
  for (const PlacedData& one : contents->contents) CHECK(one.data == full);
}

TEST_CASE("the log tells who changed what, by player, time and place", "[server][edit_log]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const auto store = open_at(file);
  const EditAuthor authors[] = {
      author(1, "Ada"), author(2, "Bob"), {}, {EditAuthor::Kind::operators, {}, {}}};
  const LoggedEdit edits[] = {{100, 0, {1, 2, 3}, BlockId::stone, BlockId::air},
                              {200, 1, {1, 2, 3}, BlockId::air, BlockId::brick},
                              {300, 2, {-40, 70, -5}, BlockId::air, BlockId::sand},
                              {350, 3, {-40, 70, -7}, BlockId::air, BlockId::sand},
                              {400, 0, {-40, 70, -6}, BlockId::dirt, BlockId::air}};
  log_edits(*store, authors, edits);
  const auto log = open_log(file);
  const auto all = find_edits(*log, {});
  REQUIRE(all.has_value());
  REQUIRE(all->edits.size() == 5);
  const FoundEdit& newest = all->edits[0];
  CHECK(newest.time_s == 400);
  CHECK(author_name(all->authors[newest.author]) == "Ada");
  CHECK(all->authors[newest.author].identity == authors[0].identity);
  CHECK(newest.block == IVec3{-40, 70, -6});
  CHECK(newest.before == BlockId::dirt);
  CHECK(newest.after == BlockId::air);
  CHECK(author_name(all->authors[all->edits[1].author]) == "@operator");
  CHECK(author_name(all->authors[all->edits[2].author]) == "@world");
  CHECK(found_in(file, by("Ada")).size() == 2);
  CHECK(found_in(file, by("@operator")).size() == 1);
  CHECK(found_in(file, by("@world")).size() == 1);
  CHECK(found_in(file, by("")).empty());
  CHECK(found_in(file, by("Carl")).empty());
  std::string key;
  for (int i = 0; i < 32; ++i) key += "02";
  CHECK(found_in(file, by(key)).size() == 1);
  CHECK(found_in(file, {.since_s = 300}).size() == 3);
  CHECK(found_in(file, {.since_s = 200, .until_s = 300}).size() == 2);
  CHECK(found_in(file, {.player = "Ada", .until_s = 399}).size() == 1);
  CHECK(found_in(file, within("1,2,0")).size() == 2);
  CHECK(found_in(file, within("-39,69,1")).size() == 3);
  CHECK(found_in(file, within("-39,69,-6,0")).empty());
  CHECK(found_in(file, within("-40,70,-6,1")).size() == 3);
  CHECK(found_in(file, within("-38,69,1")).empty());
  CHECK(found_in(file, within("0,0,512")).size() == 5);
  EditQuery both = within("-40,70,2");
  both.player = "Ada";
  CHECK(found_in(file, both).size() == 1);
  CHECK(found_in(file, {.limit = 3}).size() == 3);
  EditQuery newest_two = within("0,0,512");
  newest_two.limit = 2;
  CHECK(found_in(file, newest_two).back().time_s == 350);
  // Who has another name now is found by that one.
  const EditAuthor renamed[] = {author(1, "Grace")};
  const LoggedEdit more[] = {{500, 0, {0, 0, 0}, BlockId::air, BlockId::brick}};
  log_edits(*store, renamed, more);
  CHECK(found_in(file, by("Grace")).size() == 3);
}

TEST_CASE("the log is bounded by age and rows, the oldest go first", "[server][edit_log]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const auto store = open_at(file);
  const EditAuthor authors[] = {author(1, "Ada")};
  std::vector<LoggedEdit> edits;
  for (int i = 0; i < 100; ++i) edits.push_back({i, 0, {i, 0, 0}, BlockId::air, BlockId::brick});
  log_edits(*store, authors, edits, 100, {.rows_max = 30, .age_s = 0});
  auto left = found_in(file, {});
  CHECK(left.size() == 30);
  CHECK(left.back().time_s == 70);
  const LoggedEdit one[] = {{130, 0, {0, 0, 0}, BlockId::air, BlockId::brick}};
  log_edits(*store, authors, one, 130, {.rows_max = 30, .age_s = 40});
  left = found_in(file, {});
  CHECK(left.size() == 11);  // from 90 on, and the new one
}

TEST_CASE("an area is read as it is written", "[server][edit_log]") {
  const auto area = parse_edit_area("10,-20,3,2");
  REQUIRE(area.has_value());
  CHECK(area->low == IVec3{8, -22, 1});
  CHECK(area->high == IVec3{12, -18, 5});
  for (const char* wrong : {"", "1", "1,2", "1,2,", "1,2,x", "1,2,513", "1,2,-1", "1,2,3,4,5", "9999999,2,3",
                            "1,2,9999,3", " 1,2,3", "1,2,3 ", "1;2;3"})
    CHECK_FALSE(parse_edit_area(wrong).has_value());
  CHECK(*parse_past_s("10m", 10'000) == 9400);
  CHECK(*parse_past_s("1970-01-01T01:00:00Z", 10'000) == 3600);
  CHECK_FALSE(parse_past_s("yesterday", 10'000).has_value());
}

TEST_CASE("a rollback puts back what a player did, but not what others did since", "[server][rollback]") {
  const Quarrel quarrel;
  const bool dry = GENERATE(true, false);
  const auto report = roll_back(quarrel.file, by("Ada"), {.dry_run = dry}, 500);
  REQUIRE(report.has_value());
  CHECK(report->edits == 5);
  CHECK(report->blocks == 2);
  CHECK(report->left == 1);
  CHECK(quarrel.block({1, 1, 1}) == (dry ? BlockId::brick : BlockId::stone));
  CHECK(quarrel.block({2, 1, 1}) == BlockId::glass);  // Bob's
  CHECK(quarrel.block({3, 1, 1}) == BlockId::air);
  CHECK(quarrel.block({4, 1, 1}) == (dry ? BlockId::air : BlockId::glass));  // as Bob left it
  CHECK(found_in(quarrel.file, {}).size() == (dry ? 9 : 11));
  CHECK(check_store(quarrel.file)->faults == 0);
  CHECK(report->copy.empty() == dry);
  if (dry) return;
  CHECK(check_store(report->copy)->faults == 0);
  // Once more it finds nothing to do, and it can be taken back itself.
  CHECK(roll_back(quarrel.file, by("Ada"), {}, 510)->blocks == 0);
  CHECK(roll_back(quarrel.file, {.player = "@operator", .since_s = 500}, {}, 520)->blocks == 2);
  CHECK(quarrel.block({1, 1, 1}) == BlockId::brick);
  CHECK(quarrel.block({4, 1, 1}) == BlockId::air);
  CHECK(quarrel.block({5, 1, 1}) == BlockId::sand);
}

TEST_CASE("a forced rollback lays over what others did since", "[server][rollback]") {
  const Quarrel quarrel;
  const auto report = roll_back(quarrel.file, by("Ada"), {.force = true}, 500);
  REQUIRE(report.has_value());
  CHECK(report->blocks == 3);
  CHECK(report->left == 0);
  for (const int x : {1, 2, 4}) CHECK(quarrel.block({x, 1, 1}) == BlockId::stone);
  CHECK(quarrel.block({3, 1, 1}) == BlockId::air);
}

TEST_CASE("a block that is not as the log says is left", "[server][rollback]") {
  const Quarrel quarrel;
  {
    Chunk chunk(BlockId::dirt);
    const StoredChunk chunks[] = {{{0, 0, 0}, quarrel.codec.encode(chunk)}};
    REQUIRE(open_at(quarrel.file)->save({6, chunks, {}}).has_value());
  }
  const auto report = roll_back(quarrel.file, by("Ada"), {}, 500);
  CHECK(report->blocks == 0);
  CHECK(report->left == 3);
  CHECK(report->copy.empty());
}

TEST_CASE("looking up takes little among many edits", "[.slow][edit_log]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const auto store = open_at(file);
  std::vector<EditAuthor> authors;
  for (std::uint8_t i = 1; i <= 200; ++i) authors.push_back(author(i, "player" + std::to_string(i)));
  Rng rng{3};
  std::vector<LoggedEdit> edits(100'000);
  for (int group = 0; group < 100; ++group) {
    for (LoggedEdit& edit : edits) {
      const std::uint32_t who = rng.below(200);
      const auto x = static_cast<std::int32_t>(rng.below(4000));
      const auto y = static_cast<std::int32_t>(rng.below(4000));
      edit = {
          group * 100, who, {x, y, static_cast<std::int32_t>(rng.below(64))}, BlockId::air, BlockId::brick};
    }
    log_edits(*store, authors, edits, 10'000, {.rows_max = 20'000'000, .age_s = 0});
  }
  const auto log = open_log(file);
  const auto took_ms = [&](const EditQuery& query) {
    const auto begun = std::chrono::steady_clock::now();
    REQUIRE(find_edits(*log, query).has_value());
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
  };
  EditQuery area = within("2000,2000,16");
  area.limit = 1000;
  const double place = took_ms(area);
  const double player = took_ms({.player = "player7", .limit = 1000});
  const double old = took_ms({.player = "player7", .until_s = 300, .limit = 1000});
  const double recent = took_ms({.since_s = 9900, .limit = 1000});
  const double nothing = took_ms({.since_s = 99'999});
  const auto bytes = static_cast<double>(report_store(file)->bytes);
  WARN("of 10^7 edits: a place " << place << " ms, a player " << player << " ms, long ago " << old
                                 << " ms, recent " << recent << " ms, none " << nothing << " ms; "
                                 << bytes / 1e7 << " bytes an edit");
  for (const double ms : {place, player, old, recent, nothing}) CHECK(ms < 100);
}

}  // namespace ashlar::server
