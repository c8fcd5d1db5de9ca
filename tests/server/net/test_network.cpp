#include "server/net/network.h"

#include "server/net/address.h"
#include "tests/catch.h"

namespace ashlar::server {
namespace {

PeerAddress address_of(const char* address) { return *parse_peer(address, 1); }

bool holds(const Network& network, const char* address) {
  return network_of(address_of(address), network.bits) == network;
}

}  // namespace

TEST_CASE("networks are read, and written as they are read", "[server][network]") {
  for (const char* text : {"192.0.2.1", "192.0.2.0/24", "10.0.0.0/8", "2001:db8::/32", "2001:db8::1/128"})
    CHECK(to_text(*parse_network(text)) == text);
  CHECK(to_text(*parse_network("192.0.2.1/32")) == "192.0.2.1");
  CHECK(to_text(*parse_network("::ffff:192.0.2.1")) == "192.0.2.1");
  CHECK(to_text(*parse_network("2001:db8::17")) == "2001:db8::/64");
}

TEST_CASE("a network holds the addresses that begin as it does", "[server][network]") {
  const Network v4 = *parse_network("192.0.2.128/25");
  CHECK(holds(v4, "192.0.2.128"));
  CHECK(holds(v4, "192.0.2.255"));
  CHECK_FALSE(holds(v4, "192.0.2.127"));
  CHECK_FALSE(holds(v4, "[2001:db8::1]"));
  const Network v6 = *parse_network("2001:db8::/33");
  CHECK(holds(v6, "[2001:db8:7fff::1]"));
  CHECK_FALSE(holds(v6, "[2001:db8:8000::1]"));
}

TEST_CASE("what is no network is refused with what would do", "[server][network]") {
  const auto [text, part] = GENERATE(table<std::string, std::string>({
      {"192.0.2", "no address in numbers"},
      {"192.0.2.1.5", "no address in numbers"},
      {"example.org", "no address in numbers"},
      {"", "no address in numbers"},
      {"192.0.2.0/", "/8 to /32"},
      {"192.0.2.0/33", "/8 to /32"},
      {"0.0.0.0/0", "/8 to /32"},
      {"192.0.2.0/2x", "/8 to /32"},
      {"2001:db8::/129", "/16 to /128"},
      {"::/0", "/16 to /128"},
      {"192.0.2.1/24", "give 192.0.2.0/24"},
  }));
  CAPTURE(text);
  const auto network = parse_network(text);
  REQUIRE_FALSE(network);
  CHECK_THAT(network.error(), ContainsSubstring(part));
}

TEST_CASE("words that are meant as addresses are told from names", "[server][network]") {
  for (const char* text : {"192.0.2.1", "192.0.2.0/24", "2001:db8::1", "::1", "1.2.3.400"})
    CHECK(looks_like_network(text));
  for (const char* text : {"ann", "abc", "12", "1.5", "v1.2.3.4", "be.ad.fa.ced!", "a:z"})
    CHECK_FALSE(looks_like_network(text));
}

}  // namespace ashlar::server
