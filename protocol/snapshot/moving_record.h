#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "protocol/quantise.h"
#include "world/math/assert.h"

// An entity as blocks of packed snapshots hold it: its record, and how it moves, from which the next one is
// foretold.

namespace ashlar {

/// Steps of a velocity as it travels in one metre a second.
inline constexpr double velocity_steps_per_mps = 16;

/// How fast players run and how things fall where the rules say nothing else.
inline constexpr std::int32_t usual_pace_steps = 96;  // 6 m/s
inline constexpr std::int32_t usual_pull_mps2 = 20;
inline constexpr unsigned pace_bits = 10, pull_bits = 6;

/// A record and its velocity. The velocity only foretells where it will be: it is not what the simulation has
/// to the last bit.
struct MovingRecord {
  EntityRecord record;
  std::array<std::int16_t, 3> velocity{};  ///< x, y, z in 1/16 m/s
  friend bool operator==(const MovingRecord& a, const MovingRecord& b) {
    return same_velocity(a.velocity, b.velocity) && a.record == b.record;
  }
  /// Without the call of a library that compares memory, which `==` of arrays is to some compilers.
  static constexpr bool same_velocity(const std::array<std::int16_t, 3>& a,
                                      const std::array<std::int16_t, 3>& b) {
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
  }
};

/// Steps on each axis that somebody who moves is told beside where it is at most.
inline constexpr int told_off_max = 1;
/// Does a record tell of somebody who is as in the other one? All but the place is to the bit.
constexpr bool tells(EntityRecord told, const EntityRecord& is) {
  const auto near = [](int a, int b) { return a - b <= told_off_max && b - a <= told_off_max; };
  if (!near(told.x, is.x) || !near(told.y, is.y) || !near(told.z, is.z)) return false;
  told.x = is.x, told.y = is.y, told.z = is.z;
  return told == is;
}

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

/// Steps of position that a velocity makes from tick 0 to a tick, rounded down: who keeps its velocity is
/// told where that leads, so that from any tick to any other it is foretold to the step. It runs over at
/// 2^32.
constexpr std::uint32_t steady_steps(std::int16_t velocity, std::uint32_t tick, std::uint32_t tick_rate_hz) {
  const auto rate = static_cast<std::int32_t>(tick_rate_hz);
  const std::int32_t eighths = velocity * 8;
  const std::int32_t part = eighths * static_cast<std::int32_t>(tick % tick_rate_hz);
  const std::int32_t down = part >= 0 ? part / rate : -((-part + rate - 1) / rate);
  return static_cast<std::uint32_t>(eighths) * (tick / tick_rate_hz) + static_cast<std::uint32_t>(down);
}

/// What becomes of velocities and places in so many ticks.
class Foretelling {
 public:
  /// @param ticks  at most 255; @param tick_rate_hz  1 to 128; both asserted
  /// @param tick  up to which
  constexpr Foretelling(std::uint32_t ticks, std::uint32_t tick_rate_hz, std::uint32_t tick)
      : ticks_(static_cast<std::int32_t>(ticks)),
        rate_(static_cast<std::int32_t>(tick_rate_hz)),
        moments_(std::min(ticks_, moments_max)),
        rest_(static_cast<std::int32_t>(tick % tick_rate_hz)),
        above_((steady_ticks_max / tick_rate_hz + 1) * tick_rate_hz),
        shift_(31 + static_cast<unsigned>(std::bit_width(6 * tick_rate_hz))),
        inverse_(((std::uint64_t{1} << shift_) + 6 * tick_rate_hz - 1) / (6 * tick_rate_hz)) {
    ASHLAR_ASSERT(ticks <= 255 && tick_rate_hz >= 1 && tick_rate_hz <= 128);
  }

  /// Steps of position that a velocity makes, to the nearest.
  constexpr std::int32_t way(std::int32_t velocity) const { return steps(6 * velocity * ticks_); }
  /// The same between these very ticks, as steady_steps() has it: that of whole seconds is a whole number.
  constexpr std::int32_t steady_way(std::int16_t velocity) const {
    const std::int32_t eighths = velocity * 8;
    return seconds_of(eighths * rest_) - seconds_of(eighths * (rest_ - ticks_));
  }
  /// Of one that became another evenly, if each tick moves by the new one.
  constexpr std::int32_t way(std::int32_t before, std::int32_t after) const {
    return steps(3 * (before * (ticks_ - 1) + after * (ticks_ + 1)));
  }
  /// And that was `midway` half-way.
  constexpr std::int32_t way(std::int32_t before, std::int32_t midway, std::int32_t after) const {
    return steps(ticks_ * (before + 4 * midway + after) + 3 * (after - before));
  }
  /// If each tick moves by the mean of both, as who falls does.
  constexpr std::int32_t mean_way(std::int32_t before, std::int32_t after) const {
    return steps(3 * (before + after) * ticks_);
  }

  /// A change of velocity happened at one of these moments before now, from 0 on.
  static constexpr std::int32_t moments_max = 15;
  constexpr std::int32_t moments() const { return moments_; }
  /// How long a change takes, in ticks and moments().
  /// @param size  of the change in steps, below 2^12; @param acceleration  in steps a second, above 0
  constexpr std::int32_t takes(std::int32_t size, std::int32_t acceleration) const {
    return size * rate_ * moments_ / acceleration;
  }
  /// For how long it held in all if it began at such a moment and took so long.
  constexpr std::int32_t held(std::int32_t moment, std::int32_t takes) const {
    const std::int32_t since = ticks_ * moment;
    if (takes == 0) return since;
    const std::int32_t rising = std::min(since, takes);
    return (rising * (rising + moments_) / 2 + takes * (since - rising)) / takes;
  }
  /// Of a velocity whose change held for so long.
  constexpr std::int32_t way_changed(std::int32_t before, std::int32_t change, std::int32_t held) const {
    return steps(6 * (before * ticks_ + change * held / std::max(moments_, 1)));
  }

  /// An upward velocity after falling. @param pull  m/s2, 0 to 63
  constexpr std::int16_t fallen(std::int32_t up, std::int32_t pull) const { return fallen(up, pull, ticks_); }
  constexpr std::int16_t fallen(std::int32_t up, std::int32_t pull, std::int32_t ticks) const {
    const std::int32_t fall = (pull * 32 * ticks + rate_) / (2 * rate_);
    return static_cast<std::int16_t>(std::max(up - fall, -32768));
  }
  /// Ticks in which an upward velocity falls by so much, to the nearest; 0 where it does not.
  constexpr std::int32_t ticks_to_fall(std::int32_t by, std::int32_t pull) const {
    return pull == 0 || by < 0 ? 0 : (by * rate_ + 8 * pull) / (16 * pull);
  }

 private:
  /// From sixths of steps of velocity times ticks to steps of position, to the nearest, halves away from 0.
  /// Those are below 2^28.
  constexpr std::int32_t steps(std::int32_t sixths) const {
    // 128 steps a metre over 16 steps a metre a second: eight for each and second.
    const auto size = static_cast<std::uint32_t>(sixths < 0 ? -sixths : sixths);
    const std::uint64_t over = size * 8 + 3 * static_cast<std::uint32_t>(rate_);
    // Divided by six times the rate: exact below 2^31, as the inverse is too large by less than a part in
    // that.
    const auto out = static_cast<std::int32_t>(over * inverse_ >> shift_);
    return sixths < 0 ? -out : out;
  }
  /// Steps of velocity times ticks are below, in size.
  static constexpr std::uint32_t steady_ticks_max = 1u << 26;
  /// From those to steps of velocity times seconds, rounded down, and so many more for all as makes none
  /// negative.
  constexpr std::int32_t seconds_of(std::int32_t ticks) const {
    const std::uint32_t over = 6 * (static_cast<std::uint32_t>(ticks) + above_);
    return static_cast<std::int32_t>(over * inverse_ >> shift_);
  }
  std::int32_t ticks_, rate_, moments_, rest_;
  std::uint32_t above_;
  unsigned shift_;
  std::uint64_t inverse_;
};

/// Steps of position that who jumped has risen when its upward velocity is `up`. @param pull  m/s2, above 0
constexpr std::int32_t risen(std::int32_t jump, std::int32_t up, std::int32_t pull) {
  return (jump * jump - up * up + 2 * pull) / (4 * pull);
}

}  // namespace ashlar
