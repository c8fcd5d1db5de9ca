#include "server/net/file_limit.h"

#include <sys/resource.h>

#include "tests/catch.h"

using namespace ashlar::server;

TEST_CASE("the soft limit of open files goes up as far as is wanted and allowed, and never down",
          "[server][file_limit]") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit low = before;
  low.rlim_cur = 40;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  FileLimit limit = raise_file_limit(100);
  CHECK(limit.wanted > 100);
  CHECK(limit.enough() == (before.rlim_max >= limit.wanted));
  const std::uint64_t allowed = limit.allowed;
  CHECK(raise_file_limit(1).allowed == allowed);
  limit = raise_file_limit(std::uint64_t{1} << 62);
  CHECK_FALSE(limit.enough());
  CHECK(limit.allowed >= allowed);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
}
