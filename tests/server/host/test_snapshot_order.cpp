#include "server/host/snapshot_order.h"

#include <algorithm>
#include <map>

#include "tests/catch.h"
#include "tests/slowness.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

/// Cells with people who come, go and change cells; nearest first as the cells are numbered.
struct Scene {
  explicit Scene(std::uint64_t seed, std::uint32_t people) : rng{seed} {
    for (std::uint32_t i = 1; i <= people; ++i) cell_of[make_entity_id(i, 1)] = draw();
  }

  /// The first cells are the most crowded.
  std::int16_t draw() {
    const std::uint32_t wide = 1 + rng.below(12);
    return static_cast<std::int16_t>(rng.below(wide));
  }

  void move(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      auto it = cell_of.begin();
      std::advance(it, rng.below(static_cast<std::uint32_t>(cell_of.size())));
      it->second = draw();
    }
  }

  std::span<const CellBlock> blocks() {
    for (auto& list : lists) list.clear();
    for (const auto& [id, cell] : cell_of) {
      EntityRecord e;
      e.id = id;
      lists[static_cast<std::size_t>(cell)].push_back(e);
    }
    out.clear();
    for (std::size_t i = 0; i < lists.size(); ++i)
      out.push_back({{static_cast<std::int16_t>(i % 2 == 0 ? i : -i), 0, 0}, lists[i]});
    return out;
  }

  Rng rng;
  std::map<EntityId, std::int16_t> cell_of;
  std::array<std::vector<EntityRecord>, 12> lists;
  std::vector<CellBlock> out;
};

}  // namespace

TEST_CASE("whatever the crowd, everybody is told of within the bound, and the nearest in each snapshot",
          "[server][snapshot_order]") {
  const std::uint32_t people = GENERATE(40u, 150u, 700u, 972u, 3000u);
  const std::size_t parts = GENERATE(std::size_t{4}, std::size_t{7}, std::size_t{16});
  const bool moving = GENERATE(false, true);
  if (ashlar::test::slowness > 1 && people > 1000) return;
  CAPTURE(people, parts, moving);
  Scene scene(people + parts, people);
  SnapshotWriter writer;
  SnapshotOrder order;
  SnapshotTurn turn;
  // When they were last told of in the cell that they are in, and since when they have been in it.
  std::map<EntityId, std::uint32_t> told, there;
  for (std::uint32_t tick = 1; tick <= 200; ++tick) {
    const auto before = scene.cell_of;
    if (moving) scene.move(people / 50);
    for (const auto& [id, cell] : scene.cell_of)
      if (tick == 1 || before.at(id) != cell) there[id] = tick, told[id] = tick - 1;
    const auto all = scene.blocks();
    SnapshotHead head;
    head.tick = tick;
    SnapshotPlan plan = writer.begin(head, all, {}, parts);
    std::span<const CellBlock> blocks = all;
    if (plan.blocks_taken == all.size()) {
      turn = {};
    } else {
      blocks = order.arrange(all, parts, turn);
      plan = writer.begin(head, blocks, {}, parts);
      order.advance(plan, tick, tick - 1, turn);
    }
    std::size_t records = all.size();
    for (const CellBlock& block : all) records += block.entities.size();
    const std::uint32_t bound = refresh_snapshots(records, parts);
    for (std::size_t i = 0; i < std::min(plan.blocks_taken + 1, blocks.size()); ++i)
      for (const EntityRecord& e : blocks[i].entities)
        if (i < plan.blocks_taken || e.id < plan.resume) told[e.id] = tick;
    for (const auto& [id, when] : told) {
      if (tick - when < bound) continue;
      CAPTURE(tick, bound, static_cast<std::uint32_t>(id), when, there[id]);
      FAIL("told of too late");
    }
    CHECK(turn.waited(tick) <= bound);
    if (bound == 1) REQUIRE(turn.waited(tick) == 0);
    // The nearest cell that fits into half of it is in each.
    const std::size_t half = (parts - snapshot_parts_full_of_sectors) * snapshot_part_records_min / 2;
    if (all[0].entities.size() < half)
      for (const EntityRecord& e : all[0].entities) REQUIRE(told[e.id] == tick);
  }
}

TEST_CASE("the bound is what the page says for a thousand in one place", "[server][snapshot_order]") {
  CHECK(refresh_snapshots(700, 16) == 1);
  CHECK(refresh_snapshots(1001, 16) == 4);
  CHECK(refresh_snapshots(2 * 8192, 16) == 45);
}
