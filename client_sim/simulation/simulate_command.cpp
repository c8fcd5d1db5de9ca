#include "client_sim/simulation/simulate_command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "client_sim/harness/map_library.h"
#include "client_sim/harness/out_file.h"
#include "client_sim/harness/read_file.h"
#include "client_sim/simulation/simulate_options.h"
#include "client_sim/simulation/simulation.h"
#include "server/host/welcome_content.h"
#include "world/bsp/placement.h"
#include "world/content/builtin_map.h"
#include "world/sim/home.h"

namespace ashlar::simulation {
namespace {

/// What a run came to, small and plain: it travels through a pipe when processes share the work.
struct Summary {
  std::uint64_t seed = 0, hash = 0, ticks = 0, faults = 0, broken = 0;
};

int complain_simulate(const std::string& line) {
  std::fprintf(stderr, "ashlar-sim simulate: %s\n", line.c_str());
  return 2;
}

void print_counters(const SimulationConfig& config, const Outcome& outcome, double took_s) {
  std::printf("servers=%" PRIu64 " joins=%" PRIu64 " chat_lines=%" PRIu64 " datagrams=%" PRIu64
              " checks=%" PRIu64 " replayed_ticks=%" PRIu64 " columns=%" PRIu64 " resumed=%" PRIu64
              " moved=%" PRIu64 " fetched=%" PRIu64 " client_kib_max=%" PRIu64 "\n",
              outcome.servers, outcome.joins, outcome.chat_lines, outcome.datagrams, outcome.checks,
              outcome.replayed_ticks, outcome.columns, outcome.resumed, outcome.moved, outcome.fetched,
              outcome.client_bytes_max >> 10);
  if (config.match.mode != GameMode::sandbox)
    std::printf("matches=%zu player_kills=%" PRIu64 " monster_kills=%" PRIu64 " picked_up=%" PRIu64 "\n",
                outcome.ends.size(), outcome.player_kills, outcome.monster_kills, outcome.picked_up);
  std::printf("kills=%" PRIu64 " groups_saved=%" PRIu64 " saves_failed=%" PRIu64
              " ticks_without_room=%" PRIu64 "\n",
              outcome.kills, outcome.groups_saved, outcome.saves_failed, outcome.ticks_without_room);
  if (config.survival)
    std::printf("items_dug=%" PRIu64 " treasures=%" PRIu64 "\n", outcome.items_dug, outcome.treasures);
  const auto& l = outcome.links;
  std::printf(
      "links taken=%" PRIu64 " delivered=%" PRIu64 " lost=%" PRIu64 " cut=%" PRIu64 " overflowed=%" PRIu64
      " duplicated=%" PRIu64 " reordered=%" PRIu64 " corrupted=%" PRIu64 " resent=%" PRIu64 "\n",
      l.taken, l.delivered, l.lost, l.cut, l.overflowed, l.duplicated, l.reordered, l.corrupted, l.resent);
  std::printf("faults");
  for (std::size_t i = 0; i < fault_kind_count; ++i) {
    const std::string_view kind = name(static_cast<FaultKind>(i));
    std::printf(" %.*s=%" PRIu64, static_cast<int>(kind.size()), kind.data(), outcome.faults[i]);
  }
  const double played_s = static_cast<double>(outcome.sim_ticks) / config.tick_rate_hz;
  std::printf("\nplayed_s=%.1f took_s=%.2f speed=%.1fx\n", played_s, took_s, played_s / took_s);
}

void print_broken(const SimulateOptions& options, const SimulationConfig& config, const Outcome& outcome) {
  const Broken& b = *outcome.broken;
  std::printf("broken: seed=%" PRIu64 " tick=%u server_tick=%u invariant=\"%s\" entity=\"%s\": %s\n",
              config.seed, b.tick, b.server_tick, b.invariant.c_str(), b.entity.c_str(), b.detail.c_str());
  std::printf("play it again: %s\n", command_line(options, config.seed).c_str());
  if (options.shrink_runs == 0) return;
  std::fflush(stdout);
  const ShrunkOutcome shrunk = shrink_run(config, outcome, options.shrink_runs);
  std::printf(
      "# %zu faults, found in %zu runs, still break it at tick %u: %s: %s; play them with --faults FILE\n%s",
      shrunk.faults.size(), shrunk.runs, shrunk.broken.tick, shrunk.broken.entity.c_str(),
      shrunk.broken.detail.c_str(), to_text(shrunk.faults).c_str());
}

/// Those without a height stand on the ground that the seed gives.
std::string place_props(const SimulateOptions& options, SimulationConfig& config) {
  Terrain terrain;
  terrain.seed = config.seed;
  terrain.kind = config.terrain;
  for (const auto& map : config.maps) terrain.footprints.push_back(map->box());
  auto placed = server::place_props(options.props, terrain);
  if (!placed) return placed.error();
  config.props = std::move(placed->props);
  return "";
}

Summary play(const SimulateOptions& options, std::uint64_t seed, bool counters, Outcome* kept) {
  SimulationConfig config = options.config;
  config.seed = seed;
  if (const std::string line = place_props(options, config); !line.empty()) {
    std::printf("broken: seed=%" PRIu64 ": %s\n", seed, line.c_str());
    return {seed, 0, 0, 0, 1};
  }
  const auto begin = std::chrono::steady_clock::now();
  Outcome outcome = simulate(config);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (counters) print_counters(config, outcome, took.count());
  if (outcome.broken) print_broken(options, config, outcome);
  const Summary summary{seed, outcome.hash, outcome.ticks, outcome.fault_count(), outcome.broken ? 1u : 0u};
  if (kept != nullptr) *kept = std::move(outcome);
  return summary;
}

void print_last_line(const Summary& s) {
  std::printf("hash=%016" PRIx64 " ticks=%" PRIu64 " faults=%" PRIu64 " broken=%" PRIu64 "\n", s.hash,
              s.ticks, s.faults, s.broken);
}

void print_run(const Summary& s) {
  std::printf("seed=%" PRIu64 " ", s.seed);
  print_last_line(s);
  std::fflush(stdout);
}

/// Of many runs every fourth is in survival.
constexpr std::uint32_t survival_every = 4;

/// The seeds first + job, first + job + jobs, ... in this process, each summary written to `pipe`.
void work(const SimulateOptions& options, std::uint32_t job, std::uint32_t runs, int pipe) {
  SimulateOptions own = options;
  for (std::uint32_t run = job; run < runs; run += options.jobs) {
    own.config.survival = options.config.survival || run % survival_every == survival_every - 1;
    const Summary summary = play(own, options.config.seed + run, false, nullptr);
    std::fflush(stdout);
    // Smaller than PIPE_BUF: written whole.
    if (::write(pipe, &summary, sizeof summary) != static_cast<ssize_t>(sizeof summary)) return;
  }
}

/// Shares the runs between processes: a run that crashes takes no other with it, and each has its memory to
/// itself. The sums do not depend on which process is first.
int play_hours(const SimulateOptions& options) {
  const std::uint32_t seconds = options.config.seconds;
  const std::uint64_t all = static_cast<std::uint64_t>(options.hours) * 3600;
  const auto runs = static_cast<std::uint32_t>((all + seconds - 1) / seconds);
  int ends[2];
  if (::pipe(ends) != 0) return complain_simulate(std::string("no pipe: ") + std::strerror(errno));
  std::fflush(stdout);
  std::vector<pid_t> children;
  for (std::uint32_t job = 0; job < options.jobs; ++job) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      work(options, job, runs, ends[1]);
      std::fflush(stdout);
      ::_exit(0);
    }
    if (child > 0) children.push_back(child);
  }
  ::close(ends[1]);
  Summary sum;
  Summary one;
  std::uint32_t done = 0;
  while (::read(ends[0], &one, sizeof one) == static_cast<ssize_t>(sizeof one)) {
    ++done;
    print_run(one);
    sum.hash += mix64(one.hash ^ one.seed);
    sum.ticks += one.ticks, sum.faults += one.faults, sum.broken += one.broken;
  }
  ::close(ends[0]);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  if (done != runs) {
    std::printf("%u of %u runs ended without a result: a process died\n", runs - done, runs);
    sum.broken += runs - done;
  }
  print_last_line(sum);
  return sum.broken == 0 ? 0 : 1;
}

/// Between maps that are given no place: room for the level ground around each and a slope.
constexpr std::int32_t gap_blocks = 48;

bool overlap(const BlockBox& a, const BlockBox& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

/// Those without a place stand in a row from the origin eastwards.
std::string load_maps(SimulateOptions& options) {
  std::vector<server::MapRequest> requests = options.maps;
  if (requests.empty()) requests.push_back({std::string(builtin_map_name), {}});
  if (requests.front().name == "none") return "";
  auto library = client_sim::MapLibrary::open(options.wads);
  if (!library) return library.error();
  std::vector<std::shared_ptr<const PlacedMap>>& standing = options.config.maps;
  for (const server::MapRequest& request : requests) {
    PlaceOptions place;
    place.name = request.name;
    if (request.at) place.origin_block = *request.at;
    for (const auto& other : standing)
      if (!request.at) place.origin_block.x = std::max(place.origin_block.x, other->box().max.x + gap_blocks);
    place.surface_z = 24;
    place.doors_open = options.doors == server::Doors::open;
    place.visibility = true;  // as a server has it: interest leaves out whom rock hides
    auto map = library->place(place);
    if (!map) return map.error();
    for (const auto& other : standing)
      if (overlap((*map)->box(), other->box()))
        return "maps " + (*map)->name() + " and " + other->name() +
               " overlap: give them other places with --map";
    standing.push_back(std::move(*map));
  }
  return home_too_large(standing).value_or("");
}

/// Files that cannot be used are a mistake of the command line, not something that broke.
std::string check_props(const SimulateOptions& options) {
  SimulationConfig config = options.config;
  if (std::string line = place_props(options, config); !line.empty()) return line;
  WorldSetup setup;
  setup.maps = config.maps;
  setup.props = config.props;
  const auto fits = server::check_welcome(setup);
  return fits ? "" : fits.error();
}

std::string load_faults(SimulateOptions& options) {
  if (options.faults_file.empty()) return "";
  const auto bytes = client_sim::read_file(options.faults_file);
  if (!bytes) return bytes.error();
  auto faults = faults_from_text({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  if (!faults) return options.faults_file + ", " + faults.error();
  for (const Fault& fault : *faults)
    if (fault.subject != server_subject && fault.subject >= options.config.clients)
      return options.faults_file + " names client " + std::to_string(fault.subject) + ", but there are " +
             std::to_string(options.config.clients) + ": raise --clients";
  options.config.faults = std::move(*faults);
  return "";
}

}  // namespace

int simulate_main(int argc, const char* const* argv) {
  SimulateCommand command = parse_simulate(argc, argv);
  if (!command.options) {
    std::fprintf(command.exit_code == 0 ? stdout : stderr, "%s\n", command.text.c_str());
    return command.exit_code;
  }
  SimulateOptions& options = *command.options;
  if (const std::string line = load_maps(options); !line.empty()) return complain_simulate(line);
  if (const std::string line = load_faults(options); !line.empty()) return complain_simulate(line);
  if (const std::string line = check_props(options); !line.empty()) return complain_simulate(line);
  if (options.hours != 0) return play_hours(options);

  if (std::error_code error;
      !options.record.empty() && std::filesystem::is_regular_file(options.record, error) &&
      std::filesystem::file_size(options.record, error) > 0)  // a run that was broken off leaves an empty one
    return complain_simulate(options.record +
                             " is there already, and no recording is overwritten: name another file");
  auto record = client_sim::OutFile::open(options.record);
  if (!record) return complain_simulate(record.error());
  Outcome outcome;
  const Summary summary = play(options, options.config.seed, true, &outcome);
  if (record->is_open())
    if (const auto written = record->write(outcome.recording); !written)
      return complain_simulate(written.error());
  print_last_line(summary);
  return summary.broken == 0 ? 0 : 1;
}

}  // namespace ashlar::simulation
