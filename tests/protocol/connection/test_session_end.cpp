#include "protocol/connection/session_end.h"

#include <map>

#include "protocol/secure/connect_token.h"
#include "tests/catch.h"

using namespace ashlar;

namespace {

/// What travels: numbers keep their meaning for good, so this list only grows.
const std::map<int, std::string>& ends_by_number() {
  static const std::map<int, std::string> all{{64, "shutting_down"},
                                              {65, "full"},
                                              {66, "content"},
                                              {67, "banned"},
                                              {68, "bad_name"},
                                              {69, "too_many_from_address"},
                                              {70, "kicked"},
                                              {71, "overload"},
                                              {72, "protocol"},
                                              {73, "bad_hello"},
                                              {74, "replaced"},
                                              {75, "name_taken"},
                                              {76, "away_too_long"},
                                              {96, "token_missing"},
                                              {97, "token_malformed"},
                                              {98, "token_truncated"},
                                              {99, "token_wrong_version"},
                                              {100, "token_bad_signature"},
                                              {101, "token_unknown_issuer"},
                                              {102, "token_expired"},
                                              {103, "token_not_yet"},
                                              {104, "token_other_client"},
                                              {105, "token_other_server"},
                                              {128, "quit"},
                                              {129, "stopped"},
                                              {130, "lacks_content"},
                                              {131, "unknown_terrain"}};
  return all;
}

}  // namespace

TEST_CASE("how a session ends travels under a number of its own, for good", "[protocol][session_end]") {
  for (int number = 0; number < 256; ++number) {
    CAPTURE(number);
    const auto reason = static_cast<CloseReason>(number);
    const auto end = session_end(reason);
    const auto known = ends_by_number().find(number);
    REQUIRE(end.has_value() == (known != ends_by_number().end()));
    if (!end) continue;
    CHECK(close_reason(*end) == reason);
    CHECK(name(*end) == known->second);
    CHECK(end_name(reason) == known->second);
  }
}

TEST_CASE("a reason that is no session's end has a name all the same", "[protocol][session_end]") {
  CHECK(end_name(CloseReason::done) == "done");
  CHECK(end_name(CloseReason::timeout) == "timeout");
  CHECK(end_name(static_cast<CloseReason>(20)) == "unknown");
  CHECK(end_name(static_cast<CloseReason>(255)) == "application");
  CHECK(name(static_cast<SessionEnd>(255)) == "unknown");
}

TEST_CASE("each reason against a connect token has its end, in the same order", "[protocol][session_end]") {
  for (int i = 0; i < 9; ++i) {
    const auto error = static_cast<secure::TokenError>(i);
    const auto end = session_end(static_cast<CloseReason>(97 + i));
    REQUIRE(end.has_value());
    CHECK(name(*end) == "token_" + std::string(name(error)));
  }
}
