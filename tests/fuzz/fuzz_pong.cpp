// What somebody who asks a server whether it is there may be told, and what may say that a session is gone.
// Laid over a true answer as the first byte says, as random bytes hardly ever hold the nonce or the token.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "protocol/pong_info.h"
#include "protocol/secure/open_packets.h"

using namespace ashlar;
using namespace ashlar::secure;

namespace {

constexpr std::uint8_t version = 4;
constexpr std::uint64_t nonce = 0x0102030405060708u;
constexpr std::uint32_t connection = 0x11223344u;
using Bytes = std::vector<std::uint8_t>;

void expect(bool condition) {
  if (!condition) std::abort();
}

Bytes true_pong() {
  Bytes ping(ping_bytes_max), pong(ping_bytes_max);
  write_ping(version, nonce, ping.size(), ping);
  pong.resize(write_pong(ping, version, encode(PongInfo{600, 12, 256}), pong));
  return pong;
}

Bytes true_reset() {
  Bytes out(reset_bytes);
  Bytes question(2 * reset_bytes);
  question[0] = version, question[1] = static_cast<std::uint8_t>(PacketType::sealed);
  for (int i = 0; i < 4; ++i)
    question[2 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(connection >> (8 * i));
  expect(write_reset(question, version, reset_key(Secret{}), out) == reset_bytes);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const Bytes truths[] = {{}, true_pong(), true_reset()};
  static const ResetToken token = reset_token(reset_key(Secret{}), connection);
  const Bytes& truth = truths[data[0] % 3];
  Bytes packet(data + 1, data + size);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (i == packet.size()) packet.push_back(0);
    packet[i] ^= truth[i];
  }
  if (const auto said = read_pong(packet, version, nonce)) {
    expect(open_nonce(packet) == nonce && said->size() == packet.size() - open_prefix_bytes);
    if (const auto info = decode_pong_info(*said)) {
      const auto again = encode(*info);
      expect(std::equal(again.begin(), again.end(), said->begin()));
    } else {
      expect(said->size() < pong_info_bytes);
    }
  }
  if (is_reset(packet, version, connection, token)) expect(packet == truths[2]);
  return 0;
}
