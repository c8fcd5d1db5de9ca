#pragma once
#include <cstdint>

namespace ashlar {
/// Raised by any change that an older peer would misread; see WIRE.md.
inline constexpr std::uint8_t protocol_version = 19;
}  // namespace ashlar
