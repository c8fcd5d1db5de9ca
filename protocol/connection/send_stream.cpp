#include "protocol/connection/send_stream.h"

#include <algorithm>
#include <array>

#include "world/math/assert.h"

namespace ashlar {

SendResult SendStream::send(std::span<const std::uint8_t> message) {
  ASHLAR_ASSERT(!message.empty());
  const StreamProperties& bounds = properties(stream_);
  if (message.size() > bounds.message_bytes_max) return SendResult::too_long;
  if (queued_bytes() + message_prefix_bytes + message.size() > bounds.queue_bytes_max)
    return SendResult::queue_full;
  std::array<std::uint8_t, message_prefix_bytes> prefix;
  for (std::size_t i = 0; i < prefix.size(); ++i)
    prefix[i] = static_cast<std::uint8_t>(message.size() >> (8 * i));
  ring_.write(ring_.top(), prefix);
  ring_.write(ring_.top(), message);
  return SendResult::sent;
}

std::optional<std::uint64_t> SendStream::next_offset() const {
  if (!lost_.empty()) return lost_.list().front().begin;
  if (sent_end_ < std::min(ring_.top(), credit_)) return sent_end_;
  return std::nullopt;
}

std::optional<Interval> SendStream::next(std::size_t bytes_max) {
  const auto begin = next_offset();
  if (!begin || bytes_max == 0) return std::nullopt;
  if (!lost_.empty()) {
    const Interval again{*begin, std::min(lost_.list().front().end, *begin + bytes_max)};
    lost_.erase(again);
    return again;
  }
  const Interval fresh{*begin, std::min({ring_.top(), credit_, *begin + bytes_max})};
  sent_end_ = fresh.end;
  return fresh;
}

void SendStream::copy(Interval bytes, std::span<std::uint8_t> out) const {
  ASHLAR_ASSERT(out.size() == bytes.size());
  ring_.read(bytes.begin, out);
}

void SendStream::acked(Interval bytes) {
  bytes.begin = std::max(bytes.begin, ring_.base());
  if (bytes.begin >= bytes.end) return;
  ASHLAR_ASSERT(bytes.end <= sent_end_);
  lost_.erase(bytes);
  acked_.insert(bytes);
  const Interval lowest = acked_.list().front();
  if (lowest.begin != ring_.base()) return;
  ring_.advance(lowest.end);
  acked_.erase_below(lowest.end);
}

std::uint64_t SendStream::lost(Interval bytes) {
  bytes.begin = std::max(bytes.begin, ring_.base());
  std::uint64_t again = 0;
  const auto resend = [&](Interval missing) {
    if (missing.begin >= missing.end) return;
    lost_.insert(missing);
    again += missing.size();
  };
  for (const Interval& arrived : acked_.list()) {
    if (arrived.end <= bytes.begin) continue;
    if (arrived.begin >= bytes.end) break;
    resend({bytes.begin, arrived.begin});
    bytes.begin = arrived.end;
  }
  resend(bytes);
  return again;
}

void SendStream::credit(std::uint64_t limit) { credit_ = std::max(credit_, limit); }

void SendStream::reset() {
  // What was never given out leaves no gap in the offsets: a new message takes its place.
  ring_.truncate(sent_end_);
  ring_.advance(sent_end_);
  acked_.clear(), lost_.clear();
  reset_ = sent_end_;
  reset_due_ = true;
}

void SendStream::reset_acked(std::uint64_t offset) {
  if (reset_ && *reset_ == offset) reset_.reset(), reset_due_ = false;
}

}  // namespace ashlar
