// What the console of a server that plays puts back.
#include "server/edit_history.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "protocol/inventory_codec.h"
#include "protocol/secure/seeded_entropy.h"
#include "server/store/sqlite_store.h"
#include "tests/catch.h"
#include "tests/server/lines.h"
#include "tests/temporary_folder.h"
#include "world/sim/dropped_items.h"
#include "world/sim/loot.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

constexpr IVec3 hoard{1, 1, 20};
constexpr std::uint64_t secret = 7;
constexpr std::int64_t now_s = 100'000;

/// A server in whose world Ada has just opened a treasure, and the log that says so.
struct Opened {
  Opened() {
    auto store = *SqliteStore::open(file, {.seed = 1});
    store->keep();
    const EditAuthor authors[] = {{EditAuthor::Kind::player, {1}, "Ada"}};
    const LoggedEdit edits[] = {{now_s, 0, hoard, treasure, chest},
                                {now_s, 0, hoard, chest, chest, encode_block_data({})}};
    SaveGroup group{5, {}, {}};
    group.authors = authors;
    group.edits = edits;
    REQUIRE(store->save(group).has_value());

    WorldSetup setup;
    setup.terrain = TerrainKind::flat;
    setup.monsters = setup.monsters_max = 0;
    setup.rules.free_blocks = FreeBlocks::no;
    setup.secret = secret;
    const HostConfig config;
    host = std::make_unique<Host>(config, std::make_unique<World>(setup), secure::SeededEntropy(1).secret());
    AdminCommand act;
    act.action = AdminAction::fill_box;
    act.box = {hoard, hoard + IVec3{1, 1, 1}};
    act.id = chest;
    host->admin(act);
    act.action = AdminAction::fill_block;
    act.data = loot_of(*setup.blocks, secret, hoard);
    host->admin(act);
    run();
  }
  void run() {
    host->advance(now += Micros{50'000}, input, output);
    input.clear();
  }
  std::uint64_t lying() const {
    std::uint64_t sum = 0;
    for (const ItemStack& stack : host->world().items().table().stack) sum += stack.count;
    return sum;
  }

  testing::TemporaryFolder folder;
  std::string file = folder.path("world.db");
  const BlockId treasure = BlockRegistry::builtin().treasure();
  const BlockId chest = *BlockRegistry::builtin().find("chest");
  std::unique_ptr<Host> host;
  HostInput input;
  HostOutput output;
  Micros now{1'000'000};
};

}  // namespace

TEST_CASE("a treasure that is put back has its loot in it, and none of it beside", "[server][edit_history]") {
  Opened opened;
  const World& world = opened.host->world();
  REQUIRE(world.space().voxels->block(hoard) == opened.chest);
  REQUIRE(world.contents().item_count() > 0);
  const auto lines = std::make_shared<test::Lines>();
  {
    Log log(LogFormat::text, LogLevel::info, lines);
    EditHistory history(opened.file, log);
    const auto order = parse_rollback_order("Ada since 20m", now_s);
    REQUIRE(order.has_value());
    history.ask(*order, Reply(log));
    for (int i = 0; i < 5000 && world.space().voxels->block(hoard) == opened.chest; ++i) {
      history.feed(*opened.host);
      opened.run();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    history.feed(*opened.host);  // which says so once it is there
  }
  opened.run();
  CHECK(world.space().voxels->block(hoard) == opened.treasure);
  CHECK(world.contents().item_count() == 0);
  CHECK(opened.lying() == 0);
  CHECK(std::ranges::any_of(
      lines->all, [](const std::string& line) { return line.find("put_back=1") != std::string::npos; }));
}

TEST_CASE("a rollback waits for what operators ordered before it, and leaves what they built",
          "[server][edit_history]") {
  Opened opened;
  const World& world = opened.host->world();
  const auto lines = std::make_shared<test::Lines>();
  Log log(LogFormat::text, LogLevel::info, lines);
  EditHistory history(opened.file, log);
  AdminCommand act;
  act.action = AdminAction::fill_box;
  act.box = {hoard, hoard + IVec3{1, 1, 1}};
  act.id = BlockId::brick;
  opened.host->admin(act);
  history.ask(*parse_rollback_order("Ada since 20m", now_s), Reply(log));
  const auto feed = [&](int times, bool with_ticks) {
    for (int i = 0; i < times && lines->all.empty(); ++i) {
      history.feed(*opened.host);
      if (with_ticks) opened.run();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  for (int i = 0; i < 5000 && !history.puts_back(); ++i) feed(1, false);
  REQUIRE(history.puts_back());
  feed(20, false);
  CHECK(lines->all.empty());
  feed(5000, true);
  CHECK(world.space().voxels->block(hoard) == BlockId::brick);
  CHECK_THAT(lines->all.at(0), ContainsSubstring("put_back=0") && ContainsSubstring("left=1"));
}

TEST_CASE("the console tells the key of who changed a block, beside a name that others may bear",
          "[server][edit_history]") {
  Opened opened;
  const auto lines = std::make_shared<test::Lines>();
  {
    Log log(LogFormat::text, LogLevel::info, lines);
    EditHistory history(opened.file, log);
    const auto order = parse_log_order("1 1 20", now_s);
    REQUIRE(order.has_value());
    history.ask(*order, Reply(log));
    for (int i = 0; i < 5000 && lines->all.empty(); ++i) {
      history.feed(*opened.host);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  const std::string key = "key=01" + std::string(62, '0');
  CHECK(std::ranges::any_of(lines->all, [&](const std::string& line) {
    return line.find("by=Ada") != std::string::npos && line.find(key) != std::string::npos;
  }));
}

TEST_CASE("all is put back, or of one key, and a name that nobody has is told", "[server][edit_history]") {
  Opened opened;
  const auto lines = std::make_shared<test::Lines>();
  {
    Log log(LogFormat::text, LogLevel::info, lines);
    EditHistory history(opened.file, log);
    const auto ask = [&](const std::string& order) {
      const std::size_t before = lines->all.size();
      history.ask(*parse_rollback_order(order, now_s), Reply(log));
      for (int i = 0; i < 5000 && lines->all.size() == before; ++i) {
        history.feed(*opened.host);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return lines->all.empty() ? std::string() : lines->all.back();
    };
    CHECK_THAT(ask("Ada force since 20m"), ContainsSubstring("nobody in the log is called Ada force"));
    CHECK_THAT(ask("@al since 20m"), ContainsSubstring("nobody in the log is called @al"));
    CHECK_THAT(ask("@all since 20m dry-run"), ContainsSubstring("edits=2"));
    CHECK_THAT(ask("01" + std::string(62, '0') + " since 20m dry-run"), ContainsSubstring("edits=2"));
  }
}

}  // namespace ashlar::server
