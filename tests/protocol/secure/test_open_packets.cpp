#include "protocol/secure/open_packets.h"

#include "tests/protocol/secure/handshake_cases.h"

namespace ashlar::secure {
namespace {

using namespace secure_test;

Bytes sealed_packet(std::size_t size) {
  const SessionKeys keys = some_keys(Cipher::chacha20_poly1305);
  PacketProtection protection(keys, End::client, noon);
  Bytes out(size);
  REQUIRE(protection.seal(1, Bytes(size - seal_overhead_bytes), out) == size);
  return out;
}

}  // namespace

TEST_CASE("only who holds the server's key ends a session from outside", "[protocol][open_packets]") {
  const Secret key = reset_key(identity_of(1).secret);
  const Bytes question = sealed_packet(60);
  Bytes reset(datagram_bytes_max);
  REQUIRE(write_reset(question, 3, key, reset) == reset_bytes);
  reset.resize(reset_bytes);
  const ResetToken token = reset_token(key, 0x01020304);
  CHECK(is_reset(reset, 3, 0x01020304, token));
  CHECK_FALSE(is_reset(reset, 3, 0x01020305, reset_token(key, 0x01020305)));
  CHECK_FALSE(is_reset(reset, 3, 0x01020304, reset_token(reset_key(identity_of(2).secret), 0x01020304)));
  for (std::size_t bit = 0; bit < 8 * reset.size(); ++bit)
    REQUIRE_FALSE(is_reset(with_flipped_bit(reset, bit), 3, 0x01020304, token));
  for (std::size_t size = 0; size < 30; ++size) {
    Bytes other = reset;
    other.resize(size);
    REQUIRE(is_reset(other, 3, 0x01020304, token) == (size == reset_bytes));
  }
}

TEST_CASE("a reset answers sealed packets that are twice as long, and nothing else",
          "[protocol][open_packets]") {
  const Secret key = reset_key(identity_of(1).secret);
  Bytes out(datagram_bytes_max);
  for (std::size_t size = seal_overhead_bytes; size < 100; ++size)
    CHECK(write_reset(sealed_packet(size), 3, key, out) == (size >= 2 * reset_bytes ? reset_bytes : 0));
  Bytes question = sealed_packet(100);
  for (std::uint8_t type = 0; type < 16; ++type) {
    question[1] = type;
    CHECK((write_reset(question, 3, key, out) != 0) == (type == 5));
  }
  CHECK(write_reset(sealed_packet(100), 4, key, out) == 0);
}

TEST_CASE("a ping is answered with at most half of it", "[protocol][open_packets]") {
  const Bytes info(40, 9);
  for (std::size_t size = open_prefix_bytes; size <= ping_bytes_max; ++size) {
    Bytes ping(size), pong(datagram_bytes_max);
    REQUIRE(write_ping(3, 0x1122334455667788, size, ping) == size);
    pong.resize(write_pong(ping, 3, info, pong));
    CHECK(pong.size() <= size / 2);
    CHECK(pong.empty() == (size < 2 * (open_prefix_bytes + info.size())));
    if (pong.empty()) continue;
    const auto read = read_pong(pong, 3, 0x1122334455667788);
    REQUIRE(read.has_value());
    CHECK(Bytes(read->begin(), read->end()) == info);
    CHECK(read_pong(pong, 3, 0x1122334455667789).error() == DropReason::malformed);
    CHECK(read_pong(pong, 4, 0x1122334455667788).error() == DropReason::wrong_version);
    CHECK(write_pong(pong, 3, info, ping) == 0);  // an answer gets no answer
    for (std::size_t bit = 0; bit < 8 * open_prefix_bytes; ++bit)
      REQUIRE_FALSE(read_pong(with_flipped_bit(pong, bit), 3, 0x1122334455667788).has_value());
  }
}

TEST_CASE("another version is refused in a few bytes where every version looks for them",
          "[protocol][open_packets]") {
  for (std::size_t size = 0; size <= datagram_bytes_max + 1; ++size) {
    Bytes question(size, 0x5a), out(datagram_bytes_max);
    const std::size_t answer = write_refuse_version(question, 3, out);
    CHECK(answer == (size == datagram_bytes_max ? open_prefix_bytes : 0));
    if (answer == 0) continue;
    CHECK(out[0] == 3);
    CHECK(std::equal(out.begin() + 16, out.begin() + 24, question.begin() + 16));
    out.resize(answer);
    Bytes again(datagram_bytes_max);
    CHECK(write_refuse_version(out, 4, again) == 0);  // two versions do not talk for ever
    question[0] = 3;
    CHECK(write_refuse_version(question, 3, again) == 0);
  }
}

}  // namespace ashlar::secure
