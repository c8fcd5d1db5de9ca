#include "server/net/address.h"
#include "tests/catch.h"

namespace ashlar::server {

TEST_CASE("addresses are written as people write them", "[server][address]") {
  CHECK(to_text(*parse_peer("192.0.2.1:80", 1)) == "192.0.2.1:80");
  CHECK(to_text(*parse_peer("[2001:db8::1]:7777", 1)) == "[2001:db8::1]:7777");
  CHECK(to_text(*parse_peer("2001:db8::1", 5)) == "[2001:db8::1]:5");
  CHECK(to_text(*parse_peer("[::1]", 7)) == "[::1]:7");
  CHECK(to_text(*parse_peer("localhost", 9)) == "127.0.0.1:9");
}

TEST_CASE("an IPv4 address has one spelling whether it came mapped or not", "[server][address]") {
  CHECK(*parse_peer("::ffff:10.0.0.1", 4) == *parse_peer("10.0.0.1:4", 1));
  CHECK(parse_listen("::ffff:10.0.0.1")->family == ListenAddress::Family::v4);
}

TEST_CASE("what is no address is refused with a line that names it", "[server][address]") {
  const std::string text =
      GENERATE(as<std::string>{}, "", "nowhere", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:70000", "1.2.3.4:7x",
               "[::1", "[::1]7", "1.2.3", "256.0.0.1", ":7777", "[]:1");
  CAPTURE(text);
  const auto peer = parse_peer(text, 7777);
  REQUIRE_FALSE(peer.has_value());
  CHECK_THAT(peer.error(), ContainsSubstring("\"" + text + "\""));
  CHECK(peer.error().find('\n') == std::string::npos);
}

TEST_CASE("listening takes every spelling of all addresses and refuses names", "[server][address]") {
  CHECK(parse_listen("")->family == ListenAddress::Family::any);
  CHECK(parse_listen("*")->family == ListenAddress::Family::any);
  CHECK(parse_listen("0.0.0.0")->family == ListenAddress::Family::v4);
  CHECK(parse_listen("::")->family == ListenAddress::Family::v6);
  CHECK(parse_listen("[::1]")->family == ListenAddress::Family::v6);
  REQUIRE_FALSE(parse_listen("example.org").has_value());
  CHECK_THAT(parse_listen("example.org").error(), ContainsSubstring("example.org"));
}

TEST_CASE("limits count IPv4 by address and IPv6 by its first half", "[server][address]") {
  CHECK(limit_key(*parse_peer("10.0.0.1", 1)) == limit_key(*parse_peer("10.0.0.1", 2)));
  CHECK(limit_key(*parse_peer("10.0.0.1", 1)) != limit_key(*parse_peer("10.0.0.2", 1)));
  CHECK(limit_key(*parse_peer("2001:db8:0:1::1", 1)) == limit_key(*parse_peer("2001:db8:0:1:9::2", 1)));
  CHECK(limit_key(*parse_peer("2001:db8:0:1::1", 1)) != limit_key(*parse_peer("2001:db8:0:2::1", 1)));
}

TEST_CASE("a link-local address is nothing without its network device", "[server][address]") {
  CHECK(parse_peer("[fe80::1%7]:80", 1)->scope == 7);
  CHECK(to_text(*parse_peer("[fe80::1%7]:80", 1)) == "[fe80::1%7]:80");
  CHECK(*parse_peer("[fe80::1%7]:80", 1) != *parse_peer("[fe80::1%8]:80", 1));
  CHECK(parse_listen("fe80::1%7")->scope == 7);
  CHECK_THAT(parse_peer("[fe80::1]:80", 1).error(), ContainsSubstring("fe80::1%eth0"));
  CHECK_THAT(parse_listen("fe80::1").error(), ContainsSubstring("fe80::1%eth0"));
  CHECK_THAT(parse_listen("fe80::1%nosuchdevice").error(), ContainsSubstring("not there"));
  CHECK_THAT(parse_listen("::1%7").error(), ContainsSubstring("only link-local"));
}

TEST_CASE("addresses survive the way through the kernel's structures", "[server][address]") {
  const PeerAddress peer = *parse_peer(GENERATE("10.1.2.3:99", "[2001:db8::5]:65535", "[fe80::5%3]:80"), 1);
  sockaddr_storage native;
  socklen_t size = 0;
  REQUIRE(to_native(peer, true, native, size));
  PeerAddress back;
  REQUIRE(from_native(native, back));
  CHECK(back == peer);

  const bool v4 = to_text(peer)[0] != '[';
  CHECK(to_native(peer, false, native, size) == v4);
  if (v4) {
    PeerAddress from_v4;
    REQUIRE(from_native(native, from_v4));
    CHECK(from_v4 == peer);
  }
  native.ss_family = AF_UNIX;
  CHECK_FALSE(from_native(native, back));
}

}  // namespace ashlar::server
