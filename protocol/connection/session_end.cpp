#include "protocol/connection/session_end.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ashlar {
namespace {

constexpr std::array session_end_names{
    std::pair{SessionEnd::shutting_down, std::string_view{"shutting_down"}},
    std::pair{SessionEnd::full, std::string_view{"full"}},
    std::pair{SessionEnd::content, std::string_view{"content"}},
    std::pair{SessionEnd::banned, std::string_view{"banned"}},
    std::pair{SessionEnd::bad_name, std::string_view{"bad_name"}},
    std::pair{SessionEnd::too_many_from_address, std::string_view{"too_many_from_address"}},
    std::pair{SessionEnd::kicked, std::string_view{"kicked"}},
    std::pair{SessionEnd::overload, std::string_view{"overload"}},
    std::pair{SessionEnd::protocol, std::string_view{"protocol"}},
    std::pair{SessionEnd::bad_hello, std::string_view{"bad_hello"}},
    std::pair{SessionEnd::replaced, std::string_view{"replaced"}},
    std::pair{SessionEnd::name_taken, std::string_view{"name_taken"}},
    std::pair{SessionEnd::away_too_long, std::string_view{"away_too_long"}},
    std::pair{SessionEnd::token_missing, std::string_view{"token_missing"}},
    std::pair{SessionEnd::token_malformed, std::string_view{"token_malformed"}},
    std::pair{SessionEnd::token_truncated, std::string_view{"token_truncated"}},
    std::pair{SessionEnd::token_wrong_version, std::string_view{"token_wrong_version"}},
    std::pair{SessionEnd::token_bad_signature, std::string_view{"token_bad_signature"}},
    std::pair{SessionEnd::token_unknown_issuer, std::string_view{"token_unknown_issuer"}},
    std::pair{SessionEnd::token_expired, std::string_view{"token_expired"}},
    std::pair{SessionEnd::token_not_yet, std::string_view{"token_not_yet"}},
    std::pair{SessionEnd::token_other_client, std::string_view{"token_other_client"}},
    std::pair{SessionEnd::token_other_server, std::string_view{"token_other_server"}},
    std::pair{SessionEnd::quit, std::string_view{"quit"}},
    std::pair{SessionEnd::stopped, std::string_view{"stopped"}},
    std::pair{SessionEnd::lacks_content, std::string_view{"lacks_content"}},
    std::pair{SessionEnd::unknown_terrain, std::string_view{"unknown_terrain"}},
};

}  // namespace

std::optional<SessionEnd> session_end(CloseReason reason) {
  const auto known = [reason](const auto& row) { return close_reason(row.first) == reason; };
  if (std::ranges::none_of(session_end_names, known)) return std::nullopt;
  return static_cast<SessionEnd>(reason);
}

std::string_view name(SessionEnd end) {
  const auto row = std::ranges::find(session_end_names, end, [](const auto& r) { return r.first; });
  return row == session_end_names.end() ? "unknown" : row->second;
}

std::string_view end_name(CloseReason reason) {
  const auto end = session_end(reason);
  return end ? name(*end) : name(reason);
}

}  // namespace ashlar
