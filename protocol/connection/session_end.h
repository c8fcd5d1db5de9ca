#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/connection/close_reason.h"

namespace ashlar {

/// Why a game's session ended or did not begin: what travels as a close's reason, from
/// CloseReason::application on. Numbers keep their meaning for good; new ones go behind the last of their
/// group.
enum class SessionEnd : std::uint8_t {
  // The server turns a player away, or ends a session.
  shutting_down = 64,
  full = 65,     ///< no place is free
  content = 66,  ///< the client lacks a map or prop, or holds another one
  banned = 67,
  bad_name = 68,               ///< not valid_player_name
  too_many_from_address = 69,  ///< at once, or too often within a minute
  kicked = 70,
  overload = 71,   ///< it did not take what it was sent: a slow reader
  protocol = 72,   ///< said what makes no sense in its state, or is no message
  bad_hello = 73,  ///< the finish's payload is no hello, or its build no text
  replaced = 74,   ///< the same player came in by another connection
  name_taken = 75,
  away_too_long = 76,  ///< it vanished, and its place was given away
  // A closed server turns a connect token down, each reason apart (secure::TokenError).
  token_missing = 96,
  token_malformed = 97,
  token_truncated = 98,
  token_wrong_version = 99,
  token_bad_signature = 100,
  token_unknown_issuer = 101,
  token_expired = 102,
  token_not_yet = 103,
  token_other_client = 104,
  token_other_server = 105,
  // The client goes.
  quit = 128,
  stopped = 129,          ///< its program ends
  lacks_content = 130,    ///< it has not what the welcome names
  unknown_terrain = 131,  ///< it cannot make the ground that the welcome names
};

/// As it travels.
constexpr CloseReason close_reason(SessionEnd end) { return static_cast<CloseReason>(end); }
/// What a peer's reason means; none: it is no SessionEnd that this version knows.
std::optional<SessionEnd> session_end(CloseReason reason);

/// Spelled as the enumerator; for logs and reports.
std::string_view name(SessionEnd end);
/// The same for any reason of a close.
std::string_view end_name(CloseReason reason);

}  // namespace ashlar
