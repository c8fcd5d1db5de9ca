#include <chrono>

#include "protocol/chunk_codec.h"
#include "protocol/inventory_codec.h"
#include "protocol/secure/key_text.h"
#include "server/store/edit_log.h"
#include "server/store/edit_search.h"
#include "server/store/rollback.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_check.h"
#include "tests/catch.h"
#include "tests/slowness.h"
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

TEST_CASE("players of whom the log has no edit left go from it", "[server][edit_log]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const auto store = open_at(file);
  const auto authors_known = [&] {
    return Database::open(file, OpenMode::read, 0)->number("SELECT count(*) FROM authors").value_or(-1);
  };
  // Ever new keys, each with one edit.
  for (int i = 0; i < 1000; ++i) {
    EditAuthor one = author(0, "Ada");
    one.identity[0] = static_cast<std::uint8_t>(i), one.identity[1] = static_cast<std::uint8_t>(i >> 8);
    const LoggedEdit edit[] = {{i, 0, {i, 0, 0}, BlockId::air, BlockId::brick}};
    log_edits(*store, {&one, 1}, edit, 1000 + i, {.rows_max = 30, .age_s = 0});
  }
  CHECK(found_in(file, {}).size() == 30);
  CHECK(authors_known() >= 30);
  CHECK(authors_known() < 300);
}

TEST_CASE("what the world did goes from a log that is too large before what anybody did",
          "[server][edit_log]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  auto store = open_at(file);
  const EditAuthor authors[] = {author(1, "Ada"), {}};
  const EditLogLimits limits{.rows_max = 30, .age_s = 0};
  std::vector<LoggedEdit> edits;
  for (int i = 0; i < 20; ++i) edits.push_back({i, 0, {i, 0, 0}, BlockId::air, BlockId::brick});
  log_edits(*store, authors, edits, 20, limits);
  // Sand falls for long, in several groups and runs.
  for (int group = 0; group < 8; ++group) {
    edits.clear();
    for (int i = 0; i < 40; ++i)
      edits.push_back({100 + 40 * group + i, 1, {i, 1, 0}, BlockId::air, BlockId::sand});
    if (group == 4) store.reset(), store = open_at(file);
    log_edits(*store, authors, edits, 100 + 40 * group, limits);
  }
  CHECK(found_in(file, by("Ada")).size() == 20);
  CHECK(found_in(file, by("@world")).size() == 10);
  CHECK(found_in(file, by("@world")).back().time_s == 410);
  // Who only reads the log must not take the world's for whole.
  CHECK(Database::open(file, OpenMode::read, 0)
            ->number("SELECT value FROM meta WHERE key = 'log_world_since'") == 410);
  // Where the world's are gone the oldest of all go.
  edits.clear();
  for (int i = 0; i < 25; ++i) edits.push_back({900 + i, 0, {i, 2, 0}, BlockId::air, BlockId::brick});
  log_edits(*store, authors, edits, 930, limits);
  CHECK(found_in(file, by("@world")).empty());
  CHECK(found_in(file, by("Ada")).size() == 30);
  CHECK(found_in(file, by("Ada")).back().time_s == 15);
}

TEST_CASE("a clock that jumps ahead takes nothing of the log along", "[server][edit_log]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  constexpr std::int64_t day = 24 * 3600, begun = 20'000 * day;
  const EditAuthor authors[] = {author(1, "Ada")};
  const EditLogLimits limits{.rows_max = 1000, .age_s = 30 * day};
  auto store = open_at(file);
  const auto log_one = [&](std::int64_t now_s) {
    const LoggedEdit edit{now_s, 0, {0, 0, 0}, BlockId::air, BlockId::brick};
    log_edits(*store, authors, {&edit, 1}, now_s, limits);
  };
  log_one(begun);
  const bool restart = GENERATE(false, true);
  if (restart) store.reset(), store = open_at(file);
  for (int i = 0; i < 20; ++i) log_one(begun + 4000 * day + i);
  CHECK(found_in(file, {}).size() == 21);
  // Back at the right time days pass as they do.
  for (int i = 1; i <= 40; ++i) log_one(begun + i * day);
  const auto left = found_in(file, {.until_s = begun + 100 * day});
  CHECK(left.size() == 31);
  CHECK(left.back().time_s == begun + 10 * day);
}

TEST_CASE("after a pause the log forgets as late as it must, and then as it did", "[server][edit_log]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  constexpr std::int64_t day = 24 * 3600, begun = 20'000 * day;
  const EditAuthor authors[] = {author(1, "Ada")};
  auto store = open_at(file);
  const auto log_one = [&](std::int64_t now_s) {
    const LoggedEdit edit{now_s, 0, {0, 0, 0}, BlockId::air, BlockId::brick};
    log_edits(*store, authors, {&edit, 1}, now_s, {.rows_max = 1000, .age_s = 30 * day});
  };
  log_one(begun);
  log_one(begun + 40 * day);
  CHECK(found_in(file, {}).size() == 2);
  for (int i = 1; i <= 40; ++i) log_one(begun + 40 * day + i * day / 2);
  CHECK(found_in(file, {.until_s = begun}).empty());
  CHECK(found_in(file, {}).back().time_s == begun + 40 * day);
}

TEST_CASE("a rollback takes nothing back beyond an edit that the log does not have any more",
          "[server][rollback]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  ChunkCodec codec;
  {
    const auto store = open_at(file);
    Chunk chunk(BlockId::stone);
    chunk.set_block({1, 1, 1}, BlockId::glass);
    const StoredChunk chunks[] = {{{0, 0, 0}, codec.encode(chunk)}};
    const EditAuthor authors[] = {author(1, "Ada"), {}};
    // She dug, sand fell into it, she made glass of the sand.
    const LoggedEdit edits[] = {{100, 0, {1, 1, 1}, BlockId::stone, BlockId::air},
                                {101, 1, {1, 1, 1}, BlockId::air, BlockId::sand},
                                {102, 0, {1, 1, 1}, BlockId::sand, BlockId::glass}};
    SaveGroup group{5, chunks, {}};
    group.authors = authors;
    group.edits = edits;
    group.now_s = 102;
    group.limits = {.rows_max = GENERATE(2u, 3u), .age_s = 0};
    REQUIRE(store->save(group).has_value());
    CHECK(found_in(file, {}).size() == group.limits.rows_max);
  }
  const bool force = GENERATE(false, true);
  const auto report = roll_back(file, by("Ada"), {.force = force}, 500);
  REQUIRE(report.has_value());
  CHECK(report->blocks == 1);
  CHECK((*codec.decode(open_at(file)->load_chunk({0, 0, 0}).bytes))->block({1, 1, 1}) ==
        (force ? BlockId::stone : BlockId::sand));
}

TEST_CASE("a name that several bear is refused by a rollback, which says by what to tell them apart",
          "[server][rollback]") {
  const Quarrel quarrel;
  {
    const EditAuthor renamed[] = {author(2, "Ada")};
    const LoggedEdit more[] = {{190, 0, {6, 1, 1}, BlockId::stone, BlockId::stone}};
    log_edits(*open_at(quarrel.file), renamed, more, 0);
  }
  std::string ada, bob;
  for (int i = 0; i < 32; ++i) ada += "01", bob += "02";
  const auto refused = roll_back(quarrel.file, by("Ada"), {}, 500);
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error().line, ContainsSubstring("2 players") && ContainsSubstring(ada) &&
                                       ContainsSubstring(bob) && !ContainsSubstring("\n"));
  CHECK(quarrel.block({1, 1, 1}) == BlockId::brick);
  CHECK(found_in(quarrel.file, by("Ada")).size() == 9);
  secure::PublicKey key;
  key.bytes.fill(1);
  CHECK(found_in(quarrel.file, by(secure::public_key_text(key))).size() ==
        found_in(quarrel.file, by(ada)).size());
  CHECK_FALSE(found_in(quarrel.file, by(ada)).empty());
  const auto report = roll_back(quarrel.file, by(ada), {}, 500);
  REQUIRE(report.has_value());
  CHECK(report->blocks == 2);
  CHECK(quarrel.block({3, 1, 1}) == BlockId::air);  // the other one's
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

TEST_CASE("whatever is asked for, the newest of all edits that fit are found", "[server][edit_log]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const auto store = open_at(file);
  std::vector<EditAuthor> authors{{}, {EditAuthor::Kind::operators, {}, {}}};
  for (std::uint8_t i = 1; i <= 4; ++i)
    authors.push_back(author(i, i < 4 ? "Ada" + std::to_string(i) : "Ada1"));
  Rng rng{GENERATE(1u, 2u)};
  std::vector<LoggedEdit> edits(20'000);
  for (LoggedEdit& edit : edits) {
    const auto at = [&rng](std::uint32_t across) {
      return static_cast<std::int32_t>(rng.below(across)) - static_cast<std::int32_t>(across / 2);
    };
    // A town, a field around it, and a clock that goes back now and then.
    const bool town = rng.below(2) == 0;
    const std::uint32_t who = rng.below(6);
    const IVec3 block{at(town ? 20 : 300), at(town ? 20 : 300), at(60)};
    const std::int64_t time_s = 1000 + (&edit - edits.data()) / 50 - at(10);
    edit = {time_s, who, block, BlockId::air, BlockId::brick};
  }
  log_edits(*store, authors, edits, 2000, {.rows_max = 1'000'000, .age_s = 0});
  const auto log = open_log(file);
  REQUIRE(log.has_value());
  for (int round = 0; round < 300 / static_cast<int>(ashlar::test::slowness); ++round) {
    EditQuery query;
    if (rng.below(4) > 0) {
      const auto r = static_cast<std::int32_t>(rng.below(rng.below(2) == 0 ? 4 : 200));
      const auto x = static_cast<std::int32_t>(rng.below(100)) - 50,
                 z = static_cast<std::int32_t>(rng.below(40)) - 20;
      query.area = *parse_edit_area(std::to_string(x) + ",3," +
                                    (rng.below(2) == 0 ? std::to_string(z) + "," : "") + std::to_string(r));
    }
    if (rng.below(2) == 0) query.since_s = 1000 + rng.below(400);
    if (rng.below(2) == 0) query.until_s = 1000 + rng.below(400);
    if (rng.below(2) == 0) query.player = std::array{"Ada1", "Ada2", "@world", "nobody"}[rng.below(4)];
    if (rng.below(3) > 0) query.limit = 1 + rng.below(500);
    std::vector<std::pair<std::int64_t, std::int64_t>> expected, got;
    for (std::size_t i = 0; i < edits.size(); ++i) {
      const LoggedEdit& edit = edits[i];
      const bool fits = edit.time_s >= query.since_s && edit.time_s <= query.until_s &&
                        (!query.area || query.area->contains(edit.block)) &&
                        (!query.player || author_name(authors[edit.author]) == *query.player);
      if (fits) expected.emplace_back(edit.time_s, static_cast<std::int64_t>(i) + 1);
    }
    std::ranges::sort(expected, std::ranges::greater());
    if (query.limit > 0 && expected.size() > query.limit) expected.resize(query.limit);
    const auto found = find_edits(*log, query);
    REQUIRE(found.has_value());
    CHECK(std::ranges::is_sorted(found->edits, std::ranges::greater(), &FoundEdit::id));
    for (const FoundEdit& edit : found->edits) {
      got.emplace_back(edit.time_s, edit.id);
      const LoggedEdit& made = edits[static_cast<std::size_t>(edit.id - 1)];
      if (!(made.block == edit.block)) FAIL("another block");
      if (author_name(found->authors[edit.author]) != author_name(authors[made.author]))
        FAIL("another author");
    }
    std::ranges::sort(got, std::ranges::greater());
    CAPTURE(round, query.limit, query.player.value_or("all"), query.since_s, query.until_s);
    REQUIRE(got == expected);
  }
}

TEST_CASE("looking up takes little among many edits", "[.slow][edit_log]") {
  // Spread over 4 km, or in a builders' town of 48 chunks.
  const bool town = GENERATE(false, true);
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  std::vector<EditAuthor> authors;
  for (std::uint8_t i = 1; i <= 200; ++i) authors.push_back(author(i, "player" + std::to_string(i)));
  Rng rng{3};
  std::vector<LoggedEdit> edits(10'000);
  const std::uint32_t across = town ? 128 : 4000, height = town ? 96 : 64;
  const auto place = [&rng](std::uint32_t of) {
    return static_cast<std::int32_t>(rng.below(of)) - static_cast<std::int32_t>(of / 2);
  };
  const auto next_group = [&](int group) {
    for (std::size_t i = 0; i < edits.size(); ++i) {
      // Five who build much, and everybody else; a minute a group.
      const std::uint32_t who = rng.below(2) == 0 ? rng.below(5) : rng.below(200);
      const std::int32_t x = place(across), y = place(across);
      const auto z = static_cast<std::int32_t>(rng.below(height));
      // The town's well is left alone but for three edits.
      const bool well = town && std::abs(x) <= 1 && std::abs(y) <= 1;
      const std::int64_t time_s = group * 60 + static_cast<std::int64_t>(i) / 200;
      edits[i] = {time_s, who, well ? IVec3{20, 20, z} : IVec3{x, y, z}, BlockId::air, BlockId::brick};
    }
    if (group % 400 == 0) edits[5].block = {0, 0, 20};
  };
  constexpr int groups = 990;
  open_at(file).reset();
  {
    // Not as a server writes, which would take an hour; its last groups are written as one does.
    const auto database = Database::open(file, OpenMode::write, 1000);
    REQUIRE(database
                ->run("PRAGMA journal_mode=DELETE; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                      "PRAGMA cache_size=-200000; DROP INDEX edits_by_cell; BEGIN")
                .has_value());
    auto writer = EditLogWriter::make(*database);
    REQUIRE(writer.has_value());
    for (int group = 0; group < groups; ++group) {
      next_group(group);
      REQUIRE(writer->write(authors, edits));
    }
    REQUIRE(
        database->run("CREATE INDEX edits_by_cell ON edits(cell, time, block, author); COMMIT").has_value());
  }
  double wrote_ms = 0;
  const auto store = open_at(file);
  for (int group = groups; group < 1000; ++group) {
    next_group(group);
    const auto begun = std::chrono::steady_clock::now();
    log_edits(*store, authors, edits, 60'000, {.rows_max = 20'000'000, .age_s = 0});
    wrote_ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
  }
  const auto log = open_log(file);
  std::string said;
  const auto look = [&](const std::string& what, EditQuery query) {
    query.limit = 1000;
    double best_ms = 1e9;
    std::size_t count = 0;
    for (int round = 0; round < 2; ++round) {
      const auto begun = std::chrono::steady_clock::now();
      const auto found = find_edits(*log, query);
      REQUIRE(found.has_value());
      count = found->edits.size();
      best_ms = std::min(
          best_ms,
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count());
    }
    said += what + " " + std::to_string(best_ms) + " ms (" + std::to_string(count) + ")\n";
    CAPTURE(what);
    CHECK(best_ms < 100);
  };
  const std::int64_t end = 60'000;
  for (const int r : {0, 1, 8, 64, 512}) {
    const EditQuery area = within("0,0," + std::to_string(r));
    const std::string name = "area " + std::to_string(r);
    look(name, area);
    for (const std::int64_t since : {end - 3600, end - 60})
      look(name + " since " + std::to_string(since), {.since_s = since, .area = area.area});
    look(name + " until 3000", {.until_s = 3000, .area = area.area});
    for (const char* who : {"player1", "player77", "nobody"}) {
      look(name + " " + who, {.player = who, .area = area.area});
      look(name + " since 1h " + who, {.player = who, .since_s = end - 3600, .area = area.area});
      look(name + " until 3000 " + who, {.player = who, .until_s = 3000, .area = area.area});
    }
  }
  look("block", within("10,10,20,0"));
  look("player", by("player77"));
  look("player long ago", {.player = "player77", .until_s = 3000});
  look("recent", {.since_s = end - 60});
  look("none", {.since_s = 99'999});
  look("all", {});
  const auto bytes = static_cast<double>(report_store(file)->bytes);
  WARN("10^7 edits " << (town ? "in a town" : "far and wide") << ", " << wrote_ms / 100 << " us and "
                     << bytes / 1e7 << " bytes an edit:\n"
                     << said);
}

}  // namespace ashlar::server
