#include "client_sim/harness/parse.h"

#include "tests/catch.h"

using namespace ashlar::client_sim;

TEST_CASE("durations have units and bounds", "[client_sim][parse]") {
  CHECK(parse_duration("30s") == Micros{30'000'000});
  CHECK(parse_duration("30") == Micros{30'000'000});
  CHECK(parse_duration("1.5m") == Micros{90'000'000});
  CHECK(parse_duration("20ms") == Micros{20'000});
  CHECK(parse_duration("7us") == Micros{7});
  CHECK(parse_duration("1h") == Micros{3'600'000'000});
  CHECK(parse_duration("0") == Micros{0});
  for (const char* bad : {"", "s", "-1s", "5x", "5 s", "nan", "inf", "1e99h", "169h", "5ss"}) {
    CAPTURE(bad);
    const auto parsed = parse_duration(bad);
    REQUIRE_FALSE(parsed.has_value());
    CHECK_THAT(parsed.error(), ContainsSubstring("'" + std::string(bad) + "'"));
  }
}

TEST_CASE("shares are fractions or per cent of one", "[client_sim][parse]") {
  CHECK(parse_share("2%") == 0.02);
  CHECK(parse_share("0.25") == 0.25);
  CHECK(parse_share("100%") == 1.0);
  for (const char* bad : {"", "%", "101%", "1.01", "-0.1", "x", "2 %", "nan"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_share(bad).has_value());
  }
}

TEST_CASE("rates are bytes a second", "[client_sim][parse]") {
  CHECK(parse_rate("9600") == 9600u);
  CHECK(parse_rate("200k") == 200'000u);
  CHECK(parse_rate("1.5M") == 1'500'000u);
  for (const char* bad : {"", "k", "5G", "-1", "99999M", "inf", "0.5", "0.0001k"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_rate(bad).has_value());
  }
}
