#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "protocol/decode.h"
#include "protocol/schema/server_message_generated.h"
#include "protocol/sector_motion.h"
#include "protocol/snapshot_writer.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "world/math/random.h"

using namespace ashlar;
using test::AlignedBytes;
using test::part_of;

namespace {

EntityRecord some_entity(Rng& rng, std::uint32_t slot) {
  EntityRecord e;
  e.id = make_entity_id(slot, 1 + rng.below(4095));
  e.x = static_cast<std::uint16_t>(rng.below(cell_steps));
  e.y = static_cast<std::uint16_t>(rng.below(cell_steps));
  e.z = static_cast<std::uint16_t>(rng.below(cell_steps));
  e.kind = static_cast<EntityKind>(rng.below(256));
  e.yaw = static_cast<std::uint8_t>(rng.next_u32());
  e.pitch = static_cast<std::int8_t>(static_cast<int>(rng.below(129)) - 64);
  e.health = static_cast<std::uint8_t>(rng.next_u32());
  e.state = static_cast<std::uint8_t>(rng.next_u32());
  e.flags = static_cast<std::uint8_t>(rng.next_u32());
  return e;
}

OwnPlayer some_own(Rng& rng) {
  OwnPlayer own;
  const auto vec = [&] {
    DVec3 v;
    v.x = rng.between(-1000, 1000);
    v.y = rng.between(-1000, 1000);
    v.z = rng.between(-1000, 1000);
    return v;
  };
  own.body.position_m = vec();
  own.body.velocity_mps = vec();
  own.body.recovery_velocity_mps = vec();
  own.body.recovery_target_m = vec();
  own.body.last_free_m = vec();
  own.body.eye_offset_m = rng.between(-1, 1);
  own.body.grounded = 1;
  own.body.stuck_ticks = 200;
  own.body.noclip = 1;
  own.id = make_entity_id(7, 9);
  own.health = 77;
  return own;
}

Mover some_mover(Rng& rng) {
  Mover m;
  m.sector = rng.below(65536);
  m.plane = static_cast<Plane>(rng.below(2));
  m.motion = static_cast<Motion>(rng.below(motion_count));
  m.phase = static_cast<MotionPhase>(rng.below(5));
  m.resume = static_cast<MotionPhase>(rng.below(5));
  m.crushes = static_cast<std::uint8_t>(rng.below(2));
  m.slows = static_cast<std::uint8_t>(rng.below(2));
  m.pressed = static_cast<std::uint8_t>(rng.below(2));
  m.low_m = rng.between(-100, 100);
  m.high_m = rng.between(-100, 100);
  m.speed_mps = rng.between(0.01, 20);
  m.wait_s = rng.between(0, 300);
  m.left_s = rng.between(0, 300);
  m.fresh = 0;
  return m;
}

/// Cells with their entities, owned.
struct Scene {
  std::vector<std::vector<EntityRecord>> entities;
  std::vector<CellBlock> blocks;

  Scene(Rng& rng, const std::vector<std::size_t>& counts) {
    std::uint32_t slot = 0;
    for (const std::size_t count : counts) {
      auto& list = entities.emplace_back();
      for (std::size_t i = 0; i < count; ++i) list.push_back(some_entity(rng, slot++));
      std::ranges::sort(list, {}, &EntityRecord::id);
    }
    for (std::size_t i = 0; i < entities.size(); ++i)
      blocks.push_back(
          {{static_cast<std::int16_t>(i), static_cast<std::int16_t>(-static_cast<int>(i)), 3}, entities[i]});
  }
};

/// What a receiver that gets every part puts together.
struct Received {
  std::vector<AlignedBytes> messages;
  std::map<CellCoord, std::vector<EntityRecord>> cells;
  std::map<CellCoord, EntityId> told_to;  // the last id of the ranges told, which follow one another
  std::optional<OwnPlayer> own;
  std::vector<WireHeights> heights;
  std::vector<WireMotion> motions;
};

/// Zeros behind a part's blocks, which are the last of its message. Only where another part has what did not
/// fit are they held to be few.
void check_padding(const AlignedBytes& message, const SnapshotPart& part, bool more_blocks) {
  const auto blocks = part.blocks.bytes();
  const auto behind =
      message.span().subspan(static_cast<std::size_t>(blocks.data() - message.span().data()) + blocks.size());
  for (const std::uint8_t byte : behind) REQUIRE(byte == 0);
  if (more_blocks) REQUIRE(behind.size() < block_bytes(1));
}

Received receive(SnapshotWriter& writer, const SnapshotPlan& plan, std::uint32_t tick, bool with_own = true) {
  Received out;
  for (std::size_t p = 0; p < plan.parts; ++p) {
    out.messages.push_back(part_of(writer, p));
    const AlignedBytes& bytes = out.messages.back();
    REQUIRE(bytes.size() <= unreliable_bytes_max);
    if (p + 1 < plan.parts) REQUIRE(bytes.size() == unreliable_bytes_max);
    const auto message = decode_server_message(bytes.span());
    REQUIRE(message.has_value());
    const SnapshotPart& part = std::get<SnapshotPart>(*message);
    REQUIRE(part.tick == tick);
    REQUIRE(part.part == p);
    REQUIRE(part.part_count == plan.parts);
    REQUIRE(part.own.has_value() == (p == 0 && with_own));
    if (part.own.has_value()) out.own = part.own;
    check_padding(bytes, part, p + 1 < plan.parts && part.sector_motions.empty());
    for (const CellBlock& block : part.blocks) {
      auto& list = out.cells[block.cell];
      list.insert(list.end(), block.entities.begin(), block.entities.end());
      const auto [before, is_first] = out.told_to.try_emplace(block.cell, block.last);
      REQUIRE(block.first ==
              (is_first ? EntityId{0} : EntityId{static_cast<std::uint32_t>(before->second) + 1}));
      before->second = block.last;
    }
    out.heights.insert(out.heights.end(), part.sector_heights.begin(), part.sector_heights.end());
    out.motions.insert(out.motions.end(), part.sector_motions.begin(), part.sector_motions.end());
  }
  return out;
}

/// What the own player takes of part 0, in records.
constexpr std::size_t own_records = 9;

bool same(DVec3 a, DVec3 b) { return a == b; }

}  // namespace

TEST_CASE("a snapshot's parts hold as much as there is room for, whatever the crowd",
          "[protocol][snapshot]") {
  const std::uint64_t seed = GENERATE(range<std::uint64_t>(1, 60));
  CAPTURE(seed);
  Rng rng{seed};
  std::vector<std::size_t> counts(rng.below(40));
  for (auto& c : counts) c = rng.below(8) == 0 ? rng.below(300) : rng.below(20);
  const Scene scene(rng, counts);
  const OwnPlayer own = some_own(rng);
  SnapshotHead head;
  head.tick = 1000 + static_cast<std::uint32_t>(seed);
  head.own = &own;
  SnapshotWriter writer;
  const std::size_t parts_max = 1 + rng.below(snapshot_parts_max);
  const SnapshotPlan plan = writer.begin(head, scene.blocks, {}, parts_max);
  REQUIRE(plan.parts >= 1);
  const Received got = receive(writer, plan, head.tick);
  std::size_t records = 0;
  for (std::size_t i = 0; i < plan.blocks_taken; ++i) {
    REQUIRE(got.cells.at(scene.blocks[i].cell) == scene.entities[i]);
    REQUIRE(got.told_to.at(scene.blocks[i].cell) == entity_id_max);
    records += 1 + scene.entities[i].size();
  }
  if (plan.blocks_taken == scene.blocks.size()) return;
  // The first that did not travel whole did as far as the plan says, and no part is left half empty.
  REQUIRE(plan.parts == parts_max);
  const auto& cut = scene.entities[plan.blocks_taken];
  const CellCoord cell = scene.blocks[plan.blocks_taken].cell;
  const auto end = std::ranges::lower_bound(cut, plan.resume, {}, &EntityRecord::id);
  const std::vector<EntityRecord> told(cut.begin(), end);
  if (plan.resume > EntityId{0}) REQUIRE(got.cells.at(cell) == told);
  REQUIRE(got.cells.size() == plan.blocks_taken + (plan.resume > EntityId{0} ? 1 : 0));
  records += told.size();
  REQUIRE(records + own_records >= plan.parts * snapshot_part_records_min);
}

TEST_CASE("a cell with more than a snapshot holds is told as far as there is room", "[protocol][snapshot]") {
  Rng rng{8};
  const Scene scene(rng, {3000, 5});
  SnapshotHead head;
  head.tick = 1;
  SnapshotWriter writer;
  const SnapshotPlan plan = writer.begin(head, scene.blocks, {}, 16);
  CHECK(plan.blocks_taken == 0);
  CHECK(plan.parts == 16);
  const Received got = receive(writer, plan, 1, false);
  const std::size_t told = got.cells.at(scene.blocks[0].cell).size();
  CHECK(told >= 16 * snapshot_part_records_min);
  CHECK(told < 3000);
  CHECK(scene.entities[0][told - 1].id < plan.resume);
  CHECK(scene.entities[0][told].id >= plan.resume);
}

TEST_CASE("the own player travels to the last bit", "[protocol][snapshot]") {
  Rng rng{2};
  for (int i = 0; i < 100; ++i) {
    const OwnPlayer own = some_own(rng);
    SnapshotHead head;
    head.tick = 5;
    head.applied_tick = 4;
    head.world = 3;
    head.input_ahead = -2;
    head.own = &own;
    SnapshotWriter writer;
    const SnapshotPlan plan = writer.begin(head, {}, {}, 1);
    const AlignedBytes message_bytes = part_of(writer, 0);
    const auto message = decode_server_message(message_bytes.span());
    REQUIRE(message.has_value());
    const SnapshotPart& part = std::get<SnapshotPart>(*message);
    CHECK(plan.parts == 1);
    CHECK(part.applied_tick == 4);
    CHECK(part.world == 3);
    CHECK(part.input_ahead == -2);
    REQUIRE(part.own.has_value());
    const Body& a = part.own->body;
    const Body& b = own.body;
    CHECK(same(a.position_m, b.position_m));
    CHECK(same(a.velocity_mps, b.velocity_mps));
    CHECK(same(a.recovery_velocity_mps, b.recovery_velocity_mps));
    CHECK(same(a.recovery_target_m, b.recovery_target_m));
    CHECK(same(a.last_free_m, b.last_free_m));
    CHECK(a.eye_offset_m == b.eye_offset_m);
    CHECK(a.grounded == b.grounded);
    CHECK(a.stuck_ticks == b.stuck_ticks);
    CHECK(a.noclip == b.noclip);
    CHECK(part.own->id == own.id);
    CHECK(part.own->health == own.health);
  }
}

TEST_CASE("motions travel to the last bit, whatever else is told", "[protocol][snapshot]") {
  const std::uint64_t seed = GENERATE(range<std::uint64_t>(1, 30));
  CAPTURE(seed);
  Rng rng{seed};
  const OwnPlayer own = some_own(rng);
  std::vector<Mover> movers(rng.below(snapshot_motions_max + 1));
  std::vector<WireMotion> motions;
  for (Mover& m : movers) {
    m = some_mover(rng);
    motions.push_back(to_wire(m, motions.size() % placed_maps_max, m.low_m + 0.1));
  }
  const std::vector<WireHeights> heights(rng.below(snapshot_sector_heights_max + 1));
  const HeightBlock run{0, 0, heights};
  std::vector<std::size_t> counts(rng.below(20));
  for (auto& c : counts) c = rng.below(80);
  const Scene scene(rng, counts);
  SnapshotHead head;
  head.tick = 7;
  head.own = &own;
  SnapshotWriter writer;
  const SnapshotPlan plan = writer.begin(head, scene.blocks, std::span(&run, 1), snapshot_parts_max, motions);
  const Received got = receive(writer, plan, 7);
  CHECK(plan.blocks_taken == scene.blocks.size());
  REQUIRE(got.motions.size() == movers.size());
  for (std::size_t i = 0; i < movers.size(); ++i) {
    CHECK(mover_of(got.motions[i]) == movers[i]);
    CHECK(got.motions[i].map == i % placed_maps_max);
    CHECK(got.motions[i].height_m == movers[i].low_m + 0.1);
  }
}

TEST_CASE("a motion with a wrong value is refused", "[protocol][snapshot]") {
  const auto accepted = [](auto&& change) {
    Rng rng{9};
    WireMotion motion = to_wire(some_mover(rng), 1, 2.5);
    change(motion);
    SnapshotWriter writer;
    writer.begin({}, {}, {}, 1, std::span(&motion, 1));
    const AlignedBytes message_bytes = part_of(writer, 0);
    return decode_server_message(message_bytes.span()).has_value();
  };
  CHECK(accepted([](WireMotion&) {}));
  CHECK_FALSE(accepted([](WireMotion& m) { m.map = placed_maps_max; }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.plane = 2; }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.motion = motion_count; }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.phase = 5; }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.resume = 5; }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.height_m = std::nan(""); }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.height_m = 1e6; }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.low_m = 1e300; }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.high_m = std::nan(""); }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.speed_mps = 0; }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.speed_mps = -1; }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.wait_s = -1; }));
  CHECK_FALSE(accepted([](WireMotion& m) { m.left_s = std::nan(""); }));
}

TEST_CASE("part 0 has room for the own player, all heights and the fullest rest", "[protocol][snapshot]") {
  Rng rng{3};
  const OwnPlayer own = some_own(rng);
  std::vector<WireHeights> heights;
  for (std::size_t i = 0; i < snapshot_sector_heights_max; ++i)
    heights.push_back(quantise_heights({static_cast<double>(i) / 32, 10 + static_cast<double>(i)}));
  std::vector<HeightBlock> runs;
  for (std::size_t r = 0; r < snapshot_sector_runs_max; ++r)
    runs.push_back({static_cast<std::uint16_t>(r % placed_maps_max), static_cast<std::uint16_t>(100 * r),
                    std::span(heights).subspan(r * 6, 6)});
  const Scene scene(rng, std::vector<std::size_t>(30, 6));
  SnapshotHead head;
  head.tick = 9;
  head.own = &own;
  SnapshotWriter writer;
  const SnapshotPlan plan = writer.begin(head, scene.blocks, runs, snapshot_parts_max);
  CHECK(plan.blocks_taken == scene.blocks.size());
  const Received got = receive(writer, plan, 9);
  REQUIRE(got.heights.size() == heights.size());
  for (std::size_t i = 0; i < heights.size(); ++i) {
    CHECK(got.heights[i].floor == heights[i].floor);
    CHECK(got.heights[i].ceiling == heights[i].ceiling);
  }
}

TEST_CASE("a budget of parts is kept and what found no room is told", "[protocol][snapshot]") {
  Rng rng{4};
  const Scene scene(rng, {10, 200, 5, 60, 60});
  SnapshotHead head;
  head.tick = 1;
  SnapshotWriter writer;
  for (std::size_t budget = 1; budget <= 8; ++budget) {
    const SnapshotPlan plan = writer.begin(head, scene.blocks, {}, budget);
    CHECK(plan.parts <= budget);
    CHECK(plan.blocks_taken <= scene.blocks.size());
    if (budget == 1) CHECK(plan.blocks_taken == 1);
    if (budget == 1) CHECK(plan.resume > EntityId{0});  // the second has begun
    if (budget == 8) CHECK(plan.blocks_taken == scene.blocks.size());
  }
}

TEST_CASE("an empty cell is told, too", "[protocol][snapshot]") {
  const CellBlock empty{{1, 2, 3}, {}};
  SnapshotWriter writer;
  SnapshotHead head;
  head.tick = 1;
  const SnapshotPlan plan = writer.begin(head, std::span(&empty, 1), {}, 1);
  CHECK(plan.blocks_taken == 1);
  const AlignedBytes message_bytes = part_of(writer, 0);
  const auto message = decode_server_message(message_bytes.span());
  REQUIRE(message.has_value());
  const SnapshotPart& part = std::get<SnapshotPart>(*message);
  REQUIRE(part.blocks.bytes().size() == block_bytes(0));
  const CellBlock told = *part.blocks.begin();
  CHECK(told.cell == CellCoord{1, 2, 3});
  CHECK(told.entities.empty());
  CHECK(told.first == EntityId{0});
  CHECK(told.last == entity_id_max);
  CHECK_FALSE(part.own.has_value());
}

TEST_CASE("snapshots are refused when cut short or out of range", "[protocol][snapshot]") {
  Rng rng{5};
  const Scene scene(rng, {3, 2});
  const OwnPlayer own = some_own(rng);
  const std::vector<WireHeights> heights(5);
  const HeightBlock run{1, 2, heights};
  const WireMotion motion = to_wire(some_mover(rng), 1, 2.5);
  SnapshotHead head;
  head.tick = 1;
  head.own = &own;
  SnapshotWriter writer;
  writer.begin(head, scene.blocks, std::span(&run, 1), 1, std::span(&motion, 1));
  const AlignedBytes good = part_of(writer, 0);
  REQUIRE(decode_server_message(good.span()).has_value());
  for (std::size_t size = 0; size < good.size(); ++size) {
    const AlignedBytes cut(good.span().first(size));
    const auto message = decode_server_message(cut.span());
    if (message.has_value()) REQUIRE(good.size() - size < 8);
  }
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int round = 0; round < 32; ++round) {
      AlignedBytes changed(good.span());
      changed.span()[at] = static_cast<std::uint8_t>(rng.next_u32());
      const auto message = decode_server_message(changed.span());
      if (!message.has_value()) continue;
      const auto* part = std::get_if<SnapshotPart>(&*message);
      if (part == nullptr) continue;
      REQUIRE(part->part < part->part_count);
      std::size_t bytes = 0;
      for (const CellBlock& block : part->blocks) {
        bytes += block_bytes(block.entities.size());
        for (const EntityRecord& e : block.entities)
          REQUIRE((e.x < cell_steps && e.y < cell_steps && e.z < cell_steps && e.id != EntityId{}));
      }
      REQUIRE(bytes == part->blocks.bytes().size());
      if (part->own.has_value()) REQUIRE(is_finite(part->own->body.position_m));
      for (const WireMotion& m : part->sector_motions) REQUIRE(mover_sane(mover_of(m)));
      if (part->own.has_value()) REQUIRE(is_finite(part->own->body.velocity_mps));
    }
}

TEST_CASE("a snapshot with a wrong number is refused by name", "[protocol][snapshot]") {
  const auto error_of = [](auto&& change) {
    Rng rng{6};
    OwnPlayer own = some_own(rng);
    SnapshotHead head;
    head.own = &own;
    Scene scene(rng, {2});
    change(own, scene);
    SnapshotWriter writer;
    writer.begin(head, scene.blocks, {}, 1);
    const AlignedBytes message_bytes = part_of(writer, 0);
    const auto message = decode_server_message(message_bytes.span());
    return message.has_value() ? std::string("accepted") : std::string(name(message.error()));
  };
  CHECK(error_of([](OwnPlayer&, Scene&) {}) == "accepted");
  CHECK(error_of([](OwnPlayer& o, Scene&) { o.body.position_m.x = std::nan(""); }) == "out_of_range");
  CHECK(error_of([](OwnPlayer& o, Scene&) { o.body.position_m.z = 5000; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer& o, Scene&) { o.body.velocity_mps.y = 1e300; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer& o, Scene&) { o.body.recovery_velocity_mps.y = -1e300; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer& o, Scene&) { o.body.eye_offset_m = std::nan(""); }) == "out_of_range");
  CHECK(error_of([](OwnPlayer& o, Scene&) { o.body.grounded = 2; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer& o, Scene&) { o.body.noclip = 9; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer&, Scene& s) { s.entities[0][1].x = cell_steps; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer&, Scene& s) { s.entities[0][0].pitch = 65; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer&, Scene& s) { s.entities[0][0].id = EntityId{}; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer&, Scene& s) { s.entities[0][1].id = s.entities[0][0].id; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer&, Scene& s) { std::swap(s.entities[0][0], s.entities[0][1]); }) ==
        "out_of_range");
  CHECK(error_of([](OwnPlayer&, Scene& s) { s.blocks[0].first = s.entities[0][1].id; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer&, Scene& s) { s.blocks[0].last = s.entities[0][0].id; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer&, Scene& s) { s.blocks[0].cell.z = 65; }) == "out_of_range");
  CHECK(error_of([](OwnPlayer&, Scene& s) { s.blocks[0].cell.x = 16385; }) == "out_of_range");
}

TEST_CASE("heights are kept to 1/65536 m and clamped at the edge of the number", "[protocol][snapshot]") {
  const WireHeights h = quantise_heights({-3.5, 12.25});
  CHECK(h.floor == -3 * 65536 - 32768);
  CHECK(h.ceiling == 12 * 65536 + 16384);
  CHECK(quantise_heights({-1e9, 1e9}).floor == -32767 * 65536);
  CHECK(quantise_heights({-1e9, 1e9}).ceiling == 32767 * 65536);
}
