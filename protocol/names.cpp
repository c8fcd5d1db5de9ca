#include "protocol/messages.h"

namespace ashlar {

std::string_view name(ContentRefusal reason) {
  static constexpr std::array<std::string_view, content_refusal_count> names{"unknown", "off", "not_offered",
                                                                             "bad_offset"};
  const auto index = static_cast<std::size_t>(reason);
  return index < names.size() ? names[index] : "?";
}

}  // namespace ashlar
