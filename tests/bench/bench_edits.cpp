// What digging and building costs: 200 players on 160 x 160 m of terrain at 60 Hz, who stand still, who dig
// and fill their hole again as fast as the rules allow, who place and dig in every tick (no cool-down, a
// block that gives way at once), and who send as many acts as are heard, of blocks that they cannot see. CPU
// time of the thread a tick, and how many blocks changed. Exit code 1 where nothing was changed that should
// be.
//   bench_edits [--ticks N]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/bench/builders.h"

using namespace ashlar::bench;

int main(int argc, char** argv) {
  std::uint32_t ticks = 1800;
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::strcmp(argv[i], "--ticks") == 0)
      ticks = static_cast<std::uint32_t>(std::max(60, std::atoi(argv[i + 1])));
  bool good = true;
  double still_us = 0;
  std::printf("%-52s %9s %9s %9s %12s\n", "us a tick, 200 players", "p50", "p99", "added", "blocks/s");
  const struct {
    BuildersWay way;
    const char* name;
  } ways[] = {{BuildersWay::still, "stand still"},
              {BuildersWay::work, "dig and fill as fast as the rules allow"},
              {BuildersWay::every_tick, "dig and fill without cool-down"},
              {BuildersWay::flood, "four acts a player of blocks out of sight"}};
  for (const auto& w : ways) {
    Builders site(w.way);
    site.changed = 0;
    std::vector<double> us;
    for (std::uint32_t t = 0; t < ticks; ++t) {
      site.decide();
      us.push_back(site.step() * 1e6);
    }
    std::ranges::sort(us);
    const double p50 = us[us.size() / 2], p99 = us[us.size() * 99 / 100];
    if (w.way == BuildersWay::still) still_us = p50;
    std::printf("%-52s %9.1f %9.1f %9.1f %12.0f\n", w.name, p50, p99, p50 - still_us,
                static_cast<double>(site.changed) / ticks * 60);
    const bool changes = w.way == BuildersWay::work || w.way == BuildersWay::every_tick;
    if (changes != (site.changed > 0)) good = false, std::printf("WRONG: %s\n", w.name);
  }
  return good ? 0 : 1;
}
