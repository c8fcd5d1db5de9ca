#include "server/config/zone.h"

#include "tests/catch.h"

namespace ashlar::server {

TEST_CASE("a zone is told by two of its corner blocks, in any order", "[server][config][zone]") {
  const auto zone = parse_zone("8,-8,40,-8,8,0=the spawn");
  REQUIRE(zone.has_value());
  CHECK(zone->box == BlockBox{{-8, -8, 0}, {9, 9, 41}});
  CHECK(zone->name == "the spawn");
  CHECK(to_text(*zone) == "-8,-8,0,8,8,40=the spawn");
  CHECK(*parse_zone(to_text(*zone)) == *zone);
  CHECK(parse_zone("1,2,3,1,2,3")->box == BlockBox{{1, 2, 3}, {2, 3, 4}});
  CHECK(to_text(*parse_zone("1,2,3,1,2,3")) == "1,2,3,1,2,3");
}

TEST_CASE("what is no zone is refused with what one looks like", "[server][config][zone]") {
  for (const char* wrong :
       {"", "=spawn", "1,2,3", "1,2,3,4,5", "1,2,3,4,5,6,7", "1,2,3,4,5,x", "1,2,3,4,5,6 ", "1;2;3;4;5;6",
        "1.5,2,3,4,5,6", "99999999999,2,3,4,5,6", "1048576,0,0,0,0,0", "0,0,4096,0,0,0", "0,0,-4097,0,0,0",
        "1,2,3,4,5,6=a name of more than thirty-two bytes", "1,2,3,4,5,6=line\nbreak"}) {
    CAPTURE(wrong);
    const auto zone = parse_zone(wrong);
    REQUIRE_FALSE(zone.has_value());
    CHECK_THAT(zone.error(), ContainsSubstring("X0,Y0,Z0,X1,Y1,Z1"));
  }
}

}  // namespace ashlar::server
