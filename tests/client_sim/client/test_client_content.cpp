// A client that lacks the server's map gets it from the server, or says what is wrong with it.
#include "tests/client_sim/client/client_match.h"
#include "tests/protocol/content/contents.h"

namespace ashlar::client_sim {
namespace {

using ashlar::testing::builtin_map;
using ashlar::testing::must_place;
using match_test::ClientMatch;
using match_test::config_named;

/// A client that holds what it fetched.
struct Fetcher {
  ClientConfig config() {
    ClientConfig c = config_named("Ada");
    c.content = [this](const WelcomeMap& map) {
      return held == map.content_hash ? std::optional(held) : std::nullopt;
    };
    c.fetched = [this](ContentFetch::Fetched one) { held = one.hash; };
    c.fetch_timeout = std::chrono::seconds{3};
    return c;
  }
  std::uint64_t held = 0;
};

WelcomeMap named(const PlacedMap& map) { return {"MAP01", map.content_hash(), {}, 0, 0}; }

}  // namespace

TEST_CASE("a fetched map is joined with, and kept over a server's restart", "[client_sim][content]") {
  const auto map = must_place(builtin_map());
  Fetcher fetcher;
  ClientMatch match(fetcher.config());
  match.server.maps.push_back(named(*map));
  match.server.content = encode_content(map).value();
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().fetched == 1);
  CHECK(match.client.stats().fetched_bytes == match.server.content.size());
  CHECK(match.server.requests.size() == 1);
  match.server.restart();
  match.run(3);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().rejoins == 1);
  CHECK(match.server.requests.size() == 1);
}

TEST_CASE("a map that is not what the welcome names is refused by name", "[client_sim][content]") {
  const auto map = must_place(builtin_map());
  PlaceOptions elsewhere;
  elsewhere.surface_z = 5;
  Fetcher fetcher;
  ClientMatch match(fetcher.config());
  match.server.maps.push_back(named(*map));
  std::string expected;
  SECTION("another map") {
    match.server.content = encode_content(must_place(builtin_map(), elsewhere)).value();
    expected = "its content differs";
  }
  SECTION("no map at all") { match.server.content = std::vector<std::uint8_t>(5000, 7); }
  match.run(2);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.end_reason() == SessionEnd::lacks_content);
  CHECK_THAT(match.client.reason(), ContainsSubstring("map MAP01 cannot be fetched: "));
  CHECK_THAT(match.client.reason(), ContainsSubstring(expected));
  CHECK(match.server.left == close_reason(SessionEnd::lacks_content));
  CHECK(fetcher.held == 0);
  CHECK(match.server.joins == 0);
}

TEST_CASE("a server that does not send what it was asked for is lost", "[client_sim][content]") {
  Fetcher fetcher;
  ClientMatch match(fetcher.config());
  match.server.maps.push_back({"MAP01", 77, {}, 0, 0});
  match.run(2.5);
  CHECK(match.client.fetching());
  CHECK(match.server.requests.size() == 1);
  match.run(2);
  CHECK(match.client.state() == ClientState::lost);
  CHECK(match.client.broken_off());
  CHECK(match.client.reason() == "the server stopped sending what this client lacks");
}

TEST_CASE("who was not sent what it asked for may come again", "[client_sim][content]") {
  const auto map = must_place(builtin_map());
  Fetcher fetcher;
  ClientMatch match(fetcher.config());
  match.server.maps.push_back(named(*map));
  match.run(5);
  REQUIRE(match.client.broken_off());
  match.run(20);
  match.server.content = encode_content(map).value();
  match.server.restart();
  match.client.join_again(match.now);
  CHECK_FALSE(match.client.fetching());
  match.run(2);
  CHECK(match.client.reason().empty());
  CHECK(match.client.state() == ClientState::playing);
}

TEST_CASE("what a client lacks is said in one line, however much it is", "[client_sim][content]") {
  ClientMatch match(config_named("Ada"));
  for (std::uint64_t i = 0; i < 10; ++i)
    match.server.maps.push_back({"MAP" + std::to_string(i), 100 + i, {}, 0, 0});
  match.run(2);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.missing_maps().size() == 10);
  CHECK(match.client.reason() ==
        "this client lacks MAP0 MAP1 MAP2 MAP3 and 6 more as the server has it: give its file");
}

}  // namespace ashlar::client_sim
