#pragma once
#include <cstddef>
#include <vector>

namespace ashlar::client_sim {

/// Asks memory for what lies in a list, to have it in the cache by the time that it is needed. Some ten
/// lines are on their way at once, where one that is met by surprise holds up all that follows.
template <class Value>
void fetch_ahead(const std::vector<Value>& list) {
  constexpr std::size_t line_bytes = 64;
  const auto* const bytes = reinterpret_cast<const char*>(list.data());
  for (std::size_t at = 0; at < list.size() * sizeof(Value); at += line_bytes) __builtin_prefetch(bytes + at);
}

}  // namespace ashlar::client_sim
