#include "protocol/secure/session_keys.h"

#include <sodium.h>

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

}  // namespace ashlar::secure
