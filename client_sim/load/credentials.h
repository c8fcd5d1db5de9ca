#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/secure/identity.h"

// Who simulated clients are, whom they trust and what they show at the door.

namespace ashlar::client_sim {

/// What was given of it; all of it is optional.
struct Credentials {
  std::optional<secure::PublicKey> server_key;    ///< clients take no other server
  std::optional<secure::Secret> identity;         ///< of which each client's key comes; none: random ones
  std::vector<std::vector<std::uint8_t>> tokens;  ///< connect tokens, one a client in their order; or none
};

/// The key of a client: the first has the identity's own, each further one a key derived from it, so that the
/// same file gives the same players again.
secure::KeyPair client_key(const secure::Secret& identity, std::uint32_t index);

/// "ashlar-public-...". @return or the part of a line that says what is wrong; like those below it repeats no
/// secret
std::expected<secure::PublicKey, std::string> parse_server_key(std::string_view text);

/// A secret key out of a file that others cannot read, as `ashlar-server key new` makes it.
std::expected<secure::Secret, std::string> read_identity(const std::string& path);

/// Connect tokens, one a line, whoever signed them.
std::expected<std::vector<std::vector<std::uint8_t>>, std::string> read_tokens(const std::string& path);

/// One line when tokens, keys and the number of clients do not go together; empty when they do. Times are the
/// server's to judge.
std::string what_does_not_fit(const Credentials& credentials, std::uint32_t clients);

/// The public keys of the clients, one a line: for whoever mints their tokens. Precondition: an identity.
std::string public_keys_text(const Credentials& credentials, std::uint32_t clients);

/// The text with "..." for what follows the beginning of a secret key.
std::string without_secrets(std::string text);

}  // namespace ashlar::client_sim
