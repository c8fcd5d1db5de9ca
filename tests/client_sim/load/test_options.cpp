#include "client_sim/load/options.h"

#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

LoadCommand parse(std::vector<const char*> words) {
  words.insert(words.begin(), "load");
  return parse_load(static_cast<int>(words.size()), words.data());
}

}  // namespace

TEST_CASE("load reads its options", "[client_sim][load]") {
  const LoadCommand c =
      parse({"--server", "[::1]:9", "--clients", "200",        "--transport", "tcp",    "--duration",
             "2m",       "--wad",   "a.wad",     "--wad",      "b.wad",       "--seed", "9",
             "--report", "r.json",  "--brain",   "crowd",      "--latency",   "40ms",   "--loss",
             "2%",       "--rate",  "100k",      "--fallback", "--acts",      "a.csv"});
  REQUIRE(c.options.has_value());
  const LoadOptions& o = *c.options;
  CHECK(o.server == "[::1]:9");
  CHECK(o.clients == 200);
  CHECK(o.transport == Transport::tcp);
  CHECK(o.duration == Micros{120'000'000});
  CHECK(o.wads == std::vector<std::string>{"a.wad", "b.wad"});
  CHECK(o.seed == 9);
  CHECK(o.report == "r.json");
  CHECK(o.acts == "a.csv");
  CHECK(o.brain == BrainKind::crowd);
  CHECK(o.link.latency == Micros{40'000});
  CHECK(o.link.loss == 0.02);
  CHECK(o.link.bytes_per_s == 100'000);
  CHECK(o.link.ordered);
  CHECK(o.fallback);
}

TEST_CASE("load without options plays a mix of 32 for half a minute", "[client_sim][load]") {
  const LoadCommand c = parse({});
  REQUIRE(c.options.has_value());
  CHECK(c.options->clients == 32);
  CHECK(c.options->transport == Transport::udp);
  CHECK(c.options->duration == Micros{30'000'000});
  CHECK_FALSE(c.options->brain.has_value());
  CHECK(c.options->link.plain());
}

TEST_CASE("light clients come beside the others, within what a run may have", "[client_sim][load]") {
  const LoadCommand c = parse({"--clients", "16", "--light", "2000"});
  REQUIRE(c.options.has_value());
  CHECK(c.options->clients == 16);
  CHECK(c.options->light == 2000);
  const LoadCommand many = parse({"--clients", "97", "--light", "4000"});
  CHECK(many.exit_code == 2);
  CHECK_THAT(many.text, ContainsSubstring("--light: 97 and 4000 clients are more than the 4096"));
}

TEST_CASE("load takes every brain by name", "[client_sim][load]") {
  for (std::size_t i = 0; i < brain_kind_count; ++i) {
    const auto kind = static_cast<BrainKind>(i);
    const std::string word(name(kind));
    CAPTURE(word);
    const LoadCommand c = parse({"--brain", word.c_str()});
    REQUIRE(c.options.has_value());
    CHECK(c.options->brain == kind);
    CHECK_THAT(parse({"--help"}).text, ContainsSubstring(word));
  }
}

TEST_CASE("load takes every kind of enemy by name", "[client_sim][load]") {
  CHECK_FALSE(parse({"--hostile", "2"}).options->raid.has_value());
  CHECK_FALSE(parse({"--hostile-kind", "mixed"}).options->raid.has_value());
  for (std::size_t i = 0; i < raid_kind_count; ++i) {
    const auto kind = static_cast<RaidKind>(i);
    const std::string word(name(kind));
    CAPTURE(word);
    const LoadCommand c = parse({"--hostile-kind", word.c_str()});
    REQUIRE(c.options.has_value());
    CHECK(c.options->raid == kind);
    CHECK_THAT(parse({"--help"}).text, ContainsSubstring(word));
  }
}

TEST_CASE("a bad argument is one line that names it, and exit code 2", "[client_sim][load]") {
  const std::vector<std::vector<const char*>> cases{{"--clients", "0"},    {"--clients", "5000"},
                                                    {"--clients", "many"}, {"--transport", "carrier"},
                                                    {"--duration", "5x"},  {"--loss", "200%"},
                                                    {"--rate", "fast"},    {"--brain", "genius"},
                                                    {"--colour", "red"},   {"--seed"}};
  for (const auto& words : cases) {
    CAPTURE(words[0]);
    const LoadCommand c = parse(words);
    CHECK_FALSE(c.options.has_value());
    CHECK(c.exit_code == 2);
    CHECK_THAT(c.text, ContainsSubstring(words[0]));
    CHECK(c.text.find('\n') == std::string::npos);
  }
}

TEST_CASE("load tells of options that do nothing beside the others", "[client_sim][load]") {
  CHECK(parse({}).notes.empty());
  CHECK(parse({"--hostile", "1", "--hostile-rate", "50"}).notes.empty());
  CHECK(parse({"--hostile-rate", "50"}).notes ==
        std::vector<std::string>{"--hostile-rate has no effect: it needs --hostile above 0"});
  CHECK(parse({"--fallback", "--transport", "tcp"}).notes.size() == 1);
  CHECK(parse({"--cache", "", "--cache-mib", "5"}).notes.size() == 1);
}

TEST_CASE("whole numbers are decimal", "[client_sim][load]") {
  CHECK(parse({"--clients", "10"}).options->clients == 10);
  CHECK(parse({"--chat-every", "0"}).options->chat_every_s == 0);
  CHECK_THAT(parse({"--chat-every", "00"}).text, ContainsSubstring("write 0"));
  for (const auto& [wrong, part] : {std::pair("010", "write 10"), {"0x10", "decimal"}}) {
    CAPTURE(wrong);
    CHECK_THAT(parse({"--clients", wrong}).text, ContainsSubstring("--clients") && ContainsSubstring(part));
    CHECK(parse({"--seed", wrong}).exit_code == 2);
  }
}

TEST_CASE("help is text and exit code 0", "[client_sim][load]") {
  const LoadCommand c = parse({"--help"});
  CHECK_FALSE(c.options.has_value());
  CHECK(c.exit_code == 0);
  CHECK_THAT(c.text, ContainsSubstring("--transport"));
  CHECK_THAT(c.text, ContainsSubstring("Exit codes"));
}
