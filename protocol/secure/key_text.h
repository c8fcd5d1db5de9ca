#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "protocol/secure/connect_token.h"
#include "protocol/secure/identity.h"

// Keys as one line of text, for files, flags and people: what it is, then the key and a checksum, so that
// neither a slip of the hand nor the wrong kind of key goes unnoticed.
//
//   ashlar-secret-<48 characters>          an identity: a server's or a player's. Keep it to yourself
//   ashlar-public-<48 characters>          what others know it by
//   ashlar-issuer-secret-<48 characters>   signs connect tokens
//   ashlar-issuer-public-<48 characters>   checks them
//
// The 48 characters are base64url of 36 bytes: the key (of an issuer's secret the seed), then the first 4
// bytes of SHA-256 over the prefix and the key.

namespace ashlar::secure {

/// Why a text is no key.
enum class KeyTextError : std::uint8_t {
  no_key,         ///< begins like none of the four
  other_kind,     ///< a key of another kind
  wrong_length,   ///< cut, or followed by something
  wrong_letters,  ///< not base64url
  wrong_checksum,
};
/// Spelled as the enumerator.
std::string_view name(KeyTextError error);

/// The text holds the secret: who takes it wipes it, or gives it to the user.
std::string secret_key_text(const KeyPair& key);
std::string public_key_text(const PublicKey& key);
std::string issuer_secret_text(const IssuerKeyPair& key);
std::string issuer_public_text(const IssuerKey& key);

/// Blanks and line ends around it, as files have them, are ignored.
std::expected<KeyPair, KeyTextError> read_secret_key(std::string_view text);
std::expected<PublicKey, KeyTextError> read_public_key(std::string_view text);
std::expected<IssuerKeyPair, KeyTextError> read_issuer_secret(std::string_view text);
std::expected<IssuerKey, KeyTextError> read_issuer_public(std::string_view text);

}  // namespace ashlar::secure
