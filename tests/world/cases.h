#pragma once
#include <cstdlib>

namespace ashlar::test {

/// How many cases a property is tried with: few in the normal run, `./dev test --long` multiplies them by
/// ASHLAR_TEST_LONG.
inline int cases(int normal) {
  const char* text = std::getenv("ASHLAR_TEST_LONG");
  const int factor = text != nullptr ? std::atoi(text) : 1;
  return normal * (factor > 1 ? factor : 1);
}

}  // namespace ashlar::test
