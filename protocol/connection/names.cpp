#include <array>

#include "protocol/connection/close_reason.h"
#include "protocol/connection/streams.h"

namespace ashlar {

std::string_view name(SendResult result) {
  constexpr std::array<std::string_view, send_result_count> names{"sent", "queue_full", "too_long",
                                                                  "congested", "closed"};
  const auto i = static_cast<std::size_t>(result);
  return i < names.size() ? names[i] : "unknown";
}

std::string_view name(CloseReason reason) {
  constexpr std::array<std::string_view, 8> names{"none",    "done",         "timeout",    "malformed",
                                                  "bad_ack", "flow_control", "bad_stream", "keys_spent"};
  const auto i = static_cast<std::size_t>(reason);
  if (reason >= CloseReason::application) return "application";
  return i < names.size() ? names[i] : "unknown";
}

}  // namespace ashlar
