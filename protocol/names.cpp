#include "protocol/messages.h"

namespace ashlar {

std::string_view name(RefuseReason reason) {
  static constexpr std::array<std::string_view, refuse_reason_count> names{
      "version", "full", "content", "banned", "bad_name", "closed", "too_many_from_address", "shutting_down"};
  const auto index = static_cast<std::size_t>(reason);
  return index < names.size() ? names[index] : "unknown";
}

std::string_view name(GoodbyeReason reason) {
  static constexpr std::array<std::string_view, goodbye_reason_count> names{
      "shutting_down", "kicked", "timeout", "protocol", "left", "overload"};
  const auto index = static_cast<std::size_t>(reason);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace ashlar
