#include "world/bsp/open_rooms.h"

#include "tests/world/bsp/maps.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/collide/visibility_query.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// A hall, a door, a room, and two courts with a low wall of floor between them.
SectorMap hall_and_courts() {
  return row_of_rooms({{0, 128}, {0, 0, 7}, {0, 128}, {-16, 128, 0, 0, true}, {0, 128}, {0, 128, 0, 0, true}},
                      std::vector<Divider>(5));
}

std::shared_ptr<const PlacedMap> placed(bool visibility) {
  PlaceOptions options;
  options.doors_open = false;
  options.doorway = false;
  options.visibility = visibility;
  options.surface_z = 32;
  return must_place(hall_and_courts(), options);
}

DVec3 in_room(const PlacedMap& map, double room) {
  const DVec2 at = map.to_world({(room + 0.5) * room_units, room_depth_units / 2});
  return {at.x, at.y, map.z_to_world(40)};
}

}  // namespace

TEST_CASE("rooms are joined by openings and by the sky, and parted by shut doors", "[world][open_rooms]") {
  const auto map = placed(true);
  std::vector<SectorHeights> heights(map->initial_heights().begin(), map->initial_heights().end());
  OpenRooms rooms;
  rooms.update(*map, heights);
  CHECK(rooms.room(0) != rooms.room(1));
  CHECK(rooms.room(0) != rooms.room(2));
  CHECK(rooms.room(1) != rooms.room(2));
  CHECK(rooms.room(2) == rooms.room(3));
  CHECK(rooms.room(3) == rooms.outdoors());
  CHECK(rooms.room(5) == rooms.outdoors());
  CHECK(rooms.room(4) == rooms.room(3));
  CHECK(rooms.room(0) != rooms.outdoors());

  heights[1].ceiling_m = heights[1].floor_m + 0.01;  // the door begins to rise
  rooms.update(*map, heights);
  CHECK(rooms.room(0) == rooms.room(1));
  CHECK(rooms.room(0) == rooms.room(2));
  CHECK(rooms.room(0) == rooms.outdoors());

  heights[4].floor_m = heights[4].ceiling_m;  // a wall between the courts: they meet in the open air
  rooms.update(*map, heights);
  CHECK(rooms.room(3) == rooms.room(5));
  CHECK(rooms.room(4) != rooms.room(3));

  heights[1].ceiling_m = heights[1].floor_m;
  rooms.update(*map, heights);
  CHECK(rooms.room(0) != rooms.room(2));
}

TEST_CASE("without a visibility set all of a map is one room", "[world][open_rooms]") {
  const auto map = placed(false);
  OpenRooms rooms;
  rooms.update(*map, map->initial_heights());
  for (std::uint32_t s = 0; s < 6; ++s) CHECK(rooms.room(s) == rooms.outdoors());
}

TEST_CASE("a shut door hides what is behind it from a viewer right before it, an open one does not",
          "[world][open_rooms][visibility_query]") {
  const auto map = placed(true);
  std::vector<SectorHeights> heights(map->initial_heights().begin(), map->initial_heights().end());
  const bool open = GENERATE(false, true);
  CAPTURE(open);
  if (open) heights[1].ceiling_m = heights[1].floor_m + 2;
  const MapInSpace in_space{map.get(), heights};
  OpenRooms rooms;
  rooms.update(*map, heights);
  VisibilityQuery eyes;
  const auto sees = [&](double from, double to) {
    eyes.look_from({&in_space, 1}, {&rooms, 1}, in_room(*map, from), 5);  // reaches through the door
    std::vector<SightPlace> places;
    sight_places({&in_space, 1}, in_room(*map, to), 0.3, 1.7, places);
    return std::ranges::any_of(places, [&](SightPlace place) { return eyes.may_see(place); });
  };
  CHECK(sees(0.45, 0));
  CHECK(sees(0.45, 2) == open);
  CHECK(sees(2, 0) == open);
  CHECK(sees(0.45, 3) == open);
  CHECK(sees(2, 3));
  CHECK(sees(3, 5));

  // From the air above the courts one sees the room beside them, and the hall only through the door.
  std::vector<SightPlace> hall, room;
  sight_places({&in_space, 1}, in_room(*map, 0), 0.3, 1.7, hall);
  sight_places({&in_space, 1}, in_room(*map, 2), 0.3, 1.7, room);
  eyes.look_from({&in_space, 1}, {&rooms, 1}, in_room(*map, 3) + DVec3{0, 0, 20}, 1);
  CHECK(std::ranges::any_of(room, [&](SightPlace place) { return eyes.may_see(place); }));
  CHECK(std::ranges::any_of(hall, [&](SightPlace place) { return eyes.may_see(place); }) == open);
}
