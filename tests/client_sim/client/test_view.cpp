#include "client_sim/client/view.h"

#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

EntityRecord entity(std::uint32_t slot, std::uint16_t x) {
  EntityRecord e;
  e.id = make_entity_id(slot, 1);
  e.x = x;
  return e;
}

constexpr CellCoord here{0, 0, 0}, beside{1, 0, 0};

void tell(View& view, std::uint32_t tick, std::uint16_t number, CellCoord cell,
          const std::vector<EntityRecord>& entities) {
  view.take_block(number, cell, entities, tick);
}

/// That there was a part of a tick.
void pass(View& view, std::uint32_t tick) {
  SnapshotPart part;
  part.tick = tick;
  view.take(part);
}

}  // namespace

TEST_CASE("a newer state of a block replaces the older one and an older one is ignored",
          "[client_sim][view]") {
  View view;
  view.reset(60);
  tell(view, 10, 3, here, {entity(1, 0), entity(2, 128)});
  tell(view, 12, 3, here, {entity(1, 256), entity(3, 128)});
  tell(view, 11, 3, here, {entity(1, 999), entity(2, 999)});
  tell(view, 12, 3, here, {entity(1, 999)});
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
  REQUIRE(view.cells().size() == 1);
  CHECK(view.cells()[0].find(make_entity_id(3, 1)) != nullptr);
  CHECK(view.cells()[0].find(make_entity_id(2, 1)) == nullptr);
}

TEST_CASE("an entity that changes blocks is seen once, with its way", "[client_sim][view]") {
  View view;
  view.reset(60);
  tell(view, 10, 1, here, {entity(1, 8191)});
  tell(view, 10, 2, beside, {});
  const bool left_first = GENERATE(true, false);
  if (left_first) tell(view, 11, 1, here, {});
  tell(view, 11, 2, beside, {entity(1, 127)});
  if (!left_first) tell(view, 11, 1, here, {});
  std::vector<ViewEntity> seen;
  view.entities(seen);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].position_m.x == Approx(64 + 127.0 / 128));
  CHECK(seen[0].before_m.x == Approx(8191.0 / 128));
  CHECK(view.entity_count() == 1);
}

TEST_CASE("what was told is there until it is forgotten by name", "[client_sim][view]") {
  View view;
  view.reset(60);
  tell(view, 100, 1, here, {entity(1, 0)});
  tell(view, 100, 2, here, {entity(2, 0)});
  pass(view, 1000);
  CHECK(view.entity_count() == 2);
  view.confirm_block(here, 1, 100, 990);
  view.confirm_block(here, 2, 101, 990);  // what it holds is older than that
  std::vector<ViewEntity> seen;
  view.entities(seen);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].tick == 990);
  CHECK(seen[1].tick == 100);
  view.forget_block(here, 1);
  CHECK(view.entity_count() == 1);
  view.forget_blocks();
  CHECK(view.cells().empty());
}

TEST_CASE("who went on into a block that is not told yet is where he was until it is", "[client_sim][view]") {
  View view;
  view.reset(60);
  tell(view, 10, 1, here, {entity(1, 100), entity(2, 200)});
  tell(view, 10, 2, beside, {});
  const auto seen = [&view] {
    std::vector<ViewEntity> out;
    view.entities(out);
    return out;
  };
  const bool before_block = GENERATE(true, false);  // the part may name him before or behind the block
  const MovedEntity moved{make_entity_id(1, 1), 2};
  REQUIRE(entity(1, 0).id == moved.id);
  if (before_block) view.take_moved(moved, 12);
  tell(view, 12, 1, here, {entity(2, 210)});
  if (!before_block) view.take_moved(moved, 12);
  view.take_moved({make_entity_id(9, 1), 2}, 12);  // nobody knows him
  REQUIRE(seen().size() == 2);
  CHECK(seen()[0].position_m.x == Approx(100.0 / 128));
  CHECK(view.entity_count() == 2);
  std::size_t visited = 0;
  view.visit([&](const EntityRecord&, CellCoord, std::uint32_t) { ++visited; });
  CHECK(visited == 2);
  const int ends = GENERATE(0, 1, 2, 3, 4);
  if (ends == 0) {
    tell(view, 13, 2, beside, {entity(1, 5)});
    REQUIRE(seen().size() == 2);
    CHECK(seen()[0].position_m.x == Approx(64 + 5.0 / 128));
    view.take_moved(moved, 12);  // late, or twice
    CHECK(view.entity_count() == 2);
  } else if (ends == 1) {
    tell(view, 13, 2, beside, {});  // gone by then
    CHECK(seen().size() == 1);
  } else if (ends == 2) {
    view.forget_block(beside, 2);
    CHECK(seen().size() == 1);
  } else if (ends == 3) {
    tell(view, 13, 3, beside, {entity(1, 7)});  // he went on
    REQUIRE(seen().size() == 2);
    CHECK(seen()[0].position_m.x == Approx(64 + 7.0 / 128));
  } else {
    pass(view, 12 + 61);
    CHECK(seen().size() == 1);
  }
}

TEST_CASE("as many blocks are kept as the farthest interest sends", "[client_sim][view]") {
  View view;
  view.reset(60);
  for (std::int16_t x = 0; x < 100; ++x)
    for (std::int16_t y = 0; y < 80; ++y)
      tell(view, 5, static_cast<std::uint16_t>(x * 80 + y), {x, y, 0}, {entity(1, 0)});
  CHECK(view.cells().size() == 8000);
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
