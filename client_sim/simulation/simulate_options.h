#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client_sim/simulation/config.h"
#include "server/config/config.h"
#include "server/props.h"

namespace ashlar::simulation {

/// What the command line of `ashlar-sim simulate` asks for.
struct SimulateOptions {
  SimulationConfig config;
  std::uint32_t hours = 0;  ///< of simulated play over many seeds; 0: one run
  std::uint32_t jobs = 1;
  std::uint32_t shrink_runs = 40;
  std::vector<std::string> wads;
  std::vector<server::MapRequest> maps;       ///< empty: the built-in one; the one "none": terrain alone
  server::Doors doors = server::Doors::shut;  ///< of the maps, at the start
  std::vector<server::PropRequest> props;     ///< placed on each seed's own ground
  std::string record;                         ///< file for the first server's recording; empty: none
  std::string rates, without, line, faults_file, broken;  ///< as they were given, to be told again
};

/// A command line, understood or answered.
struct SimulateCommand {
  std::optional<SimulateOptions> options;
  std::string text;   ///< help, or one line that names what is wrong
  int exit_code = 0;  ///< when there are no options
};

/// Reads the arguments behind argv[0] and checks them, against each other, too. Touches no file.
SimulateCommand parse_simulate(int argc, const char* const* argv);

/// The command that plays a run again.
std::string command_line(const SimulateOptions& options, std::uint64_t seed);

}  // namespace ashlar::simulation
