#include "protocol/secure/secret.h"

#include <sodium.h>

#include "world/math/assert.h"

namespace ashlar::secure {

void wipe(std::span<std::uint8_t> bytes) { sodium_memzero(bytes.data(), bytes.size()); }

bool equal(ByteSpan a, ByteSpan b) {
  if (a.size() != b.size()) return false;
  return a.empty() || sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

void SystemEntropy::fill(std::span<std::uint8_t> out) {
  prepare_ciphers();
  randombytes_buf(out.data(), out.size());
}

void prepare_ciphers() {
  static const bool ready = sodium_init() >= 0;
  ASHLAR_ASSERT(ready);
}

}  // namespace ashlar::secure
