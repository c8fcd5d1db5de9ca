#include "server/store/world_backup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "protocol/chunk_codec.h"
#include "server/store/sqlite_store.h"
#include "server/store/world_restore.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace ashlar;
using namespace ashlar::server;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// A world's folder with one changed chunk, its database open as a server has it.
struct KeptWorld {
  explicit KeptWorld(const fs::path& at) : dir(at.string()) {
    fs::create_directories(at);
    std::ofstream(at / "world.toml") << "format = 2\n";
    std::ofstream(at / "server.key") << "secret\n";
    auto opened = SqliteStore::open((at / store_name).string(), {.seed = 7});
    REQUIRE(opened.has_value());
    store = std::move(*opened);
    store->keep();
    ChunkCodec codec;
    const auto bytes = codec.encode(Chunk());
    const StoredChunk chunk{{1, 2, 3}, {bytes.begin(), bytes.end()}};
    REQUIRE(store->save({99, {&chunk, 1}, {}}).has_value());
  }
  std::string dir;
  std::unique_ptr<SqliteStore> store;
};

}  // namespace

TEST_CASE("dated backups are whole worlds, and the oldest give way", "[server][store][world_backup]") {
  const testing::TemporaryFolder temporary;
  const KeptWorld world(fs::path(temporary.path("world")));
  const std::string folder = world.dir + "/backups";
  fs::create_directories(folder + "/20200101-000000.part/left");
  fs::create_directories(folder + "/mine");
  for (int i = 0; i < 5; ++i) {
    const auto made = make_dated_backup(world.dir, folder, 1'900'000'000 + 60 * i, 3);
    REQUIRE(made.has_value());
    CHECK(made->path == folder + "/" + backup_name(1'900'000'000 + 60 * i));
  }
  CHECK(names_in(folder) == std::vector<std::string>{backup_name(1'900'000'120), backup_name(1'900'000'180),
                                                     backup_name(1'900'000'240), "mine"});
  const std::string newest = folder + "/" + backup_name(1'900'000'240);
  CHECK(names_in(newest) == std::vector<std::string>{store_name, "world.toml"});
  const auto copy = SqliteStore::open(newest + "/" + store_name, {.seed = 7});
  REQUIRE(copy.has_value());
  CHECK((*copy)->world().tick == 99);
  CHECK((*copy)->world().chunks == 1);
}

TEST_CASE("backups stay with a world that one of them takes the place of", "[server][store][world_backup]") {
  const testing::TemporaryFolder temporary;
  const std::string dir = temporary.path("world"), aside = temporary.path("world.before-restore");
  std::string backup;
  {
    const KeptWorld world{fs::path(dir)};
    const auto made = make_dated_backup(dir, dir + "/backups", 1'900'000'000, 3);
    REQUIRE(made.has_value());
    backup = made->path;
  }
  const auto restored = restore_world(backup, dir, {.replace = true});
  REQUIRE(restored.has_value());
  CHECK(restored->aside == aside);
  CHECK(fs::exists(fs::path(dir) / store_name));
  CHECK(fs::exists(fs::path(aside) / store_name));
  CHECK(names_in(fs::path(dir) / "backups") == std::vector<std::string>{backup_name(1'900'000'000)});
  CHECK_FALSE(fs::exists(fs::path(aside) / "backups"));
}

TEST_CASE("bans and settings of a world stay where a backup takes its place",
          "[server][store][world_restore]") {
  const testing::TemporaryFolder temporary;
  const std::string dir = temporary.path("world"), backup = temporary.path("backup");
  const auto text_of = [&](const char* name) {
    std::ifstream file(fs::path(dir) / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  {
    const KeptWorld world{fs::path(dir)};
    std::ofstream(fs::path(dir) / "server.toml") << "# then\n";
    REQUIRE(back_up_world(dir, backup).has_value());
    std::ofstream(fs::path(dir) / "server.toml") << "# now\n";
    std::ofstream(fs::path(dir) / "bans.toml") << "# somebody\n";
  }
  const bool with_settings = GENERATE(false, true);
  const auto restored = restore_world(backup, dir, {.replace = true, .with_settings = with_settings});
  REQUIRE(restored.has_value());
  if (with_settings) {
    CHECK(restored->kept.empty());
    CHECK(text_of("server.toml") == "# then\n");
    CHECK_FALSE(fs::exists(fs::path(dir) / "bans.toml"));
  } else {
    CHECK(restored->kept == std::vector<std::string>{"bans.toml", "server.toml"});
    CHECK(text_of("server.toml") == "# now\n");
    CHECK(text_of("bans.toml") == "# somebody\n");
  }
  CHECK(text_of("server.key") == "secret\n");
}

TEST_CASE("a link to a world's folder stays, and what it leads to is restored",
          "[server][store][world_restore]") {
  const testing::TemporaryFolder temporary;
  const std::string dir = temporary.path("world"), link = temporary.path("link"),
                    backup = temporary.path("backup");
  {
    const KeptWorld world{fs::path(dir)};
    REQUIRE(back_up_world(dir, backup).has_value());
  }
  fs::create_directory_symlink("world", link);
  const auto restored = restore_world(backup, link, {.replace = true});
  REQUIRE(restored.has_value());
  CHECK(restored->aside == dir + ".before-restore");
  CHECK(fs::is_symlink(link));
  CHECK(fs::exists(fs::path(link) / store_name));
  // Cut off when the world before was put aside.
  fs::remove_all(dir);
  CHECK(restore_cut_off(link).find(dir + ".before-restore") != std::string::npos);
}

TEST_CASE("a restore within a folder is brought to its end wherever it was cut off",
          "[server][store][world_restore]") {
  const testing::TemporaryFolder temporary;
  const fs::path dir = temporary.path("world");
  {
    const KeptWorld world(dir);
  }
  // All was copied; then some of the world before was put aside, or all of it and some of the new one is
  // there.
  const bool put_aside = GENERATE(false, true);
  const fs::path copy = dir / (put_aside ? ".entering" : ".restored");
  REQUIRE(back_up_world(dir.string(), copy.string()).has_value());
  fs::copy_file(dir / "server.key", copy / "server.key");
  if (put_aside) {
    fs::create_directory(dir / "before-restore");
    for (const char* name : {"world.toml", "world.db", "server.key"})
      fs::rename(dir / name, dir / "before-restore" / name);
    fs::rename(copy / "world.db", dir / "world.db");
  } else {
    fs::create_directory(dir / ".before");
    fs::rename(dir / "world.toml", dir / ".before" / "world.toml");
  }
  CHECK(restore_cut_off(dir.string()).find("do it again") != std::string::npos);
  const auto finished = finish_restore(dir.string());
  REQUIRE(finished.has_value());
  CHECK(*finished);
  CHECK(names_in(dir) == std::vector<std::string>{"before-restore", "server.key", "world.db", "world.toml"});
  CHECK(names_in(dir / "before-restore") == std::vector<std::string>{"server.key", "world.db", "world.toml"});
  CHECK_FALSE(finish_restore(dir.string()).value());
}

TEST_CASE("a backup that cannot be made leaves nothing behind", "[server][store][world_backup]") {
  const testing::TemporaryFolder temporary;
  const fs::path world = fs::path(temporary.path("world"));
  fs::create_directories(world);
  std::ofstream(world / store_name)
      << "this is no database, and long enough to be taken for one for a moment";
  std::ofstream(world / "world.toml") << "format = 2\n";
  const auto made = make_dated_backup(world.string(), (world / "backups").string(), 1'900'000'000, 3);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().find('\n') == std::string::npos);
  CHECK(names_in(world / "backups").empty());
}

TEST_CASE("a world that lost a file pushes no backup out", "[server][store][world_backup]") {
  const testing::TemporaryFolder temporary;
  const KeptWorld world(fs::path(temporary.path("world")));
  const std::string folder = world.dir + "/backups";
  REQUIRE(make_dated_backup(world.dir, folder, 1'900'000'000, 1).has_value());
  const std::string lost = GENERATE(as<std::string>{}, store_name, "world.toml");
  fs::remove(fs::path(world.dir) / lost);
  const auto made = make_dated_backup(world.dir, folder, 1'900'000'060, 1);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().find(lost) != std::string::npos);
  CHECK(names_in(folder) == std::vector<std::string>{backup_name(1'900'000'000)});
}

TEST_CASE("a world that is gone is not made again to hold backups", "[server][store][world_backup]") {
  const testing::TemporaryFolder temporary;
  const std::string dir = temporary.path("world");
  CHECK_FALSE(make_dated_backup(dir, dir + "/backups", 1'900'000'000, 1).has_value());
  CHECK_FALSE(fs::exists(dir));
}

TEST_CASE("a backup of a damaged world says so, and pushes none out that is whole",
          "[server][store][world_backup]") {
  const testing::TemporaryFolder temporary;
  const KeptWorld world(fs::path(temporary.path("world")));
  const std::string folder = world.dir + "/backups";
  REQUIRE(make_dated_backup(world.dir, folder, 1'900'000'000, 1).has_value());
  const StoredChunk torn{{1, 2, 4}, {1, 2, 3, 4}};
  REQUIRE(world.store->save({100, {&torn, 1}, {}}).has_value());
  for (const int at : {60, 120}) {
    const auto made = make_dated_backup(world.dir, folder, 1'900'000'000 + at, 1);
    REQUIRE(made.has_value());
    CHECK(made->faults == 1);
    CHECK(made->path == folder + "/" + backup_name(1'900'000'000 + at) + ".damaged");
  }
  CHECK(names_in(folder) ==
        std::vector<std::string>{backup_name(1'900'000'000), backup_name(1'900'000'120) + ".damaged"});
}

TEST_CASE("whether settings and bans are as a backup has them is told", "[server][store][world_backup]") {
  const testing::TemporaryFolder temporary;
  const KeptWorld world(temporary.path("world"));
  const std::string backup = temporary.path("backup");
  REQUIRE(back_up_world(world.dir, backup).has_value());
  CHECK(same_settings(world.dir, backup));
  std::ofstream(fs::path(world.dir) / "bans.toml") << "# none\n";
  CHECK_FALSE(same_settings(world.dir, backup));
  std::ofstream(fs::path(backup) / "bans.toml") << "# none\n";
  CHECK(same_settings(world.dir, backup));
  fs::remove_all(backup);
  CHECK_FALSE(same_settings(world.dir, backup));
}

TEST_CASE("a backup that was cut off is not taken for a restore", "[server][store][world_backup]") {
  const testing::TemporaryFolder temporary;
  const std::string half = temporary.path("20301231-235959.part");
  fs::create_directories(half);
  std::ofstream(fs::path(half) / "world.db.new") << "half";
  CHECK(restore_cut_off(half).find("a backup that is being made, or was cut off") != std::string::npos);
}

TEST_CASE("backups are named by their time", "[server][store][world_backup]") {
  CHECK(backup_name(0) == "19700101-000000");
  CHECK(backup_name(1'924'991'999) == "20301231-235959");
  CHECK(is_backup_name("20301231-235959"));
  for (const char* name : {"", "20301231", "20301231_235959", "20301231-23595x", "20301231-235959.part"})
    CHECK_FALSE(is_backup_name(name));
}
