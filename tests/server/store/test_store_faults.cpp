#include <map>
#include <memory>
#include <vector>

#include "protocol/chunk_codec.h"
#include "server/store/memory_disk.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_store.h"
#include "tests/catch.h"
#include "tests/world/cases.h"

using namespace ashlar;
using namespace ashlar::server;
using ashlar::test::cases;

// What was announced as saved survives power cuts on a disk that loses, tears and refuses writes; of a group
// that was not announced there is all or nothing.

namespace {

using Chunks = std::map<std::int64_t, std::vector<std::uint8_t>>;

/// A store on a bad disk, and what has to be in it.
class Ordeal {
 public:
  explicit Ordeal(std::uint64_t seed) : disk_(seed), rng_(rng_for(seed, 1)) { states_[0] = {}; }

  void run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      if (!open()) continue;
      // While the power fails in some moment, or not before the work is done.
      if (rng_.below(4) != 0) disk_.die_after(rng_.below(400));
      for (std::uint32_t group = 1 + rng_.below(6); group > 0 && !disk_.dead(); --group) save();
      if (rng_.below(3) == 0) store_.reset();  // an end in peace, as far as the disk lets it
      disk_.power_cut();
      store_.reset();
    }
    disk_.set_failing(0);
    REQUIRE(open(false));
  }

  int announced() const { return announced_count_; }

 private:
  bool open(bool may_die = true) {
    if (may_die && rng_.below(5) == 0) disk_.die_after(rng_.below(40));
    auto opened = SqliteStore::open("world.db", {.seed = 7}, {.patience_ms = 0, .disk = disk_.name()});
    if (!opened) {
      REQUIRE(disk_.dead());  // nothing else may keep a world shut
      disk_.power_cut();
      return false;
    }
    store_ = std::move(*opened);
    store_->keep();
    check();
    return !disk_.dead();
  }

  /// All is as of one tick, and that is none before what was announced.
  void check() {
    if (disk_.dead()) return;
    const std::uint64_t tick = store_->world().tick;
    CAPTURE(tick, announced_);
    REQUIRE(tick >= announced_);
    REQUIRE(states_.contains(tick));
    const Chunks& wanted = states_[tick];
    for (const auto& [place, bytes] : wanted) {
      const ChunkLookup found = store_->load_chunk(chunk_at_place(place));
      REQUIRE(found.kind == ChunkLookup::Kind::found);
      REQUIRE(found.bytes == bytes);
    }
    const auto database = Database::open("world.db", OpenMode::read, 0, disk_.name());
    REQUIRE(database.has_value());
    REQUIRE(database->number("SELECT count(*) FROM chunks").value() ==
            static_cast<std::int64_t>(wanted.size()));
    auto whole = Statement::make(*database, "PRAGMA integrity_check");
    REQUIRE(whole.has_value());
    REQUIRE(whole->step() == 100);  // a row
    REQUIRE(whole->text(0) == "ok");
    // What may have been tried after that is gone.
    states_.erase(states_.upper_bound(tick), states_.end());
    announced_ = next_ = tick;
  }

  void save() {
    disk_.set_full(rng_.below(6) == 0);
    disk_.set_failing(rng_.below(6) == 0 ? 20 : 0);
    Chunks after = states_[announced_];
    std::vector<StoredChunk> chunks;
    for (std::uint32_t n = 1 + rng_.below(12); n > 0; --n) {
      const ChunkCoord at{static_cast<std::int32_t>(rng_.below(6)), static_cast<std::int32_t>(rng_.below(6)),
                          0};
      if (std::ranges::any_of(chunks, [&](const StoredChunk& c) { return c.at == at; })) continue;
      Chunk chunk(BlockId::air);
      for (std::uint32_t blocks = 1 + rng_.below(1000); blocks > 0; --blocks) {
        const auto place = static_cast<std::int32_t>(rng_.below(32768));
        chunk.set_block({place & 31, place >> 5 & 31, place >> 10}, static_cast<BlockId>(rng_.below(8)));
      }
      std::vector<std::uint8_t> bytes = codec_.encode(chunk);
      after[chunk_place(at)] = bytes;
      chunks.push_back({at, std::move(bytes)});
    }
    const std::uint64_t tick = ++next_;
    states_[tick] = after;
    const auto saved = store_->save({tick, chunks, {}});
    disk_.set_full(false);
    disk_.set_failing(0);
    if (saved) {
      announced_ = tick;
      ++announced_count_;
    } else if (!disk_.dead()) {
      // Refused: what comes next goes out from what was. After a power cut it may be found all the same,
      // whole.
      REQUIRE(store_->world().tick == announced_);
    }
  }

  MemoryDisk disk_;
  Rng rng_;
  ChunkCodec codec_;
  std::unique_ptr<SqliteStore> store_;
  std::map<std::uint64_t, Chunks> states_;  // by tick, of those that may be found
  std::uint64_t announced_ = 0, next_ = 0;
  int announced_count_ = 0;
};

}  // namespace

TEST_CASE("what was announced as saved survives power cuts on a disk that loses and tears writes",
          "[server][store][store_faults][property]") {
  int announced = 0;
  for (int seed = 1; seed <= cases(15); ++seed) {
    CAPTURE(seed);
    Ordeal ordeal(static_cast<std::uint64_t>(seed));
    ordeal.run(12);
    announced += ordeal.announced();
  }
  CHECK(announced > 5 * cases(15));
}

TEST_CASE("what a start finds of a process that was killed before its sync survives a power cut",
          "[server][store][store_faults]") {
  int found = 0;
  for (std::uint32_t calls = 0; calls < 40; ++calls) {
    CAPTURE(calls);
    MemoryDisk disk(calls);
    const auto open = [&disk] {
      auto opened = SqliteStore::open("world.db", {.seed = 7}, {.patience_ms = 0, .disk = disk.name()});
      REQUIRE(opened.has_value());
      (*opened)->keep();
      return std::move(*opened);
    };
    ChunkCodec codec;
    const std::vector<StoredChunk> chunks{{{1, 2, 3}, codec.encode(Chunk(BlockId::brick))}};
    auto store = open();
    REQUIRE(store->save({1, chunks, {}}));
    disk.die_after(calls);
    const bool saved = store->save({2, chunks, {}}).has_value();
    disk.process_killed();
    store = open();
    const std::uint64_t tick = store->world().tick;
    found += !saved && tick == 2 ? 1 : 0;
    disk.power_cut();
    store.reset();
    CHECK(open()->world().tick >= tick);
  }
  CHECK(found > 0);  // else nothing was tried
}
