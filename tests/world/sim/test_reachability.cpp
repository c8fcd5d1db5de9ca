#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>

#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/reach_reasons.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Sectors with floor area, sorted by what keeps a player out of them.
struct ReachTally {
  int sectors = 0;  ///< with floor area
  int reached = 0;
  int scenery = 0;  ///< not reached, and nothing in there for a player: ledges, windows, monsters' closets
  int missed = 0;   ///< there is something to find, and nothing but the flood's own way keeps it from there
  std::array<int, unreached_count> why{};

  double of_all() const { return static_cast<double>(reached) / sectors; }
  double of_playable() const { return static_cast<double>(reached) / (reached + missed); }
  int because(Unreached reason) const { return why[static_cast<std::size_t>(reason)]; }
  /// Of those without a reason in the map or in the rules: a line that nobody came to, a key not found.
  int unexplained() const { return because(Unreached::line) + because(Unreached::locked); }
};

ReachTally tally(const MapPlan& plan, const Reach& r, const ReachRules& rules) {
  ReachTally t;
  Reasons reasons(plan, r, rules);
  for (std::uint32_t s = 0; s < plan.sector_count(); ++s)
    if (reasons.area(s) >= 1 && r.reached[s] != 0) ++t.reached;
  t.sectors = t.reached;
  for (const UnreachedPart& p : reasons.all()) {
    const int n = static_cast<int>(p.sectors);
    t.sectors += n;
    t.why[static_cast<std::size_t>(p.why)] += n;
    const bool excused = p.why == Unreached::low || p.why == Unreached::boss || p.why == Unreached::run ||
                         p.why == Unreached::other;
    if (!excused) (p.worth ? t.missed : t.scenery) += n;
  }
  return t;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

constexpr std::size_t freedoom1_lumps = 3081, freedoom2_lumps = 3649;

bool version_known(const WadStack& wads) {
  const std::size_t lumps = wads.files[0].lumps().size();
  return wads.files[0].name() == "freedoom2.wad" ? lumps == freedoom2_lumps : lumps == freedoom1_lumps;
}

const char* effect_name(LineEffect e) {
  constexpr const char* names[] = {"lights, scrolling",
                                   "door",
                                   "door, stays open",
                                   "door closes",
                                   "door closes, opens",
                                   "lift",
                                   "lift up",
                                   "perpetual lift",
                                   "lift stop",
                                   "floor",
                                   "ceiling",
                                   "floor and ceiling",
                                   "crusher",
                                   "crusher stop",
                                   "stairs",
                                   "donut",
                                   "teleport",
                                   "line teleport",
                                   "exit",
                                   "conveyor"};
  return names[static_cast<std::size_t>(e)];
}

}  // namespace

TEST_CASE("every Freedoom map can be walked through from its start with doors, lifts and triggers",
          "[world][reachability]") {
  std::vector<double> playable, all, open;
  int unexplained = 0, sectors = 0;
  std::uint32_t number = 0;
  bool known = true;  // maps whose every figure was looked at
  for (const WadStack& wads : freedoom())
    for (const std::string& name : map_names(wads)) {
      // Of the other builds, some, and always the one that is looked at by name.
      if (number++ % ashlar::test::slowness != 0 && name != "E1M7") continue;
      CAPTURE(name);
      const SectorMap source = must_read(wads, name);
      PlaceOptions options;
      options.doors_open = false;
      options.doorway = false;
      const auto placed = must_place(source, options);
      const MapPlan plan(placed);
      ReachRules rules;
      rules.jump_m = 1.15;  // 7 m/s against 20 m/s^2 rise 1.17 m in ticks of 1/60 s
      const auto start = player_start(*placed, 1);
      REQUIRE(start.has_value());
      const Reach reach = Flood(plan, rules).run(*start);
      const ReachTally t = tally(plan, reach, rules);
      std::printf("%s %-5s reached %4d of %4d sectors (%3.0f %%; %3.0f %% of the playable, missed %3d);",
                  wads.files[0].name().c_str(), name.c_str(), t.reached, t.sectors, 100 * t.of_all(),
                  100 * t.of_playable(), t.missed);
      for (std::size_t why = 0; why < unreached_count; ++why)
        if (t.why[why] > 0) std::printf(" %s %d,", unreached_names[why], t.why[why]);
      std::printf("\n");
      unexplained += t.unexplained();
      known = known && version_known(wads);
      sectors += t.sectors;
      playable.push_back(t.of_playable());
      all.push_back(t.of_all());
      if (version_known(wads)) CHECK(t.of_playable() >= 0.95);
      // Its red key lies on a ledge under a lintel: one runs off a pillar to it, a jump ends at the lintel.
      if (name == "E1M7") CHECK(reach.keys == key::all);

      // With doors open, on foot: steps of 24 units, no jumps.
      options.doors_open = true;
      const auto opened = must_place(source, options);
      const MapPlan open_plan(opened);
      const Reach on_foot = Flood(open_plan, ReachRules{}).run(*start);
      const std::vector<double> areas = sector_areas(*opened);
      int entered = 0, with_area = 0;
      for (std::uint32_t s = 0; s < areas.size(); ++s) {
        with_area += areas[s] >= 1 ? 1 : 0;
        entered += areas[s] >= 1 && on_foot.reached[s] != 0 ? 1 : 0;
      }
      open.push_back(static_cast<double>(entered) / with_area);
    }
  if (playable.empty()) return;
  std::printf(
      "%zu maps; playable sectors reached: median %.3f, worst %.3f; of all sectors with floor area: "
      "median %.3f, worst %.3f; doors open, without jumping: median %.3f; unexplained: %d of %d sectors\n",
      all.size(), median(playable), *std::ranges::min_element(playable), median(all),
      *std::ranges::min_element(all), median(open), unexplained, sectors);
  CHECK(median(playable) >= 0.95);
  CHECK(median(open) >= 0.6);
  // Everything else has its reason in the map, or in what players can do here.
  CHECK(unexplained <= sectors / (known ? 200 : 100));
}

TEST_CASE("the line specials of Freedoom's maps are known, with a few that only Boom's later heirs have",
          "[world][reachability]") {
  std::map<std::uint16_t, int> counts, unknown;
  each_freedoom_map([&](const SectorMap& map, const std::string&, std::uint64_t) {
    for (const MapLine& line : map.lines)
      if (line.special != 0) ++counts[line.special];
    for (const auto& [number, count] : unknown_specials(map)) unknown[number] += static_cast<int>(count);
  });
  int lines = 0, idle = 0;
  for (const auto& [number, count] : counts) {
    SectorMap map;
    MapLine line;
    line.special = number;
    const auto action = line_action(map, line);
    lines += count;
    if (!action) idle += count;
    std::printf("%5u x%-5d%s%s", number, count,
                action ? effect_name(action->effect) : "unknown: does nothing",
                number % 3 == 0 ? "\n" : "; ");
  }
  std::printf("\n%d lines with %zu specials; %d lines with %zu unknown ones\n", lines, counts.size(), idle,
              unknown.size());
  CHECK(idle <= lines / 500);
}
