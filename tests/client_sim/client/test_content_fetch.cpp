#include "client_sim/client/content_fetch.h"

#include "protocol/content/envelope.h"
#include "tests/catch.h"
#include "tests/protocol/content/contents.h"

namespace ashlar::client_sim {
namespace {

using ashlar::testing::builtin_map;
using ashlar::testing::must_place;
using ashlar::testing::random_prop;

/// A world of a map and two props, and a server that sends any of it.
struct FetchWorld {
  FetchWorld() {
    welcome.maps.push_back({"TEST", map->content_hash(), {}, 0, 0});
    for (const auto& prop : props) welcome.props.push_back({prop->name(), prop->content_hash(), prop->at()});
  }
  std::vector<std::uint8_t> bytes_of(std::uint64_t hash) const {
    const Content all[] = {map, props[0], props[1]};
    for (const Content& content : all)
      if (content_hash(content) == hash) return encode_content(content).value();
    FAIL("asked for what is not there");
    return {};
  }
  /// Sends from the offset on, in parts, up to `most` bytes.
  static void send(ContentFetch& fetch, const ContentRequest& request, std::span<const std::uint8_t> whole,
                   std::size_t part, std::size_t most = content_bytes_max) {
    std::size_t sent = 0;
    for (std::size_t at = request.offset; at < whole.size() && sent < most; at += part) {
      const auto bytes = whole.subspan(at, std::min(part, whole.size() - at));
      fetch.take(ContentPart{request.hash, static_cast<std::uint32_t>(whole.size()),
                             static_cast<std::uint32_t>(at), bytes});
      sent += bytes.size();
    }
  }
  std::shared_ptr<const PlacedMap> map = must_place(builtin_map());
  std::shared_ptr<const Prop> props[2] = {random_prop(1), random_prop(2)};
  Welcome welcome;
};

bool holds_nothing(std::uint64_t) { return false; }

}  // namespace

TEST_CASE("a client fetches what it lacks, one after the other", "[client_sim][content]") {
  const FetchWorld world;
  ContentFetch fetch(world.welcome,
                     [&](std::uint64_t hash) { return hash == world.props[0]->content_hash(); });
  std::vector<std::uint64_t> came;
  while (const auto request = fetch.request()) {
    CHECK_FALSE(fetch.request());  // one at a time
    CHECK_FALSE(fetch.done());
    FetchWorld::send(fetch, *request, world.bytes_of(request->hash), 100);
    const auto fetched = fetch.next();
    REQUIRE(fetched);
    REQUIRE(fetched->content);
    CHECK(content_hash(*fetched->content) == request->hash);
    CHECK(fetched->bytes == world.bytes_of(request->hash));
    came.push_back(fetched->hash);
  }
  CHECK(came == std::vector{world.map->content_hash(), world.props[1]->content_hash()});
  CHECK(fetch.done());
  CHECK(ContentFetch().done());
}

TEST_CASE("what was on its way goes on over another connection", "[client_sim][content]") {
  const FetchWorld world;
  ContentFetch before(world.welcome, holds_nothing);
  const auto whole = world.bytes_of(world.map->content_hash());
  const auto first = before.request();
  REQUIRE(first);
  FetchWorld::send(before, *first, whole, 100, 300);
  // The next world names it behind another.
  Welcome next = world.welcome;
  next.maps.insert(next.maps.begin(), {"OTHER", 1, {}, 0, 0});
  ContentFetch fetch(next, holds_nothing);
  fetch.take_over(std::move(before));
  const auto again = fetch.request();
  REQUIRE(again);
  CHECK(again->hash == world.map->content_hash());
  CHECK(again->offset == 300);
  FetchWorld::send(fetch, *first, whole, 100, 300);  // late, of the answer before
  FetchWorld::send(fetch, *again, whole, 100);
  const auto fetched = fetch.next();
  REQUIRE(fetched);
  CHECK(fetched->content.has_value());
  CHECK(fetch.request()->hash == 1);
}

TEST_CASE("what the next world does not want is not kept", "[client_sim][content]") {
  const FetchWorld world;
  ContentFetch before(world.welcome, holds_nothing);
  const auto first = before.request();
  REQUIRE(first);
  FetchWorld::send(before, *first, world.bytes_of(first->hash), 100, 300);
  Welcome next = world.welcome;
  next.maps.clear();
  ContentFetch fetch(next, holds_nothing);
  fetch.take_over(std::move(before));
  const auto again = fetch.request();
  REQUIRE(again);
  CHECK(again->hash == world.props[0]->content_hash());
  CHECK(again->offset == 0);
}

TEST_CASE("content that comes wrong is refused with one line, and the next is asked for",
          "[client_sim][content]") {
  const FetchWorld world;
  ContentFetch fetch(world.welcome, holds_nothing);
  const auto request = fetch.request();
  REQUIRE(request);
  auto whole = world.bytes_of(request->hash);
  std::string expected;
  SECTION("other bytes") {
    whole.back() ^= 1;
    FetchWorld::send(fetch, *request, whole, 1000);
  }
  SECTION("another map") {
    PlaceOptions elsewhere;
    elsewhere.surface_z = 5;
    whole = encode_content(must_place(builtin_map(), elsewhere)).value();
    FetchWorld::send(fetch, *request, whole, 1000);
    expected = "its content differs";
  }
  SECTION("a gap") {
    fetch.take(ContentPart{request->hash, 1000, 10, std::span(whole).first(10)});
    expected = "missing";
  }
  SECTION("another size") {
    fetch.take(ContentPart{request->hash, 1000, 0, std::span(whole).first(10)});
    fetch.take(ContentPart{request->hash, 1001, 10, std::span(whole).first(10)});
    expected = "size changed";
  }
  SECTION("a refusal") {
    fetch.take(ContentRefused{request->hash, ContentRefusal::off});
    expected = "gives no files away";
  }
  const auto fetched = fetch.next();
  REQUIRE(fetched);
  REQUIRE_FALSE(fetched->content);
  CHECK(fetched->content.error().starts_with("map TEST cannot be fetched: "));
  CHECK(fetched->content.error().find(expected) != std::string::npos);
  CHECK(fetched->content.error().find('\n') == std::string::npos);
  CHECK(fetched->bytes.empty());
  const auto next = fetch.request();
  REQUIRE(next);
  CHECK(next->hash == world.props[0]->content_hash());
}

TEST_CASE("a client takes no more than its bound, and nothing that it did not ask for",
          "[client_sim][content]") {
  const FetchWorld world;
  ContentFetch fetch(world.welcome, holds_nothing, 100);
  const std::vector<std::uint8_t> bytes(50, 1);
  fetch.take(ContentPart{world.map->content_hash(), 50, 0, bytes});
  CHECK_FALSE(fetch.next());
  const auto request = fetch.request();
  REQUIRE(request);
  fetch.take(ContentPart{request->hash + 1, 50, 0, bytes});
  fetch.take(ContentRefused{request->hash + 1, ContentRefusal::off});
  CHECK(fetch.bytes_arrived() == 0);
  CHECK_FALSE(fetch.next());
  fetch.take(ContentPart{request->hash, 101, 0, bytes});
  const auto fetched = fetch.next();
  REQUIRE(fetched);
  CHECK(fetched->content.error().find("more than a client takes") != std::string::npos);
}

TEST_CASE("a client takes no more than its bound of what little is made into", "[client_sim][content]") {
  const auto bomb = pack(ContentKind::prop, std::vector<std::uint8_t>(content_layout_bytes_max));
  REQUIRE(bomb);
  constexpr std::size_t fits = ContentFetch::layout_bytes_max / content_layout_bytes_max;
  Welcome welcome;
  for (std::size_t i = 0; i <= fits; ++i) welcome.props.push_back({"bomb", 1 + i, {}});
  ContentFetch fetch(welcome, holds_nothing);
  for (std::size_t i = 0; i <= fits; ++i) {
    const auto request = fetch.request();
    REQUIRE(request);
    FetchWorld::send(fetch, *request, *bomb, 60'000);
    const auto fetched = fetch.next();
    REQUIRE(fetched);
    const bool too_much = fetched->content.error().find("more than a client takes") != std::string::npos;
    REQUIRE(too_much == (i == fits));
  }
}

TEST_CASE("a prop in the place of a map is refused", "[client_sim][content]") {
  FetchWorld world;
  world.welcome.maps[0].content_hash = world.props[0]->content_hash();
  ContentFetch fetch(world.welcome, holds_nothing);
  const auto request = fetch.request();
  FetchWorld::send(fetch, *request, world.bytes_of(request->hash), 1000);
  CHECK_FALSE(fetch.next().value().content);
}

}  // namespace ashlar::client_sim
