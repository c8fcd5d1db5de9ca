#include "protocol/snapshot/packed_part.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "protocol/bit_stream.h"
#include "protocol/snapshot/height_delta.h"
#include "protocol/snapshot/own_delta.h"
#include "tests/catch.h"
#include "world/math/random.h"
#include "world/sim/tick_limits.h"

using namespace ashlar;

namespace {

PartHead some_head(Rng& rng) {
  PartHead head;
  head.tick = 300 + rng.next_u32() / 2;
  head.applied_tick = rng.below(3) == 0 ? 0 : head.tick - rng.below(300) + 5;
  head.input_ahead = static_cast<std::int8_t>(rng.next_u32());
  head.world = static_cast<std::uint8_t>(rng.next_u32());
  head.epoch = static_cast<std::uint8_t>(1 + rng.below(255));
  head.part_count = static_cast<std::uint8_t>(1 + rng.below(32));
  head.part = static_cast<std::uint8_t>(rng.below(head.part_count));
  return head;
}

WireMotion some_motion() {
  WireMotion m;
  m.height_m = 1.5, m.low_m = -2, m.high_m = 4.25, m.speed_mps = 2;
  m.sector = 700, m.map = 3, m.plane = 1;
  return m;
}

struct Written {
  PackedPartWriter writer;
  std::vector<PackedEntry> entries;
  std::vector<std::vector<std::uint8_t>> bytes;
};

void add_something(Rng& rng, Written& out) {
  auto& bytes = out.bytes.emplace_back(rng.below(200));
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(rng.next_u32());
  PackedEntry e;
  e.item = static_cast<PackedItem>(1 + rng.below(9));
  e.number = static_cast<std::uint16_t>(rng.next_u32() >> rng.below(16));
  e.age = rng.below(3);
  e.bytes = bytes;
  bool fits = false;
  switch (e.item) {
    case PackedItem::blocks: fits = out.writer.add_block(e.number, e.age, bytes); break;
    case PackedItem::gone: fits = out.writer.add_gone(e.number); break;
    case PackedItem::own:
    case PackedItem::own_foreseen:
      fits = out.writer.add_own(e.age, bytes, e.item == PackedItem::own_foreseen);
      break;
    case PackedItem::heights:
      e.number %= 1024, e.map = static_cast<std::uint8_t>(rng.below(placed_maps_max));
      fits = out.writer.add_heights(e.map, e.number, e.age, bytes);
      break;
    case PackedItem::motion: fits = out.writer.add_motion(some_motion()); break;
    case PackedItem::fields:
      e.to = rng.below(2) == 0 ? FieldAudience::owner : FieldAudience::team, e.age = 0;
      fits = out.writer.add_fields(e.to, e.number, bytes);
      break;
    case PackedItem::cues: fits = out.writer.add_cues(bytes), e.age = 0; break;
    case PackedItem::moved:
      e.id = EntityId{rng.next_u32() | 1u};
      fits = out.writer.add_moved({e.id, e.number});
      break;
  }
  if (fits) out.entries.push_back(e);
}

}  // namespace

TEST_CASE("a packed part's items come back in their order", "[protocol][packed]") {
  Rng rng = rng_for(84, 0);
  for (int round = 0; round < 500; ++round) {
    const PartHead head = some_head(rng);
    Written written;
    written.writer.begin(head);
    for (std::uint32_t i = rng.below(60); i-- > 0;) add_something(rng, written);
    REQUIRE(written.writer.bytes().size() <= unreliable_bytes_max);
    REQUIRE(is_packed_part(written.writer.bytes()));
    auto reader = PackedPartReader::open(written.writer.bytes());
    REQUIRE(reader);
    CHECK(reader->head().tick == head.tick);
    CHECK(reader->head().applied_tick == head.applied_tick);
    CHECK(reader->head().input_ahead == head.input_ahead);
    CHECK(reader->head().world == head.world);
    CHECK(reader->head().epoch == head.epoch);
    CHECK(reader->head().part == head.part);
    CHECK(reader->head().part_count == head.part_count);
    for (const PackedEntry& e : written.entries) {
      const auto got = reader->next();
      REQUIRE(got);
      REQUIRE(got->item == e.item);
      if (e.item == PackedItem::motion) {
        CHECK(got->motion.sector == 700);
        continue;
      }
      const bool own = e.item == PackedItem::own || e.item == PackedItem::own_foreseen;
      if (!own && e.item != PackedItem::cues) CHECK(got->number == e.number);
      CHECK(got->id == e.id);
      if (e.item == PackedItem::gone || e.item == PackedItem::moved) continue;
      CHECK(got->age == e.age);
      CHECK(got->to == e.to);
      REQUIRE(std::ranges::equal(got->bytes, e.bytes));
    }
    CHECK_FALSE(reader->next());
    CHECK_FALSE(reader->failed());
  }
}

TEST_CASE("a packed part that was cut or changed is read within its bytes", "[protocol][packed]") {
  Rng rng = rng_for(85, 0);
  const auto walk = [](std::span<const std::uint8_t> bytes) {
    const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
    auto reader = PackedPartReader::open(exact);
    if (!reader) return;
    int items = 0;
    while (reader->next()) REQUIRE(++items <= 2000);
  };
  for (int round = 0; round < 100; ++round) {
    Written written;
    written.writer.begin(some_head(rng));
    for (int i = 0; i < 20; ++i) add_something(rng, written);
    const auto bytes = written.writer.bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) walk(bytes.first(size));
    for (int i = 0; i < 100; ++i) {
      std::vector<std::uint8_t> wrong(bytes.begin(), bytes.end());
      wrong[rng.below(static_cast<std::uint32_t>(wrong.size()))] = static_cast<std::uint8_t>(rng.next_u32());
      walk(wrong);
    }
  }
}

TEST_CASE("a packed part of a tick that no server counts to is refused", "[protocol][packed]") {
  PartHead head;
  PackedPartWriter writer;
  head.tick = world_ticks_max;
  writer.begin(head);
  CHECK(PackedPartReader::open(writer.bytes()));
  ++head.tick;
  writer.begin(head);
  CHECK_FALSE(PackedPartReader::open(writer.bytes()));
}

TEST_CASE("bits come back as they were put", "[protocol][packed]") {
  Rng rng = rng_for(86, 0);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint8_t> bytes(4000);
    BitWriter out(bytes);
    std::vector<std::pair<unsigned, std::uint32_t>> put;
    for (int i = 0; i < 300; ++i) {
      const unsigned kind = rng.below(34);
      const std::uint32_t v = rng.next_u32() >> rng.below(32);
      if (kind == 33)
        out.put_gamma(v / 4), put.emplace_back(kind, v / 4);
      else
        out.put(kind == 32 ? v : v & ((1u << kind) - 1), kind),
            put.emplace_back(kind, kind == 32 ? v : v & ((1u << kind) - 1));
    }
    bytes.resize(out.finish());
    BitReader in(bytes);
    for (const auto& [kind, v] : put) REQUIRE((kind == 33 ? in.get_gamma() : in.get(kind)) == v);
    CHECK(in.at_end());
    static_cast<void>(in.get(8));
    CHECK(in.failed());
  }
}

namespace {

/// A reader that takes one bit at a time.
struct BitByBit {
  std::span<const std::uint8_t> bytes;
  std::size_t at = 0;
  bool failed = false;

  std::uint32_t bit() {
    if (at >= 8 * bytes.size()) {
      failed = true;
      return 0;
    }
    const std::uint32_t b = bytes[at / 8] >> at % 8 & 1;
    ++at;
    return b;
  }
  std::uint32_t get(unsigned count) {
    std::uint32_t v = 0;
    for (unsigned i = 0; i < count; ++i) v |= bit() << i;
    return v;
  }
  std::uint32_t get_gamma() {
    unsigned zeros = 0;
    while (!failed && bit() == 0) ++zeros;
    failed = failed || zeros > 30;
    return failed ? 0 : ((1u << zeros) | get(zeros)) - 1;
  }
};

}  // namespace

TEST_CASE("foreign bits are read as one at a time, and their end is seen", "[protocol][packed][property]") {
  Rng rng = rng_for(88, 0);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint8_t> bytes(rng.below(24));
    const std::uint32_t sparse = rng.below(3);
    for (std::uint8_t& b : bytes)
      b = static_cast<std::uint8_t>(rng.below(sparse + 1) == 0 ? rng.below(256) : 0);
    BitReader in(bytes);
    BitByBit slow{bytes};
    while (!slow.failed) {
      const unsigned kind = rng.below(34);
      CAPTURE(round, kind, bytes.size(), slow.at);
      const std::uint32_t expected = kind == 33 ? slow.get_gamma() : slow.get(kind);
      const std::uint32_t got = kind == 33 ? in.get_gamma() : in.get(kind);
      REQUIRE(in.failed() == slow.failed);
      if (slow.failed) break;
      REQUIRE(got == expected);
      REQUIRE(in.bits_read() == slow.at);
      bool rest_is_zero = 8 * bytes.size() - slow.at < 8;
      for (std::size_t i = slow.at; i < 8 * bytes.size(); ++i)
        rest_is_zero = rest_is_zero && (bytes[i / 8] >> i % 8 & 1) == 0;
      REQUIRE(in.at_end() == rest_is_zero);
    }
  }
}

TEST_CASE("the own player comes back to the last bit, and is short while it runs or stands",
          "[protocol][packed]") {
  Rng rng = rng_for(87, 0);
  OwnPlayer base;
  base.id = make_entity_id(3, 7);
  base.body.position_m = {10.1, -20.2, 5};
  base.body.last_free_m = base.body.position_m;
  base.body.velocity_mps = {4.2, -4.1, 0};
  base.health = 255;
  std::array<std::uint8_t, coded_own_bytes_max> bytes{};
  const auto there_and_back = [&](const OwnPlayer& now, std::uint32_t age) {
    BitWriter out(bytes);
    encode_own(now, age == 0 ? OwnPlayer{} : base, age, 60, out);
    const std::size_t size = out.finish();
    BitReader in{std::span<const std::uint8_t>(bytes).first(size)};
    OwnPlayer got;
    REQUIRE(decode_own(in, age == 0 ? OwnPlayer{} : base, age, 60, got));
    REQUIRE(in.at_end());
    REQUIRE(std::memcmp(&got.body.position_m, &now.body.position_m, sizeof(DVec3)) == 0);
    REQUIRE(got.body.velocity_mps == now.body.velocity_mps);
    REQUIRE(got.body.last_free_m == now.body.last_free_m);
    REQUIRE(got.body.recovery_target_m == now.body.recovery_target_m);
    REQUIRE(got.body.eye_offset_m == now.body.eye_offset_m);
    REQUIRE(got.body.stuck_ticks == now.body.stuck_ticks);
    REQUIRE(got.id == now.id);
    REQUIRE(got.health == now.health);
    REQUIRE(got.delta_yaw == now.delta_yaw);
    return size;
  };
  OwnPlayer running = base;
  for (int tick = 0; tick < 6; ++tick) running.body.position_m += running.body.velocity_mps * (1.0 / 60);
  running.body.last_free_m = running.body.position_m;
  CHECK(there_and_back(running, 6) <= 4);
  base.body.velocity_mps = {};
  CHECK(there_and_back(base, 6) <= 3);
  for (int round = 0; round < 2000; ++round) {
    OwnPlayer any = base;
    const auto vec = [&] {
      DVec3 v;
      v.x = rng.between(-1000, 1000), v.y = rng.between(-1000, 1000), v.z = rng.between(-1000, 1000);
      return v;
    };
    if (rng.below(2) == 0) any.body.position_m = vec();
    if (rng.below(2) == 0) any.body.velocity_mps = vec();
    if (rng.below(2) == 0) any.body.last_free_m = vec();
    if (rng.below(2) == 0) any.body.recovery_target_m = vec();
    if (rng.below(2) == 0) any.body.eye_offset_m = -any.body.eye_offset_m;
    any.body.stuck_ticks = static_cast<std::uint8_t>(rng.next_u32());
    any.delta_yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
    CHECK(there_and_back(any, rng.below(256)) <= coded_own_bytes_max);
  }
}

TEST_CASE("heights of a slice come back", "[protocol][packed]") {
  Rng rng = rng_for(88, 0);
  std::vector<SliceHeight> out;
  for (int round = 0; round < 500; ++round) {
    std::vector<SliceHeight> in;
    for (unsigned i = 0; i < height_slice_sectors; ++i) {
      if (rng.below(3) == 0) continue;
      const auto height = [&] {
        return static_cast<std::int32_t>(rng.below(2) == 0 ? rng.next_u32()
                                                           : rng.below(4096) * 2048 - 2048 * 2048);
      };
      const std::int32_t floor = height();
      in.push_back({static_cast<std::uint8_t>(i), {floor, height()}});
    }
    std::vector<std::uint8_t> bytes(coded_slice_bytes_max);
    bytes.resize(encode_heights(in, bytes));
    REQUIRE(decode_heights(bytes, out));
    REQUIRE(out.size() == in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      CHECK(out[i].sector == in[i].sector);
      CHECK(out[i].heights.floor == in[i].heights.floor);
      CHECK(out[i].heights.ceiling == in[i].heights.ceiling);
    }
    for (std::size_t size = 0; size < bytes.size(); ++size)
      CHECK_FALSE(decode_heights(std::span(bytes).first(size), out));
  }
}
