#include "server/store/saver.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "protocol/chunk_codec.h"
#include "server/store/dirty_chunks.h"
#include "tests/catch.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

using std::chrono::microseconds;
using namespace std::chrono_literals;

/// A store in memory that can be full, and can be held.
class MemoryStore final : public WorldStore {
 public:
  StoredWorld world() const override { return {.seed = 1, .tick = tick()}; }
  ChunkLookup load_chunk(ChunkCoord) override { return {}; }
  std::expected<StoredPlayers, StoreTrouble> load_players() override { return StoredPlayers{}; }
  std::expected<StoredItems, StoreTrouble> load_items() override { return StoredItems{}; }
  std::expected<StoredState, StoreTrouble> load_state() override { return StoredState{}; }
  std::expected<StoredContentsList, StoreTrouble> load_contents() override { return StoredContentsList{}; }
  std::expected<void, StoreTrouble> save(const SaveGroup& group) override {
    while (held) std::this_thread::sleep_for(1ms);
    const std::scoped_lock lock(mutex_);
    ++tries;
    if (full) return std::unexpected(StoreTrouble{StoreTrouble::Kind::full, "no room"});
    for (const StoredChunk& chunk : group.chunks) chunks_[chunk_key(chunk.at)] = chunk.bytes;
    for (const StoredPlayer& player : group.players)
      if (player.inventory.count() != chunks_.size()) ++mixed;
    for (const StoredContents& one : group.contents) contents.push_back(one);
    for (const LoggedEdit& edit : group.edits) logged.push_back({edit, group.authors[edit.author].name});
    tick_ = group.tick;
    ++groups;
    return {};
  }
  std::string log_trouble() override { return torn_log ? "the log is torn" : ""; }
  std::expected<void, StoreTrouble> save_blocks(const std::string&) override { return {}; }
  std::expected<void, StoreTrouble> set_aside(const DamagedRow&, bool) override { return {}; }
  std::expected<void, StoreTrouble> backup(const std::string&) override { return {}; }

  BlockId block(IVec3 block) const {
    const std::scoped_lock lock(mutex_);
    const auto found = chunks_.find(chunk_key(chunk_of(block)));
    if (found == chunks_.end()) return BlockId::air;
    return (*ChunkCodec().decode(found->second))->block(local_in_chunk(block));
  }
  std::size_t chunk_count() const {
    const std::scoped_lock lock(mutex_);
    return chunks_.size();
  }
  std::uint64_t tick() const {
    const std::scoped_lock lock(mutex_);
    return tick_;
  }
  std::vector<std::pair<LoggedEdit, std::string>> logged;  // once the saver has finished
  std::vector<StoredContents> contents;                    // likewise
  std::atomic<bool> full = false, held = false, torn_log = false;
  std::atomic<int> groups = 0, tries = 0;
  std::atomic<int> mixed = 0;  // players who did not hold an item for each chunk that is there

 private:
  static std::tuple<int, int, int> chunk_key(ChunkCoord at) { return {at.x, at.y, at.z}; }
  mutable std::mutex mutex_;
  std::map<std::tuple<int, int, int>, std::vector<std::uint8_t>> chunks_;
  std::uint64_t tick_ = 0;
};

/// A volume whose chunks change and a saver that is told.
struct Site {
  explicit Site(const SaverOptions& options) : saver(store, 1000, options) {
    for (int x = 0; x < 40; ++x) volume.insert_chunk({x, 0, 0}, std::make_unique<Chunk>(BlockId::air));
  }
  /// One tick, 20 ms, with one block changed in each of these chunks.
  void step(std::span<const int> chunks, BlockId id) {
    std::vector<ChunkCoord> changed;
    for (const int x : chunks) {
      volume.set_block({x * chunk_size, 0, 0}, id);
      changed.push_back({x, 0, 0});
    }
    now += 20ms;
    saver.note(now, ++tick, volume, {changed});
  }
  BlockId stored(int x) const { return store->block({x * chunk_size, 0, 0}); }
  /// Ticks without changes until it is so: however slow the machine is.
  template <class Condition>
  void until(const Condition& condition) {
    while (!condition()) {
      step({}, {});
      std::this_thread::sleep_for(1ms);
    }
  }

  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  VoxelVolume volume;
  WorldSaver saver;
  microseconds now{0};
  std::uint32_t tick = 0;
};

SaverOptions quick(std::uint32_t chunks_max = 16) { return {.retry = 2ms, .chunks_max = chunks_max}; }

}  // namespace

TEST_CASE("dirty chunks are held once each, as they were put in last", "[server][dirty_chunks]") {
  DirtyChunks dirty(3);
  Chunk chunk(BlockId::stone);
  CHECK(dirty.put({1, 2, 3}, chunk));
  CHECK(dirty.put({-1, 2, 3}, chunk));
  chunk.set_block({0, 0, 0}, BlockId::glass);
  CHECK(dirty.put({1, 2, 3}, chunk));
  CHECK(dirty.count() == 2);
  CHECK(dirty.rows()[0].blocks.blocks.heap_bytes() > 0);
  CHECK(dirty.rows()[1].blocks.blocks.heap_bytes() == 0);
  CHECK(dirty.put({5, 5, 5}, chunk));
  CHECK(dirty.full());
  CHECK_FALSE(dirty.put({6, 5, 5}, chunk));
  CHECK(dirty.put({5, 5, 5}, chunk));
  CHECK(dirty.holds({5, 5, 5}));
  dirty.clear();
  CHECK(dirty.count() == 0);
  CHECK_FALSE(dirty.holds({5, 5, 5}));
  CHECK(dirty.put({6, 5, 5}, chunk));
}

TEST_CASE("changes come to the store in groups, no closer together than they may be", "[server][saver]") {
  Site site(quick());
  const int one[] = {1};
  while (site.now < 10s) site.step(one, site.tick % 2 == 0 ? BlockId::brick : BlockId::glass);
  const SaverStatus status = site.saver.status();
  CHECK(status.failure.empty());
  site.saver.finish(60s, site.volume);
  CHECK(site.store->groups <= 22);  // one each half second, and the last
  CHECK(site.store->groups >= 1);
  CHECK(site.stored(1) == site.volume.block({chunk_size, 0, 0}));
  CHECK(site.store->tick() == 1000 + site.tick);
}

TEST_CASE("who changed a block is told with the chunk, once for each author", "[server][saver]") {
  SaverOptions options = quick();
  options.edits_max = 3;
  Site site(options);
  site.store->held = true;
  const auto name = [](const char* text, std::uint8_t number) {
    EditAuthor author{EditAuthor::Kind::player, {}, text};
    author.identity.fill(number);
    return author;
  };
  const EditAuthor first[] = {name("Ada", 1), name("Bob", 2)}, second[] = {name("Bob", 2)};
  const LoggedEdit a[] = {{7, 1, {1, 2, 3}, BlockId::air, BlockId::brick},
                          {7, 0, {1, 2, 4}, BlockId::air, BlockId::brick}};
  const LoggedEdit b[] = {{8, 0, {1, 2, 5}, BlockId::air, BlockId::brick},
                          {8, 0, {1, 2, 6}, BlockId::air, BlockId::brick}};
  const int some[] = {1};
  site.now = 1s;
  site.step(some, BlockId::brick);  // the writer has something to do
  site.saver.note(site.now, ++site.tick, site.volume, {{}, {}, nullptr, {}, first, a});
  site.saver.note(site.now, ++site.tick, site.volume, {{}, {}, nullptr, {}, second, b});
  site.store->held = false;
  site.saver.finish(60s, site.volume);
  const auto& logged = site.store->logged;
  REQUIRE(logged.size() == 3);  // the fourth is beyond the bound
  CHECK(logged[0].second == "Bob");
  CHECK(logged[1].second == "Ada");
  CHECK(logged[2].second == "Bob");
  CHECK(logged[2].first.time_s == 8);
  CHECK(site.saver.status().edits_unlogged == 1);
}

TEST_CASE("what a damaged log does not take is counted", "[server][saver]") {
  Site site(quick());
  site.store->torn_log = true;
  const EditAuthor author;
  const LoggedEdit edit{7, 0, {1, 2, 3}, BlockId::air, BlockId::brick};
  site.saver.note(site.now, ++site.tick, site.volume, {{}, {}, nullptr, {}, {&author, 1}, {&edit, 1}});
  site.saver.finish(60s, site.volume);
  CHECK(site.saver.status().edits_unlogged == 1);
  CHECK(site.saver.status().log_failure == "the log is torn");
  CHECK(site.saver.status().failure.empty());
}

TEST_CASE("a group is the world as of its tick though the world went on", "[server][saver]") {
  Site site(quick());
  site.store->held = true;
  const int both[] = {1, 2}, second[] = {2};
  site.now = 1s;
  site.step(both, BlockId::brick);  // handed over at once
  site.step(second, BlockId::glass);
  site.step(second, BlockId::sand);
  CHECK(site.saver.status().dirty_chunks == 3);
  site.store->held = false;
  while (site.saver.status().groups == 0) std::this_thread::yield();
  CHECK(site.store->tick() == 1001);
  CHECK(site.stored(2) == BlockId::brick);
  site.saver.finish(60s, site.volume);
  CHECK(site.stored(2) == BlockId::sand);
  CHECK(site.stored(1) == BlockId::brick);
  CHECK(site.store->tick() == 1003);
  CHECK(site.saver.status().dirty_chunks == 0);
}

TEST_CASE("while a disk is full play goes on, and all of it is saved when there is room", "[server][saver]") {
  Site site(quick(4));
  site.store->full = true;
  std::vector<int> all(30);
  for (int i = 0; i < 30; ++i) all[static_cast<std::size_t>(i)] = i;
  site.now = 1s;
  site.step(std::span(all).first(4), BlockId::brick);
  while (site.saver.status().failure.empty()) std::this_thread::yield();
  CHECK(site.saver.status().failure == "no room");
  for (int i = 0; i < 30; ++i)
    site.step(std::span(all).subspan(static_cast<std::size_t>(i), 1), BlockId::sand);
  CHECK(site.saver.status().dirty_chunks == 4 + 30);
  CHECK(site.saver.status().dirty_waiting == 26);
  CHECK(site.saver.status().saved_tick == 0);
  const std::uint64_t told = 1000 + site.tick;
  site.store->full = false;
  // Nothing after the first group is announced before all that was waiting is there.
  site.until([&] {
    const std::uint64_t saved = site.saver.status().saved_tick;
    if (saved > 1001) CHECK(site.store->chunk_count() == 30);
    return saved >= told;
  });
  CHECK(site.saver.status().failure.empty());
  CHECK(site.saver.status().dirty_chunks == 0);
  for (int i = 0; i < 30; ++i) CHECK(site.stored(i) == BlockId::sand);
}

TEST_CASE("from three quarters of what may wait on no more changes are asked for", "[server][saver]") {
  Site site(quick(16));
  site.store->full = true;
  std::vector<int> all(30);
  for (int i = 0; i < 30; ++i) all[static_cast<std::size_t>(i)] = i;
  site.now = 1s;
  site.step(std::span(all).first(1), BlockId::brick);
  while (site.saver.status().failure.empty()) std::this_thread::yield();
  int had_room = 0;
  while (site.saver.durable().room && had_room < 30) {
    site.step(std::span(all).subspan(static_cast<std::size_t>(had_room), 1), BlockId::sand);
    ++had_room;
  }
  CHECK(had_room == 12);
  CHECK(site.saver.durable().tick == 0);
  CHECK(site.saver.status().dirty_waiting == 0);
  const std::uint32_t told = site.tick;
  site.store->full = false;
  site.until([&] { return site.saver.durable().tick >= told; });
  CHECK(site.saver.durable().room);
}

TEST_CASE("while a disk is full a chest that is filled and emptied waits once, as it was last",
          "[server][saver]") {
  Site site(quick());
  site.store->full = true;
  const auto turn = [&site](IVec3 block, std::uint16_t count) {
    DataEdit edit{};
    edit.block = block;
    if (count > 0) edit.after.items.add({BlockId::clay, count});
    site.now += 20ms;
    site.saver.note(site.now, ++site.tick, site.volume, {.chunks = {}, .contents = std::span(&edit, 1)});
  };
  site.now = 1s;
  turn({5, 5, 5}, 1);
  while (site.saver.status().failure.empty()) std::this_thread::yield();
  for (int i = 0; i < 20'000; ++i) turn({5, 5, 5}, i % 2 == 0 ? 7 : 0), turn({5, 5, 6}, 9);
  CHECK(site.saver.durable().room);
  site.store->full = false;
  site.saver.finish(60s, site.volume);
  const auto& contents = site.store->contents;
  REQUIRE(contents.size() == 3);  // the group that failed, and all after it
  CHECK(contents[1].block == IVec3{5, 5, 5});
  CHECK(contents[1].bytes.empty());
  CHECK(contents[2].block == IVec3{5, 5, 6});
  CHECK_FALSE(contents[2].bytes.empty());
}

TEST_CASE("from three quarters of the contents, players or edits that may wait on there is no room",
          "[server][saver]") {
  SaverOptions options = quick();
  options.contents_max = options.players_max = options.edits_max = 100;
  Site site(options);
  site.store->full = true;
  const int one[] = {1};
  site.now = 1s;
  site.step(one, BlockId::brick);
  while (site.saver.status().failure.empty()) std::this_thread::yield();
  const int kind = GENERATE(0, 1, 2);
  CAPTURE(kind);
  int had_room = 0;
  for (; site.saver.durable().room && had_room < 200; ++had_room) {
    DataEdit chest{};
    chest.block = {had_room, 3, 3};
    StoredPlayer player;
    player.identity[0] = static_cast<std::uint8_t>(had_room);
    const EditAuthor author;
    const LoggedEdit edit{7, 0, {1, 1, 1}, BlockId::air, BlockId::brick};
    TickChanges changes{};
    if (kind == 0) changes.contents = std::span(&chest, 1);
    if (kind == 1) changes.players = std::span(&player, 1);
    if (kind == 2) changes.authors = std::span(&author, 1), changes.edits = std::span(&edit, 1);
    site.now += 20ms;
    site.saver.note(site.now, ++site.tick, site.volume, changes);
  }
  CHECK(had_room == 75);
  const std::uint32_t told = site.tick;
  site.store->full = false;
  site.until([&] { return site.saver.durable().tick >= told; });
  CHECK(site.saver.durable().room);
  CHECK(site.saver.status().edits_unlogged == 0);
}

TEST_CASE("operators may fill a quarter of the log that a group takes", "[server][saver]") {
  SaverOptions options = quick();
  options.edits_max = 100;
  Site site(options);
  CHECK(site.saver.durable().operator_blocks == 25);
  // The writer has something to do, or it would be given what fills a quarter.
  site.store->held = true;
  const int some[] = {1};
  site.now = 1s;
  site.step(some, BlockId::brick);
  const EditAuthor author;
  const std::vector<LoggedEdit> edits(20, {7, 0, {1, 1, 1}, BlockId::air, BlockId::brick});
  const auto change = [&] {
    site.now += 1ms;
    site.saver.note(site.now, ++site.tick, site.volume, {{}, {}, nullptr, {}, {&author, 1}, edits});
  };
  change();
  CHECK(site.saver.durable().operator_blocks == 5);
  change();
  CHECK(site.saver.durable().operator_blocks == 0);
  site.store->held = false;
  site.until([&] { return site.saver.durable().operator_blocks == 25; });
}

TEST_CASE("what fills a quarter of a group goes at once, however far apart groups are", "[server][saver]") {
  SaverOptions options = quick();
  options.every = std::chrono::hours(1);
  options.edits_max = 100;
  Site site(options);
  const EditAuthor author;
  const std::vector<LoggedEdit> edits(24, {7, 0, {1, 1, 1}, BlockId::air, BlockId::brick});
  const auto change = [&](std::size_t count) {
    site.now += 1ms;
    site.saver.note(site.now, ++site.tick, site.volume,
                    {{}, {}, nullptr, {}, {&author, 1}, std::span(edits).first(count)});
  };
  change(24);
  const std::uint32_t before = site.tick;
  for (int i = 0; i < 20; ++i) change(0);
  CHECK(site.saver.durable().tick < before);
  CHECK(site.saver.durable().operator_blocks == 1);
  change(1);
  const std::uint32_t filled = site.tick;
  site.until([&] { return site.saver.durable().tick >= filled; });
  CHECK(site.store->groups == 1);
  CHECK(site.saver.durable().operator_blocks == 25);
}

TEST_CASE("a disk that does not answer holds nobody at the end", "[server][saver]") {
  SaverOptions options = quick();
  options.patience = 10ms;
  const auto site = std::make_unique<Site>(options);
  const std::shared_ptr<MemoryStore> store = site->store;
  store->held = true;
  const int some[] = {1, 2};
  site->now = 1s;
  site->step(some, BlockId::brick);
  CHECK(site->saver.status().writing_ms > 0);
  int called = 0;
  site->saver.finish(30ms, site->volume, [&called] { ++called; });
  CHECK(called == 1);
  CHECK(site->saver.status().dirty_chunks == 2);
  CHECK(store->chunk_count() == 0);
  store->held = false;  // the writer ends by itself, with what it has
  while (store->groups == 0) std::this_thread::sleep_for(1ms);
  CHECK(store->chunk_count() == 2);
}

TEST_CASE("what a disk holds that is no chunk is not taken for saved at the end", "[server][saver]") {
  SaverOptions options = quick();
  options.patience = 10ms;
  const bool hangs = GENERATE(true, false);
  const auto site = std::make_unique<Site>(options);
  const std::shared_ptr<MemoryStore> store = site->store;
  store->held = hangs;
  StoredPlayer player;
  player.identity.fill(7);
  site->now = 1s;
  site->saver.note(site->now, ++site->tick, site->volume, {{}, {&player, 1}});
  if (hangs) CHECK_FALSE(site->saver.status().all_saved);
  site->saver.finish(hangs ? 30ms : 60s, site->volume);
  CHECK(site->saver.status().dirty_chunks == 0);
  CHECK(site->saver.status().all_saved == !hangs);
  store->held = false;
  while (store->groups == 0) std::this_thread::sleep_for(1ms);
}

TEST_CASE("what is written soon is waited for before anything else", "[server][saver]") {
  SaverOptions options = quick();
  options.patience = 60s;
  Site site(options);
  const int some[] = {1, 2};
  site.step(some, BlockId::brick);
  int called = 0;
  site.saver.finish(60s, site.volume, [&called] { ++called; });
  CHECK(site.store->chunk_count() == 2);
  CHECK(called == 0);
}

TEST_CASE("an end with a full disk ends, and tells what was not saved", "[server][saver]") {
  Site site(quick(4));
  site.store->full = true;
  const int some[] = {1, 2, 3};
  site.now = 1s;
  site.step(some, BlockId::brick);
  site.step(some, BlockId::glass);
  site.saver.finish(5ms, site.volume);
  const SaverStatus status = site.saver.status();
  CHECK(status.failure == "no room");
  CHECK(status.dirty_chunks >= 3);
  CHECK(status.saved_tick == 0);
  site.store->full = false;
  site.step(some, BlockId::sand);  // too late: nothing is noted any more
  CHECK(site.store->chunk_count() == 0);
}

TEST_CASE("what players hold comes in one group with the chunks of the same acts, beyond the bound, too",
          "[server][saver]") {
  Site site(quick(4));
  site.store->full = true;
  site.now = 1s;
  StoredPlayer digger;
  // Each tick one chunk more, and one item in the digger's hands.
  for (int x = 0; x < 30; ++x) {
    site.volume.set_block({x * chunk_size, 0, 0}, BlockId::sand);
    const ChunkCoord changed[] = {{x, 0, 0}};
    CHECK(digger.inventory.add({BlockId::sand, 1}) == 0);
    site.now += 20ms;
    site.saver.note(site.now, ++site.tick, site.volume,
                    {.chunks = changed, .players = std::span(&digger, 1)});
  }
  CHECK(site.saver.status().dirty_waiting > 0);
  const std::uint64_t told = 1000 + site.tick;
  site.store->full = false;
  site.until([&] { return site.saver.status().saved_tick >= told; });
  CHECK(site.store->chunk_count() == 30);
  CHECK(site.store->mixed == 0);
}

TEST_CASE("an end writes all that waits, also beyond one group", "[server][saver]") {
  Site site(quick(4));
  site.store->held = true;
  std::vector<int> all(30);
  for (int i = 0; i < 30; ++i) all[static_cast<std::size_t>(i)] = i;
  site.now = 1s;
  site.step(std::span(all).first(4), BlockId::brick);
  site.step(all, BlockId::brick);
  CHECK(site.saver.status().dirty_waiting == 26);
  site.store->held = false;
  site.saver.finish(60s, site.volume);
  CHECK(site.store->chunk_count() == 30);
  CHECK(site.store->tick() == 1002);
}

}  // namespace ashlar::server
