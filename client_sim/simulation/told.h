#pragma once
#include <cstdint>

#include "client_sim/client/view.h"
#include "client_sim/simulation/truth.h"

namespace ashlar::simulation {

/// Was a client told of somebody within so many ticks before a frame's, or does it hold him as he still was
/// then? O(cells of the view).
bool is_told(const client_sim::View& view, const TrueSight& sight, const TrueFrame& frame,
             std::uint32_t wait_ticks);

}  // namespace ashlar::simulation
