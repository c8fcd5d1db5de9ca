#include "world/sim/player_grid.h"

namespace ashlar {

void PlayerGrid::fill(const PlayerTable& players) {
  grid_.clear();
  // From the last row on: a cell gives back first what was added last.
  for (std::size_t i = players.rows(); i-- > 0;) {
    if (!players.alive(i) || players.body[i].noclip != 0) continue;
    const DVec3 p = players.body[i].position_m;
    grid_.add(xy(p), {static_cast<std::uint32_t>(i), p});
  }
  grid_.sort();
}

}  // namespace ashlar
