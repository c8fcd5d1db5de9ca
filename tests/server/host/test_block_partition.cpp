#include "server/host/block_partition.h"

#include <map>
#include <set>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

PartitionPlace place_at(std::uint32_t slot, DVec3 at) {
  const QuantisedPosition q = quantise(at);
  return {make_entity_id(slot, 1), q.cell, {q.x, q.y, q.z}};
}

void check_sane(const BlockPartition& partition, const std::vector<PartitionPlace>& places) {
  REQUIRE(partition.block_of().size() == places.size());
  std::vector<std::uint32_t> counts(partition.blocks().size(), 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PartitionBlock& block = partition.blocks()[partition.block_of()[i]];
    REQUIRE(block.cube.cell == places[i].cell);
    ++counts[partition.block_of()[i]];
  }
  std::set<std::uint16_t> numbers;
  for (std::size_t b = 0; b < counts.size(); ++b) {
    REQUIRE(counts[b] == partition.blocks()[b].count);
    REQUIRE(counts[b] >= 1);
    REQUIRE(counts[b] <= block_entities_max);
    REQUIRE(numbers.insert(partition.blocks()[b].number).second);
  }
}

}  // namespace

TEST_CASE("blocks hold everybody once, some 8 to 48 of them, and come and go with the crowd",
          "[server][packed]") {
  Rng rng = rng_for(91, 0);
  std::vector<DVec3> at;
  for (int i = 0; i < 1000; ++i) {
    DVec3 p{0, 0, 10};
    p.x = rng.between(-100, 100), p.y = rng.between(-100, 100);
    at.push_back(p);
  }
  BlockPartition partition;
  std::vector<PartitionPlace> places;
  std::uint32_t tick = 0;
  const auto run = [&](int ticks, double pull) {
    for (int n = 0; n < ticks; ++n) {
      places.clear();
      for (std::uint32_t i = 0; i < at.size(); ++i) {
        at[i].x += rng.between(-0.1, 0.1) - pull * at[i].x;
        at[i].y += rng.between(-0.1, 0.1) - pull * at[i].y;
        places.push_back(place_at(i, at[i]));
      }
      partition.assign(places, ++tick, 120);
      check_sane(partition, places);
    }
    return static_cast<double>(at.size()) / static_cast<double>(partition.blocks().size());
  };
  CHECK(run(100, 0) > 8);
  // All come together in one spot, and part again.
  CHECK(run(400, 0.01) > 8);
  CHECK(run(400, -0.006) > 8);
  at.resize(10);
  run(2000, 0);
  CHECK(partition.blocks().size() <= 10);
}

TEST_CASE("a thousand on one point are blocks that fit a packet", "[server][packed]") {
  BlockPartition partition;
  std::vector<PartitionPlace> places;
  for (std::uint32_t i = 0; i < 1000; ++i) places.push_back(place_at(i, {1, 1, 1}));
  partition.assign(places, 1, 120);
  check_sane(partition, places);
  CHECK(partition.blocks().size() <= 1000 / block_entities_max + 1);
}

TEST_CASE("the number of a dissolved block rests before it is another's, and who walks along a border stays",
          "[server][packed]") {
  BlockPartition partition;
  std::vector<PartitionPlace> one{place_at(1, {10, 10, 10})};
  partition.assign(one, 1, 120);
  const std::uint16_t number = partition.blocks()[0].number;
  partition.assign({}, 2, 120);
  CHECK(partition.blocks().empty());
  partition.assign(one, 100, 120);
  CHECK(partition.blocks()[0].number != number);
  CHECK(partition.blocks()[0].born == 100);
  partition.assign({}, 101, 120);
  partition.assign(one, 300, 120);
  CHECK(partition.blocks()[0].number == number);
}
