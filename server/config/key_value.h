#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "protocol/secure/key_text.h"

// Keys as texts that people give: what is wrong with one, in words that do not repeat it.

namespace ashlar::server {

/// The four kinds of key_text.h; none: begins like none of them.
enum class KeyKind : std::uint8_t { secret, open, issuer_secret, issuer_open, none };

/// By how it begins, blanks aside.
KeyKind kind_of_key(std::string_view text);
/// Must nobody else read it?
bool is_secret(KeyKind kind);
/// "ashlar-public-" and its like; empty for none.
std::string_view prefix_of(KeyKind kind);

/// "was cut ...": the part of a line that says what is wrong with a text which had to be a key of the kind
/// `wanted`, and what would do.
std::string key_complaint(secure::KeyTextError error, KeyKind wanted, std::string_view text);

/// A player's public key, or key_complaint.
std::expected<secure::PublicKey, std::string> parse_player_key(std::string_view text);
/// An issuer's public key, or key_complaint.
std::expected<secure::IssuerKey, std::string> parse_issuer(std::string_view text);

/// The text with "..." for what follows the beginning of a secret key, so that errors which repeat what was
/// typed never print one.
std::string hide_secrets(std::string text);

}  // namespace ashlar::server
