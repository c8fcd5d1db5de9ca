#include "client_sim/client/held_content.h"

#include "tests/catch.h"
#include "tests/protocol/content/contents.h"

using namespace ashlar;
using namespace ashlar::client_sim;

TEST_CASE("of more maps than a client holds those used last stay, with a store and without",
          "[client][held_content]") {
  ContentStore store;
  if (GENERATE(false, true)) store.load = [](std::uint64_t) { return std::vector<std::uint8_t>(); };
  HeldContent held(store);
  ClientConfig client;
  PredictorConfig prediction;
  held.serve(client, prediction);
  const auto map = ashlar::testing::must_place(ashlar::testing::builtin_map());
  constexpr std::uint64_t count = HeldContent::held_max + 10;
  for (std::uint64_t hash = 1; hash <= count; ++hash) {
    client.fetched({hash, "MAP01", {}, Content(map)});
    CHECK(held.map(1) != nullptr);  // it is always in use
  }
  CHECK(held.map(2) == nullptr);
  CHECK(held.map(11) == nullptr);
  CHECK(held.map(12) != nullptr);
  CHECK(held.map(count) != nullptr);
}
