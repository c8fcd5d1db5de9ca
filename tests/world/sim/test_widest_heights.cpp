#include <span>

#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/bsp/line_specials.h"
#include "world/bsp/widest_heights.h"
#include "world/math/random.h"
#include "world/sim/mover_start.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr int widest_map_stride = test::slowness == 1 ? 1 : 16;

}  // namespace

TEST_CASE("planes keep within the widest heights whatever lines are set off", "[world][widest_heights]") {
  std::uint64_t moved = 0;
  const auto run = [&](const SectorMap& source, std::uint64_t seed, bool doors_open) {
    PlaceOptions options;
    options.doorway = false;
    options.doors_open = doors_open;
    const auto map = must_place(source, options);
    const MapPlan plan(map);
    const std::vector<DrawnHeights> widest = widest_heights(source);
    std::vector<SectorHeights> heights(map->initial_heights().begin(), map->initial_heights().end());
    SectorMovers movers(plan.sector_count());
    start_timed_sectors({plan, movers, heights});
    std::vector<std::uint32_t> lines;
    for (std::uint32_t l = 0; l < source.lines.size(); ++l)
      if (plan.action(l) != nullptr) lines.push_back(l);
    Rng rng = rng_for(seed, 78);
    for (int step = 0; step < 120 && !lines.empty(); ++step) {
      const std::uint32_t l = lines[rng.below(static_cast<std::uint32_t>(lines.size()))];
      if (start_effect({plan, movers, heights}, *plan.action(l), l, true)) ++moved;
      // Some are caught on their way by what comes next, most come to their end.
      for (int tick = rng.below(2) == 0 ? 1 : 12; tick > 0; --tick)
        movers.advance_alone(*map, heights, rng.between(0.01, 2));
      for (std::uint32_t s = 0; s < heights.size(); ++s) {
        const double floor = map->z_to_map(heights[s].floor_m), ceiling = map->z_to_map(heights[s].ceiling_m);
        if (floor < widest[s].floor - 1e-6 || ceiling > widest[s].ceiling + 1e-6) {
          CAPTURE(seed, doors_open, step, s, floor, ceiling, widest[s].floor, widest[s].ceiling);
          FAIL("out of its range");
        }
      }
    }
  };
  each_freedoom_map([&](const SectorMap& map, const std::string&,
                        std::uint64_t number) { run(map, number, number % 2 == 0); },
                    widest_map_stride);
  // Small random maps with every number that there is.
  Rng rng = rng_for(79, 0);
  for (int i = 0; i < 600; ++i) {
    std::vector<Room> rooms;
    std::vector<Divider> dividers;
    const auto height = [&](std::uint32_t low) { return 8.0 * rng.below(20) + low; };
    for (std::uint32_t r = 0; r < 4 + rng.below(4); ++r) {
      Room room;
      room.floor = height(0), room.ceiling = rng.below(8) == 0 ? room.floor : height(64);
      room.tag = static_cast<std::uint16_t>(rng.below(4)), room.sky = rng.below(6) == 0;
      if (r > 0) {
        Divider d;
        do d.special = static_cast<std::uint16_t>(1 + rng.below(272));
        while (!special_known(SpecialNumbers::doom, d.special));
        d.tag = static_cast<std::uint16_t>(rng.below(4)), d.front_east = rng.below(2) == 0;
        dividers.push_back(d);
      }
      rooms.push_back(room);
    }
    SectorMap map = row_of_rooms(rooms, dividers);
    // A third with Boom's generalised numbers, a third with UDMF's actions and any arguments.
    if (i % 3 == 2) map.specials = SpecialNumbers::zdoom;
    for (std::size_t l = 0; l < dividers.size() && i % 3 != 0; ++l) {
      MapLine& line = map.lines[l];
      if (i % 3 == 1) {
        line.special = static_cast<std::uint16_t>(0x2f80 + rng.below(0x8000 - 0x2f80));
        continue;
      }
      do line.special = static_cast<std::uint16_t>(10 + rng.below(246));
      while (!special_known(SpecialNumbers::zdoom, line.special));
      line.flags |= line_activation::player_use;
      line.args = {line.tag, 4 + static_cast<std::int32_t>(rng.below(60)),
                   static_cast<std::int32_t>(rng.below(40)), static_cast<std::int32_t>(rng.below(8)),
                   static_cast<std::int32_t>(rng.below(32))};
      if (i % 2 == 0) continue;
      for (std::int32_t& arg : std::span(line.args).subspan(1)) arg -= 20;
    }
    if (rng.below(4) == 0) map.sectors[1].special = rng.below(2) == 0 ? 10 : 14;
    CAPTURE(i);
    run(map, 1000 + static_cast<std::uint64_t>(i), i % 2 == 0);
  }
  CHECK(moved > 1000);
}
