#include "protocol/packet.h"

#include <vector>

#include "protocol/version.h"
#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

TEST_CASE("a packet header survives the way through bytes", "[protocol][packet]") {
  Rng rng{1};
  for (int i = 0; i < 1000; ++i) {
    PacketHeader header;
    header.connection = rng.next_u32();
    header.sequence = rng.next_u64() | 1;
    header.ack = rng.next_u32();
    header.ack_bits = rng.next_u32();
    const auto head = encode(header);
    std::vector<std::uint8_t> bytes(head.begin(), head.end());
    bytes.push_back(7);
    const auto packet = decode_packet(bytes);
    REQUIRE(packet.has_value());
    CHECK(packet->header == header);
    REQUIRE(packet->payload.size() == 1);
    CHECK(packet->payload[0] == 7);
  }
}

TEST_CASE("every truncation of a header is refused", "[protocol][packet]") {
  const auto head = encode({.connection = 1, .sequence = 2, .ack = 3, .ack_bits = 4});
  for (std::size_t size = 0; size < head.size(); ++size) {
    const auto packet = decode_packet(std::span(head).first(size));
    REQUIRE_FALSE(packet.has_value());
    CHECK(packet.error() == DropReason::too_short);
  }
  CHECK(decode_packet(head).has_value());
}

TEST_CASE("a packet of another version is told apart whatever follows", "[protocol][packet]") {
  std::vector<std::uint8_t> bytes(3, 0xff);
  bytes[0] = protocol_version + 1;
  CHECK(decode_packet(bytes).error() == DropReason::wrong_version);
  bytes.resize(2000, 0xff);
  CHECK(decode_packet(bytes).error() == DropReason::wrong_version);
}

TEST_CASE("unknown flags, reserved bits and sequence 0 are refused", "[protocol][packet]") {
  auto head = encode({.connection = 1, .sequence = 2, .ack = 0, .ack_bits = 0});
  for (const std::size_t byte : {1u, 2u, 3u})
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = head;
      changed[byte] = static_cast<std::uint8_t>(1 << bit);
      CHECK(decode_packet(changed).error() == DropReason::bad_header);
    }
  head[8] = 0;
  CHECK(decode_packet(head).error() == DropReason::bad_header);
}

TEST_CASE("a packet above the largest size is refused", "[protocol][packet]") {
  const auto head = encode({.connection = 1, .sequence = 2, .ack = 0, .ack_bits = 0});
  std::vector<std::uint8_t> bytes(head.begin(), head.end());
  bytes.resize(datagram_bytes_max);
  CHECK(decode_packet(bytes).has_value());
  bytes.push_back(0);
  CHECK(decode_packet(bytes).error() == DropReason::too_long);
}

TEST_CASE("every drop reason has a name of its own", "[protocol][drop_reason]") {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < drop_reason_count; ++i) names.emplace_back(name(static_cast<DropReason>(i)));
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::find(names.begin(), names.end(), "unknown") == names.end());
  CHECK(name(DropReason::too_short) == "too_short");
  CHECK(name(DropReason::duplicate) == "duplicate");
  CHECK(name(DropReason::broken_stream) == "broken_stream");
}
