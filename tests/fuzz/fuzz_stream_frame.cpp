// However a TCP stream is cut, the packets that come out are the same, and a broken one stays broken.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "protocol/stream_frame.h"

using namespace ashlar;

namespace {

struct Outcome {
  std::vector<std::vector<std::uint8_t>> packets;
  bool broken = false;
};

/// Feeds the stream in steps; the first byte of the input decides how it is cut.
Outcome read(std::span<const std::uint8_t> stream, std::size_t step) {
  Outcome out;
  StreamDeframer deframer;
  while (!stream.empty()) {
    const std::size_t take = step < stream.size() ? step : stream.size();
    deframer.feed(stream.first(take), [&](std::span<const std::uint8_t> packet) {
      if (packet.empty() || packet.size() > datagram_bytes_max) std::abort();
      out.packets.emplace_back(packet.begin(), packet.end());
    });
    stream = stream.subspan(take);
  }
  out.broken = deframer.broken();
  if (!out.broken && deframer.pending_bytes() > datagram_bytes_max + frame_prefix_bytes) std::abort();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> stream(data + 1, size - 1);
  const Outcome whole = read(stream, stream.size() + 1);
  const Outcome pieces = read(stream, static_cast<std::size_t>(data[0]) + 1);
  if (whole.packets != pieces.packets || whole.broken != pieces.broken) std::abort();
  return 0;
}
