#include "protocol/snapshot/cue_codec.h"

#include <algorithm>

#include "protocol/bit_stream.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr unsigned kind_bits = 4, near_bits = 11, level_bits = 25, height_bits = 17;
constexpr std::int32_t near_steps = 1 << (near_bits - 1);
/// One cue without anything that it shares with the one before.
constexpr std::size_t cue_bits_max =
    1 + kind_bits + 8 + 1 + 8 + 1 + 32 + 1 + 1 + 2 * level_bits + height_bits;
constexpr unsigned cue_count_bits = 5;
static_assert(cues_max == 1u << cue_count_bits && cue_kind_count <= 1u << kind_bits);

bool same_head(const Cue& a, const Cue& b) {
  return a.kind == b.kind && a.detail == b.detail && a.age == b.age && a.who == b.who;
}

bool near(IVec3 a, IVec3 b) {
  const auto fits = [](std::int32_t d) { return d >= -near_steps && d < near_steps; };
  return fits(a.x - b.x) && fits(a.y - b.y) && fits(a.z - b.z);
}

/// What the bits of a list are coded against: the cue before, and the last place.
struct Before {
  Cue cue;
  bool any = false, any_place = false;
  IVec3 place{};

  void follow(const Cue& next) {
    cue = next;
    any = true;
    if (next.placed) place = next.place, any_place = true;
  }
};

/// @return bits
std::size_t put_cue(BitWriter* out, const Cue& cue, const Before& before) {
  std::size_t bits = 0;
  const auto put = [&](std::uint32_t value, unsigned count) {
    if (out != nullptr) out->put(value, count);
    bits += count;
  };
  const auto put_signed = [&](std::int32_t value, unsigned count) {
    if (out != nullptr) out->put_signed(value, count);
    bits += count;
  };
  const bool other = !before.any || !same_head(cue, before.cue);
  if (before.any) put(other ? 1 : 0, 1);
  if (other) {
    put(static_cast<std::uint32_t>(cue.kind), kind_bits);
    put(cue.detail, 8);
    put(cue.age != 0 ? 1 : 0, 1);
    if (cue.age != 0) put(cue.age, 8);
    put(cue.who != EntityId{0} ? 1 : 0, 1);
    if (cue.who != EntityId{0}) put(static_cast<std::uint32_t>(cue.who), 32);
  }
  put(cue.placed ? 1 : 0, 1);
  if (!cue.placed) return bits;
  const bool is_near = before.any_place && near(cue.place, before.place);
  if (before.any_place) put(is_near ? 1 : 0, 1);
  const IVec3 from = is_near ? before.place : IVec3{};
  put_signed(cue.place.x - from.x, is_near ? near_bits : level_bits);
  put_signed(cue.place.y - from.y, is_near ? near_bits : level_bits);
  put_signed(cue.place.z - from.z, is_near ? near_bits : height_bits);
  return bits;
}

}  // namespace

CodedCues encode_cues(std::span<const Cue> cues, std::span<std::uint8_t> out) {
  out = out.first(std::min(out.size(), cue_bytes_max));
  CodedCues coded;
  Before before;
  std::size_t bits = cue_count_bits;
  for (; coded.count < std::min(cues.size(), cues_max); ++coded.count) {
    const Cue& cue = cues[coded.count];
    ASHLAR_ASSERT(cue_sane(cue));
    const std::size_t more = put_cue(nullptr, cue, before);
    ASHLAR_ASSERT(more <= cue_bits_max);
    if (bits + more > 8 * out.size()) break;
    bits += more;
    before.follow(cue);
  }
  if (coded.count == 0) return {};
  BitWriter writer(out);
  writer.put(static_cast<std::uint32_t>(coded.count - 1), cue_count_bits);
  before = {};
  for (std::size_t i = 0; i < coded.count; ++i) {
    put_cue(&writer, cues[i], before);
    before.follow(cues[i]);
  }
  coded.bytes = writer.finish();
  return coded;
}

bool decode_cues(std::span<const std::uint8_t> bytes, std::vector<Cue>& out) {
  BitReader in(bytes);
  const std::uint32_t count = in.get(cue_count_bits) + 1;
  Before before;
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    Cue cue = before.cue;
    if (!before.any || in.get_bit()) {
      const std::uint32_t kind = in.get(kind_bits);
      if (kind >= cue_kind_count) return false;
      cue.kind = static_cast<CueKind>(kind);
      cue.detail = static_cast<std::uint8_t>(in.get(8));
      cue.age = in.get_bit() ? static_cast<std::uint8_t>(in.get(8)) : std::uint8_t{0};
      cue.who = EntityId{in.get_bit() ? in.get(32) : 0};
    }
    cue.placed = in.get_bit();
    cue.place = {};
    if (cue.placed) {
      const bool is_near = before.any_place && in.get_bit();
      const IVec3 from = is_near ? before.place : IVec3{};
      cue.place.x = from.x + in.get_signed(is_near ? near_bits : level_bits);
      cue.place.y = from.y + in.get_signed(is_near ? near_bits : level_bits);
      cue.place.z = from.z + in.get_signed(is_near ? near_bits : height_bits);
    }
    if (!cue_sane(cue)) return false;
    before.follow(cue);
    out.push_back(cue);
  }
  return in.at_end();
}

}  // namespace ashlar
