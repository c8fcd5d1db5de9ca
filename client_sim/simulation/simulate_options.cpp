#include "client_sim/simulation/simulate_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "client_sim/harness/command_words.h"
#include "client_sim/harness/parse.h"
#include "server/config/settings.h"

namespace ashlar::simulation {
namespace {

constexpr const char* footer =
    "The last line of a run is `hash=... ticks=... faults=... broken=N`. Same seed and options, same hash.\n"
    "Exit codes: 0 all held; 1 something broke: then seed, tick, what broke, a command that plays it again "
    "and\n"
    "a short list of faults that still breaks it are printed; 2 bad arguments.\n"
    "Example: ashlar-sim simulate --seed 7 --minutes 10 --rates loss=3,restart=1 --without corrupt";

struct NamedDefect {
  std::string_view name;
  bool server::Defects::* defect;
};
constexpr std::array<NamedDefect, 21> defects{{{"early-ack", &server::Defects::early_ack},
                                               {"reuse-id", &server::Defects::reuse_id},
                                               {"stale-input", &server::Defects::stale_input},
                                               {"lost-wake", &server::Defects::lost_wake},
                                               {"ghost", &server::Defects::ghost},
                                               {"blind-spot", &server::Defects::blind_spot},
                                               {"lost-heights", &server::Defects::lost_heights},
                                               {"lost-line", &server::Defects::lost_line},
                                               {"no-turns", &server::Defects::no_turns},
                                               {"lost-part", &server::Defects::lost_part},
                                               {"wrong-eyes", &server::Defects::wrong_eyes},
                                               {"replay-window", &server::Defects::replay_window},
                                               {"pays-for-forgery", &server::Defects::pays_for_forgery},
                                               {"tells-forger", &server::Defects::tells_forger},
                                               {"moves-at-once", &server::Defects::moves_at_once},
                                               {"unproven-resume", &server::Defects::unproven_resume},
                                               {"no-grace", &server::Defects::no_grace},
                                               {"waits-for-ever", &server::Defects::waits_for_ever},
                                               {"early-saved", &server::Defects::early_saved},
                                               {"lying-disk", &server::Defects::lying_disk},
                                               {"no-refusals", &server::Defects::no_refusals}}};

std::string defect_names() {
  std::string out;
  for (const NamedDefect& d : defects) (out += out.empty() ? "" : ", ") += d.name;
  return out;
}

/// Turns "loss,restart" into "loss=0,restart=0".
std::string switched_off(std::string_view kinds) {
  std::string out;
  for (const char c : kinds) out += c == ',' ? std::string("=0,") : std::string(1, c);
  return out.empty() ? out : out + "=0";
}

/// What stays text until all of it is there.
struct Given {
  double minutes = 10;
  std::vector<std::string> maps, props;
  std::string player_solver = "sweep", monster_solver = "sweep", doors = "shut";
};

/// One line when what was given cannot be.
std::string settle(SimulateOptions& o, const Given& given) {
  const auto solver = [](const std::string& name) {
    return name == "correct" ? Solver::correct : Solver::sweep;
  };
  o.config.player_solver = solver(given.player_solver);
  o.config.monster_solver = solver(given.monster_solver);
  o.doors = given.doors == "open" ? server::Doors::open : server::Doors::shut;
  const std::vector<std::string>& props = given.props;
  for (const std::string& text : given.maps) {
    auto map = server::parse_map_request(text);
    if (!map) return "--map " + map.error();
    o.maps.push_back(std::move(*map));
  }
  if (o.maps.size() > placed_maps_max)
    return "there may be " + std::to_string(placed_maps_max) + " --map, not " + std::to_string(o.maps.size());
  if (o.maps.size() > 1 && std::ranges::count(o.maps, "none", &server::MapRequest::name) > 0)
    return "--map none stands beside other maps: give one or the other";
  if (o.config.snapshot_every_ticks > o.config.tick_rate_hz)
    return "--snapshot-every " + std::to_string(o.config.snapshot_every_ticks) +
           " is longer than a second at --tick-rate " + std::to_string(o.config.tick_rate_hz);
  for (const auto& [option, count] :
       {std::pair("--fighters", o.config.fighters), std::pair("--watchers", o.config.watchers),
        std::pair("--stream-ground", o.config.stream_ground)})
    if (count > o.config.clients)
      return std::string(option) + " " + std::to_string(count) + " is more than --clients " +
             std::to_string(o.config.clients) + ", of whom they are";
  if (props.size() > server::prop_requests_max)
    return "there may be " + std::to_string(server::prop_requests_max) + " --prop, not " +
           std::to_string(props.size());
  for (const std::string& text : props) {
    auto prop = server::parse_prop_request(text);
    if (!prop) return "--prop " + prop.error();
    o.props.push_back(std::move(*prop));
  }
  for (const std::string& text : {o.rates, switched_off(o.without)}) {
    const auto rates = rates_from_text(text, o.config.rates);
    if (!rates) return rates.error();
    o.config.rates = *rates;
  }
  if (!o.line.empty()) {
    const auto line = line_from_text(o.line);
    if (!line) return "--line: " + line.error();
    o.config.line = *line;
  }
  if (o.broken.empty()) return "";
  for (const NamedDefect& d : defects)
    if (d.name == o.broken) {
      o.config.defects.*d.defect = true;
      return "";
    }
  return "--break knows " + defect_names() + ", not '" + o.broken + "'";
}

/// As a shell takes it for one word, whatever is in it.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:=@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

constexpr std::array<std::string_view, 5> mode_names{"sandbox", "cooperative", "deathmatch", "teams",
                                                     "building"};

/// Short, so that a run sees matches begin and end.
MatchRules match_of(std::string_view mode) {
  const auto at = std::ranges::find(mode_names, mode) - mode_names.begin();
  return {.mode = static_cast<GameMode>(at), .frag_limit = 10, .time_limit_s = 60, .warmup_s = 3};
}

void add_run(CLI::App& app, SimulateOptions& o, Given& given) {
  app.add_option("--seed", o.config.seed, "Of everything; the first one with --hours")
      ->check(client_sim::check_seed)
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--terrain", [&o](const std::string& text) { o.config.terrain = *terrain_kind_of(text); },
         "What the ground is like: plains, hills, flat or void")
      ->check(CLI::IsMember({"plains", "hills", "flat", "void"}))
      ->default_str("plains");
  app.add_option(
         "--stream-ground", o.config.stream_ground,
         "So many of the players, the first ones, are sent the ground, as those are who cannot compute it")
      ->check(CLI::Range(0u, clients_limit))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--mode", [&o](const std::string& text) { o.config.match = match_of(text); },
         "What is played: sandbox, cooperative, deathmatch, teams or building; matches last a minute at "
         "most, and a few seconds of warm-up and intermission")
      ->check(CLI::IsMember({"sandbox", "cooperative", "deathmatch", "teams", "building"}))
      ->default_str("sandbox");
  app.add_option("--fighters", o.config.fighters, "So many of the players, the first ones, play to win")
      ->check(CLI::Range(0u, clients_limit))
      ->capture_default_str();
  app.add_option("--watchers", o.config.watchers, "So many of the players, the last ones, only watch")
      ->check(CLI::Range(0u, clients_limit))
      ->capture_default_str();
  app.add_flag("--survival", o.config.survival, "Half of the players dig and build, of what they dug");
  app.add_option("--clients", o.config.clients, "Simulated players")
      ->check(CLI::Range(1u, clients_limit))
      ->capture_default_str();
  app.add_option("--monsters", o.config.monsters, "Monsters")
      ->check(CLI::Range(0u, 10'000u))
      ->capture_default_str();
  app.add_option("--minutes", given.minutes, "Simulated minutes of a run [10]")
      ->check(CLI::Range(0.016, 24.0 * 60))
      ->check([](const std::string& text) {  // which a range lets through, as no comparison holds of it
        return text.find("nan") == std::string::npos && text.find("NAN") == std::string::npos
                   ? std::string()
                   : "'" + text + "' is no number of minutes; give 0.016 to 1440";
      });
  app.add_option("--hours", o.hours, "Simulated hours in all, over many seeds")
      ->check(CLI::Range(1u, 100'000u));
  app.add_option("--jobs", o.jobs, "Processes to share the runs of --hours")->check(CLI::Range(1u, 256u));
}

void add_server(CLI::App& app, SimulateOptions& o, Given& given) {
  app.add_option("--tick-rate", o.config.tick_rate_hz, "Ticks a second")
      ->check(CLI::Range(10, 128))
      ->capture_default_str();
  app.add_option("--snapshot-every", o.config.snapshot_every_ticks, "Ticks from one snapshot to the next")
      ->check(CLI::Range(1, 60))
      ->capture_default_str();
  app.add_option("--snapshot-bytes", o.config.snapshot_bytes_max,
                 "Most that a client is sent in one snapshot")
      ->check(CLI::Range(4800, 38400))
      ->capture_default_str();
  app.add_option("--key-age", o.config.key_age_s, "Seconds from one change of a session's keys to the next")
      ->check(CLI::Range(1u, key_age_limit))
      ->capture_default_str();
  app.add_option("--player-solver", given.player_solver, "How players are kept out of walls")
      ->check(CLI::IsMember({"sweep", "correct"}))
      ->capture_default_str();
  app.add_option("--monster-solver", given.monster_solver, "Likewise monsters")
      ->check(CLI::IsMember({"sweep", "correct"}))
      ->capture_default_str();
  app.add_option("--wad", o.wads, "WAD that --map comes from; may be repeated")->type_name("FILE");
  app.add_option("--map", given.maps,
                 "Map of a WAD, as ashlar-server takes it; may be repeated; 'none' for terrain alone [the "
                 "built-in map]")
      ->type_name("NAME[@X,Y]");
  app.add_option("--doors", given.doors, "How doors and lifts stand at the start")
      ->check(CLI::IsMember({"shut", "open"}))
      ->capture_default_str();
  app.add_option("--prop", given.props,
                 "Static prop from an OBJ file, as ashlar-server takes it; may be repeated")
      ->type_name("FILE@X,Y[,Z]");
}

void add_faults(CLI::App& app, SimulateOptions& o) {
  app.add_option("--rates", o.rates,
                 "How often faults begin, each minute for each client or the server: all=0,loss=2")
      ->type_name("KIND=RATE,...");
  app.add_option("--without", o.without, "Kinds of faults to switch off")->type_name("KIND,...");
  app.add_option("--line", o.line,
                 "What every line does all the time, per cent: loss=20,reorder=30,duplicate=2,corrupt=1")
      ->type_name("KIND=SHARE,...");
  app.add_option("--faults", o.faults_file,
                 "Play these faults instead of drawn ones, one 'tick ticks kind subject "
                 "amount' a line")
      ->type_name("FILE");
  app.add_option("--shrink", o.shrink_runs, "Runs that may be spent on shortening the list of faults")
      ->check(CLI::Range(0u, 10'000u))
      ->capture_default_str();
  app.add_option("--break", o.broken,
                 "Make the server deliberately wrong, to see it caught: " + defect_names())
      ->type_name("NAME");
}

}  // namespace

SimulateCommand parse_simulate(int argc, const char* const* argv) {
  SimulateOptions o;
  Given given;
  bool no_replay = false;
  CLI::App app{
      "Plays server and clients in one process on simulated time, with every fault there is, and checks\n"
      "after each tick what must hold.",
      "ashlar-sim simulate"};
  app.footer(footer);
  add_run(app, o, given);
  add_server(app, o, given);
  add_faults(app, o);
  app.add_option("--record", o.record, "Write what the first server recorded")->type_name("FILE");
  app.add_flag("--no-replay", no_replay, "Do not play each server's recording again at its end");
  const auto wrong = [](const std::string& line) {
    return SimulateCommand{std::nullopt, "ashlar-sim simulate: " + line + " (see --help)", 2};
  };
  client_sim::take_decimals_alone(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), 0};
  } catch (const CLI::ParseError& error) {
    const std::string line = error.what();
    return wrong(line.substr(0, line.find('\n')));
  }
  o.config.seconds = std::max(1u, static_cast<std::uint32_t>(std::lround(given.minutes * 60)));
  o.config.check_replay = !no_replay;
  o.config.keep_recording = !o.record.empty();
  if (o.hours != 0 && (!o.record.empty() || !o.faults_file.empty()))
    return wrong("--hours plays many seeds: --record and --faults are for one run");
  if (const std::string line = settle(o, given); !line.empty()) return wrong(line);
  return {o, "", 0};
}

std::string command_line(const SimulateOptions& o, std::uint64_t seed) {
  const SimulationConfig& c = o.config;
  std::string out = "ashlar-sim simulate --seed " + std::to_string(seed) + " --clients " +
                    std::to_string(c.clients) + " --monsters " + std::to_string(c.monsters) + " --minutes ";
  std::string minutes = std::to_string(c.seconds / 60.0);
  minutes.erase(minutes.find_last_not_of('0') + 1);
  if (minutes.ends_with('.')) minutes.pop_back();
  out += minutes;
  if (c.tick_rate_hz != 60) out += " --tick-rate " + std::to_string(c.tick_rate_hz);
  if (c.snapshot_every_ticks != 1) out += " --snapshot-every " + std::to_string(c.snapshot_every_ticks);
  if (c.snapshot_bytes_max != SimulationConfig{}.snapshot_bytes_max)
    out += " --snapshot-bytes " + std::to_string(c.snapshot_bytes_max);
  if (c.terrain != TerrainKind::plains) out += " --terrain " + std::string(name(c.terrain));
  if (c.stream_ground > 0) out += " --stream-ground " + std::to_string(c.stream_ground);
  if (c.match.mode != GameMode::sandbox)
    out += " --mode " + std::string(mode_names[static_cast<std::size_t>(c.match.mode)]);
  if (c.fighters > 0) out += " --fighters " + std::to_string(c.fighters);
  if (c.watchers > 0) out += " --watchers " + std::to_string(c.watchers);
  if (c.survival) out += " --survival";
  if (c.key_age_s != SimulationConfig{}.key_age_s) out += " --key-age " + std::to_string(c.key_age_s);
  if (c.player_solver == Solver::correct) out += " --player-solver correct";
  if (c.monster_solver == Solver::correct) out += " --monster-solver correct";
  const auto add = [&out](const char* option, const std::string& value) {
    if (!value.empty()) out += std::string(" ") + option + " " + quoted(value);
  };
  for (const std::string& wad : o.wads) add("--wad", wad);
  for (const server::MapRequest& map : o.maps) add("--map", server::to_text(map));
  if (o.doors == server::Doors::open) add("--doors", "open");
  for (const server::PropRequest& prop : o.props) add("--prop", to_text(prop));
  add("--rates", o.rates);
  add("--without", o.without);
  add("--line", o.line);
  add("--faults", o.faults_file);
  add("--break", o.broken);
  if (!c.check_replay) out += " --no-replay";
  return out;
}

}  // namespace ashlar::simulation
