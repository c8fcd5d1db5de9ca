#include "protocol/snapshot/height_delta.h"

#include <cmath>

#include "protocol/bit_stream.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

// A plane at rest mostly stands on a whole map unit, 1/32 m: then its low bits are zero.
constexpr unsigned unit_bits = 11, whole_bits = 12;

void put_height(BitWriter& out, std::int32_t height) {
  const auto bits = static_cast<std::uint32_t>(height);
  const bool whole = (bits & ((1u << unit_bits) - 1)) == 0 &&
                     height >> unit_bits >= -(1 << (whole_bits - 1)) &&
                     height >> unit_bits < 1 << (whole_bits - 1);
  out.put_bit(whole);
  if (whole)
    out.put_signed(height >> unit_bits, whole_bits);
  else
    out.put(bits, 32);
}

std::int32_t get_height(BitReader& in) {
  if (in.get_bit()) return in.get_signed(whole_bits) * (1 << unit_bits);
  return static_cast<std::int32_t>(in.get(32));
}

}  // namespace

WireHeights quantise_heights(const SectorHeights& heights) {
  const auto steps = [](double v_m) {
    const double clamped = v_m > 32767 ? 32767 : (v_m < -32767 ? -32767 : v_m);
    return static_cast<std::int32_t>(std::floor(clamped * height_steps_per_m + 0.5));
  };
  return {steps(heights.floor_m), steps(heights.ceiling_m)};
}

std::size_t encode_heights(std::span<const SliceHeight> changed, std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(out.size() >= coded_slice_bytes_max && changed.size() <= height_slice_sectors);
  BitWriter bits(out);
  bits.put_gamma(static_cast<std::uint32_t>(changed.size()));
  std::uint32_t next = 0;
  for (const SliceHeight& s : changed) {
    ASHLAR_ASSERT(s.sector >= next);
    bits.put_gamma(s.sector - next);
    next = s.sector + 1u;
    put_height(bits, s.heights.floor);
    put_height(bits, s.heights.ceiling);
  }
  return bits.finish();
}

bool decode_heights(std::span<const std::uint8_t> bytes, std::vector<SliceHeight>& out) {
  out.clear();
  BitReader in(bytes);
  const std::uint32_t count = in.get_gamma();
  if (in.failed() || count > height_slice_sectors) return false;
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    next += in.get_gamma();
    if (in.failed() || next >= height_slice_sectors) return false;
    SliceHeight s;
    s.sector = static_cast<std::uint8_t>(next++);
    s.heights.floor = get_height(in);
    s.heights.ceiling = get_height(in);
    out.push_back(s);
  }
  return in.at_end();
}

}  // namespace ashlar
