#include "server/store/prune.h"

#include "protocol/chunk_codec.h"
#include "server/store/edit_search.h"
#include "server/store/kept_ground.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_check.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace ashlar::server {
namespace {

using testing::TemporaryFolder;

constexpr std::int64_t pruned_s = 1'000'000;

/// The ground that nobody changed: stone.
std::unique_ptr<Chunk> stone(ChunkCoord) { return std::make_unique<Chunk>(BlockId::stone); }

/// Chunks along x: 0 as it was generated, 1 and 40 built on; the log knows of a change in 40 at `changed_s`.
struct Country {
  explicit Country(std::int64_t changed_s = 500'000) {
    auto store = SqliteStore::open(file, {.seed = 7});
    REQUIRE(store.has_value());
    (*store)->keep();
    Chunk built(BlockId::stone);
    built.set_block({1, 2, 3}, BlockId::brick);
    ChunkCodec codec;
    const StoredChunk chunks[] = {{{0, 0, 0}, codec.encode(Chunk(BlockId::stone))},
                                  {{1, 0, 0}, codec.encode(built)},
                                  {{40, 0, 0}, codec.encode(built)}};
    const EditAuthor authors[] = {{}};
    const LoggedEdit edits[] = {{1000, 0, {1, 2, 3}, BlockId::stone, BlockId::brick},
                                {changed_s, 0, {40 * chunk_size, 0, 0}, BlockId::stone, BlockId::brick}};
    SaveGroup group{5, chunks, {}};
    group.authors = authors;
    group.edits = edits;
    REQUIRE((*store)->save(group).has_value());
  }
  PruneReport prune(const PruneOptions& options) const {
    auto report = prune_store(file, options, stone, pruned_s);
    REQUIRE(report.has_value());
    CHECK(check_store(file)->faults == 0);
    return *report;
  }
  std::uint64_t chunks() const { return report_store(file)->world.chunks; }

  TemporaryFolder folder;
  std::string file = folder.path("world.db");
};

}  // namespace

TEST_CASE("chunks that are as they were generated go, others stay", "[server][prune]") {
  const Country country;
  const bool dry = GENERATE(true, false);
  const PruneReport report = country.prune({.dry_run = dry});
  CHECK(report.same == 1);
  CHECK(report.far == 0);
  CHECK(report.kept == 2);
  CHECK(country.chunks() == (dry ? 3 : 2));
  CHECK(report.copy.empty() == dry);
  if (dry) return;
  CHECK(report_store(report.copy)->world.chunks == 3);
  CHECK(country.prune({}).copy.empty());  // nothing to do
}

TEST_CASE("far chunks go that nobody changed for long", "[server][prune]") {
  const auto far = [](std::int32_t keep_near_m, std::int64_t unchanged_s) {
    PruneOptions options;
    options.far = {keep_near_m, unchanged_s};
    options.copy = false;
    return options;
  };
  const Country country;
  CHECK(country.prune(far(1000, 900'000)).far == 0);  // changed since
  CHECK(country.prune(far(1280, 100'000)).far == 0);  // near enough: its edge is 1 280 m away
  CHECK(country.prune(far(1280, 100'000)).kept == 2);
  PruneOptions near = far(1000, 100'000);
  near.spawn = {40 * chunk_size, 500};
  CHECK(country.prune(near).far == 1);  // the other one
  CHECK(country.chunks() == 1);
  CHECK(country.prune(far(1000, 100'000)).far == 1);
  CHECK(country.chunks() == 0);
}

TEST_CASE("what stands near any map stays, however far from the spawn", "[server][prune]") {
  const Country country;
  PruneOptions options;
  options.far = {100, 100'000};
  options.copy = false;
  options.spawn = {-5000, 0};
  // Its edge is 100 m from the chunk at 40, and a metre more.
  const std::int32_t low = 41 * chunk_size + 100;
  options.maps = {{{low - 1, -10, 0}, {low + 500, 10, 30}}};
  CHECK(country.prune(options).far == 2);
  CHECK(country.chunks() == 1);
  options.maps = {{{low, -10, 0}, {low + 500, 10, 30}}};
  CHECK(country.prune(options).far == 1);
  CHECK(country.chunks() == 0);
}

TEST_CASE("a log that does not reach back so far says so", "[server][prune]") {
  const Country country;
  PruneOptions options;
  options.far = {100, pruned_s - 999};
  const auto report = prune_store(country.file, options, stone, pruned_s);
  REQUIRE_FALSE(report.has_value());
  CHECK_THAT(report.error().line, ContainsSubstring("--unchanged-for"));
  CHECK(country.chunks() == 3);
}

TEST_CASE("a log that lacks some of what the world did says so", "[server][prune]") {
  const Country country;
  REQUIRE(
      Database::open(country.file, OpenMode::write, 0)
          ->run(("INSERT INTO meta VALUES('log_world_since', '" + std::to_string(pruned_s - 90'000) + "')")
                    .c_str())
          .has_value());
  PruneOptions options;
  options.far = {100, 100'000};
  CHECK_FALSE(prune_store(country.file, options, stone, pruned_s).has_value());
  options.far = {100, 80'000};
  CHECK(prune_store(country.file, options, stone, pruned_s).has_value());
}

TEST_CASE("old edits leave the log", "[server][prune]") {
  const Country country;
  CHECK(country.prune({.log_age_s = 600'000}).edits == 1);
  CHECK(find_edits(*open_log(country.file), {})->edits.size() == 1);
}

TEST_CASE("players whose edits have all left the log leave it too", "[server][prune]") {
  const Country country;
  {
    const auto store = *SqliteStore::open(country.file, {.seed = 7});
    store->keep();
    const EditAuthor authors[] = {{EditAuthor::Kind::player, {1}, "Ada"},
                                  {EditAuthor::Kind::player, {2}, "Bob"},
                                  {EditAuthor::Kind::operators, {}, {}}};
    const LoggedEdit edits[] = {{1000, 0, {1, 2, 3}, BlockId::stone, BlockId::brick},
                                {900'000, 1, {1, 2, 3}, BlockId::brick, BlockId::air},
                                {1000, 2, {1, 2, 3}, BlockId::air, BlockId::brick}};
    SaveGroup group{6, {}, {}};
    group.authors = authors, group.edits = edits;
    REQUIRE(store->save(group).has_value());
  }
  CHECK(country.prune({.log_age_s = 600'000}).edits == 3);
  const auto database = Database::open(country.file, OpenMode::read, 0);
  CHECK(database->number("SELECT count(*) FROM authors WHERE name = 'Ada'") == 0);
  CHECK(database->number("SELECT count(*) FROM authors WHERE name = 'Bob'") == 1);
  CHECK(database->number("SELECT count(*) FROM authors") == 3);
}

TEST_CASE("damaged chunks are not pruned", "[server][prune]") {
  const Country country;
  REQUIRE(
      Database::open(country.file, OpenMode::write, 0)->run("UPDATE chunks SET hash = hash + 1").has_value());
  const auto report = prune_store(country.file, {}, stone, pruned_s);
  REQUIRE(report.has_value());
  CHECK(report->kept == 3);
  CHECK(country.chunks() == 3);
}

TEST_CASE("boxes of maps are read as they were written", "[server][kept_ground]") {
  const BlockBox boxes[] = {{{1, -2, 3}, {4, 5, 6}}, {{-70, 8, 9}, {10, 11, 12}}};
  CHECK(*read_footprints(footprints_text(boxes)) ==
        std::vector<BlockBox>(std::begin(boxes), std::end(boxes)));
  CHECK(read_footprints(footprints_text({}))->empty());
  for (const char* wrong : {"", "box", "boxes 1 2 3 4 5", "boxes 1 2 3 4 5 x", "boxes1 2 3 4 5 6", "boxes ",
                            "boxes 1 2 3 4 5 99999999999"})
    CHECK_FALSE(read_footprints(wrong).has_value());
}

TEST_CASE("a map that is another one under its name is told from those a world was made with",
          "[server][kept_ground]") {
  const NamedMap made[] = {{"MAP01", 1}, {"COURTYARD", 2}};
  const std::string text = maps_text(made);
  CHECK(other_map(text, made).empty());
  CHECK(other_map("", made).empty());  // a world of before that was kept
  CHECK(other_map(maps_text({}), made).empty());
  CHECK(other_map(text, std::vector<NamedMap>{{"MAP01", 3}, {"COURTYARD", 2}}) == "MAP01");
  CHECK(other_map(text, std::vector<NamedMap>{{"MAP01", 1}, {"COURTYARD", 1}}) == "COURTYARD");
  CHECK(other_map(text, std::vector<NamedMap>{{"MAP02", 3}, {"COURTYARD", 2}}).empty());
}

}  // namespace ashlar::server
