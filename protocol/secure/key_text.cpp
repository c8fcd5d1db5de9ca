#include "protocol/secure/key_text.h"

#include <sodium.h>

#include "protocol/secure/base64url.h"
#include "protocol/secure/key_derivation.h"

namespace ashlar::secure {
namespace {

constexpr std::string_view secret_prefix = "ashlar-secret-", public_prefix = "ashlar-public-";
constexpr std::string_view issuer_secret_prefix = "ashlar-issuer-secret-";
constexpr std::string_view issuer_public_prefix = "ashlar-issuer-public-";
constexpr std::size_t checksum_bytes = 4, key_bytes = 32 + checksum_bytes, key_letters = 48;

std::array<std::uint8_t, checksum_bytes> checksum(std::string_view prefix, ByteSpan key) {
  const Bytes32 hash = sha256({bytes_of(prefix), key});
  return {hash[0], hash[1], hash[2], hash[3]};
}

std::string key_text(std::string_view prefix, const Bytes32& key) {
  std::array<std::uint8_t, key_bytes> bytes;
  std::ranges::copy(key, bytes.begin());
  std::ranges::copy(checksum(prefix, key), bytes.begin() + 32);
  std::string out(prefix);
  std::string letters = base64url(bytes);
  out += letters;
  wipe(bytes);
  sodium_memzero(letters.data(), letters.size());
  return out;
}

std::expected<Secret, KeyTextError> read_key(std::string_view prefix, std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return std::unexpected{KeyTextError::no_key};
  text = text.substr(first, text.find_last_not_of(blanks) + 1 - first);
  if (!text.starts_with(prefix)) {
    for (const auto other : {secret_prefix, public_prefix, issuer_secret_prefix, issuer_public_prefix})
      if (text.starts_with(other)) return std::unexpected{KeyTextError::other_kind};
    return std::unexpected{KeyTextError::no_key};
  }
  text.remove_prefix(prefix.size());
  if (text.size() != key_letters) return std::unexpected{KeyTextError::wrong_length};
  auto bytes = from_base64url(text, key_bytes);
  if (!bytes || bytes->size() != key_bytes) return std::unexpected{KeyTextError::wrong_letters};
  Secret out;
  std::ranges::copy(std::span(*bytes).first(32), out.writable().begin());
  const bool ok = equal(std::span(*bytes).last(checksum_bytes), checksum(prefix, out.bytes()));
  wipe(*bytes);
  if (!ok) return std::unexpected{KeyTextError::wrong_checksum};
  return out;
}

}  // namespace

std::string_view name(KeyTextError error) {
  switch (error) {
    case KeyTextError::no_key: return "no_key";
    case KeyTextError::other_kind: return "other_kind";
    case KeyTextError::wrong_length: return "wrong_length";
    case KeyTextError::wrong_letters: return "wrong_letters";
    case KeyTextError::wrong_checksum: return "wrong_checksum";
  }
  return "unknown";
}

std::string secret_key_text(const KeyPair& key) { return key_text(secret_prefix, key.secret.bytes()); }
std::string public_key_text(const PublicKey& key) { return key_text(public_prefix, key.bytes); }
std::string issuer_secret_text(const IssuerKeyPair& key) {
  return key_text(issuer_secret_prefix, key.seed.bytes());
}
std::string issuer_public_text(const IssuerKey& key) { return key_text(issuer_public_prefix, key.bytes); }

std::expected<KeyPair, KeyTextError> read_secret_key(std::string_view text) {
  const auto key = read_key(secret_prefix, text);
  if (!key) return std::unexpected{key.error()};
  return key_pair(*key);
}

std::expected<PublicKey, KeyTextError> read_public_key(std::string_view text) {
  const auto key = read_key(public_prefix, text);
  if (!key) return std::unexpected{key.error()};
  return PublicKey{key->bytes()};
}

std::expected<IssuerKeyPair, KeyTextError> read_issuer_secret(std::string_view text) {
  const auto key = read_key(issuer_secret_prefix, text);
  if (!key) return std::unexpected{key.error()};
  return issuer_key_pair(*key);
}

std::expected<IssuerKey, KeyTextError> read_issuer_public(std::string_view text) {
  const auto key = read_key(issuer_public_prefix, text);
  if (!key) return std::unexpected{key.error()};
  return IssuerKey{key->bytes()};
}

}  // namespace ashlar::secure
