#include "protocol/quantise.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"
#include "world/sim/rules.h"

namespace ashlar {
namespace {

struct AxisSteps {
  std::int16_t cell;
  std::uint16_t steps;
};

AxisSteps quantise_axis(double v_m) {
  const auto steps = static_cast<std::int64_t>(std::floor(v_m * position_steps_per_m + 0.5));
  return {static_cast<std::int16_t>(steps >> (cell_m_bits + 7)),
          static_cast<std::uint16_t>(steps & (cell_steps - 1))};
}

double dequantise_axis(std::int16_t cell, std::uint16_t steps) {
  return static_cast<double>(cell) * cell_m + static_cast<double>(steps) / position_steps_per_m;
}

// The world's bounds in cells, both ends included: a position that rounds up to the bound itself has a cell.
constexpr int cells_across_max = (1 << 20) / cell_m;
constexpr int cells_up_max = (1 << 12) / cell_m;

double quantise_command_axis(double v) {
  // Written so that NaN becomes 0: a game's input code may divide by a dead zone.
  const double clamped = v > 1 ? 1 : (v < -1 ? -1 : (v == v ? v : 0));
  return std::floor(clamped * 127 + 0.5) / 127;
}

}  // namespace

bool cell_in_world(CellCoord c) {
  const auto within = [](int v, int bound) { return v >= -bound && v <= bound; };
  return within(c.x, cells_across_max) && within(c.y, cells_across_max) && within(c.z, cells_up_max);
}

bool record_sane(const EntityRecord& e) {
  return e.id != EntityId{} && e.x < cell_steps && e.y < cell_steps && e.z < cell_steps && e.pitch >= -64 &&
         e.pitch <= 64;
}

QuantisedPosition quantise(DVec3 position_m) {
  ASHLAR_ASSERT(in_bounds(position_m));
  const AxisSteps x = quantise_axis(position_m.x);
  const AxisSteps y = quantise_axis(position_m.y);
  const AxisSteps z = quantise_axis(position_m.z);
  return {{x.cell, y.cell, z.cell}, x.steps, y.steps, z.steps};
}

DVec3 dequantise(const QuantisedPosition& p) {
  return {dequantise_axis(p.cell.x, p.x), dequantise_axis(p.cell.y, p.y), dequantise_axis(p.cell.z, p.z)};
}

std::int8_t quantise_pitch(Turn16 pitch) {
  const int angle = static_cast<std::int16_t>(pitch);
  return static_cast<std::int8_t>(std::clamp((angle + 128) >> 8, -64, 64));
}

std::int8_t command_axis_steps(double axis) {
  ASHLAR_ASSERT(axis >= -1 && axis <= 1);
  return static_cast<std::int8_t>(std::floor(axis * 127 + 0.5));
}

PlayerCommand quantise(const PlayerCommand& command) {
  PlayerCommand out = command;
  out.forward = quantise_command_axis(command.forward);
  out.left = quantise_command_axis(command.left);
  const int pitch = std::clamp(static_cast<int>(static_cast<std::int16_t>(command.pitch)), -16384, 16384);
  out.pitch = Turn16{static_cast<std::uint16_t>(pitch)};
  out.buttons = command.buttons & button::known;
  return out;
}

}  // namespace ashlar
