#include "world/nav/way_field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/cases.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/map_plan.h"
#include "world/sim/navigation.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

namespace {

struct TwinWay {
  float distance_m = std::numeric_limits<float>::infinity();
  DVec2 exit_m;
};

/// What it costs to go by a way out, beside its metres: Doors have to open, from drops there may be no way
/// back, lifts have to come and to go.
float extra_cost(const LeafGraph& graph, const WayRules& rules, std::uint32_t leaf,
                 const LeafGraph::Join& join, std::size_t which, std::span<const std::uint32_t> beside) {
  const std::uint32_t from = graph.sector(leaf), to = graph.sector(join.to);
  const std::uint32_t into = join.sends ? graph.sector(join.over_leaf) : to;
  float cost = join.sends ? 1.0f : 0.0f;
  if (from != to && rules.doors[to] != 0) cost += 6;
  if (from != to && rules.heights[from].floor_m - rules.heights[to].floor_m > walker_class(which).step_m)
    cost += 2;
  const bool lift = from != into && (rules.rides(from) || rules.rides(into));
  if (lift && !way_open({rules.heights, rules.map, rules.doors}, walker_class(which), from, into, beside))
    cost += 12;
  return cost;
}

/// The twin: each leaf takes the best of its ways out as the leaves behind them stand, again and again until
/// nothing changes.
std::vector<TwinWay> brute_ways(const LeafGraph& graph, const WayRules& rules, DVec2 to, std::size_t which) {
  std::vector<TwinWay> best(graph.leaf_count());
  const std::uint32_t target = graph.leaf_at(to);
  best[target] = {0, to};
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<TwinWay> before = best;
    for (std::uint32_t leaf = 0; leaf < graph.leaf_count(); ++leaf) {
      if (leaf == target) continue;
      best[leaf] = {};
      for (std::uint32_t j = graph.first_join(leaf); j < graph.first_join(leaf + 1); ++j) {
        const LeafGraph::Join& join = graph.join(j);
        const TwinWay& on = before[join.to];
        if (!join.open(which) || on.distance_m == std::numeric_limits<float>::infinity()) continue;
        const std::uint32_t from = graph.sector(leaf);
        const std::uint32_t into = graph.sector(join.sends ? join.over_leaf : join.to);
        const auto beside = graph.beside(j, which);
        if (from != into && !way_open(rules, walker_class(which), from, into, beside)) continue;
        const DVec2 exit = join.sends ? join.a : join.middle(which);
        const double way_m = length((join.sends ? join.b : exit) - on.exit_m);
        const float far =
            on.distance_m + static_cast<float>(way_m) + extra_cost(graph, rules, leaf, join, which, beside);
        if (far < best[leaf].distance_m) best[leaf] = {far, exit};
      }
      changed = changed || best[leaf].distance_m != before[leaf].distance_m;
    }
  }
  return best;
}

constexpr double cell_units = 128;

/// Square rooms in a square, at random heights, some too low.
SectorMap square_of_rooms(Rng& rng, std::uint32_t side) {
  MapWriter m;
  m.map.name = "SQUARE";
  for (std::uint32_t i = 0; i < side * side; ++i) {
    const double floor = 8.0 * rng.below(7);
    m.sector(floor, floor + 48 + 8.0 * rng.below(8));
  }
  const auto at = [](std::uint32_t x, std::uint32_t y) { return DVec2{x * cell_units, y * cell_units}; };
  for (std::uint32_t y = 0; y < side; ++y)
    for (std::uint32_t x = 0; x < side; ++x) {
      const std::uint32_t own = y * side + x;
      m.line(at(x, y + 1), at(x + 1, y + 1), own, y + 1 < side ? own + side : no_index);
      m.line(at(x + 1, y + 1), at(x + 1, y), own, x + 1 < side ? own + 1 : no_index);
      if (y == 0) m.line(at(x + 1, 0), at(x, 0), own);
      if (x == 0) m.line(at(0, y), at(0, y + 1), own);
    }
  return m.map;
}

/// A line between two rooms sends who crosses it eastwards to the middle of another room.
Sending random_sending(const PlacedMap& map, Rng& rng, std::uint32_t side) {
  const double x = rng.below(side - 1) + 1, y = rng.below(side);
  DVec2 to;
  to.x = (rng.below(side) + 0.5) * cell_units;
  to.y = (rng.below(side) + 0.5) * cell_units;
  const DVec2 a{x * cell_units, (y + 1) * cell_units}, b{x * cell_units, y * cell_units};
  const DVec2 middle = (a + b) * 0.5;
  return {map.to_world(middle - DVec2{1.6, 0}), map.to_world(middle + DVec2{24, 0}), map.to_world(to),
          map.to_world(a), map.to_world(b)};
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

TEST_CASE("ways are as long as those that a search without order finds", "[world][nav][property]") {
  Rng rng{77};
  unsigned found = 0, none = 0, by_lift = 0, sent = 0;
  constexpr std::uint32_t side = 5;
  for (int i = 0; i < cases(30); ++i) {
    MovingWorld w(square_of_rooms(rng, side));
    std::vector<Sending> sendings;
    for (int k = 0; k < 3; ++k) sendings.push_back(random_sending(*w.map, rng, side));
    const LeafGraph graph(*w.map, sendings);
    std::vector<std::uint8_t> doors(side * side);
    std::vector<FloorRange> lifts(side * side);
    for (std::uint32_t s = 0; s < side * side; ++s) {
      doors[s] = rng.below(8) == 0 ? 1 : 0;
      const double floor_m = w.heights[0][s].floor_m, top_m = floor_m + rng.between(0.5, 2.0);
      if (rng.below(6) == 0) lifts[s] = {floor_m, top_m};
    }
    const WayRules rules{w.heights[0], w.map.get(), doors, lifts};
    const WayRules unmoved{w.heights[0], w.map.get(), doors};
    for (const std::size_t which : {0u, 2u, 8u}) {
      DVec2 to;
      to.x = rng.between(1, side * cell_units - 1);
      to.y = rng.between(1, side * cell_units - 1);
      const DVec2 at = w.map->to_world(to);
      const WayField field = whole_field(graph, rules, at, which, 1 + rng.below(9));
      const WayField walked = whole_field(graph, unmoved, at, which, 1000);
      const std::vector<TwinWay> twin = brute_ways(graph, rules, at, which);
      for (std::uint32_t leaf = 0; leaf < graph.leaf_count(); ++leaf) {
        CAPTURE(i, which, leaf);
        const bool known = field.distance_m(leaf) >= 0;
        CHECK(known == (twin[leaf].distance_m != std::numeric_limits<float>::infinity()));
        ++(known ? found : none);
        if (!known) continue;
        CHECK(field.distance_m(leaf) == Approx(twin[leaf].distance_m).margin(0.01));
        by_lift += walked.distance_m(leaf) != field.distance_m(leaf) ? 1 : 0;
        // Each way out leads nearer, and in the end there.
        std::uint32_t on = leaf, steps = 0;
        while (field.way_out(on) != no_index && steps++ < graph.leaf_count()) {
          const LeafGraph::Join& join = graph.join(field.way_out(on));
          sent += join.sends ? 1 : 0;
          CHECK(field.distance_m(join.to) <= field.distance_m(on));
          on = join.to;
        }
        CHECK(on == field.target_leaf());
      }
    }
  }
  CHECK(found > 1000);
  CHECK(none > 20);
  CHECK(by_lift > 40);
  CHECK(sent > 20);
}
