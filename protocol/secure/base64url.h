#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/secure/secret.h"

namespace ashlar::secure {

/// Letters, digits, '-' and '_', without padding. Source: RFC 4648, section 5.
std::string base64url(ByteSpan bytes);
/// Nothing when a character is none of those or the last one has bits too many; bytes_max bounds what is
/// made.
std::optional<std::vector<std::uint8_t>> from_base64url(std::string_view text, std::size_t bytes_max);

}  // namespace ashlar::secure
