#include "server/config/moment.h"

#include <limits>

#include "tests/catch.h"

namespace ashlar::server {

TEST_CASE("a span of time is read in days, hours, minutes and seconds", "[server][moment]") {
  CHECK(parse_span_s("10m") == 600);
  CHECK(parse_span_s("2h30m") == 9000);
  CHECK(parse_span_s("30d") == 30 * 86400);
  CHECK(parse_span_s("90") == 90);
  CHECK(parse_span_s("0s") == 0);
  CHECK(parse_span_s("3660d") == std::int64_t{3660} * 86400);
  const std::string wrong = GENERATE(as<std::string>{}, "", "m", "-5m", "10x", "1h5", "3661d",
                                     "99999999999999d", "4294967295d4294967295d", "10 m", "nan", "1.5h");
  CAPTURE(wrong);
  REQUIRE_FALSE(parse_span_s(wrong).has_value());
  CHECK_THAT(parse_span_s(wrong).error(), ContainsSubstring("10m"));
}

TEST_CASE("a moment is a span from now on or a UTC time", "[server][moment]") {
  CHECK(parse_moment_s("10m", 1000) == 1600);
  CHECK(parse_moment_s("1970-01-01T00:00:00Z", 1000) == 0);
  CHECK(parse_moment_s("2000-02-29T23:59:59Z", 1000) == 951868799);
  CHECK(parse_moment_s("9999-12-31T23:59:59Z", 0) == 253402300799);
  const std::string wrong =
      GENERATE(as<std::string>{}, "2001-02-29T00:00:00Z", "2030-13-01T00:00:00Z", "2030-01-31T24:00:00Z",
               "2030-01-31T12:00:00", "2030-01-31 12:00:00Z", "+030-01-31T12:00:00Z", "2030-01-31T12:60:00Z",
               "1969-12-31T23:59:59Z", "2030-00-10T00:00:00Z", "2030-01--1T00:00:00Z");
  CAPTURE(wrong);
  CHECK_FALSE(parse_moment_s(wrong, 1000).has_value());
}

TEST_CASE("a moment's text reads back", "[server][moment]") {
  const std::int64_t moment_s = GENERATE(std::int64_t{0}, std::int64_t{951868799}, std::int64_t{1234567890},
                                         std::int64_t{253402300799});
  CHECK(parse_moment_s(moment_text(moment_s), 5) == moment_s);
}

TEST_CASE("foreign moments of no year are told as numbers", "[server][moment]") {
  CHECK(moment_text(-1) == "-1 (Unix time)");
  CHECK_THAT(moment_text(std::numeric_limits<std::int64_t>::max()), ContainsSubstring("9223372036854775807"));
  CHECK_THAT(moment_text(std::numeric_limits<std::int64_t>::min()),
             ContainsSubstring("-9223372036854775808"));
  CHECK(span_text(0) == "0s");
  CHECK(span_text(59) == "59s");
  CHECK(span_text(3661) == "1h 1m");
  CHECK(span_text(86400 * 400 + 5) == "400d 5s");
}

}  // namespace ashlar::server
