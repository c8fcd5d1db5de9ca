#include "server/run_server.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "server/admin/health.h"
#include "server/config/config_file.h"
#include "server/config/file.h"
#include "server/config/key_value.h"
#include "server/config/load.h"
#include "server/config/process.h"
#include "server/config/values.h"
#include "server/config/version.h"
#include "server/config/without_effect.h"
#include "server/keys/key_commands.h"
#include "server/keys/token_commands.h"
#include "server/net/address.h"
#include "server/serve.h"
#include "server/setup.h"
#include "server/startup.h"
#include "server/tools/draw_terrain.h"
#include "server/tools/map_tools.h"
#include "server/tools/world_commands.h"

namespace ashlar::server {
namespace {

void complain(const std::string& line) {
  std::fprintf(stderr, "ashlar-server: %s\n", hide_secrets(one_line(line)).c_str());
}

int fail(const std::string& line) {
  complain(line);
  return 2;
}

int print(const std::string& text) {
  // A text longer than the buffer is written, and fails, before the flush.
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? 0 : fail("cannot write to standard output");
}

/// The address to ask: the one that was given, that of this configuration, or with pid:N that of the server
/// which runs as that process, whose flags, variables and files may have chosen it.
std::expected<std::string, std::string> whom_to_ask(const CommandLine& line, const Config& config) {
  if (!line.argument.starts_with("pid:"))
    return line.argument.empty() ? health_address(config) : line.argument;
  const std::string pid = line.argument.substr(4);
  const auto flags = flags_of_process(pid);
  if (!flags) return std::unexpected(flags.error());
  const auto its_line = parse_command_line(*flags);
  if (!its_line) return std::unexpected("its flags: " + its_line.error());
  // Paths in its flags are as seen from its folder; this process ends with the answer.
  std::error_code error;
  std::filesystem::current_path("/proc/" + pid + "/cwd", error);
  const auto its_environment = environment_of_process(pid);
  if (error || !its_environment)
    return std::unexpected("process " + pid + " belongs to another user: ask as that one, or name HOST:PORT");
  const auto its_config = load_config(*its_line, *its_environment);
  if (!its_config) return std::unexpected("its configuration: " + its_config.error());
  if (its_config->config.port == 0)
    return std::unexpected("process " + pid +
                           " chose its port itself (port 0): name HOST:PORT, as its line " +
                           "event=ready tells it");
  return health_address(its_config->config);
}

int health(const CommandLine& line, const Config& config) {
  const auto address = whom_to_ask(line, config);
  if (!address) return fail("--health: " + address.error());
  const auto server = parse_peer(*address, config.port);
  if (!server) return fail("--health: " + server.error());
  const auto answer = ask_health(*server, std::chrono::milliseconds(2400));
  if (answer) return print(one_line(*answer) + "\n");
  std::fprintf(stderr, "ashlar-server: %s\n", one_line(answer.error()).c_str());
  return 1;
}

/// Maps that read are listed, also beside damaged ones.
int list(const WadStack& wads) {
  const MapList maps = list_maps(wads);
  const int printed = print(maps.text);
  std::string_view left = maps.damaged;
  while (!left.empty()) {
    const std::size_t end = left.find('\n');
    fail(std::string(left.substr(0, end)));
    left.remove_prefix(end + 1);
  }
  return maps.damaged.empty() ? printed : 2;
}

std::expected<void, std::string> draw(const CommandLine& line, const Config& config) {
  DrawOptions options;
  if (!line.from.empty()) {
    options.from = parse_point(line.from);
    if (!options.from)
      return std::unexpected(
          "--from: \"" + line.from +
          "\" is no place on a map: give X,Y in its units, each from -65536 to 65536, such as "
          "-64,128");
  }
  const auto opened = open_wads_of(config, usual_wad_folders());
  if (!opened) return std::unexpected(opened.error());
  const auto map = load_map(*opened, line.argument);
  if (!map) return std::unexpected(map.error());
  if (options.from) {
    if (const std::string off = nothing_to_see_from(*map, *options.from); !off.empty())
      return std::unexpected("--from: " + line.from + " " + off);
  }
  // A WAD or a config that was named by mistake is not drawn over.
  std::error_code none;
  if (!line.out_file.ends_with(".svg") && std::filesystem::is_regular_file(line.out_file, none))
    return std::unexpected("--out: " + line.out_file +
                           " is there already and no picture by its name: name one that ends with .svg");
  if (const int error = write_file(line.out_file, draw_map_svg(*map, options)); error != 0)
    return std::unexpected("--out: cannot write " + line.out_file + ": " + std::strerror(error));
  return {};
}

std::expected<void, std::string> draw_ground(const CommandLine& line, const LoadedConfig& loaded) {
  const Config& config = loaded.config;
  auto view = parse_terrain_view(line.argument);
  if (!view) return std::unexpected("--draw-terrain: " + view.error());
  if (!config.world_dir.empty() && !loaded.world_exists)
    return std::unexpected("--world: there is no world " + config.world_dir +
                           " to draw: name one that is there, or a --seed and a --terrain in its place");
  view->ores = line.ores;
  Terrain terrain{config.seed, {}, config.terrain};
  if (config.secret_seed != 0) terrain.secret = config.secret_seed;
  const Picture picture = draw_terrain(terrain, *view);
  std::string bytes;
  if (line.out_file.ends_with(".svg")) {
    bytes = svg_of(picture, terrain, *view);
  } else {
    const auto png = png_of(picture);
    bytes.assign(png.begin(), png.end());
  }
  if (const int error = write_file(line.out_file, bytes); error != 0)
    return std::unexpected("--out: cannot write " + line.out_file + ": " + std::strerror(error));
  return {};
}

/// What a start would warn of before anything else.
void warn(const LoadedConfig& loaded) {
  for (const std::string& variable : loaded.unknown_variables)
    complain("there is no setting " + variable + ": " + variable_remedy(variable));
  for (const WithoutEffect& one : without_effect(loaded))
    complain(one.from + ": " + one.key + " has no effect: " + one.needs);
}

int run(const CommandLine& line, const MakeGame& game) {
  if (line.action == Action::help) return print(help_text());
  if (line.action == Action::version) return print(version_text() + "\n");
  const auto loaded = load_config(line, own_environment());
  if (!loaded) return fail(loaded.error());
  if (line.action == Action::serve || line.action == Action::check_config)
    if (const auto allowed = allow_files(); !allowed) return fail(allowed.error());
  switch (line.action) {
    case Action::print_config: {
      WriteStyle style;
      style.origins = loaded->origins;
      return print(write_settings(loaded->config, style));
    }
    case Action::check_config: {
      const auto checked = check(*loaded, game);
      if (!checked) return fail(checked.error());
      warn(*loaded);
      return print(*checked + "\n");
    }
    case Action::health: return health(line, loaded->config);
    case Action::list_maps: {
      const auto opened = open_wads({line.argument}, usual_wad_folders());
      return opened ? list(opened->wads) : fail(opened.error());
    }
    case Action::draw_map: {
      const auto drawn = draw(line, loaded->config);
      return drawn ? 0 : fail(drawn.error());
    }
    case Action::draw_terrain: {
      const auto drawn = draw_ground(line, *loaded);
      return drawn ? 0 : fail(drawn.error());
    }
    default: break;
  }
  const auto served = serve(line, *loaded, game);
  return served ? 0 : fail(served.error());
}

bool is_command(const std::string& word) { return word == "key" || word == "token" || word == "world"; }

/// `key ...`, `token ...` and `world ...`.
int run_command(const std::vector<std::string>& arguments) {
  secure::SystemEntropy entropy;
  const Environment environment = own_environment();
  const CommandWorld world{environment, std::time(nullptr), entropy};
  const std::span<const std::string> words = std::span(arguments).subspan(1);
  const std::string& group = arguments.front();
  const CommandResult result = group == "key"     ? key_command(words, world)
                               : group == "token" ? token_command(words, world)
                                                  : world_command(words, world);
  if (!result) return fail(result.error());
  const int printed = print(result->text);
  return printed != 0 ? printed : result->exit_code;
}

}  // namespace

int run_server(int argc, char** argv, const MakeGame& game) {
  keep_standard_streams();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    if (!arguments.empty() && is_command(arguments.front())) return run_command(arguments);
    if (arguments.size() == 1 && arguments.front() == "help") return print(help_text());
    const auto line = parse_command_line(arguments);
    if (line && line->action == Action::serve) begin_with_huge_pages(argv);
    return line ? run(*line, game) : fail(line.error());
  } catch (const std::exception& error) {  // out of memory, for one: start-up is allowed to throw
    return fail(error.what());
  }
}

}  // namespace ashlar::server
