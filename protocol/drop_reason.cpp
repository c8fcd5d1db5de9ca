#include "protocol/drop_reason.h"

#include <array>

namespace ashlar {

std::string_view name(DropReason reason) {
  static constexpr std::array<std::string_view, drop_reason_count> names{
      "too_short",    "too_long",     "wrong_version",      "bad_header",  "malformed", "unknown_message",
      "out_of_range", "bad_text",     "unknown_connection", "wrong_state", "duplicate", "too_old",
      "bad_ack",      "rate_limited", "wrong_address",      "corrupt"};
  const auto index = static_cast<std::size_t>(reason);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace ashlar
