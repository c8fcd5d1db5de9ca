#include "server/host/change_log.h"

#include <map>
#include <tuple>

#include "tests/catch.h"
#include "world/math/random.h"
#include "world/voxel/chunk.h"

using namespace ashlar;
using namespace ashlar::server;

TEST_CASE("the log of changes knows of each block what it became last", "[server][change_log]") {
  ChangeLog log;
  CHECK(log.empty());
  CHECK(log.column({0, 0}).empty());
  Rng rng{4};
  std::map<std::tuple<int, int, int>, BlockId> all;
  for (int tick = 0; tick < 200; ++tick) {
    std::vector<AppliedEdit> edits;
    std::map<std::tuple<int, int, int>, BlockId> now;
    for (std::uint32_t n = rng.below(20); n > 0; --n) {
      IVec3 block;
      block.x = static_cast<std::int32_t>(rng.below(70)) - 35;
      block.y = static_cast<std::int32_t>(rng.below(3)) - 1;
      block.z = static_cast<std::int32_t>(rng.below(70)) - 35;
      const auto id = static_cast<BlockId>(rng.below(block_id_count));
      edits.push_back({block, BlockId::air, id, {}});
      now[{block.x, block.y, block.z}] = all[{block.x, block.y, block.z}] = id;
    }
    log.take(edits);
    // What is fresh is what this tick changed, each block once.
    std::size_t told = 0;
    for (const auto& chunk : log.fresh()) {
      REQUIRE_FALSE(chunk.changes.empty());
      for (std::size_t i = 1; i < chunk.changes.size(); ++i)
        REQUIRE(chunk.changes[i - 1].index < chunk.changes[i].index);
      told += chunk.changes.size();
    }
    REQUIRE(told == now.size());
    for (const auto& [at, id] : now) {
      const IVec3 block{std::get<0>(at), std::get<1>(at), std::get<2>(at)};
      const auto index = index_in_chunk(local_in_chunk(block));
      bool found = false;
      for (const auto& chunk : log.fresh())
        for (const BlockChange& change : chunk.changes)
          if (chunk.at == chunk_of(block) && change.index == index)
            found = change.block == static_cast<std::uint16_t>(id);
      REQUIRE(found);
    }
  }
  CHECK(log.blocks() == all.size());
  std::size_t kept = 0;
  for (int x = -2; x < 3; ++x)
    for (int y = -1; y < 1; ++y)
      for (const auto& chunk : log.column({x, y})) {
        CHECK((chunk.at.x == x && chunk.at.y == y));
        for (const BlockChange& change : chunk.changes) {
          const int lz = change.index & 31, lx = (change.index >> 5) & 31, ly = change.index >> 10;
          const auto at = std::tuple(x * 32 + lx, y * 32 + ly, chunk.at.z * 32 + lz);
          REQUIRE(all.contains(at));
          CHECK(static_cast<std::uint16_t>(all[at]) == change.block);
          ++kept;
        }
      }
  CHECK(kept == all.size());
  log.take({});
  CHECK(log.fresh().empty());
}
