#pragma once
#include "server/host/content_room.h"
#include "server/host/session_table.h"

namespace ashlar::server {

/// The sessions' bulk streams as content goes into them: a client is its session's row.
class BulkStreams final : public ContentBulk {
 public:
  /// What may wait in a client's stream, not acknowledged: as much as a path of 40 Mbit/s and 25 ms holds.
  static constexpr std::size_t queue_bytes_max = 128 * 1024;

  /// @param sessions  must outlive this
  explicit BulkStreams(SessionTable& sessions) : sessions_(&sessions) {}

  bool can_take(std::uint32_t client, std::size_t bytes) override {
    return (*sessions_)[client].connection->queue_bytes(StreamId::bulk) + bytes <= queue_bytes_max;
  }
  void send(std::uint32_t client, std::span<const std::uint8_t> message) override {
    const SendResult sent = (*sessions_)[client].connection->send(StreamId::bulk, message);
    // A connection that ended in this very tick takes nothing more, and its row is freed with it.
    ASHLAR_ASSERT(sent == SendResult::sent || sent == SendResult::closed);
  }

 private:
  SessionTable* sessions_;
};
static_assert(content_message_bytes_max + message_prefix_bytes <= BulkStreams::queue_bytes_max);
static_assert(BulkStreams::queue_bytes_max <= stream_properties[row(StreamId::bulk)].queue_bytes_max);

}  // namespace ashlar::server
