#include "protocol/snapshot/block_delta.h"

#include <array>
#include <cmath>

#include "protocol/snapshot/heading.h"
#include "tests/catch.h"
#include "tests/protocol/snapshot/moving_scene.h"

using namespace ashlar;
using test::changed;
using test::some_moving;
using test::sort_by_id;

namespace {

constexpr CellCoord cell{-3, 7, 1};

struct Pair {
  std::vector<MovingRecord> base, now;
  std::uint32_t age = 0;
  std::uint32_t tick = 1007;
};

Pair some_pair(Rng& rng, std::uint32_t rate_hz) {
  Pair out;
  out.age = rng.below(5) == 0 ? 0 : 1 + rng.below(base_age_max);
  out.tick = rng.below(3) == 0 ? rng.below(300) : 0xffffffffu - rng.below(1u << 31);
  const auto count = rng.below(block_entities_max + 1);
  for (std::uint32_t i = 0; i < count && out.age != 0; ++i) out.base.push_back(some_moving(rng, i));
  sort_by_id(out.base);
  for (const MovingRecord& e : out.base)
    if (rng.below(6) != 0) out.now.push_back(changed(rng, e, out.age, rate_hz));
  while (out.now.size() < block_entities_max && rng.below(4) != 0)
    out.now.push_back(some_moving(rng, 1000 + static_cast<std::uint32_t>(out.now.size())));
  sort_by_id(out.now);
  return out;
}

std::vector<std::uint8_t> coded(const Pair& pair, std::uint32_t rate_hz, bool quiet = false) {
  std::vector<std::uint8_t> bytes(coded_block_bytes_max);
  bytes.resize(encode_block({cell, pair.now}, {pair.age, pair.base, quiet, {}, pair.tick}, rate_hz, bytes));
  return bytes;
}

bool decode(const std::vector<std::uint8_t>& bytes, const Pair& pair, std::uint32_t rate_hz,
            DecodedBlock& out) {
  // In memory of exactly its size, so that the sanitizers see any overrun.
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  return decode_block(exact, cell, {pair.age, pair.base, false, {}, pair.tick}, rate_hz, out);
}

std::vector<MovingRecord> walkers(std::uint32_t count, std::int16_t speed) {
  std::vector<MovingRecord> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    MovingRecord e;
    e.record.id = make_entity_id(i + 1, 1);
    e.record.x = static_cast<std::uint16_t>(1000 + 90 * i);
    e.record.y = 4000;
    e.record.health = 255;
    e.velocity = {speed, static_cast<std::int16_t>(-speed), 0};
    out.push_back(e);
  }
  return out;
}

}  // namespace

TEST_CASE("a block comes back to the bit, whatever it and its base hold", "[protocol][packed][block_delta]") {
  Rng rng = rng_for(81, 0);
  DecodedBlock out;
  for (int round = 0; round < 4000; ++round) {
    const std::uint32_t rate_hz = 10 + rng.below(119);
    const Pair pair = some_pair(rng, rate_hz);
    const bool quiet = rng.below(2) == 0;
    CAPTURE(round, pair.age, pair.base.size(), pair.now.size());
    const auto bytes = coded(pair, rate_hz, quiet);
    REQUIRE(decode(bytes, pair, rate_hz, out));
    REQUIRE(out.entities == pair.now);
    REQUIRE(out.quiet == quiet);
    REQUIRE(out.cell == cell);
  }
}

TEST_CASE("the longest block there can be fits its bound", "[protocol][packed][block_delta]") {
  Rng rng = rng_for(82, 0);
  Pair pair;
  pair.age = 200;
  for (std::uint32_t i = 0; i < block_entities_max; ++i) {
    pair.base.push_back(some_moving(rng, 2 * i));
    MovingRecord e = some_moving(rng, 2 * i + 1);
    e.record.pitch = 64, e.record.health = 1, e.record.state = 1;
    e.velocity = {32767, -32768, 32767};
    pair.now.push_back(e);
  }
  sort_by_id(pair.base);
  sort_by_id(pair.now);
  CHECK(coded(pair, 60).size() <= coded_block_bytes_max);
  pair.age = 0;
  pair.base.clear();
  CHECK(coded(pair, 60).size() > coded_block_bytes_max * 9 / 10);
}

TEST_CASE("who goes on as its velocity says costs next to nothing, and so does who rests",
          "[protocol][packed][block_delta]") {
  for (const std::uint32_t age : {1u, 6u, 30u}) {
    Pair pair{walkers(40, 68), walkers(40, 68), age};
    const Foretelling by(age, 60, pair.tick);
    for (std::size_t i = 0; i < pair.now.size(); ++i) {
      EntityRecord& r = pair.now[i].record;
      r.x = static_cast<std::uint16_t>(r.x + by.steady_way(68));
      r.y = static_cast<std::uint16_t>(r.y + by.steady_way(-68));
    }
    CHECK(coded(pair, 60).size() <= 5);
    // Each a step off its way.
    for (MovingRecord& e : pair.now) ++e.record.x;
    CHECK(coded(pair, 60).size() * 8 <= pair.now.size() * 8);
  }
  const Pair resting{walkers(40, 0), walkers(40, 0), 200};
  CHECK(coded(resting, 60).size() <= 3);
}

TEST_CASE("equal blocks have equal bytes, and in memory that was used as in new one",
          "[protocol][packed][block_delta]") {
  Rng rng = rng_for(85, 0);
  for (int round = 0; round < 200; ++round) {
    const Pair pair = some_pair(rng, 60);
    std::vector<std::uint8_t> used(coded_block_bytes_max, 0xff);
    used.resize(encode_block({cell, pair.now}, {pair.age, pair.base, false, {}, pair.tick}, 60, used));
    REQUIRE(used == coded(pair, 60));
  }
}

TEST_CASE(
    "who flies on falls, and who turns while it runs on a course runs where it looks, for next to nothing",
    "[protocol][packed][block_delta]") {
  constexpr std::uint32_t age = 6;
  Pair pair{walkers(40, 90), walkers(40, 90), age};
  const Foretelling by(age, 60, pair.tick);
  for (const std::int16_t pull : {std::int16_t{20}, std::int16_t{10}, std::int16_t{0}}) {
    for (std::size_t i = 0; i < pair.now.size(); ++i) {
      MovingRecord &before = pair.base[i], &now = pair.now[i];
      now.velocity = {90, -90, by.fallen(112, pull)};
      before.velocity[2] = 112, before.record.z = 1000;
      const std::int32_t risen = pull == 0 ? by.steady_way(112) : by.mean_way(112, now.velocity[2]);
      now.record.z = static_cast<std::uint16_t>(1000 + risen);
      now.record.x = static_cast<std::uint16_t>(before.record.x + by.steady_way(90));
      now.record.y = static_cast<std::uint16_t>(before.record.y + by.steady_way(-90));
    }
    CAPTURE(pull);
    CHECK(coded(pair, 60).size() * 8 <= pair.now.size() * 2);
  }
  for (std::size_t i = 0; i < pair.now.size(); ++i) {
    MovingRecord &before = pair.base[i], &now = pair.now[i];
    before.velocity = {96, 0, 0}, now.velocity = {68, 68, 0};  // an eighth of a turn to the left
    before.record.flags = entity_flag::grounded;
    now.record = before.record, now.record.yaw = 32;
    const Velocity midway = rotated(before.velocity, 16);
    now.record.x = static_cast<std::uint16_t>(before.record.x + by.way(96, midway[0], 68));
    now.record.y = static_cast<std::uint16_t>(before.record.y + by.way(0, midway[1], 68));
  }
  CHECK(coded(pair, 60).size() * 8 <= pair.now.size() * 12);
}

TEST_CASE("who jumped, who landed and who took another course is told in a few bits",
          "[protocol][packed][block_delta]") {
  constexpr std::uint32_t age = 6;
  Pair pair{walkers(40, 0), walkers(40, 0), age};
  const Foretelling by(age, 60, pair.tick);
  for (std::size_t i = 0; i < pair.now.size(); ++i) {
    MovingRecord &before = pair.base[i], &now = pair.now[i];
    before.record.flags = entity_flag::grounded, before.velocity = {96, 0, 0}, before.record.z = 700;
    now.record = before.record, now.velocity = {96, 0, 0};
    now.record.x = static_cast<std::uint16_t>(before.record.x + by.steady_way(96));
    if (i % 4 == 1) {  // jumped 2 ticks ago
      now.velocity[2] = by.fallen(112, 20, 2), now.record.flags = 0;
      now.record.z = static_cast<std::uint16_t>(700 + risen(112, now.velocity[2], 20));
    } else if (i % 4 == 2) {  // landed
      before.velocity[2] = -60, before.record.flags = 0, before.record.z = 720;
    } else if (i % 4 == 3) {  // went left 4 ticks ago, at 60 m/s2
      now.velocity = {0, 96, 0};
      const std::int32_t held = by.held(4, by.takes(length_of(-96, 96), 960));
      now.record.x = static_cast<std::uint16_t>(before.record.x + by.way_changed(96, -96, held));
      now.record.y = static_cast<std::uint16_t>(before.record.y + by.way_changed(0, 96, held));
    }
  }
  CHECK(coded(pair, 60).size() * 8 <= pair.now.size() * 14);
  DecodedBlock out;
  REQUIRE(decode(coded(pair, 60), pair, 60, out));
  CHECK(out.entities == pair.now);
}

TEST_CASE("a block at another pace than the usual one comes back, for two bytes more",
          "[protocol][packed][block_delta]") {
  Pair pair{walkers(40, 0), walkers(40, 0), 6};
  const auto coded_at = [&](std::int32_t pace) {
    for (MovingRecord& e : pair.base) e.velocity = {static_cast<std::int16_t>(pace), 0, 0};
    const Foretelling by(6, 60, 0);
    for (std::size_t i = 0; i < pair.now.size(); ++i) {
      const LevelVelocity on = on_course(pace, 10, 0);
      const Velocity midway = rotated(pair.base[i].velocity, 5);
      pair.now[i].velocity = {on[0], on[1], 0};
      pair.now[i].record.yaw = 10;
      pair.now[i].record.x =
          static_cast<std::uint16_t>(pair.base[i].record.x + by.way(pace, midway[0], on[0]));
      pair.now[i].record.y = static_cast<std::uint16_t>(pair.base[i].record.y + by.way(0, midway[1], on[1]));
    }
    BlockContent content{cell, pair.now};
    content.pace = pace;
    std::vector<std::uint8_t> bytes(coded_block_bytes_max);
    bytes.resize(encode_block(content, {6, pair.base, false}, 60, bytes));
    DecodedBlock out;
    REQUIRE(decode(bytes, pair, 60, out));
    CHECK(out.entities == pair.now);
    return bytes.size();
  };
  CHECK(coded_at(150) <= coded_at(usual_pace_steps) + 3);
}

TEST_CASE("a block that was cut, lengthened or changed is refused or means something within bounds",
          "[protocol][packed][block_delta]") {
  Rng rng = rng_for(83, 0);
  DecodedBlock out;
  std::size_t cuts = 0, taken = 0;
  for (int round = 0; round < 300; ++round) {
    const Pair pair = some_pair(rng, 60);
    const auto bytes = coded(pair, 60);
    for (std::size_t size = 0; size < bytes.size(); ++size, ++cuts)
      // What is cut may by chance be another block: all that can be said is that it is seldom one.
      taken += decode({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, pair, 60, out);
    auto longer = bytes;
    longer.push_back(0);
    CHECK_FALSE(decode(longer, pair, 60, out));
    longer.back() = 1;
    CHECK_FALSE((decode(longer, pair, 60, out) && out.entities == pair.now));
    for (int i = 0; i < 20; ++i) {
      auto wrong = bytes;
      wrong[rng.below(static_cast<std::uint32_t>(wrong.size()))] ^=
          static_cast<std::uint8_t>(1u << rng.below(8));
      if (!decode(wrong, pair, 60, out)) continue;
      REQUIRE(out.entities.size() <= block_entities_max);
      REQUIRE(cell_in_world(out.cell));
      for (const MovingRecord& e : out.entities) {
        REQUIRE(e.record.id != EntityId{});
        REQUIRE((e.record.x < cell_steps && e.record.y < cell_steps && e.record.z < cell_steps));
        REQUIRE((e.record.pitch >= -64 && e.record.pitch <= 64));
      }
    }
  }
  CAPTURE(cuts, taken);
  CHECK(taken * 10 < cuts);
}

TEST_CASE("who would walk out of its cell is foretold at the cell's edge",
          "[protocol][packed][block_delta]") {
  CHECK(foretold_place(8190, 96, 60, 60) == cell_steps - 1);
  CHECK(foretold_place(5, -96, 60, 60) == 0);
  CHECK(foretold_place(1000, 16, 60, 60) == 1128);
  CHECK(foretold_steps(32767, 255, 1) == 32767 * 255 * 8);
  CHECK(foretold_steps(-32768, 255, 1) == -32768 * 255 * 8);
}

TEST_CASE("a velocity that is kept makes the same way however it is said to be kept",
          "[protocol][packed][block_delta][property]") {
  Rng rng = rng_for(84, 0);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t age = round < 2 ? base_age_max : rng.below(base_age_max + 1);
    const std::uint32_t rate_hz = 1 + rng.below(128);
    CAPTURE(age, rate_hz);
    const Foretelling by(age, rate_hz, 0);
    bool same = true;
    for (std::int32_t v = -32768; v <= 32767; v += 1 + static_cast<std::int32_t>(rng.below(7))) {
      const std::int32_t way = foretold_steps(static_cast<std::int16_t>(v), age, rate_hz);
      const auto moment = static_cast<std::int32_t>(rng.below(16));
      same = same && by.way(v) == way && by.way(v, v) == way && by.way(v, v, v) == way;
      same = same && by.mean_way(v, v) == way && by.way_changed(v, 0, by.held(moment, 0)) == way;
    }
    CHECK(same);
  }
}

TEST_CASE("a velocity that is kept leads to the same place by whatever ticks on the way",
          "[protocol][packed][block_delta][property]") {
  Rng rng = rng_for(86, 0);
  for (int round = 0; round < 20000; ++round) {
    const std::uint32_t rate_hz = 1 + rng.below(128), age = rng.below(base_age_max + 1);
    const std::uint32_t tick = age + (rng.below(2) == 0 ? rng.below(1000) : rng.below(0xffff0000u - age));
    const auto velocity = static_cast<std::int16_t>(rng.below(2) == 0 ? rng.below(65536) : rng.below(400));
    CAPTURE(rate_hz, age, tick, velocity);
    const auto made = static_cast<std::int32_t>(steady_steps(velocity, tick, rate_hz) -
                                                steady_steps(velocity, tick - age, rate_hz));
    REQUIRE(Foretelling(age, rate_hz, tick).steady_way(velocity) == made);
    const double exactly = 8.0 * velocity * age / rate_hz;
    REQUIRE(std::fabs(made - exactly) < 1);
    // And by floors of whole numbers, as the page has it.
    const auto floor_of = [&](std::int64_t ticks) {
      return std::floor(8.0L * velocity * static_cast<long double>(ticks) / rate_hz);
    };
    const std::int64_t rest = tick % rate_hz;
    REQUIRE(floor_of(rest) - floor_of(rest - age) == static_cast<long double>(made));
  }
}

TEST_CASE("projectiles and who has wings keep their way in the air for next to nothing",
          "[protocol][packed][block_delta]") {
  for (const EntityKind kind : {projectile_entity_kind(3), EntityKind{21}}) {
    Pair pair{walkers(40, 90), walkers(40, 90), 6};
    const Foretelling by(pair.age, 60, pair.tick);
    for (std::size_t i = 0; i < pair.now.size(); ++i) {
      MovingRecord &before = pair.base[i], &now = pair.now[i];
      before.record.kind = kind, before.velocity[2] = 50, before.record.z = 1000;
      now = before;
      now.record.x = static_cast<std::uint16_t>(before.record.x + by.steady_way(90));
      now.record.y = static_cast<std::uint16_t>(before.record.y + by.steady_way(-90));
      now.record.z = static_cast<std::uint16_t>(before.record.z + by.steady_way(50));
    }
    CAPTURE(static_cast<int>(kind));
    CHECK(coded(pair, 60).size() <= 10);
    // A step off in every direction, as a velocity in whole steps leads.
    for (MovingRecord& e : pair.now) ++e.record.x, --e.record.y, ++e.record.z;
    DecodedBlock out;
    REQUIRE(decode(coded(pair, 60), pair, 60, out));
    CHECK(out.entities == pair.now);
    if (kind == projectile_entity_kind(3)) CHECK(coded(pair, 60).size() * 8 <= pair.now.size() * 6);
  }
}

namespace {

struct CountedBits final : BlockTally {
  void frame(unsigned bits) override { all += bits; }
  void field(EntityKind, BlockField field, unsigned bits) override {
    all += bits;
    fields[static_cast<std::size_t>(field)] += bits;
  }
  void entity(EntityKind, bool whole) override { ++(whole ? wholes : changes); }
  void block(CellCoord at, std::size_t size) override { where = at, bytes += size; }
  std::size_t all = 0, bytes = 0, wholes = 0, changes = 0;
  std::array<std::size_t, block_field_count> fields{};
  CellCoord where;
};

}  // namespace

TEST_CASE("every bit of a block is told what it is for", "[protocol][packed]") {
  Rng rng{77};
  for (int round = 0; round < 300; ++round) {
    const Pair pair = some_pair(rng, 60);
    const auto bytes = coded(pair, 60);
    DecodedBlock plain, tallied;
    CountedBits tally;
    REQUIRE(decode(bytes, pair, 60, plain));
    REQUIRE(
        decode_block(bytes, cell, {pair.age, pair.base, false, {}, pair.tick}, 60, tallied, nullptr, &tally));
    REQUIRE(plain.entities == tallied.entities);
    REQUIRE(tally.bytes == bytes.size());
    REQUIRE(tally.where == cell);
    REQUIRE(tally.all == 8 * bytes.size());
    const auto is_new = [&](const MovingRecord& e) {
      return std::ranges::none_of(pair.base,
                                  [&](const MovingRecord& b) { return b.record.id == e.record.id; });
    };
    const auto fresh = static_cast<std::size_t>(std::ranges::count_if(pair.now, is_new));
    REQUIRE((tally.wholes == fresh || tally.wholes == pair.now.size()));  // the latter: told plainly
    REQUIRE(tally.wholes + tally.changes <= pair.now.size());
    REQUIRE((tally.fields[static_cast<std::size_t>(BlockField::id)] > 0) == (tally.wholes > 0));
  }
}
