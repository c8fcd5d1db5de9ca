#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ashlar {

/// The reliable, ordered streams of a connection, most urgent first: what is due on one goes before all that
/// is due on those behind it. None waits for another's lost packets.
enum class StreamId : std::uint8_t {
  control = 0,  ///< what a session must agree on: welcome, joins, another world
  events = 1,   ///< what happened in the world and must not be missed
  chat = 2,
  edits = 3,  ///< changed blocks
  bulk = 4,   ///< ground, maps, props
};
inline constexpr std::size_t stream_count = 5;

/// Bounds of one stream, the same at both ends.
struct StreamProperties {
  std::string_view name;
  /// A longer message is refused (`SendResult::too_long`); a peer that announces one is closed.
  std::uint32_t message_bytes_max;
  /// Sent and not acknowledged plus not sent yet. A message that does not fit is refused whole
  /// (`SendResult::queue_full`).
  std::uint32_t queue_bytes_max;
};

/// In front of each message in its stream: its length, u32.
inline constexpr std::size_t message_prefix_bytes = 4;

inline constexpr std::array<StreamProperties, stream_count> stream_properties{{
    {"control", 64 * 1024, 128 * 1024},
    {"events", 16 * 1024, 64 * 1024},
    {"chat", 1024, 16 * 1024},
    {"edits", 64 * 1024, 256 * 1024},
    {"bulk", 1024 * 1024, 2 * 1024 * 1024},
}};

/// What one end lets its peer send ahead of its application, per stream: the most memory that received
/// streams can take. A whole message must fit, or it would never be complete.
using StreamWindows = std::array<std::uint32_t, stream_count>;

/// A client takes all of it: 1.6 MiB at most.
inline constexpr StreamWindows client_stream_windows{128 * 1024, 64 * 1024, 16 * 1024, 128 * 1024,
                                                     1280 * 1024};
/// A server has many peers, who have less to say: 116 KiB a session at most. Messages longer than its window
/// never arrive at it: its clients' applications know not to send such.
inline constexpr StreamWindows server_stream_windows{32 * 1024, 16 * 1024, 4 * 1024, 32 * 1024, 32 * 1024};

/// Index of a stream in tables by stream.
constexpr std::size_t row(StreamId stream) { return static_cast<std::size_t>(stream); }
/// Bounds and name of a stream.
constexpr const StreamProperties& properties(StreamId stream) { return stream_properties[row(stream)]; }
/// As operators see it in the status.
constexpr std::string_view name(StreamId stream) { return properties(stream).name; }

namespace detail {
/// The longest message of every stream fits its queue.
constexpr bool messages_fit() {
  for (std::size_t i = 0; i < stream_count; ++i) {
    const std::size_t whole = stream_properties[i].message_bytes_max + message_prefix_bytes;
    if (whole > stream_properties[i].queue_bytes_max || whole > client_stream_windows[i]) return false;
  }
  return true;
}
}  // namespace detail
static_assert(detail::messages_fit());

/// What became of something given to the connection to send.
enum class SendResult : std::uint8_t {
  sent,        ///< on its way, or queued to be
  queue_full,  ///< the stream's queue has no room for the whole message: nothing of it was taken
  too_long,    ///< above message_bytes_max, or what fits a packet
  congested,   ///< unreliable: as much is on its way as the path holds; leave this one out
  closed,      ///< the connection is over
};
inline constexpr std::size_t send_result_count = 5;

/// Spelled as the enumerator; for logs and metrics.
std::string_view name(SendResult result);

}  // namespace ashlar
