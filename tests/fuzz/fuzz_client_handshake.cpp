// A client that shakes hands hears anything at any step: it never breaks, never believes a forged answer, and
// the true answers still bring it to its session. The input is cut into packets: a byte for what is said true
// before, two for the place, one for the length, then what is laid over the true answer from there.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "protocol/secure/client_handshake.h"
#include "protocol/secure/packet_protection.h"
#include "tests/fuzz/ramp.h"

using namespace ashlar;
using namespace ashlar::secure;
using ashlar::fuzz::identity;
using ashlar::fuzz::Ramp;

namespace {

constexpr std::uint8_t version = 3;
constexpr Micros noon = std::chrono::seconds(100);
using Bytes = std::vector<std::uint8_t>;

Bytes answer(ServerDoor& door, ByteSpan packet) {
  Bytes out(datagram_bytes_max);
  const Arrival arrival = door.receive(packet, PeerAddress{}, out);
  if (const auto* said = std::get_if<Answer>(&arrival)) {
    out.resize(said->bytes);
    return out;
  }
  const auto* accepted = std::get_if<Accepted>(&arrival);
  if (accepted == nullptr) std::abort();
  PacketProtection protection(accepted->session.keys(5), End::server, noon);
  out.resize(60);
  protection.seal(1, Bytes(60 - seal_overhead_bytes), out);
  return out;
}

/// Lays bytes over what the server truly said, or takes them as they are.
Bytes forged(const Bytes& truth, ByteSpan& input) {
  if (input.size() < 4) {
    input = {};
    return {};
  }
  const std::size_t at = (input[1] | static_cast<std::size_t>(input[2]) << 8) % truth.size();
  const std::size_t length = std::min<std::size_t>(input[3], input.size() - 4);
  const ByteSpan over = input.subspan(4, length);
  const bool plain = (input[0] & 1) != 0;
  input = input.subspan(4 + length);
  if (plain) return Bytes(over.begin(), over.end());
  Bytes out = truth;
  for (std::size_t i = 0; i < over.size() && at + i < out.size(); ++i) out[at + i] ^= over[i];
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteSpan input(data, size);
  Ramp door_entropy(1), client_entropy(3);
  ServerDoor door({version, identity(2), offer_chacha20}, door_entropy, noon);
  ClientHandshakeSetup setup;
  setup.version = version;
  setup.identity = identity(4);
  setup.pinned = identity(2).open;
  ClientHandshake client(setup, client_entropy, noon);
  for (int round = 0; round < 12 && client.step() != ClientStep::done; ++round) {
    // A cookie that was forged on the way is of no use: the server answers with another.
    const Micros now = noon + std::chrono::milliseconds(100 * round);
    const ByteSpan said = client.packet_due(now);
    if (said.empty()) continue;
    const Bytes truth = answer(door, said);
    const ClientStep before = client.step();
    const Bytes lie = forged(truth, input);
    if (!lie.empty() && lie != truth) {
      client.receive(lie, now);
      if (client.step() != before) std::abort();
    }
    client.receive(truth, now);
    if (client.step() == ClientStep::server_known) client.finish({}, now);
  }
  if (input.empty() && client.step() != ClientStep::done && size < 64) std::abort();
  return 0;
}
