#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The fields that every entity has, declared as a game declares its own (world/sim/replication.h), and how a
// change of them is told. The codec of blocks (block_delta.cpp) is written out for speed: its widths come
// from here, and a test holds it to what a walk through these tables codes.

namespace ashlar {

/// In the order of the tables below.
enum class StandardField : std::uint8_t {
  x,
  y,
  z,
  velocity_x,
  velocity_y,
  velocity_z,
  yaw,
  pitch,
  health,
  state,
  flags,
  kind,
};
inline constexpr std::size_t standard_field_count = 12;

struct StandardFieldTraits {
  std::string_view name;
  std::uint8_t bits = 8;
  bool is_signed = false;
  bool interpolated = false;
  double step = 1;  ///< metres, metres a second, turns; 1 where it is no measure
};

/// To everybody, all of them. Places are counted from the low corner of the entity's cell.
inline constexpr std::array<StandardFieldTraits, standard_field_count> standard_fields{{
    {"x", 13, false, true, 1.0 / 128},
    {"y", 13, false, true, 1.0 / 128},
    {"z", 13, false, true, 1.0 / 128},
    {"velocity_x", 16, true, false, 1.0 / 16},
    {"velocity_y", 16, true, false, 1.0 / 16},
    {"velocity_z", 16, true, false, 1.0 / 16},
    {"yaw", 8, false, true, 1.0 / 256},
    {"pitch", 8, true, true, 1.0 / 256},
    {"health", 8, false, false, 1.0 / 255},
    {"state", 8, false, false, 1},
    {"flags", 8, false, false, 1},
    {"kind", 8, false, false, 1},
}};
constexpr const StandardFieldTraits& traits_of(StandardField field) {
  return standard_fields[static_cast<std::size_t>(field)];
}

/// A step of telling a change. What a field is told against is what the base foretells of it; an angle's
/// difference goes the short way round.
struct LayoutStep {
  enum class Op : std::uint8_t {
    gate,   ///< a bit: does anything up to its end differ? Else nothing of that follows
    end,    ///< of the innermost gate
    sized,  ///< which of the widths, in as few bits as that takes, then the fields' differences, signed
    masked  ///< a bit a field: is it other? Then the values of those that are
  };
  Op op{};
  StandardField first{};
  std::uint8_t count = 0;  ///< fields from `first` on
  std::uint8_t width_count = 0;
  std::array<std::uint8_t, 4> widths{};  ///< ascending; 0 bits hold only 0
};

inline constexpr std::array change_layout{
    LayoutStep{LayoutStep::Op::sized, StandardField::x, 2, 4, {0, 3, 6, 14}},
    LayoutStep{LayoutStep::Op::gate},
    LayoutStep{LayoutStep::Op::sized, StandardField::z, 1, 2, {5, 14}},
    LayoutStep{LayoutStep::Op::end},
    LayoutStep{LayoutStep::Op::gate},
    LayoutStep{LayoutStep::Op::sized, StandardField::velocity_x, 2, 4, {3, 6, 9, 17}},
    LayoutStep{LayoutStep::Op::gate},
    LayoutStep{LayoutStep::Op::sized, StandardField::velocity_z, 1, 2, {7, 17}},
    LayoutStep{LayoutStep::Op::end},
    LayoutStep{LayoutStep::Op::end},
    LayoutStep{LayoutStep::Op::gate},
    LayoutStep{LayoutStep::Op::sized, StandardField::yaw, 1, 2, {4, 8}},
    LayoutStep{LayoutStep::Op::end},
    LayoutStep{LayoutStep::Op::gate},
    LayoutStep{LayoutStep::Op::masked, StandardField::pitch, 5},
    LayoutStep{LayoutStep::Op::end},
};

/// Widths of the differences of the fields that begin with one. A wrong count does not compile.
template <std::size_t n>
consteval std::array<unsigned, n> widths_of(StandardField first) {
  for (const LayoutStep& step : change_layout) {
    if (step.op != LayoutStep::Op::sized || step.first != first) continue;
    std::array<unsigned, n> out{};
    if (step.width_count != n) throw "another number of widths";
    for (std::size_t i = 0; i < n; ++i) out[i] = step.widths[i];
    return out;
  }
  throw "no such step";
}

}  // namespace ashlar
