#pragma once
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace ashlar::client_sim {

/// Has the app's options for whole numbers take decimal digits alone: the parser would read 010 as 8.
void take_decimals_alone(CLI::App& app);

/// Takes the words of one of ashlar-sim's commands apart, into what the app's options point at.
/// @param complain  prints one line and gives the exit code
/// @return none: go on; else the exit code, with the help or the line printed
std::optional<int> parse_words(CLI::App& app, int argc, const char* const* argv,
                               int (*complain)(const std::string& line));

}  // namespace ashlar::client_sim
