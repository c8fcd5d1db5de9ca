#include "protocol/stream_frame.h"

#include <vector>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

using Bytes = std::vector<std::uint8_t>;

void append_frame(Bytes& stream, const Bytes& packet) {
  const auto prefix = frame_prefix(packet.size());
  stream.insert(stream.end(), prefix.begin(), prefix.end());
  stream.insert(stream.end(), packet.begin(), packet.end());
}

}  // namespace

TEST_CASE("packets come out of a stream however it is cut", "[protocol][stream_frame]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Rng rng{seed};
  std::vector<Bytes> packets;
  Bytes stream;
  for (int i = 0; i < 300; ++i) {
    Bytes packet(i == 0 ? 1 : (i == 1 ? datagram_bytes_max : 1 + rng.below(datagram_bytes_max)));
    for (auto& b : packet) b = static_cast<std::uint8_t>(rng.next_u32());
    append_frame(stream, packet);
    packets.push_back(packet);
  }
  StreamDeframer deframer;
  std::vector<Bytes> got;
  bool aligned = true;
  std::size_t at = 0;
  while (at < stream.size()) {
    const std::size_t step =
        std::min<std::size_t>(1 + rng.below(rng.below(2) == 0 ? 3 : 3000), stream.size() - at);
    REQUIRE(deframer.feed(std::span(stream).subspan(at, step), [&](std::span<const std::uint8_t> packet) {
      aligned = aligned && reinterpret_cast<std::uintptr_t>(packet.data()) % 8 == 0;
      got.emplace_back(packet.begin(), packet.end());
    }));
    at += step;
  }
  CHECK(got == packets);
  CHECK(aligned);
  CHECK(deframer.pending_bytes() == 0);
}

TEST_CASE("a truncated stream yields the whole packets and holds the rest", "[protocol][stream_frame]") {
  Bytes stream;
  append_frame(stream, Bytes(5, 1));
  append_frame(stream, Bytes(7, 2));
  for (std::size_t size = 0; size <= stream.size(); ++size) {
    StreamDeframer deframer;
    std::size_t count = 0;
    REQUIRE(deframer.feed(std::span(stream).first(size), [&](std::span<const std::uint8_t>) { ++count; }));
    CHECK(count == (size < 7 ? 0u : (size < 16 ? 1u : 2u)));
    CHECK(deframer.pending_bytes() == (size < 7 ? size : (size < 16 ? size - 7 : 0)));
  }
}

TEST_CASE("a length of 0 or above the largest packet breaks the stream for good",
          "[protocol][stream_frame]") {
  const std::size_t length = GENERATE(0u, 1201u, 32768u, 65535u);
  CAPTURE(length);
  Bytes stream;
  append_frame(stream, Bytes(3, 9));
  stream.push_back(static_cast<std::uint8_t>(length & 0xff));
  stream.push_back(static_cast<std::uint8_t>(length >> 8));
  append_frame(stream, Bytes(4, 9));
  StreamDeframer deframer;
  std::size_t count = 0;
  const auto sink = [&](std::span<const std::uint8_t>) { ++count; };
  CHECK_FALSE(deframer.feed(stream, sink));
  CHECK(count == 1);
  CHECK(deframer.broken());
  CHECK_FALSE(deframer.feed(stream, sink));
  CHECK(count == 1);
}
