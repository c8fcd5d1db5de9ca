// Sealed packets, before and after the cipher: nothing but what was sealed opens, whatever is laid over it,
// and what does not open leaves the next true packet openable. The first byte picks cipher and epoch, the
// next two the place.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "protocol/secure/packet_protection.h"

using namespace ashlar;
using namespace ashlar::secure;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  SessionKeys keys;
  keys.version = 3;
  keys.connection = 0x01020304;
  // Keys of its own for each: the fuzzer remembers packets, and those of another input must not open.
  Bytes32 seed{};
  std::copy_n(data, 4, seed.begin());
  keys.client_to_server = Secret(seed);
  const bool aes = (data[0] & 1) != 0 && aes_available();
  keys.cipher = aes ? Cipher::aes256_gcm : Cipher::chacha20_poly1305;
  PacketProtection client(keys, End::client, Micros(0)), server(keys, End::server, Micros(0));
  using Bytes = std::vector<std::uint8_t>;
  const Bytes plain(data[3], 0x55);
  Bytes packet(plain.size() + seal_overhead_bytes), out(sealed_plaintext_bytes_max);
  std::uint64_t sequence = data[0];
  if ((data[0] & 2) != 0) client.rekey();
  client.seal(sequence, plain, packet);
  Bytes changed = packet;
  if ((data[0] & 4) != 0) {
    changed.assign(data + 4, data + size);
  } else {
    const std::size_t at = (data[1] | static_cast<std::size_t>(data[2]) << 8) % packet.size();
    for (std::size_t i = 4; i < size && at + i - 4 < changed.size(); ++i) changed[at + i - 4] ^= data[i];
  }
  const auto header = server.peek(changed);
  const bool opened = header.has_value() && server.open(changed, *header, out).has_value();
  if (opened != (changed == packet)) std::abort();
  if (!opened && server.receive_epoch() != 0) std::abort();
  client.seal(++sequence, plain, packet);
  const auto next = server.peek(packet);
  if (!next || next->sequence != sequence || !server.open(packet, *next, out)) std::abort();
  if (!std::equal(plain.begin(), plain.end(), out.begin())) std::abort();
  return 0;
}
