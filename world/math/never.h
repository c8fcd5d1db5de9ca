#pragma once
#include <limits>

namespace ashlar {

/// The time of what does not happen: later than every contact and every crossing.
inline constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace ashlar
