#include "server/backups.h"

#include <atomic>
#include <ctime>
#include <filesystem>
#include <memory>
#include <thread>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace ashlar::server {
namespace {

using namespace std::chrono_literals;

/// Counts a log's lines, which are written by a thread of its own.
struct CountedLines final : LineSink {
  void line(std::string_view) override { ++count; }
  std::atomic<std::size_t> count = 0;
};

/// Hourly backups of a world without a database: each one that is begun fails, and says so.
struct HourlyBackups {
  explicit HourlyBackups(const std::string& newest) {
    std::filesystem::create_directories(dir + "/backups/" + newest);
  }
  /// Is one begun at that time? Waits for what it says.
  bool begins(std::chrono::microseconds now) { return says_more(now, 10'000); }
  bool waits(std::chrono::microseconds now) { return !says_more(now, 50); }
  bool says_more(std::chrono::microseconds now, int patience_ms) {
    const std::size_t before = lines->count;
    backups.watch(now, 0);
    for (int i = 0; i < patience_ms && lines->count == before; ++i) {
      std::this_thread::sleep_for(1ms);
      backups.watch(now, 0);
    }
    return lines->count > before;
  }

  testing::TemporaryFolder folder;
  std::string dir = folder.path("world");
  std::shared_ptr<CountedLines> lines = std::make_shared<CountedLines>();
  Log log{LogFormat::text, LogLevel::info, lines};
  Backups backups{dir, 1h, 8, log};
};

}  // namespace

TEST_CASE("a backup is due by the time of the newest one, whenever the server was started",
          "[server][backups]") {
  SECTION("long ago") {
    HourlyBackups world(backup_name(std::time(nullptr) - 3 * 3600));
    CHECK(world.waits(0s));
    CHECK(world.waits(9s));
    CHECK(world.begins(10s));
  }
  SECTION("a while ago, and it found faults") {
    HourlyBackups world(backup_name(std::time(nullptr) - 1800) + ".damaged");
    CHECK(world.waits(0s));
    CHECK(world.waits(29min));
    CHECK(world.begins(30min));
  }
  SECTION("by a clock that was ahead, which says nothing") {
    HourlyBackups world(backup_name(std::time(nullptr) + 7200));
    CHECK(world.waits(9s));
    CHECK(world.begins(19s));
  }
}

TEST_CASE("a backup that failed is tried again before the next is due", "[server][backups]") {
  HourlyBackups world("");
  CHECK(world.waits(0s));
  CHECK(world.begins(10s));
  CHECK(world.waits(10s + 4min));
  CHECK(world.begins(10s + 5min));
}

}  // namespace ashlar::server
