#include "protocol/secure/key_derivation.h"

#include <sodium.h>

#include "world/math/assert.h"

namespace ashlar::secure {

Bytes32 sha256(std::initializer_list<ByteSpan> parts) {
  Bytes32 out;
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  for (const ByteSpan part : parts) crypto_hash_sha256_update(&state, part.data(), part.size());
  crypto_hash_sha256_final(&state, out.data());
  sodium_memzero(&state, sizeof state);
  return out;
}

Bytes32 hmac(ByteSpan key, std::initializer_list<ByteSpan> parts) {
  Bytes32 out;
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key.data(), key.size());
  for (const ByteSpan part : parts) crypto_auth_hmacsha256_update(&state, part.data(), part.size());
  crypto_auth_hmacsha256_final(&state, out.data());
  sodium_memzero(&state, sizeof state);
  return out;
}

Secret extract(ByteSpan salt, ByteSpan input) {
  Bytes32 key = hmac(salt, {input});
  const Secret out(key);
  wipe(key);
  return out;
}

void expand(ByteSpan key, std::string_view label, ByteSpan context, std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(out.size() <= 32 * 255);
  static constexpr std::uint8_t zero = 0;
  Bytes32 block{};
  std::uint8_t number = 0;
  for (std::size_t at = 0; at < out.size(); at += block.size()) {
    const ByteSpan before = number == 0 ? ByteSpan{} : ByteSpan{block};
    ++number;
    block = hmac(key, {before, bytes_of("ashlar "), bytes_of(label), {&zero, 1}, context, {&number, 1}});
    std::copy_n(block.begin(), std::min(block.size(), out.size() - at),
                out.begin() + static_cast<std::ptrdiff_t>(at));
  }
  wipe(block);
}

Secret expand(const Secret& key, std::string_view label, ByteSpan context) {
  Secret out;
  expand(key.bytes(), label, context, out.writable());
  return out;
}

}  // namespace ashlar::secure
