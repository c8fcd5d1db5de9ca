#include "protocol/connection/frames.h"

#include <algorithm>
#include <cstring>

#include "protocol/bytes.h"
#include "protocol/text.h"
#include "world/math/assert.h"

namespace ashlar {

std::uint8_t FrameReader::u8() {
  if (left() == 0) return malformed_ = true, std::uint8_t{0};
  return bytes_[at_++];
}

std::uint64_t FrameReader::u64() {
  std::uint64_t v = 0;
  const auto bytes = take(8);
  for (std::size_t i = 0; i < bytes.size(); ++i) v |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  return v;
}

std::uint64_t FrameReader::varint() {
  std::uint64_t v = 0;
  for (unsigned shift = 0; shift < 63; shift += 7) {
    const std::uint8_t b = u8();
    v |= static_cast<std::uint64_t>(b & 0x7f) << shift;
    if ((b & 0x80) != 0) continue;
    // One spelling for each number: no zeros at its end.
    if ((b == 0 && shift > 0) || v > varint_max) malformed_ = true;
    return v;
  }
  malformed_ = true;
  return 0;
}

std::span<const std::uint8_t> FrameReader::take(std::uint64_t count) {
  if (malformed_ || count > left()) return malformed_ = true, std::span<const std::uint8_t>{};
  const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(count));
  at_ += taken.size();
  return taken;
}

bool FrameReader::next(Frame& frame) {
  while (at_ < bytes_.size() && bytes_[at_] == static_cast<std::uint8_t>(FrameType::padding)) ++at_;
  if (malformed_ || at_ == bytes_.size()) return false;
  const bool good = ++frames_ <= frames_max && read(u8(), frame) && !malformed_;
  malformed_ = !good;
  if (!good) at_ = bytes_.size();
  return good;
}

namespace {
bool known(std::uint64_t stream) { return stream < stream_count; }
}  // namespace

bool FrameReader::read(std::uint8_t type, Frame& frame) {
  switch (static_cast<FrameType>(type)) {
    case FrameType::ping: frame = PingFrame{}; return true;
    case FrameType::ack: return ++acks_ == 1 && read_ack(frame.emplace<AckFrame>());
    case FrameType::credit:
    case FrameType::stream_reset: {
      const std::uint8_t stream = u8();
      const std::uint64_t offset = varint();
      if (type == static_cast<std::uint8_t>(FrameType::credit))
        frame = CreditFrame{static_cast<StreamId>(stream), offset};
      else
        frame = StreamResetFrame{static_cast<StreamId>(stream), offset};
      return known(stream);
    }
    case FrameType::path_challenge: frame = PathChallengeFrame{u64()}; return true;
    case FrameType::path_response: frame = PathResponseFrame{u64()}; return true;
    case FrameType::close: return read_close(frame.emplace<CloseFrame>());
    case FrameType::unreliable: {
      // Where the decoder of a message may look for numbers of 8 bytes.
      if ((plaintext_begin + at_) % unreliable_alignment != 0) return false;
      frame = UnreliableFrame{take(left())};
      return !std::get<UnreliableFrame>(frame).message.empty();
    }
    default: break;
  }
  const std::uint64_t stream = std::uint64_t{type} - static_cast<std::uint64_t>(FrameType::stream);
  if (!known(stream)) return false;
  const std::uint64_t offset = varint();
  const auto bytes = take(varint());
  frame = StreamFrame{static_cast<StreamId>(stream), offset, bytes};
  return !bytes.empty() && offset <= varint_max - bytes.size();
}

bool FrameReader::read_ack(AckFrame& ack) {
  const std::uint64_t largest = varint();
  ack.delay_us = varint();
  const std::uint64_t more = u8();
  const std::uint64_t length = varint();  // one less than how many
  if (malformed_ || more >= AckRanges::ranges_max || length >= largest) return false;
  ack.ranges[0] = {largest - length, largest};
  ack.range_count = 1;
  for (std::uint64_t i = 0; i < more; ++i) {
    const std::uint64_t below = ack.ranges[ack.range_count - 1].first;
    const std::uint64_t gap = varint();  // packets between them, less one
    const std::uint64_t count = varint();
    // Sequences begin at 1: the last one of this range lies gap + 2 below the first of the one before.
    if (malformed_ || gap + 2 >= below || count >= below - gap - 2) return false;
    const std::uint64_t last = below - gap - 2;
    ack.ranges[ack.range_count++] = {last - count, last};
  }
  return true;
}

bool FrameReader::read_close(CloseFrame& close) {
  close.reason = static_cast<CloseReason>(u8());
  const auto text = take(u8());
  close.text = {reinterpret_cast<const char*>(text.data()), text.size()};
  return !malformed_ && close.reason != CloseReason::none && valid_text(close.text, 0, close_text_bytes_max);
}

void FrameWriter::put(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_[at_++] = static_cast<std::uint8_t>(value | 0x80);
  bytes_[at_++] = static_cast<std::uint8_t>(value);
}

void FrameWriter::put_u64(std::uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes_[at_++] = static_cast<std::uint8_t>(value >> (8 * i));
}

bool FrameWriter::ping() {
  if (left() < 1) return false;
  type(FrameType::ping);
  return true;
}

std::size_t FrameWriter::ack(std::span<const AckRange> ranges, std::uint64_t delay_us,
                             std::size_t bytes_max) {
  bytes_max = std::min(bytes_max, left());
  if (ranges.empty()) return 0;
  delay_us = std::min<std::uint64_t>(delay_us, 1u << 30);
  const AckRange newest = ranges[0];
  std::size_t bytes =
      2 + varint_bytes(newest.last) + varint_bytes(delay_us) + varint_bytes(newest.last - newest.first);
  if (bytes > bytes_max) return 0;
  std::size_t count = 1;
  for (; count < ranges.size() && count < AckRanges::ranges_max; ++count) {
    const std::uint64_t gap = ranges[count - 1].first - ranges[count].last - 2;
    const std::size_t more = varint_bytes(gap) + varint_bytes(ranges[count].last - ranges[count].first);
    if (bytes + more > bytes_max) break;
    bytes += more;
  }
  type(FrameType::ack);
  put(newest.last), put(delay_us);
  bytes_[at_++] = static_cast<std::uint8_t>(count - 1);
  put(newest.last - newest.first);
  for (std::size_t i = 1; i < count; ++i) {
    put(ranges[i - 1].first - ranges[i].last - 2);
    put(ranges[i].last - ranges[i].first);
  }
  return count;
}

bool FrameWriter::credit(const CreditFrame& frame) {
  if (left() < 2 + varint_bytes(frame.limit)) return false;
  type(FrameType::credit);
  bytes_[at_++] = static_cast<std::uint8_t>(frame.stream);
  put(frame.limit);
  return true;
}

bool FrameWriter::stream_reset(const StreamResetFrame& frame) {
  if (left() < 2 + varint_bytes(frame.offset)) return false;
  type(FrameType::stream_reset);
  bytes_[at_++] = static_cast<std::uint8_t>(frame.stream);
  put(frame.offset);
  return true;
}

bool FrameWriter::path_challenge(std::uint64_t data) {
  if (left() < 9) return false;
  type(FrameType::path_challenge);
  put_u64(data);
  return true;
}

bool FrameWriter::path_response(std::uint64_t data) {
  if (left() < 9) return false;
  type(FrameType::path_response);
  put_u64(data);
  return true;
}

bool FrameWriter::close(CloseReason reason, std::string_view text) {
  if (left() < 3) return false;
  text = text.substr(0, std::min(left() - 3, close_text_bytes_max));
  type(FrameType::close);
  bytes_[at_++] = static_cast<std::uint8_t>(reason);
  bytes_[at_++] = static_cast<std::uint8_t>(text.size());
  if (!text.empty()) std::memcpy(bytes_.data() + at_, text.data(), text.size());
  at_ += text.size();
  return true;
}

std::size_t FrameWriter::stream_room(std::uint64_t offset) const {
  const std::size_t head = 1 + varint_bytes(offset) + 2;  // a packet's lengths take two bytes at most
  return left() > head ? left() - head : 0;
}

std::span<std::uint8_t> FrameWriter::stream(StreamId stream, std::uint64_t offset, std::size_t count) {
  ASHLAR_ASSERT(count >= 1);
  ASHLAR_ASSERT(count <= stream_room(offset));
  type(FrameType::stream, row(stream));
  put(offset), put(count);
  const auto body = bytes_.subspan(at_, count);
  at_ += count;
  return body;
}

bool FrameWriter::unreliable(std::span<const std::uint8_t> message) {
  std::size_t body = plaintext_begin + at_ + 1;
  body = (body + unreliable_alignment - 1) / unreliable_alignment * unreliable_alignment - plaintext_begin;
  if (message.empty() || body + message.size() > bytes_.size()) return false;
  while (at_ + 1 < body) type(FrameType::padding);
  type(FrameType::unreliable);
  std::memcpy(bytes_.data() + at_, message.data(), message.size());
  at_ += message.size();
  return true;
}

static_assert(plaintext_bytes_max < 1u << 14, "stream_room() counts two bytes for a length");

}  // namespace ashlar
