#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ashlar {

/// Why a datagram was not acted upon. Received bytes are never asserted on: they are counted by these.
enum class DropReason : std::uint8_t {
  too_short,           ///< no room for the header, or a hello that is not padded to full size
  too_long,            ///< above datagram_bytes_max
  wrong_version,       ///< first byte is another protocol version
  bad_header,          ///< flags that this version does not know, or sequence 0
  malformed,           ///< not a FlatBuffers message of the kind this direction carries
  unknown_message,     ///< well formed, but of a type this version does not know
  out_of_range,        ///< a number, enumerator or list length outside its bounds; NaN
  bad_text,            ///< not UTF-8, not printable, too short or too long
  unknown_connection,  ///< a connection id that nobody holds
  wrong_state,         ///< a message that makes no sense now, like a second hello
  duplicate,           ///< a sequence number that was seen before
  too_old,             ///< a sequence number behind the replay window
  bad_ack,             ///< acknowledges what was never sent
  rate_limited,        ///< more than the peer's share
  wrong_address,       ///< a known connection from where it may not come
  corrupt,             ///< the header's check says that bytes changed on the way
};
inline constexpr std::size_t drop_reason_count = 16;

/// Spelled as the enumerator; for logs, metrics and reports.
std::string_view name(DropReason reason);

}  // namespace ashlar
