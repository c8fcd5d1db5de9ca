#include "client_sim/client/view.h"

#include <map>

#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

EntityRecord entity(std::uint32_t slot, std::uint16_t x) {
  EntityRecord e;
  e.id = make_entity_id(slot, 1);
  e.x = x;
  return e;
}

/// A part with its blocks' bytes: cells, and their entities one cell's after the other's.
struct OwnedPart {
  BlockArena arena;
  SnapshotPart part;
  operator const SnapshotPart&() const { return part; }
};

OwnedPart part_of(std::uint32_t tick, const std::vector<CellHeader>& cells,
                  const std::vector<EntityRecord>& entities) {
  OwnedPart out;
  std::size_t at = 0;
  for (const CellHeader& cell : cells) {
    test::add_block(out.arena, cell, std::span(entities).subspan(at, cell.entity_count));
    at += cell.entity_count;
  }
  out.part.tick = tick;
  out.part.blocks = BlockList(out.arena);
  return out;
}

}  // namespace

TEST_CASE("a newer cell replaces the older one and an older one is ignored", "[client_sim][view]") {
  View view;
  view.reset(60);
  const std::vector<CellHeader> cell{{{0, 0, 0}, 2}};
  view.take(part_of(10, cell, {entity(1, 0), entity(2, 128)}));
  view.take(part_of(12, cell, {entity(1, 256), entity(3, 128)}));
  view.take(part_of(11, cell, {entity(1, 999), entity(2, 999)}));
  std::vector<ViewEntity> seen;
  view.entities(seen);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].record.id == make_entity_id(1, 1));
  CHECK(seen[0].tick == 12);
  CHECK(seen[0].position_m.x == 2.0);
  CHECK(seen[0].before_tick == 10);
  CHECK(seen[0].before_m.x == 0.0);
  CHECK(seen[0].position_at(11).x == Approx(1.0));
  CHECK(seen[0].position_at(9).x == 0.0);
  CHECK(seen[0].position_at(20).x == 2.0);
  CHECK(seen[1].record.id == make_entity_id(3, 1));
  CHECK(seen[1].before_tick == seen[1].tick);
}

TEST_CASE("an entity that changes cells is seen once, with its way", "[client_sim][view]") {
  View view;
  view.reset(60);
  view.take(part_of(10, {{{0, 0, 0}, 1}, {{1, 0, 0}, 0}}, {entity(1, 8191)}));
  view.take(part_of(11, {{{0, 0, 0}, 0}, {{1, 0, 0}, 1}}, {entity(1, 127)}));
  std::vector<ViewEntity> seen;
  view.entities(seen);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].position_m.x == Approx(64 + 127.0 / 128));
  CHECK(seen[0].before_m.x == Approx(8191.0 / 128));
  CHECK(view.entity_count() == 1);
}

TEST_CASE("a cell in ranges of ids is put together from several ticks", "[client_sim][view]") {
  View view;
  view.reset(60);
  std::vector<ViewEntity> seen;
  const auto ids = [&] {
    view.entities(seen);
    std::vector<std::uint32_t> out;
    for (const ViewEntity& e : seen) out.push_back(slot_of(e.record.id));
    return out;
  };
  const auto range = [](std::uint32_t first, std::uint32_t last, std::uint16_t count) {
    return std::vector<CellHeader>{{{0, 0, 0}, count, make_entity_id(first, 1), make_entity_id(last, 1)}};
  };
  using Ids = std::vector<std::uint32_t>;
  view.take(part_of(10, {{{0, 0, 0}, 4}}, {entity(1, 0), entity(2, 0), entity(3, 0), entity(4, 0)}));
  // The others stay; 2 is gone and 9 has come.
  view.take(part_of(11, range(2, 3, 1), {entity(3, 128)}));
  CHECK(ids() == Ids{1, 3, 4});
  CHECK(seen[1].tick == 11);
  CHECK(seen[1].before_tick == 10);
  CHECK(seen[2].tick == 10);
  view.take(part_of(12, range(4, 20, 2), {entity(4, 128), entity(9, 0)}));
  CHECK(ids() == Ids{1, 3, 4, 9});
  // What lies over something newer is dropped, a double, too.
  view.take(part_of(11, range(3, 4, 0), {}));
  view.take(part_of(12, range(4, 20, 2), {entity(4, 999), entity(9, 0)}));
  CHECK(ids() == Ids{1, 3, 4, 9});
  CHECK(seen[2].position_m.x == 1.0);
  const ViewCell& cell = view.cells()[0];
  REQUIRE(cell.range_of(make_entity_id(9, 1)) != nullptr);
  CHECK(cell.range_of(make_entity_id(9, 1))->tick == 12);
  CHECK(cell.range_of(make_entity_id(21, 1))->tick == 10);
  view.take(part_of(13, {{{0, 0, 0}, 0}}, {}));
  CHECK(ids().empty());
  CHECK(view.cells()[0].ranges.size() == 1);
}

TEST_CASE("a server that sends shreds of a cell is bounded", "[client_sim][view]") {
  View view;
  view.reset(60);
  for (std::uint32_t i = 1; i < 4000; ++i)
    view.take(part_of(
        10, std::vector<CellHeader>{{{0, 0, 0}, 0, make_entity_id(2 * i, 1), make_entity_id(2 * i, 1)}}, {}));
  CHECK(view.cells()[0].ranges.size() <= 256);
}

TEST_CASE("where a crowd comes in turns, nothing is forgotten before its turn", "[client_sim][view]") {
  View view;
  view.reset(60);
  std::vector<ViewEntity> seen;
  view.take(part_of(100, {{{0, 0, 0}, 1}, {{1, 0, 0}, 1}}, {entity(1, 0), entity(2, 0)}));
  const auto pass = [&](std::uint32_t from, std::uint32_t to, std::uint16_t refresh) {
    for (std::uint32_t tick = from; tick < to; ++tick) {
      const std::vector<CellHeader> cells{{{1, 0, 0}, 1}};
      const std::vector<EntityRecord> entities{entity(2, 5)};
      OwnedPart owned = part_of(tick, cells, entities);
      owned.part.refresh_ticks = refresh;
      view.take(owned);
    }
    view.entities(seen);
    return seen.size();
  };
  CHECK(pass(101, 250, 50) == 2);
  CHECK(pass(250, 280, 50) == 1);
}

TEST_CASE("as many cells are kept as the farthest interest sends", "[client_sim][view]") {
  View view;
  view.reset(60);
  for (std::int16_t x = 0; x < 100; ++x) {
    std::vector<CellHeader> cells;
    for (std::int16_t y = 0; y < 80; ++y) cells.push_back({{x, y, 0}, 0});
    view.take(part_of(5, cells, {}));
  }
  CHECK(view.cells().size() == 8000);
}

TEST_CASE("what no snapshot mentions for a second is forgotten", "[client_sim][view]") {
  View view;
  view.reset(60);
  view.take(part_of(100, {{{0, 0, 0}, 1}, {{1, 0, 0}, 1}}, {entity(1, 0), entity(2, 0)}));
  for (std::uint32_t tick = 101; tick < 100 + 80; ++tick)
    view.take(part_of(tick, {{{1, 0, 0}, 1}}, {entity(2, 5)}));
  std::vector<ViewEntity> seen;
  view.entities(seen);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].record.id == make_entity_id(2, 1));
}

TEST_CASE("whatever order parts arrive in, what is known of an id is of one tick and never older",
          "[client_sim][view]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Rng rng{seed};
  View view;
  view.reset(60);
  // Every record says in x of which tick it is; each tick cuts its cells elsewhere; parts arrive shuffled,
  // some twice and some never. Ids 1 to 40 are in cell id % 5 all the time.
  struct Sent {
    std::uint32_t tick;
    std::vector<CellHeader> cells;
    std::vector<EntityRecord> entities;
  };
  std::vector<Sent> sent;
  for (std::uint32_t tick = 1; tick <= 60; ++tick)
    for (std::uint32_t c = 0; c < 5; ++c) {
      std::uint32_t first = 0;
      while (first <= 40) {
        const std::uint32_t last = rng.below(3) == 0 ? 50 : first + rng.below(20);
        Sent s{tick, {{{static_cast<std::int16_t>(c), 0, 0}, 0, EntityId{first}, EntityId{last}}}, {}};
        if (first > 0) s.cells[0].first = make_entity_id(first, 1);
        s.cells[0].last = last >= 40 ? entity_id_max : make_entity_id(last, 1);
        for (std::uint32_t id = std::max(1u, first); id <= std::min(40u, last); ++id)
          if (id % 5 == c) s.entities.push_back(entity(id, static_cast<std::uint16_t>(tick)));
        s.cells[0].entity_count = static_cast<std::uint16_t>(s.entities.size());
        sent.push_back(s);
        first = last + 1;
      }
    }
  for (std::size_t i = 0; i + 1 < sent.size(); ++i) {
    const std::size_t other = std::min(sent.size() - 1, i + rng.below(30));
    std::swap(sent[i], sent[other]);
  }
  std::vector<std::uint32_t> newest(41, 0);
  std::size_t held = 0;
  for (const Sent& s : sent) {
    if (rng.below(20) == 0) continue;
    view.take(part_of(s.tick, s.cells, s.entities));
    for (const ViewCell& cell : view.cells()) {
      for (std::size_t r = 0; r < cell.ranges.size(); ++r) {
        const ViewRange& range = cell.ranges[r];
        REQUIRE(range.first <= range.last);
        if (r > 0) REQUIRE(cell.ranges[r - 1].last < range.first);
        for (const EntityRecord& e : range.entities) {
          const std::uint32_t id = slot_of(e.id);
          ++held;
          REQUIRE(id % 5 == static_cast<std::uint32_t>(cell.cell.x));
          REQUIRE(e.x == range.tick);
          REQUIRE(range.tick >= newest[id]);
          newest[id] = range.tick;
        }
      }
    }
  }
  CHECK(held > 1000);
}

TEST_CASE("sector heights are kept by map and sector, the newest wins", "[client_sim][view]") {
  View view;
  view.reset(60);
  SnapshotPart part;
  const std::vector<SectorRun> runs{{1, 5, 2}, {0, 0, 1}};
  std::vector<WireHeights> heights{{10, 20}, {30, 40}, {50, 60}};
  part.sector_runs = runs;
  part.sector_heights = heights;
  part.tick = 7;
  view.take(part);
  REQUIRE(view.sectors(1).size() == 7);
  CHECK(view.sectors(1)[4].tick == 0);
  CHECK(view.sectors(1)[5].heights.floor == 10);
  CHECK(view.sectors(1)[6].heights.ceiling == 40);
  CHECK(view.sectors(0)[0].heights.floor == 50);
  heights[0].floor = 99;
  part.tick = 6;
  view.take(part);
  CHECK(view.sectors(1)[5].heights.floor == 10);
  part.tick = 8;
  view.take(part);
  CHECK(view.sectors(1)[5].heights.floor == 99);
  CHECK(view.sectors(placed_maps_max).empty());
}
