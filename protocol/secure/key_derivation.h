#pragma once
#include <initializer_list>
#include <string_view>

#include "protocol/secure/secret.h"

// SHA-256, HMAC and HKDF: what all keys are made with. Source: RFC 6234, RFC 2104, RFC 5869.

namespace ashlar::secure {

/// SHA-256 over the parts in turn, as if they were one.
Bytes32 sha256(std::initializer_list<ByteSpan> parts);

/// HMAC-SHA-256 over the parts in turn, as if they were one.
Bytes32 hmac(ByteSpan key, std::initializer_list<ByteSpan> parts);

/// HKDF-Extract: an evenly spread key of whatever is secret in `input`.
Secret extract(ByteSpan salt, ByteSpan input);

/// HKDF-Expand with info = "ashlar " label 0x00 context: another label gives an unrelated key. The label
/// holds no zero byte. Precondition: at most 32 * 255 bytes out.
void expand(ByteSpan key, std::string_view label, ByteSpan context, std::span<std::uint8_t> out);

/// As above, 32 bytes.
Secret expand(const Secret& key, std::string_view label, ByteSpan context = {});

/// A text's bytes.
inline ByteSpan bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace ashlar::secure
