#include "client_sim/simulation/watch_command.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "client_sim/harness/command_words.h"
#include "client_sim/harness/map_library.h"
#include "client_sim/harness/out_file.h"
#include "client_sim/harness/prop_library.h"
#include "client_sim/harness/read_file.h"
#include "client_sim/simulation/replay_command.h"
#include "client_sim/simulation/watch_picture.h"

namespace ashlar::simulation {
namespace {

struct WatchOptions {
  std::string file, out, player;
  std::vector<std::string> wads, props;
  double every_s = 1, from_s = 0, until_s = 0;  // until 0: to the end
};

int complain_watch(const std::string& line) {
  std::fprintf(stderr, "ashlar-sim watch: %s\n", line.c_str());
  return 2;
}

std::expected<void, std::string> write_picture(const WatchedMatch& match, const WatchedMatch::Heard& heard,
                                               const std::string& folder) {
  char name[32];
  std::snprintf(name, sizeof name, "/tick-%08u.svg", number(match.world().tick()));
  auto file = client_sim::OutFile::open(folder + name);
  if (!file) return std::unexpected(file.error());
  const std::string picture = picture_of(match, heard);
  return file->write(std::span(reinterpret_cast<const std::uint8_t*>(picture.data()), picture.size()));
}

/// A line for each moment, and a picture where somebody is watched.
int show_match(WatchedMatch& match, const WatchOptions& options) {
  double next_s = options.from_s;
  bool watched = false;
  for (;;) {
    const auto more = match.step();
    if (!more) return complain_watch(options.file + ": " + more.error());
    if (!*more || (options.until_s > 0 && match.seconds() > options.until_s)) break;
    if (match.seconds() + 1e-9 < options.from_s) static_cast<void>(match.take_heard());
    if (match.seconds() + 1e-9 < next_s) continue;
    next_s = std::max(next_s, match.seconds()) + options.every_s;
    const WatchedMatch::Heard heard = match.take_heard();
    std::printf("%s\n", line_of(match, heard).c_str());
    if (match.followed() == EntityId{0}) continue;
    watched = true;
    if (options.out.empty()) continue;
    if (const auto written = write_picture(match, heard, options.out); !written)
      return complain_watch(written.error());
  }
  if (match.torn()) std::printf("%s\n", torn_line(number(match.world().tick())).c_str());
  if (!watched && !options.player.empty())
    return complain_watch("player " + options.player +
                          " is never in the match; its lines without --player name some who are");
  return 0;
}

int run_watch(const WatchOptions& options) {
  EntityId player{};
  if (!options.player.empty() && !read_entity(options.player, player))
    return complain_watch("'" + options.player + "' is no entity id; ids look like 0x00100003");
  const auto bytes = client_sim::read_file(options.file);
  if (!bytes) return complain_watch(bytes.error());
  auto maps = client_sim::MapLibrary::open(options.wads);
  if (!maps) return complain_watch(maps.error());
  auto props = client_sim::PropLibrary::open(options.props);
  if (!props) return complain_watch(props.error());
  if (!options.out.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.out, error);
    if (error) return complain_watch("cannot make the folder " + options.out + ": " + error.message());
  }
  auto match = WatchedMatch::open(
      *bytes, [&](const RecordedMap& wanted) { return maps->place(place_of(wanted)); },
      [&](const RecordedProp& wanted) { return props->place(wanted.name, wanted.up, wanted.place); });
  if (!match) return complain_watch(options.file + ": " + match.error());
  match->follow(player);
  return show_match(*match, options);
}

}  // namespace

int watch_main(int argc, const char* const* argv) {
  WatchOptions options;
  CLI::App app{"Watches a recorded match over a player's shoulder, as that player's client shows it.",
               "ashlar-sim watch"};
  app.footer(
      "Exit codes: 0 watched to the end; 2 bad arguments, or a recording that is damaged, of another\n"
      "version, or of maps that are not here.");
  app.add_option("FILE", options.file, "What ashlar-server --record or ashlar-sim simulate --record wrote")
      ->required();
  app.add_option("--player", options.player, "Whom to watch; without it, whoever has been there for longest")
      ->type_name("ENTITY");
  app.add_option("--out", options.out, "Write a picture from above for each line into this folder, as SVG")
      ->type_name("DIR");
  app.add_option("--every", options.every_s, "Seconds between two lines")->check(CLI::Range(0.01, 3600.0));
  app.add_option("--from", options.from_s, "Begin at this second")->check(CLI::Range(0.0, 1e9));
  app.add_option("--until", options.until_s, "End after this second")->check(CLI::Range(0.01, 1e9));
  app.add_option("--wad", options.wads, "WAD that holds the recorded maps; may be repeated")
      ->type_name("FILE");
  app.add_option("--prop", options.props, "OBJ file of a recorded prop; may be repeated")->type_name("FILE");
  if (const auto ended = client_sim::parse_words(app, argc, argv, complain_watch)) return *ended;
  if (std::isnan(options.every_s) || std::isnan(options.from_s) || std::isnan(options.until_s))
    return complain_watch("--every, --from and --until are seconds, such as 2.5");
  if (options.until_s > 0 && options.from_s >= options.until_s)
    return complain_watch("--from is behind --until: nothing is between them");
  return run_watch(options);
}

}  // namespace ashlar::simulation
