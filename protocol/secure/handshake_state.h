#pragma once
#include "protocol/secure/handshake_packets.h"
#include "protocol/secure/identity.h"
#include "protocol/secure/session_keys.h"

namespace ashlar::secure {

/// What both ends of a handshake know so far: a key that each shared secret is mixed into, and a hash of
/// every byte said. The symmetric state of Noise_XX_25519_ChaChaPoly_SHA256 (Noise Protocol Framework,
/// revision 34, section 5.2), with the hello as prologue. Used by ClientHandshake and ServerDoor alone.
class HandshakeState {
 public:
  /// @param hello  as sent with the cookie, its first hello_fields_bytes
  HandshakeState(ByteSpan hello, const PublicKey& client_ephemeral);

  /// Mixes bytes that both ends said or heard into the transcript.
  void mix_hash(ByteSpan said);
  /// Mixes a shared secret into the key; the next message has a fresh one.
  void mix_key(const Secret& shared);
  /// Writes plaintext.size() + 16 bytes. The output may be the plaintext's own memory.
  void encrypt(ByteSpan plaintext, std::span<std::uint8_t> out);
  /// Writes sealed.size() - 16 bytes, not over what it reads; false, and nothing is changed but the output,
  /// when it does not open.
  bool decrypt(ByteSpan sealed, std::span<std::uint8_t> out);

  /// Of the transcript so far.
  const Bytes32& hash() const { return hash_; }

  /// All of it as bytes, and back: what a server hands out and forgets.
  static constexpr std::size_t bytes = 97;
  void save(std::span<std::uint8_t, bytes> out) const;
  explicit HandshakeState(std::span<const std::uint8_t, bytes> saved);

  /// After the last message.
  SessionSecret session(std::uint8_t version, Cipher cipher) const;

 private:
  std::array<std::uint8_t, 12> nonce() const;
  Secret chaining_key_, key_;
  Bytes32 hash_{};
  std::uint8_t count_ = 0;  // messages under key_
};

}  // namespace ashlar::secure
