#include "protocol/packet.h"

#include <vector>

#include "protocol/version.h"
#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

std::vector<std::uint8_t> sealed(const PacketHeader& header, std::size_t payload_bytes) {
  const auto head = encode(header);
  std::vector<std::uint8_t> bytes(head.begin(), head.end());
  bytes.resize(bytes.size() + payload_bytes, 0x5a);
  seal(bytes);
  return bytes;
}

}  // namespace

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
    seal(bytes);
    const auto packet = decode_packet(bytes);
    REQUIRE(packet.has_value());
    CHECK(packet->header == header);
    REQUIRE(packet->payload.size() == 1);
    CHECK(packet->payload[0] == 7);
  }
}

TEST_CASE("the answer to an unknown connection is a header that names the question", "[protocol][packet]") {
  const PacketHeader question{.connection = 0xfedcba98u, .sequence = 0x0123456789abcdefu, .ack = 5};
  const auto answer = unknown_connection_packet(question);
  const auto packet = decode_packet(answer);
  REQUIRE(packet.has_value());
  CHECK(packet->payload.empty());
  CHECK(packet->header.connection == question.connection);
  CHECK(packet->header.sequence == question.sequence);
  CHECK(packet->header.ack == 0);
}

TEST_CASE("a nonce is found in a packet of any version", "[protocol][packet]") {
  PacketHeader header{.connection = 0, .sequence = 1};
  put_nonce(header, 0x1122334455667788u);
  std::vector<std::uint8_t> bytes = sealed(header, 10);
  bytes[0] = protocol_version + 1;
  CHECK(nonce_of(bytes) == 0x1122334455667788u);
  CHECK(bytes[16] == 0x88);
  CHECK(bytes[23] == 0x11);
  CHECK(nonce_of(std::span(bytes).first(packet_header_bytes - 1)) == 0);
}

TEST_CASE("every truncation of a packet is refused", "[protocol][packet]") {
  std::vector<std::uint8_t> bytes = sealed({.connection = 1, .sequence = 2, .ack = 3, .ack_bits = 4}, 40);
  REQUIRE(decode_packet(bytes).has_value());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto packet = decode_packet(std::span(bytes).first(size));
    REQUIRE_FALSE(packet.has_value());
    CHECK(packet.error() == (size < packet_header_bytes ? DropReason::too_short : DropReason::corrupt));
  }
}

TEST_CASE("a packet of another version is told apart whatever follows", "[protocol][packet]") {
  std::vector<std::uint8_t> bytes(3, 0xff);
  bytes[0] = protocol_version + 1;
  CHECK(decode_packet(bytes).error() == DropReason::wrong_version);
  bytes.resize(2000, 0xff);
  CHECK(decode_packet(bytes).error() == DropReason::wrong_version);
}

TEST_CASE("one changed bit anywhere is noticed", "[protocol][packet]") {
  Rng rng{2};
  for (const std::size_t payload : {0u, 1u, 2u, 3u, 100u, 1176u}) {
    std::vector<std::uint8_t> bytes =
        sealed({.connection = 1, .sequence = 9, .ack = 3, .ack_bits = 4}, payload);
    for (auto& b : std::span(bytes).subspan(packet_header_bytes))
      b = static_cast<std::uint8_t>(rng.next_u32());
    seal(bytes);
    std::size_t noticed = 0;
    for (std::size_t bit = 8; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
      noticed += decode_packet(bytes).has_value() ? 0u : 1u;
      bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
    }
    // A check of 16 bits misses one change in 65536.
    CHECK(noticed + 2 >= 8 * bytes.size() - 8);
  }
}

TEST_CASE("swapped, doubled and missing words are noticed", "[protocol][packet]") {
  Rng rng{3};
  std::size_t missed = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint8_t> bytes = sealed({.connection = 1, .sequence = 9, .ack = 3, .ack_bits = 4}, 64);
    for (auto& b : std::span(bytes).subspan(packet_header_bytes))
      b = static_cast<std::uint8_t>(rng.next_u32());
    seal(bytes);
    auto changed = bytes;
    const std::size_t a = packet_header_bytes + 4 * rng.below(16);
    const std::size_t b = packet_header_bytes + 4 * rng.below(16);
    std::swap_ranges(changed.begin() + static_cast<std::ptrdiff_t>(a),
                     changed.begin() + static_cast<std::ptrdiff_t>(a) + 4,
                     changed.begin() + static_cast<std::ptrdiff_t>(b));
    if (a != b) missed += decode_packet(changed).has_value() ? 1u : 0u;
  }
  CHECK(missed <= 3);
}

TEST_CASE("unknown flags and sequence 0 are refused", "[protocol][packet]") {
  for (int bit = 0; bit < 8; ++bit) {
    auto bytes = sealed({.connection = 1, .sequence = 2, .ack = 0, .ack_bits = 0}, 0);
    bytes[1] = static_cast<std::uint8_t>(1 << bit);
    seal(bytes);
    CHECK(decode_packet(bytes).error() == DropReason::bad_header);
  }
  CHECK(decode_packet(sealed({.connection = 1, .sequence = 0, .ack = 0, .ack_bits = 0}, 0)).error() ==
        DropReason::bad_header);
}

TEST_CASE("a packet above the largest size is refused", "[protocol][packet]") {
  const PacketHeader header{.connection = 1, .sequence = 2, .ack = 0, .ack_bits = 0};
  CHECK(decode_packet(sealed(header, payload_bytes_max)).has_value());
  CHECK(decode_packet(sealed(header, payload_bytes_max + 1)).error() == DropReason::too_long);
}

TEST_CASE("every drop reason has a name of its own", "[protocol][drop_reason]") {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < drop_reason_count; ++i) names.emplace_back(name(static_cast<DropReason>(i)));
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::find(names.begin(), names.end(), "unknown") == names.end());
  CHECK(name(DropReason::too_short) == "too_short");
  CHECK(name(DropReason::duplicate) == "duplicate");
  CHECK(name(DropReason::corrupt) == "corrupt");
}
