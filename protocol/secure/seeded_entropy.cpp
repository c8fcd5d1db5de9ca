#include "protocol/secure/seeded_entropy.h"

#include <sodium.h>

#include "protocol/little_endian.h"

namespace ashlar::secure {
namespace {

/// What a nonce is for: the bytes handed out, and the next key.
constexpr std::array<std::uint8_t, crypto_stream_chacha20_ietf_NONCEBYTES> entropy_out{1}, entropy_next{2};

}  // namespace

SeededEntropy::SeededEntropy(std::uint64_t number) { put_little(key_.writable().data(), number); }

void SeededEntropy::fill(std::span<std::uint8_t> out) {
  prepare_ciphers();
  Secret next;
  crypto_stream_chacha20_ietf(out.data(), out.size(), entropy_out.data(), key_.bytes().data());
  crypto_stream_chacha20_ietf(next.writable().data(), next.writable().size(), entropy_next.data(),
                              key_.bytes().data());
  key_ = next;
}

}  // namespace ashlar::secure
