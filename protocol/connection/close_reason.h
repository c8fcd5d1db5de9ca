#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ashlar {

/// Why a connection ended. Numbers travel: they keep their meaning for good. Those from `application` on are
/// the application's own.
enum class CloseReason : std::uint8_t {
  none = 0,          ///< it has not
  done = 1,          ///< all that was to say was said
  timeout = 2,       ///< nothing came for the time of the settings; never travels
  malformed = 3,     ///< a packet that opened held no valid frames
  bad_ack = 4,       ///< a packet was acknowledged that was never sent
  flow_control = 5,  ///< more was sent on a stream than was allowed
  bad_stream = 6,    ///< a message of no bytes, or longer than its stream allows
  keys_spent = 7,    ///< the keys protect no more packets and were not renewed
  application = 64,
};

/// The longest text that goes with it, in bytes.
inline constexpr std::size_t close_text_bytes_max = 200;

/// Spelled as the enumerator; "application" from there on. For logs and metrics.
std::string_view name(CloseReason reason);

}  // namespace ashlar
