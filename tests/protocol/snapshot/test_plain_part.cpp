// Plain snapshots: what is written is read, against any base; what is no part is refused.
#include "protocol/snapshot/plain_part.h"

#include <algorithm>
#include <cmath>

#include "protocol/decode.h"
#include "protocol/sector_motion.h"
#include "protocol/snapshot/height_delta.h"
#include "protocol/snapshot/plain_codec.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "tests/protocol/registries.h"
#include "world/math/random.h"
#include "world/sim/tick_limits.h"

using namespace ashlar;
using test::AlignedBytes;

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

std::vector<MovingRecord> some_entities(Rng& rng, std::size_t count) {
  std::vector<MovingRecord> out;
  for (std::uint32_t slot = 0; out.size() < count; slot += 1 + rng.below(9))
    out.push_back({some_entity(rng, slot), {}});
  std::ranges::sort(out, {}, [](const MovingRecord& e) { return e.record.id; });
  return out;
}

/// Some stay as they are, some change, go and come.
std::vector<MovingRecord> later(Rng& rng, const std::vector<MovingRecord>& before, std::uint32_t one_in) {
  std::vector<MovingRecord> out;
  for (MovingRecord e : before) {
    if (rng.below(4 * one_in) == 0) continue;
    if (rng.below(one_in) == 0) e.record.x = static_cast<std::uint16_t>(rng.below(cell_steps));
    out.push_back(e);
  }
  for (std::uint32_t slot = 1000; out.size() < block_entities_max && rng.below(one_in) == 0; ++slot)
    out.push_back({some_entity(rng, slot), {}});
  std::ranges::sort(out, {}, [](const MovingRecord& e) { return e.record.id; });
  return out;
}

/// A part of these blocks and an own player, as a message.
AlignedBytes part_with(const PartHead& head, const OwnPlayer* own,
                       const std::vector<std::vector<std::uint8_t>>& blocks) {
  PlainPartWriter writer;
  writer.begin(head);
  std::vector<std::uint8_t> bytes(plain_own_bytes);
  if (own != nullptr) {
    encode_plain_own(*own, bytes);
    REQUIRE(writer.add_own(0, bytes));
  }
  for (std::size_t i = 0; i < blocks.size(); ++i)
    REQUIRE(writer.add_block(static_cast<std::uint16_t>(i), 0, blocks[i]));
  writer.set_part_count(1);
  return AlignedBytes(writer.bytes());
}

std::vector<EntityRecord> records_of(const std::vector<MovingRecord>& entities) {
  std::vector<EntityRecord> out;
  for (const MovingRecord& e : entities) out.push_back(e.record);
  return out;
}

}  // namespace

TEST_CASE("a plain block against any base comes out as it went in", "[protocol][plain]") {
  const bool with_fields = GENERATE(false, true);
  const std::uint32_t one_in = GENERATE(2u, 8u, 40u);
  Rng rng{one_in};
  const ReplicationRegistry registry = with_fields ? test::some_registry(rng) : ReplicationRegistry{};
  std::size_t whole = 0, changes = 0;
  for (int round = 0; round < 200; ++round) {
    const auto most = with_fields ? block_entities_with_fields_max : block_entities_max;
    const auto before = some_entities(rng, rng.below(static_cast<std::uint32_t>(most) + 1));
    auto now = later(rng, before, one_in);
    if (now.size() > most) now.resize(most);
    std::vector<FieldValues> fields_before, fields;
    if (with_fields) {
      for (const MovingRecord& e : before)
        fields_before.push_back(test::some_values(rng, registry, e.record.kind, FieldAudience::all));
      for (const MovingRecord& e : now) {
        const auto was = std::ranges::find(before, e);
        fields.push_back(was != before.end() && rng.below(one_in) != 0
                             ? fields_before[static_cast<std::size_t>(was - before.begin())]
                             : test::some_values(rng, registry, e.record.kind, FieldAudience::all));
      }
    }
    const BlockBase base{7, before, rng.below(2) == 0, fields_before};
    const BlockContent content{{-3, 4, 1}, now, fields, &registry};
    std::vector<std::uint8_t> bytes(plain_block_bytes_max);
    const PlainCoded coded = encode_plain_block(content, base, bytes);
    REQUIRE(coded.bytes <= plain_block_bytes_max);
    bytes.resize(coded.bytes);

    PlainPartWriter writer;
    writer.begin({90, 0, 0, 1, 3, 0, 1});
    REQUIRE(writer.add_block(517, coded.age, bytes));
    writer.set_part_count(1);
    const AlignedBytes message(writer.bytes());
    const auto decoded = decode_server_message(message.span());
    REQUIRE(decoded.has_value());
    const auto& part = std::get<PlainPart>(*decoded);
    REQUIRE(part.blocks.size() == 1);
    const BlockHeader& header = part.blocks[0];
    CHECK(header.number == 517);
    CHECK(header.age == coded.age);
    DecodedBlock out;
    REQUIRE(apply_plain_block({header, part.entities, part.fields, part.removed},
                              coded.age == 0 ? BlockBase{} : base, &registry, out));
    REQUIRE(out.entities == now);
    REQUIRE(out.fields == fields);
    CHECK(out.cell == content.cell);
    if (coded.age != 0) CHECK(out.quiet == base.quiet);
    ++(coded.age == 0 ? whole : changes);
    // It costs what changed, and never more than everybody whole.
    CHECK(coded.bytes <= sizeof(BlockHeader) + now.size() * (with_fields ? 24 : 16));
  }
  CHECK(changes > 50);
  if (one_in == 2) CHECK(whole > 10);
}

TEST_CASE("a block that does not fit its base is none", "[protocol][plain]") {
  Rng rng{4};
  const auto base_entities = some_entities(rng, 3);
  const BlockBase base{1, base_entities, false, {}};
  const EntityRecord one = base_entities[1].record;
  const EntityId stranger = make_entity_id(4000, 5);
  DecodedBlock out;
  const auto fits = [&](std::span<const EntityRecord> changed, std::span<const EntityId> removed) {
    return apply_plain_block({{}, changed, {}, removed}, base, nullptr, out);
  };
  CHECK(fits({}, {}));
  CHECK(out.entities == base_entities);
  CHECK(fits({&one, 1}, {&base_entities[2].record.id, 1}));
  CHECK(out.entities.size() == 2);
  CHECK_FALSE(fits({}, {&stranger, 1}));
  CHECK_FALSE(fits({&one, 1}, {&one.id, 1}));
  const std::vector<EntityRecord> many = records_of(some_entities(rng, block_entities_max));
  CHECK_FALSE(fits(many, {}));
  const FieldBits bits{};
  CHECK_FALSE(apply_plain_block({{}, {&one, 1}, {&bits, 1}, {}}, base, nullptr, out));
}

TEST_CASE("a part takes what fits it, and says no more than fits a packet", "[protocol][plain]") {
  const std::uint64_t seed = GENERATE(range<std::uint64_t>(1, 80));
  CAPTURE(seed);
  Rng rng{seed};
  const ReplicationRegistry registry = test::some_registry(rng);
  PlainPartWriter writer;
  PartHead head;
  head.tick = 1000, head.world = 2, head.epoch = 9, head.part = 3;
  writer.begin(head);
  const OwnPlayer own = some_own(rng);
  std::vector<std::uint8_t> bytes(2000);
  if (rng.below(2) == 0) REQUIRE(writer.add_own(0, std::span(bytes).first(encode_plain_own(own, bytes))));
  std::vector<EntityRecord> told;
  std::vector<WireMotion> motions;
  std::size_t heights = 0, gone = 0, moved = 0, groups = 0, cues = 0, refused = 0;
  while (refused < 6) {
    const std::size_t before = writer.size();
    bool fits = true;
    switch (rng.below(7)) {
      case 0: {
        const auto entities = records_of(some_entities(rng, rng.below(20)));
        fits = writer.add_block(7, 0, test::whole_block({1, 2, 3}, entities));
        if (fits) told.insert(told.end(), entities.begin(), entities.end());
        break;
      }
      case 1:
        fits = writer.add_gone(static_cast<std::uint16_t>(rng.next_u32()));
        gone += fits ? 1 : 0;
        break;
      case 6:
        fits = writer.add_moved({make_entity_id(3, 4), static_cast<std::uint16_t>(moved)});
        moved += fits ? 1 : 0;
        break;
      case 2: {
        std::vector<SliceHeight> slice;
        for (std::uint8_t s = 0; s < rng.below(10); ++s) slice.push_back({s, {1, 2}});
        const std::size_t size = encode_plain_heights(slice, bytes);
        fits = writer.add_heights(1, 17, 4, std::span(bytes).first(size));
        heights += fits ? slice.size() : 0;
        break;
      }
      case 3:
        if (motions.size() == snapshot_motions_max) break;
        motions.push_back(to_wire(some_mover(rng), 1, 0.25));
        fits = writer.add_motion(motions.back());
        if (!fits) motions.pop_back();
        break;
      case 4: {
        std::vector<PrivateEntity> group(rng.below(4));
        for (std::size_t i = 0; i < group.size(); ++i)
          group[i] = {make_entity_id(static_cast<std::uint32_t>(i), 1), EntityKind::player, {1, 2, 3}};
        const std::size_t size = encode_plain_group(group, FieldAudience::owner, registry, bytes);
        fits = writer.add_fields(FieldAudience::owner, 5, std::span(bytes).first(size));
        groups += fits ? 1 : 0;
        break;
      }
      default: {
        if (cues > 0) break;
        const std::vector<Cue> list(1 + rng.below(cues_max),
                                    Cue{CueKind::hurt, 0, 0, EntityId{7}, false, {}});
        fits = writer.add_cues(std::span(bytes).first(plain_cue_bytes * encode_plain_cues(list, bytes)));
        cues = fits ? list.size() : 0;
      }
    }
    if (fits) continue;
    CHECK(writer.size() == before);
    ++refused;
  }
  writer.set_part_count(5);
  REQUIRE(writer.bytes().size() <= unreliable_bytes_max);
  const AlignedBytes message(writer.bytes());
  const auto decoded = decode_server_message(message.span());
  REQUIRE(decoded.has_value());
  const auto& part = std::get<PlainPart>(*decoded);
  CHECK(part.tick == 1000);
  CHECK(part.world == 2);
  CHECK(part.epoch == 9);
  CHECK(part.part == 3);
  CHECK(part.part_count == 5);
  CHECK(std::ranges::equal(part.entities, told));
  CHECK(part.gone.size() == gone);
  CHECK(part.moved.size() == moved);
  for (std::size_t i = 0; i < moved; ++i)
    CHECK(part.moved[i] == MovedEntity{make_entity_id(3, 4), static_cast<std::uint16_t>(i)});
  CHECK(part.heights.size() == heights);
  CHECK(part.motions.size() == motions.size());
  for (std::size_t i = 0; i < motions.size(); ++i) CHECK(mover_of(part.motions[i]) == mover_of(motions[i]));
  CHECK(part.groups.size() == groups);
  CHECK(part.cues.size() == cues);
}

TEST_CASE("the own player travels to the last bit", "[protocol][plain]") {
  Rng rng{2};
  for (int i = 0; i < 100; ++i) {
    OwnPlayer own = some_own(rng);
    own.delta_yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
    const AlignedBytes bytes = part_with({5, 4, -2, 3, 1, 0, 1}, &own, {});
    const auto message = decode_server_message(bytes.span());
    REQUIRE(message.has_value());
    const auto& part = std::get<PlainPart>(*message);
    CHECK(part.applied_tick == 4);
    CHECK(part.world == 3);
    CHECK(part.input_ahead == -2);
    REQUIRE(part.own.has_value());
    std::vector<std::uint8_t> there(plain_own_bytes), here(plain_own_bytes);
    encode_plain_own(*part.own, there);
    encode_plain_own(own, here);
    CHECK(there == here);
    CHECK(part.own->body.position_m == own.body.position_m);
    CHECK(part.own->id == own.id);
    CHECK(part.own->delta_yaw == own.delta_yaw);
  }
}

TEST_CASE("a motion with a wrong value is refused", "[protocol][plain]") {
  const auto accepted = [](auto&& change) {
    Rng rng{9};
    WireMotion motion = to_wire(some_mover(rng), 1, 2.5);
    change(motion);
    PlainPartWriter writer;
    writer.begin({});
    REQUIRE(writer.add_motion(motion));
    writer.set_part_count(1);
    const AlignedBytes message(writer.bytes());
    return decode_server_message(message.span()).has_value();
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

TEST_CASE("parts of plain snapshots are refused when cut short or out of range", "[protocol][plain]") {
  Rng rng{5};
  const OwnPlayer own = some_own(rng);
  const AlignedBytes good = part_with({1, 0, 0, 1, 1, 0, 1}, &own,
                                      {test::whole_block({1, 2, 3}, records_of(some_entities(rng, 3))),
                                       test::whole_block({-1, 2, 3}, records_of(some_entities(rng, 2)))});
  REQUIRE(decode_server_message(good.span()).has_value());
  for (std::size_t size = 0; size < good.size(); ++size) {
    const AlignedBytes cut(good.span().first(size));
    if (decode_server_message(cut.span()).has_value()) REQUIRE(good.size() - size < 8);
  }
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int round = 0; round < 32; ++round) {
      AlignedBytes changed(good.span());
      changed.span()[at] = static_cast<std::uint8_t>(rng.next_u32());
      const auto message = decode_server_message(changed.span());
      if (!message.has_value()) continue;
      const auto* part = std::get_if<PlainPart>(&*message);
      if (part == nullptr) continue;
      REQUIRE(part->part < part->part_count);
      std::size_t entities = 0, removed = 0;
      for (const BlockHeader& block : part->blocks)
        entities += block.entity_count, removed += block.removed_count;
      REQUIRE(entities == part->entities.size());
      REQUIRE(removed == part->removed.size());
      for (const EntityRecord& e : part->entities) REQUIRE(record_sane(e));
      if (part->own.has_value()) REQUIRE(own_sane(*part->own));
    }
}

TEST_CASE("a plain snapshot with a wrong number is refused by name", "[protocol][plain]") {
  struct Said {
    PartHead head{1, 0, 0, 1, 1, 0, 1};
    OwnPlayer own;
    std::vector<EntityRecord> entities;
    CellCoord cell;
    std::vector<SliceHeight> heights = std::vector(1, SliceHeight{3, {1, 2}});
    std::uint8_t map = 1;
    std::uint16_t slice = 5;
  };
  const auto error_of = [](auto&& change) {
    Rng rng{6};
    Said said;
    said.own = some_own(rng);
    said.entities = records_of(some_entities(rng, 2));
    change(said);
    PlainPartWriter writer;
    writer.begin(said.head);
    std::vector<std::uint8_t> bytes(1000);
    writer.add_own(0, std::span(bytes).first(encode_plain_own(said.own, bytes)));
    writer.add_block(7, 0, test::whole_block(said.cell, said.entities));
    writer.add_heights(said.map, said.slice, 0,
                       std::span(bytes).first(encode_plain_heights(said.heights, bytes)));
    writer.set_part_count(said.head.part_count);
    const AlignedBytes message_bytes(writer.bytes());
    const auto message = decode_server_message(message_bytes.span());
    return message.has_value() ? std::string("accepted") : std::string(name(message.error()));
  };
  CHECK(error_of([](Said&) {}) == "accepted");
  CHECK(error_of([](Said& s) { s.own.body.position_m.x = std::nan(""); }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.own.body.position_m.z = 5000; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.own.body.velocity_mps.y = 1e300; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.own.body.recovery_velocity_mps.y = -1e300; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.own.body.eye_offset_m = std::nan(""); }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.own.body.grounded = 2; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.own.body.noclip = 9; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.entities[1].x = cell_steps; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.entities[0].pitch = 65; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.entities[0].id = EntityId{}; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.entities[1].id = s.entities[0].id; }) == "out_of_range");
  CHECK(error_of([](Said& s) { std::swap(s.entities[0], s.entities[1]); }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.cell.z = 65; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.cell.x = 16385; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.head.epoch = 0; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.head.tick = world_ticks_max + 1; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.head.part = 1; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.head.part_count = 33; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.head.applied_tick = 258; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.map = placed_maps_max; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.slice = 1024; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.heights[0].sector = 64; }) == "out_of_range");
  CHECK(error_of([](Said& s) { s.heights.push_back(s.heights[0]); }) == "out_of_range");
}

TEST_CASE("heights are kept to 1/65536 m and clamped at the edge of the number", "[protocol][plain]") {
  const WireHeights h = quantise_heights({-3.5, 12.25});
  CHECK(h.floor == -3 * 65536 - 32768);
  CHECK(h.ceiling == 12 * 65536 + 16384);
  CHECK(quantise_heights({-1e9, 1e9}).floor == -32767 * 65536);
  CHECK(quantise_heights({-1e9, 1e9}).ceiling == 32767 * 65536);
}
