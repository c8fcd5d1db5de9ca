#include "server/host/content_room.h"

#include <map>

#include "protocol/decode.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "tests/protocol/content/contents.h"

namespace ashlar::server {
namespace {

using ashlar::testing::random_prop;

/// BulkStreams that take what they are allowed to, and remember what they got.
struct BulkStreams final : ContentBulk {
  bool can_take(std::uint32_t client, std::size_t size) override {
    const auto at = room.find(client);
    return at == room.end() || at->second >= size;
  }
  void send(std::uint32_t client, std::span<const std::uint8_t> message) override {
    REQUIRE(message.size() <= content_message_bytes_max);
    if (const auto at = room.find(client); at != room.end()) at->second -= message.size();
    const ::ashlar::test::AlignedBytes copy(message);
    const auto decoded = decode_server_message(copy.span());
    REQUIRE(decoded);
    order.push_back(client);
    if (const auto* refused = std::get_if<ContentRefused>(&*decoded)) {
      refusals[client].push_back(*refused);
      return;
    }
    const auto& part = std::get<ContentPart>(*decoded);
    auto& whole = got[client];
    REQUIRE(part.offset == whole.size());
    whole.insert(whole.end(), part.bytes.begin(), part.bytes.end());
    bytes += part.bytes.size();
  }
  std::map<std::uint32_t, std::size_t> room;  // those without a number have no end of it
  std::map<std::uint32_t, std::vector<std::uint8_t>> got;
  std::map<std::uint32_t, std::vector<ContentRefused>> refusals;
  std::vector<std::uint32_t> order;
  std::size_t bytes = 0;
};

/// A prop of so many triangles that its bytes go in several parts.
std::shared_ptr<const Prop> large_prop(std::uint64_t seed) {
  Rng rng = rng_for(seed, 78);
  PropModel model;
  model.name = "large.obj";
  for (std::uint32_t i = 0; i < 9000; ++i) {
    model.vertices.push_back({rng.unit(), rng.unit(), rng.unit()});
    if (i >= 2) model.triangles.push_back({i - 2, i - 1, i});
  }
  auto prop = Prop::place(model, {});
  if (!prop) FAIL(prop.error());
  return *prop;
}

struct ContentDesk {
  explicit ContentDesk(std::uint64_t bytes_per_s, std::uint32_t clients = 8)
      : room(shelf, bytes_per_s, clients) {
    REQUIRE_FALSE(shelf.add(large));
    whole = shelf.find(large->content_hash()).bytes;
    REQUIRE(whole.size() > 4 * content_part_bytes_max);
  }
  void ask(std::uint32_t client, std::uint32_t offset = 0) {
    room.ask(now, client, {large->content_hash(), offset});
  }
  void run(int ticks) {
    for (int i = 0; i < ticks; ++i) {
      now += Micros{16'667};
      room.tick(now, streams);
    }
  }
  std::shared_ptr<const Prop> large = large_prop(1);
  ContentShelf shelf;
  ContentRoom room;
  BulkStreams streams;
  std::span<const std::uint8_t> whole;
  Micros now{5'000'000};
};

}  // namespace

TEST_CASE("a shelf finds what a world holds, once each, within its size", "[server][content]") {
  ContentShelf shelf;
  WorldSetup setup;
  setup.maps.push_back(testing::must_place(testing::builtin_map()));
  setup.props = {random_prop(1), random_prop(2), random_prop(1)};
  CHECK(shelf.add(setup).empty());
  CHECK(shelf.size() == 3);
  std::size_t bytes = 0;
  for (const std::uint64_t hash :
       {setup.maps[0]->content_hash(), setup.props[0]->content_hash(), setup.props[1]->content_hash()}) {
    const auto item = shelf.find(hash);
    REQUIRE(item.has == ContentShelf::Has::whole);
    CHECK(decode_content(item.bytes, hash).has_value());
    bytes += item.bytes.size();
  }
  CHECK(shelf.bytes() == bytes);
  CHECK(shelf.find(1).has == ContentShelf::Has::nothing);

  ContentShelf small(shelf.find(setup.maps[0]->content_hash()).bytes.size() + 10);
  const auto lines = small.add(setup);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].starts_with("prop1.obj: "));
  CHECK(small.find(setup.maps[0]->content_hash()).has == ContentShelf::Has::whole);
  CHECK(small.find(setup.props[0]->content_hash()).has == ContentShelf::Has::known);
}

TEST_CASE("who asks is sent the whole, in parts and in order", "[server][content]") {
  ContentDesk desk(4 << 20);
  desk.ask(3);
  CHECK(desk.room.waiting() == 1);
  desk.run(60);
  CHECK(std::ranges::equal(desk.streams.got[3], desk.whole));
  CHECK(desk.room.waiting() == 0);
  CHECK(desk.room.counters().finished == 1);
  CHECK(desk.room.counters().bytes == desk.whole.size());
  // From where it was, when asked so.
  desk.ask(5, static_cast<std::uint32_t>(desk.whole.size()) - 7);
  desk.streams.got[5].assign(desk.whole.begin(), desk.whole.end() - 7);
  desk.run(1);
  CHECK(std::ranges::equal(desk.streams.got[5], desk.whole));
}

TEST_CASE("what cannot be sent is refused with its reason", "[server][content]") {
  ContentDesk desk(4 << 20);
  ContentShelf tight(0);
  REQUIRE(tight.add(desk.large).has_value());
  ContentRoom tight_room(tight, 4 << 20, 1), off(desk.shelf, 0, 1);
  const auto refusal = [&](ContentRoom& room, const ContentRequest& request) {
    desk.streams.refusals.clear();
    room.ask(desk.now, 0, request);
    for (int i = 0; i < 60; ++i) room.tick(desk.now += Micros{16'667}, desk.streams);
    REQUIRE(desk.streams.refusals[0].size() == 1);
    CHECK(desk.streams.refusals[0][0].hash == request.hash);
    CHECK(room.waiting() == 0);
    return desk.streams.refusals[0][0].reason;
  };
  const std::uint64_t hash = desk.large->content_hash();
  CHECK(refusal(desk.room, {hash + 1, 0}) == ContentRefusal::unknown);
  CHECK(refusal(desk.room, {hash, static_cast<std::uint32_t>(desk.whole.size())}) ==
        ContentRefusal::bad_offset);
  CHECK(refusal(tight_room, {hash, 0}) == ContentRefusal::not_offered);
  CHECK(refusal(off, {hash, 0}) == ContentRefusal::off);
  CHECK(desk.streams.bytes == 0);
}

TEST_CASE("no more is sent than the budgets allow, for all and for each", "[server][content]") {
  const std::uint64_t rate = GENERATE(20'000u, 400'000u, 4'000'000u);
  CAPTURE(rate);
  ContentDesk desk(rate);
  const int seconds = 4;
  const auto ask_on = [&](std::uint32_t clients) {
    for (int tick = 0; tick < 60 * seconds; ++tick) {
      for (std::uint32_t c = 0; c < clients; ++c) {
        auto& got = desk.streams.got[c];
        if (tick > 0 && got.size() < desk.whole.size()) continue;
        got.clear();
        desk.ask(c);
      }
      desk.run(1);
    }
  };
  SECTION("one has a quarter") {
    ask_on(1);
    const double allowed = static_cast<double>(rate) / 4 * (seconds + 1.0 / 8);
    CHECK(static_cast<double>(desk.streams.bytes) <=
          allowed + static_cast<double>(desk.room.part_bytes()) + 2048);
    CHECK(static_cast<double>(desk.streams.bytes) >= 0.8 * static_cast<double>(rate) / 4 * seconds);
  }
  SECTION("eight share the whole, evenly") {
    ask_on(8);
    const double allowed = static_cast<double>(rate) * (seconds + 1.0 / 8);
    CHECK(static_cast<double>(desk.streams.bytes) <=
          allowed + 8 * static_cast<double>(desk.room.part_bytes()));
    CHECK(static_cast<double>(desk.streams.bytes) >= 0.8 * static_cast<double>(rate) * seconds);
    std::map<std::uint32_t, std::size_t> turns;
    for (const std::uint32_t client : desk.streams.order) ++turns[client];
    std::size_t least = turns[0], most = turns[0];
    for (std::uint32_t c = 0; c < 8; ++c) least = std::min(least, turns[c]), most = std::max(most, turns[c]);
    CHECK(most - least <= 1 + most / 8);
  }
}

TEST_CASE("who asks again and again only wears down what is his", "[server][content]") {
  ContentDesk desk(400'000);
  desk.ask(1);
  for (int i = 0; i < 120; ++i) {
    // 184 KiB of requests a second, of the 98 that it has.
    for (int n = 0; n < 3; ++n) desk.ask(0);
    desk.streams.got[0].clear();
    desk.run(1);
  }
  CHECK(std::ranges::count(desk.streams.order, 0u) <= 2);
  CHECK(std::ranges::equal(desk.streams.got[1], desk.whole));
  // Any number in one tick: a debt of a second's at most, and then the answer comes.
  for (int i = 0; i < 100'000; ++i) desk.ask(0);
  CHECK(desk.room.waiting() == 1);
  desk.streams.order.clear();
  desk.streams.got[0].clear();
  desk.run(50);
  CHECK(std::ranges::count(desk.streams.order, 0u) == 0);
  desk.run(20);
  CHECK(std::ranges::count(desk.streams.order, 0u) > 0);
}

TEST_CASE("a client whose stream is full keeps nobody else waiting", "[server][content]") {
  ContentDesk desk(4 << 20);
  desk.streams.room[0] = 10;
  for (std::uint32_t c = 0; c < 3; ++c) desk.ask(c);
  desk.run(60);
  CHECK(desk.streams.got[0].empty());
  CHECK(std::ranges::equal(desk.streams.got[1], desk.whole));
  CHECK(std::ranges::equal(desk.streams.got[2], desk.whole));
  CHECK(desk.room.waiting() == 1);
  desk.streams.room[0] = 1 << 20;
  desk.run(60);
  CHECK(std::ranges::equal(desk.streams.got[0], desk.whole));
}

TEST_CASE("nothing is kept of a client that has gone", "[server][content]") {
  ContentDesk desk(400'000);
  for (std::uint32_t c = 0; c < 5; ++c) desk.ask(c);
  desk.run(3);
  for (const std::uint32_t c : {2u, 0u, 4u}) desk.room.forget(c);
  desk.room.forget(7);  // who never asked
  CHECK(desk.room.waiting() == 2);
  desk.streams.order.clear();
  desk.run(200);
  for (const std::uint32_t client : desk.streams.order) CHECK((client == 1 || client == 3));
  CHECK(desk.room.waiting() == 0);
  // The next one with that number has a budget of its own, and asked for nothing.
  for (int i = 0; i < 1000; ++i) desk.ask(6);
  desk.room.forget(6);
  desk.streams.got[6].clear();
  desk.ask(6);
  desk.run(1);
  CHECK_FALSE(desk.streams.got[6].empty());
}

}  // namespace ashlar::server
