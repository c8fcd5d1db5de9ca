#include "server/ground_workers.h"

#include <algorithm>
#include <atomic>
#include <future>

#include "tests/catch.h"
#include "world/sim/ground_generator.h"
#include "world/voxel/terrain.h"

namespace ashlar::server {
namespace {

WorldSetup bare_world() {
  WorldSetup setup;
  setup.monsters = 0;
  setup.players_max = 1;
  return setup;
}

/// Waits until so many columns are there. Each of them comes, however slow the machine is.
std::vector<GroundColumn> take_all(GroundWorkers& workers, std::size_t count) {
  std::vector<GroundColumn> made;
  while (made.size() < count) {
    workers.take(made);
    std::this_thread::yield();
  }
  return made;
}

}  // namespace

TEST_CASE("workers bring what the world itself would make, every column once", "[server][ground_workers]") {
  const std::uint32_t threads = GENERATE(1u, 3u);
  World world(bare_world());
  GroundWorkers workers(world.ground(), threads);
  std::vector<IVec2> asked;
  for (int i = 0; i < static_cast<int>(GroundWorkers::columns_max); ++i) asked.push_back({50 + i, -20});
  workers.request(asked);
  for (int i = 0; i < 20; ++i) world.step({});  // beside it
  auto made = take_all(workers, asked.size());
  REQUIRE(made.size() == asked.size());
  std::ranges::sort(made, {}, [](const GroundColumn& c) { return c.column.x; });
  for (std::size_t i = 0; i < made.size(); ++i) {
    CHECK(made[i].column == asked[i]);
    for (std::size_t z = 0; z < world.columns().count(); ++z) {
      REQUIRE(made[i].chunks[z] != nullptr);
      const auto expected = generate_chunk(
          world.ground()->terrain(), {asked[i].x, asked[i].y, world.columns().low + static_cast<int>(z)});
      CHECK(made[i].chunks[z]->content_hash() == expected->content_hash());
    }
  }
  workers.request(std::span(asked).first(1));  // there is room again
  CHECK(take_all(workers, 1).size() == 1);
}

TEST_CASE("workers pack chunks before they make columns, each once", "[server][ground_workers]") {
  auto generator = std::make_shared<const GroundGenerator>(bare_world());
  GroundWorkers workers(generator, GENERATE(1u, 3u));
  std::vector<PackRequest> asked(pack_requests_max);
  for (std::uint32_t i = 0; i < asked.size(); ++i) {
    const Chunk chunk(static_cast<BlockId>(i % 8));
    asked[i].ticket = i;
    asked[i].blocks.assign(chunk);
    asked[i].hash = chunk.content_hash();
  }
  workers.request(std::span<PackRequest>(asked));
  std::vector<PackedGround> packed;
  while (packed.size() < asked.size()) {
    workers.take(packed);
    std::this_thread::yield();
  }
  std::ranges::sort(packed, {}, &PackedGround::ticket);
  for (std::uint32_t i = 0; i < packed.size(); ++i) {
    CHECK(packed[i].ticket == i);
    const auto chunk = ChunkCodec().decode(packed[i].bytes);
    REQUIRE(chunk.has_value());
    CHECK((*chunk)->content_hash() == packed[i].hash);
  }
}

TEST_CASE("another world's ground is made once it begins, and none of the old one's",
          "[server][ground_workers]") {
  WorldSetup other = bare_world();
  other.seed = 77;
  World first(bare_world()), second(other);
  GroundWorkers workers(first.ground(), 1);
  std::vector<IVec2> asked;
  for (int i = 0; i < static_cast<int>(GroundWorkers::columns_max); ++i) asked.push_back({50 + i, -20});
  workers.request(asked);
  workers.begin_world(second.ground());
  workers.request(std::span(asked).first(2));
  const auto made = take_all(workers, 2);
  REQUIRE(made.size() == 2);
  for (const GroundColumn& column : made)
    for (std::size_t z = 0; z < second.columns().count(); ++z) {
      const auto expected =
          generate_chunk(second.ground()->terrain(),
                         {column.column.x, column.column.y, second.columns().low + static_cast<int>(z)});
      CHECK(column.chunks[z]->content_hash() == expected->content_hash());
    }
  workers.request(asked);
  CHECK(take_all(workers, asked.size()).size() == asked.size());
}

TEST_CASE("the end of the workers waits for the column they are at, and for no other",
          "[server][ground_workers]") {
  std::promise<void> begun, go_on;
  std::atomic<int> chunks = 0;
  WorldSetup setup = bare_world();
  setup.make_chunk = [&](const Terrain&, ChunkCoord) {
    if (++chunks == 1) {
      begun.set_value();
      go_on.get_future().wait();
    }
    return std::make_unique<Chunk>();
  };
  auto generator = std::make_shared<const GroundGenerator>(setup);
  auto workers = std::make_unique<GroundWorkers>(generator, 1);
  workers->request(std::vector<IVec2>{{1, 1}, {2, 2}, {3, 3}});
  begun.get_future().wait();
  auto ended = std::async(std::launch::async, [&] { workers.reset(); });
  CHECK(chunks == 1);
  // The end may only be seen after the first column: how far the other thread is now does not matter.
  go_on.set_value();
  ended.wait();
  const auto in_column = static_cast<int>(column_span(setup.terrain).count());
  CHECK(chunks >= in_column);
  CHECK(chunks <= 3 * in_column);
}

}  // namespace ashlar::server
