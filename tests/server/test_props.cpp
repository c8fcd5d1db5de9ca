#include "server/props.h"

#include "protocol/recorded_world.h"
#include "server/host/welcome_content.h"
#include "server/setup.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "world/sim/world.h"

namespace ashlar::server {

using ashlar::testing::TemporaryFolder;

namespace {

/// A cube of one metre around its place, its feet at height 0, y up.
const char* const cube_obj =
    "v -0.5 0 -0.5\nv 0.5 0 -0.5\nv -0.5 1 -0.5\nv 0.5 1 -0.5\n"
    "v -0.5 0 0.5\nv 0.5 0 0.5\nv -0.5 1 0.5\nv 0.5 1 0.5\n"
    "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";

Config bare(std::vector<PropRequest> props) {
  Config config;
  config.maps = {{"none", {}}};
  config.monsters = 0;
  config.props = std::move(props);
  return config;
}

std::string error_of(const std::string& text) {
  const auto prop = parse_prop_request(text);
  return prop ? "no error" : prop.error();
}

}  // namespace

TEST_CASE("prop requests name a file, a place and what else is wanted", "[server][props]") {
  const auto prop = parse_prop_request("art/a@b.obj@1.5,-2,,90,0.5,z");
  REQUIRE(prop);
  CHECK(prop->file == "art/a@b.obj");
  CHECK(prop->at_m == DVec2{1.5, -2});
  CHECK_FALSE(prop->z_m);
  CHECK(prop->yaw_deg == 90);
  CHECK(prop->scale == 0.5);
  CHECK(prop->up == ModelUp::z);
  for (const char* text : {"art/a@b.obj@1.5,-2,,90,0.5,z", "a.obj@0,0", "a.obj@0,0,7.25", "a.obj@1,2,,,3"}) {
    CHECK(to_text(*parse_prop_request(text)) == text);
    CHECK(parse_prop_request(to_text(*parse_prop_request(text))) == parse_prop_request(text));
  }
  CHECK(turn_of_degrees(90) == Turn16{16384});
  CHECK(turn_of_degrees(-90) == Turn16{49152});
  CHECK(turn_of_degrees(360) == Turn16{0});

  CHECK_THAT(error_of("crate.obj"), ContainsSubstring("no place"));
  CHECK_THAT(error_of("@1,2"), ContainsSubstring("names no file"));
  CHECK_THAT(error_of("art/@1,2"), ContainsSubstring("names no file"));
  CHECK_THAT(error_of("a@1"), ContainsSubstring("no X,Y"));
  CHECK_THAT(error_of("a@1,,3"), ContainsSubstring("no X,Y"));
  CHECK_THAT(error_of("a@1,nan"), ContainsSubstring("wrong y"));
  CHECK_THAT(error_of("a@1,2,1e9"), ContainsSubstring("wrong z"));
  CHECK_THAT(error_of("a@1,2,3,400"), ContainsSubstring("wrong yaw"));
  CHECK_THAT(error_of("a@1,2,3,4,0"), ContainsSubstring("wrong scale"));
  CHECK_THAT(error_of("a@1,2,3,4,5,x"), ContainsSubstring("neither y nor z"));
  CHECK_THAT(error_of("a@1,2,3,4,5,y,7"), ContainsSubstring("more than six"));
  CHECK_THAT(error_of(std::string(60, 'n') + "@1,2"), ContainsSubstring("longer than 48"));
}

TEST_CASE("a prop stands on the ground, is part of the world's hash, and bodies stand on it",
          "[server][props]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("cube.obj", cube_obj);
  const auto with = prepare_setup(bare({{file, {4.5, 4.5}, {}, 0, 2, ModelUp::y}}), {});
  REQUIRE(with);
  REQUIRE(with->setup.props.size() == 1);
  REQUIRE(with->props.size() == 1);
  const Prop& prop = *with->setup.props[0];
  CHECK(prop.name() == "cube.obj");
  const double ground = surface_height(Terrain{with->setup.seed, {}, with->setup.terrain}, 4, 4);
  CHECK(with->props[0].z_m == ground);
  CHECK(prop.bounds().min == DVec3{3.5, 3.5, ground});
  CHECK(prop.bounds().max == DVec3{5.5, 5.5, ground + 2});

  // The settled request makes the same prop again, as a kept world does.
  const auto again = prepare_setup(bare(with->props), {});
  REQUIRE(again);
  CHECK(again->setup.props[0]->content_hash() == prop.content_hash());

  World world(with->setup);
  const auto without = prepare_setup(bare({}), {});
  CHECK(World(without->setup).hash() != world.hash());
  const Cylinder body{0.3, 1.75};
  CHECK(space_overlaps(world.space(), body, {4.5, 4.5, ground + 1}));
  CHECK(space_ground_below(world.space(), {4.5, 4.5}, 0.3, ground + 3, 3) == ground + 2);
  const RecordingHeader header = recording_header(world, "test");
  REQUIRE(header.props.size() == 1);
  CHECK(header.props[0].content_hash == prop.content_hash());
  CHECK(header.props[0].place == prop.at());
}

TEST_CASE("bad props are named in one line", "[server][props]") {
  const TemporaryFolder folder;
  const auto why = [](const PropRequest& request) {
    const auto prepared = prepare_setup(bare({request}), {});
    const std::string line = prepared ? "no error" : prepared.error();
    CHECK(line.find('\n') == std::string::npos);
    return line;
  };
  const std::string cube = folder.write("cube.obj", cube_obj);
  CHECK_THAT(why({folder.path("absent.obj"), {0, 0}, {}}),
             ContainsSubstring("absent.obj") && ContainsSubstring("--prop"));
  CHECK_THAT(why({folder.path(""), {0, 0}, {}}), ContainsSubstring("folder"));
  CHECK_THAT(why({folder.write("text.obj", "hello\n"), {0, 0}, {}}), ContainsSubstring("not a model"));
  CHECK_THAT(why({folder.write("cut.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n"), {0, 0}, {}}),
             ContainsSubstring("cut.obj"));
  CHECK_THAT(why({cube, {0, 0}, {}, 0, 100}), ContainsSubstring("larger than 64 m"));

  // As many as a welcome names, with long names.
  std::vector<PropRequest> many;
  for (std::size_t i = 0; i < 60; ++i) {
    const std::string name = std::string(38, 'a') + std::to_string(10 + i) + ".obj";
    many.push_back({folder.write(name, cube_obj), {static_cast<double>(2 * i), 0}, {}});
  }
  const auto prepared = prepare_setup(bare(many), {});
  REQUIRE(prepared);
  CHECK(check_welcome(prepared->setup).has_value());
  WorldSetup crowded = prepared->setup;
  while (crowded.props.size() <= placed_props_max) crowded.props.push_back(crowded.props.front());
  const auto fits = check_welcome(crowded);
  REQUIRE_FALSE(fits);
  CHECK_THAT(fits.error(), ContainsSubstring("257 props") && ContainsSubstring("256"));
}

}  // namespace ashlar::server
