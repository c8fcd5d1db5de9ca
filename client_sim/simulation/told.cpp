#include "client_sim/simulation/told.h"

#include <algorithm>

namespace ashlar::simulation {

bool is_told(const client_sim::View& view, const TrueSight& sight, const TrueFrame& frame,
             std::uint32_t wait_ticks) {
  const auto truth = frame.cell(sight.cell, sight.seen, sight.seen);
  for (const client_sim::ViewCell& cell : view.cells()) {
    const client_sim::ViewRange* range = cell.range_of(sight.seen);
    if (range == nullptr) continue;
    const bool recent = range->tick + wait_ticks >= frame.tick;
    if (cell.block == client_sim::no_block) {
      if (cell.cell == sight.cell && recent) return true;
      continue;
    }
    // By now it may be in a block that is not here yet.
    if (range->tick > frame.tick) return true;
    const auto held = std::ranges::lower_bound(range->entities, sight.seen, {}, &EntityRecord::id);
    if (held == range->entities.end() || held->id != sight.seen) continue;
    if (recent || (!truth.empty() && truth.front().record == *held)) return true;
  }
  return false;
}

}  // namespace ashlar::simulation
