#include "server/map_order.h"

#include <algorithm>
#include <array>

#include "world/math/assert.h"

namespace ashlar::server {
namespace {

struct SecretExit {
  std::string_view from, to, back;  ///< the map with the exit, the secret one, and the one behind that
};
/// Source: the Unofficial Doom Specs (Fell 1994) for Doom, its second edition's for Doom II.
constexpr std::array<SecretExit, 6> secret_exits{{{"E1M3", "E1M9", "E1M4"},
                                                  {"E2M5", "E2M9", "E2M6"},
                                                  {"E3M6", "E3M9", "E3M7"},
                                                  {"E4M2", "E4M9", "E4M3"},
                                                  {"MAP15", "MAP31", "MAP16"},
                                                  {"MAP31", "MAP32", "MAP16"}}};

std::size_t find_name(std::span<const std::string> names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return static_cast<std::size_t>(found - names.begin());
}

const SecretExit* leading_to(std::string_view map) {
  const auto found = std::ranges::find(secret_exits, map, &SecretExit::to);
  return found == secret_exits.end() ? nullptr : &*found;
}

}  // namespace

std::string_view secret_exit_of(std::string_view map) {
  const auto found = std::ranges::find(secret_exits, map, &SecretExit::from);
  return found == secret_exits.end() ? std::string_view() : found->to;
}

bool is_secret_exit(std::uint16_t special) { return special == 51 || special == 124 || special == 198; }

std::size_t next_in_order(std::span<const std::string> names, std::size_t at, bool secret, bool skip_secret) {
  ASHLAR_ASSERT(at < names.size());
  if (const std::string_view to = secret_exit_of(names[at]); secret && !to.empty())
    if (const std::size_t found = find_name(names, to); found < names.size()) return found;
  if (const SecretExit* here = leading_to(names[at]); here != nullptr)
    if (const std::size_t found = find_name(names, here->back); found < names.size()) return found;
  for (std::size_t step = 1; step <= names.size(); ++step) {
    const std::size_t next = (at + step) % names.size();
    if (!skip_secret || leading_to(names[next]) == nullptr) return next;
  }
  return (at + 1) % names.size();
}

}  // namespace ashlar::server
