// Whatever a sealed packet holds: frames come out within their bounds, or not at all, and what was read can
// be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "protocol/connection/frames.h"

using namespace ashlar;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_ack(const AckFrame& ack) {
  require(ack.range_count >= 1 && ack.range_count <= AckRanges::ranges_max);
  for (std::size_t i = 0; i < ack.range_count; ++i) {
    require(ack.ranges[i].first >= 1 && ack.ranges[i].first <= ack.ranges[i].last);
    require(i == 0 || ack.ranges[i].last + 1 < ack.ranges[i - 1].first);
  }
}

/// Writes a frame again, where unreliable messages lie as they did.
void write(FrameWriter& writer, const Frame& frame) {
  if (std::holds_alternative<PingFrame>(frame)) require(writer.ping());
  if (const auto* ack = std::get_if<AckFrame>(&frame)) {
    check_ack(*ack);
    // Its delay is cut to a quarter of an hour and a bit.
    writer.ack(std::span(ack->ranges).first(ack->range_count), ack->delay_us, writer.left());
  }
  if (const auto* credit = std::get_if<CreditFrame>(&frame)) require(writer.credit(*credit));
  if (const auto* reset = std::get_if<StreamResetFrame>(&frame)) require(writer.stream_reset(*reset));
  if (const auto* challenge = std::get_if<PathChallengeFrame>(&frame))
    require(writer.path_challenge(challenge->data));
  if (const auto* response = std::get_if<PathResponseFrame>(&frame))
    require(writer.path_response(response->data));
  if (const auto* close = std::get_if<CloseFrame>(&frame)) require(writer.close(close->reason, close->text));
  if (const auto* unreliable = std::get_if<UnreliableFrame>(&frame))
    require(writer.unreliable(unreliable->message));
  if (const auto* stream = std::get_if<StreamFrame>(&frame)) {
    require(row(stream->stream) < stream_count && !stream->bytes.empty());
    require(stream->offset + stream->bytes.size() <= varint_max);
    const auto body = writer.stream(stream->stream, stream->offset, stream->bytes.size());
    std::memcpy(body.data(), stream->bytes.data(), body.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > plaintext_bytes_max) return 0;
  std::vector<std::uint8_t> again(2 * plaintext_bytes_max);
  FrameWriter writer(again);
  FrameReader reader({data, size});
  Frame frame;
  std::size_t count = 0;
  while (reader.next(frame)) {
    require(++count <= frames_max);
    write(writer, frame);
  }
  FrameReader second(std::span(again).first(writer.size()));
  std::size_t count_again = 0;
  while (second.next(frame)) ++count_again;
  require(!second.malformed() && count_again == count);
  return 0;
}
