#include "server/admin/ban_order.h"

#include "protocol/secure/key_text.h"
#include "tests/catch.h"

namespace ashlar::server {
namespace {

secure::PublicKey key_of(std::uint8_t number) {
  secure::PublicKey key;
  key.bytes[0] = number;
  return key;
}

const std::vector<PlayerHere> here{{"ann", 11, key_of(1), ""},
                                   {"ann lee", 12, key_of(2), ""},
                                   {"bob", 13, key_of(3), "account-3"},
                                   {"ann", 14, key_of(4), ""},
                                   {"192.0.2.7", 15, key_of(5), ""}};

BanOrder order(const std::string& text) {
  CAPTURE(text);
  const auto read = parse_ban_order(text, here);
  REQUIRE(read);
  return *read;
}

}  // namespace

TEST_CASE("whom a ban means, for how long and why", "[server][ban_order]") {
  CHECK(order("ann").who.size() == 2);
  CHECK(order("ann").who[1].target == BanTarget(key_of(4)));
  CHECK(order("ann").for_s == 0);
  const BanOrder lee = order("ann lee for 2h  dug the bridge away");
  REQUIRE(lee.who.size() == 1);
  CHECK(lee.who[0].target == BanTarget(key_of(2)));
  CHECK(lee.who[0].name == "ann lee");
  CHECK(lee.for_s == 7200);
  CHECK(lee.reason == "dug the bridge away");
  CHECK(order("bob").who[0].target == BanTarget(TokenId{"account-3"}));
  CHECK(order("#14 spam").who[0].target == BanTarget(key_of(4)));
  CHECK(order("#14 spam").reason == "spam");
  CHECK(order("bob for digging").reason == "for digging");
  CHECK(order("bob for ever and a day").reason == "and a day");
  const BanOrder by_key = order(secure::public_key_text(key_of(2)) + " for 30d");
  CHECK(by_key.who[0].target == BanTarget(key_of(2)));
  CHECK(by_key.who[0].name == "ann lee");
  CHECK(order("token:account-9").who[0].target == BanTarget(TokenId{"account-9"}));
  CHECK(order("token:account-9").who[0].name.empty());
}

TEST_CASE("networks are banned as they are written", "[server][ban_order]") {
  CHECK(order("192.0.2.8 flood").who[0].target == BanTarget(*parse_network("192.0.2.8")));
  CHECK(order("2001:db8::/32").who[0].target == BanTarget(*parse_network("2001:db8::/32")));
}

TEST_CASE("a name that spells somebody else has nobody banned in its place", "[server][ban_order]") {
  const auto refused = [](const std::string& text, const std::vector<PlayerHere>& who) {
    CAPTURE(text);
    const auto read = parse_ban_order(text, who);
    return read ? std::string("was not refused") : read.error();
  };
  CHECK_THAT(refused("192.0.2.7 flood", here), ContainsSubstring("called 192.0.2.7: ban #15"));
  CHECK(order("#15").who[0].target == BanTarget(key_of(5)));
  const std::vector<PlayerHere> posers{
      {"#2", 2, key_of(2), ""},           {"#2 fan", 3, key_of(3), ""}, {"token:bob", 4, key_of(4), "poser"},
      {"token:eve", 5, key_of(5), "eve"}, {"ann", 6, key_of(6), ""},    {"ann for 2h", 7, key_of(7), ""}};
  CHECK_THAT(refused("#2 fan", posers), ContainsSubstring("called #2 fan: ban #3"));
  CHECK_THAT(refused("token:bob", posers), ContainsSubstring("ban #4"));
  CHECK_THAT(refused("ann for 2h", posers), ContainsSubstring("both ann (#6) and ann for 2h (#7) are here"));
  CHECK(parse_ban_order("#2", posers)->who[0].target == BanTarget(key_of(2)));
  CHECK(parse_ban_order("#7 for 2h", posers)->for_s == 7200);
  CHECK(parse_ban_order("ann for 3h", posers)->who[0].target == BanTarget(key_of(6)));
  CHECK(parse_ban_order("token:eve", posers)->who[0].target == BanTarget(TokenId{"eve"}));
}

TEST_CASE("orders that mean nobody, or no time, are refused with what would do", "[server][ban_order]") {
  const auto [text, part] = GENERATE(table<std::string, std::string>({
      {"", "ban NAME|#CONNECTION|KEY|token:ID|ADDRESS [for 2h] [REASON]"},
      {"eve", "no player is called eve; players lists them; who is not here"},
      {"#99", "nobody has the connection #99"},
      {"#x", "nobody has the connection #x"},
      {"192.0.2.0/64", "/8 to /32"},
      {"token:", "token: needs a player's id"},
      {"ashlar-public-zzz", "the key "},
      {"ashlar-secret-zzz", "the key "},
      {"bob for 2x", "is no time"},
      {"bob for 0s", "for 2h"},
      {"bob for", "how long"},
      {"bob for -5m", "how long"},
      {"bob for nan", "how long"},
      {"bob " + std::string(121, 'x'), "at most 120"},
  }));
  CAPTURE(text);
  const auto read = parse_ban_order(text, here);
  REQUIRE_FALSE(read);
  CHECK_THAT(read.error(), ContainsSubstring(part));
}

TEST_CASE("bans are taken out by what they mean or by the name they were set under", "[server][ban_order]") {
  BanList bans;
  REQUIRE(bans.add(key_of(1), {"ann lee", "", "", 0, 0}));
  REQUIRE(bans.add(TokenId{"account-3"}, {"bob", "", "", 0, 0}));
  REQUIRE(bans.add(*parse_network("192.0.2.0/24"), {}));
  CHECK(parse_unban_order("ann lee", bans) == std::vector<BanTarget>{key_of(1)});
  CHECK(parse_unban_order("token:account-3", bans) == std::vector<BanTarget>{TokenId{"account-3"}});
  CHECK(parse_unban_order("192.0.2.0/24", bans)->size() == 1);
  for (const char* wrong : {"ann", "192.0.2.1", "token:account-4"})
    CHECK_THAT(parse_unban_order(wrong, bans).error(), ContainsSubstring("bans lists them"));
  CHECK_THAT(parse_unban_order("", bans).error(), ContainsSubstring("unban NAME|KEY|token:ID|ADDRESS"));
  CHECK_THAT(parse_unban_order("192.0.2.1/24", bans).error(), ContainsSubstring("give 192.0.2.0/24"));
}

}  // namespace ashlar::server
