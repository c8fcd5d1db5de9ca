#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The fields that every entity has, declared as a game declares its own (world/sim/replication.h). How they
// are told is written out in snapshot/entity_coding.h: its widths come from here, and a game's fields go
// through the same coder.

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

}  // namespace ashlar
