// Who is banned does not come in, whatever its address, session or link; who is here goes.
#include "server/bans/ban_list.h"
#include "server/net/network.h"
#include "tests/server/host/host_table.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

std::shared_ptr<const BanList> only(const BanTarget& target, std::int64_t until_s = 0) {
  auto bans = std::make_shared<BanList>();
  REQUIRE(bans->add(target, {"", "dug the bridge away", "console", 0, until_s}));
  return bans;
}

Network network_at(const PeerAddress& peer) { return network_of(peer, 128); }

PeerAddress elsewhere(std::uint8_t host, std::uint16_t port) {
  PeerAddress at = peer(port);
  at.ip[15] = host;
  return at;
}

void come_again(Table& t, Hand& hand, const PeerAddress& at) {
  hand.vanished = false;
  hand.at = at;
  t.greet(hand);
}

}  // namespace

TEST_CASE("a banned key is refused at the handshake, told why and for how long", "[server][bans]") {
  Table t;
  Hand &ann = t.hand(peer(1)), &bob = t.hand(peer(2), "bob");
  t.host->set_bans(only(ann.identity.open, t.input.unix_s + 7200));
  t.greet(ann);
  CHECK(ann.end() == SessionEnd::banned);
  CHECK(ann.end_text() == "you are banned from this server for another 2h: dug the bridge away");
  CHECK_FALSE(ann.welcomed());
  CHECK(t.host->status().refused(SessionEnd::banned) >= 1);
  CHECK(t.events.back().kind == HostEventKind::refused);
  t.enter(bob);

  SECTION("another address, port or link change nothing") {
    come_again(t, ann, GENERATE(elsewhere(7, 1), peer(30), tcp_peer(1, 3)));
    CHECK(ann.end() == SessionEnd::banned);
  }
  SECTION("until it is over") {
    t.input.unix_s += 7199;
    come_again(t, ann, peer(31));
    CHECK(ann.end() == SessionEnd::banned);
    ++t.input.unix_s;
    come_again(t, ann, peer(32));
    CHECK(ann.welcomed());
  }
  SECTION("or taken back") {
    t.host->set_bans(nullptr);
    come_again(t, ann, peer(31));
    CHECK(ann.welcomed());
  }
}

TEST_CASE("who is here when it is banned is put out with the reason", "[server][bans]") {
  const bool by_address = GENERATE(false, true);
  Table t;
  Hand &ann = t.hand(GENERATE(elsewhere(5, 1), tcp_peer(1, 3))), &bob = t.hand(elsewhere(8, 2), "bob");
  t.enter(ann);
  t.enter(bob);
  t.host->set_bans(by_address ? only(network_at(ann.at)) : only(ann.identity.open));
  t.run(3);
  CHECK(ann.end() == SessionEnd::banned);
  CHECK_FALSE(bob.end());
  CHECK(t.host->players().size() == 1);
  CHECK(t.host->world().player_count() == 1);
  CHECK(t.books().sessions.size() == 1);
}

TEST_CASE("who is welcomed and has not joined is put out, too", "[server][bans]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  ann.joins = false;
  t.greet(ann);
  REQUIRE(ann.welcomed());
  t.host->set_bans(only(ann.identity.open));
  t.run(3);
  CHECK(ann.end() == SessionEnd::banned);
  CHECK(t.books().sessions.empty());
}

TEST_CASE("a banned player does not come back to its body", "[server][bans]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  ann.will_resume();
  SECTION("that waits: it leaves at once") {
    ann.vanished = true;
    t.run(60 * 11);
    REQUIRE(t.host->away() == 1);
    REQUIRE(t.host->away_players().size() == 1);
    CHECK(t.host->away_players()[0].key == ann.identity.open);
    t.host->set_bans(only(ann.identity.open));
    t.run(3);
    CHECK(t.host->away() == 0);
    CHECK(t.host->world().player_count() == 0);
    CHECK(t.events.back().detail == "banned");
  }
  SECTION("while its old session is still open here") { t.host->set_bans(only(ann.identity.open)); }
  come_again(t, ann, GENERATE(elsewhere(6, 40), tcp_peer(1, 9)));
  CHECK(ann.end() == SessionEnd::banned);
  CHECK(t.host->status().resumed == 0);
}

TEST_CASE("a session that moves to a banned address ends there", "[server][bans]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  t.host->set_bans(only(network_at(elsewhere(66, 0))));
  t.enter(ann);
  ann.at = elsewhere(66, 1);
  for (int i = 0; i < 120 && !ann.end(); ++i) {
    t.send(ann, walking(ann.snapshot_tick + 2));
    t.run();
  }
  CHECK(t.host->status().moved == 1);
  CHECK(ann.end() == SessionEnd::banned);
  CHECK(t.books().sessions.empty());
}

TEST_CASE("on a closed server the token's id is banned, whatever the key", "[server][bans]") {
  const auto issuer = secure::issuer_key_pair(seed_of(50));
  HostConfig closed;
  closed.access = Access::token;
  closed.token_issuers = {issuer.open};
  Table t(4, {}, closed);
  const auto token_of = [&](const Hand& hand, const std::string& id) {
    secure::TokenClaims claims;
    claims.client = hand.identity.open;
    claims.id = id;
    claims.name = "named " + id;
    claims.not_before_s = 999'000;
    claims.expires_s = 1'001'000;
    claims.servers = {t.config.identity.open};
    return *secure::mint_token(claims, issuer);
  };
  Hand &first = t.hand(peer(1)), &second = t.hand(peer(2)), &other = t.hand(peer(3));
  first.token = token_of(first, "ann");
  second.token = token_of(second, "ann");
  other.token = token_of(other, "bob");
  t.enter(first);
  CHECK(t.host->players()[0].token_id == "ann");
  t.host->set_bans(only(TokenId{"ann"}));
  t.run(3);
  CHECK(first.end() == SessionEnd::banned);
  t.greet(second);
  CHECK(second.end() == SessionEnd::banned);
  t.enter(other);
}
