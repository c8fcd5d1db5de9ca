#include "protocol/secure/identity.h"

#include <sodium.h>

namespace ashlar::secure {

KeyPair key_pair(const Secret& secret) {
  prepare_ciphers();
  KeyPair out;
  out.secret = secret;
  crypto_scalarmult_base(out.open.bytes.data(), secret.bytes().data());
  return out;
}

std::optional<Secret> shared_secret(const Secret& mine, const PublicKey& theirs) {
  prepare_ciphers();
  Secret out;
  if (crypto_scalarmult(out.writable().data(), mine.bytes().data(), theirs.bytes.data()) != 0)
    return std::nullopt;
  return out;
}

}  // namespace ashlar::secure
