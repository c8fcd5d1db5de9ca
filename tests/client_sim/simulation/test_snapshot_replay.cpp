#include "client_sim/simulation/snapshot_replay.h"

#include <algorithm>

#include "client_sim/simulation/replay.h"
#include "client_sim/simulation/simulation.h"
#include "protocol/secure/packet_protection.h"
#include "tests/catch.h"
#include "tests/world/bsp/maps.h"

using namespace ashlar;
using namespace ashlar::simulation;
using client_sim::ByteReport;
using client_sim::ByteUse;

namespace {

std::shared_ptr<const PlacedMap> told_map() {
  PlaceOptions options;
  options.surface_z = 24;
  options.doors_open = true;
  return testing::must_place(testing::builtin_map(), options);
}

/// Four seconds of four clients and ten monsters, recorded once.
const std::vector<std::uint8_t>& told_recording() {
  static const std::vector<std::uint8_t> bytes = [] {
    SimulationConfig config;
    config.seed = 14;
    config.clients = 4;
    config.monsters = 10;
    config.seconds = 4;
    config.faults.emplace();
    config.maps.push_back(told_map());
    config.keep_recording = true;
    return simulate(config).recording;
  }();
  return bytes;
}

ByteReport bytes_of_match(const SnapshotReplayOptions& how) {
  std::unique_ptr<SnapshotReplay> replayed;
  ReplayOptions options;
  options.on_tick = [&](const World& world) {
    if (replayed == nullptr)
      replayed = std::make_unique<SnapshotReplay>(how, world.setup().rules.tick_rate_hz);
    replayed->publish(world);
  };
  const auto map = told_map();
  const auto result = replay(
      told_recording(),
      [&](const RecordedMap&) -> std::expected<std::shared_ptr<const PlacedMap>, std::string> { return map; },
      options);
  REQUIRE(result.has_value());
  return replayed->report();
}

double down_per_s(const ByteReport& report) {
  double bytes = 0, seconds = 0;
  for (const auto& client : report.clients)
    bytes += static_cast<double>(client.meter.bytes_down()), seconds += client.seconds;
  return bytes / seconds;
}

}  // namespace

TEST_CASE("every byte of a recorded match told once more has a use", "[simulation][bytes]") {
  const ByteReport report = bytes_of_match({});
  REQUIRE(report.clients.size() == 4);
  for (const auto& client : report.clients) {
    const auto& meter = client.meter;
    CHECK(client.seconds > 1);
    CHECK(meter.bytes(ByteUse::own) > 0);
    // What is left is the type of the message and its padding: nothing is missed, nothing counted twice.
    const std::uint64_t packets = meter.bytes(ByteUse::seal) / secure::seal_overhead_bytes;
    CHECK(meter.bytes(ByteUse::frames) == 6 * packets);
    // Blocks' bits are those of their bytes but for what fills up the last of each.
    std::uint64_t bits = meter.frame_bits(), cells = 0;
    for (const auto& [kind, bytes] : meter.kinds()) bits += bytes.all_bits();
    for (const auto& [cell, bytes] : meter.cells()) cells += bytes;
    CHECK(bits <= 8 * meter.bytes(ByteUse::blocks));
    CHECK(8 * meter.bytes(ByteUse::blocks) < bits + 8 * meter.bytes(ByteUse::block_heads));
    CHECK(cells == meter.bytes(ByteUse::blocks));
  }
  const std::string text = report.text(), svg = report.svg();
  CHECK_THAT(text, ContainsSubstring("own player"));
  CHECK_THAT(text, ContainsSubstring("velocity"));
  CHECK_THAT(report.sum_line(), ContainsSubstring("kB/s down"));
  CHECK(svg.starts_with("<svg"));
  CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("older bases and losses cost more, fewer snapshots less", "[simulation][bytes]") {
  const double usual = down_per_s(bytes_of_match({}));
  SnapshotReplayOptions how;
  how.ack_ticks = 20;
  CHECK(down_per_s(bytes_of_match(how)) > usual);
  how = {};
  how.loss = 0.2;
  CHECK(down_per_s(bytes_of_match(how)) > usual);
  how = {};
  how.every_ticks = 3;
  CHECK(down_per_s(bytes_of_match(how)) < 0.6 * usual);
}

TEST_CASE("of a player who has gone the sums are kept, and nothing else", "[simulation][bytes]") {
  SimulationConfig config;
  config.seed = 15;
  config.clients = 2;
  config.seconds = 8;
  config.faults.emplace();
  config.faults->push_back({180, 60, FaultKind::leave, 0, 0});
  config.keep_recording = true;
  const Outcome outcome = simulate(config);
  REQUIRE_FALSE(outcome.broken.has_value());
  std::unique_ptr<SnapshotReplay> replayed;
  ReplayOptions options;
  std::size_t most = 0;
  options.on_tick = [&](const World& world) {
    if (replayed == nullptr)
      replayed = std::make_unique<SnapshotReplay>(SnapshotReplayOptions{}, world.setup().rules.tick_rate_hz);
    replayed->publish(world);
    most = std::max(most, replayed->told());
  };
  REQUIRE(replay(outcome.recording, {}, options).has_value());
  CHECK(most == 2);
  CHECK(replayed->told() == 2);
  const ByteReport report = replayed->report();
  REQUIRE(report.clients.size() == 3);
  for (const auto& client : report.clients) {
    CHECK(client.seconds > 1);
    CHECK(client.meter.bytes(ByteUse::own) > 0);
    CHECK(client.meter.bytes(ByteUse::seal) > 0);
  }
}
