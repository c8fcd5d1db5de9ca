#include "protocol/snapshot/own_delta.h"

#include <algorithm>
#include <array>
#include <bit>

#include "world/math/hash.h"

namespace ashlar {
namespace {

/// The numbers of a body in the order in which they travel: what is foretold from others comes behind them.
constexpr std::size_t number_count = 16;
using Numbers = std::array<double, number_count>;

Numbers numbers_of(const Body& b) {
  return {b.velocity_mps.x,
          b.velocity_mps.y,
          b.velocity_mps.z,
          b.position_m.x,
          b.position_m.y,
          b.position_m.z,
          b.last_free_m.x,
          b.last_free_m.y,
          b.last_free_m.z,
          b.recovery_velocity_mps.x,
          b.recovery_velocity_mps.y,
          b.recovery_velocity_mps.z,
          b.recovery_target_m.x,
          b.recovery_target_m.y,
          b.recovery_target_m.z,
          b.eye_offset_m};
}

void set_numbers(const Numbers& n, Body& b) {
  b.velocity_mps = {n[0], n[1], n[2]};
  b.position_m = {n[3], n[4], n[5]};
  b.last_free_m = {n[6], n[7], n[8]};
  b.recovery_velocity_mps = {n[9], n[10], n[11]};
  b.recovery_target_m = {n[12], n[13], n[14]};
  b.eye_offset_m = n[15];
}

constexpr std::size_t first_position = 3, first_free = 6, first_after_free = 9;

/// What number i will be, when those before it are known.
double foretold(const Numbers& known, const Numbers& base, std::size_t i, std::uint32_t age,
                std::uint32_t tick_rate_hz) {
  if (i >= first_position && i < first_free) {
    // As the simulation adds it up: tick by tick, so that the last bits agree where nothing was in the way.
    const double step_m = known[i - first_position] * (1.0 / tick_rate_hz);
    double at = base[i];
    for (std::uint32_t tick = 0; tick < age; ++tick) at += step_m;
    return at;
  }
  // Who is free stands where it last was free.
  const bool free_place = i >= first_free && i < first_after_free;
  if (free_place && base[i - first_free + first_position] == base[i])
    return known[i - first_free + first_position];
  return base[i];
}

/// Doubles in their order as integers: neighbours differ by one.
std::uint64_t ordered(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v);
  return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}
double unordered(std::uint64_t v) {
  return std::bit_cast<double>(v >> 63 ? v & ~(std::uint64_t{1} << 63) : ~v);
}

void put_number(BitWriter& out, double v, double told) {
  const std::uint64_t off = ordered(v) - ordered(told);
  const std::uint64_t folded = off >> 63 ? ~(off << 1) : off << 1;  // small for a little less, too
  out.put_bit(folded != 0);
  if (folded == 0) return;
  const auto bytes = static_cast<unsigned>((std::bit_width(folded) + 7) / 8);
  out.put(bytes - 1, 3);
  for (unsigned i = 0; i < bytes; ++i) out.put(folded >> (8 * i) & 0xff, 8);
}

double get_number(BitReader& in, double told) {
  if (!in.get_bit()) return told;
  const unsigned bytes = in.get(3) + 1;
  std::uint64_t folded = 0;
  for (unsigned i = 0; i < bytes; ++i) folded |= std::uint64_t{in.get(8)} << (8 * i);
  const std::uint64_t off = folded & 1 ? ~(folded >> 1) : folded >> 1;
  return unordered(ordered(told) + off);
}

/// The rest as one word: few of them change.
std::uint64_t lesser(const OwnPlayer& own) {
  return std::uint64_t{own.body.grounded} | std::uint64_t{own.body.stuck_ticks} << 8 |
         std::uint64_t{own.body.noclip} << 16 | std::uint64_t{own.health} << 24 |
         std::uint64_t{static_cast<std::uint16_t>(own.delta_yaw)} << 32;
}

}  // namespace

std::uint32_t own_hash(const OwnPlayer& own) {
  Hasher hash;
  for (const double number : numbers_of(own.body)) hash.add(number);
  hash.add(lesser(own));
  hash.add(std::uint64_t{static_cast<std::uint32_t>(own.id)});
  return std::max(static_cast<std::uint32_t>(hash.value()), std::uint32_t{1});
}

void encode_own(const OwnPlayer& now, const OwnPlayer& base, std::uint32_t age, std::uint32_t tick_rate_hz,
                BitWriter& out) {
  const bool same_id = now.id == base.id;
  out.put_bit(!same_id);
  if (!same_id) out.put(static_cast<std::uint32_t>(now.id), 32);
  const Numbers numbers = numbers_of(now.body), before = numbers_of(base.body);
  for (std::size_t i = 0; i < number_count; ++i)
    put_number(out, numbers[i], foretold(numbers, before, i, age, tick_rate_hz));
  const std::uint64_t rest = lesser(now);
  const bool same = rest == lesser(base);
  out.put_bit(!same);
  if (same) return;
  out.put(static_cast<std::uint32_t>(rest), 32);
  out.put(static_cast<std::uint32_t>(rest >> 32), 16);
}

bool decode_own(BitReader& in, const OwnPlayer& base, std::uint32_t age, std::uint32_t tick_rate_hz,
                OwnPlayer& out) {
  out = base;
  if (in.get_bit()) out.id = EntityId{in.get(32)};
  const Numbers before = numbers_of(base.body);
  Numbers numbers{};
  for (std::size_t i = 0; i < number_count; ++i)
    numbers[i] = get_number(in, foretold(numbers, before, i, age, tick_rate_hz));
  set_numbers(numbers, out.body);
  if (in.get_bit()) {
    const std::uint32_t low = in.get(32);
    out.body.grounded = static_cast<std::uint8_t>(low);
    out.body.stuck_ticks = static_cast<std::uint8_t>(low >> 8);
    out.body.noclip = static_cast<std::uint8_t>(low >> 16);
    out.health = static_cast<std::uint8_t>(low >> 24);
    out.delta_yaw = Turn16{static_cast<std::uint16_t>(in.get(16))};
  }
  return !in.failed() && own_sane(out);
}

}  // namespace ashlar
