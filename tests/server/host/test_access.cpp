// A closed server: who comes in shows a connect token.
#include "tests/server/host/host_table.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

struct Closed {
  Closed() : table(4, {}, config()) {}

  static secure::IssuerKeyPair issuer() { return secure::issuer_key_pair(seed_of(50)); }
  static HostConfig config() {
    HostConfig closed;
    closed.access = Access::token;
    closed.token_issuers = {issuer().open};
    closed.clients_per_address_max = 4;
    return closed;
  }
  secure::TokenClaims claims(const Hand& hand, const std::string& id) const {
    secure::TokenClaims out;
    out.client = hand.identity.open;
    out.id = id;
    out.name = "named " + id;
    out.not_before_s = 999'000;
    out.expires_s = 1'001'000;
    out.servers = {table.config.identity.open};
    return out;
  }
  static std::vector<std::uint8_t> mint(const secure::TokenClaims& claims,
                                        const secure::IssuerKeyPair& by = issuer()) {
    auto token = secure::mint_token(claims, by);
    REQUIRE(token);
    return *token;
  }

  Table table;
};

}  // namespace

TEST_CASE("who shows a good token comes in under its name", "[server][access]") {
  Closed closed;
  Hand& ann = closed.table.hand(peer(1), "as she likes");
  ann.token = Closed::mint(closed.claims(ann, "ann"));
  closed.table.enter(ann);
  CHECK(closed.table.host->players().at(0).name == "named ann");
}

TEST_CASE("each fault of a token is told as such", "[server][access]") {
  Closed closed;
  Hand& ann = closed.table.hand(peer(1));
  const secure::TokenClaims good = closed.claims(ann, "ann");
  secure::TokenClaims wrong = good;
  SessionEnd expected{};
  SECTION("none") { expected = SessionEnd::token_missing; }
  SECTION("no token") {
    ann.token = Closed::mint(good);
    ann.token[57] = 0;  // an id without characters
    expected = SessionEnd::token_malformed;
  }
  SECTION("cut off") {
    ann.token = Closed::mint(good);
    ann.token.resize(ann.token.size() - 1);
    expected = SessionEnd::token_truncated;
  }
  SECTION("another version") {
    ann.token = Closed::mint(good);
    ann.token[0] = 2;
    expected = SessionEnd::token_wrong_version;
  }
  SECTION("changed") {
    ann.token = Closed::mint(good);
    ann.token.back() ^= 1;
    expected = SessionEnd::token_bad_signature;
  }
  SECTION("a stranger's") {
    ann.token = Closed::mint(good, secure::issuer_key_pair(seed_of(51)));
    expected = SessionEnd::token_unknown_issuer;
  }
  SECTION("expired") {
    wrong.expires_s = 1'000'000;
    ann.token = Closed::mint(wrong);
    expected = SessionEnd::token_expired;
  }
  SECTION("not yet") {
    wrong.not_before_s = 1'000'001;
    ann.token = Closed::mint(wrong);
    expected = SessionEnd::token_not_yet;
  }
  SECTION("another player's") {
    wrong.client = secure::key_pair(seed_of(60)).open;
    ann.token = Closed::mint(wrong);
    expected = SessionEnd::token_other_client;
  }
  SECTION("for another server") {
    wrong.servers = {secure::key_pair(seed_of(61)).open};
    ann.token = Closed::mint(wrong);
    expected = SessionEnd::token_other_server;
  }
  closed.table.greet(ann);
  REQUIRE(ann.end());
  CHECK(name(*ann.end()) == name(expected));
  CHECK_FALSE(ann.end_text().empty());
  CHECK(closed.table.host->status().refused(expected) == 1);
  CHECK(closed.table.books().sessions.empty());
}

TEST_CASE("a player is who its token's id says, whatever its keys", "[server][access]") {
  Closed closed;
  Table& table = closed.table;
  Hand &first = table.hand(peer(1)), &second = table.hand(peer(2)), &other = table.hand(peer(3));
  first.token = Closed::mint(closed.claims(first, "ann"));
  second.token = Closed::mint(closed.claims(second, "ann"));
  other.token = Closed::mint(closed.claims(other, "bob"));
  table.enter(first);
  table.enter(other);
  table.enter(second);
  table.run(2);
  CHECK(first.end() == SessionEnd::replaced);
  CHECK_FALSE(other.end());
  CHECK(table.host->status().clients == 2);
}

TEST_CASE("who goes on with a session still has to show a token that is good", "[server][access]") {
  Closed closed;
  Table& table = closed.table;
  Hand& ann = table.hand(peer(1));
  ann.token = Closed::mint(closed.claims(ann, "ann"));
  table.enter(ann);
  ann.will_resume();
  ann.vanished = true;
  table.run(60 * 11);
  ann.vanished = false;
  table.input.unix_s = 1'001'000;
  table.greet(ann);
  CHECK(ann.end() == SessionEnd::token_expired);
  table.input.unix_s = 1'000'500;
  table.enter(ann);
  CHECK(ann.welcomes.back().resumed);
}
