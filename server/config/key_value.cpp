#include "server/config/key_value.h"

#include <array>

namespace ashlar::server {
namespace {

/// In the order of KeyKind.
constexpr std::array<std::string_view, 4> key_prefixes{"ashlar-secret-", "ashlar-public-",
                                                       "ashlar-issuer-secret-", "ashlar-issuer-public-"};
constexpr std::array<std::string_view, 4> key_kinds{
    "a secret key of a server or player", "a public key of a server or player", "the secret key of an issuer",
    "the public key of an issuer"};

bool belongs_to_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

KeyKind kind_of_key(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  for (std::size_t i = 0; i < key_prefixes.size(); ++i)
    if (text.starts_with(key_prefixes[i])) return static_cast<KeyKind>(i);
  return KeyKind::none;
}

bool is_secret(KeyKind kind) { return kind == KeyKind::secret || kind == KeyKind::issuer_secret; }

std::string_view prefix_of(KeyKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < key_prefixes.size() ? key_prefixes[index] : std::string_view{};
}

std::string key_complaint(secure::KeyTextError error, KeyKind wanted, std::string_view text) {
  const std::string prefix(prefix_of(wanted));
  switch (error) {
    case secure::KeyTextError::no_key:
      return "is no key: it has to be " + std::string(key_kinds[static_cast<std::size_t>(wanted)]) + " (" +
             prefix + "...)";
    case secure::KeyTextError::other_kind: {
      const KeyKind kind = kind_of_key(text);
      const std::string is(kind == KeyKind::none ? "another key" : key_kinds[static_cast<std::size_t>(kind)]);
      return "is " + is + ", but has to be " + std::string(key_kinds[static_cast<std::size_t>(wanted)]) +
             " (" + prefix + "...)";
    }
    case secure::KeyTextError::wrong_length:
      return "was cut, or something follows it: 48 characters come after " + prefix;
    case secure::KeyTextError::wrong_letters:
    case secure::KeyTextError::wrong_checksum: break;
  }
  return "has a wrong character (its checksum does not agree): copy it again";
}

std::expected<secure::PublicKey, std::string> parse_player_key(std::string_view text) {
  const auto key = secure::read_public_key(text);
  if (!key) return std::unexpected(key_complaint(key.error(), KeyKind::open, text));
  return *key;
}

std::expected<secure::IssuerKey, std::string> parse_issuer(std::string_view text) {
  const auto key = secure::read_issuer_public(text);
  if (!key) return std::unexpected(key_complaint(key.error(), KeyKind::issuer_open, text));
  return *key;
}

std::string hide_secrets(std::string text) {
  for (const KeyKind kind : {KeyKind::secret, KeyKind::issuer_secret}) {
    const std::string_view prefix = prefix_of(kind);
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
      at += prefix.size();
      std::size_t end = at;
      while (end < text.size() && belongs_to_key(text[end])) ++end;
      if (end > at) text.replace(at, end - at, "...");
    }
  }
  return text;
}

}  // namespace ashlar::server
