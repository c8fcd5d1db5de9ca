#pragma once
#include <algorithm>
#include <cstdint>

#include "world/math/turn.h"

namespace ashlar {

/// Steps since the world's start; wraps after 2.2 years at 60 Hz.
enum class TickId : std::uint32_t {};
constexpr std::uint32_t number(TickId t) { return static_cast<std::uint32_t>(t); }

namespace button {
inline constexpr std::uint16_t jump = 1;
inline constexpr std::uint16_t use = 2;
inline constexpr std::uint16_t attack = 4;
inline constexpr std::uint16_t down = 8;  ///< with no-clip: sink (jump rises)
inline constexpr std::uint16_t reload = 16;
/// Bits 8 to 12: one more than the index of the weapon that is asked for; 0: none is.
inline constexpr unsigned weapon_shift = 8;
inline constexpr std::uint16_t weapon = 31u << weapon_shift;
inline constexpr std::uint16_t known = 31 | weapon;
}  // namespace button

/// The weapon that buttons ask for, by index; 255: none.
constexpr std::uint8_t wished_weapon(std::uint16_t buttons) {
  return static_cast<std::uint8_t>(((buttons & button::weapon) >> button::weapon_shift) - 1);
}
/// The buttons that ask for a weapon by index, below 31.
constexpr std::uint16_t weapon_button(std::uint8_t index) {
  return static_cast<std::uint16_t>((index + 1u) << button::weapon_shift);
}

/// What a player wants in one tick. Axes in [-1, 1]; a longer diagonal is shortened to 1 by movement.
struct PlayerCommand {
  double forward = 0;  ///< along yaw
  double left = 0;     ///< 90 degrees counter-clockwise of yaw
  Turn16 yaw{0};
  Turn16 pitch{0};  ///< two's complement, within +-16384
  std::uint16_t buttons = 0;
  TickId seen{0};  ///< the tick whose state its player was looking at; 0: not known
  /// What it showed at `seen` was made of the states of two ticks that its player had been told: one so many
  /// ticks earlier, and one so many later; negative: earlier as well, and everybody went on as he had gone.
  /// 0 and 0: `seen` itself was told, or the two are not known.
  std::uint8_t told_before = 0;
  std::int8_t told_after = 0;
  friend bool operator==(const PlayerCommand&, const PlayerCommand&) = default;
};

/// What a command may claim to have seen when it is used: nothing newer than the state that it changes,
/// nothing older than `ticks_max`. Not known stays not known.
/// @param now  tick of the state that the command changes
constexpr TickId seen_within(TickId seen, TickId now, std::uint32_t ticks_max) {
  if (seen == TickId{0}) return seen;
  const std::uint32_t oldest = number(now) > ticks_max ? number(now) - ticks_max : 0;
  return TickId{std::clamp(number(seen), oldest, number(now))};
}

}  // namespace ashlar
