#pragma once
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/config/settings.h"

namespace ashlar::server {

/// What the binary is asked to do.
enum class Action : std::uint8_t {
  serve,
  print_config,
  check_config,
  list_maps,     ///< of `argument`, a WAD
  draw_map,      ///< `argument`, a map's name
  draw_terrain,  ///< `argument`, "x,y,r"
  health,        ///< of the server at `argument`
  version,
  help
};

/// The command line taken apart; values are still texts.
struct CommandLine {
  Action action = Action::serve;
  std::string argument;
  std::string out_file;       ///< of draw_map and draw_terrain
  std::string from;           ///< of draw_map: "x,y"; empty: no place to look from
  bool ores = false;          ///< of draw_terrain: show them
  std::string config_file;    ///< empty: not named
  bool accept_world = false;  ///< take a world.toml whose check line is wrong, and write that line anew
  std::vector<std::pair<std::size_t, RawValue>> values;  ///< index into settings(), each at most once
};

/// @param arguments  without the program's name; the first may be "run"
/// @return or one line that names the flag and the remedy
std::expected<CommandLine, std::string> parse_command_line(std::span<const std::string> arguments);

/// The flags that a running server was given. @param pid  digits
/// @return or one line: no such process, or none of ours
std::expected<std::vector<std::string>, std::string> flags_of_process(const std::string& pid);

/// Those behind "ashlar-server" among the words of a process, each ended by a zero byte as in
/// /proc/PID/cmdline.
std::optional<std::vector<std::string>> server_flags(std::string_view words);

/// --help: every flag with its default and range, printed from the table of settings.
std::string help_text();

}  // namespace ashlar::server
