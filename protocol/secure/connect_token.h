#pragma once
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/secure/identity.h"

// What an operator's login service signs so that a closed server lets a player in. Drawn in WIRE.md.

namespace ashlar::secure {

/// An Ed25519 public key: whose signature on tokens counts. Source: RFC 8032.
struct IssuerKey {
  Bytes32 bytes{};
  friend bool operator==(const IssuerKey&, const IssuerKey&) = default;
};

/// An operator's signing key (Ed25519) with the public key that servers know.
struct IssuerKeyPair {
  IssuerKey open;
  Secret seed;
};
/// Any 32 random bytes are a seed.
IssuerKeyPair issuer_key_pair(const Secret& seed);

/// Which of an operator's keys signed: first 8 bytes of the key's SHA-256.
using IssuerId = std::array<std::uint8_t, 8>;
IssuerId issuer_id(const IssuerKey& key);

inline constexpr std::uint8_t token_version = 1;
inline constexpr std::size_t token_bytes_max = 512;
inline constexpr std::size_t token_id_bytes_max = 32;
inline constexpr std::size_t token_name_bytes_max = 96;  // 24 code points
inline constexpr std::size_t token_servers_max = 8;
inline constexpr std::string_view token_prefix = "ashlar-token-";

/// What a token says.
struct TokenClaims {
  PublicKey client;  ///< whoever proves this key; so a stolen or replayed token is of no use to others
  std::string id;    ///< of the player at the operator: 1 to 32 printable ASCII characters, no blank
  std::string name;  ///< a valid player name (text.h)
  std::int64_t not_before_s = 0;   ///< Unix time; valid from here,
  std::int64_t expires_s = 0;      ///< and before here
  std::vector<PublicKey> servers;  ///< 1 to 8 that it is for
  friend bool operator==(const TokenClaims&, const TokenClaims&) = default;
};

/// Why a token is refused, each reason apart.
enum class TokenError : std::uint8_t {
  malformed,       ///< no token at all, or one that says what it may not
  truncated,       ///< its beginning only
  wrong_version,   ///< of another form than this one
  bad_signature,   ///< changed, or not signed by the issuer it names
  unknown_issuer,  ///< signed by a key that this server does not trust
  expired,
  not_yet,
  other_client,  ///< of another player
  other_server,  ///< for other servers
};
inline constexpr std::size_t token_error_count = 9;
/// Spelled as the enumerator.
std::string_view name(TokenError error);

/// Signs. malformed: the claims are none (see TokenClaims; or it expires before it begins).
std::expected<std::vector<std::uint8_t>, TokenError> mint_token(const TokenClaims& claims,
                                                                const IssuerKeyPair& issuer);

/// A token taken apart; nothing in it is proven before verify().
struct ReadToken {
  TokenClaims claims;
  IssuerId issuer{};
};
/// What a token says, whoever signed it, if anyone: for showing. malformed, truncated, wrong_version.
std::expected<ReadToken, TokenError> read_token(ByteSpan token);

/// What the server goes by. It is not told that a token was used before: it is bound to the client's key,
/// which the handshake proved; that client may come back with it until it expires. Checked in the order of:
/// form, issuer, signature (46 us), client, server, time.
std::expected<TokenClaims, TokenError> verify_token(ByteSpan token, std::int64_t now_s,
                                                    const PublicKey& client, const PublicKey& server,
                                                    std::span<const IssuerKey> issuers);

/// One line of text, and back: malformed or truncated.
std::string token_text(ByteSpan token);
std::expected<std::vector<std::uint8_t>, TokenError> token_from_text(std::string_view text);

}  // namespace ashlar::secure
