#pragma once
#include <cstdint>

namespace ashlar::test {

/// Sanitizers and builds without optimisation play a tenth of what others do: the same code, in about the
/// same time.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
inline constexpr std::uint32_t slowness = 10;
#else
inline constexpr std::uint32_t slowness = 1;
#endif

}  // namespace ashlar::test
