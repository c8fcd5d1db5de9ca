#pragma once

// The TOML parser as every source that reads TOML includes it, so that all of them have the same one.
//
// It asserts in places that a broken text reaches ("[[[" in toml++ 3.3), and with NDEBUG makes promises to
// the compiler of them. Here each is an exception, and the text is refused like any other that is wrong. To
// be included before anything that includes the parser, and by few sources: it takes seconds to compile.

namespace ashlar {
/// Thrown where the parser asserts.
struct TomlAssertion {};
constexpr void require_of_toml_parser(bool holds) {
  if (!holds) throw TomlAssertion{};
}
}  // namespace ashlar
#undef NDEBUG
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(expression) ashlar::require_of_toml_parser(static_cast<bool>(expression))
#include <toml++/toml.h>
