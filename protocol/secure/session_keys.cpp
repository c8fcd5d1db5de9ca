#include "protocol/secure/session_keys.h"

#include <sodium.h>

#include "protocol/little_endian.h"
#include "protocol/secure/key_derivation.h"

namespace ashlar::secure {

std::string_view name(Cipher cipher) {
  switch (cipher) {
    case Cipher::none: return "none";
    case Cipher::chacha20_poly1305: return "chacha20_poly1305";
    case Cipher::aes256_gcm: return "aes256_gcm";
  }
  return "unknown";
}

bool aes_available() {
  prepare_ciphers();  // looks at the processor
  return crypto_aead_aes256gcm_is_available() != 0;
}

SessionKeys SessionSecret::keys(std::uint32_t connection) const {
  std::array<std::uint8_t, 4> number;
  put_little(number.data(), connection);
  SessionKeys out;
  out.version = version;
  out.cipher = cipher;
  out.connection = connection;
  out.client_to_server = expand(secret, "client to server", number);
  out.server_to_client = expand(secret, "server to client", number);
  out.resumption = expand(secret, "resumption", number);
  out.transcript = transcript;
  return out;
}

}  // namespace ashlar::secure
