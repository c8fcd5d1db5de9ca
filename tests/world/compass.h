#pragma once
#include "world/math/turn.h"

namespace ashlar::testing {

/// Headings as yaw: counter-clockwise from +x.
inline constexpr Turn16 east{0}, north{16384}, west{32768};

}  // namespace ashlar::testing
