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
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

using namespace std::chrono_literals;

constexpr int builders = 50;
constexpr int yard_chunks = 6;  ///< along each edge

/// The builders' ground, and what they change in it: a function of the tick.
struct Yard {
  Yard() {
    for (int x = 0; x < yard_chunks; ++x)
      for (int y = 0; y < yard_chunks; ++y)
        volume.insert_chunk({x, y, 0}, std::make_unique<Chunk>(BlockId::air));
  }
  std::vector<ChunkCoord> step(std::uint64_t tick) {
    std::vector<ChunkCoord> changed;
    for (std::uint64_t builder = 0; builder < builders; ++builder) {
      Rng rng = rng_for(tick, 3, builder);
      constexpr std::uint32_t edge = yard_chunks * chunk_size;
      const IVec3 block{static_cast<int>(rng.below(edge)), static_cast<int>(rng.below(edge)),
                        static_cast<int>(rng.below(chunk_size))};
      volume.set_block(block, static_cast<BlockId>(rng.below(block_id_count)));
      const ChunkCoord at = chunk_of(block);
      if (std::ranges::find(changed, at) == changed.end()) changed.push_back(at);
    }
    return changed;
  }
  VoxelVolume volume;
};

/// What the store holds, laid over untouched ground.
std::uint64_t stored_hash(SqliteStore& store) {
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
  return yard.volume.hash();
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
    saver.note(std::chrono::milliseconds(tick), tick, yard.volume, changed);
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
    CHECK(stored_hash(*store) == expected.volume.hash());
    const auto check = check_store(file);
    REQUIRE(check.has_value());
    CHECK(check->faults == 0);
  }
  CHECK(announced > 0);
}

}  // namespace ashlar::server
