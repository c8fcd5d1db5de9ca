// Explorers on Freedoom's maps: how much of what the flood says is reachable do simulated players reach with
// commands alone, on MAP01, E1M1 and ten more maps chosen by seed? Exit code 1 where one of them falls short,
// somebody gets stuck or out.
//   bench_explore [--maps all|MAP01,E1M1] [--seed 5] [--explorers 8] [--minutes 20] [--verbose]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "tests/client_sim/explore/explore_run.h"
#include "tests/wads.h"
#include "tests/world/sim/reach.h"
#include "world/content/wad.h"

using namespace ashlar;
using namespace ashlar::testing;
using ashlar::testing::find_wad;

namespace {

struct Options {
  std::vector<std::string> maps;
  std::uint64_t seed = 5;
  std::uint32_t explorers = 8;
  double minutes = 20;
  bool verbose = false;
  int fill = 10;  // maps chosen by seed beside those named
};

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// How the maps did, one after another.
struct Tally {
  std::vector<double> shares;
  int failed = 0;
};

bool run_map(const WadStack& wads, const std::string& name, const Options& o, Tally& tally) {
  auto source = read_map(wads, name);
  if (!source) return std::printf("%s\n", source.error().line().c_str()), false;
  PlaceOptions options;
  options.doors_open = false;
  options.doorway = false;
  auto placed = place_map(*source, options);
  if (!placed) return std::printf("%s\n", placed.error().line().c_str()), false;
  const MapPlan plan(*placed);
  ReachRules rules;
  rules.jump_m = 1.15;
  const double before_flood_s = cpu_s();
  const Reach reach = Flood(plan, rules).run(player_start(**placed, 1).value_or(DVec3{}));
  const double flood_s = cpu_s() - before_flood_s;
  const std::vector<double> areas = sector_areas(**placed);
  int wanted = 0;
  for (std::uint32_t s = 0; s < areas.size(); ++s) wanted += areas[s] >= 1 && reach.reached[s] != 0;
  const auto entered = [&](const auto& has) {
    int n = 0;
    for (std::uint32_t s = 0; s < areas.size(); ++s)
      n += areas[s] >= 1 && reach.reached[s] != 0 && has(s) ? 1 : 0;
    return n;
  };
  ExploreRun run;
  run.explorers = o.explorers;
  run.seconds_max = o.minutes * 60;
  run.seed = o.seed;
  run.enough = [&](const client_sim::Expedition& e) {
    return entered([&](std::uint32_t s) { return e.entered(s); }) == wanted;
  };
  double next_s = 0;
  int before = -1;
  if (o.verbose)
    run.watch = [&](double at_s, const client_sim::Expedition& e,
                    const std::vector<client_sim::Explorer>& explorers, const World& world) {
      if (at_s < next_s) return;
      next_s = at_s + 30;
      const int n = entered([&](std::uint32_t s) { return e.entered(s); });
      std::printf("  %5.0f s %4d of %d\n", at_s, n, wanted);
      if (n == before)
        for (std::size_t i = 0; i < explorers.size(); ++i) {
          const auto& x = explorers[i];
          const DVec3 p = i < world.players().rows() ? world.players().body[i].position_m : DVec3{};
          const DVec2 m = e.plan().map().to_map(xy(p));
          std::printf("    %zu at %5.0f %5.0f z %4.0f sector %u after %d %u, way %zu of %zu keys %d\n", i,
                      m.x, m.y, e.plan().map().z_to_map(p.z), e.plan().map().tree().sector_at(m),
                      static_cast<int>(x.goal().kind), x.goal().what, x.progress(), x.route().cells.size(),
                      x.keys());
        }
      before = n;
    };
  const double start_s = cpu_s();
  const ExploreOutcome out = explore(*placed, run);
  const int n = entered([&](std::uint32_t s) { return out.entered[s] != 0; });
  const double share = static_cast<double>(n) / wanted;
  int beyond = 0;
  for (std::uint32_t s = 0; s < areas.size(); ++s)
    beyond += areas[s] >= 1 && reach.reached[s] == 0 && out.entered[s] != 0 ? 1 : 0;
  const bool good = share >= 0.9 && out.stuck == 0 && out.lost == 0 && out.out == 0;
  tally.shares.push_back(share);
  tally.failed += good ? 0 : 1;
  std::printf(
      "%-5s %4d of %4d sectors (%5.1f %%) in %4.0f s; beyond the flood %d; stuck %llu lost %llu out %llu "
      "exits %llu deaths %llu recovered %llu; ways %u, hasty %u, given up %u, blocked %u, held up %u, made "
      "way %u, lines "
      "%u, leaps %u; %.1f s of processor, flood %.1f s%s\n",
      name.c_str(), n, wanted, 100 * share, out.seconds, beyond, static_cast<unsigned long long>(out.stuck),
      static_cast<unsigned long long>(out.lost), static_cast<unsigned long long>(out.out),
      static_cast<unsigned long long>(out.exits), static_cast<unsigned long long>(out.deaths),
      static_cast<unsigned long long>(out.recoveries), out.explorers.routes, out.explorers.hasty,
      out.explorers.given_up, out.explorers.blocked, out.explorers.held, out.explorers.made_way,
      out.explorers.lines, out.explorers.leaps, cpu_s() - start_s, flood_s, good ? "" : "  SHORT");
  if (out.out > 0) {
    const DVec2 m = (*placed)->to_map(xy(out.out_at_m));
    std::printf("  first out at %.0f %.0f %.0f in sector %u after %.2f s\n", m.x, m.y,
                (*placed)->z_to_map(out.out_at_m.z), (*placed)->tree().sector_at(m), out.out_at_s);
  }
  if (o.verbose) {
    for (std::uint32_t s = 0; s < areas.size(); ++s) {
      if (areas[s] < 1 || reach.reached[s] == 0 || out.entered[s] != 0) continue;
      const ReachStep& step = reach.step[s];
      const SectorBounds& b = plan.bounds_of(s);
      const DVec2 m = plan.map().to_map((b.low + b.high) * 0.5);
      std::printf(
          "  missed %u at %.0f %.0f area %.0f floor %.0f ceiling %.0f, from %u over line %u%s%s%s%s\n", s,
          m.x, m.y, areas[s], source->sectors[s].floor, source->sectors[s].ceiling, step.from, step.line,
          step.teleport ? " teleport" : "", step.jump ? " jump" : "", out.roomy[s] != 0 ? "" : " thin",
          step.from != no_index && out.entered[step.from] == 0 ? "" : " FIRST");
    }
  }
  std::fflush(stdout);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (std::strcmp(argv[i], "--verbose") == 0) {
      o.verbose = true;
    } else if (std::strcmp(argv[i], "--maps") == 0) {
      std::string names = value();
      for (std::size_t at = 0; at != std::string::npos;) {
        const std::size_t comma = names.find(',', at);
        o.maps.push_back(names.substr(at, comma == std::string::npos ? comma : comma - at));
        at = comma == std::string::npos ? comma : comma + 1;
      }
      o.fill = 0;
    } else if (std::strcmp(argv[i], "--seed") == 0) {
      o.seed = std::strtoull(value(), nullptr, 10);
    } else if (std::strcmp(argv[i], "--explorers") == 0) {
      o.explorers = static_cast<std::uint32_t>(std::strtoul(value(), nullptr, 10));
    } else if (std::strcmp(argv[i], "--minutes") == 0) {
      o.minutes = std::strtod(value(), nullptr);
    } else {
      std::fprintf(stderr, "bench_explore has no option %s\n", argv[i]);
      return 2;
    }
  }
  const auto two = find_wad("freedoom2.wad"), one = find_wad("freedoom1.wad");
  if (!one || !two) {
    std::printf("freedoom1.wad or freedoom2.wad is missing: install the package freedoom\n");
    return 0;
  }
  const bool all = o.maps.size() == 1 && o.maps[0] == "all";
  if (all) {
    o.maps.clear();
    o.fill = 1000;
  } else if (o.maps.empty()) {
    o.maps = {"MAP01", "E1M1"};
  }
  std::vector<std::string> others;
  for (const WadStack* wads : {&*two, &*one})
    for (const std::string& name : map_names(*wads))
      if (std::ranges::find(o.maps, name) == o.maps.end()) others.push_back(name);
  Rng rng = rng_for(o.seed, 5);
  for (int i = 0; i < o.fill && !others.empty(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(rng.below(static_cast<std::uint32_t>(others.size())));
    o.maps.push_back(others[static_cast<std::size_t>(at)]);
    others.erase(others.begin() + at);
  }
  if (all) std::ranges::sort(o.maps);
  bool good = true;
  Tally tally;
  for (const std::string& name : o.maps)
    good = run_map(name.starts_with("MAP") ? *two : *one, name, o, tally) && good;
  if (tally.shares.size() > 1) {
    std::ranges::sort(tally.shares);
    std::printf("%zu maps: worst %.1f %%, median %.1f %%, short %d; %.0f s of processor\n",
                tally.shares.size(), 100 * tally.shares.front(), 100 * tally.shares[tally.shares.size() / 2],
                tally.failed, cpu_s());
  }
  return good ? 0 : 1;
}
