#pragma once
#include <cstdint>

#include "world/math/turn.h"
#include "world/math/vec.h"
#include "world/sim/command.h"
#include "world/sim/kinds.h"

// State as it travels. Quantising happens once per tick for all receivers, so everyone sees the same numbers.

namespace ashlar {

inline constexpr int cell_m_bits = 6;
inline constexpr int cell_m = 1 << cell_m_bits;  ///< edge of a cell, metres
inline constexpr double position_steps_per_m = 128;
inline constexpr std::uint16_t cell_steps = cell_m * 128;  ///< positions in a cell are below this
inline constexpr double height_steps_per_m = 65536;

namespace entity_flag {
inline constexpr std::uint8_t grounded = 1;
inline constexpr std::uint8_t recovering = 2;  ///< caught in a solid and being pulled out
inline constexpr std::uint8_t dead = 4;
}  // namespace entity_flag

/// A cube of cell_m metres: cell (i, j, k) spans [64 i, 64 i + 64) on x, and so on.
struct CellCoord {
  std::int16_t x = 0, y = 0, z = 0;
  friend bool operator==(const CellCoord&, const CellCoord&) = default;
  friend auto operator<=>(const CellCoord&, const CellCoord&) = default;
};

/// Could a position of the world be in this cell?
bool cell_in_world(CellCoord cell);

/// An entity quantised; exactly the 16 bytes of the schema's struct, so blocks of them are copied whole.
struct EntityRecord {
  EntityId id{};
  std::uint16_t x = 0, y = 0, z = 0;  ///< 1/128 m from the cell's low corner, below cell_steps
  EntityKind kind{};                  ///< unknown kinds are kept: a newer server may have more
  std::uint8_t yaw = 0;               ///< 1/256 turn
  std::int8_t pitch = 0;              ///< 1/256 turn, within +-64
  std::uint8_t health = 0;            ///< share of full health, 255 is full
  std::uint8_t state = 0;             ///< by kind: what it is doing, for animation
  std::uint8_t flags = 0;             ///< entity_flag; unknown bits are ignored
  friend bool operator==(const EntityRecord&, const EntityRecord&) = default;
};
static_assert(sizeof(EntityRecord) == 16);
/// Is it one that a server may say: an id, a place within its cell, a pitch within a quarter?
bool record_sane(const EntityRecord& record);

/// A point as it travels: a cell and a place in it.
struct QuantisedPosition {
  CellCoord cell;
  std::uint16_t x = 0, y = 0, z = 0;  ///< 1/128 m from the cell's low corner, below cell_steps
  friend bool operator==(const QuantisedPosition&, const QuantisedPosition&) = default;
};

/// To the nearest 1/128 m; the cell is that of the rounded position, so the error is at most 1/256 m an axis.
/// Precondition: |x|, |y| < 2^20 m, |z| < 2^12 m (asserted).
QuantisedPosition quantise(DVec3 position_m);
DVec3 dequantise(const QuantisedPosition& position);

/// To the nearest 1/256 turn. Inverse: dequantise_turn.
constexpr std::uint8_t quantise_turn(Turn16 angle) {
  return static_cast<std::uint8_t>((static_cast<unsigned>(angle) + 128u) >> 8);
}
constexpr Turn16 dequantise_turn(std::uint8_t angle) {
  return Turn16{static_cast<std::uint16_t>(static_cast<unsigned>(angle) << 8)};
}
/// Pitch to the nearest 1/256 turn, clamped to a quarter turn either way.
std::int8_t quantise_pitch(Turn16 pitch);

/// The command as it will arrive: axes to the nearest 1/127, pitch clamped, unknown buttons cleared.
/// A client predicts with this, so that it computes what the server will.
PlayerCommand quantise(const PlayerCommand& command);

/// An axis of a command as it travels, in steps of 1/127. Precondition: within [-1, 1] (asserted).
std::int8_t command_axis_steps(double axis);

/// How long before a command's own tick its player's picture was, in ticks, as it travels. 0 where it is not
/// known, is not before the command's tick, or is longer ago than 16 bits tell.
constexpr std::uint16_t seen_age(TickId seen, std::uint32_t command_tick) {
  const bool tells =
      seen != TickId{0} && number(seen) < command_tick && command_tick - number(seen) <= 0xffff;
  return tells ? static_cast<std::uint16_t>(command_tick - number(seen)) : std::uint16_t{0};
}
/// The reverse. Precondition: `age` is 0 or less than `command_tick`.
constexpr TickId seen_tick(std::uint16_t age, std::uint32_t command_tick) {
  return age == 0 ? TickId{0} : TickId{command_tick - age};
}

}  // namespace ashlar
