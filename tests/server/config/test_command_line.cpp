#include "server/config/command_line.h"

#include <unistd.h>

#include <algorithm>

#include "tests/catch.h"

namespace ashlar::server {
namespace {

using Arguments = std::vector<std::string>;

std::string error_of(const Arguments& arguments) {
  const auto line = parse_command_line(arguments);
  return line ? "no error" : line.error();
}

const RawValue* value_of(const CommandLine& line, const char* key) {
  for (const auto& [index, raw] : line.values)
    if (settings()[index].key == key) return &raw;
  return nullptr;
}

}  // namespace

TEST_CASE("flags are taken in both spellings and repeated where they are lists", "[server][command_line]") {
  const auto line = parse_command_line(Arguments{"--port", "7000", "--wad=a.wad", "--wad", "b.wad", "--map",
                                                 "MAP01@-100,200", "--seed=5", "--motd", "", "--live"});
  REQUIRE(line.has_value());
  CHECK(line->action == Action::serve);
  CHECK(*value_of(*line, "port") == RawValue{"7000"});
  CHECK(*value_of(*line, "wad") == RawValue{"a.wad", "b.wad"});
  CHECK(*value_of(*line, "map") == RawValue{"MAP01@-100,200"});
  CHECK(*value_of(*line, "motd") == RawValue{""});
  CHECK(*value_of(*line, "live") == RawValue{"true"});
  CHECK(value_of(*line, "monsters") == nullptr);
}

TEST_CASE("nothing said means serve with defaults", "[server][command_line]") {
  const auto line = parse_command_line(Arguments{});
  REQUIRE(line.has_value());
  CHECK(line->action == Action::serve);
  CHECK(line->values.empty());
  CHECK(line->config_file.empty());
}

TEST_CASE("run is what no command means, and comes first", "[server][command_line]") {
  const auto line = parse_command_line(Arguments{"run", "--port", "7000"});
  REQUIRE(line.has_value());
  CHECK(line->action == Action::serve);
  CHECK(*value_of(*line, "port") == RawValue{"7000"});
  CHECK(parse_command_line(Arguments{"run"})->values.empty());
  CHECK(parse_command_line(Arguments{"run", "--help"})->action == Action::help);
  CHECK_THAT(error_of({"--port", "1", "run"}), ContainsSubstring("it comes before all flags"));
  CHECK_THAT(error_of({"run", "run"}), ContainsSubstring("it comes before all flags"));
  CHECK_THAT(error_of({"--live", "token"}), ContainsSubstring("it comes before all flags"));
}

TEST_CASE("a flag that does not exist is named with its nearest neighbour", "[server][command_line]") {
  CHECK(error_of({"--prot", "1"}) == "there is no flag --prot: did you mean --port? See --help");
  CHECK(error_of({"--tickrate=5"}) == "there is no flag --tickrate: did you mean --tick-rate? See --help");
  CHECK(error_of({"--zzzzzz"}) == "there is no flag --zzzzzz: see --help");
  CHECK_THAT(error_of({"MAP01"}), ContainsSubstring("\"MAP01\" belongs to no flag"));
  CHECK_THAT(error_of({"--wad", "a.wad", "b.wad"}), ContainsSubstring("\"b.wad\" belongs to no flag"));
}

TEST_CASE("a missing value and a flag given twice are told apart", "[server][command_line]") {
  CHECK(error_of({"--port"}) == "--port needs a value: see --help");
  CHECK(error_of({"--wad"}) == "--wad needs a value: see --help");
  CHECK(error_of({"--max-clients"}) == "--max-clients needs a value: see --help");
  CHECK(error_of({"--port", "1", "--port", "2"}) == "--port is given 2 times: give it once");
}

TEST_CASE("every error of the command line is one line", "[server][command_line]") {
  const Arguments arguments =
      GENERATE(Arguments{"--port"}, Arguments{"--x\ny"}, Arguments{"-p"}, Arguments{"--live=maybe"},
               Arguments{"--config", ""}, Arguments{"--config"}, Arguments{"--out", "x.svg"},
               Arguments{"--draw-map", "MAP01"}, Arguments{"--print-config", "--check-config"},
               Arguments{"--"}, Arguments{""}, Arguments{"--version=5"});
  CAPTURE(arguments);
  const auto line = parse_command_line(arguments);
  if (!line) CHECK(line.error().find('\n') == std::string::npos);
}

TEST_CASE("questions exclude each other, but version and help answer anyway", "[server][command_line]") {
  CHECK(error_of({"--print-config", "--check-config"}) ==
        "--print-config and --check-config exclude each other: give one of them");
  CHECK(parse_command_line(Arguments{"--print-config", "--check-config", "--help"})->action == Action::help);
  CHECK(parse_command_line(Arguments{"--version"})->action == Action::version);
  CHECK(parse_command_line(Arguments{"-h"})->action == Action::help);
  CHECK(parse_command_line(Arguments{"--list-maps", "a.wad"})->argument == "a.wad");
}

TEST_CASE("a health check takes an address or none", "[server][command_line]") {
  CHECK(parse_command_line(Arguments{"--health"})->action == Action::health);
  CHECK(parse_command_line(Arguments{"--health"})->argument.empty());
  CHECK(parse_command_line(Arguments{"--health", "127.0.0.1:7000"})->argument == "127.0.0.1:7000");
  CHECK(parse_command_line(Arguments{"--health", "--port", "7000"})->argument.empty());
}

TEST_CASE("drawing a map needs somewhere to draw", "[server][command_line]") {
  const auto line = parse_command_line(
      Arguments{"--draw-map", "MAP01", "--out", "m.svg", "--from", "-10,20", "--wad", "a.wad"});
  REQUIRE(line.has_value());
  CHECK(line->action == Action::draw_map);
  CHECK(line->out_file == "m.svg");
  CHECK(line->from == "-10,20");
  CHECK_THAT(error_of({"--draw-map", "MAP01"}), ContainsSubstring("--out FILE"));
  CHECK_THAT(error_of({"--from", "1,2"}), ContainsSubstring("--draw-map"));
}

TEST_CASE("help names every flag, variables and exit codes, in lines of a terminal",
          "[server][command_line]") {
  const std::string help = help_text();
  for (const Setting& setting : settings()) CHECK_THAT(help, ContainsSubstring("  " + setting.flag()));
  for (const char* flag :
       {"--config", "--print-config", "--health", "--list-maps", "--draw-map", "--version"})
    CHECK_THAT(help, ContainsSubstring(flag));
  CHECK_THAT(help, ContainsSubstring("ASHLAR_"));
  std::size_t longest = 0;
  for (std::size_t at = 0; at < help.size();) {
    const std::size_t end = std::min(help.find('\n', at), help.size());
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  CHECK(longest <= 112);
}

TEST_CASE("the flags of a running server are found among the words of its process",
          "[server][command_line]") {
  using namespace std::string_view_literals;
  CHECK(server_flags("/usr/bin/ashlar-server\0--port\08000\0"sv) == Arguments{"--port", "8000"});
  CHECK(server_flags("ashlar-server\0"sv) == Arguments{});
  CHECK(server_flags("/sbin/docker-init\0--\0ashlar-server\0--motd\0\0--live\0"sv) ==
        Arguments{"--motd", "", "--live"});
  CHECK_FALSE(server_flags("/bin/sh\0-c\0sleep 1\0"sv));
  CHECK_FALSE(server_flags(""));
  CHECK_FALSE(flags_of_process("one").has_value());
  CHECK_FALSE(flags_of_process("").has_value());
  CHECK_FALSE(flags_of_process(std::to_string(::getpid())).has_value());  // a test is no server
}

}  // namespace ashlar::server
