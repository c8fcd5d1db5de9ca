#include "server/tools/draw_terrain.h"

#include "tests/catch.h"
#include "tests/slowness.h"

using namespace ashlar;
using namespace ashlar::server;

TEST_CASE("the place of a picture of the ground is read with its bounds", "[server][tools][draw]") {
  const auto view = parse_terrain_view("-12,40,300");
  REQUIRE(view.has_value());
  CHECK(view->x == -12);
  CHECK(view->y == 40);
  CHECK(view->radius == 300);
  for (const char* bad :
       {"", "1", "1,2", "1,2,", "1,2,3,4", "1,2,64 ", "1;2;64", "a,2,64", "1,2,15", "1,2,16385",
        "1040000,0,64", "0,-1040000,64", "99999999999,0,64", "0,0,64.5", "nan,0,64"}) {
    CAPTURE(bad);
    const auto wrong = parse_terrain_view(bad);
    REQUIRE_FALSE(wrong.has_value());
    CHECK(wrong.error().find("give X,Y,R") != std::string::npos);
  }
}

TEST_CASE("a picture of the ground shows it from above and cut", "[server][tools][draw]") {
  Terrain terrain;
  terrain.seed = 1;
  for (const std::int32_t radius : {32, 700})
    for (std::uint8_t kind = 0; kind < terrain_kind_count; ++kind) {
      if (radius == 700 && kind % ashlar::test::slowness != 0) continue;
      terrain.kind = static_cast<TerrainKind>(kind);
      CAPTURE(radius, name(terrain.kind));
      const Picture picture = draw_terrain(terrain, {0, 0, radius, false});
      CHECK(picture.width == (radius == 32 ? 64 : 700));
      const auto cut = static_cast<std::int32_t>(column_span(terrain.kind).count()) * chunk_size;
      CHECK(picture.height == picture.width + 4 + cut);
      CHECK(picture.pixels.size() == static_cast<std::size_t>(picture.width * picture.height));
      const auto png = png_of(picture);
      REQUIRE(png.size() > 100);
      CHECK(png[0] == 0x89);
      CHECK(std::string(png.begin() + 1, png.begin() + 4) == "PNG");
      const std::string svg = svg_of(picture, terrain, {0, 0, radius, false});
      CHECK(svg.starts_with("<svg "));
      CHECK(svg.ends_with("</svg>\n"));
      CHECK(svg.find("data:image/png;base64,iVBORw0KGgo") != std::string::npos);
      CHECK(svg.find(std::string(name(terrain.kind)) + " of seed 1") != std::string::npos);
    }
}

TEST_CASE("ores are seen in the cut when they are asked for", "[server][tools][draw]") {
  Terrain terrain;
  terrain.kind = TerrainKind::hills;
  const auto pixels = [&](bool ores) { return draw_terrain(terrain, {0, 0, 64, ores}).pixels; };
  const auto a = pixels(false), b = pixels(true);
  REQUIRE(a.size() == b.size());
  std::size_t other = 0;
  for (std::size_t i = 0; i < a.size(); ++i) other += a[i].red != b[i].red || a[i].blue != b[i].blue;
  CHECK(other > 20);
}
