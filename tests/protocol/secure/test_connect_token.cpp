#include "protocol/secure/connect_token.h"

#include "protocol/secure/base64url.h"
#include "protocol/secure/key_text.h"
#include "tests/protocol/secure/handshake_cases.h"

namespace ashlar::secure {
namespace {

using namespace secure_test;

constexpr std::int64_t noon_s = 1'800'000'000;

struct Issued {
  IssuerKeyPair issuer = [] {
    SeededEntropy entropy(1);
    return issuer_key_pair(entropy.secret());
  }();
  PublicKey client = identity_of(2).open, server = identity_of(3).open;
  TokenClaims claims{client, "player-1", "Winifred", noon_s, noon_s + 600, {identity_of(4).open, server}};
  Bytes token = *mint_token(claims, issuer);

  TokenError error(const Bytes& given) const { return error(given, noon_s, client, server, issuer.open); }
  TokenError error(const Bytes& given, std::int64_t now_s, const PublicKey& who, const PublicKey& where,
                   const IssuerKey& trusted) const {
    const auto result = verify_token(given, now_s, who, where, {&trusted, 1});
    REQUIRE_FALSE(result.has_value());
    return result.error();
  }
};

}  // namespace

TEST_CASE("a token lets in whom it is for, where and while it is", "[protocol][connect_token]") {
  const Issued made;
  SeededEntropy entropy(9);
  const IssuerKey others[] = {issuer_key_pair(entropy.secret()).open, made.issuer.open};
  for (const std::int64_t now_s : {noon_s, noon_s + 599}) {
    const auto claims = verify_token(made.token, now_s, made.client, made.server, others);
    REQUIRE(claims.has_value());
    CHECK(*claims == made.claims);
  }
  const auto shown = read_token(made.token);
  REQUIRE(shown.has_value());
  CHECK(shown->claims == made.claims);
  CHECK(shown->issuer == issuer_id(made.issuer.open));
}

TEST_CASE("each wrong token is refused with its own reason", "[protocol][connect_token]") {
  const Issued made;
  const PublicKey stranger = identity_of(7).open;
  SeededEntropy entropy(9);
  const IssuerKeyPair other = issuer_key_pair(entropy.secret());
  const auto error = [&](std::int64_t now_s, const PublicKey& who, const PublicKey& where) {
    return made.error(made.token, now_s, who, where, made.issuer.open);
  };
  CHECK(error(noon_s + 600, made.client, made.server) == TokenError::expired);
  CHECK(error(noon_s - 1, made.client, made.server) == TokenError::not_yet);
  CHECK(error(noon_s, stranger, made.server) == TokenError::other_client);
  CHECK(error(noon_s, made.client, stranger) == TokenError::other_server);
  CHECK(made.error(made.token, noon_s, made.client, made.server, other.open) == TokenError::unknown_issuer);
  CHECK(verify_token(made.token, noon_s, made.client, made.server, {}).error() == TokenError::unknown_issuer);
  Bytes changed = made.token;
  changed[0] = 2;
  CHECK(made.error(changed) == TokenError::wrong_version);
  changed = made.token, changed.push_back(0);
  CHECK(made.error(changed) == TokenError::malformed);
  CHECK(made.error(Bytes(token_bytes_max + 1, 1)) == TokenError::malformed);
  // Signed by another under the trusted one's name.
  const Bytes foreign = *mint_token(made.claims, other);
  changed = made.token;
  std::copy(foreign.end() - 64, foreign.end(), changed.end() - 64);
  CHECK(made.error(changed) == TokenError::bad_signature);
}

TEST_CASE("any bit changed in a token makes it worthless", "[protocol][connect_token]") {
  const Issued made;
  for (std::size_t bit = 0; bit < 8 * made.token.size(); ++bit) {
    const TokenError error = made.error(with_flipped_bit(made.token, bit));
    REQUIRE((error == TokenError::bad_signature || error == TokenError::malformed ||
             error == TokenError::truncated || error == TokenError::wrong_version ||
             error == TokenError::unknown_issuer));
  }
}

TEST_CASE("every truncation of a token is called one", "[protocol][connect_token]") {
  const Issued made;
  for (std::size_t size = 0; size < made.token.size(); ++size)
    REQUIRE(made.error(Bytes(made.token.begin(), made.token.begin() + static_cast<std::ptrdiff_t>(size))) ==
            TokenError::truncated);
  const std::string text = token_text(made.token);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto bytes = token_from_text(std::string_view(text).substr(0, size));
    REQUIRE((bytes ? made.error(*bytes) : bytes.error()) == TokenError::truncated);
  }
}

TEST_CASE("a token travels as one line of text", "[protocol][connect_token]") {
  const Issued made;
  const std::string text = token_text(made.token);
  CHECK(text.starts_with("ashlar-token-"));
  CHECK(token_from_text(text) == made.token);
  CHECK(token_from_text(text + "\r\n") == made.token);
  CHECK(token_from_text("ashlar-secret-abc").error() == TokenError::malformed);
  CHECK(token_from_text(text.substr(0, 40) + "!" + text.substr(41)).error() == TokenError::malformed);
  CHECK(token_from_text(text + text + text).error() == TokenError::malformed);
  CHECK(token_from_text("").error() == TokenError::truncated);
}

TEST_CASE("only claims that make sense are signed", "[protocol][connect_token]") {
  const Issued made;
  const auto refused = [&](auto change) {
    TokenClaims claims = made.claims;
    change(claims);
    const auto token = mint_token(claims, made.issuer);
    return !token.has_value() && token.error() == TokenError::malformed;
  };
  CHECK(refused([](TokenClaims& c) { c.id.clear(); }));
  CHECK(refused([](TokenClaims& c) { c.id.assign(33, 'x'); }));
  CHECK(refused([](TokenClaims& c) { c.id = "two words"; }));
  CHECK(refused([](TokenClaims& c) { c.id = "\xc3\xa4"; }));
  CHECK(refused([](TokenClaims& c) { c.name.clear(); }));
  CHECK(refused([](TokenClaims& c) { c.name.assign(25, 'x'); }));
  CHECK(refused([](TokenClaims& c) { c.expires_s = c.not_before_s; }));
  CHECK(refused([](TokenClaims& c) { c.servers.clear(); }));
  CHECK(refused([](TokenClaims& c) { c.servers.resize(9); }));
  TokenClaims largest = made.claims;
  largest.id.assign(32, 'x');
  largest.name.clear();
  for (int i = 0; i < 24; ++i) largest.name += "\xf0\x9f\x98\x80";
  largest.servers.resize(8);
  largest.servers.back() = made.server;
  const auto token = mint_token(largest, made.issuer);
  REQUIRE(token.has_value());
  CHECK(token->size() <= token_bytes_max);
  CHECK(verify_token(*token, noon_s, made.client, made.server, {&made.issuer.open, 1}) == largest);
}

TEST_CASE("every token error has a name of its own", "[protocol][connect_token]") {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < token_error_count; ++i) names.push_back(name(static_cast<TokenError>(i)));
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
  CHECK(std::ranges::find(names, "unknown") == names.end());
}

TEST_CASE("keys travel as text, and slips of the hand are noticed", "[protocol][key_text]") {
  const KeyPair identity = identity_of(1);
  SeededEntropy entropy(2);
  const IssuerKeyPair issuer = issuer_key_pair(entropy.secret());
  const std::string secret = secret_key_text(identity), open = public_key_text(identity.open);
  REQUIRE(read_secret_key(secret).has_value());
  CHECK(read_secret_key(secret)->open == identity.open);
  CHECK(read_secret_key(" " + secret + "\r\n")->secret == identity.secret);
  CHECK(read_public_key(open) == identity.open);
  CHECK(read_issuer_secret(issuer_secret_text(issuer))->open == issuer.open);
  CHECK(read_issuer_public(issuer_public_text(issuer.open)) == issuer.open);

  CHECK(read_public_key(secret).error() == KeyTextError::other_kind);
  CHECK(read_secret_key(open).error() == KeyTextError::other_kind);
  CHECK(read_issuer_public(issuer_secret_text(issuer)).error() == KeyTextError::other_kind);
  CHECK(read_public_key("").error() == KeyTextError::no_key);
  CHECK(read_public_key(" \n").error() == KeyTextError::no_key);
  CHECK(read_public_key("hello").error() == KeyTextError::no_key);
  CHECK(read_public_key(open.substr(0, open.size() - 1)).error() == KeyTextError::wrong_length);
  CHECK(read_public_key(open + "A").error() == KeyTextError::wrong_length);
  std::string slip = open;
  slip.back() = '!';
  CHECK(read_public_key(slip).error() == KeyTextError::wrong_letters);
  for (std::size_t i = open.size() - 48; i < open.size(); ++i)
    for (const char c : {'A', 'b', '9', '-'}) {
      slip = open;
      if (slip[i] == c) continue;
      slip[i] = c;
      REQUIRE(read_public_key(slip).error() == KeyTextError::wrong_checksum);
    }
}

}  // namespace ashlar::secure
