#pragma once
#include <cstdint>
#include <vector>

#include "protocol/secure/packet_protection.h"
#include "protocol/secure/seeded_entropy.h"
#include "world/math/random.h"

namespace ashlar::secure_test {

using namespace secure;

using Bytes = std::vector<std::uint8_t>;

inline Bytes random_bytes(Rng& rng, std::size_t size) {
  Bytes out(size);
  for (auto& b : out) b = static_cast<std::uint8_t>(rng.next_u32());
  return out;
}

/// Ciphers that this machine has.
inline std::vector<Cipher> test_ciphers() {
  std::vector<Cipher> out{Cipher::chacha20_poly1305};
  if (aes_available()) out.push_back(Cipher::aes256_gcm);
  return out;
}

inline SessionKeys some_keys(Cipher cipher, std::uint64_t seed = 1) {
  SeededEntropy entropy(seed);
  SessionKeys keys;
  keys.version = 3;
  keys.cipher = cipher;
  keys.connection = 0x01020304;
  keys.client_to_server = entropy.secret();
  keys.server_to_client = entropy.secret();
  keys.resumption = entropy.secret();
  return keys;
}

/// What was changed is the given bit, counted from the first byte's lowest.
inline Bytes with_flipped_bit(Bytes bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
  return bytes;
}

}  // namespace ashlar::secure_test
