#include "world/nav/way_field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/map_plan.h"
#include "world/sim/navigation.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

namespace {

/// The twin: leaves get their distance by relaxing every way in until nothing changes.
std::vector<float> brute_distances(const LeafGraph& graph, const WayRules& rules, DVec2 to,
                                   std::size_t which) {
  constexpr float none = std::numeric_limits<float>::infinity();
  std::vector<float> best(graph.leaf_count(), none);
  best[graph.leaf_at(to)] = 0;
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::uint32_t leaf = 0; leaf < graph.leaf_count(); ++leaf)
      for (std::uint32_t j = graph.first_join(leaf); j < graph.first_join(leaf + 1); ++j) {
        const LeafGraph::Join& join = graph.join(j);
        const std::uint32_t a = graph.sector(leaf), b = graph.sector(join.to);
        if (!join.open(which) || best[join.to] == none) continue;
        if (!join.sends && !way_open(rules, walker_class(which), a, b, graph.beside(j, which))) continue;
        if (best[leaf] <= 1) continue;
        changed = changed || best[leaf] == none;
        best[leaf] = 1;  // reached: that it is, is what is compared
      }
  }
  return best;
}

WayField whole_field(const LeafGraph& graph, const WayRules& rules, DVec2 to, std::size_t which,
                     std::uint32_t leaves_a_call) {
  WayField field(graph.leaf_count(), graph.join_count());
  field.begin(graph, to, which);
  while (!field.whole()) CHECK(field.advance(graph, rules, leaves_a_call) <= leaves_a_call);
  return field;
}

std::vector<std::uint8_t> no_doors(const PlacedMap& map) {
  return std::vector<std::uint8_t>(map.source().sectors.size(), 0);
}

}  // namespace

TEST_CASE("ways lead through rooms, up steps and not up walls", "[world][nav]") {
  // Floors of 0, 24 (a step), 64 (too high), 0 beyond.
  MovingWorld w(row_of_rooms({{0, 200}, {24, 200}, {64, 200}, {0, 200}}, {{}, {}, {}}));
  const LeafGraph graph(*w.map, {});
  const auto doors = no_doors(*w.map);
  const WayRules rules{w.heights[0], w.map.get(), doors};
  const auto middle = [&](int room) {
    return w.map->to_world({room_units * (room + 0.5), room_depth_units / 2});
  };
  const WayField east = whole_field(graph, rules, middle(3), 0, 3);
  // From the high room down is a way, from those below it none.
  CHECK(east.distance_m(graph.leaf_at(middle(2))) > 0);
  CHECK(east.distance_m(graph.leaf_at(middle(1))) < 0);
  CHECK(east.distance_m(graph.leaf_at(middle(0))) < 0);
  const WayField west = whole_field(graph, rules, middle(0), 0, 1000);
  CHECK(west.distance_m(graph.leaf_at(middle(1))) >= 0);
  CHECK(west.distance_m(graph.leaf_at(middle(2))) > west.distance_m(graph.leaf_at(middle(1))));
  CHECK(west.distance_m(graph.leaf_at(middle(3))) < 0);
}

constexpr std::uint16_t manual_door = 1;

TEST_CASE("a shut door is no way but for those who may open it", "[world][nav]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 0}, {0, 128}}, {{manual_door}, {manual_door, 0, true}}));
  const LeafGraph graph(*w.map, {});
  const auto middle = [&](int room) {
    return w.map->to_world({room_units * (room + 0.5), room_depth_units / 2});
  };
  auto doors = no_doors(*w.map);
  const auto reached = [&] {
    const WayRules rules{w.heights[0], w.map.get(), doors};
    return whole_field(graph, rules, middle(2), 0, 7).distance_m(graph.leaf_at(middle(0))) >= 0;
  };
  CHECK_FALSE(reached());
  doors[1] = 1;
  CHECK(reached());
  doors[1] = 0;
  w.heights[0][1].ceiling_m = w.heights[0][1].floor_m + 2;
  CHECK(reached());
}

TEST_CASE("ways are found where a search without order finds them", "[world][nav][property]") {
  Rng rng{77};
  unsigned found = 0, none = 0;
  for (int i = 0; i < cases(40); ++i) {
    std::vector<Room> rooms(8);
    std::vector<Divider> dividers(7);
    for (Room& room : rooms) {
      room.floor = 8.0 * rng.below(6);
      room.ceiling = room.floor + 40 + 8.0 * rng.below(8);
    }
    MovingWorld w(row_of_rooms(rooms, dividers));
    const LeafGraph graph(*w.map, {});
    const auto doors = no_doors(*w.map);
    const WayRules rules{w.heights[0], w.map.get(), doors};
    for (std::size_t which = 0; which < walker_class_count; ++which) {
      DVec2 to;
      to.x = rng.between(1, 8 * room_units - 1);
      to.y = rng.between(1, room_depth_units - 1);
      const DVec2 at = w.map->to_world(to);
      const WayField field = whole_field(graph, rules, at, which, 1 + rng.below(9));
      const std::vector<float> twin = brute_distances(graph, rules, at, which);
      for (std::uint32_t leaf = 0; leaf < graph.leaf_count(); ++leaf) {
        CHECK((field.distance_m(leaf) >= 0) == (twin[leaf] != std::numeric_limits<float>::infinity()));
        ++(field.distance_m(leaf) >= 0 ? found : none);
        // Each way out leads nearer, and in the end there.
        std::uint32_t on = leaf, steps = 0;
        while (field.way_out(on) != no_index && field.distance_m(on) >= 0 && steps++ < graph.leaf_count()) {
          const std::uint32_t next = graph.join(field.way_out(on)).to;
          CHECK(field.distance_m(next) <= field.distance_m(on));
          on = next;
        }
        if (field.distance_m(leaf) >= 0) CHECK(on == field.target_leaf());
      }
    }
  }
  CHECK(found > 100);
  CHECK(none > 20);
}
