#pragma once
#include <cstdio>
#include <cstdlib>

/// Our own bugs stop the program, in release too: cheap conditions only, one each. Never on received bytes.
#define ASHLAR_ASSERT(condition)                                  \
  do {                                                            \
    if (!(condition)) [[unlikely]]                                \
      ::ashlar::assertion_failed(#condition, __FILE__, __LINE__); \
  } while (false)

/// For hot loops: checked only where ASHLAR_SLOW_ASSERTS is defined (the presets debug and asan).
#if defined(ASHLAR_SLOW_ASSERTS)
#define ASHLAR_ASSERT_SLOW(condition) ASHLAR_ASSERT(condition)
#else
#define ASHLAR_ASSERT_SLOW(condition) static_cast<void>(sizeof(!(condition)))
#endif

namespace ashlar {
/// Says on stderr what failed and where, and aborts. For ASHLAR_ASSERT alone.
[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "assertion failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}
}  // namespace ashlar
