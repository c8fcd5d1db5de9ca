#pragma once
#include <string_view>

#include "protocol/secure/secret.h"

namespace ashlar::secure {

/// How packets are sealed. Numbers travel in the handshake.
enum class Cipher : std::uint8_t {
  none = 0,  ///< for benchmarks alone: neither hides nor checks anything, and no handshake agrees on it
  chacha20_poly1305 = 1,
  aes256_gcm = 2,
};

/// Spelled as the enumerator.
std::string_view name(Cipher cipher);

/// This machine has the instructions that make AES-256-GCM fast and free of side channels; elsewhere
/// libsodium does not offer it.
bool aes_available();

enum class End : std::uint8_t { client, server };

/// The keys of one session, the same at both ends.
struct SessionKeys {
  std::uint8_t version = 0;
  Cipher cipher = Cipher::chacha20_poly1305;
  std::uint32_t connection = 0;  ///< the server's choice; in clear in every packet
  Secret client_to_server;       ///< what each direction's packet keys are made of
  Secret server_to_client;
  Secret resumption;     ///< proves later that it is the same player coming back; see resumption.h
  Bytes32 transcript{};  ///< hash of all that was said; the same on no two sessions
};

/// What a handshake leaves both ends with, the same on each.
struct SessionSecret {
  std::uint8_t version = 0;
  Cipher cipher = Cipher::chacha20_poly1305;
  Secret secret;
  Bytes32 transcript{};

  /// The connection's number goes into the keys: should one handshake ever begin two sessions (its first was
  /// refused, and the client asked again), their packets are sealed with different ones.
  SessionKeys keys(std::uint32_t connection) const;
};

}  // namespace ashlar::secure
