#pragma once
#include <cstdint>

// What makes a build several times slower. Clang 19 tells of its sanitizers in another way than GCC.
#if defined(ASHLAR_SLOW_ASSERTS) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASHLAR_SLOW_BUILD 1
#elif !defined(__OPTIMIZE__)
#define ASHLAR_SLOW_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ASHLAR_SLOW_BUILD 1
#endif
#endif

namespace ashlar::test {

/// Sanitizers and builds without optimisation play a tenth of what others do: the same code, in about the
/// same time.
#ifdef ASHLAR_SLOW_BUILD
inline constexpr std::uint32_t slowness = 10;
#else
inline constexpr std::uint32_t slowness = 1;
#endif

}  // namespace ashlar::test
