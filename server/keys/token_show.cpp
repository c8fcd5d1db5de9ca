#include <algorithm>

#include "protocol/hexadecimal.h"
#include "protocol/secure/connect_token.h"
#include "server/config/moment.h"
#include "server/keys/key_argument.h"
#include "server/keys/secret_file.h"
#include "server/keys/token_commands.h"

namespace ashlar::server {
namespace {

constexpr CommandOption token_show_options[] = {
    {"--issuer", "TEXT|FILE", "An issuer's public key: tell whether the signature is its own."},
};

const char* what_is_wrong(secure::TokenError error) {
  switch (error) {
    case secure::TokenError::truncated: return "was cut: copy the whole of it";
    case secure::TokenError::wrong_version: return "is of a version that this program does not know";
    default: return "is no token: one begins with ashlar-token-";
  }
}

std::string validity(const secure::TokenClaims& claims, std::int64_t now_s) {
  if (now_s < claims.not_before_s) return "not yet, it begins in " + span_text(claims.not_before_s - now_s);
  if (now_s >= claims.expires_s)
    return "no, it expired " + span_text(now_s - std::max<std::int64_t>(0, claims.expires_s)) + " ago";
  return "yes, for another " + span_text(claims.expires_s - now_s);
}

/// What verifying says of the signature alone: the token is asked for what it says of client, server and
/// time.
secure::TokenError signature_error(secure::ByteSpan token, const secure::TokenClaims& claims,
                                   const secure::IssuerKey& issuer, bool& right) {
  const auto verified = secure::verify_token(token, claims.not_before_s, claims.client,
                                             claims.servers.front(), std::span(&issuer, 1));
  right = verified.has_value();
  return right ? secure::TokenError::malformed : verified.error();
}

/// "right", or why not.
std::string signature_text(secure::TokenError error, bool right) {
  if (right) return "right, it is this issuer's";
  if (error == secure::TokenError::unknown_issuer) return "not looked at: another issuer's token";
  return "WRONG: the token was changed, or is not this issuer's";
}

}  // namespace

const CommandTable token_show_table{"token show",
                                    "Tells all that a connect token says. Without --issuer nothing in it is "
                                    "proven. The exit code is 1 when it is "
                                    "not valid now or the signature is not the issuer's.",
                                    "TEXT|FILE", token_show_options};

CommandResult token_show(const CommandWords& words, const CommandWorld& world) {
  std::string text = words.operand;
  if (!text.starts_with(secure::token_prefix)) {
    const auto file = read_key_file(words.operand);
    if (!file) return std::unexpected(file.error() + "; give a token's text or the name of its file");
    text = file->view();
  }
  const std::string what = words.operand == text ? "this" : words.operand;
  const auto bytes = secure::token_from_text(text);
  if (!bytes) return std::unexpected(what + " " + what_is_wrong(bytes.error()));
  const auto token = secure::read_token(*bytes);
  if (!token) return std::unexpected(what + " " + what_is_wrong(token.error()));
  const secure::TokenClaims& claims = token->claims;

  CommandAnswer answer;
  const auto line = [&](std::string_view key, const std::string& value) {
    answer.text += std::string(key) + std::string(12 - key.size(), ' ') + value + "\n";
  };
  line("id", claims.id);
  line("name", claims.name);
  line("client", secure::public_key_text(claims.client));
  for (const secure::PublicKey& server : claims.servers) line("server", secure::public_key_text(server));
  line("issuer", hexadecimal(token->issuer) + " (first bytes of its key's SHA-256)");
  line("not before", moment_text(claims.not_before_s));
  line("expires", moment_text(claims.expires_s));
  line("valid now", validity(claims, world.now_s));
  if (world.now_s < claims.not_before_s || world.now_s >= claims.expires_s) answer.exit_code = 1;
  if (words.has("--issuer")) {
    const auto issuer = issuer_argument(words.value("--issuer"));
    if (!issuer) return std::unexpected("--issuer: " + issuer.error());
    bool right = false;
    const secure::TokenError error = signature_error(*bytes, claims, *issuer, right);
    line("signature", signature_text(error, right));
    if (!right) answer.exit_code = 1;
  } else {
    line("signature", "not looked at: name its issuer with --issuer");
  }
  return answer;
}

}  // namespace ashlar::server
