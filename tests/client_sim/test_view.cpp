#include "client_sim/view.h"

#include <map>

#include "tests/catch.h"
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

SnapshotPart part_of(std::uint32_t tick, const std::vector<CellHeader>& cells,
                     const std::vector<EntityRecord>& entities) {
  SnapshotPart part;
  part.tick = tick;
  part.cells = cells;
  part.entities = entities;
  return part;
}

}  // namespace

TEST_CASE("a newer cell replaces the older one and an older one is ignored", "[client_sim][view]") {
  View view;
  view.reset(60);
  const std::vector<CellHeader> cell{{{0, 0, 0}, 2, 0, 1}};
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
  view.take(part_of(10, {{{0, 0, 0}, 1, 0, 1}, {{1, 0, 0}, 0, 0, 1}}, {entity(1, 8191)}));
  view.take(part_of(11, {{{0, 0, 0}, 0, 0, 1}, {{1, 0, 0}, 1, 0, 1}}, {entity(1, 127)}));
  std::vector<ViewEntity> seen;
  view.entities(seen);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].position_m.x == Approx(64 + 127.0 / 128));
  CHECK(seen[0].before_m.x == Approx(8191.0 / 128));
  CHECK(view.entity_count() == 1);
}

TEST_CASE("a cell in pieces counts only when all pieces of one tick are there", "[client_sim][view]") {
  View view;
  view.reset(60);
  std::vector<ViewEntity> seen;
  view.take(part_of(10, {{{0, 0, 0}, 1, 0, 2}}, {entity(1, 0)}));
  view.entities(seen);
  CHECK(seen.empty());
  view.take(part_of(11, {{{0, 0, 0}, 1, 1, 2}}, {entity(2, 0)}));  // another tick: does not complete it
  view.entities(seen);
  CHECK(seen.empty());
  view.take(part_of(10, {{{0, 0, 0}, 1, 1, 2}}, {entity(2, 0)}));  // overtaken
  view.entities(seen);
  CHECK(seen.empty());
  view.take(part_of(11, {{{0, 0, 0}, 1, 1, 2}}, {entity(2, 0)}));  // a double
  view.entities(seen);
  CHECK(seen.empty());
  view.take(part_of(11, {{{0, 0, 0}, 1, 0, 2}}, {entity(1, 0)}));
  view.entities(seen);
  CHECK(seen.size() == 2);
}

TEST_CASE("what no snapshot mentions for a second is forgotten", "[client_sim][view]") {
  View view;
  view.reset(60);
  view.take(part_of(100, {{{0, 0, 0}, 1, 0, 1}, {{1, 0, 0}, 1, 0, 1}}, {entity(1, 0), entity(2, 0)}));
  for (std::uint32_t tick = 101; tick < 100 + 80; ++tick)
    view.take(part_of(tick, {{{1, 0, 0}, 1, 0, 1}}, {entity(2, 5)}));
  std::vector<ViewEntity> seen;
  view.entities(seen);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].record.id == make_entity_id(2, 1));
}

TEST_CASE("whatever order parts arrive in, a cell is always that of one tick", "[client_sim][view]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Rng rng{seed};
  View view;
  view.reset(60);
  // Every record says in x of which tick it is; parts of several ticks arrive shuffled and some are lost.
  struct Sent {
    std::uint32_t tick;
    std::vector<CellHeader> cells;
    std::vector<EntityRecord> entities;
  };
  std::vector<Sent> sent;
  for (std::uint32_t tick = 1; tick <= 60; ++tick)
    for (std::int16_t c = 0; c < 5; ++c) {
      const auto pieces = static_cast<std::uint8_t>(1 + c % 3);
      for (std::uint8_t p = 0; p < pieces; ++p)
        sent.push_back(
            {tick,
             {{{c, 0, 0}, 1, p, pieces}},
             {entity(static_cast<std::uint32_t>(10 * c + p + 1), static_cast<std::uint16_t>(tick))}});
    }
  for (std::size_t i = 0; i + 1 < sent.size(); ++i) {
    const std::size_t other = std::min(sent.size() - 1, i + rng.below(30));
    std::swap(sent[i], sent[other]);
  }
  std::size_t complete = 0;
  for (const Sent& s : sent) {
    if (rng.below(20) == 0) continue;
    view.take(part_of(s.tick, s.cells, s.entities));
    for (const ViewCell& cell : view.cells()) {
      if (cell.tick == 0) continue;
      ++complete;
      REQUIRE(cell.entities.size() == static_cast<std::size_t>(1 + cell.cell.x % 3));
      for (const EntityRecord& e : cell.entities) REQUIRE(e.x == cell.tick);
    }
  }
  CHECK(complete > 1000);
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
