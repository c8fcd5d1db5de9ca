#include "protocol/snapshot/cue_codec.h"

#include <algorithm>

#include "protocol/decode.h"
#include "protocol/snapshot/plain_codec.h"
#include "protocol/snapshot/plain_part.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "world/math/random.h"
#include "world/sim/rules.h"

using namespace ashlar;

namespace {

DVec3 some_place(Rng& rng, double extent_m) {
  DVec3 at;
  at.x = rng.between(-extent_m, extent_m);
  at.y = rng.between(-extent_m, extent_m);
  at.z = rng.between(-std::min(extent_m, world_height_m - 1), std::min(extent_m, world_height_m - 1));
  return at;
}

Cue some_cue(Rng& rng) {
  Cue cue;
  cue.kind = static_cast<CueKind>(rng.below(cue_kind_count));
  cue.detail = static_cast<std::uint8_t>(rng.next_u32());
  cue.age = rng.below(3) == 0 ? static_cast<std::uint8_t>(rng.next_u32()) : std::uint8_t{0};
  cue.placed = rng.below(2) == 0;
  if (cue.placed)
    cue.place = quantise_cue_place(some_place(rng, rng.below(2) == 0 ? 50 : world_extent_m - 1));
  if (!cue.placed || rng.below(2) == 0) cue.who = EntityId{1 + rng.below(0xfffffffe)};
  return cue;
}

std::vector<Cue> some_cues(Rng& rng) {
  std::vector<Cue> cues;
  for (std::uint32_t i = 1 + rng.below(40); i-- > 0;) {
    cues.push_back(some_cue(rng));
    if (cues.size() > 1 && rng.below(3) == 0) {
      Cue& cue = cues.back();
      const Cue& before = cues[cues.size() - 2];
      cue.kind = before.kind, cue.detail = before.detail, cue.age = before.age, cue.who = before.who;
      if (cue.who == EntityId{0} && !cue.placed) cue = before;
    }
  }
  return cues;
}

}  // namespace

TEST_CASE("cues come back as they were, as many as there is room for", "[protocol][packed][cues]") {
  Rng rng = rng_for(910, 0);
  std::array<std::uint8_t, 400> room{};
  for (int round = 0; round < 2000; ++round) {
    const std::vector<Cue> cues = some_cues(rng);
    const std::size_t bytes_max = rng.below(401);
    const CodedCues coded = encode_cues(cues, std::span(room).first(bytes_max));
    REQUIRE(coded.bytes <= std::min(bytes_max, cue_bytes_max));
    REQUIRE(coded.count <= std::min(cues.size(), cues_max));
    REQUIRE((coded.count == 0) == (coded.bytes == 0));
    // No cue has more than 124 bits: what was left out had no room.
    if (coded.count < std::min(cues.size(), cues_max))
      REQUIRE(coded.bytes + 16 > std::min(bytes_max, cue_bytes_max));
    if (coded.count == 0) continue;
    std::vector<Cue> back;
    REQUIRE(decode_cues(std::span(room).first(coded.bytes), back));
    REQUIRE(back.size() == coded.count);
    REQUIRE(std::equal(back.begin(), back.end(), cues.begin()));
  }
}

TEST_CASE("bytes that are no cues are told from such, and what is read of them makes sense",
          "[protocol][packed][cues]") {
  Rng rng = rng_for(911, 0);
  std::array<std::uint8_t, cue_bytes_max> room{};
  std::vector<Cue> out;
  const auto walk = [&](std::span<const std::uint8_t> bytes) {
    const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
    out.clear();
    const bool read = decode_cues(exact, out);
    if (read) REQUIRE((!out.empty() && std::ranges::all_of(out, cue_sane)));
    return read;
  };
  for (int round = 0; round < 200; ++round) {
    const CodedCues coded = encode_cues(some_cues(rng), room);
    const auto bytes = std::span(room).first(coded.bytes);
    REQUIRE(walk(bytes));
    for (std::size_t cut = 0; cut < coded.bytes; ++cut) REQUIRE_FALSE(walk(bytes.first(cut)));
    for (int i = 0; i < 50; ++i) {
      std::vector<std::uint8_t> wrong(bytes.begin(), bytes.end());
      wrong[rng.below(static_cast<std::uint32_t>(wrong.size()))] = static_cast<std::uint8_t>(rng.next_u32());
      walk(wrong);
    }
  }
  const std::uint8_t fourteenth_kind[] = {0xc0, 0x01, 0x20, 0, 0, 0, 0};
  CHECK_FALSE(walk(fourteenth_kind));
}

TEST_CASE("rays of one shot cost five bytes each", "[protocol][packed][cues]") {
  std::vector<Cue> rays;
  for (int i = 0; i < 7; ++i)
    rays.push_back({CueKind::shot, 2, 0, make_entity_id(5, 9), true, {1000 + 7 * i, -500 - i, 40 + i}});
  std::array<std::uint8_t, cue_bytes_max> room{};
  const std::size_t one = encode_cues(std::span(rays).first(1), room).bytes;
  const std::size_t all = encode_cues(rays, room).bytes;
  CHECK(one == 15);
  CHECK(all - one <= 6 * 5);
}

TEST_CASE("places of cues are the nearest sixteenth of a metre, within the world", "[protocol][cues]") {
  Rng rng = rng_for(912, 0);
  for (int i = 0; i < 2000; ++i) {
    const DVec3 at = some_place(rng, i % 2 == 0 ? 100 : world_extent_m - 1e-9);
    const Cue cue{CueKind::burst, 0, 0, {}, true, quantise_cue_place(at)};
    REQUIRE(cue_sane(cue));
    const DVec3 off = cue.place_m() - at;
    REQUIRE(std::max({std::abs(off.x), std::abs(off.y), std::abs(off.z)}) <= 0.0625);
  }
}

TEST_CASE("cues of a plain snapshot come back, and those that make no sense are none", "[protocol][cues]") {
  const auto part_with = [](std::span<const Cue> cues) {
    std::vector<std::uint8_t> bytes(cues_max * plain_cue_bytes);
    REQUIRE(encode_plain_cues(cues, bytes) == cues.size());
    PlainPartWriter writer;
    writer.begin({91, 0, 0, 7, 1, 0, 1});
    REQUIRE(writer.add_cues(std::span(bytes).first(cues.size() * plain_cue_bytes)));
    writer.set_part_count(1);
    return test::AlignedBytes(writer.bytes());
  };
  Rng rng = rng_for(913, 0);
  std::vector<Cue> cues;
  while (cues.size() < cues_max) cues.push_back(some_cue(rng));
  const test::AlignedBytes bytes = part_with(cues);
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  CHECK(std::get<PlainPart>(*message).cues == cues);
  const auto refused = [&](const Cue& cue) {
    const auto read = decode_server_message(part_with({&cue, 1}).span());
    return !read.has_value() && read.error() == DropReason::out_of_range;
  };
  CHECK(refused({CueKind{cue_kind_count}, 0, 0, EntityId{1}, false, {}}));
  CHECK(refused({CueKind::shot, 0, 0, EntityId{0}, false, {}}));
  CHECK(refused({CueKind::shot, 0, 0, EntityId{1}, true, {1 << 24, 0, 0}}));
  CHECK_FALSE(refused({CueKind::shot, 0, 0, EntityId{1}, true, {(1 << 24) - 1, 0, -(1 << 16) + 1}}));
}
