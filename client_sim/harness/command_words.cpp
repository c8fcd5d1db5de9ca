#include "client_sim/harness/command_words.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace ashlar::client_sim {

namespace {

/// What is wrong with a whole number; empty: nothing.
std::string check_decimal(const std::string& text) {
  const std::string digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.find_first_not_of("0123456789") != std::string::npos)
    return "'" + text + "' is no whole number in decimal digits";
  const std::size_t first = digits.find_first_not_of('0');
  if (digits.size() < 2 || first == 0) return "";
  return "'" + text + "' begins with a 0, which some take for another number: write " +
         (first == std::string::npos ? "0" : digits.substr(first));
}

}  // namespace

void take_decimals_alone(CLI::App& app) {
  for (CLI::Option* const option : app.get_options())
    if (const std::string type = option->get_type_name(); type.starts_with("UINT") || type.starts_with("INT"))
      option->check(check_decimal);
}

std::optional<int> parse_words(CLI::App& app, int argc, const char* const* argv,
                               int (*complain)(const std::string& line)) {
  take_decimals_alone(app);
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
