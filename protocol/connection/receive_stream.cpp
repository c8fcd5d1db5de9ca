#include "protocol/connection/receive_stream.h"

#include <algorithm>
#include <array>

#include "world/math/assert.h"

namespace ashlar {

ReceiveStream::ReceiveStream(StreamId stream, std::uint32_t window_bytes)
    : stream_(stream), window_bytes_(window_bytes) {
  ASHLAR_ASSERT(window_bytes >= first_credit_bytes);
}

StreamAccept ReceiveStream::accept(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  const std::uint64_t end = offset + bytes.size();
  if (end > limit_) return StreamAccept::flow_control;
  if (end <= contiguous_) return StreamAccept::taken;
  const Interval fresh{std::max(offset, contiguous_), end};
  if (scattered_.count_with(fresh) > gaps_max) return StreamAccept::scattered;
  std::uint64_t at = fresh.begin;
  const auto put = [&](std::uint64_t until) {
    if (at < until) ring_.write(at, bytes.subspan(at - offset, until - at));
  };
  for (const Interval& held : scattered_.list()) {
    if (held.end <= at) continue;
    if (held.begin >= end) break;
    put(held.begin);
    at = held.end;
  }
  put(end);
  scattered_.insert(fresh);
  const Interval lowest = scattered_.list().front();
  if (lowest.begin <= contiguous_) {
    contiguous_ = lowest.end;
    scattered_.erase_below(contiguous_);
  }
  return head_is_bad() ? StreamAccept::bad_message : StreamAccept::taken;
}

StreamAccept ReceiveStream::reset(std::uint64_t offset) {
  if (offset > limit_) return StreamAccept::flow_control;
  if (offset <= ring_.base()) return StreamAccept::taken;
  ring_.advance(offset);
  scattered_.erase_below(offset);
  contiguous_ = std::max(contiguous_, offset);
  if (!scattered_.empty() && scattered_.list().front().begin == contiguous_) {
    contiguous_ = scattered_.list().front().end;
    scattered_.erase_below(contiguous_);
  }
  return head_is_bad() ? StreamAccept::bad_message : StreamAccept::taken;
}

std::optional<std::uint32_t> ReceiveStream::head_length() const {
  if (contiguous_ - ring_.base() < message_prefix_bytes) return std::nullopt;
  std::array<std::uint8_t, message_prefix_bytes> prefix;
  ring_.read(ring_.base(), prefix);
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < prefix.size(); ++i) length |= static_cast<std::uint32_t>(prefix[i]) << (8 * i);
  return length;
}

bool ReceiveStream::head_is_bad() const {
  const auto length = head_length();
  if (!length) return false;
  return *length == 0 || *length > properties(stream_).message_bytes_max ||
         *length + message_prefix_bytes > window_bytes_;
}

bool ReceiveStream::take_whole(std::vector<std::uint8_t>& message) {
  const auto length = head_length();
  if (!length || head_is_bad()) return false;
  const std::uint64_t begin = ring_.base() + message_prefix_bytes;
  if (contiguous_ - begin < *length) return false;
  message.resize(*length);
  ring_.read(begin, message);
  ring_.advance(begin + *length);
  return true;
}

bool ReceiveStream::credit_due() const {
  if (credit_lost_) return true;
  const std::uint64_t more = ring_.base() + window_bytes_ - limit_;
  if (more == 0) return false;
  if (more >= window_bytes_ / 2 || ring_.top() >= limit_) return true;
  // A message that goes beyond the limit would never be whole, and so never be taken; the same when the limit
  // lies in its length. Where the longest one fits nobody needs to look: this is asked of each stream for
  // each packet.
  if (limit_ - ring_.base() >= message_prefix_bytes + properties(stream_).message_bytes_max) return false;
  const std::uint64_t head_end = ring_.base() + message_prefix_bytes + head_length().value_or(0);
  return head_end > limit_;
}

std::uint64_t ReceiveStream::grant() {
  limit_ = std::max(limit_, ring_.base() + window_bytes_);
  credit_lost_ = false;
  return limit_;
}

}  // namespace ashlar
