// A process that changes a world and saves it is killed at random moments: what it announced as saved is
// there, and what is there is the world as of one tick.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "protocol/chunk_codec.h"
#include "server/store/saver.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_check.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "world/math/random.h"
#include "world/sim/item_table.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

using namespace std::chrono_literals;

constexpr int builders = 50;
constexpr int yard_chunks = 6;  ///< along each edge

/// The builders' ground, what they hold and what lies there, all a function of the tick: nobody makes or
/// loses a block, so that ground, inventories and items together are always the same.
struct Yard {
  Yard() : players(builders) {
    for (int x = 0; x < yard_chunks; ++x)
      for (int y = 0; y < yard_chunks; ++y)
        volume.insert_chunk({x, y, 0}, std::make_unique<Chunk>(BlockId::stone));
    for (std::uint8_t i = 0; i < builders; ++i) players[i].identity.fill(i);
    items.resize(items_max, 0);
  }
  struct Changes {
    std::vector<ChunkCoord> chunks;
    std::vector<StoredPlayer> players;
    TickChanges view(const Yard& yard) const { return {chunks, players, &yard.items, yard.chests.applied()}; }
  };
  Changes step(std::uint64_t tick) {
    Changes changed;
    chests.begin_tick();
    for (std::uint64_t builder = 0; builder < builders; ++builder) {
      Rng rng = rng_for(tick, 3, builder);
      constexpr std::uint32_t edge = yard_chunks * chunk_size;
      const IVec3 block{static_cast<int>(rng.below(edge)), static_cast<int>(rng.below(edge)),
                        static_cast<int>(rng.below(chunk_size))};
      Inventory& held = players[builder].inventory;
      act(rng, block, held);
      const ChunkCoord at = chunk_of(block);
      if (std::ranges::find(changed.chunks, at) == changed.chunks.end()) changed.chunks.push_back(at);
      changed.players.push_back(players[builder]);
    }
    return changed;
  }
  /// Digs, places, throws one away or picks up what lies there first.
  void act(Rng& rng, IVec3 block, Inventory& held) {
    const std::uint32_t what = rng.below(10);
    if (what >= 8) return use_chest({block.x / 64 * 64, block.y / 64 * 64, 0}, what == 8, held);
    const BlockId there = volume.block(block);
    if (what >= 2 && there != BlockId::air) {
      if (held.add({there, 1}) == 0) volume.set_block(block, BlockId::air);
    } else if (what >= 2) {
      if (held.take(BlockId::stone, 1) == 1) volume.set_block(block, BlockId::stone);
    } else if (what == 1 && items.count < items.rows()) {
      if (held.take(BlockId::stone, 1) == 0) return;
      const std::size_t row = items.take();
      items.stack[row] = {BlockId::stone, 1};
      items.position_m[row] = to_dvec3(block);
    } else if (what == 0 && items.count > 0) {
      std::size_t row = 0;
      while (items.id[row] == EntityId{0}) ++row;
      if (held.add(items.stack[row]) == 0) items.free(row);
    }
  }
  /// One of nine, and a dozen at once.
  void use_chest(IVec3 chest, bool puts, Inventory& held) {
    const BlockData* const known = chests.find(chest);
    BlockData data = known != nullptr ? *known : BlockData{};
    Inventory& from = puts ? held : data.items;
    Inventory& to = puts ? data.items : held;
    const std::uint16_t left = to.add({BlockId::stone, from.take(BlockId::stone, 12)});
    static_cast<void>(from.add({BlockId::stone, left}));
    chests.set(chest, BlockId::brick, data, EntityId{0});
  }
  std::uint64_t things() const {
    std::uint64_t sum = chests.item_count();
    for (const ChunkCoord at : volume.loaded_chunks())
      for (int i = 0; i < static_cast<int>(chunk_blocks); ++i)
        sum += volume.find(at)->block({i / chunk_size % chunk_size, i / chunk_size / chunk_size,
                                       i % chunk_size}) != BlockId::air;
    for (const StoredPlayer& player : players) sum += player.inventory.count();
    for (const ItemStack& stack : items.stack) sum += stack.count;
    return sum;
  }
  VoxelVolume volume;
  std::vector<StoredPlayer> players;
  ItemTable items;
  BlockContents chests;
};
constexpr std::uint64_t things_at_start = std::uint64_t{yard_chunks} * yard_chunks * chunk_blocks;

/// What the store holds, laid over untouched ground.
Yard stored_yard(SqliteStore& store) {
  Yard yard;
  ChunkCodec codec;
  for (const ChunkCoord at : yard.volume.loaded_chunks()) {
    const ChunkLookup found = store.load_chunk(at);
    if (found.kind == ChunkLookup::Kind::none) continue;
    REQUIRE(found.kind == ChunkLookup::Kind::found);
    auto chunk = codec.decode(found.bytes);
    REQUIRE(chunk.has_value());
    yard.volume.insert_chunk(at, std::move(*chunk));
  }
  const auto players = store.load_players();
  REQUIRE(players.has_value());
  for (const StoredPlayer& player : players->players) yard.players[player.identity[0]] = player;
  const auto items = store.load_items();
  REQUIRE(items.has_value());
  for (const LyingItem& item : items->items) {
    const std::size_t row = yard.items.take();
    yard.items.stack[row] = item.stack;
    yard.items.position_m[row] = item.position_m;
  }
  const auto contents = store.load_contents();
  REQUIRE(contents.has_value());
  yard.chests.restore(contents->contents);
  return yard;
}

std::shared_ptr<SqliteStore> open_store_at(const std::string& file) {
  auto opened = SqliteStore::open(file, {.seed = 1});
  if (!opened) return nullptr;
  (*opened)->keep();
  return std::move(*opened);
}

/// Builds from the stored tick on, tells through the pipe what is saved, and never ends by itself.
[[noreturn]] void build_until_killed(const std::string& file, int pipe) {
  auto store = open_store_at(file);
  if (store == nullptr) ::_exit(1);
  const std::uint64_t first = store->world().tick;
  Yard yard;
  for (std::uint64_t tick = 1; tick <= first; ++tick) yard.step(tick);
  WorldSaver saver(store, first, {.every = 5ms});
  std::uint64_t told = first;
  for (std::uint32_t tick = 1;; ++tick) {
    const auto changed = yard.step(first + tick);
    saver.note(std::chrono::milliseconds(tick), tick, yard.volume, changed.view(yard));
    const std::uint64_t saved = saver.status().saved_tick;
    if (saved != told && ::write(pipe, &saved, sizeof saved) != sizeof saved) ::_exit(1);
    told = saved;
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace

TEST_CASE("a kill at any moment takes back nothing that was announced, and leaves no half of a group",
          "[server][saver]") {
  const testing::TemporaryFolder folder;
  const std::string file = folder.path("world.db");
  Rng rng = rng_for(11, 1);
  std::uint64_t announced = 0;
  for (int round = 0; round < 10; ++round) {
    CAPTURE(round);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(ends[0]);
      build_until_killed(file, ends[1]);
    }
    ::close(ends[1]);
    // Some groups, then a moment that has nothing to do with them.
    std::uint64_t saved = 0;
    for (std::uint32_t groups = rng.below(6); groups > 0 && ::read(ends[0], &saved, sizeof saved) > 0;
         --groups)
      announced = saved;
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(20'000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    while (::read(ends[0], &saved, sizeof saved) == sizeof saved) announced = saved;
    ::close(ends[0]);

    const auto store = open_store_at(file);
    REQUIRE(store != nullptr);
    const std::uint64_t tick = store->world().tick;
    CHECK(tick >= announced);
    Yard expected;
    for (std::uint64_t t = 1; t <= tick; ++t) expected.step(t);
    const Yard kept = stored_yard(*store);
    CHECK(kept.volume.hash() == expected.volume.hash());
    for (std::size_t i = 0; i < builders; ++i) {
      CAPTURE(i);
      CHECK(kept.players[i].inventory == expected.players[i].inventory);
    }
    CHECK(kept.items.count == expected.items.count);
    expected.chests.each([&](IVec3 block, const BlockData& data) {
      const BlockData* const there = kept.chests.find(block);
      CHECK((there != nullptr && *there == data));
    });
    CHECK(kept.chests.size() == expected.chests.size());
    CHECK(kept.things() == things_at_start);  // none is lost, none is doubled
    const auto check = check_store(file);
    REQUIRE(check.has_value());
    CHECK(check->faults == 0);
  }
  CHECK(announced > 0);
}

}  // namespace ashlar::server
