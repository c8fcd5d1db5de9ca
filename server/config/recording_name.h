#pragma once
#include <cstdint>
#include <ctime>
#include <expected>
#include <string>
#include <string_view>

// Names of recordings: patterns of time, and numbers behind names that are taken.

namespace ashlar::server {

/// What happens when a recording of the name is there already.
enum class ExistingRecording : std::uint8_t {
  refuse,  ///< the start is refused
  next,    ///< the name gets a number: match.rec, match-2.rec, match-3.rec
};

/// Is it the name of a file, and are its % conversions such that any time gives a good name? Those of
/// strftime that are digits of a fixed count: %Y %m %d %H %M %S %j, and %% for a percent sign; none in
/// folders.
std::expected<void, std::string> check_recording_name(std::string_view pattern);

/// The pattern with the time filled in. @param at  local time
std::string recording_name(const std::string& pattern, const std::tm& at);

/// Would this pattern, at some time and with some number behind it, give this name? Both without folders.
bool is_recording_name(std::string_view name, std::string_view pattern);

/// "match-3.rec" for "match.rec": the number stands before the last dot of the file's own name. Below 2:
/// none.
std::string numbered_recording(const std::string& path, unsigned number);

}  // namespace ashlar::server
