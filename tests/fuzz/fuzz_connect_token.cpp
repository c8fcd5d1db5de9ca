// Tokens and keys as bytes and as text: what is read is written again the same, what nobody signed is never
// believed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "protocol/secure/connect_token.h"
#include "protocol/secure/key_text.h"

using namespace ashlar::secure;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const IssuerKeyPair issuer = issuer_key_pair(Secret{});
  const ByteSpan bytes(data, size);
  const auto read = read_token(bytes);
  if (read) {
    // One spelling for each: signed again it differs in issuer and signature alone.
    const auto again = mint_token(read->claims, issuer);
    if (!again || again->size() != size) std::abort();
    if (!std::equal(again->begin() + 9, again->end() - 64, bytes.begin() + 9)) std::abort();
    if (read_token(*again)->claims != read->claims) std::abort();
    if (token_from_text(token_text(bytes)) != std::vector<std::uint8_t>(bytes.begin(), bytes.end()))
      std::abort();
    if (verify_token(bytes, read->claims.not_before_s, read->claims.client, read->claims.servers[0],
                     {&issuer.open, 1}))
      std::abort();
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto token = token_from_text(text))
    if (token->size() > token_bytes_max) std::abort();
  if (const auto key = read_public_key(text))
    if (read_public_key(public_key_text(*key)) != *key) std::abort();
  static_cast<void>(read_secret_key(text));
  static_cast<void>(read_issuer_secret(text));
  static_cast<void>(read_issuer_public(text));
  return 0;
}
