#include <cstdint>
#include <cstdlib>

#include "world/bsp/placement.h"
#include "world/content/wad.h"

// Any bytes as a WAD: every map in it is read, and what reads is compiled and placed when it is small.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  auto wad = open_wad(std::vector<std::uint8_t>(data, data + size), "fuzz.wad");
  if (!wad) {
    if (wad.error().line().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  WadStack wads;
  wads.files.push_back(std::move(*wad));
  for (const std::string& name : map_names(wads)) {
    const auto map = read_map(wads, name);
    if (!map || map->lines.size() > 300) continue;
    const auto placed = place_map(*map, {});
    if (!placed) continue;
    // The visibility set's time grows faster than the map, and stairs of a thousand lines are not what is
    // tested.
    PlaceOptions with_set;
    with_set.doorway = false;
    with_set.visibility = map->lines.size() <= 60;
    if (with_set.visibility) static_cast<void>(place_map(*map, with_set));
    const DVec2 middle =
        (*placed)->to_world(((*placed)->tree().bounds.min + (*placed)->tree().bounds.max) * 0.5);
    const HeightsView heights = (*placed)->initial_heights();
    const DVec3 base{middle.x, middle.y, (*placed)->roof_m() - 3};
    const SweepHit hit = map_sweep(**placed, heights, Cylinder{}, base, {7, 3, -2});
    if (!(hit.t >= 0 && hit.t <= 1)) std::abort();
    static_cast<void>(map_correct(**placed, heights, Cylinder{}, base, 1));
    static_cast<void>(map_ray(**placed, heights, base, {0.6, 0.8, 0}, 50));
  }
  return 0;
}
