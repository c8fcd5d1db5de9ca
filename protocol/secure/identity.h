#pragma once
#include <compare>
#include <optional>

#include "protocol/secure/secret.h"

namespace ashlar::secure {

/// An X25519 public key: who a server is, or who a player is. Source: RFC 7748.
struct PublicKey {
  Bytes32 bytes{};
  friend bool operator==(const PublicKey&, const PublicKey&) = default;
  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
};

/// A public key with the secret that proves it.
struct KeyPair {
  PublicKey open;
  Secret secret;
};

/// Any 32 random bytes are a secret key. About 15 us.
KeyPair key_pair(const Secret& secret);

/// What both owners of two key pairs compute and nobody else. About 35 us.
/// Nothing for the few public keys that give the same result with every secret: the peer cheats.
std::optional<Secret> shared_secret(const Secret& mine, const PublicKey& theirs);

}  // namespace ashlar::secure
