#include "client_sim/simulation/replay.h"

#include <algorithm>
#include <cmath>

#include "client_sim/simulation/simulation.h"
#include "tests/catch.h"
#include "tests/world/bsp/maps.h"

using namespace ashlar;
using namespace ashlar::simulation;

namespace {

std::shared_ptr<const PlacedMap> builtin(bool doors_open = true) {
  PlaceOptions options;
  options.surface_z = 24;
  options.doors_open = doors_open;
  return testing::must_place(testing::builtin_map(), options);
}

/// Eight seconds of four clients on the built-in map, recorded once for all cases.
const std::vector<std::uint8_t>& recording() {
  static const std::vector<std::uint8_t> bytes = [] {
    SimulationConfig config;
    config.seed = 31;
    config.clients = 4;
    config.monsters = 10;
    config.seconds = 8;
    config.faults.emplace();
    config.maps.push_back(builtin());
    config.keep_recording = true;
    const Outcome outcome = simulate(config);
    REQUIRE_FALSE(outcome.broken.has_value());
    return outcome.recording;
  }();
  return bytes;
}

MapSource having(std::shared_ptr<const PlacedMap> map) {
  return [map](const RecordedMap& wanted) -> std::expected<std::shared_ptr<const PlacedMap>, std::string> {
    if (map != nullptr && wanted.name == map->name()) return map;
    return std::unexpected{"there is no map " + wanted.name};
  };
}

}  // namespace

TEST_CASE("a recorded match plays again with every hash", "[simulation][replay]") {
  const auto result = replay(recording(), having(builtin()));
  REQUIRE(result.has_value());
  CHECK_FALSE(result->mismatch.has_value());
  CHECK_FALSE(result->torn);
  CHECK(result->ticks >= 8 * 60 - 1);
}

TEST_CASE("a replay stops where it is told and traces whom it is told", "[simulation][replay]") {
  ReplayOptions options;
  options.until_tick = 200;
  options.trace = make_entity_id(0, 1);  // the first player of the match
  std::vector<TracePoint> path;
  options.on_trace = [&path](const TracePoint& p) { path.push_back(p); };
  const auto result = replay(recording(), having(builtin()), options);
  REQUIRE(result.has_value());
  CHECK(result->ticks == 200);
  REQUIRE(path.size() > 20);
  CHECK(path.back().tick == 200);
  for (std::size_t i = 1; i < path.size(); ++i) {
    REQUIRE(path[i].tick == path[i - 1].tick + 1);
    // Nobody is faster than a fall.
    REQUIRE(length(path[i].position_m - path[i - 1].position_m) < 1.1);
  }
}

TEST_CASE("a recording that a crash cut off plays up to its last whole second", "[simulation][replay]") {
  const auto& whole = recording();
  const std::span<const std::uint8_t> bytes(whole);
  const auto result = replay(bytes.first(bytes.size() - 7), having(builtin()));
  REQUIRE(result.has_value());
  CHECK(result->torn);
  CHECK_FALSE(result->mismatch.has_value());
  CHECK(result->ticks >= 6 * 60);
}

TEST_CASE("a recording of other maps, of another version or with damage is refused", "[simulation][replay]") {
  std::vector<std::uint8_t> bytes = recording();
  SECTION("the map is not here") {
    const auto result = replay(bytes, having(nullptr));
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().find(std::string(builtin_map_name)) != std::string::npos);
  }
  SECTION("the map is here, but is another") {
    const auto result = replay(bytes, having(builtin(false)));
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().find("not the one that was played") != std::string::npos);
  }
  SECTION("no recording at all") {
    bytes[0] = 'X';
    const auto result = replay(bytes, having(builtin()));
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().find("not an Ashlar recording") != std::string::npos);
  }
  SECTION("another version's") {
    RecordingHeader header = RecordingReader::open(bytes)->header();
    header.version = 4;
    bytes.clear();
    RecordingWriter(header).take(bytes);
    const auto result = replay(bytes, having(builtin()));
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().find("version 4 of the recording format") != std::string::npos);
    CHECK(result.error().find('\n') == std::string::npos);
  }
  SECTION("a bit flipped in the middle") {
    int refused = 0;
    for (std::size_t at = bytes.size() / 2; at < bytes.size() / 2 + 16; ++at) {
      auto wrong = bytes;
      wrong[at] ^= 1;
      const auto result = replay(wrong, having(builtin()));
      // One in the length of a block makes it end beyond the file, as one that was cut off does.
      if (result) CHECK(result->torn);
      if (!result) CHECK(result.error().find("damaged") != std::string::npos);
      refused += !result;
    }
    CHECK(refused >= 12);
  }
}

TEST_CASE("a replay notices a hash that is not the recorded one, at its tick", "[simulation][replay]") {
  // The same ticks with one hash changed, written anew: only the world can tell.
  auto reader = RecordingReader::open(recording());
  REQUIRE(reader.has_value());
  RecordingWriter writer(reader->header());
  TickRecord record;
  std::uint32_t tick = 0;
  while (reader->next(record).value()) {
    if (++tick == 100) record.hash ^= 1;
    writer.add(record);
  }
  std::vector<std::uint8_t> changed;
  writer.take(changed);
  const auto result = replay(changed, having(builtin()));
  REQUIRE(result.has_value());
  REQUIRE(result->mismatch.has_value());
  CHECK(result->mismatch->tick == 100);
  CHECK((result->mismatch->recorded ^ result->mismatch->replayed) == 1);
}
