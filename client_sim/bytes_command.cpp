#include "client_sim/bytes_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "client_sim/harness/command_words.h"
#include "client_sim/harness/map_library.h"
#include "client_sim/harness/out_file.h"
#include "client_sim/harness/parse.h"
#include "client_sim/harness/prop_library.h"
#include "client_sim/harness/read_file.h"
#include "client_sim/load/load.h"
#include "client_sim/simulation/replay.h"
#include "client_sim/simulation/snapshot_replay.h"

namespace ashlar::client_sim {
namespace {

using simulation::ReplayOptions;
using simulation::SnapshotReplay;
using simulation::SnapshotReplayOptions;

struct Options {
  std::string file, server, svg;
  std::vector<std::string> wads, props;
  std::uint32_t clients = 4;
  std::string duration = "10s", brain = "wander", loss = "0%";
  std::uint32_t until = 0;  // 0: to the end
  SnapshotReplayOptions replay;
  bool sum = false;
};

int complain_bytes(const std::string& line) {
  std::fprintf(stderr, "ashlar-sim bytes: %s\n", line.c_str());
  return 2;
}

/// Plays on a live server and looks at what its clients hear.
std::expected<ByteReport, std::string> of_server(const Options& options) {
  auto maps = MapLibrary::open(options.wads);
  if (!maps) return std::unexpected(maps.error());
  auto props = PropLibrary::open(options.props);
  if (!props) return std::unexpected(props.error());
  ContentLibrary content(*maps, *props, ContentCache("", 0));
  const auto duration = parse_duration(options.duration);
  if (!duration || *duration == Micros{0})
    return std::unexpected("--duration: '" + options.duration + "' is no time to play in; write it like 30s");
  LoadOptions load;
  load.server = options.server;
  load.clients = options.clients;
  load.duration = *duration;
  load.brain = brain_kind(options.brain);
  load.progress = Micros{0};
  std::vector<std::unique_ptr<ByteMeter>> meters;
  meters.reserve(options.clients);
  for (std::uint32_t i = 0; i < options.clients; ++i) meters.push_back(std::make_unique<ByteMeter>());
  ByteReport report;
  LoadHooks hooks;
  hooks.line = [](const std::string&) {};
  hooks.stop = [] { return false; };
  hooks.tap = [&](std::uint32_t client) { return meters[client].get(); };
  hooks.played = [&](std::uint32_t client, const ClientStats& stats, Micros time) {
    meters[client]->wire(stats.packets_in, stats.bytes_in, stats.packets_out, stats.bytes_out);
    report.clients.push_back(
        {"sim-" + std::to_string(client + 1), static_cast<double>(time.count()) / 1e6, *meters[client]});
  };
  const auto played = run_load(load, content, hooks);
  if (!played) return std::unexpected(played.error());
  if (played->joined == 0)
    return std::unexpected("nobody was let in at " + options.server +
                           (played->reasons.empty() ? "" : ": " + played->reasons.front()));
  return report;
}

/// Tells a recorded match's players of it once more.
std::expected<ByteReport, std::string> of_recording(const Options& options) {
  const auto bytes = read_file(options.file);
  if (!bytes) return std::unexpected(bytes.error());
  auto library = MapLibrary::open(options.wads);
  if (!library) return std::unexpected(library.error());
  auto prop_library = PropLibrary::open(options.props);
  if (!prop_library) return std::unexpected(prop_library.error());
  SnapshotReplayOptions how = options.replay;
  const auto loss = parse_share(options.loss);
  if (!loss) return std::unexpected("--loss: " + loss.error());
  how.loss = *loss;

  std::unique_ptr<SnapshotReplay> told;
  ReplayOptions match;
  if (options.until != 0) match.until_tick = options.until;
  match.props = [&prop_library](const RecordedProp& wanted) {
    return prop_library->place(wanted.name, wanted.up, wanted.place);
  };
  match.on_tick = [&](const World& world) {
    if (told == nullptr) told = std::make_unique<SnapshotReplay>(how, world.setup().rules.tick_rate_hz);
    told->publish(world);
  };
  const MapSource maps = [&library](const RecordedMap& wanted) { return library->place(place_of(wanted)); };
  const auto result = simulation::replay(*bytes, maps, match);
  if (!result) return std::unexpected(options.file + ": " + result.error());
  if (result->mismatch)
    return std::unexpected(options.file + ": this build plays tick " +
                           std::to_string(result->mismatch->tick) + " otherwise; see ashlar-sim replay");
  if (told == nullptr) return std::unexpected(options.file + ": no tick is in it");
  if (result->torn)
    std::fprintf(stderr, "ashlar-sim bytes: %s\n", simulation::torn_line(result->ticks).c_str());
  ByteReport report = told->report();
  if (report.clients.empty()) return std::unexpected(options.file + ": nobody plays in it");
  return report;
}

int run(const Options& options) {
  if (options.file.empty() == options.server.empty())
    return complain_bytes("give a recording, or --server HOST:PORT of a server that runs, and not both");
  std::error_code none;
  if (!options.file.empty() && std::filesystem::equivalent(options.svg, options.file, none))
    return complain_bytes("--svg: " + options.svg + " is the recording itself: name another file");
  auto svg = OutFile::open(options.svg);
  if (!svg) return complain_bytes("--svg: " + svg.error());
  const auto report = options.file.empty() ? of_server(options) : of_recording(options);
  if (!report) return complain_bytes(report.error());
  std::fputs(options.sum ? report->sum_line().c_str() : report->text().c_str(), stdout);
  if (!svg->is_open()) return 0;
  const std::string picture = report->svg();
  const auto written = svg->write({reinterpret_cast<const std::uint8_t*>(picture.data()), picture.size()});
  return written ? 0 : complain_bytes("--svg: " + written.error());
}

std::vector<std::string> brains() {
  std::vector<std::string> out;
  out.reserve(brain_kind_count);
  for (std::size_t i = 0; i < brain_kind_count; ++i) out.emplace_back(name(static_cast<BrainKind>(i)));
  return out;
}

}  // namespace

int bytes_main(int argc, const char* const* argv) {
  Options options;
  CLI::App app{
      "Tells where the bytes of a match go: by use, by message, by kind of entity and field, by cell and by\n"
      "client.\n"
      "Of a live server what clients that join it hear and say; of a recording what a server would send to "
      "its\n"
      "players, packed, without streams and without what clients say.",
      "ashlar-sim bytes"};
  app.footer(
      "Exit codes: 0 done; 2 bad arguments, a recording that cannot be replayed, or nobody was let in.\n"
      "Example: ashlar-sim bytes --server 127.0.0.1:7777 --clients 2 --duration 10s --svg bytes.svg");
  app.add_option("FILE", options.file, "What ashlar-server --record or ashlar-sim simulate --record wrote");
  app.add_option("--server", options.server, "A server that runs, to join")->type_name("HOST:PORT");
  app.add_option("--wad", options.wads, "WAD that holds the maps; may be repeated")->type_name("FILE");
  app.add_option("--prop", options.props, "OBJ file of a prop; may be repeated")->type_name("FILE");
  app.add_option("--svg", options.svg, "Draw it as well")->type_name("FILE");
  app.add_flag("--sum", options.sum, "Only one line");
  app.add_option("--clients", options.clients, "That join")
      ->check(CLI::Range(1u, load_clients_max))
      ->capture_default_str();
  app.add_option("--duration", options.duration, "How long they play")
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("--brain", options.brain, "How they behave")
      ->check(CLI::IsMember(brains()))
      ->capture_default_str();
  app.add_option("--until", options.until, "Of a recording: stop after this tick")
      ->check(CLI::Range(1u, 0xffffffffu));
  app.add_option("--snapshot-every", options.replay.every_ticks, "Of a recording: ticks between snapshots")
      ->check(CLI::Range(1u, 10u))
      ->capture_default_str();
  app.add_option("--ack-ticks", options.replay.ack_ticks,
                 "Of a recording: ticks from a packet to its acknowledgement")
      ->check(CLI::Range(1u, 200u))
      ->capture_default_str();
  app.add_option("--loss", options.loss, "Of a recording: packets that are lost, like 5%")
      ->type_name("SHARE")
      ->capture_default_str();
  if (const auto ended = parse_words(app, argc, argv, complain_bytes)) return *ended;
  return run(options);
}

}  // namespace ashlar::client_sim
