#include "client_sim/simulation/replay_command.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "client_sim/harness/command_words.h"
#include "client_sim/harness/map_library.h"
#include "client_sim/harness/prop_library.h"
#include "client_sim/harness/read_file.h"
#include "client_sim/simulation/replay.h"

namespace ashlar::simulation {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> wads, props;
  std::uint32_t until = 0;  // 0: to the end
  std::string trace;
};

int complain_replay(const std::string& line) {
  std::fprintf(stderr, "ashlar-sim replay: %s\n", line.c_str());
  return 2;
}

void print_point(const TracePoint& p) {
  std::printf("%u,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%u,%d,%u\n", p.tick, p.position_m.x, p.position_m.y,
              p.position_m.z, p.velocity_mps.x, p.velocity_mps.y, p.velocity_mps.z,
              static_cast<unsigned>(p.yaw), p.grounded ? 1 : 0, static_cast<unsigned>(p.stuck_ticks));
}

int run(const Options& options) {
  ReplayOptions how;
  if (options.until != 0) how.until_tick = options.until;
  if (!options.trace.empty() && !read_entity(options.trace, how.trace))
    return complain_replay("'" + options.trace + "' is no entity id; ids look like 0x00100003");

  const auto bytes = client_sim::read_file(options.file);
  if (!bytes) return complain_replay(bytes.error());
  auto library = client_sim::MapLibrary::open(options.wads);
  if (!library) return complain_replay(library.error());
  auto prop_library = client_sim::PropLibrary::open(options.props);
  if (!prop_library) return complain_replay(prop_library.error());
  how.props = [&prop_library](const RecordedProp& wanted) {
    return prop_library->place(wanted.name, wanted.up, wanted.place);
  };
  const MapSource maps = [&library](const RecordedMap& wanted) { return library->place(place_of(wanted)); };
  if (how.trace != EntityId{0}) {
    std::printf("tick,x_m,y_m,z_m,vx_mps,vy_mps,vz_mps,yaw_turn16,grounded,stuck_ticks\n");
    how.on_trace = print_point;
  }
  const auto result = replay(*bytes, maps, how);
  if (!result) return complain_replay(options.file + ": " + result.error());
  // The verdict goes to stderr beside a trace, so that the CSV stays one.
  std::FILE* const out = how.on_trace ? stderr : stdout;
  if (result->torn && result->ticks > 0) std::fprintf(out, "%s\n", torn_line(result->ticks).c_str());
  if (result->mismatch) {
    std::fprintf(
        out, "tick %u has hash %016" PRIx64 ", recorded was %016" PRIx64 "%s\n", result->mismatch->tick,
        result->mismatch->replayed, result->mismatch->recorded,
        result->mismatch->tick == 0 ? ": this build makes another world of the same seed and maps" : "");
    return 1;
  }
  if (result->ticks == 0)
    return complain_replay(options.file +
                           ": it holds no tick, so nothing was compared: it was cut off, or its " +
                           "server ended at once; take another recording");
  if (how.on_trace && result->traced == 0)
    return complain_replay(
        "entity " + options.trace + " is in none of the " + std::to_string(result->ticks) +
        " ticks; joins in the server's log and findings of a simulation name those that were");
  std::fprintf(out, "hash=%016" PRIx64 " ticks=%u: every tick as recorded\n", result->hash, result->ticks);
  return 0;
}

}  // namespace

bool read_entity(const std::string& text, EntityId& out) {
  errno = 0;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text.c_str(), &end, 0);
  const bool whole = !text.empty() && *end == 0 && text.front() != '-';
  if (!whole || errno != 0 || value == 0 || value > 0xffffffffu) return false;
  out = EntityId{static_cast<std::uint32_t>(value)};
  return true;
}

int replay_main(int argc, const char* const* argv) {
  Options options;
  CLI::App app{"Plays a recorded match again, without network, and compares the hash of every tick.",
               "ashlar-sim replay"};
  app.footer(
      "Exit codes: 0 every hash agrees; 1 one does not; 2 bad arguments, or a recording that is damaged, of "
      "another\n"
      "version, or of maps that are not here.");
  app.add_option("FILE", options.file, "What ashlar-server --record or ashlar-sim simulate --record wrote")
      ->required();
  app.add_option("--wad", options.wads, "WAD that holds the recorded maps; may be repeated")
      ->type_name("FILE");
  app.add_option("--prop", options.props, "OBJ file of a recorded prop; may be repeated")->type_name("FILE");
  app.add_option("--until", options.until, "Stop after this tick")->check(CLI::Range(1u, 0xffffffffu));
  app.add_option("--trace", options.trace, "Print an entity's path as CSV")->type_name("ENTITY");
  if (const auto ended = client_sim::parse_words(app, argc, argv, complain_replay)) return *ended;
  return run(options);
}

}  // namespace ashlar::simulation
