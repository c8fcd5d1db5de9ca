#include "tests/world/bsp/maps.h"
#include "world/content/builtin_map.h"
#include "world/content/udmf.h"
#include "world/sim/thing_table.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

const std::string triangle = R"(
namespace = "zdoom"; // a comment
/* and a longer
   one */
Vertex { x = 0; y = 0.5; }
vertex { x = 0x40; y = -12.25e1; unknown = "kept out"; }
vertex { x = 010; y = +64; comment = "a \"quoted\" text; with { signs }"; }
linedef { v1 = 0; v2 = 2; sidefront = 0; blocking = TRUE; special = 12; arg0 = 3; arg1 = -16; id = 7; }
linedef { v1 = 2; v2 = 1; sidefront = 1; }
linedef { v1 = 1; v2 = 0; sidefront = 2; sideback = -1; }
sidedef { sector = 0; texturemiddle = "stone"; } sidedef { sector = 0; } sidedef { sector = 0; }
sector { heightfloor = -8; heightceiling = 64; texturefloor = "a"; textureceiling = "f_sky1"; id = 9; }
thing { x = 1; y = 2; angle = -90; type = 3004; skill3 = true; coop = true; }
somethingelse { why = not; }
)";

std::string refused(std::string_view text) {
  const auto map = parse_udmf(text);
  return map ? "" : map.error().line();
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("UDMF text is read with comments, number forms and defaults", "[world][content][udmf]") {
  const auto map = parse_udmf(triangle);
  if (!map) FAIL(map.error().line());
  CHECK(map->specials == SpecialNumbers::zdoom);
  REQUIRE(map->vertices.size() == 3);
  CHECK(map->vertices[1] == DVec2{64, -122.5});
  CHECK(map->vertices[2] == DVec2{8, 64});
  REQUIRE(map->lines.size() == 3);
  CHECK(map->lines[0].flags == line_flag::blocking);
  CHECK(map->lines[0].special == 12);
  CHECK(map->lines[0].args[1] == -16);
  CHECK(map->lines[0].tag == 7);
  CHECK(map->lines[2].back == no_index);
  CHECK(map->sides[0].middle == texture_name("STONE"));
  CHECK(map->sectors[0].sky());
  CHECK(map->sectors[0].tag == 9);
  CHECK(map->sectors[0].light == 160);
  CHECK(map->things[0].angle_deg == 270);
  CHECK(map->things[0].flags ==
        (thing_flag::medium | thing_flag::multiplayer_only | thing_flag::not_deathmatch));
}

TEST_CASE("a thing of UDMF that names no game is in all of them", "[world][content][udmf]") {
  const auto flags = [](const std::string& games) {
    const auto map = parse_udmf(with(triangle, "coop = true;", games));
    if (!map) FAIL(map.error().line());
    return map->things[0].flags;
  };
  CHECK(flags("") == thing_flag::medium);
  CHECK(flags("single = true; coop = true; dm = true;") == thing_flag::medium);
  CHECK(flags("dm = true;") ==
        (thing_flag::medium | thing_flag::multiplayer_only | thing_flag::not_cooperative));
  CHECK(flags("single = true;") ==
        (thing_flag::medium | thing_flag::not_cooperative | thing_flag::not_deathmatch));
}

TEST_CASE("bad UDMF text is refused with its line and reason", "[world][content][udmf]") {
  CHECK(refused(with(triangle, "sidefront = 1;", "sidefront = 1")) == "TEXTMAP line 9: expected ';'");
  CHECK(refused(with(triangle, "x = 0;", "")) == "TEXTMAP line 5: vertex has no x");
  CHECK(refused(with(triangle, "v1 = 2;", "v1 = 44;")) ==
        "TEXTMAP linedef 1: vertex 44 is not there, the map has 3");
  CHECK(refused(with(triangle, "v1 = 2;", "v1 = -2;")) == "TEXTMAP line 9: linedef v1 -2 is out of range");
  CHECK(refused(with(triangle, "sector = 0", "sector = 1")) ==
        "TEXTMAP sidedef 0: sector 1 is not there, the map has 1");
  CHECK(refused(with(triangle, "0x40", "1e999")) == "TEXTMAP line 6: '1e999' is no number");
  CHECK(refused(with(triangle, "0x40", "-+4")) == "TEXTMAP line 6: '-+4' is no number");
  const std::string two_lines = with(triangle, "\"kept out\"", "\"kept\nout\"");
  CHECK(refused(with(two_lines, "v1 = 2;", "v1 = -2;")) == "TEXTMAP line 10: linedef v1 -2 is out of range");
  const std::string escaped = with(triangle, "\"kept out\"", "\"kept\\\nout\"");
  CHECK(refused(with(escaped, "v1 = 2;", "v1 = -2;")) == "TEXTMAP line 10: linedef v1 -2 is out of range");
  CHECK(refused(with(triangle, "0x40", "70000")) == "TEXTMAP vertex 1: a coordinate beyond 65536 units");
  CHECK_THAT(refused(with(triangle, "zdoom", "hexen")), ContainsSubstring("namespace \"hexen\" is not read"));
  CHECK_THAT(refused(with(triangle, "namespace = \"zdoom\";", "")),
             ContainsSubstring("does not say its namespace"));
  CHECK_THAT(refused(with(triangle, "zdoom", "a\nb\x1b[2J")),
             ContainsSubstring("namespace \"a?b?[2j\" is not read"));
  CHECK_THAT(refused("/* no end"), ContainsSubstring("a comment does not end"));
  CHECK_THAT(refused(""), ContainsSubstring("namespace"));
}

TEST_CASE("UDMF text that is cut off anywhere is refused or a whole map", "[world][content][udmf]") {
  const std::size_t last_block = triangle.find("somethingelse");
  const std::size_t things = triangle.find("thing {");
  for (std::size_t n = 0; n < triangle.size(); ++n) {
    CAPTURE(n);
    const bool whole = parse_udmf(triangle.substr(0, n)).has_value();
    // After the geometry is complete, only a cut inside a block or word is an error.
    if (n < things - 1) REQUIRE_FALSE(whole);
    if (n == last_block || n == triangle.size() - 1) REQUIRE(whole);
  }
}

TEST_CASE("the built-in map compiles, and all its things stand in rooms", "[world][content][builtin]") {
  const auto map = parse_udmf(builtin_map_text());
  if (!map) FAIL(map.error().line());
  const auto placed = must_place(*map);
  int monsters = 0, pickups = 0, starts = 0, deathmatch = 0;
  for (const PlacedThing& thing : placed->things()) {
    CAPTURE(thing.type, thing.position_m.x, thing.position_m.y);
    REQUIRE(thing.sector != no_index);
    const ThingType* type = find_thing_type(thing.type);
    REQUIRE(type != nullptr);
    const Cylinder body = type->role == ThingRole::monster ? traits(type->monster).shape : Cylinder{};
    CHECK_FALSE(map_overlaps(*placed, placed->initial_heights(), body, thing.position_m));
    monsters += type->role == ThingRole::monster ? 1 : 0;
    pickups += type->role == ThingRole::pickup ? 1 : 0;
    starts += type->role == ThingRole::player_start ? 1 : 0;
    deathmatch += type->role == ThingRole::deathmatch_start ? 1 : 0;
  }
  CHECK(monsters == 13);
  CHECK(pickups >= 10);
  CHECK(starts == 4);
  CHECK(deathmatch >= 4);
  CHECK(placed->doorways().size() == 1);
}
