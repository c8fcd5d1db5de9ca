#include "protocol/pong_info.h"

#include <vector>

#include "protocol/secure/open_packets.h"
#include "tests/catch.h"

using namespace ashlar;

TEST_CASE("what a pong says comes back, whatever a newer server says behind it", "[protocol][pong_info]") {
  const PongInfo info{0xfffefdfcu, 12, 256};
  const auto bytes = encode(info);
  CHECK(std::vector<std::uint8_t>(bytes.begin(), bytes.end()) ==
        std::vector<std::uint8_t>{0xfc, 0xfd, 0xfe, 0xff, 12, 0, 0, 0, 0, 1, 0, 0});
  CHECK(decode_pong_info(bytes) == info);
  std::vector<std::uint8_t> longer(bytes.begin(), bytes.end());
  longer.insert(longer.end(), 20, 0xee);
  CHECK(decode_pong_info(longer) == info);
  for (std::size_t size = 0; size < pong_info_bytes; ++size)
    CHECK_FALSE(decode_pong_info(std::span(bytes).first(size)).has_value());
}

TEST_CASE("a ping of the size that asks for it brings all of it", "[protocol][pong_info]") {
  constexpr std::uint8_t version = 4;
  constexpr std::uint64_t nonce = 0x0102030405060708u;
  const PongInfo info{600, 3, 32};
  std::vector<std::uint8_t> ping(secure::ping_bytes_max), pong(secure::ping_bytes_max);
  const std::size_t least = 2 * (secure::open_prefix_bytes + pong_info_bytes);
  for (const std::size_t size : {least - 1, least, secure::ping_bytes_max}) {
    ping.resize(secure::write_ping(version, nonce, size, std::span(ping).first(size)));
    const std::size_t answered = secure::write_pong(ping, version, encode(info), pong);
    CHECK((answered > 0) == (size >= least));
    if (answered == 0) continue;
    const auto said = secure::read_pong(std::span(pong).first(answered), version, nonce);
    REQUIRE(said.has_value());
    CHECK(decode_pong_info(*said) == info);
    ping.resize(secure::ping_bytes_max);
  }
}
