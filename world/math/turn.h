#pragma once
#include <cstdint>

#include "world/math/vec.h"

namespace ashlar {

/// A view angle in 1/65536 of a turn, counter-clockwise; yaw 0 looks along +x (east), 16384 along +y (north).
/// Pitch is signed the same way in two's complement: positive looks up.
enum class Turn16 : std::uint16_t {};

constexpr Turn16 operator+(Turn16 a, Turn16 b) {
  return Turn16{static_cast<std::uint16_t>(static_cast<unsigned>(a) + static_cast<unsigned>(b))};
}
constexpr Turn16 operator-(Turn16 a, Turn16 b) {
  return Turn16{static_cast<std::uint16_t>(static_cast<unsigned>(a) - static_cast<unsigned>(b))};
}

/// Sine and cosine of one angle.
struct SinCos {
  double sin = 0, cos = 1;
};

/// Sine and cosine, error below 1e-15, the same bits on every machine (libm's are not).
/// Exact at the quarter turns. About 10 ns.
SinCos sin_cos(Turn16 angle);

/// Unit vector of a yaw in the plane.
inline DVec2 heading(Turn16 yaw) {
  const SinCos sc = sin_cos(yaw);
  return {sc.cos, sc.sin};
}

/// Unit view vector of a yaw and a pitch.
DVec3 view_direction(Turn16 yaw, Turn16 pitch);

/// The yaw that looks along (x, y), to the nearest 1/65536 turn; Turn16{0} for the zero vector.
/// Same bits on every machine. Precondition: finite.
Turn16 turn_towards(DVec2 direction);

}  // namespace ashlar
