#include "protocol/secure/connect_token.h"

#include <sodium.h>

#include "protocol/bytes.h"
#include "protocol/secure/base64url.h"
#include "protocol/secure/key_derivation.h"
#include "protocol/text.h"

namespace ashlar::secure {
namespace {

constexpr std::size_t signature_bytes = crypto_sign_BYTES;
static_assert(1 + 8 + 32 + 16 + 1 + token_id_bytes_max + 1 + token_name_bytes_max + 1 +
                  32 * token_servers_max + signature_bytes <=
              token_bytes_max);

/// Signed before the token's bytes, so that no signature over anything else is one over a token.
constexpr std::string_view signed_first = "ashlar connect token";

std::vector<std::uint8_t> signed_part(ByteSpan token) {
  std::vector<std::uint8_t> out(signed_first.begin(), signed_first.end());
  out.push_back(0);
  const ByteSpan said = token.first(token.size() - signature_bytes);
  out.insert(out.end(), said.begin(), said.end());
  return out;
}

bool valid_id(std::string_view id) {
  return !id.empty() && id.size() <= token_id_bytes_max &&
         std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
}

bool valid(const TokenClaims& claims) {
  return valid_id(claims.id) && valid_player_name(claims.name) &&
         claims.name.size() <= token_name_bytes_max && claims.not_before_s < claims.expires_s &&
         !claims.servers.empty() && claims.servers.size() <= token_servers_max;
}

void put(std::vector<std::uint8_t>& out, ByteSpan bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

PublicKey take_key(ByteReader& in) {
  PublicKey out;
  for (auto& b : out.bytes) b = in.u8();
  return out;
}

std::string take_text(ByteReader& in) {
  std::string out(in.u8(), '\0');
  for (auto& c : out) c = static_cast<char>(in.u8());
  return out;
}

}  // namespace

IssuerKeyPair issuer_key_pair(const Secret& seed) {
  prepare_ciphers();
  IssuerKeyPair out;
  out.seed = seed;
  std::array<std::uint8_t, crypto_sign_SECRETKEYBYTES> secret;
  crypto_sign_seed_keypair(out.open.bytes.data(), secret.data(), seed.bytes().data());
  wipe(secret);
  return out;
}

IssuerId issuer_id(const IssuerKey& key) {
  IssuerId out;
  std::ranges::copy_n(sha256({key.bytes}).begin(), 8, out.begin());
  return out;
}

std::string_view name(TokenError error) {
  static constexpr std::array<std::string_view, token_error_count> names{
      "malformed", "truncated", "wrong_version", "bad_signature", "unknown_issuer",
      "expired",   "not_yet",   "other_client",  "other_server"};
  const auto index = static_cast<std::size_t>(error);
  return index < names.size() ? names[index] : "unknown";
}

std::expected<std::vector<std::uint8_t>, TokenError> mint_token(const TokenClaims& claims,
                                                                const IssuerKeyPair& issuer) {
  if (!valid(claims)) return std::unexpected{TokenError::malformed};
  std::vector<std::uint8_t> out;
  ByteWriter writer(out);
  writer.u8(token_version);
  put(out, issuer_id(issuer.open));
  put(out, claims.client.bytes);
  writer.u64(static_cast<std::uint64_t>(claims.not_before_s));
  writer.u64(static_cast<std::uint64_t>(claims.expires_s));
  writer.u8(static_cast<std::uint8_t>(claims.id.size()));
  put(out, bytes_of(std::string_view(claims.id)));
  writer.u8(static_cast<std::uint8_t>(claims.name.size()));
  put(out, bytes_of(std::string_view(claims.name)));
  writer.u8(static_cast<std::uint8_t>(claims.servers.size()));
  for (const PublicKey& server : claims.servers) put(out, server.bytes);
  out.resize(out.size() + signature_bytes);

  std::array<std::uint8_t, crypto_sign_SECRETKEYBYTES> secret;
  Bytes32 open;
  crypto_sign_seed_keypair(open.data(), secret.data(), issuer.seed.bytes().data());
  const auto said = signed_part(out);
  crypto_sign_detached(&out[out.size() - signature_bytes], nullptr, said.data(), said.size(), secret.data());
  wipe(secret);
  return out;
}

std::expected<ReadToken, TokenError> read_token(ByteSpan token) {
  if (token.size() > token_bytes_max) return std::unexpected{TokenError::malformed};
  if (token.empty()) return std::unexpected{TokenError::truncated};
  if (token[0] != token_version) return std::unexpected{TokenError::wrong_version};
  ByteReader in(token.subspan(1));
  ReadToken out;
  for (auto& b : out.issuer) b = in.u8();
  out.claims.client = take_key(in);
  out.claims.not_before_s = static_cast<std::int64_t>(in.u64());
  out.claims.expires_s = static_cast<std::int64_t>(in.u64());
  out.claims.id = take_text(in);
  out.claims.name = take_text(in);
  const std::size_t servers = in.u8();
  if (servers > token_servers_max) return std::unexpected{TokenError::malformed};
  for (std::size_t i = 0; i < servers; ++i) out.claims.servers.push_back(take_key(in));
  if (!in.ok() || in.left() < signature_bytes) return std::unexpected{TokenError::truncated};
  if (in.left() > signature_bytes || !valid(out.claims)) return std::unexpected{TokenError::malformed};
  return out;
}

std::expected<TokenClaims, TokenError> verify_token(ByteSpan token, std::int64_t now_s,
                                                    const PublicKey& client, const PublicKey& server,
                                                    std::span<const IssuerKey> issuers) {
  auto read = read_token(token);
  if (!read) return std::unexpected{read.error()};
  const auto issuer =
      std::ranges::find_if(issuers, [&](const IssuerKey& key) { return issuer_id(key) == read->issuer; });
  if (issuer == issuers.end()) return std::unexpected{TokenError::unknown_issuer};
  prepare_ciphers();
  const auto said = signed_part(token);
  if (crypto_sign_verify_detached(&token[token.size() - signature_bytes], said.data(), said.size(),
                                  issuer->bytes.data()) != 0)
    return std::unexpected{TokenError::bad_signature};
  TokenClaims& claims = read->claims;
  if (claims.client != client) return std::unexpected{TokenError::other_client};
  if (std::ranges::find(claims.servers, server) == claims.servers.end())
    return std::unexpected{TokenError::other_server};
  if (now_s < claims.not_before_s) return std::unexpected{TokenError::not_yet};
  if (now_s >= claims.expires_s) return std::unexpected{TokenError::expired};
  return std::move(claims);
}

std::string token_text(ByteSpan token) { return std::string(token_prefix) + base64url(token); }

std::expected<std::vector<std::uint8_t>, TokenError> token_from_text(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  if (token_prefix.starts_with(text)) return std::unexpected{TokenError::truncated};
  if (!text.starts_with(token_prefix)) return std::unexpected{TokenError::malformed};
  const std::string_view letters = text.substr(token_prefix.size());
  if (auto bytes = from_base64url(letters, token_bytes_max)) return *std::move(bytes);
  // The right letters, but not in whole bytes: the end is missing.
  const bool cut = letters.size() < token_bytes_max * 4 / 3 &&
                   std::ranges::all_of(
                       letters,
                       [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                c == '-' || c == '_';
                       });
  return std::unexpected{cut ? TokenError::truncated : TokenError::malformed};
}

}  // namespace ashlar::secure
