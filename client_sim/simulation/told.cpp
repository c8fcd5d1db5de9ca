#include "client_sim/simulation/told.h"

#include "protocol/snapshot/moving_record.h"

namespace ashlar::simulation {

bool is_told(const client_sim::View& view, const TrueSight& sight, const TrueFrame& frame,
             std::uint32_t wait_ticks) {
  const auto truth = frame.cell(sight.cell, sight.seen, sight.seen);
  for (const client_sim::ViewCell& cell : view.cells()) {
    // By now it may be in a block that is not here yet.
    if (cell.now.tick > frame.tick) return true;
    const EntityRecord* const held = cell.find(sight.seen);
    if (held == nullptr) continue;
    const bool recent = cell.now.tick + wait_ticks >= frame.tick;
    if (recent || (!truth.empty() && tells(*held, truth.front().record))) return true;
  }
  return false;
}

}  // namespace ashlar::simulation
