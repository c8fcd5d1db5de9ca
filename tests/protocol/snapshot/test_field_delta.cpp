#include "protocol/snapshot/field_delta.h"

#include "protocol/snapshot/block_delta.h"
#include "tests/catch.h"
#include "tests/protocol/registries.h"
#include "tests/protocol/snapshot/moving_scene.h"

using namespace ashlar;
using test::changed;
using test::some_moving;
using test::some_registry;
using test::some_values;
using test::sort_by_id;

namespace {

constexpr CellCoord fields_cell{-3, 7, 1};

/// A block and what it was, with fields of all who have any for everybody.
struct FieldScene {
  std::vector<MovingRecord> base, now;
  std::vector<FieldValues> base_fields, now_fields;
  std::uint32_t age = 0;

  FieldScene(Rng& rng, const ReplicationRegistry& registry, std::uint32_t rate_hz) {
    age = rng.below(4) == 0 ? 0 : 1 + rng.below(base_age_max);
    const auto kind = [&] {
      const auto kinds = registry.kinds();
      return kinds[rng.below(static_cast<std::uint32_t>(kinds.size()))].first;
    };
    const auto count = rng.below(block_entities_with_fields_max + 1);
    for (std::uint32_t i = 0; i < count && age != 0; ++i) {
      base.push_back(some_moving(rng, i));
      base.back().record.kind = kind();
    }
    sort_by_id(base);
    for (const MovingRecord& e : base) {
      if (rng.below(6) == 0) continue;
      now.push_back(changed(rng, e, age, rate_hz));
      if (rng.below(9) != 0) now.back().record.kind = e.record.kind;
    }
    while (now.size() < block_entities_with_fields_max && rng.below(4) != 0) {
      now.push_back(some_moving(rng, 1000 + static_cast<std::uint32_t>(now.size())));
      now.back().record.kind = kind();
    }
    sort_by_id(now);
    for (const MovingRecord& e : base)
      base_fields.push_back(some_values(rng, registry, e.record.kind, FieldAudience::all));
    for (const MovingRecord& e : now) {
      now_fields.push_back(some_values(rng, registry, e.record.kind, FieldAudience::all));
      for (std::size_t i = 0; i < base.size(); ++i)
        if (base[i].record.id == e.record.id && base[i].record.kind == e.record.kind && rng.below(3) != 0)
          now_fields.back() = base_fields[i];
    }
  }
};

std::vector<std::uint8_t> coded(const FieldScene& s, const ReplicationRegistry* registry,
                                std::uint32_t rate_hz) {
  std::vector<std::uint8_t> bytes(coded_block_bytes_max);
  const BlockBase base{s.age, s.base, false, s.base_fields};
  bytes.resize(encode_block({fields_cell, s.now, s.now_fields, registry}, base, rate_hz, bytes));
  return bytes;
}

}  // namespace

TEST_CASE("added fields come back with their block, whatever a game declares",
          "[protocol][packed][field_delta]") {
  Rng rng = rng_for(141, 0);
  DecodedBlock out;
  for (int round = 0; round < 3000; ++round) {
    const ReplicationRegistry registry = some_registry(rng);
    const FieldScene scene(rng, registry, 60);
    const auto bytes = coded(scene, &registry, 60);
    CAPTURE(round, scene.age, scene.base.size(), scene.now.size());
    REQUIRE(decode_block(bytes, fields_cell, {scene.age, scene.base, false, scene.base_fields}, 60, out,
                         &registry));
    REQUIRE(out.entities == scene.now);
    if (registry.shares_fields())
      REQUIRE(out.fields == scene.now_fields);
    else
      REQUIRE(out.fields.empty());
    for (std::size_t cut = 0; cut < bytes.size(); cut += 1 + rng.below(40)) {
      const std::vector<std::uint8_t> less(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut));
      decode_block(less, fields_cell, {scene.age, scene.base, false, scene.base_fields}, 60, out, &registry);
    }
  }
}

TEST_CASE("where no kind has fields for everybody a block is the same to the bit",
          "[protocol][packed][field_delta]") {
  Rng rng = rng_for(142, 0);
  ReplicationRegistry registry;
  REQUIRE(registry.add_field(EntityKind::player, {.name = "secret", .bits = 9, .to = FieldAudience::owner}));
  REQUIRE(registry.add_kind("flag", true));
  for (int round = 0; round < 200; ++round) {
    const FieldScene scene(rng, registry, 60);
    REQUIRE(coded(scene, &registry, 60) == coded(scene, nullptr, 60));
  }
}

TEST_CASE("fields at rest cost a block a few bits, not its entities", "[protocol][packed][field_delta]") {
  ReplicationRegistry registry;
  REQUIRE(registry.add_field(EntityKind::player, {.name = "a", .bits = 32}));
  REQUIRE(registry.add_field(EntityKind::player, {.name = "b", .bits = 32}));
  CHECK_FALSE(registry.add_field(EntityKind::player, {.name = "c", .bits = 1}));  // there is no more room
  FieldScene scene = [&] {
    Rng rng = rng_for(143, 0);
    return FieldScene(rng, registry, 60);
  }();
  scene.base.clear();
  for (std::uint32_t i = 0; i < 32; ++i) {
    MovingRecord e;
    e.record.id = make_entity_id(i + 1, 1);
    scene.base.push_back(e);
  }
  scene.now = scene.base;
  scene.now_fields = scene.base_fields = std::vector<FieldValues>(32, FieldValues{1, 2});
  scene.age = 6;
  CHECK(coded(scene, &registry, 60).size() <= coded(scene, nullptr, 60).size() + 2);
  for (FieldValues& values : scene.now_fields) values = {0xffffffffu, 0xfffffff0u};
  CHECK(coded(scene, &registry, 60).size() <= coded(scene, nullptr, 60).size() + 32 * 76 / 8);
}

TEST_CASE("groups for owners and teams come back, and foreign bytes are none",
          "[protocol][packed][field_delta]") {
  Rng rng = rng_for(144, 0);
  std::vector<PrivateEntity> back;
  for (int round = 0; round < 3000; ++round) {
    const ReplicationRegistry registry = some_registry(rng);
    const FieldAudience to = rng.below(2) == 0 ? FieldAudience::owner : FieldAudience::team;
    std::vector<PrivateEntity> group;
    for (std::uint32_t i = rng.below(private_entities_max + 1); i-- > 0;) {
      const auto kinds = registry.kinds();
      const ReplicatedKind& kind = kinds[rng.below(static_cast<std::uint32_t>(kinds.size()))];
      if (!kind.has(to)) continue;
      const auto id = make_entity_id(20 - i, 1 + rng.below(4000));
      group.push_back({id, kind.first, some_values(rng, registry, kind.first, to)});
    }
    std::ranges::sort(group, {}, &PrivateEntity::id);
    std::vector<std::uint8_t> bytes(coded_group_bytes_max);
    bytes.resize(encode_group(group, to, registry, bytes));
    REQUIRE(decode_group(bytes, to, registry, back));
    REQUIRE(back == group);
    if (group.empty()) continue;
    bytes.pop_back();
    CHECK_FALSE(decode_group(bytes, to, registry, back));
    bytes[rng.below(static_cast<std::uint32_t>(bytes.size() - 1))] ^=
        static_cast<std::uint8_t>(1 + rng.below(255));
    decode_group(bytes, to, registry, back);
  }
}
