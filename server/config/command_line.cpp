#include "server/config/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "server/config/file.h"
#include "server/config/help_words.h"
#include "server/config/values.h"

namespace ashlar::server {
namespace {

constexpr std::size_t command_line_bytes_max = 4u << 20;

struct PlainFlag {
  const char* flag;
  const char* value_name;  ///< null: takes no value
  const char* help;
};

constexpr PlainFlag plain_flags[] = {
    {"--config", "FILE", "Read settings from a TOML file. Flags and ASHLAR_* variables go before it."},
    {"--print-config", nullptr, "Print the effective settings as a commented TOML file and exit."},
    {"--check-config", nullptr,
     "Do all that a start does, port, folders and recording included, undo it and exit: 0 when the server "
     "would "
     "start, else 2. Beside a running server give another port (--port 0) and leave --world out."},
    {"--accept-world", nullptr,
     "Take the world's world.toml as it is though its check line does not agree, after an edit by hand, and "
     "write that line anew; and go on with a map that is another now than the one it was made with."},
    {"--list-maps", "FILE", "Print a line for each map of a WAD and exit."},
    {"--draw-map", "MAP", "Draw a map of --wad as an SVG picture and exit; needs --out."},
    {"--draw-terrain", "X,Y,R",
     "Draw the ground of --terrain and --seed within R metres of a place, from above and as a cut, and exit; "
     "needs --out FILE.png or FILE.svg."},
    {"--ores", nullptr, "Show ores in the cut of --draw-terrain."},
    {"--out", "FILE", "Where --draw-map and --draw-terrain write."},
    {"--from", "X,Y", "Show with --draw-map what is visible from a place, in the map's units."},
    {"--health", "[ADDRESS:PORT]",
     "Ask a server whether it answers, and exit: 0 when it does, 1 when not. Without an address the one of "
     "this "
     "configuration; pid:N asks the server that runs as that process, at the port its flags say."},
    {"--version", nullptr, "Print the version and exit."},
    {"--help", nullptr, "Print this text and exit."},
};

std::vector<std::string> flag_names() {
  std::vector<std::string> names;
  for (const PlainFlag& plain : plain_flags) names.emplace_back(plain.flag);
  for (const Setting& setting : settings()) names.push_back(setting.flag());
  return names;
}

/// What CLI11 fills. Options point into it, so it stays where it is.
struct Parsed {
  std::vector<RawValue> values;
  std::vector<CLI::Option*> options;
  std::string config, list_maps, draw_map, draw_terrain, out, from, health;
  bool print_config = false, check_config = false, accept_world = false, ores = false, version = false,
       help = false;
};

void describe(CLI::App& app, Parsed& parsed) {
  app.set_help_flag("");
  const auto one = [&](const char* flag, std::string& target) {
    return app.add_option(flag, target)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  };
  one("--config", parsed.config);
  one("--list-maps", parsed.list_maps);
  one("--draw-map", parsed.draw_map);
  one("--draw-terrain", parsed.draw_terrain);
  one("--out", parsed.out);
  one("--from", parsed.from);
  one("--health", parsed.health)->expected(0, 1);
  app.add_flag("--print-config", parsed.print_config);
  app.add_flag("--check-config", parsed.check_config);
  app.add_flag("--accept-world", parsed.accept_world);
  app.add_flag("--ores", parsed.ores);
  app.add_flag("--version", parsed.version);
  app.add_flag("-h,--help", parsed.help);
  parsed.values.resize(settings().size());
  for (std::size_t index = 0; index < settings().size(); ++index) {
    const Setting& setting = settings()[index];
    RawValue& raw = parsed.values[index];
    if (setting.kind == ValueKind::toggle) {
      parsed.options.push_back(app.add_flag(setting.flag() + "{true},--no-" + setting.key + "{false}", raw));
      continue;
    }
    // One argument each time: "--wad a b" would otherwise swallow b, which is more likely a mistake.
    CLI::Option* option = app.add_option(setting.flag(), raw)->expected(1)->allow_extra_args(false);
    option->multi_option_policy(setting.is_list() ? CLI::MultiOptionPolicy::TakeAll
                                                  : CLI::MultiOptionPolicy::Throw);
    parsed.options.push_back(option);
  }
}

std::string explain_unknown(const std::string& argument) {
  if (argument == "run" || argument == "key" || argument == "token" || argument == "world")
    return "\"" + argument + "\" is a command: it comes before all flags, see --help";
  if (!argument.starts_with('-'))
    return "\"" + argument + "\" belongs to no flag: leave it out, or see --help";
  const std::string flag = argument.substr(0, argument.find('='));
  const std::string near = nearest_name(flag, flag_names());
  return "there is no flag " + flag +
         (near.empty() ? ": see --help" : ": did you mean " + near + "? See --help");
}

/// CLI11's own message names the flag first: "--port: 1 required ...".
std::string explain(const CLI::ParseError& error, const CLI::App& app,
                    std::span<const std::string> arguments) {
  const auto extras = app.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extras.empty())
    return explain_unknown(extras.front());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    for (const std::string& name : flag_names()) {
      const std::string what = error.what();
      if (what.find(name) == std::string::npos || what.find(name + "-") != std::string::npos) continue;
      const auto times = std::count_if(arguments.begin(), arguments.end(), [&](const std::string& a) {
        return a == name || a.starts_with(name + "=");
      });
      return times > 1 ? name + " is given " + std::to_string(times) + " times: give it once"
                       : name + " needs a value: see --help";
    }
  }
  return std::string(error.what()) + ": see --help";
}

/// One line when a flag belongs to an action that was not asked for, or the action lacks it; else empty.
std::string misplaced(const CLI::App& app, const Parsed& parsed, Action action) {
  const bool map = action == Action::draw_map, ground = action == Action::draw_terrain;
  if (map && parsed.out.empty()) return "--draw-map needs --out FILE: where the picture goes";
  if (ground && parsed.out.empty())
    return "--draw-terrain needs --out FILE.png or FILE.svg: where the picture goes";
  if (ground && !parsed.out.ends_with(".png") && !parsed.out.ends_with(".svg"))
    return "--out: " + parsed.out + " tells no format: --draw-terrain writes FILE.png or FILE.svg";
  if (action == Action::help || action == Action::version) return "";
  if (!map && !ground && app.count("--out") > 0)
    return "--out belongs to --draw-map MAP or --draw-terrain X,Y,R: give both or neither";
  if (!map && app.count("--from") > 0) return "--from belongs to --draw-map MAP: give both or neither";
  if (!ground && parsed.ores) return "--ores belongs to --draw-terrain X,Y,R: give both or neither";
  return "";
}

std::expected<CommandLine, std::string> gather(const CLI::App& app, const Parsed& parsed) {
  CommandLine line;
  std::vector<std::string> actions;
  const auto action = [&](bool given, const char* flag, Action which, const std::string& argument) {
    if (!given) return;
    actions.emplace_back(flag);
    line.action = which;
    line.argument = argument;
  };
  action(parsed.print_config, "--print-config", Action::print_config, {});
  action(parsed.check_config, "--check-config", Action::check_config, {});
  action(app.count("--list-maps") > 0, "--list-maps", Action::list_maps, parsed.list_maps);
  action(app.count("--draw-map") > 0, "--draw-map", Action::draw_map, parsed.draw_map);
  action(app.count("--draw-terrain") > 0, "--draw-terrain", Action::draw_terrain, parsed.draw_terrain);
  action(app.count("--health") > 0, "--health", Action::health, parsed.health);
  // These two answer whatever else was said.
  if (!parsed.version && !parsed.help && actions.size() > 1)
    return std::unexpected(actions[0] + " and " + actions[1] + " exclude each other: give one of them");
  if (parsed.version) line.action = Action::version;
  if (parsed.help) line.action = Action::help;

  if (auto wrong = misplaced(app, parsed, line.action); !wrong.empty()) return std::unexpected(wrong);
  if (app.count("--config") > 0 && parsed.config.empty())
    return std::unexpected("--config has an empty file name: name a file, or leave it out");
  line.out_file = parsed.out;
  line.from = parsed.from;
  line.ores = parsed.ores;
  line.config_file = parsed.config;
  line.accept_world = parsed.accept_world;
  for (std::size_t index = 0; index < parsed.values.size(); ++index)
    if (parsed.options[index]->count() > 0) {
      const RawValue& raw = parsed.values[index];
      line.values.emplace_back(index, raw.empty() ? RawValue{""} : raw);
    }
  return line;
}

std::string help_row(const std::string& flag, const std::string& help) {
  constexpr std::size_t indent = 34;
  std::string row = "  " + flag;
  row += row.size() + 2 > indent ? "\n" + std::string(indent, ' ') : std::string(indent - row.size(), ' ');
  return row + wrapped_text(help, 76, indent) + "\n";
}

}  // namespace

std::expected<CommandLine, std::string> parse_command_line(std::span<const std::string> arguments) {
  // What no command means, too.
  if (!arguments.empty() && arguments.front() == "run") arguments = arguments.subspan(1);
  CLI::App app;
  Parsed parsed;
  describe(app, parsed);
  try {
    // CLI11 takes the arguments from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return std::unexpected(one_line(explain(error, app, arguments)));
  }
  return gather(app, parsed);
}

std::expected<std::vector<std::string>, std::string> flags_of_process(const std::string& pid) {
  if (pid.empty() || pid.size() > 9 || pid.find_first_not_of("0123456789") != std::string::npos)
    return std::unexpected("\"pid:" + pid + "\" names no process: give such as pid:1");
  const auto text = read_file("/proc/" + pid + "/cmdline", command_line_bytes_max);
  if (!text) return std::unexpected("there is no process " + pid + " to ask about");
  auto flags = server_flags(*text);
  if (!flags) return std::unexpected("process " + pid + " is no ashlar-server");
  return std::move(*flags);
}

std::optional<std::vector<std::string>> server_flags(std::string_view words) {
  std::vector<std::string> all;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('\0'), words.size());
    all.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  // Not always the first: an init process of a container has the server's whole line among its own words.
  const auto program = std::ranges::find_if(all, [](const std::string& word) {
    return word.substr(word.rfind('/') + 1) == "ashlar-server";  // npos + 1 is 0
  });
  if (program == all.end()) return std::nullopt;
  return std::vector<std::string>(program + 1, all.end());
}

std::string help_text() {
  std::string out =
      "ashlar-server: an authoritative game server for worlds of voxels and Doom maps\n"
      "\n"
      "Usage: ashlar-server [run] [FLAGS]    the server\n"
      "       ashlar-server key new|show      keys of servers, players and issuers: key --help\n"
      "       ashlar-server token mint|show   connect tokens for closed servers: token --help\n"
      "       ashlar-server world info|check|backup|restore|salvage|log|rollback|prune|export DIR\n"
      "                                       what a world's folder keeps: world --help\n"
      "\n"
      "Each setting is also a key of the TOML file (--max-clients is max_clients) and an\n"
      "environment variable (ASHLAR_MAX_CLIENTS). A flag goes before the variable, the\n"
      "variable before the file, the file before the default. --wad, --map, --prop and\n"
      "--token-issuers are lists: given again for each entry, in a variable between semicolons:\n"
      "ASHLAR_MAP=\"MAP01;MAP02@100,-200\". Empty entries do not count.\n";
  const Config defaults;
  std::string group;
  for (const Setting& setting : settings()) {
    if (setting.group != group) out += "\n" + setting.group + "\n";
    group = setting.group;
    const RawValue value = setting.get(defaults);
    std::string help = setting.help;
    if (setting.kind != ValueKind::toggle && setting.kind != ValueKind::choice && !setting.range.empty())
      help += " " + setting.range + ".";
    if (!setting.is_list() && setting.kind != ValueKind::toggle && !value.front().empty())
      help += " Default " + value.front() + ".";
    out += help_row(setting.flag() + (setting.value_name.empty() ? "" : " " + setting.value_name), help);
  }
  out += "\nFiles and questions\n";
  for (const PlainFlag& plain : plain_flags)
    out += help_row(std::string(plain.flag) + (plain.value_name ? " " + std::string(plain.value_name) : ""),
                    plain.help);
  out +=
      "\nSignals: TERM and INT say goodbye and exit 0, a second one exits at once; HUP reads\n"
      "motd, log_level, the bans and the file of kinds again. Exit codes: 0, 1 when a health\n"
      "check fails, 2 for usage and configuration.\n";
  return out;
}

}  // namespace ashlar::server
