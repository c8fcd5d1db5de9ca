#include "world/sim/hearing.h"

#include <algorithm>

#include "world/math/assert.h"
#include "world/sim/map_plan.h"

namespace ashlar {
namespace {

constexpr std::uint8_t behind_blocking = 1, freely = 2;

}  // namespace

NoiseFlood::NoiseFlood(std::uint32_t sector_count) : reached_(sector_count, 0) {
  open_.reserve(sector_count);
  behind_.reserve(sector_count);
}

void NoiseFlood::reach(std::uint32_t sector, std::uint8_t how) {
  if (reached_[sector] >= how) return;
  // Each sector enters each list at most once: it is reached freely before anything goes on behind a line.
  reached_[sector] = how;
  (how == freely ? open_ : behind_).push_back(sector);
}

void NoiseFlood::spread(const MapPlan& plan, HeightsView heights, std::uint32_t from) {
  ASHLAR_ASSERT(from < reached_.size());
  ASHLAR_ASSERT(heights.size() == reached_.size());
  std::ranges::fill(reached_, std::uint8_t{0});
  open_.clear(), behind_.clear();
  const SectorMap& source = plan.map().source();
  const auto go_on = [&](std::uint32_t sector, bool may_pass) {
    for (const std::uint32_t line : plan.lines_of(sector)) {
      const std::uint32_t other = plan.beside(sector, line);
      if (other == no_index || plan.closed(heights, sector, other)) continue;
      const bool blocks = (source.lines[line].flags & line_flag::block_sound) != 0;
      if (blocks && !may_pass) continue;
      reach(other, blocks || !may_pass ? behind_blocking : freely);
    }
  };
  reach(from, freely);
  for (std::size_t i = 0; i < open_.size(); ++i) go_on(open_[i], true);
  for (std::size_t i = 0; i < behind_.size(); ++i)
    if (reached_[behind_[i]] == behind_blocking) go_on(behind_[i], false);
}

}  // namespace ashlar
