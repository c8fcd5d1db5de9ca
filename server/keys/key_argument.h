#pragma once
#include <expected>
#include <string>

#include "protocol/secure/key_text.h"

// Keys as arguments of commands: public ones as text or in a file, secret ones in a file alone.

namespace ashlar::server {

/// A server's or player's public key: its text, or a file that holds it or the secret that it belongs to.
/// @return or the part of a line that says what is wrong; it never holds a secret
std::expected<secure::PublicKey, std::string> public_key_argument(const std::string& given);
/// Likewise an issuer's.
std::expected<secure::IssuerKey, std::string> issuer_argument(const std::string& given);

/// Secret keys out of files that are their owner's alone. @return likewise
std::expected<secure::KeyPair, std::string> read_key_pair(const std::string& path);
std::expected<secure::IssuerKeyPair, std::string> read_issuer_pair(const std::string& path);

}  // namespace ashlar::server
