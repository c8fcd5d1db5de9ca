#include "client_sim/simulation/simulate_options.h"

#include "tests/catch.h"

using namespace ashlar::simulation;

namespace {

using Words = std::vector<std::string>;

SimulateCommand parse(const Words& words) {
  std::vector<const char*> argv{"ashlar-sim simulate"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return parse_simulate(static_cast<int>(argv.size()), argv.data());
}

/// The words of a command line as a shell takes them apart, as far as single quotes and backslashes go.
Words words_of(const std::string& line) {
  Words out;
  bool inside = false, quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!quoted && c == ' ') {
      inside = false;
      continue;
    }
    if (!inside) out.emplace_back();
    inside = true;
    if (c == '\'')
      quoted = !quoted;
    else
      out.back() += !quoted && c == '\\' ? line[++i] : c;
  }
  return out;
}

}  // namespace

TEST_CASE("the command that is told plays the same run again", "[simulation][simulate_options]") {
  const Words given = GENERATE(values<Words>(
      {{},
       {"--clients", "3", "--monsters", "0", "--minutes", "0.016"},
       {"--minutes", "0.09", "--tick-rate", "10", "--snapshot-every", "10"},
       {"--player-solver", "correct", "--monster-solver", "correct", "--doors", "open"},
       {"--wad", "my maps/it's.wad", "--map", "MAP01@-5,7", "--map", "MAP02", "--rates", "all=0,loss=2.5"},
       {"--prop", "a crate.obj@1,2", "--map", "none", "--without", "loss,stall", "--break", "ghost"},
       {"--line", "loss=20,reorder=30,duplicate=2,corrupt=1", "--key-age", "5"},
       {"--faults", "$(list)", "--no-replay", "--snapshot-bytes", "4800"}}));
  const SimulateCommand first = parse(given);
  CAPTURE(first.text);
  REQUIRE(first.options.has_value());
  const std::string line = command_line(*first.options, 77);
  CAPTURE(line);
  Words words = words_of(line);
  REQUIRE(words.size() > 2);
  CHECK(words[0] == "ashlar-sim");
  CHECK(words[1] == "simulate");
  words.erase(words.begin(), words.begin() + 2);
  const SimulateCommand second = parse(words);
  CAPTURE(second.text);
  REQUIRE(second.options.has_value());
  const SimulateOptions &a = *first.options, &b = *second.options;
  CHECK(b.config.seed == 77);
  CHECK(b.config.clients == a.config.clients);
  CHECK(b.config.monsters == a.config.monsters);
  CHECK(b.config.seconds == a.config.seconds);
  CHECK(b.config.tick_rate_hz == a.config.tick_rate_hz);
  CHECK(b.config.snapshot_every_ticks == a.config.snapshot_every_ticks);
  CHECK(b.config.snapshot_bytes_max == a.config.snapshot_bytes_max);
  CHECK(b.config.player_solver == a.config.player_solver);
  CHECK(b.config.monster_solver == a.config.monster_solver);
  CHECK(b.config.rates.per_minute == a.config.rates.per_minute);
  CHECK(b.config.key_age_s == a.config.key_age_s);
  CHECK(b.config.line.loss == a.config.line.loss);
  CHECK(b.config.line.corrupt == a.config.line.corrupt);
  CHECK(b.config.check_replay == a.config.check_replay);
  CHECK(b.config.defects.ghost == a.config.defects.ghost);
  CHECK(b.wads == a.wads);
  CHECK(b.maps == a.maps);
  CHECK(b.doors == a.doors);
  CHECK(b.props == a.props);
  CHECK(b.faults_file == a.faults_file);
}

TEST_CASE("settings that no server has are refused in one line", "[simulation][simulate_options]") {
  const auto [words, part] =
      GENERATE(table<Words, const char*>({{{"--player-solver", "magic"}, "--player-solver"},
                                          {{"--doors", "ajar"}, "--doors"},
                                          {{"--map", "none", "--map", "MAP01"}, "none"},
                                          {{"--map", "MAP01@1"}, "MAP01@1"},
                                          {{"--snapshot-every", "11", "--tick-rate", "10"}, "11"},
                                          {{"--line", "delay=5"}, "not 'delay'"},
                                          {{"--line", "loss=61"}, "loss=61"},
                                          {{"--key-age", "0"}, "--key-age"},
                                          {{"--minutes", "0.01"}, "--minutes"}}));
  const SimulateCommand command = parse(words);
  CHECK_FALSE(command.options.has_value());
  CHECK(command.exit_code == 2);
  CHECK(command.text.find(part) != std::string::npos);
  CHECK(command.text.find('\n') == std::string::npos);
}
