#include "protocol/recorded_world.h"

#include "tests/catch.h"
#include "tests/protocol/rules.h"
#include "tests/world/bsp/maps.h"
#include "world/collide/prop.h"

using namespace ashlar;

namespace {

std::shared_ptr<const PlacedMap> map_at(const PlaceOptions& options) {
  return testing::must_place(testing::builtin_map(), options);
}

PropModel wedge() {
  PropModel model;
  model.name = "wedge.obj";
  model.up = ModelUp::z;
  model.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  model.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  return model;
}

WorldSetup full_setup() {
  WorldSetup setup;
  setup.seed = 77;
  setup.rules = testing::other_rules();
  setup.players_max = 9, setup.monsters_max = 30, setup.monsters = 12;
  setup.spawn = {{-30, 12}, 20};
  PlaceOptions here, there;
  here.surface_z = 24;
  here.doors_open = false;
  there.origin_block = {200, -90};
  there.surface_z = 21;
  there.doorway = false;
  there.name = "BESIDE";
  setup.maps = {map_at(here), map_at(there)};
  for (const double x : {-8.0, -20.5}) {
    const auto prop = Prop::place(wedge(), {{x, 3, 25}, Turn16{1234}, 1.5});
    REQUIRE(prop.has_value());
    setup.props.push_back(*prop);
  }
  return setup;
}

/// All of a header, as the file holds it.
std::vector<std::uint8_t> file_of(const RecordingHeader& header) {
  RecordingWriter writer(header);
  std::vector<std::uint8_t> bytes;
  writer.take(bytes);
  return bytes;
}

MapSource maps() {
  return [](const RecordedMap& wanted) { return map_at(place_of(wanted)); };
}

PropSource props() {
  return [](const RecordedProp& wanted) { return Prop::place(wedge(), wanted.place); };
}

}  // namespace

TEST_CASE("a world is rebuilt from the header of its recording", "[protocol][recorded_world]") {
  const World world(full_setup());
  const auto bytes = file_of(recording_header(world, "test"));
  const auto reader = RecordingReader::open(bytes);
  REQUIRE(reader.has_value());
  const auto again = world_of(reader->header(), maps(), {}, props());
  if (!again) FAIL(again.error());
  CHECK((*again)->hash() == world.hash());
  CHECK((*again)->setup().spawn == world.setup().spawn);
  CHECK(file_of(recording_header(**again, "test")) == bytes);
}

TEST_CASE("a world whose maps or props are not to be had is refused in one line",
          "[protocol][recorded_world]") {
  const RecordingHeader header = recording_header(World(full_setup()), "test");
  const auto why = [&](const RecordingHeader& wanted, const PropSource& source) {
    const auto world = world_of(wanted, maps(), {}, source);
    const std::string line = world ? "no error" : world.error();
    CHECK(line.find('\n') == std::string::npos);
    return line;
  };
  CHECK(why(header, props()) == "no error");
  CHECK_THAT(why(header, {}), ContainsSubstring("wedge.obj") && ContainsSubstring("--prop"));
  RecordingHeader other = header;
  other.props[1].content_hash ^= 1;
  CHECK_THAT(why(other, props()), ContainsSubstring("wedge.obj") && ContainsSubstring("content differs"));
  other = header;
  other.maps[1].surface_z += 1;
  CHECK_THAT(why(other, props()), ContainsSubstring("BESIDE") && ContainsSubstring("content differs"));
}
