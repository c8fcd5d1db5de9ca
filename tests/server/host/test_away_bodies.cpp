#include "server/host/away_bodies.h"

#include <chrono>
#include <vector>

#include "tests/catch.h"
#include "tests/slowness.h"

namespace ashlar::server {
namespace {

AwayBodies::Body away(std::uint32_t player, Micros until) {
  AwayBodies::Body body;
  body.player = EntityId{player};
  body.name = "somebody with a name of some length";
  body.until = until;
  return body;
}

}  // namespace

TEST_CASE("who is due is taken out once, who waited longest first, and the others wait on",
          "[server][away]") {
  AwayBodies bodies(10);
  for (std::uint32_t i = 1; i <= 10; ++i) bodies.add(away(i, Micros{i % 2 == 0 ? 100 : 200}));
  bodies.bodies()[2].ended_for = "kicked";
  std::vector<EntityId> ended;
  const auto note = [&](const AwayBodies::Body& body) {
    CHECK(body.name == "somebody with a name of some length");
    ended.push_back(body.player);
  };
  bodies.take_due(Micros{100}, note);
  CHECK(ended == std::vector{EntityId{2}, EntityId{3}, EntityId{4}, EntityId{6}, EntityId{8}, EntityId{10}});
  CHECK(bodies.count() == 4);
  bodies.take_due(Micros{199}, note);
  CHECK(ended.size() == 6);
  CHECK(bodies.oldest([](const AwayBodies::Body&) { return true; })->player == EntityId{1});
  CHECK(bodies.oldest([](const AwayBodies::Body& body) { return body.player == EntityId{7}; }) ==
        &bodies.bodies()[2]);
  bodies.take_due(Micros{200}, note);
  CHECK(bodies.count() == 0);
  CHECK(bodies.oldest([](const AwayBodies::Body&) { return true; }) == nullptr);
}

TEST_CASE("many who end in one tick cost no more each than few do", "[server][away]") {
  // One by one from the front these take many seconds; in one pass they take milliseconds.
  const std::uint32_t count = 40'000 / ashlar::test::slowness;
  AwayBodies bodies(count);
  for (std::uint32_t i = 1; i <= count; ++i) bodies.add(away(i, Micros{100}));
  std::uint32_t ended = 0;
  const auto before = std::chrono::steady_clock::now();
  bodies.take_due(Micros{100}, [&](const AwayBodies::Body&) { ++ended; });
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(1));
  CHECK(ended == count);
  CHECK(bodies.count() == 0);
}

}  // namespace ashlar::server
