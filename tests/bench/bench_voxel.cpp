// The living voxel world in figures, but for what travels: ground made, coded, held, changed by 200 players
// at 60 Hz and saved; a start with a million changed chunks. Processor time of the thread, three runs, min /
// median / max, where a line does not say otherwise. Exit code 1 where a figure is beyond what is asked of
// it.
//   bench_voxel [--seconds N] [--chunks N] [ground] [codec] [memory] [edits] [save] [start]
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "protocol/chunk_codec.h"
#include "server/store/edit_log.h"
#include "server/store/saver.h"
#include "server/store/sqlite_store.h"
#include "server/store/stored_ground.h"
#include "tests/bench/builders.h"
#include "tests/bench/timing.h"
#include "tests/temporary_folder.h"
#include "world/math/random.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::bench;
using namespace std::chrono_literals;
using server::SqliteStore;
using server::StoredChunk;
using testing::TemporaryFolder;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double chunks_per_s_asked = 400;
constexpr double start_later_s_max = 0.5;
constexpr double kib_untouched_max = 6, kib_changed_max = 24;
constexpr double age_ms_max = 1000, group_ms_max = 100;

struct Options {
  std::uint32_t seconds = 20;
  std::uint32_t chunks = 1'000'000;
};

double wall_ms(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

/// As a server makes it, with what its secret seed hides.
const Terrain hills_of_one{
    .seed = 1, .kind = TerrainKind::hills, .secret = 2, .treasure = BlockRegistry::builtin().treasure()};

/// Chunks of one kind of ground.
struct Ground {
  const char* what;
  std::vector<std::unique_ptr<Chunk>> chunks;
};

Ground ground_at(const char* what, ChunkCoord low, std::int32_t across) {
  Ground ground{what, {}};
  for (std::int32_t x = 0; x < across; ++x)
    for (std::int32_t y = 0; y < across; ++y)
      ground.chunks.push_back(generate_chunk(hills_of_one, {low.x + x, low.y + y, low.z}));
  return ground;
}

/// The same with a share of its blocks changed to any kind.
Ground changed(const char* what, const Ground& ground, std::uint32_t blocks) {
  Ground made{what, {}};
  Rng rng{5};
  for (const auto& chunk : ground.chunks) {
    made.chunks.push_back(std::make_unique<Chunk>(*chunk));
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const auto x = static_cast<std::int32_t>(rng.below(chunk_size)),
                 y = static_cast<std::int32_t>(rng.below(chunk_size));
      const auto z = static_cast<std::int32_t>(rng.below(chunk_size));
      made.chunks.back()->set_block({x, y, z}, BlockId{static_cast<std::uint16_t>(rng.below(16))});
    }
  }
  return made;
}

struct Country {
  const char* what;
  IVec2 at;  ///< of seed 1: columns
};
constexpr Country countries[] = {{"where players begin", {-2, -2}},
                                 {"mountains", {28, 24}},
                                 {"crags and rivers", {4, -62}},
                                 {"the sea", {52, -20}}};

bool bench_ground(const Options&) {
  const ColumnSpan span = column_span(TerrainKind::hills);
  constexpr std::int32_t across = 4;
  bool good = true;
  for (const Country& country : countries) {
    std::uint64_t hash = 0;
    const Spread s = measure(
        [&] {
          for (std::int32_t x = 0; x < across; ++x)
            for (std::int32_t y = 0; y < across; ++y)
              for (std::int32_t z = span.low; z < span.high; ++z)
                hash ^= generate_chunk(hills_of_one, {country.at.x + x, country.at.y + y, z})->content_hash();
        },
        across * across * static_cast<double>(span.count()));
    std::printf("  %-24s %6.0f / %6.0f / %6.0f chunks/s a core   %016llx\n", country.what, 1 / s.high,
                1 / s.median, 1 / s.low, static_cast<unsigned long long>(hash));
    good = good && 1 / s.high >= chunks_per_s_asked;
  }
  return good;
}

bool bench_codec(const Options&) {
  const Ground hills = ground_at("hills", {24, 20, 1}, 8);
  Ground kinds[] = {ground_at("rock and caves", {-4, -4, -1}, 8), changed("hills, built on", hills, 1000),
                    ground_at("the sea", {48, -24, -1}, 8), changed("of every kind", hills, 40'000),
                    ground_at("hills", {24, 20, 1}, 8)};
  ChunkCodec codec;
  for (const Ground& ground : kinds) {
    const auto count = static_cast<double>(ground.chunks.size());
    std::vector<std::vector<std::uint8_t>> coded(ground.chunks.size());
    std::size_t bytes = 0, held = 0;
    const Spread encode = measure(
        [&] {
          for (std::size_t i = 0; i < coded.size(); ++i) coded[i] = codec.encode(*ground.chunks[i]);
        },
        count);
    for (std::size_t i = 0; i < coded.size(); ++i)
      bytes += coded[i].size(), held += ground.chunks[i]->bytes();
    const Spread decode = measure(
        [&] {
          for (const auto& one : coded)
            if (!codec.decode(one)) std::abort();
        },
        count);
    std::printf(
        "  %-24s encode %6.1f / %6.1f / %6.1f us   decode %6.1f us   %7.0f bytes a chunk, in memory %6.0f\n",
        ground.what, 1e6 * encode.low, 1e6 * encode.median, 1e6 * encode.high, 1e6 * decode.median,
        static_cast<double>(bytes) / count, static_cast<double>(held) / count);
  }
  return true;
}

/// What the process holds, in bytes.
std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  const bool read = std::fscanf(file, "%zu %zu", &pages, &resident) == 2;
  std::fclose(file);
  return read ? resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

/// Ten thousand chunks at once, as many columns side by side as that are.
void hold_ten_thousand() {
  const ColumnSpan span = column_span(TerrainKind::hills);
  const auto across =
      static_cast<std::int32_t>(std::lround(std::sqrt(10'000.0 / static_cast<double>(span.count()))));
  const std::size_t before = resident_bytes();
  VoxelVolume volume;
  std::size_t chunks = 0, bytes = 0;
  for (std::int32_t x = 0; x < across; ++x)
    for (std::int32_t y = 0; y < across; ++y)
      for (std::int32_t z = span.low; z < span.high; ++z) {
        const ChunkCoord at{x - across / 2, y - across / 2, z};
        volume.insert_chunk(at, generate_chunk(hills_of_one, at));
        ++chunks, bytes += volume.find(at)->bytes();
      }
  std::printf("  %zu chunks at once: %.1f MiB by their own count, the process grew by %.1f MiB\n", chunks,
              static_cast<double>(bytes) / (1 << 20),
              static_cast<double>(resident_bytes() - before) / (1 << 20));
}

bool bench_memory(const Options&) {
  constexpr std::int32_t reach = 4;  // columns: 128 m
  const ColumnSpan span = column_span(TerrainKind::hills);
  bool good = true;
  for (const std::uint32_t blocks : {0u, 64u}) {
    VoxelVolume volume;
    std::size_t chunks = 0, bytes = 0;
    Rng rng{9};
    for (std::int32_t x = -reach; x < reach; ++x)
      for (std::int32_t y = -reach; y < reach; ++y)
        for (std::int32_t z = span.low; z < span.high; ++z) {
          const ChunkCoord at{x, y, z};
          volume.insert_chunk(at, generate_chunk(hills_of_one, at));
          for (std::uint32_t i = 0; i < blocks; ++i) {
            const auto a = static_cast<std::int32_t>(rng.below(chunk_size)),
                       b = static_cast<std::int32_t>(rng.below(chunk_size));
            const auto c = static_cast<std::int32_t>(rng.below(chunk_size));
            volume.set_block({x * chunk_size + a, y * chunk_size + b, z * chunk_size + c},
                             BlockId{static_cast<std::uint16_t>(rng.below(16))});
          }
          ++chunks, bytes += volume.find(at)->bytes();
        }
    const double kib = static_cast<double>(bytes) / static_cast<double>(chunks) / 1024;
    const double asked = blocks == 0 ? kib_untouched_max : kib_changed_max;
    std::printf(
        "  within 128 m, %2u blocks of each chunk changed: %5.2f KiB a chunk, mean of %zu (asked: at most "
        "%.0f)\n",
        blocks, kib, chunks, asked);
    good = good && kib <= asked;
  }
  hold_ten_thousand();
  return good;
}

/// 200 builders in real time, with what they do saved and logged.
bool bench_edits(const Options& options) {
  const TemporaryFolder folder;
  auto opened = SqliteStore::open(folder.path("world.db"), {.seed = 1});
  if (!opened) return std::printf("WRONG: %s\n", opened.error().line.c_str()), false;
  std::shared_ptr<SqliteStore> store = std::move(*opened);
  store->keep();
  std::vector<double> still_us, step_us, note_us, tick_us, age_ms, group_ms;
  const std::uint32_t ticks = options.seconds * 60;
  {
    Builders idle(BuildersWay::still);
    for (std::uint32_t t = 0; t < ticks / 4; ++t) still_us.push_back(1e6 * idle.step());
  }
  Builders site(BuildersWay::work);
  server::WorldSaver saver(store, 0);
  server::LogAs log_as;
  log_as.author_of = [](EntityId id, server::EditAuthor& out) {
    out.kind = server::EditAuthor::Kind::player;
    std::memcpy(out.identity.data(), &id, sizeof id);
  };
  const auto begun = Clock::now();
  std::uint64_t groups = 0;
  for (std::uint32_t t = 0; t < ticks; ++t) {
    site.decide();
    step_us.push_back(1e6 * site.step());
    const double before = thread_s();
    log_as.unix_s = 1'000'000 + t / 60;
    saver.note(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun), site.world(), {},
               log_as);
    note_us.push_back(1e6 * (thread_s() - before));
    tick_us.push_back(step_us.back() + note_us.back());
    if (const auto status = saver.status(); status.groups != groups)
      groups = status.groups, age_ms.push_back(status.last_age_ms), group_ms.push_back(status.last_group_ms);
    std::this_thread::sleep_until(begun + (t + 1) * 16'667us);
  }
  saver.finish(10s, *site.world().space().voxels);
  std::printf(
      "  a tick standing still p50 %.0f us p99 %.0f us; building p50 %.0f us p99 %.0f us, %.0f edits/s\n",
      percentile(still_us, 0.5), percentile(still_us, 0.99), percentile(step_us, 0.5),
      percentile(step_us, 0.99), static_cast<double>(site.changed) / options.seconds);
  std::printf("  noting them to be saved and logged: p50 %.1f us p99 %.1f us a tick\n",
              percentile(note_us, 0.5), percentile(note_us, 0.99));
  std::printf("  what digging, building and saving add to a tick: p50 %.0f us p99 %.0f us\n",
              percentile(tick_us, 0.5) - percentile(still_us, 0.5),
              percentile(tick_us, 0.99) - percentile(still_us, 0.99));
  std::printf(
      "  a group is written in (wall clock): p50 %.0f ms p99 %.0f ms (asked: at most %.0f), %zu groups\n",
      percentile(group_ms, 0.5), percentile(group_ms, 0.99), group_ms_max, group_ms.size());
  std::printf("  on the disk after (wall clock): p50 %.0f ms p99 %.0f ms (asked: at most %.0f)\n",
              percentile(age_ms, 0.5), percentile(age_ms, 0.99), age_ms_max);
  return site.changed > 0 && percentile(age_ms, 0.99) <= age_ms_max &&
         percentile(group_ms, 0.99) <= group_ms_max;
}

bool bench_save(const Options&) {
  constexpr std::int32_t across = 100;
  const Ground hills = changed("hills", ground_at("hills", {24, 20, 1}, 8), 64);
  VoxelVolume volume;
  std::vector<ChunkCoord> places;
  for (std::int32_t x = 0; x < across; ++x)
    for (std::int32_t y = 0; y < across; ++y) {
      const ChunkCoord at{x, y, 1};
      volume.insert_chunk(at, std::make_unique<Chunk>(*hills.chunks[places.size() % hills.chunks.size()]));
      places.push_back(at);
    }
  const TemporaryFolder folder;
  auto opened = SqliteStore::open(folder.path("world.db"), {.seed = 1});
  if (!opened) return std::printf("WRONG: %s\n", opened.error().line.c_str()), false;
  std::shared_ptr<SqliteStore> store = std::move(*opened);
  store->keep();
  server::SaverOptions large;
  large.chunks_max = across * across;
  server::WorldSaver saver(store, 0, large);
  const auto begun = Clock::now();
  const double before = thread_s();
  saver.note(0us, 1, volume, {places});
  const double copied_ms = 1e3 * (thread_s() - before);
  saver.finish(600s, volume);
  std::printf("  10 000 dirty chunks: copied in %.1f ms, on the disk after %.0f ms (wall clock)\n", copied_ms,
              wall_ms(begun));
  return saver.status().dirty_chunks == 0;
}

/// What a start does with a store: opens it, reads who holds what and what lies there, and loads home.
double start_ms(const std::string& file) {
  const auto begun = Clock::now();
  auto opened = SqliteStore::open(file, {.seed = 1});
  if (!opened) std::abort();
  std::shared_ptr<SqliteStore> store = std::move(*opened);
  store->keep();
  if (!store->load_players() || !store->load_items()) std::abort();
  server::StoredGround ground(store, server::DamagedChunks::regenerate);
  const ColumnSpan span = column_span(TerrainKind::hills);
  const Terrain& terrain = hills_of_one;
  for (std::int32_t x = -3; x < 3; ++x)
    for (std::int32_t y = -3; y < 3; ++y)
      for (std::int32_t z = span.low; z < span.high; ++z)
        static_cast<void>(ground.make_chunk(terrain, {x, y, z}));
  return wall_ms(begun);
}

bool bench_start(const Options& options) {
  const TemporaryFolder folder;
  const std::string fresh = folder.path("fresh.db"), old = folder.path("old.db");
  const double fresh_ms = std::min(start_ms(fresh), start_ms(fresh));
  {
    auto store = SqliteStore::open(old, {.seed = 1});
    (*store)->keep();
    const auto bytes = ChunkCodec().encode(*changed("", ground_at("", {0, 0, 1}, 1), 64).chunks[0]);
    std::vector<StoredChunk> chunks;
    const auto side = static_cast<std::int32_t>(1000);
    for (std::uint32_t i = 0; i < options.chunks; ++i) {
      const auto n = static_cast<std::int32_t>(i);
      chunks.push_back({{n / side - side / 2, n % side - side / 2, 1}, bytes});
      if (chunks.size() < 10'000 && i + 1 < options.chunks) continue;
      if (!(*store)->save({i, chunks, {}})) return std::printf("WRONG: no room for the world\n"), false;
      chunks.clear();
    }
  }
  const double old_ms = std::min(start_ms(old), start_ms(old));
  std::printf("  fresh %.0f ms, with %u changed chunks %.0f ms (wall clock): %.0f ms later\n", fresh_ms,
              options.chunks, old_ms, old_ms - fresh_ms);
  return old_ms - fresh_ms <= 1e3 * start_later_s_max;
}

struct Section {
  const char* name;
  const char* what;
  bool (*run)(const Options&);
};
constexpr Section sections[] = {{"ground", "chunks of hills made", bench_ground},
                                {"codec", "chunks coded, five kinds of ground", bench_codec},
                                {"memory", "chunks held", bench_memory},
                                {"edits", "200 players who build and dig", bench_edits},
                                {"save", "much at once", bench_save},
                                {"start", "the store's part of a start", bench_start}};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    const bool number = i + 1 < argc;
    if (number && std::strcmp(argv[i], "--seconds") == 0)
      options.seconds = static_cast<std::uint32_t>(std::max(1, std::atoi(argv[++i])));
    else if (number && std::strcmp(argv[i], "--chunks") == 0)
      options.chunks = static_cast<std::uint32_t>(std::clamp(std::atoi(argv[++i]), 1, 1'000'000));
    else
      wanted.emplace_back(argv[i]);
  }
  bool good = true;
  for (const Section& section : sections) {
    if (!wanted.empty() && std::ranges::find(wanted, section.name) == wanted.end()) continue;
    std::printf("%s: %s\n", section.name, section.what);
    if (section.run(options)) continue;
    good = false;
    std::printf("WRONG: %s is beyond what is asked\n", section.name);
  }
  return good ? 0 : 1;
}
