#include "server/store/sqlite_store.h"

#include <sqlite3.h>
#include <sys/resource.h>

#include <csignal>

#include "protocol/chunk_codec.h"
#include "protocol/inventory_codec.h"
#include "protocol/kept_state_codec.h"
#include "server/store/edit_search.h"
#include "server/store/salvage.h"
#include "server/store/sqlite.h"
#include "server/store/store_check.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "world/math/random.h"

namespace ashlar::server {
namespace {

using testing::TemporaryFolder;
using Kind = StoreTrouble::Kind;

const StoredWorld seven{.seed = 7};
const StoredWorld here{.seed = 7, .terrain = "hills", .generator = 3};  // what its world.toml says

std::unique_ptr<SqliteStore> open_kept(const std::string& file, const StoredWorld& world = seven) {
  auto store = SqliteStore::open(file, world);
  REQUIRE(store.has_value());
  (*store)->keep();
  return std::move(*store);
}

void meddle(const std::string& file, const std::string& sql) {
  const auto database = Database::open(file, OpenMode::write, 0);
  REQUIRE(database.has_value());
  const auto done = database->run(sql.c_str());
  INFO((done ? std::string() : done.error().line));
  REQUIRE(done.has_value());
}

std::int64_t ask(const std::string& file, const std::string& sql) {
  const auto database = Database::open(file, OpenMode::read, 0);
  REQUIRE(database.has_value());
  return database->number(sql.c_str()).value_or(-1);
}

std::vector<std::uint8_t> some_bytes(std::uint64_t seed, std::size_t size) {
  Rng rng = rng_for(seed, 1);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.next_u32());
  return bytes;
}

StoredPlayer some_player(std::uint8_t number) {
  StoredPlayer player{.identity = {}, .position_m = {1.5 * number, -2.25, 30}};
  player.identity.fill(number);
  player.yaw = Turn16{static_cast<std::uint16_t>(1000u * number)};
  player.pitch = Turn16{65'000};
  player.life = {.health = 77, .armour = 12, .armour_half = 1, .kinds_of = 99};
  player.life.arsenal.weapons = 7, player.life.arsenal.ammo[1] = 8, player.life.arsenal.spent[3] = 2;
  player.score = {.match = 4, .score = -3, .kills = 2, .deaths = 5, .team = 1};
  player.inventory.slots[3] = {BlockId::brick, number};
  return player;
}

/// The one of that number among all that a store knows.
std::optional<StoredPlayer> kept_player(SqliteStore& store, std::uint8_t number) {
  const auto all = store.load_players();
  REQUIRE(all.has_value());
  const auto found = std::ranges::find(all->players, some_player(number).identity, &StoredPlayer::identity);
  return found == all->players.end() ? std::nullopt : std::optional(*found);
}

/// Makes a database one of format 7 but for its number.
const std::string back_to_7 =
    "DROP INDEX edits_by_cell; ALTER TABLE edits DROP COLUMN cell; CREATE INDEX edits_by_place ON "
    "edits(place, block); ";

}  // namespace

TEST_CASE("a chunk's place says where it is, and columns lie together", "[server][sqlite_store]") {
  const int far = (1 << 20) - 1;
  for (const ChunkCoord at : {ChunkCoord{0, 0, 0}, ChunkCoord{-1, 5, -3}, ChunkCoord{far, -far, far}}) {
    CHECK(chunk_at_place(chunk_place(at)) == at);
    CHECK(chunk_place(at) > 0);
  }
  CHECK(chunk_place({1, 2, -3}) + 6 == chunk_place({1, 2, 3}));
  CHECK(chunk_place({1, 2, far}) < chunk_place({1, 3, -far}));
  CHECK(chunk_place({1, far, 0}) < chunk_place({2, -far, 0}));
}

TEST_CASE("what is saved is there after a new start, the last word on each chunk", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const auto early = some_bytes(1, 500), late = some_bytes(2, 4000);
  {
    const auto store = open_kept(file);
    CHECK(store->made());
    CHECK(store->world().tick == 0);
    const StoredChunk first[] = {{{1, 2, 3}, early}, {{-5, 0, -3}, early}};
    const StoredPlayer players[] = {some_player(1), some_player(2)};
    REQUIRE(store->save({30, first, players}).has_value());
    const StoredChunk second[] = {{{1, 2, 3}, late}};
    REQUIRE(store->save({60, second, {}}).has_value());
    CHECK(store->load_chunk({1, 2, 3}).bytes == late);  // at once, beside the writer
  }
  const auto store = open_kept(file);
  CHECK_FALSE(store->made());
  CHECK(store->world().seed == 7);
  CHECK(store->world().tick == 60);
  CHECK(store->load_chunk({1, 2, 3}).bytes == late);
  CHECK(store->load_chunk({-5, 0, -3}).bytes == early);
  CHECK(store->load_chunk({9, 9, 0}).kind == ChunkLookup::Kind::none);
  CHECK(ask(file, "SELECT value FROM meta WHERE key = 'chunks'") == 2);
  const auto player = kept_player(*store, 2);
  REQUIRE(player.has_value());
  CHECK(player->position_m == some_player(2).position_m);
  CHECK(player->life == some_player(2).life);
  CHECK(player->score == some_player(2).score);
  CHECK(player->yaw == some_player(2).yaw);
  CHECK(player->pitch == some_player(2).pitch);

  CHECK(player->inventory == some_player(2).inventory);
  CHECK_FALSE(kept_player(*store, 9).has_value());
}

TEST_CASE("a start that is undone leaves no database, one that was there stays", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  REQUIRE(SqliteStore::open(file, seven).has_value());
  CHECK(std::filesystem::is_empty(folder.path("")));
  open_kept(file).reset();
  REQUIRE(SqliteStore::open(file, seven).has_value());
  CHECK(std::filesystem::exists(file));
}

TEST_CASE("a damaged chunk is told from a good one and kept aside once", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const auto store = open_kept(file);
  const auto bytes = some_bytes(1, 300);
  const StoredChunk chunks[] = {{{1, 2, 3}, bytes}, {{4, 5, 6}, bytes}};
  REQUIRE(store->save({5, chunks, {}}).has_value());
  const std::string place = std::to_string(chunk_place({1, 2, 3}));
  SECTION("bytes that changed") { meddle(file, "UPDATE chunks SET bytes = x'0102' WHERE place = " + place); }
  SECTION("a hash that changed") { meddle(file, "UPDATE chunks SET hash = hash + 1 WHERE place = " + place); }
  SECTION("bytes of another chunk") {
    const StoredChunk other[] = {{{7, 7, 0}, some_bytes(9, 300)}};
    REQUIRE(store->save({6, other, {}}).has_value());
    meddle(file, "UPDATE chunks SET (hash, bytes) = (SELECT hash, bytes FROM chunks WHERE place = " +
                     std::to_string(chunk_place({7, 7, 0})) + ") WHERE place = " + place);
    meddle(file, "DELETE FROM chunks WHERE place = " + std::to_string(chunk_place({7, 7, 0})));
    meddle(file, "UPDATE meta SET value = 2 WHERE key = 'chunks'");
  }
  SECTION("far too many bytes") {
    meddle(file, "UPDATE chunks SET bytes = zeroblob(10000000) WHERE place = " + place);
  }
  SECTION("another type") { meddle(file, "UPDATE chunks SET bytes = 'text' WHERE place = " + place); }
  const ChunkLookup found = store->load_chunk({1, 2, 3});
  REQUIRE(found.kind == ChunkLookup::Kind::damaged);
  CHECK(found.damage.at == ChunkCoord{1, 2, 3});
  CHECK_FALSE(found.damage.reason.empty());
  CHECK(found.damage.bytes.size() <= chunk_bytes_max);
  REQUIRE(store->set_aside(found.damage, false).has_value());
  REQUIRE(store->set_aside(found.damage, true).has_value());
  CHECK(ask(file, "SELECT count(*) FROM damaged") == 1);
  CHECK(ask(file, ("SELECT count(*) FROM damaged WHERE kind = 'chunk' AND place = " + place).c_str()) == 1);
  CHECK(store->load_chunk({1, 2, 3}).kind == ChunkLookup::Kind::none);
  CHECK(store->load_chunk({4, 5, 6}).bytes == bytes);
  CHECK(ask(file, "SELECT value FROM meta WHERE key = 'chunks'") == 1);
}

TEST_CASE("a damaged player is unknown and kept aside", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const auto store = open_kept(file);
  const StoredPlayer players[] = {some_player(1)};
  REQUIRE(store->save({5, {}, players}).has_value());
  const std::string change =
      GENERATE("x = 9e999", "health = 1e300", "yaw = 70000", "z = z + 1", "hash = 5", "items = x''",
               "items = x'01050100'", "life = x''", "life = x'00'", "health = 76");
  CAPTURE(change);
  meddle(file, "UPDATE players SET " + change);
  CHECK_FALSE(kept_player(*store, 1).has_value());
  CHECK(ask(file, "SELECT count(*) FROM damaged") == 0);  // the start may yet be undone
  const auto all = store->load_players();
  REQUIRE(all->damaged.size() == 1);
  CHECK(std::ranges::equal(all->damaged[0], players[0].identity));
  REQUIRE(store->set_aside_players().has_value());
  CHECK(store->load_players()->damaged.empty());
  CHECK(ask(file, "SELECT count(*) FROM players") == 0);
  // All of it is there, as what puts it back.
  CHECK(ask(file,
            "SELECT count(*) FROM damaged WHERE kind = 'player' AND hash <> 0 AND length(bytes) > 200") == 1);
  const auto database = Database::open(file, OpenMode::read, 1000);
  auto row = Statement::make(*database, "SELECT bytes FROM damaged");
  REQUIRE(row->step() == SQLITE_ROW);
  const std::string back = row->text(0);
  row->reset();
  meddle(file, back);
  CHECK(store->load_players()->damaged.size() == 1);
}

TEST_CASE(
    "players come back in the order in which they were last written, and go where nothing is kept of them",
    "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const auto store = open_kept(file);
  const StoredPlayer players[] = {some_player(3), some_player(1), some_player(2)};
  REQUIRE(store->save({5, {}, players}).has_value());
  StoredPlayer again[] = {some_player(3), some_player(1)};
  again[1].gone = true;
  REQUIRE(store->save({6, {}, again}).has_value());
  const auto all = store->load_players();
  REQUIRE(all->players.size() == 2);
  CHECK(all->players[0].identity == some_player(2).identity);
  CHECK(all->players[1].identity == some_player(3).identity);
}

TEST_CASE("a database of a newer format is refused, and stays as it was", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  open_kept(file).reset();
  const std::string next = std::to_string(store_format + 1);
  meddle(file, "PRAGMA user_version = " + next);
  const std::string before = folder.read("world.db");
  const auto store = SqliteStore::open(file, seven);
  REQUIRE_FALSE(store.has_value());
  CHECK(store.error().kind == Kind::newer);
  CHECK_THAT(store.error().line, ContainsSubstring(file) && ContainsSubstring("format " + next));
  CHECK(folder.read("world.db") == before);
}

TEST_CASE("an older format is upgraded after a copy was made", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const auto bytes = some_bytes(1, 300);
  {
    const auto store = open_kept(file);
    const StoredChunk chunks[] = {{{1, 2, 3}, bytes}};
    REQUIRE(store->save({5, chunks, {}}).has_value());
  }
  meddle(file, "PRAGMA user_version = 1");
  folder.write("world.db.format-1", "of an upgrade that was cut off");
  StoreOptions options;
  options.format = 3;
  SECTION("all its steps") {
    const UpgradeStep steps[] = {{1, "CREATE TABLE second(a)"}, {2, "CREATE TABLE third(a)"}};
    options.steps = steps;
    const auto store = SqliteStore::open(file, seven, options);
    REQUIRE(store.has_value());
    CHECK((*store)->copied() == file + ".format-1-2");
    CHECK((*store)->load_chunk({1, 2, 3}).bytes == bytes);
    CHECK(ask(file, "PRAGMA user_version") == 3);
    CHECK(ask(file, "SELECT count(*) FROM sqlite_master WHERE name IN ('second', 'third')") == 2);
    CHECK(ask((*store)->copied(), "PRAGMA user_version") == 1);
    CHECK(ask((*store)->copied(), "SELECT count(*) FROM chunks") == 1);
  }
  SECTION("or none") {
    const UpgradeStep steps[] = {{1, "CREATE TABLE second(a)"}, {2, "CREATE TABLE meta(a)"}};
    options.steps = steps;
    const auto store = SqliteStore::open(file, seven, options);
    REQUIRE_FALSE(store.has_value());
    CHECK(ask(file, "PRAGMA user_version") == 1);
    CHECK(ask(file, "SELECT count(*) FROM sqlite_master WHERE name = 'second'") == 0);
    meddle(file, "PRAGMA user_version = " + std::to_string(store_format));
    CHECK(open_kept(file)->load_chunk({1, 2, 3}).bytes == bytes);
  }
}

TEST_CASE("players of a database from before there were items hold nothing", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  StoredPlayer player = some_player(1);
  player.inventory = {}, player.score = {}, player.life = {.health = 77};
  REQUIRE(open_kept(file)->save({5, {}, std::span(&player, 1)}).has_value());
  meddle(file,
         back_to_7 +
             "ALTER TABLE players DROP COLUMN items; DROP TABLE items; DROP TABLE edits; DROP TABLE authors; "
             "DROP TABLE contents; DROP TABLE state; "
             "ALTER TABLE players DROP COLUMN life; PRAGMA user_version = 1");
  const auto store = open_kept(file);
  CHECK(store->copied() == file + ".format-1");
  CHECK(kept_player(*store, 1)->inventory.empty());
  CHECK(store->load_items()->items.empty());
}

TEST_CASE("a database from before there was a log gets one", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  open_kept(file).reset();
  meddle(file, back_to_7 +
                   "DROP TABLE edits; DROP TABLE authors; DROP TABLE contents; DROP TABLE state; "
                   "ALTER TABLE players DROP COLUMN life; PRAGMA user_version = 2");
  const auto store = open_kept(file);
  CHECK(store->copied() == file + ".format-2");
  CHECK(ask(file, "SELECT count(*) FROM edits") == 0);
  CHECK(ask(file, "PRAGMA user_version") == store_format);
}

TEST_CASE("what blocks hold is kept, replaced and forgotten, and damage to it is named",
          "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  BlockData chest, sign;
  chest.items.add({BlockId::clay, 70});
  sign.text = SignText::of("clay");
  std::vector<StoredContents> all{{{1, 2, 3}, encode_block_data(chest)},
                                  {{-40, 70, -5}, encode_block_data(sign)},
                                  {{1, 2, 4}, encode_block_data(sign)}};
  SaveGroup group{5, {}, {}};
  group.contents = all;
  REQUIRE(open_kept(file)->save(group).has_value());
  all = {{{1, 2, 4}, {}}, {{1, 2, 3}, encode_block_data(chest)}};
  group.contents = all;
  REQUIRE(open_kept(file)->save(group).has_value());
  const auto kept = open_kept(file)->load_contents();
  REQUIRE(kept.has_value());
  CHECK(kept->damaged == 0);
  REQUIRE(kept->contents.size() == 2);
  CHECK(kept->contents[0].block == IVec3{-40, 70, -5});
  CHECK(kept->contents[0].data == sign);
  CHECK(kept->contents[1].block == IVec3{1, 2, 3});
  CHECK(kept->contents[1].data == chest);
  meddle(file, "UPDATE contents SET block = block + 1 WHERE length(bytes) < 8");
  const auto damaged = open_kept(file)->load_contents();
  REQUIRE(damaged.has_value());
  CHECK(damaged->damaged == 1);
  CHECK(damaged->contents.size() == 1);
  CHECK(ask(file, "SELECT count(*) FROM damaged WHERE kind = 'contents'") == 1);
}

TEST_CASE("a database from before blocks held anything gets what they need", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  open_kept(file).reset();
  meddle(file, back_to_7 +
                   "ALTER TABLE edits DROP COLUMN held; DROP TABLE contents; DROP TABLE state; "
                   "ALTER TABLE players DROP COLUMN life; PRAGMA user_version = 3");
  const auto store = open_kept(file);
  CHECK(store->copied() == file + ".format-3");
  CHECK(store->load_contents()->contents.empty());
  CHECK(ask(file, "SELECT count(*) FROM edits WHERE held IS NULL") == 0);
}

TEST_CASE("what lies in a world is kept whole, and damage to it is named", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const LyingItem items[] = {{{BlockId::stone, 64}, {1.5, -2, 30}, 7}, {{BlockId::sand, 1}, {0, 0, -9}, 0}};
  REQUIRE(open_kept(file)->save({5, {}, {}, encode_items(items)}).has_value());
  REQUIRE(open_kept(file)->save({6, {}, {}}).has_value());
  const auto kept = open_kept(file)->load_items();
  REQUIRE(kept.has_value());
  REQUIRE(kept->items.size() == 2);
  CHECK(kept->items[0].stack == items[0].stack);
  CHECK(kept->items[0].position_m == items[0].position_m);
  CHECK(kept->items[0].age_ticks == 7);
  meddle(file, "UPDATE items SET bytes = x'0102'");
  const auto damaged = open_kept(file)->load_items();
  REQUIRE(damaged.has_value());
  CHECK(damaged->items.empty());
  CHECK_FALSE(damaged->damage.empty());
  CHECK(ask(file, "SELECT count(*) FROM damaged WHERE kind = 'items'") == 1);
}

TEST_CASE("what a world is at is kept, and damage to it is named and set aside", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  CHECK(open_kept(file)->load_state()->state == nullptr);
  KeptState state;
  state.falling = {{1, 2, 3}};
  state.monsters = {{.row = 4, .health = 9, .position_m = {1, 2, 3}}};
  std::vector<std::uint8_t> bytes;
  encode_kept_state(state, bytes);
  SaveGroup group{5, {}, {}};
  group.state = bytes;
  REQUIRE(open_kept(file)->save(group).has_value());
  REQUIRE(open_kept(file)->save({6, {}, {}}).has_value());  // it stays as it was
  const auto kept = open_kept(file)->load_state();
  REQUIRE((kept.has_value() && kept->state != nullptr));
  CHECK(*kept->state == state);
  meddle(file, "UPDATE state SET bytes = x'0102'");
  const auto damaged = open_kept(file)->load_state();
  REQUIRE(damaged.has_value());
  CHECK(damaged->state == nullptr);
  CHECK_FALSE(damaged->damage.empty());
  CHECK(ask(file, "SELECT count(*) FROM damaged WHERE kind = 'state'") == 1);
}

TEST_CASE("a database from before doors were kept gets room for them", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  open_kept(file).reset();
  meddle(file, back_to_7 + "DROP TABLE state; ALTER TABLE players DROP COLUMN life; PRAGMA user_version = 4");
  const auto store = open_kept(file);
  CHECK(store->copied() == file + ".format-4");
  CHECK(store->load_state()->state == nullptr);
  CHECK(ask(file, "PRAGMA user_version") == store_format);
}

TEST_CASE("a database from before weapons were kept is upgraded after a copy, and its players are there",
          "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  StoredPlayer player = some_player(1);
  player.score = {}, player.life = {.health = 77};
  REQUIRE(open_kept(file)->save({5, {}, std::span(&player, 1)}).has_value());
  // A state of that format: no falling block, no map, no monster.
  meddle(file,
         back_to_7 + "INSERT INTO state VALUES(0, " +
             std::to_string(std::bit_cast<std::int64_t>(
                 chunk_row_hash(0, std::vector<std::uint8_t>{1, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0}))) +
             ", x'010000090000000000000000'); ALTER TABLE players DROP COLUMN life; PRAGMA user_version = 5");
  const auto store = open_kept(file);
  CHECK(store->copied() == file + ".format-5");
  CHECK(ask(file, "PRAGMA user_version") == store_format);
  const auto kept = kept_player(*store, 1);
  REQUIRE(kept.has_value());
  CHECK(kept->life == player.life);
  CHECK(kept->score.match == 0);
  const auto state = store->load_state();
  REQUIRE((state.has_value() && state->state != nullptr));
  CHECK(state->state->monsters_of == 9);
  CHECK(state->state->match.number == 0);
}

TEST_CASE("the log of a database of format 7 is looked up by cells after its upgrade",
          "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const IVec3 block = GENERATE(IVec3{1, 2, 3}, IVec3{-1, -7, -9}, IVec3{-1'000'000, 1'000'000, 4000});
  const EditAuthor author{EditAuthor::Kind::operators, {}, {}};
  const LoggedEdit edits[] = {{100, 0, block, BlockId::air, BlockId::brick},
                              {101, 0, {block.x + 8, block.y, block.z}, BlockId::air, BlockId::brick}};
  SaveGroup group{5, {}, {}};
  group.authors = {&author, 1};
  group.edits = edits;
  REQUIRE(open_kept(file)->save(group).has_value());
  meddle(file, back_to_7 + "PRAGMA user_version = 7");
  CHECK_FALSE(open_log(file).has_value());  // by tools: first a server is started on it
  CHECK(open_kept(file)->copied() == file + ".format-7");
  CHECK(ask(file, "SELECT cell FROM edits WHERE id = 1") == edit_cell(block));
  const auto log = open_log(file);
  REQUIRE(log.has_value());
  const auto found = find_edits(*log, {.area = EditArea{block, block}});
  REQUIRE((found.has_value() && found->edits.size() == 1));
  CHECK(found->edits[0].block == block);
}

TEST_CASE("a database from before blocks had timers is upgraded after a copy, and an older build refuses it",
          "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  BlockData sign;
  sign.text = SignText::of("clay");
  const StoredContents kept_sign{{1, 2, 3}, encode_block_data(sign)};
  SaveGroup group{5, {}, {}};
  group.contents = {&kept_sign, 1};
  REQUIRE(open_kept(file)->save(group).has_value());
  meddle(file, back_to_7 + "PRAGMA user_version = 6");
  {
    const auto store = open_kept(file);
    CHECK(store->copied() == file + ".format-6");
    CHECK(ask(file, "PRAGMA user_version") == store_format);
    CHECK(ask(store->copied(), "PRAGMA user_version") == 6);
    CHECK(store->world().tick == 5);
    const auto contents = store->load_contents();
    REQUIRE((contents.has_value() && contents->contents.size() == 1));
    CHECK(contents->contents[0].data == sign);
    BlockData timed = sign;
    timed.due = 99'000'000'000;
    const StoredContents both{{1, 2, 3}, encode_block_data(timed)};
    group.tick = 6;
    group.contents = {&both, 1};
    REQUIRE(store->save(group).has_value());
    const auto now = store->load_contents();
    REQUIRE((now.has_value() && now->contents.size() == 1));
    CHECK(now->contents[0].data == timed);
  }
  StoreOptions older;
  older.format = 6;
  const auto refused = SqliteStore::open(file, seven, older);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == StoreTrouble::Kind::newer);
}

TEST_CASE("what is no world's database, or another world's, is refused in one line",
          "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  SECTION("text") { folder.write("world.db", std::string(5000, 'x')); }
  SECTION("somebody else's tables") {
    const auto database = Database::open(file, OpenMode::make, 0);
    REQUIRE(database->run("CREATE TABLE other(a)").has_value());
  }
  SECTION("another seed") { open_kept(file, {.seed = 8}).reset(); }
  SECTION("another kind of ground") { open_kept(file, {.seed = 7, .terrain = "hills"}).reset(); }
  SECTION("another generator") { open_kept(file, {.seed = 7, .terrain = "plains", .generator = 4}).reset(); }
  const std::string before = folder.read("world.db");
  const auto store = SqliteStore::open(file, {.seed = 7, .terrain = "plains", .generator = 3});
  REQUIRE_FALSE(store.has_value());
  CHECK(store.error().kind == Kind::foreign);
  CHECK_THAT(store.error().line, ContainsSubstring(file));
  CHECK(store.error().line.find('\n') == std::string::npos);
  CHECK(folder.read("world.db") == before);
}

TEST_CASE("a database that lost what it says of its world is damaged", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  open_kept(file).reset();
  meddle(file,
         GENERATE("DELETE FROM meta WHERE key = 'seed'", "UPDATE meta SET value = 'x' WHERE key = 'tick'"));
  const auto store = SqliteStore::open(file, seven);
  REQUIRE_FALSE(store.has_value());
  CHECK(store.error().kind == Kind::damaged);
}

TEST_CASE("a database that another program holds is refused after some patience", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  open_kept(file).reset();
  const auto other = Database::open(file, OpenMode::write, 0);
  REQUIRE(other.has_value());
  const bool alone = GENERATE(true, false);
  REQUIRE(
      other->run(alone ? "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE" : "BEGIN IMMEDIATE").has_value());
  const auto store = SqliteStore::open(file, seven, {.patience_ms = 20});
  REQUIRE_FALSE(store.has_value());
  CHECK(store.error().kind == Kind::busy);
  CHECK_THAT(store.error().line, ContainsSubstring(file));
}

TEST_CASE("a full disk takes no part of a group, and the next try may be whole", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  std::signal(SIGXFSZ, SIG_IGN);
  const auto store = open_kept(file);
  std::vector<StoredChunk> chunks;
  for (int i = 0; i < 300; ++i)
    chunks.push_back({{i, 0, 0}, some_bytes(static_cast<std::uint64_t>(i), 3000)});
  REQUIRE(store->save({1, std::span(chunks).first(1), {}}).has_value());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 256u << 10;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto full = store->save({2, chunks, {}});
  ::setrlimit(RLIMIT_FSIZE, &before);
  REQUIRE_FALSE(full.has_value());
  CHECK_THAT(full.error().line, ContainsSubstring(file) && ContainsSubstring("room"));
  CHECK(store->world().tick == 1);
  CHECK(store->load_chunk({1, 0, 0}).kind == ChunkLookup::Kind::none);
  REQUIRE(store->save({3, chunks, {}}).has_value());
  for (const StoredChunk& chunk : chunks) CHECK(store->load_chunk(chunk.at).bytes == chunk.bytes);
  CHECK(ask(file, "SELECT value FROM meta WHERE key = 'chunks'") == 300);
}

TEST_CASE("nothing is saved to a database that was moved away or removed", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db"), away = folder.path("away.db");
  const auto store = open_kept(file);
  const StoredChunk chunk{{1, 2, 3}, {1, 2, 3}};
  REQUIRE(store->save({1, {&chunk, 1}, {}}).has_value());
  std::filesystem::rename(file, away);
  const auto moved = store->save({2, {&chunk, 1}, {}});
  REQUIRE_FALSE(moved.has_value());
  CHECK(moved.error().line.find(file + " was removed, or moved away") == 0);
  std::filesystem::rename(away, file);
  CHECK(store->save({3, {&chunk, 1}, {}}).has_value());
  std::filesystem::remove(file);
  CHECK_FALSE(store->save({4, {&chunk, 1}, {}}).has_value());
}

TEST_CASE("a backup of a store that goes on writing is whole, and never over another file",
          "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const auto store = open_kept(folder.path("world.db"));
  const StoredChunk chunks[] = {{{1, 2, 3}, some_bytes(1, 300)}};
  REQUIRE(store->save({5, chunks, {}}).has_value());
  const std::string copy = folder.path("copy.db");
  REQUIRE(store->backup(copy).has_value());
  CHECK_FALSE(store->backup(copy).has_value());
  REQUIRE(store->save({9, {}, {}}).has_value());
  const auto copied = open_kept(copy);
  CHECK(copied->world().tick == 5);
  CHECK(copied->load_chunk({1, 2, 3}).bytes == chunks[0].bytes);
  CHECK_FALSE(std::filesystem::exists(copy + ".new"));
  CHECK_FALSE(store->backup(folder.path("nowhere/copy.db")).has_value());
}

TEST_CASE("a disk that has no room for the log of edits does not switch it off", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  std::signal(SIGXFSZ, SIG_IGN);
  const auto store = open_kept(file);
  const EditAuthor author{EditAuthor::Kind::operators, {}, {}};
  std::vector<LoggedEdit> edits;
  for (int i = 0; i < 3000; ++i) edits.push_back({100 + i, 0, {i % 32, 0, 0}, BlockId::air, BlockId::brick});
  const StoredChunk chunk{{1, 2, 3}, some_bytes(1, 300)};
  SaveGroup group{1, {&chunk, 1}, {}};
  group.authors = {&author, 1};
  group.edits = std::span(edits).first(1);
  REQUIRE(store->save(group).has_value());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  // Room for the chunk alone: what does not go is the commit, for which the library has no reason.
  small.rlim_cur = std::filesystem::file_size(file + "-wal") + (96u << 10);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  group.tick = 2;
  group.edits = edits;
  const auto full = store->save(group);
  ::setrlimit(RLIMIT_FSIZE, &before);
  REQUIRE_FALSE(full.has_value());
  CHECK(full.error().kind == Kind::full);
  CHECK_THAT(full.error().line, ContainsSubstring("room") && !ContainsSubstring("salvage"));
  CHECK(store->log_trouble().empty());
  REQUIRE(store->save(group).has_value());
  CHECK(store->log_trouble().empty());
  CHECK(ask(file, "SELECT count(*) FROM edits") == 3001);
}

TEST_CASE("a log of edits that was switched off is tried again after a save that failed",
          "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  std::signal(SIGXFSZ, SIG_IGN);
  const EditAuthor author{EditAuthor::Kind::operators, {}, {}};
  const LoggedEdit edit{100, 0, {1, 0, 0}, BlockId::air, BlockId::brick};
  const StoredChunk chunk{{1, 2, 3}, some_bytes(1, 300)};
  SaveGroup group{1, {&chunk, 1}, {}};
  group.authors = {&author, 1};
  group.edits = {&edit, 1};
  REQUIRE(open_kept(file)->save(group).has_value());
  const std::int64_t root = ask(file, "SELECT rootpage FROM sqlite_master WHERE name = 'authors'");
  const std::string whole = folder.read("world.db");
  std::string torn = whole;
  for (std::size_t i = 0; i < 4096; ++i)
    torn[static_cast<std::size_t>(root - 1) * 4096 + i] = static_cast<char>(i * 7);
  folder.write("world.db", torn);
  const auto store = open_kept(file);
  group.tick = 2;
  REQUIRE(store->save(group).has_value());
  CHECK(store->log_off());
  CHECK_FALSE(store->log_trouble().empty());
  group.tick = 3;
  REQUIRE(store->save(group).has_value());
  CHECK(store->log_off());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit none = before;
  none.rlim_cur = 4096;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &none) == 0);
  const bool saved = store->save(group).has_value();
  ::setrlimit(RLIMIT_FSIZE, &before);
  REQUIRE_FALSE(saved);
  CHECK_FALSE(store->log_off());
  // It is damaged still, which is found out by trying.
  REQUIRE(store->save(group).has_value());
  CHECK(store->log_off());
}

TEST_CASE("a torn page of the log of edits ends no saving, and salvage makes it whole",
          "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const EditAuthor author{EditAuthor::Kind::operators, {}, {}};
  std::vector<LoggedEdit> edits;
  for (int i = 0; i < 5000; ++i) edits.push_back({100 + i, 0, {i % 32, 0, 0}, BlockId::air, BlockId::brick});
  const StoredChunk chunk{{1, 2, 3}, some_bytes(1, 300)}, later{{1, 2, 4}, some_bytes(2, 300)};
  SaveGroup group{5, {&chunk, 1}, {}};
  group.authors = {&author, 1};
  group.edits = edits;
  group.now_s = 6000;
  REQUIRE(open_kept(file)->save(group).has_value());
  // Pages of its tables and indexes, by turns.
  const std::string what = GENERATE("edits", "edits_by_cell", "edits_by_time", "authors");
  CAPTURE(what);
  const std::int64_t root =
      ask(file, ("SELECT rootpage FROM sqlite_master WHERE name = '" + what + "'").c_str());
  std::string bytes = folder.read("world.db");
  const std::string whole = bytes;
  for (std::size_t i = 0; i < 4096; ++i)
    bytes[static_cast<std::size_t>(root - 1) * 4096 + i] = static_cast<char>(i * 7);
  folder.write("world.db", bytes);
  {
    const auto store = open_kept(file);
    group.tick = 6, group.chunks = {&later, 1};
    REQUIRE(store->save(group).has_value());
    CHECK_THAT(store->log_trouble(), ContainsSubstring("world salvage"));
    group.tick = 7;
    REQUIRE(store->save(group).has_value());
  }
  CHECK(ask(file, "SELECT count(*) FROM chunks") == 2);
  const auto report = salvage_store(file, here, false);
  REQUIRE(report.has_value());
  CHECK(check_store(file)->faults == 2);  // the two chunks, whose bytes are no chunk's
  CHECK(ask(file, "SELECT count(*) FROM chunks") == 2);
  const auto store = open_kept(file);
  CHECK(store->world().tick == 7);
  if (what == "edits_by_cell" || what == "edits_by_time")
    CHECK(ask(file, "SELECT count(*) FROM edits") == 5000);
  REQUIRE(store->save(group).has_value());
  CHECK(store->log_trouble().empty());
  CHECK(folder.read("world.db.before-salvage").size() >= whole.size());
}

TEST_CASE("of a database whose end was cut off salvage reads what is there", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  {
    const auto store = open_kept(file);
    std::vector<StoredChunk> chunks;
    for (int i = 0; i < 600; ++i)
      chunks.push_back({{i, 0, 0}, some_bytes(static_cast<std::uint64_t>(i), 300)});
    REQUIRE(store->save({5, chunks, {}}).has_value());
  }
  const std::string bytes = folder.read("world.db");
  folder.write("world.db", bytes.substr(0, bytes.size() * 2 / 3 + 100));
  CHECK_FALSE(check_store(file).has_value());
  const auto report = salvage_store(file, here, false);
  REQUIRE(report.has_value());
  const std::int64_t left = ask(file, "SELECT count(*) FROM chunks");
  CHECK(left > 200);
  CHECK(left < 600);
  CHECK(open_kept(file)->world().chunks == static_cast<std::uint64_t>(left));
  CHECK(folder.read("world.db.before-salvage").size() == bytes.size() * 2 / 3 + 100);
  CHECK_FALSE(std::filesystem::exists(file + ".lengthened"));
  // Of nothing but a first page there is nothing to be had.
  folder.write("world.db", bytes.substr(0, 4096));
  const auto none = salvage_store(file, here, false);
  REQUIRE_FALSE(none.has_value());
  CHECK_THAT(none.error().line,
             ContainsSubstring("restore it from a backup") && !ContainsSubstring("salvage"));
  CHECK(folder.read("world.db") == bytes.substr(0, 4096));
}

TEST_CASE("of a whole database salvage makes nothing up", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const StoredChunk chunk{{1, 2, 3}, some_bytes(1, 300)};
  REQUIRE(open_kept(file)->save({5, {&chunk, 1}, {}}).has_value());
  // The highest seed there is has twenty digits.
  const std::string most = "UPDATE meta SET value = '18446744073709551615' WHERE key = 'seed'";
  REQUIRE(Database::open(file, OpenMode::write, 0)->run(most.c_str()).has_value());
  const auto report = salvage_store(file, std::unexpected(std::string("world.toml is empty")), false);
  REQUIRE(report.has_value());
  CHECK(report->made_up.empty());
  CHECK(ask(file, "SELECT value = '18446744073709551615' FROM meta WHERE key = 'seed'") == 1);
}

TEST_CASE("of what a torn database does not say of its world salvage asks world.toml",
          "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  const StoredChunk chunk{{1, 2, 3}, some_bytes(1, 300)};
  REQUIRE(open_kept(file)->save({5, {&chunk, 1}, {}}).has_value());
  const bool long_row = GENERATE(false, true);
  CAPTURE(long_row);
  // A long row lies on pages of its own: what the table holds beside it is there.
  if (long_row) REQUIRE(open_kept(file)->save_blocks(std::string(20'000, 'x')).has_value());
  std::string bytes = folder.read("world.db");
  std::size_t page =
      static_cast<std::size_t>(ask(file, "SELECT rootpage FROM sqlite_master WHERE name = 'meta'") - 1);
  if (long_row) page = bytes.find(std::string(4000, 'x')) / 4096;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page) * 4096, 4096, '\7');
  folder.write("world.db", bytes);
  if (!long_row) {
    const auto none = salvage_store(file, std::unexpected(std::string("world.toml is empty")), false);
    REQUIRE_FALSE(none.has_value());
    CHECK_THAT(none.error().line, ContainsSubstring("world.toml is empty"));
    CHECK(folder.read("world.db") == bytes);
  }
  const auto report = salvage_store(file, here, false);
  REQUIRE(report.has_value());
  CHECK(report->made_up.size() == (long_row ? 3 : 7));
  // Or what the world did before would count as what nothing was done to.
  CHECK(ask(file, "SELECT value > strftime('%s', 'now') - 600 FROM meta WHERE key = 'log_world_since'") == 1);
  const auto store = open_kept(file);
  CHECK(store->world().seed == here.seed);
  CHECK(store->world().tick == (long_row ? 5 : 0));
  CHECK(store->world().chunks == 1);
  CHECK(store->load_chunk({1, 2, 3}).bytes == chunk.bytes);
}

TEST_CASE("of a table with torn pages salvage loses no more than their rows", "[server][sqlite_store]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  {
    const auto store = open_kept(file);
    std::vector<StoredChunk> chunks;
    for (int i = 0; i < 600; ++i)
      chunks.push_back(
          {{i % 30 * 100 - 1500, i / 30, i % 7}, some_bytes(static_cast<std::uint64_t>(i), 300)});
    REQUIRE(store->save({5, chunks, {}}).has_value());
  }
  std::vector<std::int64_t> leaves;
  const std::string bytes = folder.read("world.db");
  std::string torn = bytes;
  // Leaves of tables with some hundred bytes a row are those of chunks.
  for (std::size_t page = 4096; page < bytes.size(); page += 4096)
    if (bytes[page] == 13 && bytes[page + 4] > 8) leaves.push_back(static_cast<std::int64_t>(page));
  REQUIRE(leaves.size() > 30);
  for (const std::size_t one : {std::size_t{3}, std::size_t{11}, std::size_t{12}, leaves.size() - 1})
    for (std::size_t i = 0; i < 4096; ++i) torn[static_cast<std::size_t>(leaves[one]) + i] = '\0';
  folder.write("world.db", torn);
  CHECK(check_store(file)->faults > 0);
  const auto report = salvage_store(file, here, false);
  REQUIRE(report.has_value());
  const std::int64_t left = ask(file, "SELECT count(*) FROM chunks");
  CHECK(left >= 600 - 4 * 14);
  CHECK(left < 600);
  CHECK(ask(file, "SELECT value FROM meta WHERE key = 'chunks'") == left);
  for (const SalvagedTable& table : report->tables) CHECK(table.torn == (table.name == "chunks"));
}

}  // namespace ashlar::server
