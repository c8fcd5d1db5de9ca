#pragma once
#include <cstdint>

namespace ashlar {

/// A world's ticks are counted in 32 bits: 828 days at 60 Hz, 388 at 128. This many are the last that a
/// server runs, so that what is counted ahead of them stays below the end.
inline constexpr std::uint32_t world_ticks_max = 0xffff0000;

}  // namespace ashlar
