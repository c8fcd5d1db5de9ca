#include "protocol/secure/handshake_state.h"

#include <sodium.h>

#include "protocol/secure/key_derivation.h"
#include "world/math/assert.h"

namespace ashlar::secure {
namespace {

constexpr std::string_view noise_name = "Noise_XX_25519_ChaChaPoly_SHA256";
static_assert(noise_name.size() == 32, "as long as a hash, and so the first hash itself");

}  // namespace

HandshakeState::HandshakeState(ByteSpan hello, const PublicKey& client_ephemeral) {
  ASHLAR_ASSERT(hello.size() == hello_fields_bytes);
  std::ranges::copy(bytes_of(noise_name), hash_.begin());
  chaining_key_ = Secret(hash_);
  mix_hash(hello);
  mix_hash(client_ephemeral.bytes);
  mix_hash({});  // the first message's payload, which is empty
}

void HandshakeState::mix_hash(ByteSpan said) { hash_ = sha256({hash_, said}); }

void HandshakeState::mix_key(const Secret& shared) {
  // HKDF of Noise, section 4.3: its info is empty but for the number.
  static constexpr std::uint8_t one = 1;
  const Secret temporary = extract(chaining_key_.bytes(), shared.bytes());
  chaining_key_ = extract(temporary.bytes(), {&one, 1});
  std::array<std::uint8_t, 33> first_and_two;
  std::ranges::copy(chaining_key_.bytes(), first_and_two.begin());
  first_and_two.back() = 2;
  key_ = extract(temporary.bytes(), first_and_two);
  wipe(first_and_two);
  count_ = 0;
}

std::array<std::uint8_t, 12> HandshakeState::nonce() const {
  std::array<std::uint8_t, 12> out{};
  out[4] = count_;  // 32 zero bits, then the number, lowest byte first
  return out;
}

void HandshakeState::encrypt(ByteSpan plaintext, std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(out.size() == plaintext.size() + handshake_tag_bytes);
  crypto_aead_chacha20poly1305_ietf_encrypt_detached(
      out.data(), out.data() + plaintext.size(), nullptr, plaintext.data(), plaintext.size(), hash_.data(),
      hash_.size(), nullptr, nonce().data(), key_.bytes().data());
  ++count_;
  mix_hash(out);
}

bool HandshakeState::decrypt(ByteSpan sealed, std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(sealed.size() == out.size() + handshake_tag_bytes);
  const int failed = crypto_aead_chacha20poly1305_ietf_decrypt_detached(
      out.data(), nullptr, sealed.data(), out.size(), sealed.data() + out.size(), hash_.data(), hash_.size(),
      nonce().data(), key_.bytes().data());
  if (failed != 0) return false;
  ++count_;
  mix_hash(sealed);
  return true;
}

void HandshakeState::save(std::span<std::uint8_t, bytes> out) const {
  std::ranges::copy(chaining_key_.bytes(), out.begin());
  std::ranges::copy(key_.bytes(), out.begin() + 32);
  std::ranges::copy(hash_, out.begin() + 64);
  out[96] = count_;
}

HandshakeState::HandshakeState(std::span<const std::uint8_t, bytes> saved) : count_(saved[96]) {
  std::ranges::copy(saved.subspan(0, 32), chaining_key_.writable().begin());
  std::ranges::copy(saved.subspan(32, 32), key_.writable().begin());
  std::ranges::copy(saved.subspan(64, 32), hash_.begin());
}

SessionSecret HandshakeState::session(std::uint8_t version, Cipher cipher) const {
  return {version, cipher, extract(hash_, chaining_key_.bytes()), hash_};
}

}  // namespace ashlar::secure
