#include "client_sim/explore/explorer.h"

#include "tests/catch.h"
#include "tests/client_sim/explore/explore_run.h"
#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/reach.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// A room of 256 units beside which something has to be got over to reach the next one, east of it.
struct TwoRooms {
  MapWriter w;
  std::uint32_t near, far;

  explicit TwoRooms(double far_floor) : near(w.sector(0, 256)), far(w.sector(far_floor, far_floor + 128)) {
    w.map.name = "TWOROOMS";
    w.line({0, 256}, {256, 256}, near);
    w.line({256, 0}, {0, 0}, near);
    w.line({0, 0}, {0, 256}, near);
    w.line({256, 256}, {256, 160}, near);
    w.line({256, 96}, {256, 0}, near);
    w.map.things.push_back({64, 128, 0, 1, 7});
  }
  /// The far room's walls, from x on, with its west side open between y 96 and 160.
  void far_room(double x) {
    w.line({x, 256}, {x + 256, 256}, far);
    w.line({x + 256, 256}, {x + 256, 0}, far);
    w.line({x + 256, 0}, {x, 0}, far);
    w.line({x, 0}, {x, 96}, far);
    w.line({x, 160}, {x, 256}, far);
  }
  /// A sector between the rooms, over the width of the opening.
  std::uint32_t between(double floor, double ceiling, double x) {
    const std::uint32_t s = w.sector(floor, ceiling);
    w.line({256, 160}, {x, 160}, s);
    w.line({x, 96}, {256, 96}, s);
    return s;
  }
  /// The same, and nothing but that between the rooms.
  void part(double floor, double ceiling, double x) {
    const std::uint32_t s = between(floor, ceiling, x);
    w.line({256, 160}, {256, 96}, near, s);
    w.line({x, 96}, {x, 160}, far, s);
    far_room(x);
  }
};

PlaceOptions closed() {
  PlaceOptions options;
  options.doors_open = false;
  options.doorway = false;
  return options;
}

ExploreOutcome explore_all(const SectorMap& map, double seconds_max, std::uint32_t explorers = 1,
                           std::uint16_t tick_rate_hz = 60) {
  ExploreRun run;
  run.explorers = explorers;
  run.seconds_max = seconds_max;
  run.tick_rate_hz = tick_rate_hz;
  run.enough = [](const client_sim::Expedition& e) { return e.entered_count() == e.plan().sector_count(); };
  return explore(must_place(map, closed()), run);
}

bool all_entered(const ExploreOutcome& out) {
  return std::ranges::all_of(out.entered, [](std::uint8_t e) { return e != 0; });
}

}  // namespace

TEST_CASE("an explorer uses a door and goes through before it closes", "[client_sim][explore]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(20, 60, 128));
  CAPTURE(rate);
  TwoRooms rooms(0);
  const auto door = rooms.between(0, 0, 272);
  auto& face = rooms.w.line({256, 160}, {256, 96}, rooms.near, door);
  face.special = 1;
  auto& back = rooms.w.line({272, 96}, {272, 160}, rooms.far, door);
  back.special = 1;
  rooms.far_room(272);
  const ExploreOutcome out = explore_all(rooms.w.map, 20, 1, rate);
  CHECK(all_entered(out));
  CHECK(out.stuck + out.lost + out.out == 0);
}

TEST_CASE("an explorer calls a lift, rides it and steps off", "[client_sim][explore]") {
  TwoRooms rooms(160);
  const auto lift = rooms.between(160, 288, 352);
  rooms.w.map.sectors[lift].tag = 7;
  auto& face = rooms.w.line({256, 160}, {256, 96}, rooms.near, lift);
  face.special = 62;
  face.tag = 7;
  rooms.w.line({352, 96}, {352, 160}, rooms.far, lift);
  rooms.far_room(352);
  const ExploreOutcome out = explore_all(rooms.w.map, 30);
  CHECK(all_entered(out));
  CHECK(out.stuck + out.lost + out.out == 0);
}

TEST_CASE("an explorer jumps onto a ledge that is too high for a step", "[client_sim][explore]") {
  TwoRooms rooms(34);
  rooms.part(34, 256, 320);
  CHECK(all_entered(explore_all(rooms.w.map, 20)));
}

TEST_CASE("explorers run and jump over a pit, all but the one who looks what is in it",
          "[client_sim][explore]") {
  TwoRooms rooms(0);
  rooms.part(-200, 256, 320);
  CHECK(all_entered(explore_all(rooms.w.map, 30, 2)));
}

TEST_CASE("an explorer runs off an edge where the ceiling leaves no room for a jump",
          "[client_sim][explore]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(20, 60, 128));
  CAPTURE(rate);
  TwoRooms rooms(-16);
  rooms.w.map.sectors[rooms.near].ceiling = 64;
  rooms.w.map.sectors[rooms.far].ceiling = 56;
  rooms.part(-200, 64, 296);
  const ExploreOutcome out = explore_all(rooms.w.map, 30, 2, rate);
  CHECK(out.entered[rooms.far] != 0);
  CHECK(out.stuck + out.lost + out.out == 0);
}

TEST_CASE("an explorer leaves a pit without a way out for last", "[client_sim][explore]") {
  TwoRooms rooms(0);
  rooms.part(0, 128, 272);
  // One metre from the start, and the far room is seven.
  const auto pit = rooms.w.sector(-200, 256);
  rooms.w.ring({{16, 144}, {16, 224}, {96, 224}, {96, 144}}, pit, rooms.near);
  rooms.w.map.things.push_back({20, 128, 0, 1, 7});
  const ExploreOutcome out = explore_all(rooms.w.map, 30);
  CHECK(all_entered(out));
}

TEST_CASE("explorers plan their ways now and then, and not again at every step", "[client_sim][explore]") {
  // MAP12 has steps round a corner whose upper end is nearer to who stands below than the lower one.
  for (const WadStack& wads : freedoom()) {
    if (wads.files[0].name() != "freedoom2.wad") continue;
    ExploreRun run;
    run.seconds_max = 240 / (test::slowness > 1 ? 4 : 1);
    run.seed = 5;
    const ExploreOutcome out = explore(must_place(must_read(wads, "MAP12"), closed()), run);
    CHECK(out.explorers.routes < 1.2 * run.seconds_max * run.explorers);
  }
}

TEST_CASE("explorers who meet in a corridor that fits one all come through", "[client_sim][explore]") {
  TwoRooms rooms(0);
  const auto corridor = rooms.w.sector(0, 72);
  rooms.w.line({256, 160}, {256, 144}, rooms.near);
  rooms.w.line({256, 112}, {256, 96}, rooms.near);
  rooms.w.line({256, 144}, {768, 144}, corridor);
  rooms.w.line({768, 112}, {256, 112}, corridor);
  rooms.w.line({256, 144}, {256, 112}, rooms.near, corridor);
  rooms.w.line({768, 112}, {768, 144}, rooms.far, corridor);
  rooms.w.line({768, 96}, {768, 112}, rooms.far);
  rooms.w.line({768, 144}, {768, 160}, rooms.far);
  rooms.far_room(768);
  // Everybody fetches the blue key from the far end, and the red one from a box in the near room that the
  // blue one opens: the first come back while the last set out.
  rooms.w.map.things.push_back({960, 40, 0, 5, 7});
  const auto box = rooms.w.sector(0, 0);
  const std::size_t first = rooms.w.map.lines.size();
  rooms.w.ring({{100, 176}, {164, 176}, {164, 240}, {100, 240}}, rooms.near, box);
  for (std::size_t l = first; l < rooms.w.map.lines.size(); ++l) rooms.w.map.lines[l].special = 26;
  rooms.w.map.things.push_back({132, 208, 0, 13, 7});
  ExploreRun run;
  run.explorers = 4;
  run.seconds_max = 60;
  std::uint8_t keys = 0;
  run.watch = [&](double, const client_sim::Expedition&, const std::vector<client_sim::Explorer>& all,
                  const World&) {
    keys = key::all;
    for (const client_sim::Explorer& x : all) keys = static_cast<std::uint8_t>(keys & x.keys());
  };
  run.enough = [&](const client_sim::Expedition&) { return keys == (key::blue | key::red); };
  const ExploreOutcome out = explore(must_place(rooms.w.map, closed()), run);
  CHECK(keys == (key::blue | key::red));
  CHECK(all_entered(out));
  CHECK(out.seconds < 60);
}

TEST_CASE("an explorer fetches the key before it opens what the key locks", "[client_sim][explore]") {
  TwoRooms rooms(0);
  const auto door = rooms.between(0, 0, 272);
  rooms.w.line({256, 160}, {256, 96}, rooms.near, door).special = 26;  // blue
  rooms.w.line({272, 96}, {272, 160}, rooms.far, door).special = 26;
  rooms.far_room(272);
  const bool with_key = GENERATE(true, false);
  CAPTURE(with_key);
  if (with_key) rooms.w.map.things.push_back({40, 220, 0, 5, 7});
  const ExploreOutcome out = explore_all(rooms.w.map, 30);
  CHECK(all_entered(out) == with_key);
}

TEST_CASE("an explorer comes through a door whose line another one is after", "[client_sim][explore]") {
  TwoRooms rooms(0);
  const auto door = rooms.between(0, 0, 272);
  const std::size_t line = rooms.w.map.lines.size();
  rooms.w.line({256, 160}, {256, 96}, rooms.near, door).special = 1;
  rooms.w.line({272, 96}, {272, 160}, rooms.far, door).special = 1;
  rooms.far_room(272);
  const auto placed = must_place(rooms.w.map, closed());
  client_sim::Expedition expedition(placed, Rules{});
  client_sim::Router router;
  const DVec2 at = placed->to_world({200, 128});
  const client_sim::ExploreGoal goal{client_sim::ExploreGoal::Kind::line, static_cast<std::uint32_t>(line)};
  expedition.take(goal, 1, 40);
  const std::uint32_t lines[] = {goal.what};
  client_sim::RouteWish wish;
  wish.from = expedition.grid().cell_at(at);
  wish.only = lines;
  const auto found = router.find(expedition, wish);
  REQUIRE(found);
  CHECK(found->goal == goal);
}

TEST_CASE("what nobody got to move is no way for a while, longer each time, or until it moves",
          "[client_sim][explore]") {
  TwoRooms rooms(0);
  const auto door = rooms.between(0, 0, 272);
  rooms.w.line({256, 160}, {256, 96}, rooms.near, door).special = 1;
  rooms.w.line({272, 96}, {272, 160}, rooms.far, door).special = 1;
  rooms.far_room(272);
  const auto placed = must_place(rooms.w.map, closed());
  client_sim::Expedition expedition(placed, Rules{});
  std::vector<SectorHeights> heights(placed->initial_heights().begin(), placed->initial_heights().end());
  const auto pause_s = [&](double from_s) {
    expedition.observe(from_s, heights);
    expedition.block(door);
    double now_s = from_s;
    for (; expedition.blocked(door); now_s += 0.5) expedition.observe(now_s, heights);
    return now_s - from_s;
  };
  const double first_s = pause_s(10);
  CHECK(pause_s(100) > 1.5 * first_s);
  expedition.observe(200, heights);
  expedition.block(door);
  REQUIRE(expedition.blocked(door));
  heights[door].ceiling_m += 1;
  expedition.observe(200.1, heights);
  CHECK_FALSE(expedition.blocked(door));
}

TEST_CASE("nobody goes to where standing room is a jump's rise up and no room for the jump is over it",
          "[client_sim][explore]") {
  const Rules rules;
  client_sim::StandHeights low, ledge;
  low.ceiling_m = low.high_ceiling_m = 4;
  ledge.floor_m = ledge.low_floor_m = ledge.high_floor_m = 1;
  ledge.ceiling_m = ledge.high_ceiling_m = 1 + rules.player.height_m;
  CHECK(client_sim::passage(low, ledge, rules) == client_sim::Passage::no);
  ledge.ceiling_m = ledge.high_ceiling_m = 4;
  CHECK(client_sim::passage(low, ledge, rules) == client_sim::Passage::jump);
  // A lift that was seen below brings it up there.
  ledge.ceiling_m = ledge.high_ceiling_m = 1 + rules.player.height_m;
  low.high_floor_m = 0.5;
  CHECK(client_sim::passage(low, ledge, rules) == client_sim::Passage::later);
}

TEST_CASE("explorers ride a lift from under a low lintel, nobody half on it", "[client_sim][explore]") {
  TwoRooms rooms(160);
  const auto lift = rooms.between(160, 288, 352);
  rooms.w.map.sectors[lift].tag = 7;
  auto& face = rooms.w.line({256, 160}, {256, 96}, rooms.near, lift);
  face.special = 62;
  face.tag = 7;
  rooms.w.line({352, 96}, {352, 160}, rooms.far, lift);
  rooms.far_room(352);
  // A low lintel before the lift: whoever stands half under it holds up the lift.
  rooms.w.map.sectors[rooms.near].ceiling = 72;
  const ExploreOutcome out = explore_all(rooms.w.map, 60, 4);
  CHECK(all_entered(out));
  CHECK(out.stuck + out.lost + out.out == 0);
}

TEST_CASE("an explorer leaps over a line that is set off by walking", "[client_sim][explore]") {
  TwoRooms rooms(24);
  // Deeper than a step from the far side, and no more than a step from this one.
  const auto pit = rooms.between(-24, 256, 304);
  rooms.w.line({256, 160}, {256, 96}, rooms.near, pit);
  auto& edge = rooms.w.line({304, 96}, {304, 160}, rooms.far, pit);
  edge.special = 38;  // once, lowers what carries its tag: nothing
  edge.tag = 9;
  rooms.far_room(304);
  const ExploreOutcome out = explore_all(rooms.w.map, 30);
  CHECK(all_entered(out));
}

TEST_CASE("explorers keep off the lines of an exit, whatever lies behind them", "[client_sim][explore]") {
  // A pad in the middle of the way. Where its edges lie among the cells is not to matter.
  const double edge = 96 + GENERATE(range(0, 8));
  CAPTURE(edge);
  TwoRooms rooms(0);
  const auto pad = rooms.w.sector(0, 256);
  const DVec2 corners[] = {{edge, edge}, {edge, edge + 60}, {edge + 60, edge + 60}, {edge + 60, edge}};
  for (std::size_t i = 0; i < 4; ++i)
    rooms.w.line(corners[(i + 1) % 4], corners[i], rooms.near, pad).special = 52;
  rooms.w.line({256, 160}, {256, 96}, rooms.near, rooms.far);
  rooms.far_room(256);
  const ExploreOutcome out = explore_all(rooms.w.map, 20, 4);
  CHECK(out.entered[rooms.far] != 0);
  CHECK(out.exits == 0);
}

TEST_CASE("a slit that a body leans over from either rim is leapt over", "[client_sim][explore]") {
  // 16 units are less than a body's width, 24 are more: between the rims nothing carries it.
  const double width = GENERATE(16, 22, 24, 28);
  CAPTURE(width);
  TwoRooms rooms(0);
  rooms.part(-256, 256, 256 + width);
  const ExploreOutcome out = explore_all(rooms.w.map, 20, 4);
  CHECK(out.entered[rooms.far] != 0);
  CHECK(out.stuck + out.lost + out.out == 0);
}

TEST_CASE("explorers enter nine tenths of what can be reached on foot on Freedoom's first maps",
          "[client_sim][explore][statistics]") {
  for (const WadStack& wads : freedoom()) {
    if (wads.files[0].name() != "freedoom2.wad") continue;
    const auto placed = must_place(must_read(wads, "MAP01"), closed());
    ReachRules rules;
    rules.jump_m = 1.15;
    const Reach reach = Flood(MapPlan(placed), rules).run(player_start(*placed, 1).value_or(DVec3{}));
    const std::vector<double> areas = sector_areas(*placed);
    const auto share = [&](const auto& entered) {
      int n = 0, all = 0;
      for (std::uint32_t s = 0; s < areas.size(); ++s) {
        if (areas[s] < 1 || reach.reached[s] == 0) continue;
        ++all;
        n += entered(s) ? 1 : 0;
      }
      return static_cast<double>(n) / all;
    };
    ExploreRun run;
    run.seconds_max = 420;
    run.enough = [&](const client_sim::Expedition& e) {
      return share([&](std::uint32_t s) { return e.entered(s); }) >= 0.9;
    };
    const ExploreOutcome out = explore(placed, run);
    CHECK(share([&](std::uint32_t s) { return out.entered[s] != 0; }) >= 0.9);
    CHECK(out.stuck == 0);
    CHECK(out.lost == 0);
    CHECK(out.out == 0);
  }
}
