#include "server/tools/map_tools.h"
#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"
#include "world/bsp/tree.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a map's picture holds as many lines and leaves as the map", "[server][tools][draw]") {
  const auto check = [](const SectorMap& map) {
    CAPTURE(map.name);
    const BspTree tree = build_bsp(map);
    std::size_t leaves = 0;
    for (const BspTree::Leaf& leaf : tree.leaves) leaves += leaf.sector != no_index ? 1 : 0;
    const std::string svg = server::draw_map_svg(map);
    CHECK(count(svg, "class=\"line ") == map.lines.size());
    CHECK(count(svg, "class=\"leaf\"") == leaves);
    CHECK(count(svg, "class=\"thing\"") == map.things.size());
    CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
  };
  check(obstacle_map());
  if (ashlar::test::slowness > 1) return;
  for (const WadStack& wads : freedoom()) check(must_read(wads, map_names(wads).front()));
}

TEST_CASE("a picture shows what is seen from a point, and nothing where the point is in void",
          "[server][tools][draw]") {
  server::DrawOptions options;
  options.from = DVec2{400, 300};
  CHECK(count(server::draw_map_svg(obstacle_map(), options), "class=\"seen\"") == 1);
  CHECK(count(server::draw_map_svg(obstacle_map(), options), "class=\"eye\"") ==
        2);  // there and in the legend
  CHECK(server::nothing_to_see_from(obstacle_map(), *options.from).empty());
  options.from = DVec2{-50, -50};
  CHECK(count(server::draw_map_svg(obstacle_map(), options), "class=\"seen\"") == 0);
  CHECK_THAT(server::nothing_to_see_from(obstacle_map(), *options.from), ContainsSubstring("beyond the map"));
}

TEST_CASE("a picture explains itself by a legend and a scale", "[server][tools][draw]") {
  const std::string svg = server::draw_map_svg(obstacle_map());
  CHECK(count(svg, "class=\"scale\"") == 1);
  CHECK(count(svg, " m = ") == 1);
  for (const char* label : {">wall<", ">player start<", ">monster<", ">under the sky<", ">floors from "})
    CHECK(count(svg, label) == 1);
  CHECK(count(svg, "seen from") == 0);
}

TEST_CASE("the list of maps has a line a map with its counts", "[server][tools][list]") {
  CHECK(server::list_maps(WadStack{}).text == "no maps\n");
  const auto wads = freedoom();
  if (wads.empty() || ashlar::test::slowness > 1) return;
  const std::string list = server::list_maps(wads[0]).text;
  CHECK(count(list, "\n") == 32);
  CHECK_THAT(list, ContainsSubstring("MAP01    lines"));
}

TEST_CASE("a point is two numbers and a comma", "[server][tools][draw]") {
  CHECK(server::parse_point("100,-20.5") == DVec2{100, -20.5});
  for (const char* bad : {"", "100", "100,", ",5", "1,2,3", "1 ,2", "nan,1", "1e9,0"}) {
    CAPTURE(bad);
    CHECK_FALSE(server::parse_point(bad));
  }
}
