#include "client_sim/harness/command_words.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace ashlar::client_sim {

std::optional<int> parse_words(CLI::App& app, int argc, const char* const* argv,
                               int (*complain)(const std::string& line)) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::printf("%s\n", app.help().c_str());
    return 0;
  } catch (const CLI::ParseError& error) {
    const std::string line = error.what();
    return complain(line.substr(0, line.find('\n')) + " (see --help)");
  }
  return std::nullopt;
}

}  // namespace ashlar::client_sim
