#include "server/config/values.h"

#include <set>

#include "server/config/settings.h"
#include "tests/catch.h"

namespace ashlar::server {

using namespace std::chrono_literals;

TEST_CASE("times are read in every unit and written shortly", "[server][values]") {
  CHECK(*parse_duration("30s") == 30s);
  CHECK(*parse_duration("30") == 30s);
  CHECK(*parse_duration("5m") == 5min);
  CHECK(*parse_duration("1h30m") == 90min);
  CHECK(*parse_duration("250ms") == 250ms);
  CHECK(*parse_duration("1m1s1ms") == 61001ms);
  CHECK(*parse_duration("0s") == 0s);
  for (const std::chrono::milliseconds time : {0ms, 1ms, 1000ms, 61000ms, 3600000ms, 7200000ms, 90000ms})
    CHECK(*parse_duration(to_text(time)) == time);
}

TEST_CASE("what is no time is refused and says what would be", "[server][values]") {
  const std::string text = GENERATE(as<std::string>{}, "", "s", "5x", "-1s", "1.5s", "5m30", "1001h",
                                    "99999999999s", "3 s", "5ms3");
  CAPTURE(text);
  const auto time = parse_duration(text);
  REQUIRE_FALSE(time.has_value());
  CHECK_THAT(time.error(), ContainsSubstring("30s"));
}

TEST_CASE("whole numbers keep their bounds", "[server][values]") {
  CHECK(*parse_whole("0", 0, 10) == 0);
  CHECK(*parse_whole("10", 0, 10) == 10);
  CHECK(*parse_whole("18446744073709551615", 0, UINT64_MAX) == UINT64_MAX);
  CHECK_THAT(parse_whole("11", 0, 10).error(), ContainsSubstring("0 to 10"));
  CHECK_THAT(parse_whole("0", 1, 10).error(), ContainsSubstring("1 to 10"));
  CHECK_THAT(parse_whole("18446744073709551616", 0, UINT64_MAX).error(), ContainsSubstring("range"));
  CHECK_THAT(parse_whole("-1", 0, 10).error(), ContainsSubstring("range"));
  for (const char* text : {"", "-", "1x", " 1", "+1", "0x10", "1.0"})
    CHECK_THAT(parse_whole(text, 0, 10).error(), ContainsSubstring("not a whole number"));
}

TEST_CASE("numbers are finite, bounded and read back as written", "[server][values]") {
  for (const double value : {0.75, 20.0, 1e-3, 0.1, 1024.0})
    CHECK(*parse_real(real_text(value), 0, 2000) == value);
  for (const char* text : {"", "nan", "inf", "1e999", "x", "1 ", "201", "-0.1"})
    CHECK_FALSE(parse_real(text, 0, 200).has_value());
}

TEST_CASE("map requests name a map and perhaps a block", "[server][values]") {
  CHECK(parse_map_request("MAP01")->name == "MAP01");
  CHECK_FALSE(parse_map_request("MAP01")->at.has_value());
  CHECK(parse_map_request("E1M1@-100,200")->at == IVec2{-100, 200});
  for (const char* text : {"MAP01", "MAP01@0,0", "E1M1@-100,200"})
    CHECK(to_text(*parse_map_request(text)) == text);
  const std::string bad =
      GENERATE(as<std::string>{}, "", "@1,2", "MAP01@", "MAP01@1", "MAP01@1,", "MAP01@1,2,3", "MAP01@a,b",
               "MAP01@1048576,0", "MAP01@0,-99999999999", "MAP01@1.5,2", "A MAP", "MAPWITHAVERYLONGNAME");
  CAPTURE(bad);
  REQUIRE_FALSE(parse_map_request(bad).has_value());
  CHECK_THAT(parse_map_request(bad).error(), ContainsSubstring("MAP01@100,-200"));
}

TEST_CASE("a mistyped name finds its neighbour and a strange one finds none", "[server][values]") {
  std::vector<std::string> names;
  for (const Setting& setting : settings()) names.push_back(setting.key);
  CHECK(nearest_name("prot", names) == "port");
  CHECK(nearest_name("tick-rate", names) == "tick_rate");
  CHECK(nearest_name("tickrate", names) == "tick_rate");
  CHECK(nearest_name("clients", names) == "max_clients");
  CHECK(nearest_name("--max-client", names) == "max_clients");
  CHECK(nearest_name("Seed", names) == "seed");
  CHECK(nearest_name("zzzzzz", names).empty());
  CHECK(nearest_name(std::string(1000, 'a'), names).empty());
  CHECK(nearest_name("", names).empty());
}

TEST_CASE("every setting has its own name, a help and a default that it accepts", "[server][settings]") {
  std::set<std::string> keys, flags, variables;
  for (const Setting& setting : settings()) {
    CAPTURE(setting.key);
    CHECK(keys.insert(setting.key).second);
    CHECK(flags.insert(setting.flag()).second);
    CHECK(variables.insert(setting.variable()).second);
    CHECK(setting.help.ends_with('.'));
    CHECK_FALSE(setting.group.empty());
    Config config;
    const RawValue value = setting.get(config);
    CHECK(setting.set(config, value).has_value());
    CHECK(setting.get(config) == value);
  }
  CHECK(find_setting("port") != no_setting);
  CHECK(find_setting("prot") == no_setting);
}

TEST_CASE("the rules that settings allow are rules that movement takes", "[server][settings]") {
  for (const Setting& setting : settings()) {
    if (setting.group != "Rules") continue;
    const std::size_t to = setting.range.find(" to ");
    if (to == std::string::npos) continue;
    for (const std::string& bound : {setting.range.substr(0, to), setting.range.substr(to + 4)}) {
      CAPTURE(setting.key, bound);
      Config config;
      REQUIRE(setting.set(config, {bound}).has_value());
      CHECK(rules_sane(config.rules));
    }
  }
}

}  // namespace ashlar::server
