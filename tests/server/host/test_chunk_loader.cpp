#include "server/host/chunk_loader.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/catch.h"
#include "world/sim/ground_generator.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

constexpr std::size_t across = 2 * ChunkLoader::want_radius + 1;
constexpr std::size_t around = across * across;            // one player, with the column where it is
constexpr std::size_t around_two = across * (across + 1);  // two in neighbouring columns

/// A world with players that are put where a test wants them, and a loader whose requests the test answers.
struct Land {
  explicit Land(std::uint32_t players = 2, TerrainKind terrain = TerrainKind::hills)
      : world(setup(players, terrain)) {
    std::vector<std::uint32_t> joins;
    for (std::uint32_t i = 0; i < players; ++i) joins.push_back(i);
    TickInput input;
    input.joins = joins;
    world.step(input);
    for (const Joined& joined : world.joined()) ids.push_back(joined.id);
    for (std::size_t i = 0; i < ids.size(); ++i) put(i, {0, 0});
    step();
    settle();
    at_home = loader.extra_columns();  // the ring around them is wider than the home region
  }

  static WorldSetup setup(std::uint32_t players, TerrainKind terrain) {
    WorldSetup s;
    s.terrain = terrain;
    s.players_max = players;
    s.monsters = 0;
    return s;
  }

  /// Puts a player into the middle of a column, from the next tick on.
  void put(std::size_t player, IVec2 column) {
    admin.push_back({AdminAction::noclip_on, ids[player], {}});
    admin.push_back({AdminAction::teleport,
                     ids[player],
                     {chunk_size * (column.x + 0.5), chunk_size * (column.y + 0.5), 60}});
  }

  void step() {
    ready.clear(), dropped.clear();
    loader.plan(world, ready, dropped, requests);
    TickInput input;
    input.admin = admin;
    input.chunks_ready = ready;
    input.chunks_dropped = dropped;
    world.step(input);
    admin.clear();
    dropped_in_all += dropped.size();
  }

  GroundColumn make(IVec2 column) const { return make_column(*world.ground(), column); }
  void answer(IVec2 column) {
    GroundColumn made = make(column);
    loader.take({&made, 1});
  }
  /// Answers everything, tick for tick, until nothing is asked for.
  void settle() {
    for (int i = 0; i < 400; ++i) {
      step();
      if (requests.empty() && loader.counters().in_flight == 0) return;
      for (const IVec2 column : std::exchange(requests, {})) answer(column);
    }
    FAIL("the loader never has enough");
  }
  bool loaded(IVec2 c) const { return world.column_loaded(c.x, c.y); }

  World world;
  ChunkLoader loader;
  std::vector<EntityId> ids;
  std::vector<AdminCommand> admin;
  std::vector<ReadyChunk> ready;
  std::vector<ChunkCoord> dropped;
  std::vector<IVec2> requests;
  std::size_t dropped_in_all = 0;
  std::size_t at_home = 0;
};

int distance(IVec2 a, IVec2 b) { return std::max(std::abs(a.x - b.x), std::abs(a.y - b.y)); }

constexpr IVec2 far_off{40, -30};

}  // namespace

TEST_CASE("ground is asked for from the nearest outwards, a few columns at once and each once",
          "[server][chunk_loader]") {
  Land land;
  land.put(0, far_off);
  land.step();
  REQUIRE(land.requests.empty());  // it was planned before the player was there
  land.step();
  REQUIRE(land.requests.size() == ChunkLoader::in_flight_max);
  CHECK(land.requests.front() == far_off);
  std::set<std::pair<int, int>> asked;
  for (const IVec2 column : land.requests) {
    CHECK(distance(column, far_off) <= 1);
    CHECK(asked.insert({column.x, column.y}).second);
  }
  SECTION("while nothing comes nothing more is asked for") {
    for (int i = 0; i < 50; ++i) land.step();
    CHECK(land.requests.size() == ChunkLoader::in_flight_max);
    CHECK(land.loader.counters().in_flight == ChunkLoader::in_flight_max);
    CHECK_FALSE(land.loaded(far_off));
  }
  SECTION("what comes in another order is taken, and the ring around is complete in the end") {
    auto first = std::exchange(land.requests, {});
    std::ranges::reverse(first);
    for (const IVec2 column : first) {
      land.answer(column);
      land.step();
      CHECK(land.loaded(column));
      for (const IVec2 next : land.requests) CHECK(asked.insert({next.x, next.y}).second);
      for (const IVec2 next : std::exchange(land.requests, {})) land.answer(next);
    }
    land.settle();
    for (int dx = -ChunkLoader::want_radius; dx <= ChunkLoader::want_radius; ++dx)
      for (int dy = -ChunkLoader::want_radius; dy <= ChunkLoader::want_radius; ++dy)
        CHECK(land.loaded({far_off.x + dx, far_off.y + dy}));
    CHECK(land.loader.extra_columns() == land.at_home + around);
    CHECK(land.loader.counters().requested == land.at_home + around);
    CHECK(land.loader.counters().forgotten == 0);
  }
}

TEST_CASE("ground that cannot be had is not asked for again, and all around it comes",
          "[server][chunk_loader]") {
  Land land;
  land.put(0, far_off);
  land.step();
  land.step();
  for (const IVec2 column : std::exchange(land.requests, {})) {
    GroundColumn made = column == far_off ? closed_column(column) : land.make(column);
    land.loader.take({&made, 1});
  }
  land.settle();
  CHECK_FALSE(land.loaded(far_off));
  CHECK(land.loaded({far_off.x + 1, far_off.y}));
  CHECK(land.loader.counters().closed == 1);
  CHECK(land.loader.counters().in_flight == 0);
  for (int i = 0; i < 50; ++i) land.step();
  CHECK(land.requests.empty());
}

TEST_CASE("how a column differs from generated ground is told when it enters", "[server][chunk_loader]") {
  Land land;
  land.put(0, far_off);
  land.step();
  land.step();
  land.requests.clear();
  const AppliedEdit change{
      {far_off.x * chunk_size, far_off.y * chunk_size, 5}, BlockId::air, BlockId::brick, {}};
  GroundColumn made = land.make(far_off);
  made.changes = {change};
  land.loader.take({&made, 1});
  CHECK(land.loader.entering_changes().empty());
  land.step();
  REQUIRE(land.loader.entering_changes().size() == 1);
  CHECK(land.loader.entering_changes()[0] == change);
  land.step();
  CHECK(land.loader.entering_changes().empty());
}

TEST_CASE("two players share the columns that are under way, the nearest of both first",
          "[server][chunk_loader]") {
  Land land;
  const IVec2 there{far_off.x + 1, far_off.y};  // neighbours: each column is asked for once
  land.put(0, far_off);
  land.put(1, there);
  land.step();
  land.step();
  REQUIRE(land.requests.size() == ChunkLoader::in_flight_max);
  const std::set<std::pair<int, int>> first{{land.requests[0].x, land.requests[0].y},
                                            {land.requests[1].x, land.requests[1].y}};
  CHECK(first == std::set<std::pair<int, int>>{{far_off.x, far_off.y}, {there.x, there.y}});
  land.settle();
  CHECK(land.loader.counters().requested == land.at_home + around_two);
  for (int i = 0; i < 200; ++i) land.step();  // a column is looked at in each
  CHECK(land.loader.extra_columns() == around_two);
}

TEST_CASE("ground that comes when nobody is near any more is forgotten, and asked for anew when somebody is",
          "[server][chunk_loader]") {
  Land land;
  land.put(0, far_off);
  land.step();
  land.step();
  const auto asked = std::exchange(land.requests, {});
  REQUIRE(asked.size() == ChunkLoader::in_flight_max);
  land.put(0, {0, 0});
  land.step();

  SECTION("it comes when everybody is gone") {
    for (const IVec2 column : asked) land.answer(column);
    land.step();
    CHECK(land.loader.counters().forgotten == asked.size());
    for (const IVec2 column : asked) CHECK_FALSE(land.loaded(column));
    CHECK(land.loader.extra_columns() == land.at_home);
    land.put(0, far_off);
    land.step();
    land.step();
    CHECK(land.requests.front() == far_off);
    land.settle();
    CHECK(land.loaded(far_off));
  }
  SECTION("it comes when somebody is back: it was not asked for a second time") {
    land.put(0, far_off);
    land.step();
    land.step();
    CHECK(land.requests.empty());
    for (const IVec2 column : asked) land.answer(column);
    land.step();
    CHECK(land.loaded(far_off));
    CHECK(land.loader.counters().forgotten == 0);
  }
}

TEST_CASE("ground that nobody asked for, or that comes twice, is dropped and counted",
          "[server][chunk_loader]") {
  Land land;
  land.answer({90, 90});
  CHECK(land.loader.counters().unexpected == 1);
  land.put(0, far_off);
  land.step();
  land.step();
  land.answer(far_off);
  land.answer(far_off);
  CHECK(land.loader.counters().unexpected == 2);
  land.step();
  CHECK(land.loaded(far_off));
}

TEST_CASE("who comes back to ground that was dropped behind him gets it again", "[server][chunk_loader]") {
  Land land(1);
  land.put(0, far_off);
  land.step();
  land.settle();
  REQUIRE(land.loaded(far_off));
  // He goes where nothing comes, so that he is settled nowhere else, until all behind him is gone.
  land.put(0, {far_off.x + 100, far_off.y});
  for (int i = 0; i < 400 && land.loaded(far_off); ++i) land.step();
  REQUIRE_FALSE(land.loaded(far_off));
  land.put(0, far_off);
  land.step();
  for (const IVec2 column : std::exchange(land.requests, {})) land.answer(column);  // of where he was
  land.step();
  land.settle();
  for (int dx = -ChunkLoader::want_radius; dx <= ChunkLoader::want_radius; ++dx)
    for (int dy = -ChunkLoader::want_radius; dy <= ChunkLoader::want_radius; ++dy)
      CHECK(land.loaded({far_off.x + dx, far_off.y + dy}));
}

TEST_CASE("ground that nobody has been near is dropped, a column a tick, but for edited ones",
          "[server][chunk_loader]") {
  Land land;
  land.put(0, far_off);
  land.step();
  land.settle();
  REQUIRE(land.loader.extra_columns() == land.at_home + around);
  const std::vector<BlockEdit> edits{
      {{chunk_size * far_off.x + 3, chunk_size * far_off.y + 3, 50}, BlockId::stone}};
  TickInput input;
  input.edits = edits;
  land.world.step(input);
  REQUIRE(land.world.column_edited(far_off.x, far_off.y));
  land.put(0, {0, 0});
  for (int i = 0; i < 200; ++i) {
    const std::size_t before = land.dropped_in_all;
    land.step();
    CHECK(land.dropped_in_all - before <= column_chunks);
  }
  CHECK(land.loader.extra_columns() == land.at_home + 1);
  CHECK(land.loaded(far_off));
  CHECK(land.dropped_in_all == (around - 1) * land.world.columns().count());
}

TEST_CASE("who flies on for ever leaves no more ground behind than is dropped", "[server][chunk_loader]") {
  Land land(1, TerrainKind::empty);
  std::size_t most = 0;
  for (int i = 0; i < 1500; ++i) {
    // Past as much ground as can come.
    if (i % 8 == 0) land.put(0, {60 + i, 40});
    land.step();
    for (const IVec2 column : std::exchange(land.requests, {})) land.answer(column);
    most = std::max(most, land.loader.extra_columns());
  }
  CHECK(land.loader.counters().requested > 8000);
  // From there on twice as many go as can come.
  CHECK(most < 256 * ChunkLoader::drops_max);
  CHECK(land.dropped_in_all > 5000 * land.world.columns().count());
}

TEST_CASE("edited ground goes when a store has said that it holds it, and not before",
          "[server][chunk_loader]") {
  Land land;
  land.put(0, far_off);
  land.step();
  land.settle();
  const std::vector<BlockEdit> edits{
      {{chunk_size * far_off.x + 3, chunk_size * far_off.y + 3, 50}, BlockId::brick}};
  TickInput input;
  input.edits = edits;
  land.world.step(input);
  const std::uint32_t edited_at = number(land.world.tick());
  land.loader.note_edits(land.world.applied_edits(), edited_at);
  land.put(0, {0, 0});
  land.loader.note_saved(edited_at - 1);
  for (int i = 0; i < 200; ++i) land.step();
  REQUIRE(land.loaded(far_off));
  land.loader.note_saved(edited_at);
  for (int i = 0; i < 200; ++i) land.step();
  CHECK_FALSE(land.loaded(far_off));
  CHECK(land.loader.extra_columns() == land.at_home);
}

TEST_CASE("what is told of kept ground is told a part at a time, and once in a world",
          "[server][chunk_loader]") {
  Land land(1);
  const auto built = [&](IVec2 column) {
    GroundColumn made = land.make(column);
    for (std::size_t i = 0; i < 5000; ++i) {
      const auto at = static_cast<std::int32_t>(i);
      made.changes.push_back({IVec3{chunk_size * column.x + at % chunk_size,
                                    chunk_size * column.y + at / chunk_size % chunk_size, 30 + at / 256},
                              BlockId::air, BlockId::brick, EntityId{0}});
    }
    return made;
  };
  const auto come = [&](IVec2 where) {
    std::size_t told = 0;
    std::set<std::pair<int, int>> asked;
    land.put(0, where);
    land.step();
    for (int i = 0; i < 400; ++i) {
      for (const IVec2 column : std::exchange(land.requests, {})) {
        CHECK(asked.insert({column.x, column.y}).second);  // none twice, though some wait
        GroundColumn made = built(column);
        land.loader.take({&made, 1});
      }
      land.step();
      told += land.loader.entering_changes().size();
      CHECK(land.loader.entering_changes().size() <= ChunkLoader::entering_changes_max);
    }
    CHECK(land.loaded(where));
    return told;
  };
  CHECK(come(far_off) == 5000 * around);
  come({0, 0});
  REQUIRE_FALSE(land.loaded(far_off));
  CHECK(come(far_off) == 0);
}

}  // namespace ashlar::server
