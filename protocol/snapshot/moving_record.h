#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "protocol/quantise.h"
#include "world/math/assert.h"

// An entity as blocks of packed snapshots hold it: its record, and how it moves, from which the next one is
// foretold.

namespace ashlar {

/// Steps of a velocity as it travels in one metre a second.
inline constexpr double velocity_steps_per_mps = 16;

/// A record and its velocity. The velocity only foretells where it will be: it is not what the simulation has
/// to the last bit.
struct MovingRecord {
  EntityRecord record;
  std::array<std::int16_t, 3> velocity{};  ///< x, y, z in 1/16 m/s
  friend bool operator==(const MovingRecord&, const MovingRecord&) = default;
};

/// To the nearest 1/16 m/s, clamped to what 16 bits hold.
constexpr std::int16_t quantise_speed(double mps) {
  const double steps = mps * velocity_steps_per_mps;
  const double clamped = steps > 32767 ? 32767 : (steps < -32767 ? -32767 : steps);
  return static_cast<std::int16_t>(clamped < 0 ? clamped - 0.5 : clamped + 0.5);
}

/// Steps of position that a velocity makes in so many ticks, to the nearest one.
/// @param ticks  at most 255; @param tick_rate_hz  at least 1
constexpr std::int32_t foretold_steps(std::int16_t velocity, std::uint32_t ticks,
                                      std::uint32_t tick_rate_hz) {
  // 128 steps a metre over 16 steps a metre a second: eight for each and second.
  const auto doubled = static_cast<std::int32_t>(velocity) * static_cast<std::int32_t>(ticks) * 16;
  const auto twice = static_cast<std::int32_t>(tick_rate_hz) * 2;
  const auto half = static_cast<std::int32_t>(tick_rate_hz);
  return doubled >= 0 ? (doubled + half) / twice : -((-doubled + half) / twice);
}

/// Where it will be on an axis, kept within its cell.
constexpr std::int32_t foretold_place(std::uint16_t place, std::int16_t velocity, std::uint32_t ticks,
                                      std::uint32_t tick_rate_hz) {
  return std::clamp<std::int32_t>(place + foretold_steps(velocity, ticks, tick_rate_hz), 0, cell_steps - 1);
}

/// foretold_place() for many velocities over the same ticks: it multiplies where that divides.
class Foretelling {
 public:
  /// @param ticks  at most 255; @param tick_rate_hz  1 to 128; both asserted
  constexpr Foretelling(std::uint32_t ticks, std::uint32_t tick_rate_hz)
      : sixteenths_(ticks * 16),
        half_(tick_rate_hz),
        inverse_(((std::uint64_t{1} << shift) + 2 * tick_rate_hz - 1) / (2 * tick_rate_hz)),
        fall_(static_cast<std::int32_t>((fall_steps * ticks + tick_rate_hz / 2) / tick_rate_hz)) {
    ASHLAR_ASSERT(ticks <= 255 && tick_rate_hz >= 1 && tick_rate_hz <= 128);
  }

  constexpr std::int32_t place(std::uint16_t from, std::int16_t velocity) const {
    if (velocity == 0) return from;
    const std::int32_t v = velocity;
    const std::int32_t way = steps(static_cast<std::uint32_t>(v < 0 ? -v : v));
    return std::clamp<std::int32_t>(from + (v < 0 ? -way : way), 0, cell_steps - 1);
  }
  /// Steps of position that a speed makes, to the nearest one. @param speed  at most 32768
  constexpr std::int32_t steps(std::uint32_t speed) const {
    return static_cast<std::int32_t>((std::uint64_t{speed * sixteenths_} + half_) * inverse_ >> shift);
  }
  /// An upward velocity after falling as rules that say nothing else let fall, at 20 m/s2.
  constexpr std::int16_t fallen(std::int16_t up) const {
    return static_cast<std::int16_t>(std::max(up - fall_, -32768));
  }

 private:
  // Sums are below 2^27 and divisors at most 2^8, so that rounding the inverse up is never seen in the
  // quotient: 27 + 8 < 36.
  static constexpr unsigned shift = 36;
  static_assert(32768ull * 255 * 16 + 128 < 1ull << 27);
  static constexpr std::uint32_t fall_steps = 320;  // 20 m/s2, in 1/16 m/s and seconds
  std::uint32_t sixteenths_, half_;
  std::uint64_t inverse_;
  std::int32_t fall_;
};

}  // namespace ashlar
