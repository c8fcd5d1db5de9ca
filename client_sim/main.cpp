#include <cstdio>
#include <string>
#include <string_view>

#include "client_sim/bytes_command.h"
#include "client_sim/harness/version.h"
#include "client_sim/load/load.h"
#include "client_sim/simulation/replay_command.h"
#include "client_sim/simulation/simulate_command.h"
#include "client_sim/simulation/watch_command.h"
#include "protocol/version.h"
#include "server/config/process.h"

namespace {

/// A word behind ashlar-sim; each is one file and one function.
struct Subcommand {
  std::string_view name;
  const char* summary;
  int (*run)(int argc, const char* const* argv);  ///< argv[0] is the word itself
  bool many_clients = false;                      ///< it passes over what many clients know, once a tick
};

constexpr Subcommand subcommands[] = {
    {"load", "many clients against a server over real sockets: progress, report, pass or fail",
     ashlar::client_sim::load_main, true},
    {"simulate", "server and clients in one process on simulated time, with every fault there is",
     ashlar::simulation::simulate_main, true},
    {"bytes", "where the bytes of a match go, of a recording or on a live server",
     ashlar::client_sim::bytes_main},
    {"replay", "a recorded match again, without network, every tick's hash compared",
     ashlar::simulation::replay_main},
    {"watch", "a recorded match over a player's shoulder, as lines or pictures",
     ashlar::simulation::watch_main},
};

void print_help(std::FILE* to) {
  std::fputs(
      "ashlar-sim plays, measures and tortures an Ashlar server.\n\nUsage: ashlar-sim COMMAND [OPTIONS]\n\n",
      to);
  for (const Subcommand& s : subcommands)
    std::fprintf(to, "  %-10.*s %s\n", static_cast<int>(s.name.size()), s.name.data(), s.summary);
  std::fputs(
      "\n  --version  version of the build and of the protocol\n  --help     this text; each command has its "
      "own\n",
      to);
}

int run(int argc, const char* const* argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--version") {
    std::printf("ashlar-sim %s, protocol %u\n", std::string(ashlar::client_sim::version()).c_str(),
                static_cast<unsigned>(ashlar::protocol_version));
    return 0;
  }
  if (word == "--help" || word == "-h" || word == "help") {
    print_help(stdout);
    return 0;
  }
  for (const Subcommand& s : subcommands)
    if (word == s.name) {
      if (s.many_clients) ashlar::server::begin_with_huge_pages(argv);
      return s.run(argc - 1, argv + 1);
    }
  if (argc <= 1)
    print_help(stderr);
  else
    std::fprintf(stderr, "ashlar-sim: there is no command '%s'; see ashlar-sim --help\n", argv[1]);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  ashlar::server::keep_standard_streams();
  const int code = run(argc, argv);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fputs("ashlar-sim: cannot write to standard output\n", stderr);
  return 2;
}
